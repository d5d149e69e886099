/* SPDX-License-Identifier: Apache-2.0 */
/* both_ways.c: --symmetric for a graph that was read as it stands: a second one with more edges,
 * which borrows everything else from the first and owns it. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "graph.h"
#include "reading.h"

typedef struct backing {
    cbx_graph         *first;
    cbx_graph_builder *edges;
} backing;

static void release(void *user)
{
    backing *b = user;
    cbx_graph_free(b->first);
    cbx_graph_builder_free(b->edges);
    free(b);
}

static bool copy_edges(cbx_graph_builder *builder, const cbx_graph_data *d)
{
    builder->num_nodes = d->num_nodes;
    for (int64_t e = 0; e < d->num_edges; e++)
        if (!cbx_graph_builder_edge(builder, d->edge_source[e], d->edge_target[e]) ||
            (d->edge_weight && !cbx_floats_add(&builder->weight, d->edge_weight[e])))
            return false;
    return true;
}

/* *graph is the second one from here on. */
static cbx_status index_anew(cbx_graph *both, backing *b, cbx_graph **graph, cbx_error *err)
{
    *graph = both;
    both->backing = b;
    both->release = release;
    both->data = b->first->data;
    both->data.num_edges = (int64_t)b->edges->source.count;
    both->data.edge_source = b->edges->source.at;
    both->data.edge_target = b->edges->target.at;
    both->data.edge_weight = b->edges->weight.count ? b->edges->weight.at : NULL;
    return cbx_graph_index(both, err);
}

cbx_status cbx_reading_both_ways(cbx_graph **graph, cbx_error *err)
{
    if ((*graph)->data.edge_attr)
        return cbx_fail(err, CBX_INVALID,
                        "symmetric: the edges have attributes, which nobody knows of those that "
                        "would be added");
    backing           *b = calloc(1, sizeof *b);
    cbx_graph_builder *builder = cbx_graph_builder_new();
    cbx_graph         *both = cbx_graph_empty(err);
    cbx_status         status;
    if (!b || !builder || !both || !copy_edges(builder, &(*graph)->data)) {
        status = cbx_fail_memory(err);
    } else {
        builder->edge_rules = CBX_EDGES_BOTH_WAYS;
        status = cbx_graph_builder_order_edges(builder, err);
    }
    if (status) {
        cbx_graph_free(both);
        cbx_graph_builder_free(builder);
        free(b);
        return status;
    }
    *b = (backing){*graph, builder};
    return index_anew(both, b, graph, err);
}
