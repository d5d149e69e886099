/* SPDX-License-Identifier: Apache-2.0 */
/* beam.c: see beam.h. */
#include "beam.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "setup.h"
#include "shortest.h"
#include "take_back.h"

/* Beyond DEEP moves only the best set goes on: an answer of that many is no answer to
 * polish. */
enum { DEEP = 8 };

/* ---- memory */

int cbx_beam_make_room(cbx_beam *F, int64_t moves)
{
    cbx_move_set *all[] = {&F->here, &F->best, &F->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cbx_move *larger = CBX_NEW(F->s->arena, cbx_move, moves + 1);
        if (!larger)
            return -1;
        if (all[i]->count)
            memcpy(larger, all[i]->moves, (size_t)all[i]->count * sizeof *larger);
        all[i]->moves = larger;
    }
    return 0;
}

static int make_sets(cbx_beam *F, cbx_arena *arena)
{
    const cbx_minimal_options *o = cbx_minimal_of(F->s);
    for (int64_t k = 0; k <= o->beam * CBX_BEAM_EFFORT && k <= CBX_BEAM_WIDTH; k++)
        for (int i = 0; i < 2; i++)
            if (!(F->sets[i][k].moves = CBX_NEW(arena, cbx_move, CBX_BEAM_MOVES + 1)))
                return -1;
    for (int64_t k = 0; k < CBX_SHORTEST_NOTED && F->W->rules->columns; k++)
        if (!(F->noted[k].set.moves = CBX_NEW(arena, cbx_move, CBX_SHORTEST_MOVES)))
            return -1;
    F->promising = CBX_NEW(arena, cbx_move, CBX_BEAM_EFFORT * o->candidates);
    return F->promising ? cbx_beam_make_room(F, CBX_BEAM_MOVES) : -1;
}

int cbx_beam_init(cbx_beam *F, cbx_search *s, cbx_edit_state *W, const cbx_forbidden *forbidden)
{
    *F = (cbx_beam){.s = s, .W = W, .forbidden = forbidden};
    F->best.cost = INFINITY;
    F->cheapest = cbx_moves_cheapest(W);
    return make_sets(F, s->arena);
}

/* ---- where it is */

/* Where sets are so large that looking moves up in them takes longer than making them. */
static const double MANY = 1e6;

void cbx_beam_go_to(cbx_beam *F, const cbx_move_set *to)
{
    int64_t same = 0; /* moves that both begin with */
    while (same < F->here.count && same < to->count &&
           cbx_move_same(&F->here.moves[same], &to->moves[same]))
        same++;
    bool many = (double)(F->here.count - same) * (double)(to->count - same) > MANY;
    for (int64_t k = F->here.count - 1; k >= same; k--)
        if (many || !cbx_move_set_has(to, &F->here.moves[k])) {
            cbx_move_undo(F->W, &F->here.moves[k]);
            cbx_move_set_take_out(&F->here, k);
        }
    for (int64_t k = same; k < to->count; k++)
        if (many || !cbx_move_set_has(&F->here, &to->moves[k])) {
            cbx_move_do(F->W, &to->moves[k]);
            cbx_move_set_add(&F->here, &to->moves[k]);
        }
    F->here.score = to->score;
}

/* ---- is it one? */

cbx_status cbx_beam_flips(cbx_beam *F, const cbx_move_set *s, bool *out, cbx_error *err)
{
    double score = s->score;
    *out = score > CBX_BEAM_SURE;
    if (!*out || F->W->exact)
        return CBX_OK;
    cbx_status status = cbx_edit_state_verify(F->W, s->moves, s->count, &score, err);
    *out = score > CBX_BEAM_SURE;
    return status;
}

void cbx_beam_note_lead(cbx_beam *F, double score)
{
    F->s->reached = fmax(F->s->reached, score);
}

cbx_status cbx_beam_offer(cbx_beam *F, const cbx_move_set *s, cbx_error *err)
{
    bool flipped = false;
    if (s->score <= CBX_BEAM_SURE || !cbx_move_set_better(s, &F->best))
        return CBX_OK;
    cbx_status status = cbx_beam_flips(F, s, &flipped, err);
    if (!status && flipped)
        cbx_move_set_copy(&F->best, s);
    return status;
}

/* ---- building up */

bool cbx_beam_has_room(const cbx_beam *F, const cbx_move_set *s)
{
    int64_t most = F->s->options->max_edits;
    return s->count < CBX_BEAM_MOVES && (most == 0 || s->count < most);
}

static int64_t promising(cbx_beam *F, int64_t most)
{
    int64_t count = cbx_moves_promising(F->W, F->promising, most), kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (!cbx_forbidden_has(F->forbidden, &F->promising[k]))
            F->promising[kept++] = F->promising[k];
    return kept;
}

/* Asks what the set with one move more, in F->work, comes to; it is offered as the best. */
static cbx_status try_move(cbx_beam *F, const cbx_move_set *from, const cbx_move *m, cbx_error *err)
{
    cbx_move_set_copy(&F->work, from);
    cbx_move_set_add(&F->work, m);
    cbx_move_do(F->W, m);
    F->work.score = cbx_edit_state_ask(F->W);
    cbx_move_undo(F->W, m);
    if (cbx_time_is_up())
        return CBX_OK;
    cbx_beam_note_lead(F, F->work.score);
    cbx_shortest_note(F, &F->work, from->score);
    return cbx_beam_offer(F, &F->work, err);
}

cbx_status cbx_beam_expand(cbx_beam *F, const cbx_move_set *from, int64_t tried, cbx_move_set *next,
                           int64_t *num_next, int64_t width, cbx_error *err)
{
    cbx_beam_go_to(F, from);
    (void)cbx_edit_state_slopes(F->W);
    int64_t count = promising(F, tried);
    for (int64_t k = 0; k < count; k++) {
        const cbx_move *m = &F->promising[k];
        cbx_move        halfway;
        if (from->cost + m->cost > F->best.cost || !cbx_beam_has_room(F, from))
            continue;
        cbx_status status = try_move(F, from, m, err);
        if (status || cbx_time_is_up())
            return status;
        if (next && num_next)
            cbx_move_set_shortlist(next, num_next, width, &F->work);
        /* too far, perhaps; it may flip before, but what goes on goes far */
        if (F->work.score <= from->score && cbx_take_back_halfway(F->W, m, &halfway) &&
            (status = try_move(F, from, &halfway, err)))
            return status;
    }
    return CBX_OK;
}

bool cbx_beam_out_of_time(cbx_beam *F, int64_t step)
{
    cbx_search *s = F->s;
    s->epochs = step;
    return cbx_search_should_stop_at(s, step);
}

cbx_status cbx_beam_build_up(cbx_beam *F, int64_t effort, cbx_error *err)
{
    cbx_move_set empty = {.moves = F->sets[0][0].moves};
    empty.score = cbx_edit_state_ask(F->W);
    cbx_beam_note_lead(F, empty.score);
    F->sets[0][0] = empty;
    F->num_sets[0] = 1;
    double  reached = empty.score;
    int64_t tried = effort * cbx_minimal_of(F->s)->candidates;
    int64_t widest = effort * cbx_minimal_of(F->s)->beam;
    widest = widest < CBX_BEAM_WIDTH ? widest : CBX_BEAM_WIDTH;
    for (int64_t depth = 0, idle = 0; depth < CBX_BEAM_MOVES; depth++) {
        cbx_move_set *now = F->sets[depth & 1], *next = F->sets[~depth & 1];
        int64_t      *num_next = &F->num_sets[~depth & 1], width = depth < DEEP ? widest : 1;
        *num_next = 0;
        for (int64_t k = 0; k < F->num_sets[depth & 1] && k < width; k++) {
            cbx_status status = cbx_beam_expand(F, &now[k], depth < DEEP ? tried : tried / 3 + 1,
                                                next, num_next, width, err);
            if (status || cbx_beam_out_of_time(F, depth))
                return status;
        }
        /* Sets that go on cost as much as what was found, or it gets no better. */
        if (*num_next == 0 || next[0].cost + F->cheapest > F->best.cost)
            break;
        idle = next[0].score > reached + 1e-3 ? 0 : idle + 1;
        reached = fmax(reached, next[0].score);
        if (idle == 3)
            break;
    }
    return CBX_OK;
}

cbx_status cbx_beam_try_each(cbx_beam *F, const cbx_move_kind *kind, cbx_error *err)
{
    enum { MOST = 4096 };
    cbx_move_set  none = {.moves = F->sets[0][0].moves};
    cbx_move_walk at = {0};
    cbx_move      m;
    cbx_status    status = CBX_OK;
    cbx_beam_go_to(F, &none);
    none.score = cbx_edit_state_ask(F->W);
    for (int64_t tried = 0; tried < MOST && !status && cbx_moves_walk(F->W, &at, &m);) {
        if ((kind && m.kind != kind) || cbx_forbidden_has(F->forbidden, &m))
            continue;
        tried++;
        if (!cbx_beam_out_of_time(F, F->s->epochs))
            status = try_move(F, &none, &m, err);
    }
    return status;
}

cbx_status cbx_beam_build_for_each_class(cbx_beam *F, cbx_error *err)
{
    enum { CLASSES = 8 };
    cbx_search *s = F->s;
    cbx_status  status = CBX_OK;
    int32_t     C = s->model->num_classes, last = -1;
    for (int k = 0; k <= CLASSES && !status && !cbx_time_is_up(); k++) {
        last = cbx_next_class(s->before, C, last);
        if (last < 0)
            break;
        if (last == s->prediction)
            continue;
        s->target = last;
        status = cbx_beam_build_up(F, 1, err);
        s->target = CBX_TARGET_ANY;
    }
    return status;
}
