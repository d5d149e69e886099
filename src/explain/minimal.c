/* SPDX-License-Identifier: Apache-2.0 */
/* minimal.c: few edits.
 *
 * Builds an answer up instead of cutting a large one down. From the factual graph,
 * step by step: the derivatives of the sought class's lead rank all moves, the most
 * promising are tried, and the best few sets of moves go on together. The first that
 * flips ends this; then
 *
 *   reduce   take back every move that is not needed, until none is
 *   swap     take back two and look for one that does
 *
 * and again, while it gets cheaper. Where building up leads nowhere, the answer of
 * COMBINEX is taken, its edits in order of influence, and reduced.
 *
 * What is returned has been verified on the whole graph, and so has that none of its
 * edits can be left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "minimal.h"

/* Beyond DEEP moves only the best set goes on: an answer of that many is no answer to
 * polish. */
enum { WIDTH = 64, DEEP = 8, MOST_MOVES = 400 };

/* A lead that rounding could not take away. */
static const double SURE = 1e-4;

typedef struct set {
    cbx_move *moves; /* MOST_MOVES */
    int64_t   count;
    double    cost, score;
} set;

typedef struct state {
    cbx_search               *s;
    cbx_whatif               *W;
    set                       here; /* the moves that are made now */
    set                       sets[2][WIDTH + 1];
    int64_t                   num_sets[2];
    set                       best; /* flips; cost INFINITY: none yet */
    set                       work;
    cbx_move                 *promising;
    double                    cheapest; /* cost of a move */
    const cbx_minimal_shared *shared;
    const cbx_forbidden      *forbidden;
} state;

/* ---- sets of moves */

static bool same_move(const cbx_move *a, const cbx_move *b)
{
    return a->kind == b->kind && a->row == b->row && a->column == b->column &&
           a->other == b->other && a->pair == b->pair && a->to == b->to;
}

static bool contains(const set *s, const cbx_move *m)
{
    for (int64_t k = 0; k < s->count; k++)
        if (same_move(&s->moves[k], m))
            return true;
    return false;
}

static bool same_set(const set *a, const set *b)
{
    if (a->count != b->count)
        return false;
    for (int64_t k = 0; k < a->count; k++)
        if (!contains(b, &a->moves[k]))
            return false;
    return true;
}

static void copy_set(set *to, const set *from)
{
    memcpy(to->moves, from->moves, (size_t)from->count * sizeof *from->moves);
    to->count = from->count;
    to->cost = from->cost;
    to->score = from->score;
}

static void add(set *s, const cbx_move *m)
{
    s->moves[s->count++] = *m;
    s->cost += m->cost;
}

static void take_out(set *s, int64_t k)
{
    s->cost -= s->moves[k].cost;
    memmove(&s->moves[k], &s->moves[k + 1], (size_t)(--s->count - k) * sizeof *s->moves);
}

/* Makes the graph what the set says. */
static void go_to(state *st, const set *to)
{
    for (int64_t k = st->here.count - 1; k >= 0; k--)
        if (!contains(to, &st->here.moves[k])) {
            cbx_whatif_undo(st->W, &st->here.moves[k]);
            take_out(&st->here, k);
        }
    for (int64_t k = 0; k < to->count; k++)
        if (!contains(&st->here, &to->moves[k])) {
            cbx_whatif_do(st->W, &to->moves[k]);
            add(&st->here, &to->moves[k]);
        }
    st->here.score = to->score;
}

/* ---- is it one? */

/* Where asking the factual graph is not asking the whole graph, that is done. */
static cbx_status flips(state *st, const set *s, bool *out, cbx_error *err)
{
    double score = s->score;
    *out = score > SURE;
    if (!*out || st->W->exact)
        return CBX_OK;
    cbx_status status = cbx_whatif_verify(st->W, s->moves, s->count, &score, err);
    *out = score > SURE;
    return status;
}

static bool better(const set *a, const set *b)
{
    return a->cost < b->cost || (a->cost == b->cost && a->score > b->score);
}

static cbx_status offer(state *st, const set *s, cbx_error *err)
{
    bool flipped = false;
    if (s->score <= SURE || !better(s, &st->best))
        return CBX_OK;
    cbx_status status = flips(st, s, &flipped, err);
    if (!status && flipped)
        copy_set(&st->best, s);
    return status;
}

/* ---- building up */

static int64_t most_moves(const state *st)
{
    int64_t most = st->s->options->max_edits;
    return most > 0 && most < MOST_MOVES ? most : MOST_MOVES;
}

/* Among the best of the next round, if it is new. */
static void shortlist(set *sets, int64_t *count, int64_t most, const set *s)
{
    int64_t at = *count;
    for (int64_t k = 0; k < *count; k++)
        if (same_set(&sets[k], s))
            return;
    if (at == most && s->score <= sets[most - 1].score)
        return;
    at = at < most ? at : most - 1;
    set slot = sets[at]; /* memory changes hands, nothing is copied twice */
    for (; at > 0 && sets[at - 1].score < s->score; at--)
        sets[at] = sets[at - 1];
    sets[at] = slot;
    copy_set(&sets[at], s);
    *count += *count < most;
}

static int64_t promising(state *st, int64_t most)
{
    int64_t count = cbx_whatif_promising(st->W, st->promising, most), kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (!cbx_forbids(st->forbidden, &st->promising[k]))
            st->promising[kept++] = st->promising[k];
    return kept;
}

/* Every promising move from one set, tried. */
static cbx_status expand(state *st, const set *from, int64_t tried, set *next, int64_t *num_next,
                         int64_t width, cbx_error *err)
{
    go_to(st, from);
    (void)cbx_whatif_slopes(st->W);
    int64_t count = promising(st, tried);
    for (int64_t k = 0; k < count; k++) {
        const cbx_move *m = &st->promising[k];
        if (from->cost + m->cost > st->best.cost)
            continue;
        copy_set(&st->work, from);
        add(&st->work, m);
        cbx_whatif_do(st->W, m);
        st->work.score = cbx_whatif_ask(st->W);
        cbx_whatif_undo(st->W, m);
        cbx_status status = offer(st, &st->work, err);
        if (status)
            return status;
        if (next)
            shortlist(next, num_next, width, &st->work);
    }
    return CBX_OK;
}

static bool out_of_time(state *st, int64_t step)
{
    st->s->epochs = step;
    return cbx_search_should_stop(st->s, step, st->s->options->epochs);
}

static cbx_status build_up(state *st, cbx_error *err)
{
    set empty = {.moves = st->sets[0][0].moves};
    empty.score = cbx_whatif_ask(st->W);
    st->sets[0][0] = empty;
    st->num_sets[0] = 1;
    double  reached = empty.score;
    int64_t tried = st->s->options->tried;
    for (int64_t depth = 0, idle = 0; depth < most_moves(st); depth++) {
        set     *now = st->sets[depth & 1], *next = st->sets[~depth & 1];
        int64_t *num_next = &st->num_sets[~depth & 1],
                width = depth < DEEP ? st->s->options->width : 1;
        *num_next = 0;
        for (int64_t k = 0; k < st->num_sets[depth & 1] && k < width; k++) {
            cbx_status status = expand(st, &now[k], depth < DEEP ? tried : tried / 3 + 1, next,
                                       num_next, width, err);
            if (status || out_of_time(st, depth))
                return status;
        }
        /* Sets that go on cost as much as what was found, or it gets no better. */
        if (*num_next == 0 || next[0].cost + st->cheapest > st->best.cost)
            break;
        idle = next[0].score > reached + 1e-3 ? 0 : idle + 1;
        reached = fmax(reached, next[0].score);
        if (idle == 3)
            break;
    }
    return CBX_OK;
}

/* ---- making it smaller */

/* Takes back moves that are not needed, the least promising first, until none is. */
static cbx_status reduce(state *st, set *s, cbx_error *err)
{
    for (bool again = s->count > 1; again;) {
        again = false;
        for (int64_t k = s->count - 1; k >= 0 && s->count > 1; k--) {
            bool flipped = false;
            copy_set(&st->work, s);
            take_out(&st->work, k);
            go_to(st, &st->work);
            st->work.score = cbx_whatif_ask(st->W);
            cbx_status status = flips(st, &st->work, &flipped, err);
            if (status)
                return status;
            if (flipped) {
                copy_set(s, &st->work);
                again = s->count > 1;
            }
        }
    }
    return CBX_OK;
}

/* Two moves back, one other forward. True: the best has become cheaper. */
static cbx_status swap(state *st, bool *improved, cbx_error *err)
{
    double before = st->best.cost;
    set    base = {.moves = st->sets[0][0].moves};
    copy_set(&base, &st->best);
    *improved = false;
    for (int64_t a = 0; a < base.count && base.count > 2; a++)
        for (int64_t b = 0; b < a; b++) {
            set rest = {.moves = st->sets[0][1].moves};
            copy_set(&rest, &base);
            take_out(&rest, a);
            take_out(&rest, b);
            cbx_status status = expand(st, &rest, 2 * st->s->options->tried, NULL, NULL, 0, err);
            if (status || out_of_time(st, st->s->epochs))
                return status;
            if (st->best.cost < before) {
                *improved = true;
                return CBX_OK;
            }
        }
    return CBX_OK;
}

enum { SWAP_MOST = 12 }; /* moves of an answer for which pairs of them are looked at */

static cbx_status polish(state *st, cbx_error *err)
{
    for (bool improved = true; improved;) {
        cbx_status status = reduce(st, &st->best, err);
        improved = false;
        if (!status && st->best.count <= SWAP_MOST)
            status = swap(st, &improved, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

/* ---- starting from COMBINEX's answer */

static bool move_of_edit(const state *st, const cbx_edit *e, const cbx_places *places, cbx_move *m)
{
    const cbx_whatif *W = st->W;
    if (e->op == CBX_SET_FEATURE) {
        int32_t i = cbx_places_find(places, e->node);
        if (i < 0 || i >= W->rows)
            return false;
        *m = (cbx_move){
            CBX_MOVE_FEATURE,    i, e->feature, -1, -1, e->to, st->s->options->feature_cost,
            (double)e->influence};
        return cbx_whatif_may(W, m);
    }
    const cbx_view *v = st->s->view;
    int32_t         a = cbx_places_find(places, e->source), b = cbx_places_find(places, e->target);
    for (int64_t k = a >= 0 && b >= 0 ? v->offset[b] : 0; a >= 0 && b >= 0 && k < v->offset[b + 1];
         k++)
        if (v->source[k] == a && (e->edge < 0 || (v->edge ? v->edge[k] : k) == e->edge)) {
            *m = (cbx_move){
                CBX_MOVE_PAIR,       0, 0, 0, W->pair_of[k], 0, st->s->options->edge_cost,
                (double)e->influence};
            return cbx_whatif_may(W, m);
        }
    return false;
}

/* COMBINEX's edits by influence: as many of them as it takes. */
static cbx_status from_combinex(state *st, cbx_error *err)
{
    cbx_search search = *st->s;
    search.shared = st->shared->stretch;
    cbx_places places;
    cbx_status status = cbx_explainer_combinex.search(&search, err);
    st->s->epochs = search.epochs;
    st->s->cancelled = search.cancelled;
    if (status || !search.found)
        return status;
    status = cbx_rank_edits(&search, search.target >= 0 ? search.target : st->s->prediction, err);
    if (status)
        return status;
    if (cbx_places_init(&places, st->s->view))
        return cbx_fail_memory(err);
    set all = {.moves = CBX_NEW(st->s->arena, cbx_move, search.num_edits)};
    if (!all.moves) {
        cbx_places_free(&places);
        return cbx_fail_memory(err);
    }
    set none = {.moves = st->sets[0][0].moves};
    go_to(st, &none);
    int64_t most = most_moves(st);
    for (int64_t k = 0; k < search.num_edits && all.count < most && !status; k++) {
        cbx_move m;
        if (!move_of_edit(st, &search.edits[k], &places, &m) || cbx_forbids(st->forbidden, &m))
            continue;
        add(&all, &m);
        cbx_whatif_do(st->W, &m);
        add(&st->here, &m);
        all.score = cbx_whatif_ask(st->W);
        if (all.score > SURE) {
            status = offer(st, &all, err);
            if (st->best.count)
                break;
        }
    }
    cbx_places_free(&places);
    return status;
}

/* ---- the whole of it */

static int make_sets(state *st, cbx_arena *arena)
{
    set *all[] = {&st->here, &st->best, &st->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i]->moves = CBX_NEW(arena, cbx_move, MOST_MOVES + 1)))
            return -1;
    for (int k = 0; k < 2 * WIDTH; k++)
        if (k % WIDTH < st->s->options->width + 1 &&
            !(st->sets[k / WIDTH][k % WIDTH].moves = CBX_NEW(arena, cbx_move, MOST_MOVES + 1)))
            return -1;
    st->promising = CBX_NEW(arena, cbx_move, 2 * st->s->options->tried);
    return st->promising ? 0 : -1;
}

/* Is every edit needed, by the whole graph? */
static cbx_status certify(state *st, bool *irreducible, cbx_error *err)
{
    const cbx_search *s = st->s;
    cbx_edit         *all = CBX_NEW(s->arena, cbx_edit, 4 * st->best.count);
    float            *logp = CBX_NEW(s->arena, float, s->model->num_classes);
    if (!all || !logp)
        return cbx_fail_memory(err);
    int64_t   count = cbx_whatif_edits(st->W, st->best.moves, st->best.count, all);
    cbx_edit *rest = all + count;
    *irreducible = true;
    for (int64_t k = 0; k < count && *irreducible; k++) {
        memcpy(rest, all, (size_t)k * sizeof *rest);
        memcpy(rest + k, all + k + 1, (size_t)(count - k - 1) * sizeof *rest);
        cbx_status status = cbx_try_edits(s->model, s->graph, s->row, rest, count - 1, logp, err);
        if (status)
            return status;
        *irreducible = !cbx_reaches(logp, s->model->num_classes, s->prediction, s->target,
                                    s->options->stopping_threshold);
    }
    return CBX_OK;
}

cbx_status cbx_minimal_find(cbx_search *s, const cbx_forbidden *forbidden, cbx_minimal *out,
                            cbx_error *err)
{
    state st = {.s = s, .shared = s->shared, .forbidden = forbidden};
    *out = (cbx_minimal){0};
    st.W = out->whatif = CBX_NEW(s->arena, cbx_whatif, 1);
    if (!st.W)
        return cbx_fail_memory(err);
    cbx_status status = cbx_whatif_init(st.W, s, &st.shared->rules, err);
    if (status)
        return status;
    if (make_sets(&st, s->arena))
        return cbx_fail_memory(err);
    st.best.cost = INFINITY;
    st.cheapest = fmin(s->options->edge_cost, s->options->feature_cost);
    status = build_up(&st, err);
    if (!status && !st.best.count && !s->cancelled)
        status = from_combinex(&st, err);
    if (!status && st.best.count && !s->cancelled)
        status = polish(&st, err);
    if (!status && st.best.count && !s->cancelled)
        status = certify(&st, &out->irreducible, err);
    if (status)
        return status;
    out->moves = st.best.moves;
    out->count = st.best.count;
    out->cost = st.best.count ? st.best.cost : INFINITY;
    go_to(&st, &(set){.moves = st.sets[0][0].moves});
    return CBX_OK;
}

bool cbx_forbids(const cbx_forbidden *forbidden, const cbx_move *m)
{
    for (int64_t k = 0; k < forbidden->count; k++)
        if (same_move(&forbidden->moves[k], m))
            return true;
    return false;
}
