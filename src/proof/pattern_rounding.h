/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_rounding.h: by how much a model in single precision can differ from its formulas, on any
 * graph that removals leave: as rounding.h, with patterns. */
#ifndef CBX_PATTERN_ROUNDING_H
#define CBX_PATTERN_ROUNDING_H

#include "pattern_rows.h"
#include "rounding.h"

typedef struct cbx_pattern_rounding {
    cbx_rounded of; /* the first row */
} cbx_pattern_rounding;

/* Of all units that the head sees; lives as long as the patterns do. -1: no memory. */
int cbx_pattern_round(cbx_patterns *f, cbx_pattern_rounding *out);

/* And of the lead of one class over another. */
double cbx_pattern_rounding_of(const cbx_pattern_rounding *r, int32_t ahead, int32_t behind);

#endif
