/* SPDX-License-Identifier: Apache-2.0 */
/* real_math.h: functions of single precision that a compiler can compute for many elements at
 * once, which it cannot do with those of the C library. Within three units in the last place
 * of them, or 1e-7 for what lies between -1 and 1. */
#ifndef CBX_REAL_MATH_H
#define CBX_REAL_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^n for -126 <= n <= 127. */
static inline float cbx_power_of_two(int32_t n)
{
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float    f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* e^x = 2^n e^r with |r| <= log(2)/2; 2^n in two factors, which reach subnormals and infinity. */
static inline float cbx_expf(float x)
{
    float t = x > 89 ? 89 : x < -104 ? -104 : x; /* beyond are infinity and 0; NaN stays */
    float n = rintf(t * 1.44269504088896341f);
    float r = t - n * 0.693359375f + n * 2.12194440e-4f;
    float y = 1.9841270e-4f; /* 1/7! … 1/2!: the next term is below half a unit */
    y = y * r + 1.3888889e-3f;
    y = y * r + 8.3333333e-3f;
    y = y * r + 4.1666667e-2f;
    y = y * r + 1.6666667e-1f;
    y = y * r + 0.5f;
    y = y * r * r + r + 1;
    int32_t whole = n == n ? (int32_t)n : 0, half = whole >> 1;
    return y * cbx_power_of_two(half) * cbx_power_of_two(whole - half);
}

static inline float cbx_expm1f(float x)
{
    float small =
        x * (1 + x * (0.5f + x * (1.6666667e-1f + x * (4.1666667e-2f + x * 8.3333333e-3f))));
    float large = cbx_expf(x) - 1;
    return fabsf(x) < 0.1f ? small : large;
}

/* An odd series near 0, where 1 - 2 / (e^2x + 1) cancels. */
static inline float cbx_tanhf(float x)
{
    float s = x * x;
    float small =
        x * (1 + s * (-0.33333333f + s * (0.13333333f + s * (-0.053968254f + s * 0.021869489f))));
    float large = 1 - 2 / (cbx_expf(2 * fabsf(x)) + 1);
    return fabsf(x) < 0.25f ? small : copysignf(large, x);
}

/* Up to 1 an odd polynomial, beyond 1 - e^(-x^2) P(1 / (1 + x)); both fitted at Chebyshev nodes. */
static inline float cbx_erff(float x)
{
    float a = fabsf(x) > 4.5f ? 4.5f : fabsf(x), s = a * a, t = 1 / (1 + a);
    float small = 7.88249712e-5f;
    small = small * s - 8.01885499e-4f;
    small = small * s + 5.18931194e-3f;
    small = small * s - 2.68543288e-2f;
    small = small * s + 1.12835975e-1f;
    small = small * s - 3.76126269e-1f;
    small = small * s + 1.12837917f;
    float tail = 1.02481254f;
    tail = tail * t - 3.47184197f;
    tail = tail * t + 4.76918611f;
    tail = tail * t - 2.97751580f;
    tail = tail * t + 3.59270415e-1f;
    tail = tail * t + 1.65780957e-1f;
    tail = tail * t + 5.77498964e-1f;
    tail = tail * t + 5.63311433e-1f;
    tail = tail * t + 2.55253306e-5f;
    float y = a < 1 ? a * small : 1 - tail * cbx_expf(-s);
    return x != x ? x : copysignf(y, x);
}

#endif
