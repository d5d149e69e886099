/* SPDX-License-Identifier: Apache-2.0 */
/* move_feature.c: a feature of a node, which is in no one-hot group, takes another value.
 *
 * Trying it goes to the bound that the derivative points to, and where that gains nothing halfway
 * (beam.c); what flips is taken back afterwards (take_back.h). Where its
 * values can be counted, walks and proofs pass all of them, else the two bounds. */
#include <math.h>

#include "deadline.h"
#include "move.h"

/* Multiplications in the time of looking at a feature. */
static const double ENTRY = 3;

static cbx_move make(const cbx_edit_state *W, int32_t row, int32_t column, float to, double gain)
{
    return (cbx_move){.kind = &cbx_move_feature,
                      .row = row,
                      .column = column,
                      .other = -1,
                      .pair = -1,
                      .to = to,
                      .cost = W->rules->price[column],
                      .gain = gain};
}

static double cost(const cbx_edit_state *W)
{
    double least = INFINITY;
    for (int32_t j = 0; j < W->f; j++)
        least = W->rules->fixed[j] ? least : fmin(least, W->rules->price[j]);
    return least;
}

/* The way from one of its values to the next, where they can be counted: by a rule, or because it
 * is discrete and every node's value is a whole number. Otherwise 0. */
static double grid(const cbx_edit_state *W, int32_t j)
{
    float lo = W->rules->lo[j], hi = W->rules->hi[j];
    if (W->rules->step[j] > 0)
        return W->rules->step[j];
    return W->rules->fractions[j] || !W->s->discrete[j] || lo != rintf(lo) || hi != rintf(hi) ? 0
                                                                                              : 1;
}

/* How many values a feature can take within its bounds; 0: they cannot be counted. */
static int32_t count_values(const cbx_edit_state *W, int32_t j)
{
    enum { MOST = 64 };
    double width = (double)W->rules->hi[j] - (double)W->rules->lo[j];
    double step = W->rules->fractions ? grid(W, j) : 0;
    return step > 0 && width <= (MOST + 0.5) * step ? (int32_t)rint(width / step) + 1 : 0;
}

static int prepare(cbx_edit_state *W, cbx_arena *arena)
{
    W->values = CBX_NEW(arena, int32_t, W->f);
    for (int32_t j = 0; W->values && j < W->f; j++) {
        if (cbx_out_of_time(ENTRY * W->rows))
            return -1;
        W->values[j] = count_values(W, j);
    }
    return W->values ? 0 : -1;
}

/* How far the feature may go for now. One that has no values between may go all the way. */
static float reach_of(const cbx_edit_state *W, int32_t j)
{
    const cbx_column *column = W->rules->columns ? &W->rules->columns->of[j] : NULL;
    if (!column || !(column->step > 0) || isinf(W->reach))
        return INFINITY;
    return column->whole ? floorf(W->reach * column->scale) : W->reach * column->scale;
}

/* Where a move may lead for now; from beyond it, no further away. */
static bool may_reach(const cbx_edit_state *W, int32_t column, float x, float to)
{
    float reach = reach_of(W, column);
    return to >= fmaxf(fminf(W->lo[column], x), x - reach) &&
           to <= fminf(fmaxf(W->hi[column], x), x + reach);
}

static bool may(const cbx_edit_state *W, const cbx_move *m)
{
    const cbx_rules *r = W->rules;
    float            x = W->x[(int64_t)m->row * W->f + m->column];
    return W->allowed_row[m->row] && !r->fixed[m->column] &&
           x == cbx_edit_state_original(W, m->row, m->column) && r->group[m->column] < 0 &&
           m->to != x && cbx_rules_value(r, m->column, x, m->to) &&
           may_reach(W, m->column, x, m->to);
}

static void apply(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_feature(W, m->row, m->column, m->to);
}

static void undo(cbx_edit_state *W, const cbx_move *m)
{
    cbx_edit_state_set_feature(W, m->row, m->column, cbx_edit_state_original(W, m->row, m->column));
}

static int64_t write(const cbx_edit_state *W, const cbx_move *m, cbx_edit *edits)
{
    edits[0] = cbx_search_edit_of_feature(W->s, m->row, m->column,
                                          cbx_edit_state_original(W, m->row, m->column), m->to);
    return 1;
}

/* The value that a move would give it; its own: there is no such move. */
static float best_value(const cbx_edit_state *W, int32_t column, float x, float slope)
{
    float lo = W->lo[column], hi = W->hi[column], reach = reach_of(W, column);
    bool  up = slope > 0;
    if (W->rules->way[column] & (up ? CBX_WAY_NOT_UP : CBX_WAY_NOT_DOWN))
        return x;
    if (x < lo || x > hi) /* bounds that the data breaks: back inside only */
        return x < lo ? (up ? hi : x) : (up ? x : lo);
    return up ? fminf(hi, x + reach) : fmaxf(lo, x - reach);
}

/* What other changes of the row wait for (cbx_edit_state_lacks): whatever it gains. */
static void offer_awaited(const cbx_edit_state *W, int32_t i, cbx_move_list *list)
{
    const cbx_rules *r = W->rules;
    for (int64_t k = 0; k < r->num_relations; k++) {
        const cbx_feature_set *with = &r->relations[k].with;
        if (!cbx_edit_state_lacks(W, i, &r->relations[k]))
            continue;
        for (int32_t j = with->first; j <= with->last; j++)
            for (int up = 0; up < 2; up++) {
                cbx_move m = make(W, i, j, up ? W->hi[j] : W->lo[j], CBX_AWAITED);
                if (cbx_rules_has(r, with, j) && may(W, &m))
                    cbx_move_list_add(list, &m);
            }
    }
}

/* Can the widest move there is of any of these features gain more than the least of the list? Most
 * rows end here, so it has no branch: compilers make vectors of it. */
static bool is_promising(const cbx_rules *r, const float *x, const float *d, int32_t first,
                         int32_t last, double least)
{
    const float  *lo = r->lo, *hi = r->hi;
    const double *price = r->price;
    double        most = -INFINITY;
    for (int32_t j = first; j < last; j++) {
        float  up = hi[j] > x[j] ? hi[j] : x[j], down = lo[j] < x[j] ? lo[j] : x[j];
        double above = (double)(fabsf(d[j]) * (up - down)) - least * price[j];
        most = above > most ? above : most;
    }
    return most > 0;
}

static void offer(const cbx_edit_state *W, int64_t i, cbx_move_list *list)
{
    enum { RUN = 64 };
    const cbx_rules *r = W->rules;
    const float     *x = W->x + i * W->f, *d = W->dX + i * W->f;
    double           least = cbx_move_list_least(list);
    for (int32_t first = 0; first < W->f; first += RUN) {
        int32_t last = W->f - first < RUN ? W->f : first + RUN;
        if (!is_promising(r, x, d, first, last, least))
            continue;
        for (int32_t j = first; j < last; j++) {
            if (r->group[j] >= 0 || !is_promising(r, x, d, j, j + 1, least))
                continue;
            float    to = best_value(W, j, x[j], d[j]);
            cbx_move m = make(W, (int32_t)i, j, to, (double)d[j] * (to - x[j]));
            if (!(m.gain > least * m.cost) || !may(W, &m))
                continue;
            cbx_move_list_add(list, &m);
            least = cbx_move_list_least(list);
        }
    }
    offer_awaited(W, (int32_t)i, list);
}

static bool next(const cbx_edit_state *W, cbx_move_walk *at, cbx_move *m)
{
    const cbx_rules *r = W->rules;
    int32_t          j = at->column, values = W->values[j];
    if (r->group[j] >= 0 || at->stage >= (values ? values : 2))
        return false;
    float x = W->x[(int64_t)at->row * W->f + j];
    float to = values ? (float)((double)r->lo[j] + at->stage * grid(W, j))
                      : best_value(W, j, x, at->stage ? 1 : -1);
    if (r->step[j] > 0)
        to = cbx_rules_multiple(r->step[j], to);
    at->stage++;
    *m = make(W, at->row, j, to, 0);
    return true;
}

/* Are all values that a mutable feature may take known? */
static bool is_listed(const cbx_edit_state *W)
{
    const cbx_rules *r = W->rules;
    for (int32_t j = 0; j < W->f; j++)
        if (!r->fixed[j] && r->lo[j] < r->hi[j] && !W->values[j])
            return false;
    return true;
}

static bool of_edit(const cbx_edit_state *W, const cbx_edit *e, const cbx_places *places,
                    cbx_move *m)
{
    if (e->op != CBX_SET_FEATURE)
        return false;
    int32_t i = cbx_places_find(places, e->node);
    if (i < 0 || i >= W->rows)
        return false;
    *m = make(W, i, e->feature, e->to, (double)e->influence);
    return true;
}

/* Whichever value it takes. */
static bool overlaps(const cbx_move *a, const cbx_move *b)
{
    return a->row == b->row && a->column == b->column;
}

/* A row is as likely as so many pairs. */
enum { ROW = 8 };

static int64_t ways(const cbx_edit_state *W)
{
    return (int64_t)W->rows * ROW;
}

static cbx_move draw(const cbx_edit_state *W, int64_t way, cbx_rng *rng)
{
    int32_t i = (int32_t)(way / ROW), j = (int32_t)cbx_rng_below(rng, (uint64_t)W->f);
    float   x = W->x[(int64_t)i * W->f + j], lo = W->rules->lo[j];
    return make(W, i, j, x > lo ? lo : W->rules->hi[j], 0);
}

const cbx_move_kind cbx_move_feature = {.site = CBX_AT_ENTRIES,
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
                                        .of_edit = of_edit,
                                        .overlaps = overlaps,
                                        .ways = ways,
                                        .draw = draw};
