/* SPDX-License-Identifier: Apache-2.0 */
/* nearer.c: see nearer.h. */
#include "nearer.h"

#include <math.h>

#include "deadline.h"
#include "error.h"
#include "polish.h"
#include "shortest.h"
#include "take_back.h"

/* Searches with a limit on how far values go, and rounds of replacements. */
enum { SEARCHES = 4, ROUNDS = 3 };

/* Changes more than the fewest that a shorter way may take. */
static const double MORE = 3;

/* Values that are few enough to look at all. */
enum { MOST_VALUES = 512 };

/* Limits that differ by less than this factor are the same. */
static const double ALIKE = 1.2;

/* Sums of costs may differ in the last bit. */
static const double SAME = 1e-9;

/* What is to be outdone: the best answer so far, and what counts of it. */
typedef struct best_known {
    cbx_move_set set;
    int64_t      unusual;
    double       way;
} best_known;

static void remember(const cbx_beam *F, best_known *known)
{
    cbx_move_set_copy(&known->set, &F->best);
    known->unusual = cbx_take_back_unusual(F->W, F->best.moves, F->best.count);
    known->way = cbx_take_back_cost(F->W, F->best.moves, F->best.count);
}

static bool trades(const cbx_beam *F)
{
    return cbx_minimal_of(F->s)->cost == CBX_COST_DISTANCE;
}

/* Fewer unusual values, else a shorter way; before that fewer edits, where they are not traded for
 * a shorter way. */
static bool outdoes(const cbx_beam *F, const best_known *known)
{
    int64_t unusual = cbx_take_back_unusual(F->W, F->best.moves, F->best.count);
    double  way = cbx_take_back_cost(F->W, F->best.moves, F->best.count);
    double  more = F->best.cost - known->set.cost;
    if (trades(F))
        way += more;
    else if (fabs(more) > SAME)
        return more < 0;
    return unusual < known->unusual || (unusual == known->unusual && way < known->way - SAME);
}

/* Whatever flips and costs no more shall become the best now; or more by a little, where that may
 * save as much. */
static void make_room_for_another(cbx_beam *F, const best_known *known)
{
    F->best.score = -INFINITY;
    F->num_noted = 0;
    if (trades(F))
        F->best.cost += fmin(known->way, MORE * F->cheapest);
}

/* What was found instead is made small, and stays if it outdoes the one that is known. */
static cbx_status settle(cbx_beam *F, best_known *known, bool *better, cbx_error *err)
{
    cbx_status status = CBX_OK;
    bool       another = F->best.score > -INFINITY && !cbx_time_is_up();
    F->W->reach = INFINITY;
    *better = false;
    if (another)
        status = cbx_polish_reduce(F, &F->best, err);
    if (another && !status && !cbx_time_is_up())
        status = cbx_take_back(F, err);
    if (another && !status && !cbx_time_is_up())
        status = cbx_shortest_choose(F, err);
    *better = another && !status && !cbx_time_is_up() && outdoes(F, known);
    if (*better)
        remember(F, known);
    else
        cbx_move_set_copy(&F->best, &known->set);
    return status;
}

static double way_of(const cbx_beam *F, int64_t k)
{
    return cbx_take_back_way(F->W, &F->best.moves[k], 1);
}

static double furthest(const cbx_beam *F)
{
    double most = 0;
    for (int64_t k = 0; k < F->best.count; k++)
        most = fmax(most, way_of(F, k));
    return most;
}

/* All anew, with values that go half as far at most, or as far as may be found out. */
static cbx_status search_near(cbx_beam *F, best_known *known, cbx_error *err)
{
    double     too_near = 0, far = furthest(F);
    cbx_status status = CBX_OK;
    for (int k = 0; k < SEARCHES && far > too_near * ALIKE && !status; k++) {
        bool   better = false;
        double reach = (too_near + far) / 2;
        F->W->reach = (float)reach;
        make_room_for_another(F, known);
        status = cbx_beam_build_up(F, 1, err);
        if (!status)
            status = settle(F, known, &better, err);
        if (status || cbx_time_is_up())
            break;
        if (better)
            far = fmin(furthest(F), reach);
        else
            too_near = reach;
    }
    F->W->reach = INFINITY;
    return status;
}

/* A value that goes as far as it may for now, whichever way. */
static cbx_status try_value(cbx_beam *F, const cbx_move_set *rest, const cbx_move *m,
                            cbx_error *err)
{
    cbx_move_set_copy(&F->work, rest);
    cbx_move_set_add(&F->work, m);
    cbx_move_do(F->W, m);
    F->work.score = cbx_edit_state_ask(F->W);
    cbx_move_undo(F->W, m);
    if (cbx_time_is_up() || F->work.cost > F->best.cost + SAME)
        return CBX_OK;
    cbx_shortest_note(F, &F->work, rest->score);
    return cbx_beam_offer(F, &F->work, err);
}

/* Of an answer of one change all other values are looked at, where they are few: derivatives say
 * little of how a value does that goes far. */
static cbx_status try_all_values(cbx_beam *F, const cbx_move_set *none, cbx_error *err)
{
    const cbx_edit_state *W = F->W;
    cbx_status            status = CBX_OK;
    int64_t               between = 0;
    for (int32_t j = 0; j < W->f; j++)
        between += W->rules->columns->of[j].step > 0;
    if (between * W->rows > MOST_VALUES)
        return CBX_OK;
    for (cbx_move_walk at = {.pair = W->pairs}; at.row < W->rows && !status; at.row++)
        for (at.column = 0; at.column < W->f && !status && !cbx_time_is_up(); at.column++) {
            cbx_move m;
            for (at.stage = 0; !status && cbx_move_feature.next(W, &at, &m);)
                if (cbx_take_back_step(W, &m) > 0 && cbx_move_may(W, &m) &&
                    !cbx_forbidden_has(F->forbidden, &m))
                    status = try_value(F, none, &m, err);
        }
    return status;
}

/* One move back, and another forward that does not go as far. */
static cbx_status replace(cbx_beam *F, best_known *known, int64_t k, bool first, bool *better,
                          cbx_error *err)
{
    cbx_move_set rest = {.moves = F->sets[0][1].moves};
    double       way = way_of(F, k);
    *better = false;
    if (!(way > 0))
        return CBX_OK;
    cbx_move_set_copy(&rest, &F->best);
    cbx_move_set_take_out(&rest, k);
    cbx_beam_go_to(F, &rest);
    rest.score = cbx_edit_state_ask(F->W);
    F->W->reach = (float)way;
    make_room_for_another(F, known);
    int64_t    tried = cbx_minimal_of(F->s)->candidates;
    cbx_status status =
        cbx_beam_expand(F, &rest, rest.count ? tried : CBX_BEAM_EFFORT * tried, NULL, NULL, 0, err);
    if (!status && first && !rest.count)
        status = try_all_values(F, &rest, err);
    return status ? status : settle(F, known, better, err);
}

static cbx_status replace_far_ones(cbx_beam *F, best_known *known, cbx_error *err)
{
    cbx_status status = CBX_OK;
    bool       again = true;
    for (int round = 0; round < ROUNDS && again && !status; round++) {
        again = false;
        for (int64_t k = F->best.count - 1; k >= 0 && !status && !cbx_time_is_up(); k--) {
            bool better = false;
            if (k < F->best.count)
                status = replace(F, known, k, round == 0, &better, err);
            again = again || better;
        }
    }
    F->W->reach = INFINITY;
    return status;
}

cbx_status cbx_nearer(cbx_beam *F, cbx_error *err)
{
    best_known known = {0};
    if (!F->W->rules->columns || cbx_minimal_of(F->s)->cost == CBX_COST_EDITS ||
        F->best.count > CBX_BEAM_MOVES ||
        !(cbx_take_back_way(F->W, F->best.moves, F->best.count) > 0))
        return CBX_OK;
    known.set.moves = CBX_NEW(F->s->arena, cbx_move, CBX_BEAM_MOVES + 1);
    if (!known.set.moves)
        return cbx_fail_memory(err);
    remember(F, &known);
    cbx_status status = CBX_OK;
    if ((F->best.count > 1 || trades(F)) && F->best.count <= CBX_BEAM_LARGE)
        status = search_near(F, &known, err);
    if (!status && !cbx_time_is_up())
        status = replace_far_ones(F, &known, err);
    return cbx_search_status(status);
}
