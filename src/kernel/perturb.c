/* SPDX-License-Identifier: Apache-2.0 */
/* perturb.c: see perturb.h. These loops touch every feature value of a
 * neighbourhood in every epoch, so they are written to vectorise: no calls, no
 * branches, reductions that OpenMP may reorder within a row. */
#include "perturb.h"

#include <math.h>
#include <string.h>

#include "adam.h"
#include "lanes.h"
#include "perturb_published.h"

static inline float clamp(float v, float lo, float hi)
{
    v = v < lo ? lo : v;
    return v > hi ? hi : v;
}

/* tanh to a few units in the last place: x p(x^2) / q(x^2), the best such quotient up
 * to 9.1, beyond which tanh rounds to 1. libm's costs a call an entry, which is most of
 * an epoch. */
static inline float tanh_inline(float x)
{
    float a = clamp(x, -9.1f, 9.1f), z = a * a;
    float p =
        ((((1.317592806e-8f) * z + 2.048003765e-5f) * z + 0.003487742482f) * z + 0.1337441832f) *
            z +
        0.9999999774f;
    float q =
        ((((7.703392214e-7f) * z + 0.0003272806902f) * z + 0.02584713015f) * z + 0.4670773218f) *
            z +
        1;
    return clamp(a * p / q, -1, 1);
}

CBX_HOT
static void tanh_run(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = tanh_inline(x[i]);
}

void cbx_tanh(int64_t count, const float *x, float *y)
{
    tanh_run(count, x, y);
}

CBX_HOT
static void sigmoid_run(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = 0.5f + 0.5f * tanh_inline(0.5f * x[i]);
}

void cbx_sigmoid(int64_t count, const float *x, float *y)
{
    sigmoid_run(count, x, y);
}

/* The features of a run, known when these loops are compiled: one way or another
 * for all of them (scalars, no selection), or each its own. */
typedef enum kinds { ALL_DISCRETE, ALL_CONTINUOUS, MIXED } kinds;

static kinds kind_of(const cbx_feature_box *box)
{
    return !box->uniform ? MIXED : box->discrete[box->first] != 0 ? ALL_DISCRETE : ALL_CONTINUOUS;
}

/* What the loops know of entry k's feature. */
typedef struct limits {
    float lo, hi, span;
    bool  whole;
} limits;

typedef struct bounds {
    const float *restrict lo, *restrict hi, *restrict span; /* by entry */
    limits first;
} bounds;

CBX_INLINE bounds unpack(const cbx_feature_box *b, const cbx_entries *e)
{
    limits first = {b->lo[b->first], b->hi[b->first], b->span[b->first], true};
    return (bounds){e->lo, e->hi, e->span, first};
}

CBX_INLINE limits limits_of(kinds kind, bounds b, int64_t k)
{
    limits l = b.first;
    l.whole = kind == ALL_DISCRETE;
    if (kind == MIXED)
        l = (limits){b.lo[k], b.hi[k], b.span[k], b.span[k] != 0};
    return l;
}

CBX_INLINE float soft_of(limits l, float x, float move)
{
    return clamp(x + (l.whole ? l.span * move : move), l.lo, l.hi);
}

CBX_INLINE float hard_of(limits l, float x, float move)
{
    return clamp(x + (l.whole ? rintf(l.span * move) : move), l.lo, l.hi);
}

CBX_INLINE float move_of(kinds kind, limits l, float P)
{
    float t = kind == ALL_CONTINUOUS ? 0 : tanh_inline(P);
    return l.whole ? t : P;
}

CBX_INLINE float gradient_of(limits l, float absolute, float squared, float x, float move,
                             float pull)
{
    float raw = x + (l.whole ? l.span * move : move);
    float gap = clamp(raw, l.lo, l.hi) - x;
    float sign = gap > 0 ? 1.0f : gap < 0 ? -1.0f : 0.0f;
    float g = (l.whole ? absolute * sign : squared * gap) + pull;
    float slope = l.whole ? l.span * (1 - move * move) : 1;
    bool  inside = (raw >= l.lo) & (raw <= l.hi);
    return inside ? g * slope : 0;
}

/* What one entry adds to the sums of its piece. */
typedef struct share {
    float   absolute, squared, drift;
    int32_t crossed, idle;
} share;

/* The arrays of a run, told to the compiler not to overlap. */
typedef struct run {
    const int32_t *restrict column;
    const float *restrict xs;
    float *restrict P, *restrict moves, *restrict m, *restrict v, *restrict crossed;
    float          absolute, squared;
    cbx_adam_rates rates;
} run;

/* `steps`: P takes its step of Adam first; otherwise it has taken it. */
CBX_INLINE share perturb_entry(kinds kind, bool steps, bool pull, bounds b, run r,
                               const float *restrict dX, int64_t k)
{
    limits l = limits_of(kind, b, k);
    float  x = r.xs[k], before = r.moves[k], theta = r.P[k];
    if (steps) {
        float g = gradient_of(l, r.absolute, r.squared, x, before, pull ? dX[r.column[k]] : 0);
        r.m[k] = cbx_adam_mean(r.rates, g, r.m[k]);
        r.v[k] = cbx_adam_square(r.rates, g, r.v[k]);
        theta -= cbx_adam_fall(r.rates, r.m[k], r.v[k]);
        r.P[k] = theta;
    }
    float move = move_of(kind, l, theta), soft = soft_of(l, x, move);
    float gap = soft - x, step = soft - soft_of(l, x, before);
    float change = hard_of(l, x, move) - hard_of(l, x, before);
    r.crossed[k] = change;
    r.moves[k] = move;
    return (share){l.whole ? fabsf(gap) : 0, l.whole ? 0 : gap * gap, step * step, change != 0,
                   theta == 0};
}

/* The entries begin … end - 1, and their shares added up. */
#ifdef CBX_FIXED_ORDER
typedef struct lanes_of_shares {
    float   absolute[CBX_LANES], squared[CBX_LANES], drift[CBX_LANES];
    int32_t crossed[CBX_LANES], idle[CBX_LANES];
} lanes_of_shares;

CBX_INLINE void perturb_lanes(kinds kind, bool steps, bool pull, bounds b, run r,
                              const float *restrict dX, int64_t at, int lanes,
                              lanes_of_shares *restrict s)
{
#pragma omp simd
    for (int l = 0; l < lanes; l++) {
        share one = perturb_entry(kind, steps, pull, b, r, dX, at + l);
        s->absolute[l] += one.absolute;
        s->squared[l] += one.squared;
        s->drift[l] += one.drift;
        s->crossed[l] += one.crossed;
        s->idle[l] += one.idle;
    }
}

CBX_INLINE share perturb_piece(kinds kind, bool steps, bool pull, bounds b, run r,
                               const float *restrict dX, int64_t begin, int64_t end)
{
    lanes_of_shares s = {.absolute = {0}};
    for (; begin + CBX_LANES <= end; begin += CBX_LANES)
        perturb_lanes(kind, steps, pull, b, r, dX, begin, CBX_LANES, &s);
    perturb_lanes(kind, steps, pull, b, r, dX, begin, (int)(end - begin), &s);
    share all = {cbx_lanes_sum(s.absolute), cbx_lanes_sum(s.squared), cbx_lanes_sum(s.drift), 0, 0};
    for (int l = 0; l < CBX_LANES; l++) {
        all.crossed += s.crossed[l];
        all.idle += s.idle[l];
    }
    return all;
}
#else
CBX_INLINE share perturb_piece(kinds kind, bool steps, bool pull, bounds b, run r,
                               const float *restrict dX, int64_t begin, int64_t end)
{
    float   absolute = 0, squared = 0, drift = 0;
    int32_t crossed = 0, idle = 0;
#pragma omp simd reduction(+ : absolute, squared, drift, crossed, idle)
    for (int64_t k = begin; k < end; k++) {
        share one = perturb_entry(kind, steps, pull, b, r, dX, k);
        absolute += one.absolute;
        squared += one.squared;
        drift += one.drift;
        crossed += one.crossed;
        idle += one.idle;
    }
    return (share){absolute, squared, drift, crossed, idle};
}
#endif

CBX_INLINE void perturb_run(kinds kind, bool steps, bool pull, const cbx_pieces *pieces,
                            const cbx_feature_box *features, const cbx_entries *e, float absolute,
                            float squared, const cbx_adam_rates *rates, float *restrict crossed,
                            cbx_perturb_sums *sums)
{
    const bounds b = unpack(features, e);
    const run r = {e->column, e->x, e->P, e->move, e->a, e->b, crossed, absolute, squared, *rates};
    for (int32_t piece = 0; piece < pieces->count; piece++) {
        share all = perturb_piece(kind, steps, pull, b, r, pieces->dX[piece], pieces->begin[piece],
                                  pieces->begin[piece + 1]);
        sums[piece] = (cbx_perturb_sums){(double)all.absolute, (double)all.squared,
                                         (double)all.drift, all.idle, all.crossed};
    }
}

CBX_INLINE void backward_run(kinds kind, bool pull, int64_t count, const cbx_feature_box *features,
                             const cbx_entries *e, float absolute, float squared,
                             const float *restrict dX, float *restrict grad)
{
    const bounds b = unpack(features, e);
    const int32_t *restrict column = e->column;
    const float *restrict x = e->x, *restrict move = e->move;
    for (int64_t k = 0; k < count; k++) {
        limits l = limits_of(kind, b, k);
        grad[k] = gradient_of(l, absolute, squared, x[k], move[k], pull ? dX[column[k]] : 0);
    }
}

CBX_INLINE void values_run(kinds kind, int64_t count, const cbx_feature_box *features,
                           const cbx_entries *e, float *restrict soft, float *restrict hard_values)
{
    const bounds b = unpack(features, e);
    const float *restrict x = e->x, *restrict move = e->move;
    for (int64_t k = 0; k < count; k++)
        soft[k] = soft_of(limits_of(kind, b, k), x[k], move[k]);
    for (int64_t k = 0; k < count && hard_values; k++)
        hard_values[k] = hard_of(limits_of(kind, b, k), x[k], move[k]);
}

/* The loops above, compiled for one kind of features each. */
#define KIND(name, kind)                                                                      \
    CBX_HOT static void perturb_##name(const cbx_pieces *pieces, const cbx_feature_box *box,  \
                                       const cbx_entries *e, float *crossed,                  \
                                       cbx_perturb_sums *sums)                                \
    {                                                                                         \
        const cbx_adam_rates none = {0};                                                      \
        perturb_run(kind, false, false, pieces, box, e, 0, 0, &none, crossed, sums);          \
    }                                                                                         \
    CBX_HOT static void adam_##name(const cbx_pieces *pieces, const cbx_feature_box *box,     \
                                    const cbx_entries *e, float absolute, float squared,      \
                                    const cbx_adam_rates *rates, float *crossed,              \
                                    cbx_perturb_sums *sums)                                   \
    {                                                                                         \
        if (pieces->dX[0])                                                                    \
            perturb_run(kind, true, true, pieces, box, e, absolute, squared, rates, crossed,  \
                        sums);                                                                \
        else                                                                                  \
            perturb_run(kind, true, false, pieces, box, e, absolute, squared, rates, crossed, \
                        sums);                                                                \
    }                                                                                         \
    CBX_HOT static void backward_##name(int64_t count, const cbx_feature_box *box,            \
                                        const cbx_entries *e, float absolute, float squared,  \
                                        const float *dX, float *grad)                         \
    {                                                                                         \
        if (dX)                                                                               \
            backward_run(kind, true, count, box, e, absolute, squared, dX, grad);             \
        else                                                                                  \
            backward_run(kind, false, count, box, e, absolute, squared, dX, grad);            \
    }                                                                                         \
    CBX_HOT static void values_##name(int64_t count, const cbx_feature_box *box,              \
                                      const cbx_entries *e, float *soft, float *hard_values)  \
    {                                                                                         \
        values_run(kind, count, box, e, soft, hard_values);                                   \
    }
KIND(discrete, ALL_DISCRETE)
KIND(continuous, ALL_CONTINUOUS)
KIND(mixed, MIXED)

/* Calls the one for the kinds of `box`. */
#define BY_KIND(function, published, ...)       \
    do {                                        \
        kinds kind = kind_of(box);              \
        if (box->faults)                        \
            published(__VA_ARGS__);             \
        else if (kind == ALL_DISCRETE)          \
            function##_discrete(__VA_ARGS__);   \
        else if (kind == ALL_CONTINUOUS)        \
            function##_continuous(__VA_ARGS__); \
        else                                    \
            function##_mixed(__VA_ARGS__);      \
    } while (0)

void cbx_perturb(const cbx_pieces *pieces, const cbx_feature_box *box, const cbx_entries *e,
                 float *crossed, cbx_perturb_sums *sums)
{
    BY_KIND(perturb, cbx_published_perturb, pieces, box, e, crossed, sums);
}

void cbx_perturb_adam(const cbx_pieces *pieces, const cbx_feature_box *box, const cbx_entries *e,
                      float absolute, float squared, const cbx_adam_rates *adam, float *crossed,
                      cbx_perturb_sums *sums)
{
    BY_KIND(adam, cbx_published_adam, pieces, box, e, absolute, squared, adam, crossed, sums);
}

void cbx_perturb_backward(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                          float absolute, float squared, const float *dX, float *grad)
{
    BY_KIND(backward, cbx_published_backward, count, box, e, absolute, squared, dX, grad);
}

void cbx_perturb_values(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                        float *soft, float *hard_values)
{
    BY_KIND(values, cbx_published_values, count, box, e, soft, hard_values);
}
