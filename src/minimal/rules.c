/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c: see rules.h. */
#include "rules.h"

#include "minimal_options.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "error.h"
#include "rule_list.h"
#include "setup.h"

/* The search's number of the first feature, from the data's j on, that it has. */
static int32_t first_left(const cbx_setup *s, int32_t j)
{
    int32_t lo = 0, hi = s->used ? s->used->left : 0;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (s->used->number[middle] < j)
            lo = middle + 1;
        else
            hi = middle;
    }
    return s->used ? lo : j;
}

/* The features of an entry, in the search's numbers; perhaps none of them is left. */
static cbx_status read_features(cbx_rule_list *list, const cbx_setup *s, int32_t *from, int32_t *to,
                                int32_t *group)
{
    cbx_status status = cbx_rule_list_features(list, from, to, group);
    if (status)
        return status;
    *from = first_left(s, *from);
    *to = first_left(s, *to + 1) - 1;
    return CBX_OK;
}

/* Is this feature, in the search's numbers, meant? */
static bool is_meant(const cbx_setup *s, int32_t feature, int32_t group)
{
    const int32_t *groups = s->named->data.feature_group;
    return group < 0 || groups[cbx_used_number(s->used, feature)] == group;
}

/* ---- the rules one by one */

static cbx_status mark_features(cbx_rules *rules, const cbx_setup *setup, const char *rule,
                                const char *text, uint8_t value, cbx_arena *arena, cbx_error *err)
{
    cbx_rule_list list;
    int32_t       from, to, group;
    cbx_status    status = cbx_rule_list_begin(&list, setup->named, rule, text, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = read_features(&list, setup, &from, &to, &group);
        for (int32_t j = from; !status && j <= to; j++)
            if (is_meant(setup, j, group))
                rules->fixed[j] = value;
    }
    return status;
}

static cbx_status none_permitted(int32_t feature, cbx_error *err)
{
    return cbx_fail_option(err, "permitted-range",
                           "feature %d takes whole numbers within its bounds, and none "
                           "of them is permitted",
                           feature);
}

static cbx_status permit(cbx_rules *rules, const cbx_setup *setup, int32_t j, double lo, double hi,
                         cbx_error *err)
{
    int32_t at = first_left(setup, j);
    if (lo > hi)
        return cbx_fail_option(err, "permitted-range", "%g to %g of feature %d is empty", lo, hi,
                               j);
    if (at == first_left(setup, j + 1)) { /* never used: it is 0, and stays so */
        bool counted = rules->options->kinds == CBX_KINDS_AUTO || setup->named->data.discrete[j];
        return counted && (lo > 0 || hi < 0) ? none_permitted(j, err) : CBX_OK;
    }
    /* of 0 and -0, fmaxf may give either */
    rules->lo[at] = (float)lo > rules->lo[at] ? (float)lo : rules->lo[at];
    rules->hi[at] = (float)hi < rules->hi[at] ? (float)hi : rules->hi[at];
    return CBX_OK;
}

static cbx_status read_ranges(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                              cbx_error *err)
{
    cbx_rule_list list;
    int32_t       j = 0;
    double        lo = 0, hi = 0;
    cbx_status    status = cbx_rule_list_begin(&list, setup->named, "permitted-range",
                                               rules->options->permitted_range, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = cbx_rule_list_limits(&list, &j, &lo, &hi);
        if (!status)
            status = permit(rules, setup, j, lo, hi, err);
    }
    return status;
}

static cbx_status read_prices(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                              cbx_error *err)
{
    const cbx_minimal_options *own = setup->settings;
    cbx_rule_list              list;
    int32_t                    f = rules->graph->data.num_features, from, to, group;
    double                     price = 1;
    rules->price = CBX_NEW(arena, double, f);
    if (!rules->price)
        return cbx_fail_memory(err);
    for (int32_t j = 0; j < f; j++)
        rules->price[j] = 1;
    cbx_status status =
        cbx_rule_list_begin(&list, setup->named, "feature-cost", own->feature_cost, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = cbx_rule_list_price(&list, &from, &to, &group, &price);
        if (status)
            break;
        to = first_left(setup, to + 1) - 1;
        for (int32_t j = first_left(setup, from); j <= to; j++)
            if (is_meant(setup, j, group))
                rules->price[j] = price;
    }
    return status;
}

static cbx_status read_groups(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                              cbx_error *err)
{
    cbx_rule_list list;
    int32_t       from, to, group;
    cbx_status    status =
        cbx_rule_list_begin(&list, setup->named, "one-hot", rules->options->one_hot, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = read_features(&list, setup, &from, &to, &group);
        for (int32_t j = from; !status && group < 0 && j <= to; j++) {
            if (rules->group[j] >= 0)
                return cbx_fail_option(err, "one-hot", "feature %d is in two groups",
                                       cbx_used_number(setup->used, j));
            rules->group[j] = rules->groups;
        }
        rules->groups += !status && group < 0; /* those of the data are groups already */
    }
    return status;
}

static int by_node(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int by_pair(const void *a, const void *b)
{
    int first = by_node(a, b);
    return first ? first : by_node((const int32_t *)a + 1, (const int32_t *)b + 1);
}

static cbx_status read_nodes(cbx_rules *rules, cbx_arena *arena, cbx_error *err)
{
    const char   *text = rules->options->immutable_nodes;
    cbx_rule_list list;
    cbx_status    status =
        cbx_rule_list_begin(&list, rules->graph, "immutable-nodes", text, arena, err);
    rules->nodes = CBX_NEW(arena, int32_t, text ? strlen(text) + 1 : 1);
    if (!rules->nodes)
        return cbx_fail_memory(err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list))
        status = cbx_rule_list_node(&list, &rules->nodes[rules->num_nodes++]);
    qsort(rules->nodes, (size_t)rules->num_nodes, sizeof *rules->nodes, by_node);
    return status;
}

static cbx_status read_edges(cbx_rules *rules, cbx_arena *arena, cbx_error *err)
{
    const char   *text = rules->options->protected_edges;
    cbx_rule_list list;
    cbx_status    status =
        cbx_rule_list_begin(&list, rules->graph, "protected-edges", text, arena, err);
    rules->edges = (int32_t(*)[2])CBX_NEW(arena, int32_t, text ? 2 * strlen(text) + 2 : 2);
    if (!rules->edges)
        return cbx_fail_memory(err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        int32_t u = 0, v = 0;
        status = cbx_rule_list_pair(&list, &u, &v);
        rules->edges[rules->num_edges][0] = u < v ? u : v;
        rules->edges[rules->num_edges++][1] = u < v ? v : u;
    }
    qsort(rules->edges, (size_t)rules->num_edges, sizeof *rules->edges, by_pair);
    return status;
}

/* A permitted range within which a feature that is counted has no value. */
static cbx_status check_ranges(const cbx_rules *rules, const cbx_setup *setup, cbx_error *err)
{
    for (int32_t j = 0; j < rules->graph->data.num_features; j++)
        if (setup->discrete[j] && rules->lo[j] > rules->hi[j])
            return none_permitted(cbx_used_number(setup->used, j), err);
    return CBX_OK;
}

/* What the data says of its features: bounds, one-hot groups. */
static int start_from_data(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena)
{
    const cbx_graph_data *d = &rules->graph->data;
    size_t                f = (size_t)d->num_features;
    rules->fixed = CBX_NEW0(arena, uint8_t, f);
    rules->lo = CBX_NEW(arena, float, f);
    rules->hi = CBX_NEW(arena, float, f);
    rules->group = CBX_NEW(arena, int32_t, f);
    if (!rules->fixed || !rules->lo || !rules->hi || !rules->group)
        return -1;
    rules->groups = d->feature_group ? d->num_groups : 0;
    for (size_t j = 0; j < f; j++) {
        rules->lo[j] = setup->lo[j];
        rules->hi[j] = setup->hi[j];
        rules->group[j] = d->feature_group ? d->feature_group[j] : -1;
    }
    return 0;
}

/* Features that may not change. */
static cbx_status read_fixed(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                             cbx_error *err)
{
    const cbx_explain_options *o = rules->options;
    const cbx_graph_data      *d = &rules->graph->data;
    cbx_status                 status = CBX_OK;
    if (o->features_to_vary && *o->features_to_vary && strcmp(o->features_to_vary, "all") != 0) {
        memset(rules->fixed, 1, (size_t)d->num_features);
        if (strcmp(o->features_to_vary, "none") != 0)
            status =
                mark_features(rules, setup, "features-to-vary", o->features_to_vary, 0, arena, err);
    }
    for (int32_t j = 0; j < d->num_features && d->immutable; j++)
        rules->fixed[j] = rules->fixed[j] || d->immutable[j];
    return status ? status
                  : mark_features(rules, setup, "immutable-features", o->immutable_features, 1,
                                  arena, err);
}

cbx_status cbx_rules_init(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                          cbx_error *err)
{
    *rules = (cbx_rules){.graph = setup->graph, .options = setup->options};
    if (start_from_data(rules, setup, arena))
        return cbx_fail_memory(err);
    cbx_status status = read_fixed(rules, setup, arena, err);
    if (!status)
        status = read_ranges(rules, setup, arena, err);
    if (!status)
        status = cbx_bounds_round(&setup->graph->data, setup->discrete, rules->lo, rules->hi, arena)
                     ? cbx_fail_memory(err)
                     : check_ranges(rules, setup, err);
    if (!status)
        status = read_prices(rules, setup, arena, err);
    if (!status)
        status = read_groups(rules, setup, arena, err);
    if (!status)
        status = read_nodes(rules, arena, err);
    if (!status && ((const cbx_minimal_options *)setup->settings)->prove > 0 &&
        !(rules->fractions = cbx_bounds_fractions(&setup->graph->data, arena)))
        status = cbx_fail_memory(err);
    if (!status)
        status = read_edges(rules, arena, err);
    return status ? status
                  : cbx_columns_find(setup, rules->fixed, rules->group, rules->lo, rules->hi, arena,
                                     &rules->columns, err);
}

/* As rules call a node: in graph tasks by its number within the graph. */
static int32_t number_in_rules(const cbx_search *s, int32_t node)
{
    const cbx_graph_data *d = &s->graph->data;
    return d->task == CBX_GRAPH ? node - (int32_t)d->graph_ptr[s->row] : node;
}

static bool is_immutable(const cbx_rules *rules, const cbx_search *s, int32_t node)
{
    int32_t number = number_in_rules(s, node);
    return rules->num_nodes && bsearch(&number, rules->nodes, (size_t)rules->num_nodes,
                                       sizeof *rules->nodes, by_node) != NULL;
}

static bool is_own(const cbx_search *s, int32_t node)
{
    return s->graph->data.task == CBX_GRAPH || node == s->row;
}

bool cbx_rules_node(const cbx_rules *rules, const cbx_search *s, int32_t node)
{
    return (!rules->options->own_features || is_own(s, node)) && !is_immutable(rules, s, node);
}

bool cbx_rules_pair(const cbx_rules *rules, const cbx_search *s, int32_t u, int32_t v)
{
    int32_t a = number_in_rules(s, u), b = number_in_rules(s, v);
    int32_t pair[2] = {a < b ? a : b, a < b ? b : a};
    if (rules->options->keep_edges || (rules->options->own_edges && !is_own(s, u) && !is_own(s, v)))
        return false;
    if (is_immutable(rules, s, u) || is_immutable(rules, s, v))
        return false;
    return !rules->num_edges ||
           !bsearch(pair, rules->edges, (size_t)rules->num_edges, sizeof *rules->edges, by_pair);
}
