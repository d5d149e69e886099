/* SPDX-License-Identifier: Apache-2.0 */
/* rounding.h: by how much a model in single precision can differ from its formulas.
 *
 * A sum of n products is wrong by n units in the last place of the sum of their sizes at most,
 * whatever the order, and by what its terms are wrong. From the features on that gives for every
 * unit what it can be wrong by, on any graph of a partial graph. */
#ifndef CBX_ROUNDING_H
#define CBX_ROUNDING_H

#include <float.h>

#include "spread.h"

/* What a number in single precision is wrong by, of its size. */
#define CBX_ROUNDING_UNIT ((double)FLT_EPSILON / 2)

typedef struct cbx_rounding {
    const cbx_spread *spread;
    double          **error, **size; /* by layer, of units behind their ReLUs: rows x width */
    int32_t          *rows;          /* by layer: which of them the head sees */
    double           *message_error, *message_size, *own_error, *own_size; /* scratch */
    double           *weights, *sizes;                                     /* scratch */
    bool              lost; /* some unit may be too large for the model's numbers */
} cbx_rounding;

cbx_status cbx_rounding_init(cbx_rounding *r, const cbx_spread *spread, cbx_arena *arena,
                             cbx_error *err);

/* After cbx_spread_compute: by how much each unit can be wrong. */
void cbx_rounding_compute(cbx_rounding *r);

/* And the lead of class a over class b. */
double cbx_rounding_of(const cbx_rounding *r, int32_t a, int32_t b);

/* Units that the head sees, of some rows: by layer, rows x width, behind their ReLUs. */
typedef struct cbx_rounded {
    const cbx_net *net;
    double *const *error, *const *size; /* what a unit can be wrong by, and how large it can be */
    const int32_t *rows;                /* by layer */
    double        *weights, *sizes;     /* scratch, of the widest layer */
    bool           lost;                /* some unit may be too large for the model's numbers */
} cbx_rounded;

/* The same of such units. */
double cbx_rounding_of_head(const cbx_rounded *of, int32_t a, int32_t b);

/* Could a sum of terms of this size, or what it is multiplied by next, be more than the model's
 * numbers hold? Then nothing is known of it. Also true of what is no number. */
static inline bool cbx_rounding_is_lost(double size)
{
    return !(size < (double)FLT_MAX / 4);
}

/* Of the difference of two log-probabilities, where no score is larger than that: each is a score
 * less the largest, less a logarithm. */
double cbx_rounding_of_softmax(double score, int32_t num_classes);

#endif
