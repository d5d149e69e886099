/* SPDX-License-Identifier: Apache-2.0 */
/* adam.h: Adam's step for one parameter, for loops that do more than that. By value, so
 * that they vectorise. */
#ifndef CBX_ADAM_H
#define CBX_ADAM_H

#include <math.h>

#include "kernel.h"

#define CBX_INLINE static inline __attribute__((always_inline))

CBX_INLINE float cbx_adam_mean(cbx_adam_rates r, float g, float m)
{
    return r.beta1 * m + (1 - r.beta1) * g;
}

CBX_INLINE float cbx_adam_square(cbx_adam_rates r, float g, float v)
{
    return r.beta2 * v + (1 - r.beta2) * g * g;
}

/* What theta falls by, of the new mean and square. */
CBX_INLINE float cbx_adam_fall(cbx_adam_rates r, float m, float v)
{
    return r.step * m / (sqrtf(v) * r.root + r.eps);
}

#endif
