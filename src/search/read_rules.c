/* SPDX-License-Identifier: Apache-2.0 */
/* read_rules.c: see read_rules.h. */
#include "read_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "error.h"
#include "read_molecule.h"
#include "one_hot.h"
#include "read_additions.h"
#include "rule_list.h"
#include "rule_options.h"
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

void cbx_rules_renumber(const cbx_setup *s, cbx_feature_set *set)
{
    set->first = first_left(s, set->first);
    set->last = first_left(s, set->last + 1) - 1;
}

static cbx_status read_features(cbx_rule_list *list, const cbx_setup *s, cbx_feature_set *set)
{
    cbx_status status = cbx_rule_list_features(list, set);
    if (!status)
        cbx_rules_renumber(s, set);
    return status;
}

/* A feature of the data for people: its number, and its name where it has one. */
typedef char feature_words[112];

static const char *words_of(const cbx_setup *s, int32_t feature, feature_words words)
{
    const cbx_graph_data *d = &s->named->data;
    if (d->feature_names)
        (void)snprintf(words, sizeof(feature_words), "feature %d (%.80s)", feature,
                       d->feature_names[feature]);
    else
        (void)snprintf(words, sizeof(feature_words), "feature %d", feature);
    return words;
}

/* ---- the rules one by one */

static cbx_status mark_features(cbx_rules *rules, const cbx_setup *setup, const char *rule,
                                const char *text, uint8_t value, cbx_arena *arena, cbx_error *err)
{
    cbx_rule_list   list;
    cbx_feature_set set;
    cbx_status      status = cbx_rule_list_begin(&list, setup->named, rule, text, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = read_features(&list, setup, &set);
        for (int32_t j = set.first; !status && j <= set.last; j++)
            if (cbx_rules_has(rules, &set, j))
                rules->fixed[j] = value;
    }
    return status;
}

/* A group points somewhere: it goes neither up nor down, and has no steps. */
static cbx_status no_group(const cbx_rule_list *list, const cbx_rules *rules,
                           const cbx_feature_set *set)
{
    const cbx_graph_data *d = &list->graph->data;
    for (int32_t j = set->first; j <= set->last; j++)
        if (rules->group[j] >= 0)
            return cbx_fail_option(list->err, list->rule,
                                   "'%.100s' is a group of features of which one is on: expected "
                                   "a feature with values of its own",
                                   d->group_names && rules->group[j] < d->num_groups
                                       ? d->group_names[rules->group[j]]
                                       : list->at);
    return CBX_OK;
}

static cbx_status read_ways(cbx_rules *rules, const cbx_setup *setup, const char *rule,
                            const char *text, uint8_t way, cbx_arena *arena, cbx_error *err)
{
    cbx_rule_list   list;
    cbx_feature_set set;
    cbx_status      status = cbx_rule_list_begin(&list, setup->named, rule, text, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = read_features(&list, setup, &set);
        if (!status)
            status = no_group(&list, rules, &set);
        for (int32_t j = set.first; !status && j <= set.last; j++)
            rules->way[j] |= way;
    }
    return status;
}

/* Bounds move inwards to multiples of the step. */
static cbx_status set_step(cbx_rules *rules, const cbx_setup *setup, int32_t j, double step,
                           cbx_error *err)
{
    float         lo = rules->lo[j], hi = rules->hi[j];
    bool          counted = setup->discrete[j] != 0;
    feature_words words;
    const char   *name = words_of(setup, cbx_used_number(setup->used, j), words);
    if (counted && step != rint(step))
        return cbx_fail_option(err, "step",
                               "%s:%g: expected a whole number, because the feature takes whole "
                               "numbers only",
                               name, step);
    rules->step[j] = step;
    rules->lo[j] = cbx_rules_multiple_from(step, lo);
    rules->hi[j] = cbx_rules_multiple_to(step, hi);
    if (!(rules->lo[j] <= rules->hi[j]))
        return cbx_fail_option(err, "step",
                               "%s:%g: expected a step of which a multiple is between %g and %g, "
                               "what the feature may be",
                               name, step, (double)lo, (double)hi);
    return CBX_OK;
}

static cbx_status read_steps(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                             cbx_error *err)
{
    cbx_rule_list   list;
    cbx_feature_set set;
    double          step = 0;
    cbx_status      status =
        cbx_rule_list_begin(&list, setup->named, "step", setup->options->step, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = cbx_rule_list_step(&list, &set, &step);
        if (!status) {
            cbx_rules_renumber(setup, &set);
            status = no_group(&list, rules, &set);
        }
        for (int32_t j = set.first; !status && j <= set.last; j++)
            status = set_step(rules, setup, j, step, err);
    }
    return status;
}

static cbx_status read_relations(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                                 cbx_error *err)
{
    const char   *text = setup->options->if_changed;
    cbx_rule_list list;
    cbx_status    status = cbx_rule_list_begin(&list, setup->named, "if-changed", text, arena, err);
    rules->relations = CBX_NEW(arena, cbx_relation, text ? strlen(text) + 1 : 1);
    if (!rules->relations)
        return cbx_fail_memory(err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        cbx_relation relation = {{0, -1, -1}, {0, -1, -1}};
        status = cbx_rule_list_relation(&list, &relation);
        if (status)
            break;
        cbx_rules_renumber(setup, &relation.what);
        cbx_rules_renumber(setup, &relation.with);
        rules->relations[rules->num_relations++] = relation;
    }
    return status;
}

static cbx_status none_permitted(const cbx_setup *setup, int32_t feature, cbx_error *err)
{
    feature_words words;
    return cbx_fail_option(err, "permitted-range",
                           "%s takes whole numbers within its bounds, and none of them is "
                           "permitted",
                           words_of(setup, feature, words));
}

static cbx_status permit(cbx_rules *rules, const cbx_setup *setup, int32_t j, double lo, double hi,
                         cbx_error *err)
{
    int32_t       at = first_left(setup, j);
    feature_words words;
    if (lo > hi)
        return cbx_fail_option(err, "permitted-range", "%g to %g of %s is empty", lo, hi,
                               words_of(setup, j, words));
    if (at == first_left(setup, j + 1)) { /* never used: it is 0, and stays so */
        bool counted = setup->options->kinds == CBX_KINDS_AUTO || setup->named->data.discrete[j];
        return counted && (lo > 0 || hi < 0) ? none_permitted(setup, j, err) : CBX_OK;
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
                                               setup->options->permitted_range, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = cbx_rule_list_limits(&list, &j, &lo, &hi);
        if (!status)
            status = permit(rules, setup, j, lo, hi, err);
    }
    return status;
}

static cbx_status read_groups(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                              cbx_error *err)
{
    const char     *text = setup->options->one_hot;
    feature_words   words;
    cbx_rule_list   list;
    cbx_feature_set set;
    if (text && !strcmp(text, "none"))
        return CBX_OK;
    if (text && !strcmp(text, "auto")) {
        int32_t found = cbx_one_hot_find(&setup->graph->data, true, rules->groups, rules->group);
        rules->groups += found > 0 ? found : 0;
        return found < 0 ? cbx_fail_memory(err) : CBX_OK;
    }
    cbx_status status = cbx_rule_list_begin(&list, setup->named, "one-hot", text, arena, err);
    for (; !status && cbx_rule_list_more(&list); cbx_rule_list_next(&list)) {
        status = read_features(&list, setup, &set);
        bool is_new = !status && set.group < 0; /* those of the data are groups already */
        for (int32_t j = set.first; is_new && j <= set.last; j++) {
            if (rules->group[j] >= 0)
                return cbx_fail_option(err, "one-hot", "%s is in two groups",
                                       words_of(setup, cbx_used_number(setup->used, j), words));
            rules->group[j] = rules->groups;
        }
        rules->groups += is_new;
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

static cbx_status read_nodes(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                             cbx_error *err)
{
    const char   *text = setup->options->immutable_nodes;
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

static cbx_status read_edges(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                             cbx_error *err)
{
    const char   *text = setup->options->protected_edges;
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
            return none_permitted(setup, cbx_used_number(setup->used, j), err);
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
    rules->step = CBX_NEW0(arena, double, f);
    rules->way = CBX_NEW0(arena, uint8_t, f);
    if (!rules->fixed || !rules->lo || !rules->hi || !rules->group || !rules->step || !rules->way)
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
    const cbx_explain_options *o = setup->options;
    const cbx_graph_data      *d = &rules->graph->data;
    cbx_status                 status = CBX_OK;
    if (o->features_to_vary && *o->features_to_vary && strcmp(o->features_to_vary, "all") != 0) {
        memset(rules->fixed, 1, (size_t)d->num_features);
        if (strcmp(o->features_to_vary, "none") != 0)
            status =
                mark_features(rules, setup, "features-to-vary", o->features_to_vary, 0, arena, err);
    }
    if (!(rules->edits & CBX_EDITS_FEATURES))
        memset(rules->fixed, 1, (size_t)d->num_features);
    for (int32_t j = 0; j < d->num_features && d->immutable; j++)
        rules->fixed[j] = rules->fixed[j] || d->immutable[j];
    return status ? status
                  : mark_features(rules, setup, "immutable-features", o->immutable_features, 1,
                                  arena, err);
}

/* Which features may change, and to what. */
static cbx_status read_feature_rules(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                                     cbx_error *err)
{
    const cbx_explain_options *o = setup->options;
    cbx_status                 status = read_groups(rules, setup, arena, err);
    if (!status)
        status = cbx_rules_read_molecule(rules, setup, arena, err);
    if (!status)
        status = read_fixed(rules, setup, arena, err);
    if (!status)
        status = read_ranges(rules, setup, arena, err);
    if (!status)
        status = cbx_bounds_round(&setup->graph->data, setup->discrete, rules->lo, rules->hi, arena)
                     ? cbx_fail_memory(err)
                     : check_ranges(rules, setup, err);
    if (!status)
        status = read_ways(rules, setup, "only-up", o->only_up, CBX_WAY_NOT_DOWN, arena, err);
    if (!status)
        status = read_ways(rules, setup, "only-down", o->only_down, CBX_WAY_NOT_UP, arena, err);
    if (!status)
        status = read_steps(rules, setup, arena, err);
    return status ? status : read_relations(rules, setup, arena, err);
}

/* Is anything limited, by the options or by the data? That a class must be likely limits no edit.
 */
static bool is_any_given(const cbx_setup *setup, const cbx_rules *rules)
{
    cbx_explain_options o = *setup->options;
    o.stopping_threshold = 0;
    bool any = cbx_rules_are_given(&o) || rules->edits != (CBX_EDITS_REMOVE | CBX_EDITS_FEATURES);
    for (int32_t j = 0; j < setup->graph->data.num_features && !any; j++)
        any = rules->fixed[j] || rules->group[j] >= 0;
    return any;
}

cbx_status cbx_rules_init(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                          cbx_error *err)
{
    const cbx_explain_options *o = setup->options;
    unsigned                   edits = 0;
    cbx_status                 status = cbx_edits_read(o->edits, &edits, err);
    if (status)
        return status;
    edits = cbx_edits_possible(setup, edits);
    *rules = (cbx_rules){.graph = setup->graph,
                         .edits = edits,
                         .own_features = o->own_features || o->as == CBX_AS_SELF,
                         .own_edges = o->own_edges || o->as == CBX_AS_SELF,
                         .keep_edges = o->keep_edges || !(edits & CBX_EDITS_REMOVE),
                         .keep_all_edges = o->keep_edges,
                         .keep = o->keep,
                         .max_edits = o->max_edits,
                         .max_added = o->max_added,
                         .max_removed = o->max_removed,
                         .most_unusual = o->plausible};
    if (setup->graph->data.task == CBX_GRAPH && o->as == CBX_AS_SELF)
        return cbx_fail_option(err, "as",
                               "self is for data with a class for each node: a graph has no "
                               "neighbours to leave alone");
    if (start_from_data(rules, setup, arena))
        return cbx_fail_memory(err);
    status = read_feature_rules(rules, setup, arena, err);
    if (!status)
        status = read_nodes(rules, setup, arena, err);
    if (!status)
        status = read_edges(rules, setup, arena, err);
    rules->plausible = cbx_plausible_new(setup->graph, rules->group, arena);
    if (!status && !rules->plausible)
        status = cbx_fail_memory(err);
    if (!status)
        status = cbx_additions_read(rules, setup, arena, err);
    rules->any = !status && is_any_given(setup, rules);
    return status;
}

cbx_status cbx_rules_check_options(const cbx_graph *graph, const cbx_explain_options *options,
                                   int32_t row, int32_t class, const cbx_edit *edits, int64_t count,
                                   cbx_error *err)
{
    cbx_setup  setup;
    cbx_rules  rules;
    cbx_status status = cbx_setup_for_rules(&setup, graph, options, err);
    if (!status)
        status = cbx_rules_init(&rules, &setup, &setup.arena, err);
    if (!status && rules.any)
        status = cbx_rules_check(&rules, row, class, edits, count, err);
    cbx_setup_free(&setup);
    return status;
}
