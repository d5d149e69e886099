/* SPDX-License-Identifier: Apache-2.0 */
/* one_hot.h: groups of neighbouring features of which every node has exactly one. */
#ifndef CBX_ONE_HOT_H
#define CBX_ONE_HOT_H

#include "graph.h"

/* Gives each feature of a group that the values show its number, from `first` on, in `group`, which
 * has a number of 0 or more for features that are in one already, and those are let be. `sure`:
 * only groups that are no chance. Returns how many were found; -1: no memory. */
CBX_INTERNAL int32_t cbx_one_hot_find(const cbx_graph_data *d, bool sure, int32_t first,
                                      int32_t *group);

#endif
