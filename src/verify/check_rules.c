/* SPDX-License-Identifier: Apache-2.0 */
/* check_rules.c: do edits keep the rules? Asked of the edits and the data, node by node, and of the
 * whole graph without the edges that go. No search has a part in it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column_values.h"
#include "deadline.h"
#include "error.h"
#include "rules.h"

typedef struct check {
    const cbx_rules *rules;
    int32_t          row;
    const cbx_edit  *edits;
    int64_t          count;
    const cbx_edit **features; /* the edits that set one, by node */
    int64_t          num_features, changes, added, removed;
    float           *before, *after; /* a row of features */
    uint8_t         *touched;        /* by group */
    bool             relations_only;
    cbx_arena        arena;
    cbx_error       *err;
} check;

/* "3", or "3 (age)". */
typedef char part_name[96];

static const char *name_part(part_name text, const char *const *names, int32_t number)
{
    const char *name = names ? names[number] : "";
    (void)snprintf(text, sizeof(part_name), *name ? "%d (%.60s)" : "%d", number, name);
    return text;
}

static cbx_status broken(const check *c, const char *rule, int32_t node, int32_t feature,
                         const char *what)
{
    const cbx_graph_data *d = &c->rules->graph->data;
    part_name             who, which;
    return cbx_fail(c->err, CBX_INVALID, "the rule %s: feature %s of node %s %s", rule,
                    name_part(which, d->feature_names, feature),
                    name_part(who, d->node_names, node), what);
}

/* ---- features */

static cbx_status check_value(const check *c, const cbx_edit *e)
{
    const cbx_rules *r = c->rules;
    int32_t          j = e->feature;
    float            from = c->before[j];
    if (!cbx_rules_node(r, c->row, e->node))
        return broken(c, "own-features, immutable-nodes or as", e->node, j, "changes");
    if (r->fixed[j])
        return broken(c, "immutable-features or features-to-vary", e->node, j, "changes");
    if (e->to < r->lo[j] || e->to > r->hi[j])
        return broken(c, "permitted-range", e->node, j, "leaves what is permitted");
    if ((r->way[j] & CBX_WAY_NOT_DOWN) && e->to < from)
        return broken(c, "only-up", e->node, j, "goes down");
    if ((r->way[j] & CBX_WAY_NOT_UP) && e->to > from)
        return broken(c, "only-down", e->node, j, "goes up");
    if (!cbx_rules_value(r, j, from, e->to))
        return broken(c, "step", e->node, j, "becomes no multiple of its step");
    return CBX_OK;
}

/* One of the group is 1 and the others are 0: before and after. */
static bool is_one_hot(const cbx_rules *r, const float *x, int32_t group)
{
    int32_t on = 0;
    for (int32_t j = 0; j < r->graph->data.num_features; j++) {
        if (r->group[j] != group || x[j] == CBX_GROUP_OFF)
            continue;
        if (x[j] != CBX_GROUP_ON)
            return false;
        on++;
    }
    return on == 1;
}

/* Of the atom whose features these are. One of no known valence is like no other, nor itself. */
static double valence_in(const check *c, const float *x)
{
    const cbx_rules *r = c->rules;
    for (int32_t j = 0; j < r->graph->data.num_features; j++)
        if (r->group[j] == r->elements && x[j] == CBX_GROUP_ON)
            return r->valence[j] > 0 ? r->valence[j] : NAN;
    return NAN;
}

static cbx_status check_group(const check *c, const cbx_edit *e)
{
    int32_t group = c->rules->group[e->feature];
    if (!is_one_hot(c->rules, c->before, group) || !is_one_hot(c->rules, c->after, group))
        return broken(c, "one-hot", e->node, e->feature,
                      "is in a group of which not exactly one is on");
    if (c->rules->valence && group == c->rules->elements &&
        valence_in(c, c->before) != valence_in(c, c->after))
        return broken(c, "keep", e->node, e->feature,
                      "makes the atom one of another valence, or of none that is known");
    return CBX_OK;
}

/* The edits of one node. */
static cbx_status check_node(check *c, const cbx_edit *const *edits, int64_t count)
{
    const cbx_rules *r = c->rules;
    cbx_status       status = CBX_OK;
    cbx_row_expand(&r->graph->data, edits[0]->node, c->before);
    cbx_row_expand(&r->graph->data, edits[0]->node, c->after);
    memset(c->touched, 0, (size_t)r->groups);
    for (int64_t k = 0; k < count; k++)
        c->after[edits[k]->feature] = edits[k]->to;
    for (int64_t k = 0; k < count && !status && !c->relations_only; k++) {
        int32_t group = r->group[edits[k]->feature];
        c->changes += group < 0 || !c->touched[group];
        status = check_value(c, edits[k]);
        if (!status && group >= 0 && !c->touched[group]) {
            status = check_group(c, edits[k]);
            c->touched[group] = 1;
        }
    }
    for (int64_t k = 0; k < r->num_relations && !status; k++)
        if (!cbx_rules_relation(r, &r->relations[k], c->before, c->after))
            status = broken(c, "if-changed", edits[0]->node, r->relations[k].what.first,
                            "changes without what it may change with");
    return status;
}

static int by_node(const void *a, const void *b)
{
    const cbx_edit *x = *(const cbx_edit *const *)a, *y = *(const cbx_edit *const *)b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

static cbx_status check_features(check *c)
{
    size_t     f = (size_t)c->rules->graph->data.num_features;
    cbx_status status = CBX_OK;
    c->features = CBX_NEW(&c->arena, const cbx_edit *, c->count);
    c->before = CBX_NEW(&c->arena, float, f);
    c->after = CBX_NEW(&c->arena, float, f);
    c->touched = CBX_NEW(&c->arena, uint8_t, c->rules->groups);
    if (!c->features || !c->before || !c->after || !c->touched)
        return cbx_fail_memory(c->err);
    for (int64_t k = 0; k < c->count; k++)
        if (c->edits[k].op == CBX_SET_FEATURE)
            c->features[c->num_features++] = &c->edits[k];
    if (c->num_features)
        qsort(c->features, (size_t)c->num_features, sizeof(const cbx_edit *), by_node);
    for (int64_t k = 0, end; k < c->num_features && !status; k = end) {
        for (end = k + 1; end < c->num_features && c->features[end]->node == c->features[k]->node;)
            end++;
        status = check_node(c, c->features + k, end - k);
    }
    return status;
}

/* ---- edges */

static bool removes(const cbx_edit *e, int32_t source, int32_t target, int64_t id)
{
    bool forth = e->source == source && e->target == target;
    bool back = e->source == target && e->target == source;
    return e->undirected ? forth || back : forth && (e->edge < 0 || e->edge == id);
}

static void mark_node_gone(const cbx_graph *g, int32_t node, uint8_t *gone)
{
    for (int32_t i = 0; i < g->data.num_nodes; i++)
        for (int64_t s = g->in_offset[i]; s < g->in_offset[i + 1]; s++)
            gone[s] |= i == node || g->in_source[s] == node;
}

/* By slot: does one of the edits remove it? */
static void mark_gone(const check *c, uint8_t *gone)
{
    const cbx_graph *g = c->rules->graph;
    for (int64_t k = 0; k < c->count; k++) {
        const cbx_edit *e = &c->edits[k];
        int32_t         ends[2] = {e->target, e->source};
        if (e->op == CBX_REMOVE_NODE)
            mark_node_gone(g, e->node, gone);
        if (e->op != CBX_REMOVE_EDGE)
            continue;
        for (int way = 0; way < (e->undirected ? 2 : 1); way++)
            for (int64_t s = g->in_offset[ends[way]]; s < g->in_offset[ends[way] + 1]; s++)
                gone[s] |= removes(e, g->in_source[s], ends[way], cbx_graph_edge_id(g, s));
    }
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Joins the ends of every edge that stays, and counts the links of each node. */
static cbx_status join_nodes(check *c, int32_t *parent, int32_t *links)
{
    const cbx_graph *g = c->rules->graph;
    int32_t          n = g->data.num_nodes;
    uint8_t         *gone = CBX_NEW0(&c->arena, uint8_t, g->data.num_edges);
    if (!gone)
        return cbx_fail_memory(c->err);
    mark_gone(c, gone);
    for (int32_t i = 0; i < n; i++)
        parent[i] = i;
    for (int32_t i = 0; i < n; i++)
        for (int64_t s = g->in_offset[i]; s < g->in_offset[i + 1]; s++) {
            int32_t other = g->in_source[s];
            if (gone[s] || other == i)
                continue;
            links[i]++;
            links[other]++;
            parent[root_of(parent, i)] = root_of(parent, other);
        }
    return CBX_OK;
}

static cbx_status check_shape(check *c)
{
    const cbx_graph_data *d = &c->rules->graph->data;
    int32_t              *parent = CBX_NEW(&c->arena, int32_t, d->num_nodes);
    int32_t              *links = CBX_NEW0(&c->arena, int32_t, d->num_nodes);
    part_name             u, v;
    if (!parent || !links)
        return cbx_fail_memory(c->err);
    cbx_status status = join_nodes(c, parent, links);
    for (int64_t k = 0; k < c->count && !status; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op != CBX_REMOVE_EDGE || e->source == e->target)
            continue;
        if (cbx_keeps_one_piece(c->rules->keep) &&
            root_of(parent, e->source) != root_of(parent, e->target))
            status = cbx_fail(
                c->err, CBX_INVALID, "the rule keep: nodes %s and %s are no longer connected",
                name_part(u, d->node_names, e->source), name_part(v, d->node_names, e->target));
        int32_t alone = !links[e->source] ? e->source : !links[e->target] ? e->target : -1;
        if (c->rules->keep == CBX_KEEP_NO_ISOLATED && alone >= 0)
            status = cbx_fail(c->err, CBX_INVALID, "the rule keep: node %s has no edge left",
                              name_part(u, d->node_names, alone));
    }
    return status;
}

/* ---- nodes that go */

static bool is_removed(const check *c, int32_t node)
{
    for (int64_t k = 0; k < c->count; k++)
        if (c->edits[k].op == CBX_REMOVE_NODE && c->edits[k].node == node)
            return true;
    return false;
}

static bool removes_nodes(const check *c)
{
    for (int64_t k = 0; k < c->count; k++)
        if (c->edits[k].op == CBX_REMOVE_NODE)
            return true;
    return false;
}

/* By node, of the whole graph: in which piece it is, and how many links it has. `without`: leave
 * out what the edits remove. */
static cbx_status find_pieces(check *c, bool without, int32_t **piece, int32_t **links)
{
    check   all = *c;
    int32_t n = c->rules->graph->data.num_nodes;
    all.count = without ? c->count : 0;
    *piece = CBX_NEW(&c->arena, int32_t, n);
    *links = CBX_NEW0(&c->arena, int32_t, n);
    all.arena = (cbx_arena){0};
    cbx_status status = *piece && *links ? join_nodes(&all, *piece, *links) : CBX_NO_MEMORY;
    cbx_arena_free(&all.arena);
    for (int32_t i = 0; i < n && !status; i++)
        (*piece)[i] = root_of(*piece, i);
    return status ? cbx_fail_memory(c->err) : CBX_OK;
}

/* Those that stay, and were in one piece, must be so still; or have a link, if they had one. */
static cbx_status check_what_is_left(check *c)
{
    const cbx_graph_data *d = &c->rules->graph->data;
    int32_t              *before, *after, *links_before, *links_after;
    int32_t              *first = CBX_NEW(&c->arena, int32_t, d->num_nodes);
    part_name             u, v;
    cbx_status status = first ? find_pieces(c, false, &before, &links_before) : CBX_NO_MEMORY;
    if (!status)
        status = find_pieces(c, true, &after, &links_after);
    if (status)
        return cbx_fail_memory(c->err);
    for (int32_t i = 0; i < d->num_nodes; i++)
        first[i] = -1;
    for (int32_t i = 0; i < d->num_nodes; i++) {
        if (is_removed(c, i))
            continue;
        int32_t *other = &first[before[i]];
        *other = *other < 0 ? i : *other;
        if (cbx_keeps_one_piece(c->rules->keep) && after[*other] != after[i])
            return cbx_fail(c->err, CBX_INVALID,
                            "the rule keep: nodes %s and %s are no longer connected",
                            name_part(u, d->node_names, *other), name_part(v, d->node_names, i));
        if (c->rules->keep == CBX_KEEP_NO_ISOLATED && links_before[i] && !links_after[i])
            return cbx_fail(c->err, CBX_INVALID, "the rule keep: node %s has no edge left",
                            name_part(u, d->node_names, i));
    }
    return CBX_OK;
}

static cbx_status removed_wrongly(const check *c, int32_t node, const char *rule)
{
    part_name who;
    return cbx_fail(c->err, CBX_INVALID, "the rule %s: node %s goes", rule,
                    name_part(who, c->rules->graph->data.node_names, node));
}

static cbx_status check_nodes(check *c)
{
    const cbx_rules *r = c->rules;
    const cbx_graph *g = r->graph;
    for (int64_t k = 0; k < c->count; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op != CBX_REMOVE_NODE)
            continue;
        c->changes++;
        if (!cbx_rules_removal(r, c->row, e->node))
            return removed_wrongly(c, e->node, "edits, own-edges, immutable-nodes or as");
        for (int64_t s = 0; s < g->data.num_edges; s++) {
            int32_t from = (int32_t)g->data.edge_source[s], to = (int32_t)g->data.edge_target[s];
            if ((from == e->node || to == e->node) &&
                !cbx_rules_pair_with_node(r, c->row, from, to))
                return removed_wrongly(
                    c, e->node,
                    "keep-edges, immutable-nodes or protected-edges, of one of its edges");
        }
    }
    return removes_nodes(c) && r->keep != CBX_KEEP_NOTHING ? check_what_is_left(c) : CBX_OK;
}

/* ---- weights */

static cbx_status check_weights(check *c)
{
    const cbx_graph_data *d = &c->rules->graph->data;
    part_name             u, v;
    for (int64_t k = 0; k < c->count; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op != CBX_SET_EDGE)
            continue;
        c->changes++;
        if (e->attribute ? !cbx_rules_attribute(c->rules, c->row, e)
                         : !cbx_rules_weight(c->rules, c->row, e->source, e->target, e->weight))
            return cbx_fail(
                c->err, CBX_INVALID,
                "the rule edits, own-edges, immutable-nodes, protected-edges or as: the "
                "edge between nodes %s and %s gets the %s %g",
                name_part(u, d->node_names, e->source), name_part(v, d->node_names, e->target),
                e->attribute ? "attribute" : "weight", (double)e->weight);
    }
    return CBX_OK;
}

/* ---- edges that come */

static cbx_status added_wrongly(const check *c, const cbx_edit *e, const char *rule)
{
    const cbx_graph_data *d = &c->rules->graph->data;
    part_name             u, v;
    return cbx_fail(c->err, CBX_INVALID, "the rule %s: an edge is added between nodes %s and %s",
                    rule, name_part(u, d->node_names, e->source),
                    name_part(v, d->node_names, e->target));
}

/* Hop by hop over all edges, whichever way they point. */
static cbx_status check_distance(check *c, const cbx_edit *e)
{
    const cbx_graph_data *d = &c->rules->graph->data;
    int64_t              *hop = CBX_NEW(&c->arena, int64_t, d->num_nodes);
    bool                  grows = true;
    if (!hop)
        return cbx_fail_memory(c->err);
    for (int32_t i = 0; i < d->num_nodes; i++)
        hop[i] = i == e->source ? 0 : INT64_MAX;
    for (int64_t h = 1; h <= c->rules->add_within && grows; h++) {
        grows = false;
        for (int64_t k = 0; k < d->num_edges; k++) {
            int64_t *a = &hop[d->edge_source[k]], *b = &hop[d->edge_target[k]];
            if ((*a == h - 1 && *b > h) || (*b == h - 1 && *a > h)) {
                *(*a == h - 1 ? b : a) = h;
                grows = true;
            }
        }
    }
    return hop[e->target] == INT64_MAX ? added_wrongly(c, e, "add-within") : CBX_OK;
}

/* Edges that go are counted as well: taking an edge away makes no room. */
static bool has_room(const check *c, int32_t node)
{
    int64_t room = cbx_rules_limit_degree(c->rules) ? cbx_rules_room(c->rules, node) : INT64_MAX;
    for (int64_t k = 0; k < c->count; k++) {
        const cbx_edit *other = &c->edits[k];
        room -= other->op == CBX_ADD_EDGE &&
                (other->target == node || (other->undirected && other->source == node));
        room -= other->op == CBX_ADD_NODE && other->target == node;
    }
    return room >= 0;
}

static cbx_status check_additions(check *c)
{
    const cbx_rules *r = c->rules;
    cbx_status       status = CBX_OK;
    for (int64_t k = 0; k < c->count && !status; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op != CBX_ADD_EDGE)
            continue;
        c->changes++;
        c->added++;
        if (!cbx_rules_addition(r, c->row, e->source, e->target))
            status = added_wrongly(
                c, e, "edits, add-at, add-to, own-edges, immutable-nodes, protected-edges or as");
        if (!status && r->add_within > 0)
            status = check_distance(c, e);
        if (!status && (!has_room(c, e->target) || (e->undirected && !has_room(c, e->source))))
            status = added_wrongly(c, e, "max-degree or keep");
    }
    return status;
}

/* ---- nodes that come */

/* The edge of a new node counts as one that is added. */
static cbx_status check_new_nodes(check *c)
{
    const cbx_rules      *r = c->rules;
    const cbx_graph_data *d = &r->graph->data;
    for (int64_t k = 0; k < c->count; k++) {
        const cbx_edit *e = &c->edits[k];
        part_name       u, v;
        if (e->op != CBX_ADD_NODE)
            continue;
        c->changes++;
        c->added++;
        if (!cbx_rules_new_node(r, c->row, e->source, e->target) || !has_room(c, e->target))
            return cbx_fail(c->err, CBX_INVALID,
                            "the rule edits, add-to, immutable-nodes, max-degree or keep: a copy "
                            "of node %s is added at node %s",
                            name_part(u, d->node_names, e->source),
                            name_part(v, d->node_names, e->target));
    }
    return CBX_OK;
}

static cbx_status check_edges(check *c)
{
    const cbx_graph_data *d = &c->rules->graph->data;
    part_name             u, v;
    bool                  some = false;
    for (int64_t k = 0; k < c->count; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op != CBX_REMOVE_EDGE)
            continue;
        some = true;
        c->changes++;
        c->removed++;
        if (!cbx_rules_pair(c->rules, c->row, e->source, e->target))
            return cbx_fail(c->err, CBX_INVALID,
                            "the rule keep-edges, own-edges, immutable-nodes, protected-edges or "
                            "as: the edge between nodes %s and %s goes",
                            name_part(u, d->node_names, e->source),
                            name_part(v, d->node_names, e->target));
    }
    bool shaped = some && c->rules->keep != CBX_KEEP_NOTHING;
    return shaped && !removes_nodes(c) ? check_shape(c) : CBX_OK;
}

/* Of all changes, and of each kind that has a limit of its own. */
static cbx_status check_numbers(const check *c)
{
    const struct {
        const char *rule, *what;
        int64_t     most, count;
    } limits[] = {{"max-edits", "changes", c->rules->max_edits, c->changes},
                  {"max-added", "edges that are added", c->rules->max_added, c->added},
                  {"max-removed", "edges that are removed", c->rules->max_removed, c->removed}};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        if (limits[k].most > 0 && limits[k].count > limits[k].most)
            return cbx_fail(c->err, CBX_INVALID,
                            "the rule %s: there are %lld %s, and %lld are allowed", limits[k].rule,
                            (long long)limits[k].count, limits[k].what, (long long)limits[k].most);
    return CBX_OK;
}

static cbx_status check_plausible(const check *c, int32_t class)
{
    const cbx_rules *r = c->rules;
    double           unusual = 0;
    if (!(r->most_unusual > 0) || !r->plausible)
        return CBX_OK;
    cbx_status status =
        cbx_plausible_edits(r->plausible, class, c->edits, c->count, &unusual, c->err);
    if (!status && unusual > r->most_unusual)
        status = cbx_fail(c->err, CBX_INVALID,
                          "the rule plausible: what changes is %.3g times as far from real rows as "
                          "they are from each other, and %g is allowed",
                          unusual, r->most_unusual);
    return status;
}

cbx_status cbx_rules_check(const cbx_rules *rules, int32_t row, int32_t class,
                           const cbx_edit *edits, int64_t count, cbx_error *err)
{
    check      c = {.rules = rules, .row = row, .edits = edits, .count = count, .err = err};
    cbx_status status = check_features(&c);
    if (!status)
        status = check_edges(&c);
    if (!status)
        status = check_nodes(&c);
    if (!status)
        status = check_weights(&c);
    if (!status)
        status = check_additions(&c);
    if (!status)
        status = check_new_nodes(&c);
    if (!status)
        status = check_numbers(&c);
    if (!status)
        status = check_plausible(&c, class);
    cbx_arena_free(&c.arena);
    return status;
}

cbx_status cbx_rules_check_together(const cbx_rules *rules, int32_t class, const cbx_edit *edits,
                                    int64_t count, bool *hold, cbx_error *err)
{
    cbx_error  why;
    check      c = {.rules = rules, .edits = edits, .count = count, .relations_only = true};
    cbx_status status = CBX_OK;
    c.err = &why;
    if (rules->num_relations)
        status = check_features(&c);
    if (!status)
        status = check_plausible(&c, class);
    if (!status && rules->keep != CBX_KEEP_NOTHING && removes_nodes(&c))
        status = check_what_is_left(&c);
    cbx_arena_free(&c.arena);
    *hold = status == CBX_OK;
    if (status == CBX_INVALID)
        return CBX_OK;
    return status ? cbx_fail_late(err) : CBX_OK;
}
