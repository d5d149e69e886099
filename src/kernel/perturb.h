/* SPDX-License-Identifier: Apache-2.0 */
/* perturb.h: from parameters to perturbed features, and back.
 *
 * Discrete features move by (hi - lo) tanh(P), continuous ones by P; both are
 * clamped to [lo, hi]. The thresholded value rounds a discrete move, ties to
 * even. The clamp passes the gradient inside the bounds and on them.
 *
 * All work on a run of entries: entry k has the original value x[k] and belongs
 * to feature column[k]. */
#ifndef CBX_PERTURB_H
#define CBX_PERTURB_H

#include <stdbool.h>
#include <stdint.h>

/* Per feature, f each. */
typedef struct cbx_feature_box {
    const float *lo, *hi;
    const float *span;     /* hi - lo */
    const float *discrete; /* 1 or 0 */
    bool         uniform;  /* all features are like the first */
} cbx_feature_box;

typedef struct cbx_perturb_sums {
    double  absolute; /* sum of |soft - x| over discrete features */
    double  squared;  /* sum of (soft - x)^2 over continuous ones */
    int64_t moved;    /* entries whose thresholded value is not `before` */
} cbx_perturb_sums;

/* move[] (tanh P, or P), soft[] and firm[] (thresholded) from x[] and P[]. */
cbx_perturb_sums cbx_perturb(int64_t count, const cbx_feature_box *box, const int32_t *column,
                             const float *x, const float *P, const float *before, float *move,
                             float *soft, float *firm);

/* grad[]: the derivative by P of the sum of dX[feature] * soft plus absolute *
 * |soft - x| or squared / 2 * (soft - x)^2. dX NULL: taken as 0. */
void cbx_perturb_backward(int64_t count, const cbx_feature_box *box, const int32_t *column,
                          float absolute, float squared, const float *x, const float *move,
                          const float *dX, float *grad);

/* tanh, for tests */
void cbx_tanh(int64_t count, const float *x, float *y);

#endif
