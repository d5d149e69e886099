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
                   1.33314422036e-1f) * z - 3.33332819422e-1f) * z * x + x;
    /* e^t, t = 2|x| <= 20, beyond which tanh rounds to 1 */
    float t = a < 10.0f ? 2 * a : 20.0f;
    float k = rintf(t * 1.44269504f);
    float r = (t - k * 0.693359375f) + k * 2.12194440e-4f;
    float e = (((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r +
                 4.1665795894e-2f) * r + 1.6666665459e-1f) * r + 5.0000001201e-1f) * r * r + r + 1;
    int32_t bits = ((int32_t)k + 127) << 23;
    float   scale;
    memcpy(&scale, &bits, sizeof scale);
    float far = 1 - 2 / (e * scale + 1);
    return a < 0.625f ? near : copysignf(far, x);
}

CBX_HOT
void cbx_tanh(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = tanh_inline(x[i]);
}

static inline float clamp(float v, float lo, float hi)
{
    v = v < lo ? lo : v;
    return v > hi ? hi : v;
}

CBX_HOT
static void perturb(int32_t f, const float *restrict lo, const float *restrict hi,
                    const float *restrict span, const float *restrict discrete,
                    const float *restrict x, const float *restrict P, float *restrict move,
                    float *restrict xp, float *restrict hard, cbx_perturb_sums *sums)
{
    float   absolute = 0, squared = 0;
    int32_t changed = 0, moved = 0;
#pragma omp simd reduction(+ : absolute, squared, changed, moved)
    for (int32_t j = 0; j < f; j++) {
        bool  whole = discrete[j] != 0;
        float m = whole ? tanh_inline(P[j]) : P[j];
        float d = whole ? span[j] * m : m;
        float soft = clamp(x[j] + d, lo[j], hi[j]);
        float firm = clamp(x[j] + (whole ? rintf(d) : d), lo[j], hi[j]);
        float gap = soft - x[j];
        absolute += whole ? fabsf(gap) : 0;
        squared += whole ? 0 : gap * gap;
        changed += firm != x[j];
        moved += firm != hard[j];
        move[j] = m;
        xp[j] = soft;
        hard[j] = firm;
    }
    sums->absolute = (double)absolute;
    sums->squared = (double)squared;
    sums->changed = changed;
    sums->moved = moved != 0;
}

cbx_perturb_sums cbx_perturb_row(int32_t f, const cbx_feature_box *box, const float *x,
                                 const float *P, float *move, float *xp, float *hard)
{
    cbx_perturb_sums sums;
    perturb(f, box->lo, box->hi, box->span, box->discrete, x, P, move, xp, hard, &sums);
    return sums;
}

CBX_HOT
static void backward(int32_t f, const float *restrict lo, const float *restrict hi,
                     const float *restrict span, const float *restrict discrete, float absolute,
                     float squared, const float *restrict x, const float *restrict move,
                     const float *restrict xp, float *restrict grad)
{
    for (int32_t j = 0; j < f; j++) {
        bool  whole = discrete[j] != 0;
        float raw = x[j] + (whole ? span[j] * move[j] : move[j]);
        float gap = xp[j] - x[j];
        float sign = gap > 0 ? 1.0f : gap < 0 ? -1.0f : 0.0f;
        float g = grad[j] + (whole ? absolute * sign : squared * gap);
        float slope = whole ? span[j] * (1 - move[j] * move[j]) : 1;
        bool  inside = (raw >= lo[j]) & (raw <= hi[j]);
        grad[j] = inside ? g * slope : 0;
    }
}

void cbx_perturb_row_backward(int32_t f, const cbx_feature_box *box, float absolute, float squared,
                              const float *x, const float *move, const float *xp, float *grad)
{
    backward(f, box->lo, box->hi, box->span, box->discrete, absolute, squared, x, move, xp, grad);
}
