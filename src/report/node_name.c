/* SPDX-License-Identifier: Apache-2.0 */
/* node_name.c: see node_name.h. */
#include "node_name.h"

#include <stdio.h>

#include "graph.h"

const char *cbx_node_name(cbx_node_number buffer, const cbx_graph *graph, int32_t node)
{
    const cbx_graph_data *d = graph ? &graph->data : NULL;
    if (d && d->node_names)
        return d->node_names[node];
    if (d && d->task == CBX_GRAPH)
        node -= (int32_t)d->graph_ptr[cbx_graph_of_node(graph, node)];
    (void)snprintf(buffer, sizeof(cbx_node_number), "%d", (int)node);
    return buffer;
}
