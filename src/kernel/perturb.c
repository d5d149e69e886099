/* SPDX-License-Identifier: Apache-2.0 */
/* perturb.c: see perturb.h. These loops touch every feature value of a
 * neighbourhood in every epoch, so they are written to vectorise: no calls, no
 * branches, reductions that OpenMP may reorder within a row. */
#include "perturb.h"

#include <math.h>
#include <string.h>

#include "kernel.h"

/* tanh to about 2 units in the last place, by selection instead of branches: an
 * odd polynomial near 0 and 1 - 2 / (e^2x + 1) elsewhere. libm's costs a call an
 * entry, which is most of an epoch. */
static inline float tanh_inline(float x)
{
    float a = fabsf(x), z = x * x;
    float near = ((((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z +
                   1.33314422036e-1f) *
                      z -
                  3.33332819422e-1f) *
                     z * x +
                 x;
    /* e^t, t = 2|x| <= 20, beyond which tanh rounds to 1 */
    float t = a < 10.0f ? 2 * a : 20.0f;
    float k = rintf(t * 1.44269504f);
    float r = (t - k * 0.693359375f) + k * 2.12194440e-4f;
    float e = (((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r +
                 4.1665795894e-2f) *
                    r +
                1.6666665459e-1f) *
                   r +
               5.0000001201e-1f) *
                  r * r +
              r + 1;
    int32_t bits = ((int32_t)k + 127) << 23;
    float   scale;
    memcpy(&scale, &bits, sizeof scale);
    float far = 1 - 2 / (e * scale + 1);
    return a < 0.625f ? near : copysignf(far, x);
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

static inline float clamp(float v, float lo, float hi)
{
    v = v < lo ? lo : v;
    return v > hi ? hi : v;
}

/* The features of a run, known when these loops are compiled: one way or another
 * for all of them (scalars, no selection), or each its own (gathers). */
typedef enum kinds { ALL_DISCRETE, ALL_CONTINUOUS, MIXED } kinds;

static kinds kind_of(const cbx_feature_box *box)
{
    return !box->uniform ? MIXED : box->discrete[0] != 0 ? ALL_DISCRETE : ALL_CONTINUOUS;
}

/* lo, hi, span and whole of entry k */
#define LIMITS(kind)                                                                  \
    int32_t j = (kind) != MIXED ? 0 : column[k];                                      \
    float   lo = (kind) != MIXED ? lo0 : los[j], hi = (kind) != MIXED ? hi0 : his[j]; \
    float   span = (kind) != MIXED ? span0 : spans[j];                                \
    bool    whole = (kind) == ALL_DISCRETE || ((kind) == MIXED && discrete[j] != 0)

#define UNPACK(box)                                                   \
    const float *restrict los = (box)->lo, *restrict his = (box)->hi, \
                          *restrict spans = (box)->span;              \
    const float *restrict discrete = (box)->discrete;                 \
    const float lo0 = los[0], hi0 = his[0], span0 = spans[0];         \
    (void)discrete

static inline __attribute__((always_inline)) void
perturb_run(kinds kind, int64_t count, const cbx_feature_box *box, const int32_t *restrict column,
            const float *restrict x, const float *restrict P, const float *restrict before,
            float *restrict move, float *restrict soft, float *restrict firm,
            cbx_perturb_sums *sums)
{
    UNPACK(box);
    float   absolute = 0, squared = 0;
    int32_t moved = 0;
#pragma omp simd reduction(+ : absolute, squared, moved)
    for (int64_t k = 0; k < count; k++) {
        LIMITS(kind);
        float t = (kind) == ALL_CONTINUOUS ? 0 : tanh_inline(P[k]);
        float m = whole ? t : P[k];
        float d = whole ? span * m : m;
        float s = clamp(x[k] + d, lo, hi);
        float h = clamp(x[k] + (whole ? rintf(d) : d), lo, hi);
        float gap = s - x[k];
        absolute += whole ? fabsf(gap) : 0;
        squared += whole ? 0 : gap * gap;
        moved += h != before[k];
        move[k] = m;
        soft[k] = s;
        firm[k] = h;
    }
    *sums = (cbx_perturb_sums){(double)absolute, (double)squared, moved};
}

static inline __attribute__((always_inline)) void
backward_run(kinds kind, bool pull, int64_t count, const cbx_feature_box *box,
             const int32_t *restrict column, float absolute, float squared, const float *restrict x,
             const float *restrict move, const float *restrict dX, float *restrict grad)
{
    UNPACK(box);
    for (int64_t k = 0; k < count; k++) {
        LIMITS(kind);
        float raw = x[k] + (whole ? span * move[k] : move[k]);
        float gap = clamp(raw, lo, hi) - x[k];
        float sign = gap > 0 ? 1.0f : gap < 0 ? -1.0f : 0.0f;
        float g = whole ? absolute * sign : squared * gap;
        g += pull ? dX[column[k]] : 0;
        float slope = whole ? span * (1 - move[k] * move[k]) : 1;
        bool  inside = (raw >= lo) & (raw <= hi);
        grad[k] = inside ? g * slope : 0;
    }
}

#define PERTURB(name, kind)                                                                        \
    CBX_HOT static void perturb_##name(int64_t count, const cbx_feature_box *box,                  \
                                       const int32_t *column, const float *x, const float *P,      \
                                       const float *before, float *move, float *soft, float *firm, \
                                       cbx_perturb_sums *sums)                                     \
    {                                                                                              \
        perturb_run(kind, count, box, column, x, P, before, move, soft, firm, sums);               \
    }                                                                                              \
    CBX_HOT static void backward_##name(                                                           \
        int64_t count, const cbx_feature_box *box, const int32_t *column, float absolute,          \
        float squared, const float *x, const float *move, const float *dX, float *grad)            \
    {                                                                                              \
        if (dX)                                                                                    \
            backward_run(kind, true, count, box, column, absolute, squared, x, move, dX, grad);    \
        else                                                                                       \
            backward_run(kind, false, count, box, column, absolute, squared, x, move, dX, grad);   \
    }
PERTURB(discrete, ALL_DISCRETE)
PERTURB(continuous, ALL_CONTINUOUS)
PERTURB(mixed, MIXED)

cbx_perturb_sums cbx_perturb(int64_t count, const cbx_feature_box *box, const int32_t *column,
                             const float *x, const float *P, const float *before, float *move,
                             float *soft, float *firm)
{
    cbx_perturb_sums sums;
    switch (kind_of(box)) {
    case ALL_DISCRETE:
        perturb_discrete(count, box, column, x, P, before, move, soft, firm, &sums);
        break;
    case ALL_CONTINUOUS:
        perturb_continuous(count, box, column, x, P, before, move, soft, firm, &sums);
        break;
    default:
        perturb_mixed(count, box, column, x, P, before, move, soft, firm, &sums);
    }
    return sums;
}

void cbx_perturb_backward(int64_t count, const cbx_feature_box *box, const int32_t *column,
                          float absolute, float squared, const float *x, const float *move,
                          const float *dX, float *grad)
{
    switch (kind_of(box)) {
    case ALL_DISCRETE:
        backward_discrete(count, box, column, absolute, squared, x, move, dX, grad);
        break;
    case ALL_CONTINUOUS:
        backward_continuous(count, box, column, absolute, squared, x, move, dX, grad);
        break;
    default:
        backward_mixed(count, box, column, absolute, squared, x, move, dX, grad);
    }
}
