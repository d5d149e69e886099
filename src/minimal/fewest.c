/* SPDX-License-Identifier: Apache-2.0 */
/* fewest.c: few edits, by building up instead of cutting down.
 *
 * From the factual graph, step by step: the derivatives of the sought class's lead rank
 * all moves, the most promising are tried, and the best few sets of moves go on
 * together, until one flips. Where that leads nowhere, or both are asked for, the answer
 * of COMBINEX is taken, its edits in order of influence. What flips is polished.
 *
 * What is returned has been verified on the whole graph, and so has that none of its
 * edits can be left out. */
#include "fewest.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "explainers.h"
#include "rank.h"
#include "verify.h"

/* Beyond DEEP moves only the best set goes on: an answer of that many is no answer to
 * polish. */
enum { DEEP = 8 };

void cbx_fewest_go_to(cbx_fewest *F, const cbx_move_set *to)
{
    for (int64_t k = F->here.count - 1; k >= 0; k--)
        if (!cbx_move_set_has(to, &F->here.moves[k])) {
            cbx_move_undo(F->W, &F->here.moves[k]);
            cbx_move_set_take_out(&F->here, k);
        }
    for (int64_t k = 0; k < to->count; k++)
        if (!cbx_move_set_has(&F->here, &to->moves[k])) {
            cbx_move_do(F->W, &to->moves[k]);
            cbx_move_set_add(&F->here, &to->moves[k]);
        }
    F->here.score = to->score;
}

/* ---- is it one? */

cbx_status cbx_fewest_flips(cbx_fewest *F, const cbx_move_set *s, bool *out, cbx_error *err)
{
    double score = s->score;
    *out = score > CBX_FEWEST_SURE;
    if (!*out || F->W->exact)
        return CBX_OK;
    cbx_status status = cbx_whatif_verify(F->W, s->moves, s->count, &score, err);
    *out = score > CBX_FEWEST_SURE;
    return status;
}

static cbx_status offer(cbx_fewest *F, const cbx_move_set *s, cbx_error *err)
{
    bool flipped = false;
    if (s->score <= CBX_FEWEST_SURE || !cbx_move_set_better(s, &F->best))
        return CBX_OK;
    cbx_status status = cbx_fewest_flips(F, s, &flipped, err);
    if (!status && flipped)
        cbx_move_set_copy(&F->best, s);
    return status;
}

/* ---- building up */

bool cbx_fewest_has_room(const cbx_fewest *F, const cbx_move_set *s, const cbx_move *m)
{
    int64_t most = F->s->options->max_edits;
    return s->count < CBX_FEWEST_MOVES && (most == 0 || s->edits + m->kind->edits <= most);
}

static int64_t promising(cbx_fewest *F, int64_t most)
{
    int64_t count = cbx_moves_promising(F->W, F->promising, most), kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (!cbx_forbids(F->forbidden, &F->promising[k]))
            F->promising[kept++] = F->promising[k];
    return kept;
}

cbx_status cbx_fewest_expand(cbx_fewest *F, const cbx_move_set *from, int64_t tried,
                             cbx_move_set *next, int64_t *num_next, int64_t width, cbx_error *err)
{
    cbx_fewest_go_to(F, from);
    (void)cbx_whatif_slopes(F->W);
    int64_t count = promising(F, tried);
    for (int64_t k = 0; k < count; k++) {
        const cbx_move *m = &F->promising[k];
        if (from->cost + m->cost > F->best.cost || !cbx_fewest_has_room(F, from, m))
            continue;
        cbx_move_set_copy(&F->work, from);
        cbx_move_set_add(&F->work, m);
        cbx_move_do(F->W, m);
        F->work.score = cbx_whatif_ask(F->W);
        cbx_move_undo(F->W, m);
        if (cbx_time_is_up())
            return CBX_OK;
        cbx_status status = offer(F, &F->work, err);
        if (status)
            return status;
        if (next && num_next)
            cbx_move_set_shortlist(next, num_next, width, &F->work);
    }
    return CBX_OK;
}

bool cbx_fewest_out_of_time(cbx_fewest *F, int64_t step)
{
    cbx_search *s = F->s;
    s->epochs = step;
    return cbx_search_should_stop_at(s, step);
}

/* `effort` times as many moves are tried as the options say, and sets followed. */
static cbx_status build_up(cbx_fewest *F, int64_t effort, cbx_error *err)
{
    cbx_move_set empty = {.moves = F->sets[0][0].moves};
    empty.score = cbx_whatif_ask(F->W);
    F->sets[0][0] = empty;
    F->num_sets[0] = 1;
    double  reached = empty.score;
    int64_t tried = effort * F->s->options->tried;
    int64_t widest = effort * F->s->options->width;
    widest = widest < CBX_FEWEST_WIDTH ? widest : CBX_FEWEST_WIDTH;
    for (int64_t depth = 0, idle = 0; depth < CBX_FEWEST_MOVES; depth++) {
        cbx_move_set *now = F->sets[depth & 1], *next = F->sets[~depth & 1];
        int64_t      *num_next = &F->num_sets[~depth & 1], width = depth < DEEP ? widest : 1;
        *num_next = 0;
        for (int64_t k = 0; k < F->num_sets[depth & 1] && k < width; k++) {
            cbx_status status = cbx_fewest_expand(F, &now[k], depth < DEEP ? tried : tried / 3 + 1,
                                                  next, num_next, width, err);
            if (status || cbx_fewest_out_of_time(F, depth))
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

/* Where any other class will do, the first steps choose one, and another may be nearer. So a
 * large answer is sought once more, for the likeliest classes one by one. */
static cbx_status build_for_each_class(cbx_fewest *F, cbx_error *err)
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
        status = build_up(F, 1, err);
        s->target = CBX_TARGET_ANY;
    }
    return status;
}

/* ---- starting from COMBINEX's answer */

/* The class that the edits lead to, and the edits in order of their influence on it. */
static cbx_status rank_for_their_class(cbx_search *s, cbx_error *err)
{
    float *logp = CBX_NEW(s->arena, float, s->model->num_classes);
    if (!logp)
        return cbx_fail_memory(err);
    cbx_status status =
        cbx_try_edits(s->model, s->graph, s->row, s->edits, s->num_edits, logp, err);
    return status ? status : cbx_rank_edits(s, cbx_search_aim(s, logp), err);
}

/* Sets that many moves fit in. */
static int make_room(cbx_fewest *F, int64_t moves)
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

/* As many of the edits, in their order, as it takes; reduced, and offered. */
static cbx_status take_first(cbx_fewest *F, const cbx_search *from, const cbx_places *places,
                             cbx_move_set *all, cbx_error *err)
{
    int64_t most = F->s->options->max_edits;
    cbx_fewest_go_to(F, all);
    for (int64_t k = 0, ask = 1; k < from->num_edits; k++) {
        bool     flipped = false;
        cbx_move m;
        if (cbx_moves_of_edit(F->W, &from->edits[k], places, &m) &&
            !cbx_forbids(F->forbidden, &m)) {
            cbx_move_set_add(all, &m);
            cbx_move_do(F->W, &m);
            cbx_move_set_add(&F->here, &m);
        }
        if (all->count < ask && k + 1 < from->num_edits)
            continue;
        ask = all->count + 1 + all->count / 8; /* reducing makes up for steps that are too long */
        all->score = cbx_whatif_ask(F->W);
        cbx_status status = cbx_fewest_flips(F, all, &flipped, err);
        if (!status && flipped)
            status = cbx_fewest_reduce(F, all, err);
        if (!status && flipped && (most == 0 || all->edits <= most))
            status = offer(F, all, err);
        if (status || flipped)
            return status;
    }
    return CBX_OK;
}

static cbx_status from_combinex(cbx_fewest *F, cbx_error *err)
{
    cbx_search search = *F->s;
    search.shared = F->shared->stretch;
    search.found = false; /* that was an answer before this one */
    search.edits = NULL;
    search.num_edits = 0;
    search.keep = search.arena; /* its edits are only a beginning */
    cbx_places places;
    cbx_status status = cbx_explainer_combinex.search(&search, err);
    F->s->epochs = search.epochs;
    if (status || !search.found)
        return status;
    cbx_move_set all = {.moves = CBX_NEW(F->s->arena, cbx_move, search.num_edits)};
    if (!all.moves || (search.num_edits > CBX_FEWEST_MOVES && make_room(F, search.num_edits)))
        return cbx_fail_memory(err);
    status = rank_for_their_class(&search, err);
    if (status)
        return status;
    if (cbx_places_init(&places, F->s->view))
        return cbx_fail_late(err);
    status = take_first(F, &search, &places, &all, err);
    cbx_places_free(&places);
    return status;
}

/* ---- the whole of it */

/* How much harder it is tried where nothing was found. */
enum { EFFORT = 8 };

static int make_sets(cbx_fewest *F, cbx_arena *arena)
{
    const cbx_explain_options *o = F->s->options;
    for (int64_t k = 0; k <= o->width * EFFORT && k <= CBX_FEWEST_WIDTH; k++)
        for (int i = 0; i < 2; i++)
            if (!(F->sets[i][k].moves = CBX_NEW(arena, cbx_move, CBX_FEWEST_MOVES + 1)))
                return -1;
    F->promising = CBX_NEW(arena, cbx_move, EFFORT * o->tried);
    return F->promising ? make_room(F, CBX_FEWEST_MOVES) : -1;
}

/* Time that is kept from polishing: that each edit is needed is worth more to know than that
 * there may be an answer with one less. Returns whether polishing was ended by it. */
static bool polish_some(cbx_fewest *F, cbx_status *status, cbx_error *err)
{
    cbx_deadline *d = F->s->deadline;
    if (d)
        cbx_deadline_hold(d, 1.0 / 3);
    *status = cbx_fewest_polish(F, err);
    return d && cbx_deadline_release(d);
}

cbx_status cbx_minimal_find(cbx_search *s, const cbx_forbidden *forbidden, cbx_minimal *out,
                            cbx_error *err)
{
    cbx_fewest F = {.s = s, .shared = s->shared, .forbidden = forbidden};
    *out = (cbx_minimal){0};
    F.W = out->whatif = CBX_NEW(s->arena, cbx_whatif, 1);
    if (!F.W)
        return cbx_fail_memory(err);
    cbx_status status = cbx_whatif_init(F.W, s, &F.shared->rules, err);
    if (status)
        return cbx_search_status(status);
    if (make_sets(&F, s->arena))
        return cbx_fail_memory(err);
    F.best.cost = INFINITY;
    F.cheapest = cbx_moves_cheapest(s->options);
    for (int64_t effort = 1; effort <= EFFORT && !status; effort *= EFFORT)
        if (!F.best.count && !cbx_time_is_up())
            status = build_up(&F, effort, err);
    if (!status && s->target == CBX_TARGET_ANY && F.best.count > CBX_FEWEST_LARGE)
        status = build_for_each_class(&F, err);
    if (!status && !cbx_time_is_up() && (!F.best.count || s->options->start == CBX_START_BOTH))
        status = cbx_search_status(from_combinex(&F, err));
    if (!status && F.best.count && !cbx_time_is_up())
        s->late = polish_some(&F, &status, err);
    if (!status && F.best.count && !cbx_time_is_up())
        status = cbx_fewest_certify(&F, &out->irreducible, err);
    if (status)
        return status;
    out->moves = F.best.moves;
    out->count = F.best.count;
    out->cost = F.best.count ? F.best.cost : INFINITY;
    cbx_fewest_go_to(&F, &(cbx_move_set){.moves = F.sets[0][0].moves});
    return CBX_OK;
}

bool cbx_forbids(const cbx_forbidden *forbidden, const cbx_move *m)
{
    for (int64_t k = 0; k < forbidden->count; k++) {
        const cbx_move *f = &forbidden->moves[k];
        bool            shared = forbidden->diverse && m->kind == f->kind && m->kind->overlaps &&
                      m->kind->overlaps(f, m);
        if (shared || cbx_move_same(f, m))
            return true;
    }
    return false;
}
