/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c: see rules.h; check_rules.c has the rest. */
#include "rules.h"

#include <math.h>
#include <stdlib.h>

/* As rules call a node: in graph tasks by its number within the graph. */
static int32_t number_in_rules(const cbx_rules *rules, int32_t row, int32_t node)
{
    const cbx_graph_data *d = &rules->graph->data;
    return d->task == CBX_GRAPH ? node - (int32_t)d->graph_ptr[row] : node;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int by_pair(const void *a, const void *b)
{
    int first = by_number(a, b);
    return first ? first : by_number((const int32_t *)a + 1, (const int32_t *)b + 1);
}

static bool is_immutable(const cbx_rules *rules, int32_t row, int32_t node)
{
    int32_t number = number_in_rules(rules, row, node);
    return rules->num_nodes && bsearch(&number, rules->nodes, (size_t)rules->num_nodes,
                                       sizeof *rules->nodes, by_number) != NULL;
}

static bool is_own(const cbx_rules *rules, int32_t row, int32_t node)
{
    return rules->graph->data.task == CBX_GRAPH || node == row;
}

bool cbx_rules_node(const cbx_rules *rules, int32_t row, int32_t node)
{
    return (!rules->own_features || is_own(rules, row, node)) && !is_immutable(rules, row, node);
}

/* May anything change between these two? */
static bool may_change(const cbx_rules *rules, int32_t row, int32_t u, int32_t v)
{
    int32_t a = number_in_rules(rules, row, u), b = number_in_rules(rules, row, v);
    int32_t pair[2] = {a < b ? a : b, a < b ? b : a};
    if (rules->own_edges && !is_own(rules, row, u) && !is_own(rules, row, v))
        return false;
    if (is_immutable(rules, row, u) || is_immutable(rules, row, v))
        return false;
    return !rules->num_edges ||
           !bsearch(pair, rules->edges, (size_t)rules->num_edges, sizeof *rules->edges, by_pair);
}

bool cbx_rules_pair(const cbx_rules *rules, int32_t row, int32_t u, int32_t v)
{
    return !rules->keep_edges && may_change(rules, row, u, v);
}

bool cbx_rules_removal(const cbx_rules *rules, int32_t row, int32_t node)
{
    bool explained = rules->graph->data.task != CBX_GRAPH && node == row;
    return (rules->edits & CBX_EDITS_REMOVE_NODES) && !explained &&
           !is_immutable(rules, row, node) && (!rules->own_edges || is_own(rules, row, node));
}

bool cbx_rules_pair_with_node(const cbx_rules *rules, int32_t row, int32_t u, int32_t v)
{
    return !rules->keep_all_edges && may_change(rules, row, u, v);
}

bool cbx_rules_weight(const cbx_rules *rules, int32_t row, int32_t u, int32_t v, float weight)
{
    return (rules->edits & CBX_EDITS_WEIGHTS) && rules->weight_lo < rules->weight_hi &&
           weight >= rules->weight_lo && weight <= rules->weight_hi && may_change(rules, row, u, v);
}

bool cbx_rules_attribute(const cbx_rules *rules, int32_t row, const cbx_edit *e)
{
    const cbx_edge_columns *columns = rules->attributes;
    return (rules->edits & CBX_EDITS_ATTRIBUTES) && columns &&
           columns->one_hot == (e->attribute < 0) &&
           cbx_edge_column_takes(columns, cbx_edit_column(e), e->weight) &&
           may_change(rules, row, e->source, e->target);
}

/* May an edge lead to this node? In node tasks, the explained one is where it comes from. */
static bool leads_there(const cbx_rules *rules, int32_t row, int32_t node)
{
    int32_t number = number_in_rules(rules, row, node);
    return (rules->graph->data.task == CBX_GRAPH || node != row) &&
           bsearch(&number, rules->add_to, (size_t)rules->num_add_to, sizeof *rules->add_to,
                   by_number);
}

/* The ends of an added edge are of one type, where that is asked for. */
static bool are_of_one_type(const cbx_rules *rules, int32_t u, int32_t v)
{
    return !rules->type || (rules->type[u] >= 0 && rules->type[u] == rules->type[v]);
}

bool cbx_rules_addition(const cbx_rules *rules, int32_t row, int32_t u, int32_t v)
{
    if (!(rules->edits & CBX_EDITS_ADD) || u == v || !may_change(rules, row, u, v))
        return false;
    if (!are_of_one_type(rules, u, v))
        return false;
    if (rules->add_at_target && !is_own(rules, row, u) && !is_own(rules, row, v))
        return false;
    return !rules->add_to_some || leads_there(rules, row, u) || leads_there(rules, row, v);
}

bool cbx_rules_limit_degree(const cbx_rules *rules)
{
    return rules->max_degree > 0 || rules->valence;
}

/* Bonds that the atom can have; none can be added to one of which that is not known. */
static int64_t valence_of(const cbx_rules *rules, int32_t node)
{
    const cbx_graph_data *d = &rules->graph->data;
    int64_t               at = d->x ? (int64_t)node * d->num_features : d->x_indptr[node];
    int64_t               end = d->x ? at + d->num_features : d->x_indptr[node + 1];
    for (int64_t k = at; k < end; k++) {
        int32_t j = d->x ? (int32_t)(k - at) : d->x_indices[k];
        if (rules->group[j] == rules->elements && (d->x ? d->x[k] : d->x_values[k]) == CBX_GROUP_ON)
            return rules->valence[j];
    }
    return 0;
}

/* Edges into the node, loops left out, and what they are as bonds. */
static int64_t count_edges(const cbx_rules *rules, int32_t node, double *bonds)
{
    const cbx_graph *g = rules->graph;
    int64_t          degree = 0;
    *bonds = 0;
    for (int64_t s = g->in_offset[node]; s < g->in_offset[node + 1]; s++) {
        if (g->in_source[s] == node)
            continue;
        degree++;
        *bonds += rules->bond ? (double)rules->bond[cbx_graph_edge_id(g, s)] : 1;
    }
    return degree;
}

/* Of an added edge, as a bond: where weights are orders, its own weight. */
static double added_order(const cbx_rules *rules)
{
    return rules->bond_is_weight && rules->add_weight > 0 ? (double)rules->add_weight : 1;
}

int64_t cbx_rules_room(const cbx_rules *rules, int32_t node)
{
    double  bonds;
    int64_t degree = count_edges(rules, node, &bonds);
    int64_t room = rules->max_degree > 0 ? rules->max_degree - degree : INT64_MAX;
    if (!rules->valence)
        return room;
    int64_t free = (int64_t)floor(((double)valence_of(rules, node) - bonds) / added_order(rules));
    return free < room ? free : room;
}

bool cbx_rules_new_node(const cbx_rules *rules, int32_t row, int32_t copied, int32_t at)
{
    return (rules->edits & CBX_EDITS_ADD_NODES) && rules->graph->data.task == CBX_GRAPH &&
           !is_immutable(rules, row, at) && are_of_one_type(rules, copied, at) &&
           (!rules->add_to_some || leads_there(rules, row, at)) &&
           (!rules->valence || (double)valence_of(rules, copied) >= added_order(rules));
}

/* ---- values */

float cbx_rules_multiple(double step, float value)
{
    return (float)(rint((double)value / step) * step) + 0.0F; /* never -0 */
}

/* By multiples as floats have them: 0.7 is one of 0.1, though their quotient is not 7. */
float cbx_rules_multiple_from(double step, float value)
{
    float at = cbx_rules_multiple(step, value);
    return at < value ? (float)((rint((double)value / step) + 1) * step) + 0.0F : at;
}

float cbx_rules_multiple_to(double step, float value)
{
    float at = cbx_rules_multiple(step, value);
    return at > value ? (float)((rint((double)value / step) - 1) * step) + 0.0F : at;
}

bool cbx_rules_value(const cbx_rules *rules, int32_t j, float from, float to)
{
    return to >= rules->lo[j] && to <= rules->hi[j] &&
           !((rules->way[j] & CBX_WAY_NOT_DOWN) && to < from) &&
           !((rules->way[j] & CBX_WAY_NOT_UP) && to > from) &&
           (rules->step[j] == 0 || to == cbx_rules_multiple(rules->step[j], to));
}

bool cbx_rules_turn(const cbx_rules *rules, int32_t from, int32_t to)
{
    const int8_t *valence = rules->group[from] == rules->elements ? rules->valence : NULL;
    return !rules->fixed[from] && !rules->fixed[to] &&
           cbx_rules_value(rules, from, CBX_GROUP_ON, CBX_GROUP_OFF) &&
           cbx_rules_value(rules, to, CBX_GROUP_OFF, CBX_GROUP_ON) &&
           (!valence || (valence[from] > 0 && valence[from] == valence[to]));
}

float cbx_rules_nearest(const cbx_rules *rules, int32_t j, float from, float to)
{
    float  lo = rules->lo[j], hi = rules->hi[j];
    double step = rules->step[j];
    lo = (rules->way[j] & CBX_WAY_NOT_DOWN) && from > lo ? from : lo;
    hi = (rules->way[j] & CBX_WAY_NOT_UP) && from < hi ? from : hi;
    if (rules->fixed[j] || lo > hi)
        return from;
    to = to < lo ? lo : to > hi ? hi : to;
    if (step > 0) {
        float multiple = cbx_rules_multiple(step, to);
        if (multiple > hi)
            multiple = cbx_rules_multiple(step, (float)((double)multiple - step));
        else if (multiple < lo)
            multiple = cbx_rules_multiple(step, (float)((double)multiple + step));
        to = multiple;
    }
    return cbx_rules_value(rules, j, from, to) ? to : from;
}

/* ---- relations */

static bool changes(const cbx_rules *rules, const cbx_feature_set *set, const float *before,
                    const float *after)
{
    for (int32_t j = set->first; j <= set->last; j++)
        if (before[j] != after[j] && cbx_rules_has(rules, set, j))
            return true;
    return false;
}

bool cbx_rules_relation(const cbx_rules *rules, const cbx_relation *relation, const float *before,
                        const float *after)
{
    return !changes(rules, &relation->what, before, after) ||
           changes(rules, &relation->with, before, after);
}

bool cbx_rules_relations(const cbx_rules *rules, const float *before, const float *after)
{
    for (int64_t k = 0; k < rules->num_relations; k++)
        if (!cbx_rules_relation(rules, &rules->relations[k], before, after))
            return false;
    return true;
}
