/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_targets.h: the classes that the published program asks of graphs.
 *
 * It predicts all graphs in batches of 8, puts each batch before the ones it has, and gives the
 * k-th test graph the class after that of the k-th of this list, counted from 0, where k
 * begins at 1. So a graph gets another graph's target; where that is its own class already, it
 * counts as explained with nothing changed. A benchmark repeats it on request, to see how much of
 * the published figures this is. */
#ifndef CBX_BENCH_MIXED_TARGETS_H
#define CBX_BENCH_MIXED_TARGETS_H

#include "plan.h"

typedef struct cbx_mixed_targets {
    int32_t *prediction; /* of each graph; NULL: the fault is not asked for, or has no place here */
    int32_t *target;     /* of each graph that is one of the fold's; others: -1 */
} cbx_mixed_targets;

/* Of a fold and its oracle. */
cbx_status cbx_mixed_targets_init(cbx_mixed_targets *t, const cbx_bench_plan *plan, int32_t data,
                                  int32_t fold, const cbx_model *oracle, cbx_error *err);
void       cbx_mixed_targets_free(cbx_mixed_targets *t);

/* Where, in the program's list of `count` graphs, number `at` comes from. */
int32_t cbx_mixed_up(int32_t at, int32_t count);

#endif
