/* SPDX-License-Identifier: Apache-2.0 */
/* problems.h: all that is wrong or strange about a graph's arrays. */
#ifndef CBX_PROBLEMS_H
#define CBX_PROBLEMS_H

#include "combinex/kit.h"
#include "graph.h"

/* Errors in arrays that cbx_graph_index would refuse; how many. */
int64_t cbx_problems_errors(const cbx_graph_data *data, cbx_on_problem on_problem, void *user);

/* Warnings about a sound graph. */
cbx_status cbx_problems_warnings(const cbx_graph *graph, cbx_on_problem on_problem, void *user,
                                 cbx_error *err);

#endif
