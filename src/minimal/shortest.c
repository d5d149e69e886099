/* SPDX-License-Identifier: Apache-2.0 */
/* shortest.c: see shortest.h. */
#include "shortest.h"

#include <math.h>

#include "deadline.h"
#include "error.h"
#include "take_back.h"

/* Sums of costs may differ in the last bit. */
static const double ALIKE = 1e-9;

/* How far the set is likely to go, if its last move is taken back to where it just flips. */
static double expected_way(const cbx_beam *F, const cbx_move_set *s, double before)
{
    double part = s->score > before && before < 0 ? -before / (s->score - before) : 1;
    double all = cbx_take_back_cost(F->W, s->moves, s->count);
    double last = cbx_take_back_cost(F->W, &s->moves[s->count - 1], 1);
    return all - last + part * last;
}

void cbx_shortest_note(cbx_beam *F, const cbx_move_set *s, double before)
{
    if (!F->W->rules->columns || s->score <= CBX_BEAM_SURE || s->count > CBX_SHORTEST_MOVES)
        return;
    double  way = expected_way(F, s, before);
    int64_t at = F->num_noted;
    for (int64_t k = 0; k < at; k++)
        if (cbx_move_set_same(&F->noted[k].set, s) || F->noted[k].set.cost < s->cost - ALIKE)
            return;
    for (int64_t k = 0; k < at; k++) /* one that costs more is of no use */
        if (F->noted[k].set.cost > s->cost + ALIKE)
            at = k;
    if (at == CBX_SHORTEST_NOTED) {
        at = 0;
        for (int64_t k = 1; k < CBX_SHORTEST_NOTED; k++)
            at = F->noted[k].way > F->noted[at].way ? k : at;
        if (F->noted[at].way <= way)
            return;
    }
    F->noted[at].way = way;
    cbx_move_set_copy(&F->noted[at].set, s);
    F->num_noted += at == F->num_noted;
}

/* Takes a noted set back; it stays the best if it goes less far than `way`. */
static cbx_status try_noted(cbx_beam *F, const cbx_move_set *s, double *way, cbx_error *err)
{
    bool         flips = false;
    cbx_move_set before = {.moves = F->sets[0][0].moves};
    cbx_status   status = cbx_beam_flips(F, s, &flips, err);
    if (status || !flips)
        return cbx_search_status(status);
    cbx_move_set_copy(&before, &F->best);
    cbx_move_set_copy(&F->best, s);
    status = cbx_take_back(F, err);
    double now = cbx_take_back_cost(F->W, F->best.moves, F->best.count);
    if (status || cbx_time_is_up() || !(now < *way))
        cbx_move_set_copy(&F->best, &before);
    else
        *way = now;
    return status;
}

cbx_status cbx_shortest_choose(cbx_beam *F, cbx_error *err)
{
    cbx_status status = CBX_OK;
    double     way = cbx_take_back_cost(F->W, F->best.moves, F->best.count);
    int64_t    unusual = cbx_take_back_unusual(F->W, F->best.moves, F->best.count);
    for (int64_t k = 0; k < F->num_noted && !status && !cbx_time_is_up(); k++) {
        const cbx_move_set *s = &F->noted[k].set;
        if (fabs(s->cost - F->best.cost) <= ALIKE && F->best.count <= CBX_BEAM_MOVES &&
            cbx_take_back_unusual(F->W, s->moves, s->count) <= unusual)
            status = try_noted(F, s, &way, err);
    }
    return status;
}
