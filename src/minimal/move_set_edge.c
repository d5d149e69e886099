/* SPDX-License-Identifier: Apache-2.0 */
/* move_set_edge.c: the edges between two nodes, or where edges are taken one by one an edge, get
 * another weight.
 *
 * Trying it goes to the least or the largest weight that the data has; what flips is taken back
 * afterwards (weigh_back.h). Edges that are a pair must have the same weight to begin with. */
#include <math.h>

#include "move.h"

static cbx_move make(const cbx_edit_state *W, int64_t pair, float to, double gain)
{
    return (cbx_move){.kind = &cbx_move_set_edge,
                      .column = -1,
                      .other = -1,
                      .pair = pair,
                      .to = to,
                      .cost = cbx_minimal_of(W->s)->edge_cost,
                      .gain = gain};
}

/* Where none can change, their cost says nothing of the cheapest. */
static double cost(const cbx_edit_state *W)
{
    return W->weighable ? cbx_minimal_of(W->s)->edge_cost : INFINITY;
}

static bool is_asked_for(const cbx_edit_state *W)
{
    return (W->rules->edits & CBX_EDITS_WEIGHTS) != 0;
}

static float weight_of(const cbx_edit_state *W, int64_t slot)
{
    return W->s->view->weight ? W->s->view->weight[slot] : 1;
}

/* Have all its edges the same, and is none of them only offered? */
static bool is_one_weight(const cbx_edit_state *W, int64_t pair)
{
    int64_t first = W->slots[W->slots_begin[pair]];
    bool    same = true;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++)
        same = same && weight_of(W, W->slots[k]) == weight_of(W, first) &&
               !(W->s->offered && W->s->offered[W->slots[k]]);
    return same;
}

static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    if (!(W->s->further & CBX_EDITS_WEIGHTS))
        return 0;
    W->weight = CBX_NEW(arena, float, W->pairs);
    W->weighable = CBX_NEW(arena, uint8_t, W->pairs);
    for (int64_t p = 0; W->weight && W->weighable && p < W->pairs; p++) {
        int64_t slot = W->slot_of[p];
        int32_t u = cbx_edit_state_node(W, W->s->view->source[slot]);
        int32_t v = cbx_edit_state_node(W, W->target_of[slot]);
        W->weight[p] = NAN;
        W->weighable[p] = is_one_weight(W, p) && !cbx_edit_state_is_new(W, p) &&
                          cbx_rules_weight(W->rules, W->s->row, u, v, W->rules->weight_lo);
    }
    return W->weight && W->weighable ? 0 : -1;
}

static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    return W->weighable && W->weighable[m->pair] && !W->gone[m->pair] &&
           isnan(W->weight[m->pair]) && m->to >= W->rules->weight_lo &&
           m->to <= W->rules->weight_hi && m->to != weight_of(W, W->slot_of[m->pair]);
}

static void apply(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_weight(W, m->pair, m->to);
}

static void undo(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_weight(W, m->pair, NAN);
}

static int64_t write(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits)
{
    int64_t e = W->slot_of[m->pair];
    edits[0] = cbx_search_edit_of_slot(W->s, W->target_of[e], e,
                                       W->s->options->edges == CBX_EDGES_UNDIRECTED);
    edits[0].op = CBX_SET_EDGE;
    edits[0].weight = m->to;
    return 1;
}

static void offer(const cbx_edit_state *W, int64_t p, cbx_move_list *list)
{
    double slope = 0;
    if (!W->weighable || !W->weighable[p])
        return;
    for (int64_t k = W->slots_begin[p]; k < W->slots_begin[p + 1]; k++)
        slope += (double)W->by_weight[W->slots[k]];
    float    to = slope > 0 ? W->rules->weight_hi : W->rules->weight_lo;
    cbx_move m = make(W, p, to, slope * (to - weight_of(W, W->slot_of[p])));
    if (m.gain > 0 && may(W, &m))
        cbx_move_list_add(list, &m);
}

/* The two ends; between them are more than anybody can try. */
static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    if (!W->weighable || !W->matters[at->pair] || at->stage > 1)
        return false;
    *m = make(W, at->pair, at->stage++ ? W->rules->weight_hi : W->rules->weight_lo, 0);
    return true;
}

static bool is_listed(const cbx_edit_state *W)
{
    bool any = !W->weighable;
    for (int64_t p = 0; p < W->pairs && !any; p++)
        any = W->weighable[p] && W->matters[p];
    return !is_asked_for(W) || !any;
}

static bool is_unbounded(const cbx_edit_state *W)
{
    return is_asked_for(W);
}

static bool of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m)
{
    cbx_edit removal = *e;
    removal.op = CBX_REMOVE_EDGE;
    if (e->op != CBX_SET_EDGE || e->attribute || !W->weighable ||
        !cbx_move_remove_edge.of_edit(W, &removal, places, m))
        return false;
    *m = make(W, m->pair, e->weight, (double)e->influence);
    return true;
}

/* Whichever weight it gets. */
static bool overlaps(const cbx_move *a, const cbx_move *b)
{
    return a->pair == b->pair;
}

static int64_t ways(const cbx_edit_state *W)
{
    return W->weighable ? W->pairs : 0;
}

static cbx_move draw(const cbx_edit_state *W, int64_t way, cbx_rng *rng)
{
    bool up = cbx_rng_below(rng, 2) != 0;
    return make(W, way, up ? W->rules->weight_hi : W->rules->weight_lo, 0);
}

const cbx_move_kind cbx_move_set_edge = {.site = CBX_AT_PAIRS,
                                         .edits = 1,
                                         .prepare = prepare,
                                         .cost = cost,
                                         .may = may,
                                         .apply = apply,
                                         .undo = undo,
                                         .write = write,
                                         .offer = offer,
                                         .next = next,
                                         .is_listed = is_listed,
                                         .is_unbounded = is_unbounded,
                                         .of_edit = of_edit,
                                         .overlaps = overlaps,
                                         .ways = ways,
                                         .draw = draw};
