/* SPDX-License-Identifier: Apache-2.0 */
/* added.h: a graph with some edges more, without copying it.
 *
 * Such a graph shares all arrays with the one it was made from. Views are cut out of it as out of
 * any other, and have its new edges; whoever looks at its arrays sees the old ones only. */
#ifndef CBX_ADDED_H
#define CBX_ADDED_H

#include "graph.h"

/* In the order of their targets, and for each target of their ids. The i-th has the id
 * data.num_edges + id[i]: new edges are numbered in the order of the edits. */
struct cbx_added_edges {
    int64_t  count;
    int32_t *source, *target;
    int64_t *id;
    float   *weight;
    bool     weighted; /* one of them is not 1 */
};

/* The graph with the edges that the edits add, the weights that they set, and attributes for edges
 * of the nodes that they add (with_nodes.h), behind all others; edits of other kinds are ignored.
 * Fails where an edge cannot be: a node that is not there, or the same twice, another graph, an
 * edge that is there already, a weight that is none. Memory of `arena`, and the old graph's;
 * nothing is to be freed.
 */
CBX_INTERNAL cbx_status cbx_graph_with_edges(const cbx_graph *graph, const cbx_edit *edits,
                                             int64_t count, cbx_arena *arena, cbx_graph *out,
                                             cbx_error *err);

/* Does one of the edits remove this node? */
bool cbx_edits_remove_node(const cbx_edit *edits, int64_t count, int32_t node);

/* The weight of an edge that nothing else is said of: the median, or 1 where there are none.
 * NaN: no memory. */
float cbx_graph_usual_weight(const cbx_graph *graph);

/* Edges into a node: the graph's own, and then what was added. */
typedef struct cbx_in_edges {
    int64_t begin, own, added, count;
} cbx_in_edges;

typedef struct cbx_in_edge {
    int32_t source;
    float   weight;
    int64_t id;
} cbx_in_edge;

cbx_in_edges cbx_graph_in_edges(const cbx_graph *g, int32_t node);

/* The k-th of them. */
static inline cbx_in_edge cbx_in_edges_at(const cbx_graph *g, const cbx_in_edges *in, int64_t k)
{
    if (k < in->own) {
        int64_t slot = in->begin + k;
        return (cbx_in_edge){g->in_source[slot], g->slot_weight ? g->slot_weight[slot] : 1,
                             cbx_graph_edge_id(g, slot)};
    }
    int64_t i = in->added + k - in->own;
    return (cbx_in_edge){g->added->source[i], g->added->weight[i],
                         g->data.num_edges + g->added->id[i]};
}

/* Has any edge a weight of its own? */
static inline bool cbx_graph_is_weighted(const cbx_graph *g)
{
    return g->slot_weight || (g->added && g->added->weighted);
}

/* All edges, those that were added included. */
static inline int64_t cbx_graph_num_edges(const cbx_graph *g)
{
    return g->data.num_edges + (g->added ? g->added->count : 0);
}

/* Is there an edge of the graph's own from one to the other? */
bool cbx_graph_has_edge(const cbx_graph *g, int32_t source, int32_t target);

#endif
