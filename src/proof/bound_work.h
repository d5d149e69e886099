/* SPDX-License-Identifier: Apache-2.0 */
/* bound_work.h: what a bound takes, told without computing one. */
#ifndef CBX_BOUND_WORK_H
#define CBX_BOUND_WORK_H

#include "net.h"
#include "partial_graph.h"

typedef struct cbx_bound_work {
    double bound; /* multiplications or so of one bound (lead_bound.h) at most */
    double pass;  /* those of asking the model */
} cbx_bound_work;

/* Numbers that depend on nothing but the question: who decides by them decides alike on every
 * machine, however busy. -1: no memory. */
int cbx_bound_work_of(const cbx_net *net, const cbx_partial_graph *graph, cbx_arena *arena,
                      cbx_bound_work *out);

#endif
