/* SPDX-License-Identifier: Apache-2.0 */
/* brute_force.c: see brute_force.h. */
#include "brute_force.h"

#include <math.h>
#include <string.h>

#include "costs.h"

/* ---- a graph, edited */

static void take_edges(const world *w, const uint8_t *gone, const float *weight, naive_graph *out)
{
    out->edges = 0;
    for (int e = 0; e < w->edges + w->offered; e++) {
        if (gone[e] == (e < w->edges))
            continue;
        out->source[out->edges] = (int)w->source[e];
        out->target[out->edges] = (int)w->target[e];
        out->edge_weight[out->edges++] = w->weighted ? (double)weight[e] : 1;
    }
}

/* Takes the nodes out, and their edges, and numbers the others anew. */
static void take_nodes_out(const question *q, const uint8_t *lost, naive_graph *g)
{
    int number[MAX_NODES], nodes = 0, edges = 0;
    for (int i = 0; i < g->nodes; i++) {
        g->lost_before += lost[i] && i < first_node(q);
        g->lost_inside += lost[i] && i >= first_node(q) && i < end_node(q);
        number[i] = nodes;
        memmove(g->x[nodes], g->x[i], sizeof g->x[i]);
        nodes += !lost[i];
    }
    for (int e = 0; e < g->edges; e++)
        if (!lost[g->source[e]] && !lost[g->target[e]]) {
            g->source[edges] = number[g->source[e]];
            g->target[edges] = number[g->target[e]];
            g->edge_weight[edges++] = g->edge_weight[e];
        }
    g->nodes = nodes;
    g->edges = edges;
}

/* One node more, behind those of the row's graph: the others move up. */
static void put_node_in(const question *q, const uint8_t *lost, int newcomer, naive_graph *g)
{
    const world *w = &q->world;
    int          own = end_node(q) - g->lost_before - g->lost_inside + g->came;
    int          at = w->at[newcomer], before = 0;
    for (int i = 0; i < at; i++)
        before += lost[i];
    for (int i = g->nodes; i > own; i--)
        memcpy(g->x[i], g->x[i - 1], sizeof g->x[i]);
    for (int j = 0; j < w->features; j++)
        g->x[own][j] = (double)feature_of(w, w->copied[newcomer], j);
    for (int e = 0; e < g->edges; e++) {
        g->source[e] += g->source[e] >= own;
        g->target[e] += g->target[e] >= own;
    }
    for (int back = 0; back < (q->directed ? 1 : 2); back++) {
        g->source[g->edges] = back ? at - before : own;
        g->target[g->edges] = back ? own : at - before;
        g->edge_weight[g->edges++] = (double)middle_weight(w);
    }
    g->nodes++;
    g->came++;
}

/* Those that come are copies of nodes as they were, whatever else changes. */
static void put_nodes_in(const question *q, const uint8_t *lost, const uint8_t *came,
                         naive_graph *g)
{
    for (int k = 0; k < q->world.newcomers; k++)
        if (came[k])
            put_node_in(q, lost, k, g);
}

void edit_nothing(const question *q, edited *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->weight, q->world.edge_weight, sizeof out->weight);
    memcpy(out->x, q->world.x, sizeof out->x);
}

void build_graph(const question *q, const edited *as, naive_graph *out)
{
    const world *w = &q->world;
    const float *x = as->x;
    out->nodes = w->nodes;
    out->lost_before = out->lost_inside = out->came = 0;
    take_edges(w, as->gone, as->weight, out);
    for (int i = 0; i < w->nodes; i++)
        for (int j = 0; j < w->features; j++)
            out->x[i][j] = (double)x[i * w->features + j];
    take_nodes_out(q, as->lost, out);
    put_nodes_in(q, as->lost, as->came, out);
}

static int best_class(const double *values, int count, int except)
{
    int best = -1;
    for (int c = 0; c < count; c++)
        if (c != except && (best < 0 || values[c] > values[best]))
            best = c;
    return best;
}

outcome ask_naive(const question *q, const naive_graph *g, int prediction, int target)
{
    outcome o;
    int     C = q->gnn.classes;
    int     begin = first_node(q) - g->lost_before, end = end_node(q) - g->lost_before;
    double  size = naive_log_probs(&q->gnn, g, begin, end - g->lost_inside + g->came, o.log_probs);
    int     aim = target >= 0 ? target : best_class(o.log_probs, C, prediction);
    int     rival = target >= 0 ? best_class(o.log_probs, C, target) : prediction;
    o.best = best_class(o.log_probs, C, -1);
    o.lead = o.log_probs[aim] - o.log_probs[rival];
    if (q->threshold > 0)
        o.lead = fmin(o.lead, o.log_probs[aim] - log(q->threshold));
    o.blur = ROUNDING * fmax(1, size);
    return o;
}

/* ---- what is to be kept */

/* Every node's part of the graph, by its smallest node, whichever way edges point. */
static void find_parts(const world *w, const uint8_t *gone, const uint8_t *lost, int *part)
{
    bool changed = true;
    for (int i = 0; i < w->nodes; i++)
        part[i] = i;
    while (changed) {
        changed = false;
        for (int e = 0; e < w->edges; e++) {
            int *a = &part[w->source[e]], *b = &part[w->target[e]];
            if (gone[e] || lost[w->source[e]] || lost[w->target[e]] || *a == *b)
                continue;
            *a = *b = *a < *b ? *a : *b;
            changed = true;
        }
    }
}

/* Edges that the node may have where it gets one. */
static int most_edges(const question *q, int node)
{
    int most = q->max_degree ? q->max_degree : MAX_EDGES;
    if (q->keep != KEEP_MOLECULE || q->atoms < 0)
        return most;
    int valence = valence_of(q, node);
    return valence < most ? valence : most;
}

/* Has a node that gets an edge no more than it can have? Those that go are counted as well. */
static bool degrees_hold(const question *q, const uint8_t *changed, const uint8_t *came)
{
    const world *w = &q->world;
    for (int i = 0; i < w->nodes; i++) {
        int edges = 0, coming = 0;
        for (int e = 0; e < w->edges + w->offered; e++)
            if (w->target[e] == i && w->source[e] != i) {
                edges += e < w->edges || changed[e];
                coming += e >= w->edges && changed[e];
            }
        for (int k = 0; k < w->newcomers; k++) {
            edges += came[k] && w->at[k] == i;
            coming += came[k] && w->at[k] == i;
        }
        if (coming && edges > most_edges(q, i))
            return false;
    }
    return true;
}

bool is_possible(const question *q, const uint8_t *gone, const uint8_t *lost, const uint8_t *came)
{
    const world *w = &q->world;
    int          left = 0;
    for (int i = first_node(q); i < end_node(q); i++)
        left += !lost[i];
    for (int e = w->edges; e < w->edges + w->offered; e++)
        if (gone[e] && (lost[w->source[e]] || lost[w->target[e]]))
            return false;
    for (int k = 0; k < w->newcomers; k++)
        if (came[k] && lost[w->at[k]])
            return false;
    return left > 0;
}

/* Those that are left, and were in one part, are in one part still. */
static bool keeps_parts(const world *w, const uint8_t *gone, const uint8_t *lost)
{
    static const uint8_t none[MAX_EDGES], nobody[MAX_NODES];
    int                  before[MAX_NODES], after[MAX_NODES];
    find_parts(w, none, nobody, before);
    find_parts(w, gone, lost, after);
    for (int a = 0; a < w->nodes; a++)
        for (int b = 0; b < a; b++)
            if (!lost[a] && !lost[b] && before[a] == before[b] && after[a] != after[b])
                return false;
    return true;
}

bool keeps(const question *q, const uint8_t *gone, const uint8_t *lost, const uint8_t *came)
{
    const world *w = &q->world;
    int          before[MAX_NODES] = {0}, after[MAX_NODES] = {0};
    if (!degrees_hold(q, gone, came))
        return false;
    if (q->keep == KEEP_ANY)
        return true;
    if (q->keep == KEEP_CONNECTED || q->keep == KEEP_MOLECULE)
        return keeps_parts(w, gone, lost);
    for (int e = 0; e < w->edges; e++)
        if (w->source[e] != w->target[e]) {
            bool stays = !gone[e] && !lost[w->source[e]] && !lost[w->target[e]];
            before[w->source[e]] = before[w->target[e]] = 1;
            after[w->source[e]] |= stays;
            after[w->target[e]] |= stays;
        }
    for (int i = 0; i < w->nodes; i++)
        if (before[i] && !after[i] && !lost[i])
            return false;
    return true;
}

/* ---- a set of edits that comes and goes */

typedef struct bench {
    const question *q;
    const space    *s;
    int             prediction, target;
    double          below;
    naive_graph     graph;
    uint8_t         gone[MAX_EDGES], lost[MAX_NODES], came[MAX_NEW];
    float           weight[MAX_EDGES];
    int             num_lost, num_came;
    int             choice[MAX_PLACES];
    int             edits, most_edits;
    int             added, removed; /* edges */
    double          cost;
    verdict         verdict;
    int64_t         tried;
    found_set      *set;
} bench;

static void set_edges(bench *b, const place *p, bool gone)
{
    const world *w = &b->q->world;
    for (int e = 0; e < w->edges + w->offered; e++)
        if (p->edge >= 0 ? e == p->edge
                         : (w->source[e] == p->u && w->target[e] == p->v) ||
                               (w->source[e] == p->v && w->target[e] == p->u))
            b->gone[e] = gone;
    take_edges(w, b->gone, b->weight, &b->graph);
}

static void set_weights(bench *b, const place *p, int choice)
{
    const world *w = &b->q->world;
    for (int e = 0; e < w->edges; e++)
        if (p->edge >= 0 ? e == p->edge
                         : (w->source[e] == p->u && w->target[e] == p->v) ||
                               (w->source[e] == p->v && w->target[e] == p->u))
            b->weight[e] = choice ? p->values[choice - 1] : w->edge_weight[e];
    take_edges(w, b->gone, b->weight, &b->graph);
}

/* Is it about edges that are not there? */
static bool comes(const world *w, const place *p)
{
    bool offered = p->edge >= w->edges;
    for (int e = w->edges; e < w->edges + w->offered && p->edge < 0; e++)
        offered = offered || (w->source[e] == p->u && w->target[e] == p->v) ||
                  (w->source[e] == p->v && w->target[e] == p->u);
    return offered;
}

static void choose(bench *b, int k, int choice)
{
    const place *p = &b->s->places[k];
    bool         was = b->choice[k] != 0, is = choice != 0;
    double      *x = b->graph.x[p->node];
    if (p->kind == PLACE_EDGE) {
        set_edges(b, p, is);
        *(comes(&b->q->world, p) ? &b->added : &b->removed) += is - was;
    } else if (p->kind == PLACE_WEIGHT) {
        set_weights(b, p, choice);
    } else if (p->kind == PLACE_NODE) {
        b->lost[p->node] = is;
        b->num_lost += is - was;
    } else if (p->kind == PLACE_NEWCOMER) { /* with an edge */
        b->came[p->node] = is;
        b->num_came += is - was;
        b->added += is - was;
    } else if (p->kind == PLACE_FEATURE) {
        x[p->feature] =
            (double)(is ? p->values[choice - 1] : feature_of(&b->q->world, p->node, p->feature));
    } else {
        if (was)
            x[p->features[b->choice[k] - 1]] = 0;
        x[p->feature] = !is;
        if (is)
            x[p->features[choice - 1]] = 1;
    }
    b->edits += (is - was) * p->edits;
    b->cost += (is - was) * p->cost;
    b->choice[k] = choice;
}

/* Costs are sums of few decimals: equal ones may differ in the last bit. */
static bool is_affordable(const bench *b)
{
    const question *q = b->q;
    return b->edits <= b->most_edits && b->cost * (1 + 1e-9) < b->below &&
           (!q->max_added || b->added <= q->max_added) &&
           (!q->max_removed || b->removed <= q->max_removed);
}

static bool is_allowed(const bench *b)
{
    return is_affordable(b) && keeps(b->q, b->gone, b->lost, b->came);
}

static bool all_change_together(const bench *b)
{
    float x[MAX_NODES * MAX_FEATURES];
    int   f = b->q->world.features;
    if (!b->q->relations && !(b->q->plausible > 0))
        return true;
    for (int i = 0; i < b->q->world.nodes; i++) {
        for (int j = 0; j < f; j++)
            x[i * f + j] = (float)b->graph.x[i][j];
        if (!changes_together(b->q, i, x + (ptrdiff_t)i * f))
            return false;
    }
    return is_plausible(b->q, x, -1e-5);
}

static double try_set(bench *b)
{
    b->tried++;
    if (!all_change_together(b) || !is_possible(b->q, b->gone, b->lost, b->came))
        return -INFINITY;
    naive_graph left = b->graph;
    if (b->num_lost)
        take_nodes_out(b->q, b->lost, &left);
    if (b->num_came)
        put_nodes_in(b->q, b->lost, b->came, &left);
    outcome o = ask_naive(b->q, &left, b->prediction, b->target);
    verdict v = o.lead > o.blur ? VERDICT_FOUND : o.lead > -o.blur ? VERDICT_UNSURE : VERDICT_NONE;
    if (v > b->verdict) {
        b->verdict = v;
        memcpy(b->set->choice, b->choice, sizeof b->choice);
        b->set->outcome = o;
        b->set->cost = b->cost;
    }
    return o.lead;
}

/* All sets with the places from `first` on otherwise, too. More edits never make a set cheaper or
 * put an edge back, so that what is not allowed has nothing below it; but where one more node goes,
 * nothing may be left that was cut off. */
static void try_all(bench *b, int first)
{
    for (int k = first; k < b->s->count && b->verdict != VERDICT_FOUND; k++) {
        for (int c = 1; c < b->s->places[k].choices && b->verdict != VERDICT_FOUND; c++) {
            choose(b, k, c);
            bool allowed = is_allowed(b);
            if (!allowed && !(b->q->removes_nodes && is_affordable(b)))
                break; /* nor is another choice at this place: they cost the same */
            if (allowed)
                (void)try_set(b);
            try_all(b, k + 1);
        }
        choose(b, k, 0);
    }
}

/* From some set at random, place by place to what leads furthest. */
static void climb(bench *b, dice *d)
{
    for (int k = 0; k < b->s->count; k++)
        choose(b, k, 0);
    for (int k = dice_below(d, b->s->count); k > 0; k--) {
        int at = dice_below(d, b->s->count);
        choose(b, at, dice_below(d, b->s->places[at].choices));
        if (!is_allowed(b))
            choose(b, at, 0);
    }
    double best = b->edits ? try_set(b) : -INFINITY;
    bool   better = true;
    while (better && b->verdict != VERDICT_FOUND) {
        better = false;
        for (int k = 0; k < b->s->count && b->verdict != VERDICT_FOUND; k++)
            for (int c = 0, was = b->choice[k]; c < b->s->places[k].choices; c++) {
                choose(b, k, c);
                double lead = b->edits && is_allowed(b) ? try_set(b) : -INFINITY;
                if (lead > best + 1e-12) {
                    best = lead;
                    was = c;
                    better = true;
                }
                choose(b, k, was);
            }
    }
}

/* The smallest that there is, for people to read; a large one stays as it was found. */
static void make_small(bench *b)
{
    found_set as_found = *b->set;
    int       most = b->most_edits;
    for (int k = 0; k < b->s->count; k++)
        choose(b, k, 0);
    b->verdict = VERDICT_NONE;
    for (int size = 1; size <= most && b->verdict != VERDICT_FOUND; size++) {
        if (count_sets(b->s, size) > 1e5)
            break;
        b->most_edits = size;
        try_all(b, 0);
    }
    if (b->verdict != VERDICT_FOUND)
        *b->set = as_found;
    b->verdict = VERDICT_FOUND;
}

/* By the rules, or because more would cost too much: an edit costs half a move at least. */
static int most_edits(const question *q, double below)
{
    double cheapest = fmin(q->edge_cost, q->feature_cost);
    cheapest = q->removes_nodes || q->adds_nodes ? fmin(cheapest, q->node_cost) : cheapest;
    cheapest = q->dear >= 0 ? fmin(cheapest, q->dear_cost) : cheapest;
    double by_cost = 2 * ceil(below / cheapest);
    double by_rule = q->max_edits ? q->max_edits : 2 * MAX_PLACES;
    return (int)fmin(by_cost, by_rule);
}

static void lay_out(bench *b, const question *q, const space *s, int prediction, int target,
                    double below, found_set *set)
{
    edited as_it_is;
    *b = (bench){.q = q,
                 .s = s,
                 .prediction = prediction,
                 .target = target,
                 .below = below,
                 .most_edits = most_edits(q, below),
                 .set = set};
    edit_nothing(q, &as_it_is);
    memcpy(b->weight, as_it_is.weight, sizeof b->weight);
    build_graph(q, &as_it_is, &b->graph);
}

verdict find_set(const question *q, const space *s, int prediction, int target, double below,
                 double most, dice *d, found_set *set)
{
    bench b;
    lay_out(&b, q, s, prediction, target, below, set);
    bool all = count_sets(s, b.most_edits) <= most;
    if (all)
        try_all(&b, 0);
    for (int times = 0; times < 8 && s->count && !(all && s->whole); times++)
        if (b.verdict != VERDICT_FOUND)
            climb(&b, d);
    if (b.verdict == VERDICT_FOUND)
        make_small(&b);
    set->tried = b.tried;
    if (b.verdict == VERDICT_NONE && !(all && s->whole))
        return VERDICT_SOME;
    return b.verdict;
}

/* The same as try_all, but for what it keeps. */
static void measure(bench *b, int first, int size, int sizes, double *most)
{
    for (int k = first; k < b->s->count && size <= sizes; k++) {
        for (int c = 1; c < b->s->places[k].choices; c++) {
            choose(b, k, c);
            if (!is_allowed(b))
                break;
            most[size] = fmax(most[size], try_set(b));
            measure(b, k + 1, size + 1, sizes, most);
        }
        choose(b, k, 0);
    }
}

void find_furthest(const question *q, const space *s, int prediction, int target, int sizes,
                   double *most)
{
    bench     b;
    found_set set;
    lay_out(&b, q, s, prediction, target, INFINITY, &set);
    for (int size = 1; size <= sizes; size++)
        most[size] = -INFINITY;
    most[0] = ask_naive(q, &b.graph, prediction, target).lead;
    measure(&b, 0, 1, sizes, most);
}
