/* SPDX-License-Identifier: Apache-2.0 */
/* rule_list.c: see rule_list.h. */
#include "rule_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "option_table.h"

/* ---- entries, and the marks in them */

/* The first of `marks` from `at` on that no quotes enclose, or the end. */
static const char *find_mark(const char *at, const char *end, const char *marks)
{
    for (bool quoted = false; at < end; at++) {
        quoted ^= *at == '"';
        if (!quoted && strchr(marks, *at))
            break;
    }
    return at;
}

static const char *entry_end(const char *at)
{
    return find_mark(at, at + strlen(at), ",");
}

cbx_status cbx_rule_list_begin(cbx_rule_list *list, const cbx_graph *graph, const char *rule,
                               const char *text, cbx_arena *arena, cbx_error *err)
{
    text = text ? text : "";
    *list = (cbx_rule_list){graph, rule, text, text, entry_end(text), NULL, err};
    list->word = CBX_NEW(arena, char, strlen(text) + 1);
    return list->word ? CBX_OK : cbx_fail_memory(err);
}

bool cbx_rule_list_more(const cbx_rule_list *list)
{
    return *list->at != '\0';
}

void cbx_rule_list_next(cbx_rule_list *list)
{
    list->at = *list->end ? list->end + 1 : list->end;
    list->end = entry_end(list->at);
}

/* From `at` to `end`, without quotes: "" stands for one. */
static const char *part(const cbx_rule_list *list, const char *at, const char *end)
{
    char *to = list->word;
    bool  quoted = at < end && *at == '"';
    for (at += quoted; at < end; at++) {
        if (quoted && *at == '"' && ++at >= end)
            break;
        *to++ = *at;
    }
    *to = '\0';
    return list->word;
}

static cbx_status unexpected(const cbx_rule_list *list, const char *at, const char *expected)
{
    return cbx_fail_option(list->err, list->rule, "'%s' at position %d: expected %s", at,
                           (int)(at - list->begin) + 1, expected);
}

/* ---- what the parts are */

static bool known(const cbx_rule_list *list, cbx_graph_part what, const char *at, const char *end,
                  int32_t *out)
{
    return at < end && !cbx_graph_find(list->graph, what, part(list, at, end), out, NULL);
}

/* The same; where it is not there, says so. */
static cbx_status find(const cbx_rule_list *list, cbx_graph_part what, const char *at,
                       const char *end, int32_t *out)
{
    cbx_error   why = {0};
    bool        node = what == CBX_PART_NODE;
    const char *expected =
        node ? "a node's number or name" : "a feature's number or name, and a comma between two";
    *out = 0;
    if (at >= end)
        return unexpected(list, at, expected);
    if (!cbx_graph_find(list->graph, what, part(list, at, end), out, &why))
        return CBX_OK;
    const cbx_graph_data *d = &list->graph->data;
    if (!(node ? d->node_names : d->feature_names) && !strstr(why.message, "does not exist"))
        return unexpected(list, at, expected);
    return cbx_fail_option(list->err, list->rule, "%s", why.message);
}

/* Two parts with a mark between them: where both are known, if that is so anywhere; else the last
 * where the first is, else the first mark. The end: there is no mark. */
static const char *find_split(const cbx_rule_list *list, cbx_graph_part what, const char *begin,
                              const char *end, const char *marks)
{
    const char *best = end;
    int32_t     ignored;
    bool        quoted = false;
    for (const char *at = begin; at < end; at++) {
        quoted ^= *at == '"';
        /* a name may begin with a mark, and so does a number below 0 */
        if (at == begin || quoted || !strchr(marks, *at))
            continue;
        bool first = known(list, what, begin, at, &ignored);
        if (first && known(list, what, at + 1, end, &ignored))
            return at;
        best = first || best == end ? at : best;
    }
    return best;
}

static bool find_group(const cbx_rule_list *list, const char *at, const char *end,
                       cbx_feature_set *set)
{
    const cbx_graph_data *d = &list->graph->data;
    const char           *name = part(list, at, end);
    *set = (cbx_feature_set){d->num_features, -1, 0};
    for (; d->group_names && set->group < d->num_groups; set->group++)
        if (!strcmp(d->group_names[set->group], name))
            break;
    if (!d->group_names || set->group >= d->num_groups)
        return false;
    for (int32_t j = 0; j < d->num_features; j++) {
        if (d->feature_group[j] != set->group)
            continue;
        set->first = j < set->first ? j : set->first;
        set->last = j;
    }
    return set->last >= 0;
}

/* One feature, or a group, by its name. */
static bool is_feature_or_group(const cbx_rule_list *list, const char *at, const char *end,
                                cbx_feature_set *set)
{
    if (!known(list, CBX_PART_FEATURE, at, end, &set->first))
        return at < end && find_group(list, at, end, set);
    set->last = set->first;
    set->group = -1;
    return true;
}

/* The same, or a range; says what is wrong. */
static cbx_status read_set(cbx_rule_list *list, const char *at, const char *end,
                           cbx_feature_set *set)
{
    if (is_feature_or_group(list, at, end, set))
        return CBX_OK;
    const char *middle = find_split(list, CBX_PART_FEATURE, at, end, "-");
    cbx_status  status = find(list, CBX_PART_FEATURE, at, middle, &set->first);
    set->last = set->first;
    set->group = -1;
    if (!status && middle < end)
        status = find(list, CBX_PART_FEATURE, middle + 1, end, &set->last);
    if (!status && set->last < set->first)
        return cbx_fail_option(list->err, list->rule, "%d-%d counts backwards", set->first,
                               set->last);
    return status;
}

cbx_status cbx_rule_list_features(cbx_rule_list *list, cbx_feature_set *set)
{
    return read_set(list, list->at, list->end, set);
}

/* The colon with something known on both sides, else the last one; the end: there is none. */
cbx_status cbx_rule_list_relation(cbx_rule_list *list, cbx_relation *relation)
{
    const char *colon = list->end;
    for (const char *at = find_mark(list->at, list->end, ":"); at < list->end;
         at = find_mark(at + 1, list->end, ":")) {
        colon = at;
        if (is_feature_or_group(list, list->at, at, &relation->what) &&
            is_feature_or_group(list, at + 1, list->end, &relation->with))
            return CBX_OK;
    }
    cbx_status status = read_set(list, list->at, colon, &relation->what);
    if (!status && colon == list->end)
        return unexpected(list, colon, "':' and what changes with it, as in city:address");
    return status ? status : read_set(list, colon + 1, list->end, &relation->with);
}

static cbx_status read_limit(const cbx_rule_list *list, const char *at, const char *end,
                             double *out, const char *expected)
{
    char *stop;
    errno = 0;
    *out = cbx_read_number(at, &stop);
    if (stop == at || stop != end || errno || !isfinite(*out))
        return unexpected(list, at, expected);
    return CBX_OK;
}

/* The step stands behind the last colon. */
cbx_status cbx_rule_list_step(cbx_rule_list *list, cbx_feature_set *set, double *step)
{
    static const char expected[] = "a step above 0, as in amount:50";
    const char       *colon = list->end;
    for (const char *at = find_mark(list->at, list->end, ":"); at < list->end;
         at = find_mark(at + 1, list->end, ":"))
        colon = at;
    cbx_status status = read_set(list, list->at, colon, set);
    if (!status && colon == list->end)
        return unexpected(list, colon, "':' and a step, as in amount:50");
    if (!status)
        status = read_limit(list, colon + 1, list->end, step, expected);
    bool some = (float)*step > 0 && isfinite((float)*step); /* values are floats */
    return !status && !some ? unexpected(list, colon + 1, expected) : status;
}

/* Where a bound begins is told by the last two colons: a name may have some, too. */
cbx_status cbx_rule_list_limits(cbx_rule_list *list, int32_t *feature, double *lo, double *hi)
{
    const char *first = list->end, *second = list->end;
    const char *at = find_mark(list->at, list->end, ":");
    for (int colons = 0; at < list->end; at = find_mark(at + 1, list->end, ":"), colons++) {
        first = colons < 1 ? at : colons > 1 ? second : first;
        second = colons < 1 ? list->end : at;
    }
    cbx_status status = find(list, CBX_PART_FEATURE, list->at, first, feature);
    if (!status && first == list->end)
        return unexpected(list, first, "':' and the lower bound, as in 3:0:1");
    if (!status)
        status = read_limit(list, first + 1, second, lo, "a lower bound");
    if (!status && second == list->end)
        return unexpected(list, second, "':' and the upper bound, as in 3:0:1");
    return status ? status : read_limit(list, second + 1, list->end, hi, "an upper bound");
}

/* The price follows the last colon. */
cbx_status cbx_rule_list_price(cbx_rule_list *list, cbx_feature_set *set, double *price)
{
    static const char expected[] = "a cost from 1e-6 to 1e6, as in 2 or income:5";
    const char       *end = list->end, *colon = end, *at = list->at;
    for (at = find_mark(at, end, ":"); at < end; at = find_mark(at + 1, end, ":"))
        colon = at;
    *set = (cbx_feature_set){0, list->graph->data.num_features - 1, -1};
    at = colon < end ? colon + 1 : list->at;
    cbx_status status = read_limit(list, at, end, price, expected);
    if (!status && !(*price >= 1e-6 && *price <= 1e6))
        return unexpected(list, at, expected);
    if (status || colon == end)
        return status;
    return read_set(list, list->at, colon, set);
}

/* Graph tasks: a number within a graph, of which none has more nodes than the largest. */
static cbx_status find_within(const cbx_rule_list *list, const char *at, const char *end,
                              int32_t *out)
{
    const cbx_graph_data *d = &list->graph->data;
    int64_t               most = 0;
    char                 *stop;
    long                  number = strtol(part(list, at, end), &stop, 10);
    for (int32_t g = 0; g < d->num_graphs; g++) {
        int64_t size = d->graph_ptr[g + 1] - d->graph_ptr[g];
        most = size > most ? size : most;
    }
    if (stop == list->word || *stop)
        return unexpected(list, at, "a node's number within its graph");
    if (number < 0 || number >= most)
        return cbx_fail_option(list->err, list->rule,
                               "node %ld does not exist: the largest graph has 0 to %lld", number,
                               (long long)most - 1);
    *out = (int32_t)number;
    return CBX_OK;
}

static cbx_status find_node(const cbx_rule_list *list, const char *at, const char *end,
                            int32_t *out)
{
    return list->graph->data.task == CBX_GRAPH ? find_within(list, at, end, out)
                                               : find(list, CBX_PART_NODE, at, end, out);
}

cbx_status cbx_rule_list_node(cbx_rule_list *list, int32_t *node)
{
    return find_node(list, list->at, list->end, node);
}

cbx_status cbx_rule_list_pair(cbx_rule_list *list, int32_t *u, int32_t *v)
{
    const char *middle = find_split(list, CBX_PART_NODE, list->at, list->end, "-:");
    cbx_status  status = find_node(list, list->at, middle, u);
    if (!status && middle == list->end)
        return unexpected(list, middle, "'-' and the other node, as in 3-7");
    return status ? status : find_node(list, middle + 1, list->end, v);
}
