/* SPDX-License-Identifier: Apache-2.0 */
/* same_rows.h: answers to the same questions, out of a benchmark under the other protocol.
 *
 * Protocols differ in which features are discrete and in whether oracles are trained on
 * standardised ones. Of a data set whose features are all discrete and 0 or 1 both make the same
 * oracles and ask them the same, so that its answers need not be found twice. */
#ifndef CBX_BENCH_SAME_ROWS_H
#define CBX_BENCH_SAME_ROWS_H

#include "plan.h"

/* Puts the answers for such data sets that the benchmark in `from` has into a part of `folder`.
 * Fails where that benchmark was asked otherwise than this one in anything but the protocol and the
 * list of data sets. */
cbx_status cbx_bench_same_rows(const cbx_bench_plan *plan, const char *from, const char *folder,
                               cbx_error *err);

#endif
