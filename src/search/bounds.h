/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h: bounds of features that are counted.
 *
 * A discrete feature that has whole numbers everywhere takes whole numbers only, so that its bounds
 * are whole numbers too, whatever they are said to be. A mask can call discrete what has
 * fractions; such a feature keeps its bounds. */
#ifndef CBX_BOUNDS_H
#define CBX_BOUNDS_H

#include "graph.h"

/* By feature: has any node a value of it that is no whole number? NULL: no memory. */
uint8_t *cbx_bounds_fractions(const cbx_graph_data *data, cbx_arena *arena);

/* Moves lo and hi inwards to whole numbers where that is so; they may cross. 0 on success. */
int cbx_bounds_round(const cbx_graph_data *data, const uint8_t *discrete, float *lo, float *hi,
                     cbx_arena *arena);

#endif
