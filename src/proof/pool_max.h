/* SPDX-License-Identifier: Apache-2.0 */
/* pool_max.h: bounds where the head sees the largest of each unit over a graph's nodes.
 *
 * That is a maximum as in maxima.h, of which no member goes or comes: every node is an edge that
 * stays, and its message is the unit behind its ReLU. */
#ifndef CBX_POOL_MAX_H
#define CBX_POOL_MAX_H

#include "lead_bound.h"

cbx_status cbx_pool_max_init(cbx_lead_bound *b, cbx_arena *arena, cbx_error *err);

/* After cbx_spread_compute: what choices do to the maxima of all layers that the head sees. -1: no
 * memory, or no time. */
int cbx_pool_max_compute(cbx_lead_bound *b);

/* What the head sees of layer l counts as b->before has it: adds that to the lead now, hands
 * weights on to rows, and to choices what they do beside. */
void cbx_pool_max_pass(cbx_lead_bound *b, int32_t l);

#endif
