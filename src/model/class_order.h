/* SPDX-License-Identifier: Apache-2.0 */
/* class_order.h: the classes of a row of log-probabilities, by how likely they are. */
#ifndef CBX_CLASS_ORDER_H
#define CBX_CLASS_ORDER_H

#include <stdint.h>

#include "internal.h"

/* The best, leaving out one (-1: none); the first of those that are equal. */
CBX_INTERNAL int32_t cbx_best_class(const float *logp, int32_t count, int32_t except);

/* The one after `last` (-1: the best), equal ones by number; -1 past the last. */
CBX_INTERNAL int32_t cbx_next_class(const float *logp, int32_t count, int32_t last);

#endif
