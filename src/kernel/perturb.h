/* SPDX-License-Identifier: Apache-2.0 */
/* perturb.h: from parameters to perturbed features, and back.
 *
 * Discrete features move by (hi - lo) tanh(P), continuous ones by P; both are
 * clamped to [lo, hi]. The thresholded value rounds a discrete move, ties to
 * even. The clamp passes the gradient inside the bounds and on them.
 *
 * All work on a run of entries: entry k has the original value x[k] and belongs
 * to feature column[k]. move[k] is tanh P or P; soft and thresholded values follow
 * from it and are made only where someone needs them. */
#ifndef CBX_PERTURB_H
#define CBX_PERTURB_H

#include "kernel.h"

/* Per feature, f each. */
typedef struct cbx_feature_box {
    const float *lo, *hi;
    const float *span;     /* hi - lo */
    const float *discrete; /* 1 or 0 */
    bool         uniform;  /* all features of the entries are like the first */
    int32_t      first;    /* one of those */
    unsigned     faults;   /* of the published program, see below; 0: none */
} cbx_feature_box;

/* perturb_published.h. Whoever sets any makes a box that is not uniform. */
enum { CBX_FAULT_ROUNDING = 1, CBX_FAULT_SHIFT = 2, CBX_FAULT_LOSS = 4 };

typedef struct cbx_entries {
    const int32_t *column;
    const float   *x;
    float         *P, *move;
    float         *a, *b; /* the optimiser's */
    /* Of the entry's feature, for gathering them from the box takes longer than all else;
     * not looked at where the box is uniform. A span of 0 stands for a continuous feature. */
    const float *lo, *hi, *span;
} cbx_entries;

/* Entries one after the other, in pieces of which each belongs to one row: short rows would
 * take longer to call for than to compute. */
enum { CBX_MOST_PIECES = 32 };

typedef struct cbx_pieces {
    int32_t      count;
    int64_t      begin[CBX_MOST_PIECES + 1]; /* the first is 0; the last is the end of all */
    const float *dX[CBX_MOST_PIECES]; /* the row's gradient, by column; all or none NULL: 0 */
} cbx_pieces;

typedef struct cbx_perturb_sums {
    double  absolute; /* sum of |soft - x| over discrete features */
    double  squared;  /* sum of (soft - x)^2 over continuous ones */
    double  drift;    /* sum of (soft - what it was)^2 */
    int64_t idle;     /* entries with P = 0 */
    int64_t crossed;  /* entries whose thresholded value is not what it was */
} cbx_perturb_sums;

/* move[] from P[]; crossed[k] is by how much entry k's thresholded value changed. sums: of
 * each piece. */
void cbx_perturb(const cbx_pieces *pieces, const cbx_feature_box *box, const cbx_entries *e,
                 float *crossed, cbx_perturb_sums *sums);

/* grad[]: the derivative by P of the sum of dX[feature] * soft plus absolute *
 * |soft - x| or squared / 2 * (soft - x)^2. dX NULL: taken as 0. */
void cbx_perturb_backward(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                          float absolute, float squared, const float *dX, float *grad);

/* cbx_perturb_backward, a step of Adam and cbx_perturb, touching each entry once. */
void cbx_perturb_adam(const cbx_pieces *pieces, const cbx_feature_box *box, const cbx_entries *e,
                      float absolute, float squared, const cbx_adam_rates *adam, float *crossed,
                      cbx_perturb_sums *sums);

/* The values that the moves lead to. hard_values may be NULL: not wanted. */
void cbx_perturb_values(int64_t count, const cbx_feature_box *box, const cbx_entries *e,
                        float *soft, float *hard_values);

/* tanh (for tests), and 1 / (1 + e^-x); both to a few units in the seventh digit */
void cbx_tanh(int64_t count, const float *x, float *y);
void cbx_sigmoid(int64_t count, const float *x, float *y);

#endif
