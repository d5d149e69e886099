/* SPDX-License-Identifier: Apache-2.0 */
/* rounding.h: by how much a model in single precision can differ from its formulas.
 *
 * A sum of n products is wrong by n units in the last place of the sum of their sizes at most,
 * whatever the order. So with every number taken without its sign, and every sum as long as the
 * longest, a model's formulas give what rounding can come to. */
#ifndef CBX_ROUNDING_H
#define CBX_ROUNDING_H

#include "spread.h"

typedef struct cbx_rounding {
    const cbx_net *net;
    double       **pooled; /* by layer: what the head sees of each unit at most, without signs */
    double        *weights, *sizes; /* scratch */
    double         share;           /* of a sum's size that can be wrong */
} cbx_rounding;

/* For all graphs of the spread's partial graph as it is now; its scales must be there. */
cbx_status cbx_rounding_init(cbx_rounding *r, const cbx_spread *s, cbx_arena *arena,
                             cbx_error *err);

/* Of the lead of class a over class b. */
double cbx_rounding_of(const cbx_rounding *r, int32_t a, int32_t b);

#endif
