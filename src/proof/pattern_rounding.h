/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_rounding.h: by how much a model in single precision can differ from its formulas, on any
 * graph that removals leave: as rounding.h, with patterns. */
#ifndef CBX_PATTERN_ROUNDING_H
#define CBX_PATTERN_ROUNDING_H

#include "pattern_rows.h"

/* Of the lead of one class over another. Sets late where there is no memory. */
double cbx_pattern_rounding(cbx_patterns *f, int32_t ahead, int32_t behind);

#endif
