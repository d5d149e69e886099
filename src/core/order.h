/* SPDX-License-Identifier: Apache-2.0 */
/* order.h: whether this thread computes in one fixed order, for the same bits everywhere.
 *
 * As a rule sums are taken in whatever order the processor is fastest in, and products may be
 * fused with them, so that bits differ from one kind of processor to another. In the fixed order
 * every sum, product and elementary function is rounded alike on all of them.
 *
 * The choice is a property of a model. Whoever works with one fixes the order of his thread for
 * as long as that takes and puts back what was, also in the threads that he starts. Passing it on
 * by hand would take an argument in every layer, pass and method between the model and the
 * kernels, which are the only ones to ask. */
#ifndef CBX_ORDER_H
#define CBX_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

bool cbx_order_is_fixed(void);

/* From now on, in this thread. Returns what was, to be put back. */
CBX_INTERNAL bool cbx_order_fix(bool fixed);

/* ---- elementary functions: the C library's, or in the fixed order our own. C libraries differ,
 * and one of them may differ from processor to processor. */
CBX_INTERNAL double cbx_exp(double x);
double              cbx_log(double x);
double              cbx_cos_pi(double share); /* cos(pi share), share in [0, 1] */

/* Our own, whatever the order; to two units in the last place, but for powers, which lose up to
 * `times` of them. */
double cbx_own_exp(double x);
double cbx_own_log(double x);
double cbx_own_cos_pi(double share);
double cbx_own_power(double base, int64_t times); /* times >= 0 */

#endif
