/* SPDX-License-Identifier: Apache-2.0 */
/* move.c: see move.h. */
#include "move.h"

#include <math.h>

#include "deadline.h"

static const cbx_move_kind *const kinds[] = {
#define X(word) &cbx_move_##word,
#include "moves.def"
#undef X
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Multiplications in the time of looking at an edge, and at a feature. */
static const double EDGE = 30, ENTRY = 3;

int cbx_moves_prepare(cbx_edit_state *W, cbx_arena *arena)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds[k]->prepare(W, arena))
            return -1;
    return 0;
}

double cbx_moves_cheapest(const cbx_edit_state *W)
{
    double least = INFINITY;
    for (int k = 0; k < KINDS; k++)
        least = fmin(least, kinds[k]->cost(W));
    return least;
}

/* ---- which there are */

void cbx_move_list_add(cbx_move_list *list, const cbx_move *m)
{
    cbx_move *moves = list->moves;
    double    worth = m->gain / m->cost;
    int64_t   at = list->count, most = list->most;
    if (at == most && !(worth > moves[most - 1].gain / moves[most - 1].cost))
        return;
    at = at < most ? at : most - 1;
    for (; at > 0 && moves[at - 1].gain / moves[at - 1].cost < worth; at--)
        moves[at] = moves[at - 1];
    moves[at] = *m;
    list->count += list->count < most;
}

static void offer_at(const cbx_edit_state *W, cbx_move_site site, int64_t place,
                     cbx_move_list *list)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds[k]->site == site && cbx_move_site_is_there(W, site, place))
            kinds[k]->offer(W, place, list);
}

int64_t cbx_moves_promising(const cbx_edit_state *W, cbx_move *moves, int64_t most)
{
    cbx_move_list list = {moves, 0, most};
    for (int64_t p = 0; p < W->pairs; p++) {
        if (cbx_out_of_time_at(p, EDGE))
            return 0;
        offer_at(W, CBX_AT_PAIRS, p, &list);
    }
    for (int32_t i = 0; cbx_edit_state_moves_nodes(W) && i < W->own; i++) {
        if (cbx_out_of_time_at(i, EDGE))
            return 0;
        offer_at(W, CBX_AT_NODES, i, &list);
    }
    for (int32_t i = 0; i < W->rows; i++)
        if (W->allowed_row[i]) {
            if (cbx_out_of_time(ENTRY * W->f))
                return 0;
            offer_at(W, CBX_AT_ENTRIES, i, &list);
        }
    return list.count;
}

/* The next at this site that may be made. */
static bool next_at(const cbx_edit_state *W, cbx_move_site site, cbx_move_walk *at, cbx_move *m)
{
    for (; at->kind < KINDS; at->kind++, at->stage = 0)
        while (kinds[at->kind]->site == site && kinds[at->kind]->next(W, at, m))
            if (cbx_move_may(W, m))
                return true;
    at->kind = 0;
    return false;
}

bool cbx_moves_walk(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    for (; at->pair < W->pairs; at->pair++) {
        if (cbx_out_of_time_at(at->pair, EDGE))
            return false;
        if (next_at(W, CBX_AT_PAIRS, at, m))
            return true;
    }
    for (; cbx_edit_state_moves_nodes(W) && at->node < W->own; at->node++) {
        if (cbx_out_of_time_at(at->node, EDGE))
            return false;
        if (next_at(W, CBX_AT_NODES, at, m))
            return true;
    }
    for (; at->row < W->rows; at->row++, at->column = 0)
        for (; at->column < W->f; at->column++) {
            if (cbx_out_of_time_at(at->column, EDGE))
                return false;
            if (next_at(W, CBX_AT_ENTRIES, at, m))
                return true;
        }
    return false;
}

bool cbx_moves_any(const cbx_edit_state *W)
{
    cbx_move_walk at = {0};
    cbx_move      m;
    return cbx_moves_walk(W, &at, &m);
}

bool cbx_moves_are_listed(const cbx_edit_state *W)
{
    bool all = true;
    for (int k = 0; k < KINDS; k++)
        all = all && (!kinds[k]->is_listed || kinds[k]->is_listed(W));
    return all;
}

bool cbx_moves_are_listed_but_features(const cbx_edit_state *W)
{
    bool all = true;
    for (int k = 0; k < KINDS; k++)
        all = all &&
              (kinds[k] == &cbx_move_feature || !kinds[k]->is_listed || kinds[k]->is_listed(W));
    return all;
}

bool cbx_moves_are_unbounded(const cbx_edit_state *W)
{
    bool any = false;
    for (int k = 0; k < KINDS; k++)
        any = any || (kinds[k]->is_unbounded && kinds[k]->is_unbounded(W));
    return any;
}

bool cbx_moves_are_bounded_but_removals(const cbx_edit_state *W)
{
    bool any = false;
    for (int k = 0; k < KINDS; k++)
        any = any || (kinds[k] != &cbx_move_remove_edge && kinds[k]->is_unbounded &&
                      kinds[k]->is_unbounded(W));
    return !any;
}

/* ---- edits */

int64_t cbx_moves_edits(const cbx_edit_state *W, const cbx_move *moves, int64_t count,
                        cbx_edit *edits)
{
    int64_t n = 0;
    for (int64_t k = 0; k < count; k++)
        n += moves[k].kind->write(W, &moves[k], edits + n);
    return n;
}

bool cbx_moves_of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                       cbx_move *m)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds[k]->of_edit && kinds[k]->of_edit(W, e, places, m))
            return cbx_move_may(W, m);
    return false;
}

/* ---- at random */

cbx_move cbx_moves_draw(const cbx_edit_state *W, cbx_rng *rng)
{
    int64_t all = 0, ways[KINDS];
    int     k = 0;
    for (int i = 0; i < KINDS; i++)
        all += ways[i] = kinds[i]->ways ? kinds[i]->ways(W) : 0;
    int64_t way = (int64_t)cbx_rng_below(rng, (uint64_t)all);
    for (; k + 1 < KINDS && way >= ways[k]; k++)
        way -= ways[k];
    return kinds[k]->draw(W, way, rng);
}
