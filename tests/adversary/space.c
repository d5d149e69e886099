/* SPDX-License-Identifier: Apache-2.0 */
/* space.c: see space.h. */
#include "space.h"

#include <math.h>
#include <string.h>

#include "costs.h"

/* ---- what the rules say of single edits */

static bool is_protected(const question *q, int u, int v)
{
    const world *w = &q->world;
    for (int e = 0; e < w->edges; e++)
        if (q->protect_edge[e] &&
            ((w->source[e] == u && w->target[e] == v) || (w->source[e] == v && w->target[e] == u)))
            return true;
    return false;
}

bool may_lose_edges(const question *q, int u, int v)
{
    const world *w = &q->world;
    bool         own = w->task == CBX_GRAPH || u == q->row || v == q->row;
    if (q->keep_edges || ((q->own_edges || q->as_self) && !own) || q->immutable_node[u] ||
        q->immutable_node[v])
        return false;
    return !is_protected(q, u, v);
}

/* Are they so few hops apart, whichever way the edges point? */
static bool is_within(const world *w, int hops, int u, int v)
{
    bool near[MAX_NODES] = {false}, next[MAX_NODES];
    near[u] = true;
    for (; hops > 0; hops--) {
        memcpy(next, near, sizeof next);
        for (int e = 0; e < w->edges; e++) {
            next[w->source[e]] |= near[w->target[e]];
            next[w->target[e]] |= near[w->source[e]];
        }
        memcpy(near, next, sizeof near);
    }
    return near[v];
}

/* The only feature of the atoms' group that is on; -1: there is not just one. */
static int atom_of(const question *q, int node)
{
    int found = -1, on = 0;
    for (int j = 0; j < q->world.features; j++)
        if (q->group[j] == q->atoms && feature_of(&q->world, node, j) != 0) {
            found = feature_of(&q->world, node, j) == 1 ? j : -1;
            on++;
        }
    return on == 1 ? found : -1;
}

bool may_get_edge(const question *q, int u, int v)
{
    if (q->add_within && !is_within(&q->world, q->add_within, u, v))
        return false;
    if (q->same_type && (atom_of(q, u) < 0 || atom_of(q, u) != atom_of(q, v)))
        return false;
    bool graphs = q->world.task == CBX_GRAPH, own = graphs || u == q->row || v == q->row;
    bool to =
        (q->add_to[u] && (graphs || u != q->row)) || (q->add_to[v] && (graphs || v != q->row));
    return q->adds && u != v && own && to && !q->immutable_node[u] && !q->immutable_node[v] &&
           !is_protected(q, u, v); /* the way back of a protected edge is not added */
}

/* As edges go, but for the rule that none does. */
bool may_weigh(const question *q, int u, int v)
{
    const world *w = &q->world;
    bool         own = w->task == CBX_GRAPH || u == q->row || v == q->row;
    if (!q->weighs || ((q->own_edges || q->as_self) && !own) || q->immutable_node[u] ||
        q->immutable_node[v])
        return false;
    return !is_protected(q, u, v);
}

bool may_lose_node(const question *q, int node)
{
    const world *w = &q->world;
    bool         graphs = w->task == CBX_GRAPH;
    if (!q->removes_nodes || q->immutable_node[node] || (!graphs && node == q->row) ||
        (!graphs && (q->own_edges || q->as_self)) ||
        (graphs && (node < first_node(q) || node >= end_node(q))))
        return false;
    for (int e = 0; e < w->edges; e++)
        if ((w->source[e] == node || w->target[e] == node) &&
            !may_lose_edges(q, (int)w->source[e], (int)w->target[e]))
            return false;
    return true;
}

int valence_of(const question *q, int node)
{
    int valence = 0;
    for (int j = q->world.features - 1; j >= 0; j--)
        if (q->group[j] == q->atoms && feature_of(&q->world, node, j) == 1)
            valence = elements[q->element[j]].valence;
    return valence;
}

bool may_get_node(const question *q, int newcomer)
{
    int at = q->world.at[newcomer], copied = q->world.copied[newcomer];
    if (q->same_type && (atom_of(q, at) < 0 || atom_of(q, at) != atom_of(q, copied)))
        return false;
    return q->adds_nodes && q->add_to[at] && !q->immutable_node[at] &&
           (q->atoms < 0 || valence_of(q, copied) > 0);
}

bool may_change_node(const question *q, int node)
{
    return (!(q->own_features || q->as_self) || q->world.task == CBX_GRAPH || node == q->row) &&
           !q->immutable_node[node];
}

static bool is_multiple(float value, double step)
{
    double times = (double)value / step;
    return step == 0 || fabs(times - rint(times)) < 1e-4;
}

bool may_become(const question *q, int node, int feature, float value)
{
    float x = feature_of(&q->world, node, feature);
    return !(q->only_up[feature] && value < x) && !(q->only_down[feature] && value > x) &&
           is_multiple(value, q->step[feature]) && !q->fixed[feature] && value >= q->lo[feature] &&
           value <= q->hi[feature] && (!q->discrete[feature] || value == rintf(value));
}

bool are_exchangeable(const question *q, int column, int other)
{
    int valence = elements[q->element[column]].valence;
    return q->atoms < 0 || q->group[column] != q->atoms ||
           (valence > 0 && valence == elements[q->element[other]].valence);
}

bool changes_together(const question *q, int node, const float *x)
{
    for (int k = 0; k < q->relations; k++)
        if (x[q->what[k]] != feature_of(&q->world, node, q->what[k]) &&
            x[q->with[k]] == feature_of(&q->world, node, q->with[k]))
            return false;
    return true;
}

/* ---- what counts at all */

void find_influence(const question *q, bool *nodes)
{
    const world *w = &q->world;
    bool         next[MAX_NODES];
    for (int i = 0; i < w->nodes; i++)
        nodes[i] = i >= first_node(q) && i < end_node(q);
    for (int hop = w->task == CBX_GRAPH ? 0 : naive_reach(&q->gnn); hop > 0; hop--) {
        memcpy(next, nodes, sizeof next);
        for (int e = 0; e < w->edges + w->offered; e++)
            next[w->source[e]] |= nodes[w->target[e]];
        memcpy(nodes, next, sizeof next);
    }
}

/* An edge acts by what it carries to its target and by the degrees it counts in: for Chebyshev
 * layers that of its source, otherwise that of its target. */
bool edge_counts(const question *q, const bool *influence, int edge)
{
    const world *w = &q->world;
    return influence[w->target[edge]] || (q->gnn.conv == NAIVE_CHEB && influence[w->source[edge]]);
}

/* ---- the places */

static place *add(space *s, place_kind kind)
{
    if (s->count == MAX_PLACES) { /* more than can be tried anyway */
        s->whole = false;
        s->count--;
    }
    place *p = &s->places[s->count++];
    memset(p, 0, sizeof *p);
    p->kind = kind;
    p->edge = -1;
    p->choices = 1;
    p->edits = 1;
    return p;
}

static void add_edges(const question *q, const bool *influence, space *s)
{
    const world *w = &q->world;
    for (int e = 0; e < w->edges + w->offered; e++) {
        int  u = (int)w->source[e], v = (int)w->target[e];
        bool told = false, comes = e >= w->edges;
        if (!edge_counts(q, influence, e) ||
            !(comes ? may_get_edge(q, u, v) : may_lose_edges(q, u, v)))
            continue;
        for (int k = 0; k < s->count && !q->directed; k++)
            told = told || (s->places[k].u == u && s->places[k].v == v) ||
                   (s->places[k].u == v && s->places[k].v == u);
        if (told)
            continue;
        place *p = add(s, PLACE_EDGE);
        p->u = u;
        p->v = v;
        p->edge = q->directed ? e : -1;
        p->comes = comes;
        p->choices = 2;
        p->cost = q->edge_cost;
    }
}

/* A node counts by what it is, or by an edge of its own. */
static void add_nodes(const question *q, const bool *influence, space *s)
{
    const world *w = &q->world;
    for (int i = 0; i < w->nodes; i++) {
        bool counts = influence[i];
        for (int e = 0; e < w->edges && !counts; e++)
            counts = (w->source[e] == i || w->target[e] == i) && edge_counts(q, influence, e);
        if (!counts || !may_lose_node(q, i))
            continue;
        place *p = add(s, PLACE_NODE);
        p->node = i;
        p->u = p->v = -1;
        p->choices = 2;
        p->cost = q->node_cost;
    }
}

static void add_newcomers(const question *q, space *s)
{
    for (int k = 0; k < q->world.newcomers; k++) {
        if (!may_get_node(q, k))
            continue;
        place *p = add(s, PLACE_NEWCOMER);
        p->node = k;
        p->u = p->v = -1;
        p->choices = 2;
        p->cost = q->node_cost;
    }
}

/* Have all edges between the two the weight of this one? */
static bool is_one_weight(const world *w, int edge)
{
    bool same = true;
    for (int e = 0; e < w->edges; e++)
        if ((w->source[e] == w->source[edge] && w->target[e] == w->target[edge]) ||
            (w->source[e] == w->target[edge] && w->target[e] == w->source[edge]))
            same = same && w->edge_weight[e] == w->edge_weight[edge];
    return same;
}

static bool has_weight_place(const space *s, int u, int v)
{
    bool told = false;
    for (int k = 0; k < s->count; k++)
        told = told || (s->places[k].kind == PLACE_WEIGHT &&
                        ((s->places[k].u == u && s->places[k].v == v) ||
                         (s->places[k].u == v && s->places[k].v == u)));
    return told;
}

/* Of all weights between the least and the largest the ends, the middle and one more. */
static void add_weights(const question *q, const bool *influence, dice *d, space *s)
{
    const world *w = &q->world;
    float        lo = INFINITY, hi = -INFINITY;
    for (int e = 0; e < w->edges; e++) {
        lo = fminf(lo, w->edge_weight[e]);
        hi = fmaxf(hi, w->edge_weight[e]);
    }
    for (int e = 0; e < w->edges && q->weighs; e++) {
        int         u = (int)w->source[e], v = (int)w->target[e];
        const float some[] = {lo, hi, (lo + hi) / 2, (float)dice_real(d, lo, hi)};
        if (!edge_counts(q, influence, e) || !may_weigh(q, u, v) ||
            (!q->directed && (!is_one_weight(w, e) || has_weight_place(s, u, v))))
            continue;
        place *p = add(s, PLACE_WEIGHT);
        p->u = u;
        p->v = v;
        p->edge = q->directed ? e : -1;
        p->cost = q->edge_cost;
        s->whole = false;
        for (size_t k = 0; k < sizeof some / sizeof *some; k++)
            if (some[k] != w->edge_weight[e])
                p->values[p->choices++ - 1] = some[k];
    }
}

/* Whole numbers all; of continuous features the ends, the middle and some between. */
static void add_values(const question *q, dice *d, int node, int feature, space *s)
{
    float  x = feature_of(&q->world, node, feature), lo = q->lo[feature], hi = q->hi[feature];
    float  tried[MAX_VALUES];
    int    count = 0;
    place *p = add(s, PLACE_FEATURE);
    p->node = node;
    p->feature = feature;
    p->cost = price_of(q, feature);
    double step = q->step[feature];
    if (step > 0) { /* a multiple is a float, as the ends are: 7 times 0.1 is not above 0.7 */
        s->whole = s->whole && (double)(hi - lo) / step < MAX_VALUES - 1;
        for (double k = floor((double)lo / step); (float)(k * step) <= hi; k++)
            if (count < MAX_VALUES && (float)(k * step) >= lo)
                tried[count++] = (float)(k * step);
    } else if (q->discrete[feature]) {
        s->whole = s->whole && hi - lo < MAX_VALUES - 1;
        for (float value = ceilf(lo); value <= hi && count < MAX_VALUES; value++)
            tried[count++] = value;
    } else if (lo <= hi) {
        const float some[] = {lo,
                              hi,
                              (lo + hi) / 2,
                              (float)dice_real(d, lo, hi),
                              (float)dice_real(d, lo, hi),
                              (float)dice_real(d, lo, hi)};
        s->whole = s->whole && lo == hi;
        for (size_t k = 0; k < sizeof some / sizeof *some && (lo < hi || k == 0); k++)
            tried[count++] = some[k];
    }
    for (int k = 0; k < count; k++)
        if (tried[k] != x && may_become(q, node, feature, tried[k]))
            p->values[p->choices++ - 1] = tried[k];
    if (p->choices == 1)
        s->count--;
}

/* Where a node has none or more of a group on, the rule cannot be kept, and nothing is tried. */
static bool is_one_hot(const question *q, int node, int group)
{
    int on = 0;
    for (int j = 0; j < q->world.features; j++)
        on += q->group[j] == group && feature_of(&q->world, node, j) != 0;
    return on == 1;
}

static void add_group(const question *q, int node, int on, space *s)
{
    place *p = add(s, PLACE_GROUP);
    p->node = node;
    p->feature = on;
    p->cost = q->feature_cost;
    for (int j = 0; j < q->world.features; j++)
        if (q->group[j] == q->group[on] && j != on && may_become(q, node, on, 0) &&
            may_become(q, node, j, 1) && are_exchangeable(q, on, j))
            p->features[p->choices++ - 1] = j;
    if (p->choices == 1)
        s->count--;
}

void find_space(const question *q, dice *d, space *s)
{
    bool influence[MAX_NODES];
    s->count = 0;
    s->whole = true;
    find_influence(q, influence);
    add_edges(q, influence, s);
    add_nodes(q, influence, s);
    add_newcomers(q, s);
    add_weights(q, influence, d, s);
    for (int i = 0; i < q->world.nodes; i++)
        for (int j = 0; j < q->world.features && influence[i] && may_change_node(q, i); j++) {
            if (q->group[j] < 0)
                add_values(q, d, i, j, s);
            else if (feature_of(&q->world, i, j) == 1 && is_one_hot(q, i, q->group[j]))
                add_group(q, i, j, s);
        }
}

double count_sets(const space *s, int most_edits)
{
    enum { MOST = 32 };
    double by_edits[MOST + 1] = {1}, all = 1, within = 0;
    bool   limited = most_edits > 0 && most_edits < MOST;
    int    most = limited ? most_edits : MOST;
    for (int k = 0; k < s->count; k++) {
        const place *p = &s->places[k];
        all *= p->choices;
        for (int e = most; e >= p->edits; e--)
            by_edits[e] += by_edits[e - p->edits] * (p->choices - 1);
    }
    for (int e = 0; e <= most; e++)
        within += by_edits[e];
    return limited ? within : all;
}
