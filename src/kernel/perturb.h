/* SPDX-License-Identifier: Apache-2.0 */
/* perturb.h: from parameters to perturbed features and edge weights, and back.
 *
 * Discrete features move by (hi - lo) tanh(P), continuous ones by P; both are
 * clamped to [lo, hi]. The thresholded value rounds a discrete move, ties to
 * even. The clamp passes the gradient inside the bounds and on them. */
#ifndef CBX_PERTURB_H
#define CBX_PERTURB_H

#include <stdbool.h>
#include <stdint.h>

/* Per feature, f each. */
typedef struct cbx_feature_box {
    const float *lo, *hi;
    const float *span;     /* hi - lo */
    const float *discrete; /* 1 or 0 */
} cbx_feature_box;

typedef struct cbx_perturb_sums {
    double  absolute; /* sum of |xp - x| over discrete features */
    double  squared;  /* sum of (xp - x)^2 over continuous ones */
    int64_t changed;  /* thresholded values that differ from x */
    bool    moved;    /* thresholded values that differ from the last call's */
} cbx_perturb_sums;

/* One row: move[] (tanh P, or P), xp[] and hard[] (thresholded; read first, to see
 * whether it moves) from x[] and P[]. */
cbx_perturb_sums cbx_perturb_row(int32_t f, const cbx_feature_box *box, const float *x,
                                 const float *P, float *move, float *xp, float *hard);

/* One row of the gradient with respect to P, in place of that with respect to xp:
 * adds absolute * sign(xp - x) or squared * (xp - x) and applies the chain rule. */
void cbx_perturb_row_backward(int32_t f, const cbx_feature_box *box, float absolute, float squared,
                              const float *x, const float *move, const float *xp, float *grad);

/* tanh, for tests */
void cbx_tanh(int64_t count, const float *x, float *y);

#endif
