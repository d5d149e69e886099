/* SPDX-License-Identifier: Apache-2.0 */
/* node_name.c: see node_name.h. */
#include "node_name.h"

#include <stdio.h>

#include "graph.h"

/* The first node of the graph that has this one. */
static int32_t first_of_graph(const cbx_graph_data *d, int32_t node)
{
    int32_t lo = 0, hi = d->num_graphs;
    while (hi - lo > 1) {
        int32_t middle = lo + (hi - lo) / 2;
        if (d->graph_ptr[middle] <= node)
            lo = middle;
        else
            hi = middle;
    }
    return (int32_t)d->graph_ptr[lo];
}

const char *cbx_node_name(cbx_node_number buffer, const cbx_graph *graph, int32_t node)
{
    const cbx_graph_data *d = graph ? &graph->data : NULL;
    if (d && d->node_names)
        return d->node_names[node];
    if (d && d->task == CBX_GRAPH)
        node -= first_of_graph(d, node);
    (void)snprintf(buffer, sizeof(cbx_node_number), "%d", (int)node);
    return buffer;
}
