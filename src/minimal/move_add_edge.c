/* SPDX-License-Identifier: Apache-2.0 */
/* move_add_edge.c: two nodes get an edge, or one each way, out of those that are offered
 * (offers.h). Of a pair that is offered, one of them is made at most once. */
#include "move.h"
#include "widen.h"

static cbx_move make(const cbx_edit_state *W, int64_t pair, double gain)
{
    return (cbx_move){.kind = &cbx_move_add_edge,
                      .pair = pair,
                      .cost = cbx_minimal_of(W->s)->edge_cost,
                      .gain = gain};
}

static double cost(const cbx_edit_state *W)
{
    return cbx_minimal_of(W->s)->edge_cost;
}

static bool is_offered(const cbx_edit_state *W, int64_t pair)
{
    return W->s->offered && W->s->offered[W->slot_of[pair]];
}

/* Room at nodes is for newcomers (move_add_node.c), too. */
static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    if ((!W->s->offered && !W->s->newcomers) || !cbx_rules_limit_degree(W->rules))
        return 0;
    W->room = CBX_NEW(arena, int64_t, W->own);
    for (int32_t i = 0; W->room && i < W->own; i++)
        W->room[i] = cbx_rules_room(W->rules, cbx_edit_state_node(W, i));
    return W->room ? 0 : -1;
}

/* ---- adding */

/* Is there room for one more at each node that an edge leads to? */
static bool has_room(const cbx_edit_state *W, int64_t pair)
{
    for (int64_t k = W->slots_begin[pair]; W->room && k < W->slots_begin[pair + 1]; k++)
        if (W->room[W->target_of[W->slots[k]]] <= 0)
            return false;
    return true;
}

static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    int64_t most = W->rules->max_added;
    return is_offered(W, m->pair) && W->gone[m->pair] && (most == 0 || W->added < most) &&
           has_room(W, m->pair);
}

static void set(cbx_edit_state *W, const cbx_move *m, bool there)
{
    cbx_edit_state_set_pair(W, m->pair, !there);
    W->added += there ? 1 : -1;
    for (int64_t k = W->slots_begin[m->pair]; W->room && k < W->slots_begin[m->pair + 1]; k++)
        W->room[W->target_of[W->slots[k]]] -= there ? 1 : -1;
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
    int64_t e = W->slot_of[m->pair];
    edits[0] = cbx_search_edit_of_slot(W->s, W->target_of[e], e,
                                       W->s->options->edges == CBX_EDGES_UNDIRECTED);
    edits[0].op = CBX_ADD_EDGE;
    edits[0].edge = -1;
    edits[0].weight = W->rules->add_weight;
    return 1;
}

/* ---- listing */

static double gain_of(const cbx_edit_state *W, int64_t pair)
{
    const cbx_hiding now = {.view = *W->s->view, .w = W->w, .lost = W->lost};
    bool             mean = W->gradient.uses[CBX_NORM_MEAN];
    double           sum = 0;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++)
        sum += cbx_hiding_gain(&now, W->dw, mean, W->target_of[W->slots[k]], W->slots[k]);
    return sum;
}

/* Where the derivative says nothing, as of a maximum, a move is tried after those of which it says
 * something. */
static const double UNKNOWN = 1e-30;

static void offer(const cbx_edit_state *W, int64_t p, cbx_move_list *list)
{
    if (!is_offered(W, p) || !W->gone[p])
        return;
    double   gain = gain_of(W, p);
    cbx_move m = make(W, p, gain == 0 ? UNKNOWN : gain);
    if (m.gain > 0 && may(W, &m))
        cbx_move_list_add(list, &m);
}

static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    if (at->stage++ || !is_offered(W, at->pair) || !W->matters[at->pair])
        return false;
    *m = make(W, at->pair, 0);
    return true;
}

static bool is_listed(const cbx_edit_state *W)
{
    return !(W->rules->edits & CBX_EDITS_ADD) || W->s->offers_all;
}

static bool is_unbounded(const cbx_edit_state *W)
{
    return (W->rules->edits & CBX_EDITS_ADD) != 0;
}

static bool of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m)
{
    const cbx_view *v = W->s->view;
    if (e->op != CBX_ADD_EDGE)
        return false;
    int32_t a = cbx_places_find(places, e->source), b = cbx_places_find(places, e->target);
    for (int64_t k = a >= 0 && b >= 0 ? v->offset[b] : 0; a >= 0 && b >= 0 && k < v->offset[b + 1];
         k++)
        if (v->source[k] == a && is_offered(W, W->pair_of[k])) {
            *m = make(W, W->pair_of[k], (double)e->influence);
            return true;
        }
    return false;
}

static int64_t ways(const cbx_edit_state *W)
{
    return W->s->offered ? W->pairs : 0;
}

static cbx_move draw(const cbx_edit_state *W, int64_t way, cbx_rng *rng)
{
    (void)rng;
    return make(W, way, 0);
}

const cbx_move_kind cbx_move_add_edge = {.site = CBX_AT_PAIRS,
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
