/* SPDX-License-Identifier: Apache-2.0 */
/* move_remove_edge.c: two nodes lose their edges, or, where edges are taken one by one, an edge
 * goes. A *pair* is what goes at once. */
#include "deadline.h"
#include "move.h"

/* Multiplications in the time of looking at an edge. */
static const double EDGE = 30;

static cbx_move make(const cbx_edit_state *W, int64_t pair, double gain)
{
    return (cbx_move){.kind = &cbx_move_remove_edge,
                      .pair = pair,
                      .cost = cbx_minimal_of(W->s)->edge_cost,
                      .gain = gain};
}

static double cost(const cbx_edit_state *W)
{
    return cbx_minimal_of(W->s)->edge_cost;
}

/* ---- what there is to remove */

/* Does a loop count? Chebyshev layers drop it, and GCN puts one of weight 1 in its place. */
static bool loop_matters(const cbx_edit_state *W, int32_t node)
{
    const cbx_view *v = W->s->view;
    if (W->s->model->oracle || W->gradient.uses[CBX_NORM_NONE] || W->gradient.uses[CBX_NORM_MEAN])
        return true;
    for (int64_t e = v->offset[node]; e < v->offset[node + 1]; e++)
        if (v->source[e] == node && v->weight && v->weight[e] != 1)
            return W->gradient.uses[CBX_NORM_GCN];
    return false;
}

/* Can the class depend on this edge? Only what layers declare rules it out. */
static bool slot_matters(const cbx_edit_state *W, int64_t e)
{
    const cbx_view *v = W->s->view;
    int32_t         reach = cbx_model_reach(W->s->model), u = v->source[e], t = W->target_of[e];
    int32_t         near = reach > 0 ? cbx_view_rows(v, reach - 1) : 0;
    int32_t         within = cbx_view_rows(v, reach);
    if (u == t && !loop_matters(W, t))
        return false;
    switch (cbx_model_sight(W->s->model)) {
    case CBX_SIGHT_MESSAGES:
        return t < near;
    case CBX_SIGHT_DEGREES:
        return t < within;
    case CBX_SIGHT_BOTH_WAYS:
        return t < within || u < within;
    default:
        return true;
    }
}

/* The graph's numbers of its two nodes. */
static void ends_of(const cbx_edit_state *W, int64_t pair, int32_t *u, int32_t *v)
{
    int64_t e = W->slot_of[pair];
    *u = cbx_edit_state_node(W, W->s->view->source[e]);
    *v = cbx_edit_state_node(W, W->target_of[e]);
}

static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    const cbx_search *s = W->s;
    int32_t           u, v;
    W->allowed_pair = CBX_NEW0(arena, uint8_t, W->pairs);
    W->matters = CBX_NEW0(arena, uint8_t, W->pairs);
    if (!W->allowed_pair || !W->matters)
        return -1;
    for (int64_t p = 0; p < W->pairs; p++) {
        if (cbx_out_of_time_at(p, EDGE))
            return -1;
        ends_of(W, p, &u, &v);
        W->allowed_pair[p] =
            cbx_rules_pair(W->rules, s->row, u, v) && !W->gone[p] && !cbx_edit_state_is_new(W, p);
        for (int64_t k = W->slots_begin[p]; k < W->slots_begin[p + 1]; k++)
            W->matters[p] = W->matters[p] || slot_matters(W, W->slots[k]);
    }
    if (s->options->keep == CBX_KEEP_NOTHING)
        return 0;
    W->links = CBX_NEW(arena, cbx_links, 1);
    return W->links ? cbx_links_init(W->links, s->whole, arena) : -1;
}

/* ---- removing */

/* The whole graph's edges of a pair. */
static void set_links(const cbx_edit_state *W, int64_t pair, bool gone)
{
    const cbx_view *v = W->s->view;
    for (int64_t k = W->slots_begin[pair]; W->links && k < W->slots_begin[pair + 1]; k++)
        W->links->gone[v->edge ? v->edge[W->slots[k]] : W->slots[k]] = gone;
}

/* Does taking this pair away leave a node without any, or what was one piece in two? */
static bool breaks_apart(const cbx_edit_state *W, int64_t pair)
{
    int32_t u, v;
    ends_of(W, pair, &u, &v);
    if (u == v)
        return false;
    set_links(W, pair, true);
    bool broken = cbx_keeps_one_piece(W->s->options->keep)
                      ? cbx_links_apart(W->links, u, v)
                      : cbx_links_none_at(W->links, u) || cbx_links_none_at(W->links, v);
    set_links(W, pair, false);
    return broken;
}

static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    int64_t most = W->rules->max_removed;
    return W->allowed_pair[m->pair] && !W->gone[m->pair] && (most == 0 || W->taken < most) &&
           (!W->links || !breaks_apart(W, m->pair));
}

static void apply(cbx_edit_state *W, const cbx_move *m)
{
    set_links(W, m->pair, true);
    cbx_edit_state_set_pair(W, m->pair, true);
    W->taken++;
}

static void undo(cbx_edit_state *W, const cbx_move *m)
{
    set_links(W, m->pair, false);
    cbx_edit_state_set_pair(W, m->pair, false);
    W->taken--;
}

static int64_t write(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits)
{
    int64_t e = W->slot_of[m->pair];
    edits[0] = cbx_search_edit_of_slot(W->s, W->target_of[e], e,
                                       W->s->options->edges == CBX_EDGES_UNDIRECTED);
    return 1;
}

/* ---- listing */

/* What comes in the place of a loop that goes: for GCN, another loop of the node's or one of
 * weight 1. To first order, what that adds to the score. */
static double replaced_loop(const cbx_edit_state *W, int64_t pair)
{
    const cbx_view *v = W->s->view;
    int32_t         i = W->target_of[W->slot_of[pair]];
    int64_t         own = -1;
    float           next = 1;
    if (v->source[W->slot_of[pair]] != i || !W->gradient.uses[CBX_NORM_GCN])
        return 0;
    for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
        if (v->source[e] == i && !W->removed[e]) {
            own = e;
            next = W->pair_of[e] != pair ? W->w[e] : next;
        }
    return W->pair_of[own] == pair ? (double)W->dw[own] * next : 0;
}

static void offer(const cbx_edit_state *W, int64_t p, cbx_move_list *list)
{
    if (!W->allowed_pair[p] || W->gone[p])
        return;
    double gain = replaced_loop(W, p);
    for (int64_t k = W->slots_begin[p]; k < W->slots_begin[p + 1]; k++)
        gain -= (double)W->dw[W->slots[k]] * W->w[W->slots[k]];
    cbx_move m = make(W, p, gain);
    if (gain > 0 && may(W, &m))
        cbx_move_list_add(list, &m);
}

static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    if (at->stage++ || !W->matters[at->pair])
        return false;
    *m = make(W, at->pair, 0);
    return true;
}

static bool is_unbounded(const cbx_edit_state *W)
{
    for (int64_t p = 0; p < W->pairs; p++)
        if (W->allowed_pair[p])
            return true;
    return false;
}

static bool of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m)
{
    const cbx_view *v = W->s->view;
    if (e->op != CBX_REMOVE_EDGE)
        return false;
    int32_t a = cbx_places_find(places, e->source), b = cbx_places_find(places, e->target);
    for (int64_t k = a >= 0 && b >= 0 ? v->offset[b] : 0; a >= 0 && b >= 0 && k < v->offset[b + 1];
         k++)
        if (v->source[k] == a && (e->edge < 0 || (v->edge ? v->edge[k] : k) == e->edge)) {
            *m = make(W, W->pair_of[k], (double)e->influence);
            return true;
        }
    return false;
}

static int64_t ways(const cbx_edit_state *W)
{
    return W->pairs;
}

static cbx_move draw(const cbx_edit_state *W, int64_t way, cbx_rng *rng)
{
    (void)rng;
    return make(W, way, 0);
}

const cbx_move_kind cbx_move_remove_edge = {.site = CBX_AT_PAIRS,
                                            .edits = 1,
                                            .prepare = prepare,
                                            .cost = cost,
                                            .may = may,
                                            .apply = apply,
                                            .undo = undo,
                                            .write = write,
                                            .offer = offer,
                                            .next = next,
                                            .is_unbounded = is_unbounded,
                                            .of_edit = of_edit,
                                            .ways = ways,
                                            .draw = draw};
