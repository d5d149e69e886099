/* SPDX-License-Identifier: Apache-2.0 */
/* move_add_node.c: a graph gets one node more, out of the newcomers (newcomers.h): a copy of a node
 * of its own, with an edge to the node that the move is at. Each of them comes once at most. */
#include <math.h>

#include "move.h"

static cbx_move make(const cbx_edit_state *W, int32_t newcomer, double gain)
{
    return (cbx_move){.kind = &cbx_move_add_node,
                      .row = W->s->newcomers->nodes[newcomer].at,
                      .column = -1,
                      .other = newcomer,
                      .pair = -1,
                      .cost = cbx_minimal_of(W->s)->node_cost,
                      .gain = gain};
}

static bool is_asked_for(const cbx_edit_state *W)
{
    return (W->rules->edits & CBX_EDITS_ADD_NODES) != 0;
}

/* Where none is asked for, their cost says nothing of the cheapest. */
static double cost(const cbx_edit_state *W)
{
    return is_asked_for(W) ? cbx_minimal_of(W->s)->node_cost : INFINITY;
}

/* Room at nodes is move_add_edge.c's. */
static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    (void)W, (void)arena;
    return 0;
}

/* ---- adding */

static bool is_there(const cbx_edit_state *W, int32_t newcomer)
{
    return !W->absent[W->s->newcomers->first + newcomer];
}

bool cbx_move_add_node_is_at(const cbx_edit_state *W, int32_t node)
{
    const cbx_newcomers *all = W->s->newcomers;
    bool                 any = false;
    for (int32_t k = all ? all->begin[node] : 0; all && k < all->begin[node + 1] && !any; k++)
        any = is_there(W, k);
    return any;
}

static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    int64_t most = W->rules->max_added;
    return !is_there(W, m->other) && (most == 0 || W->added < most) &&
           (!W->room || W->room[m->row] > 0);
}

static void set(cbx_edit_state *W, const cbx_move *m, bool there)
{
    cbx_edit_state_set_node(W, W->s->newcomers->first + m->other, !there);
    W->added += there ? 1 : -1;
    if (W->room)
        W->room[m->row] -= there ? 1 : -1;
}

static void apply(cbx_edit_state *W, const cbx_move *m)
{
    set(W, m, true);
}

static void undo(cbx_edit_state *W, const cbx_move *m)
{
    set(W, m, false);
}

static int64_t write(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits)
{
    const cbx_new_node *node = &W->s->newcomers->nodes[m->other];
    edits[0] = (cbx_edit){.op = CBX_ADD_NODE,
                          .source = node->copied,
                          .target = cbx_edit_state_node(W, node->at),
                          .edge = -1,
                          .undirected = node->undirected,
                          .weight = node->weight};
    return 1;
}

/* ---- listing */

/* Where derivatives say nothing, a move is tried after those of which they say something. */
static const double UNKNOWN = 1e-30;

static void offer(const cbx_edit_state *W, int64_t node, cbx_move_list *list)
{
    const cbx_newcomers *all = W->s->newcomers;
    const cbx_hiding     now = {.view = *W->s->view, .w = W->w, .lost = W->lost};
    const cbx_derivatives     slopes = {W->dw, W->leaving, W->gradient.uses[CBX_NORM_MEAN]};
    for (int32_t k = all ? all->begin[node] : 0; all && k < all->begin[node + 1]; k++) {
        double   gain = cbx_newcomers_gain(all, k, &now, &slopes);
        cbx_move m = make(W, k, gain == 0 ? UNKNOWN : gain);
        if (m.gain > 0 && may(W, &m))
            cbx_move_list_add(list, &m);
    }
}

static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    const cbx_newcomers *all = W->s->newcomers;
    if (!all || all->begin[at->node] + at->stage >= all->begin[at->node + 1])
        return false;
    *m = make(W, all->begin[at->node] + at->stage++, 0);
    return true;
}

/* Those that may come are, each once: two that are alike at one node are not looked at, and the
 * scope of a proof says so. A search that does not use the kind has not looked at any. */
static bool is_listed(const cbx_edit_state *W)
{
    return !is_asked_for(W) || W->s->newcomers_all;
}

static bool is_unbounded(const cbx_edit_state *W)
{
    return is_asked_for(W);
}

static bool of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m)
{
    if (e->op != CBX_ADD_NODE || !W->s->newcomers)
        return false;
    int32_t at = cbx_places_find(places, e->target);
    int32_t newcomer =
        at >= 0 && at < W->own ? cbx_newcomers_find(W->s->newcomers, e->source, at) : -1;
    if (newcomer < 0)
        return false;
    *m = make(W, newcomer, (double)e->influence);
    return true;
}

static int64_t ways(const cbx_edit_state *W)
{
    return W->s->newcomers ? W->s->newcomers->count : 0;
}

static cbx_move draw(const cbx_edit_state *W, int64_t way, cbx_rng *rng)
{
    (void)rng;
    return make(W, (int32_t)way, 0);
}

const cbx_move_kind cbx_move_add_node = {.site = CBX_AT_NODES,
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
                                         .ways = ways,
                                         .draw = draw};
