/* SPDX-License-Identifier: Apache-2.0 */
/* shown_groups.c: groups of features of which every node has exactly one, for people. */
#include "combinex/kit.h"
#include "error.h"
#include "one_hot.h"

cbx_status cbx_graph_one_hot(const cbx_graph *graph, int32_t *group, int32_t *count, cbx_error *err)
{
    for (int32_t j = 0; j < graph->data.num_features; j++)
        group[j] = -1;
    int32_t found = cbx_one_hot_find(&graph->data, false, 0, group);
    *count = found < 0 ? 0 : found;
    return found < 0 ? cbx_fail_memory(err) : CBX_OK;
}
