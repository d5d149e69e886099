/* SPDX-License-Identifier: Apache-2.0 */
/* take_back.c: see take_back.h. */
#include "take_back.h"

#include <math.h>
#include <stdlib.h>

#include "deadline.h"
#include "error.h"

/* Rounds over all features: the second mostly finds nothing left. */
enum { ROUNDS = 16 };

/* A value is found to within this share of its step. */
static const float SHARE = 0.0625F;

static const cbx_column *column_of(const cbx_edit_state *W, const cbx_move *m)
{
    bool between = m->kind == &cbx_move_feature && W->rules->columns;
    return between && W->rules->columns->of[m->column].step > 0 ? &W->rules->columns->of[m->column]
                                                                : NULL;
}

/* How far its value goes, in units of the feature's scale. */
static double way_of(const cbx_edit_state *W, const cbx_move *m)
{
    const cbx_column *column = column_of(W, m);
    if (!column)
        return 0;
    float was = cbx_edit_state_original(W, m->row, m->column);
    return fabs((double)m->to - (double)was) / (double)column->scale;
}

double cbx_take_back_way(const cbx_edit_state *W, const cbx_move *moves, int64_t count)
{
    double way = 0;
    for (int64_t k = 0; k < count; k++)
        way += way_of(W, &moves[k]);
    return way;
}

double cbx_take_back_cost(const cbx_edit_state *W, const cbx_move *moves, int64_t count)
{
    double cost = 0;
    for (int64_t k = 0; k < count; k++)
        cost += moves[k].cost * way_of(W, &moves[k]);
    return cost;
}

int64_t cbx_take_back_unusual(const cbx_edit_state *W, const cbx_move *moves, int64_t count)
{
    int64_t unusual = 0;
    for (int64_t k = 0; k < count; k++) {
        const cbx_move   *m = &moves[k];
        const cbx_column *column = column_of(W, m);
        unusual += column &&
                   cbx_column_is_left(column, cbx_edit_state_original(W, m->row, m->column), m->to);
    }
    return unusual;
}

/* The permitted value that is nearest to what it was. */
static float nearest(const cbx_edit_state *W, const cbx_move *m)
{
    float x = cbx_edit_state_original(W, m->row, m->column);
    return fmaxf(W->rules->lo[m->column], fminf(W->rules->hi[m->column], x));
}

/* The way from one of its values to the next; 0: there are values between. */
static double grid(const cbx_edit_state *W, const cbx_move *m)
{
    double            step = W->rules->step[m->column];
    const cbx_column *column = column_of(W, m);
    return step > 0 ? step : column && column->whole ? 1 : 0;
}

static float on_grid(const cbx_edit_state *W, const cbx_move *m, float value)
{
    return grid(W, m) > 0 ? cbx_rules_multiple(grid(W, m), value) : value;
}

float cbx_take_back_step(const cbx_edit_state *W, const cbx_move *m)
{
    const cbx_column *column = column_of(W, m);
    bool promised = column && nearest(W, m) == cbx_edit_state_original(W, m->row, m->column);
    return promised ? column->step : 0;
}

bool cbx_take_back_halfway(const cbx_edit_state *W, const cbx_move *m, cbx_move *halfway)
{
    if (!column_of(W, m))
        return false;
    *halfway = *m;
    halfway->to =
        on_grid(W, m,
                cbx_columns_between(W->rules->columns, m->column,
                                    cbx_edit_state_original(W, m->row, m->column), m->to));
    return halfway->to != m->to && cbx_move_may(W, halfway);
}

/* Is it strictly between? */
static bool is_between(float value, float a, float b)
{
    return a < b ? value > a && value < b : value > b && value < a;
}

bool cbx_take_back_value(const cbx_edit_state *W, const cbx_move *m, int k, float *value)
{
    float way = ldexpf(cbx_take_back_step(W, m), k);
    if (!(way > 0)) /* nor need it be a feature's */
        return false;
    float was = cbx_edit_state_original(W, m->row, m->column);
    *value = m->to > was ? m->to - way : m->to + way;
    if (W->rules->step[m->column] > 0)
        *value = cbx_rules_multiple(W->rules->step[m->column], *value);
    return is_between(*value, was, m->to);
}

float cbx_take_back_less(const cbx_edit_state *W, const cbx_move *m, float further)
{
    float step = column_of(W, m)->step * SHARE;
    if (grid(W, m) > 0)
        return m->to;
    return further > m->to ? m->to + step : m->to - step;
}

/* Does the best flip with another value of its k-th move? Leaves the graph so. */
static cbx_status flips_at(cbx_beam *F, int64_t k, float value, bool *out, cbx_error *err)
{
    cbx_move *m = &F->best.moves[k];
    float     to = m->to;
    cbx_edit_state_set_feature(F->W, m->row, m->column, value);
    m->to = value;
    F->best.score = cbx_edit_state_ask(F->W);
    cbx_status status = cbx_beam_flips(F, &F->best, out, err);
    m->to = to;
    return status;
}

/* Between a value that flips and one that does not, the last that flips. */
static cbx_status bisect(cbx_beam *F, int64_t k, float bad, cbx_error *err)
{
    cbx_move         *m = &F->best.moves[k];
    const cbx_column *column = column_of(F->W, m);
    if (!column) /* it has no values between */
        return CBX_OK;
    float enough = grid(F->W, m) > 0 ? (float)grid(F->W, m) : SHARE * column->step;
    while (fabsf(m->to - bad) > enough) {
        bool  flips = false;
        float middle = on_grid(F->W, m, bad + (m->to - bad) / 2);
        if (!is_between(middle, bad, m->to))
            break;
        cbx_status status = flips_at(F, k, middle, &flips, err);
        if (status || cbx_beam_out_of_time(F, F->s->epochs))
            return status;
        if (flips)
            m->to = middle;
        else
            bad = middle;
    }
    return CBX_OK;
}

/* The farthest of the values a step, two, four, … back that flips becomes the move's. `bad`: the
 * next after it, or what it was. */
static cbx_status jump(cbx_beam *F, int64_t k, bool *jumped, float *bad, cbx_error *err)
{
    cbx_move  *m = &F->best.moves[k];
    cbx_move   at = *m;
    float      value;
    cbx_status status = CBX_OK;
    *jumped = false;
    for (int i = 0; cbx_take_back_value(F->W, &at, i, &value) && !status; i++) {
        bool flips = false;
        status = flips_at(F, k, value, &flips, err);
        if (cbx_beam_out_of_time(F, F->s->epochs))
            return status;
        if (!status && flips) {
            float next;
            m->to = value;
            *jumped = true;
            *bad = cbx_take_back_value(F->W, &at, i + 1, &next)
                       ? next
                       : cbx_edit_state_original(F->W, m->row, m->column);
        }
    }
    return status;
}

/* Back to what is permitted, or as far as half of the way that is left, a quarter, and so on lead.
 */
static cbx_status halve(cbx_beam *F, int64_t k, cbx_error *err)
{
    cbx_move  *m = &F->best.moves[k];
    float      bad = nearest(F->W, m);
    bool       flips = false;
    cbx_status status = CBX_OK;
    if (bad != cbx_edit_state_original(F->W, m->row, m->column) && bad != m->to)
        status = flips_at(F, k, bad, &flips, err);
    m->to = !status && flips ? bad : m->to;
    return status ? status : bisect(F, k, bad, err);
}

/* One value, as far back as it goes. Leaves the graph with it. One that has been taken back before
 * can hardly go far. */
static cbx_status take_one_back(cbx_beam *F, int64_t k, cbx_error *err)
{
    cbx_move  *m = &F->best.moves[k];
    float      bad = m->to;
    cbx_status status = m->taken_back ? CBX_OK : halve(F, k, err);
    for (bool again = true; again && !status && !cbx_time_is_up();) {
        status = jump(F, k, &again, &bad, err);
        if (again && !status)
            status = bisect(F, k, bad, err);
    }
    cbx_edit_state_set_feature(F->W, m->row, m->column, m->to);
    return status;
}

typedef struct turn {
    int64_t k;
    double  price; /* lead that is lost on a way of one scale back */
} turn;

static int by_price(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return (x->k > y->k) - (x->k < y->k);
}

static int64_t make_turns(cbx_beam *F, turn *turns)
{
    const cbx_edit_state *W = F->W;
    int64_t               count = 0;
    (void)cbx_edit_state_slopes(F->W);
    for (int64_t k = 0; k < F->best.count; k++) {
        const cbx_move   *m = &F->best.moves[k];
        const cbx_column *column = column_of(W, m);
        if (!column)
            continue;
        double slope = (double)W->dX[(int64_t)m->row * W->f + m->column];
        double away = m->to > cbx_edit_state_original(W, m->row, m->column) ? 1 : -1;
        turns[count++] = (turn){k, slope * away * (double)column->scale};
    }
    qsort(turns, (size_t)count, sizeof *turns, by_price);
    return count;
}

cbx_status cbx_take_back(cbx_beam *F, cbx_error *err)
{
    bool moved = F->W->rules->columns && F->best.count <= CBX_BEAM_HUGE;
    if (!moved)
        return CBX_OK;
    turn      *turns = CBX_NEW(F->s->arena, turn, F->best.count);
    cbx_status status = turns ? CBX_OK : cbx_fail_memory(err);
    if (status)
        return status;
    cbx_beam_go_to(F, &F->best);
    for (int round = 0; round < ROUNDS && moved && !status && !cbx_time_is_up(); round++) {
        int64_t count = make_turns(F, turns);
        moved = false;
        for (int64_t i = 0; i < count && !status && !cbx_time_is_up(); i++) {
            cbx_move *m = &F->best.moves[turns[i].k];
            float     before = m->to;
            status = take_one_back(F, turns[i].k, err);
            moved = moved || fabsf(before - m->to) >= column_of(F->W, m)->step;
            m->taken_back = true;
        }
    }
    double score = cbx_edit_state_ask(F->W);
    F->best.score = isfinite(score) ? score : CBX_BEAM_SURE;
    cbx_move_set_copy(&F->here, &F->best); /* which is how the graph is */
    return cbx_search_status(status);
}
