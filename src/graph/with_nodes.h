/* SPDX-License-Identifier: Apache-2.0 */
/* with_nodes.h: graphs with some nodes more, each of them a copy of a node of its graph that hangs
 * on one edge. */
#ifndef CBX_WITH_NODES_H
#define CBX_WITH_NODES_H

#include "edit.h"

typedef struct cbx_new_node {
    int32_t copied; /* the node whose features it has; the graph's number */
    int32_t at;     /* the node that its edge leads to */
    float   weight; /* of the edge */
    bool    undirected;
} cbx_new_node;

/* Those that the edits add, in their order and with the graph's numbers, to memory of `arena`;
 * edits of other kinds are ignored. Fails where a node cannot be: in a node task, or at a node that
 * is not there, is removed, or is of another graph than the one that is copied. */
CBX_INTERNAL cbx_status cbx_edits_new_nodes(const cbx_graph *graph, const cbx_edit *edits,
                                            int64_t count, cbx_arena *arena, cbx_new_node **out,
                                            int32_t *num_out, cbx_error *err);

/* Edges that come with the nodes which the edits add. */
int64_t cbx_edits_new_node_edges(const cbx_edit *edits, int64_t count);

/* The view of one graph with these nodes behind its own; `at` is the view's number. The edges'
 * ids begin with `first_id`, in the order of the nodes. */
CBX_INTERNAL cbx_status cbx_view_with_nodes(const cbx_view *view, const cbx_new_node *nodes,
                                            int32_t count, int64_t first_id, cbx_arena *arena,
                                            cbx_view *out, cbx_error *err);

/* The view's features, of which X has those of its first nodes, and `graph` the others: as they
 * were. */
cbx_status cbx_features_with_nodes(const cbx_graph *graph, const cbx_view *view,
                                   const cbx_matrix *X, cbx_arena *arena, cbx_matrix *out,
                                   cbx_error *err);

/* Puts the nodes into a graph that is not indexed yet, each behind the last of its own graph; `at`
 * is that graph's number, `copied` that of `from`, which has the attributes of their edges behind
 * those of all others. */
cbx_status cbx_graph_insert_nodes(cbx_graph *g, const cbx_graph *from, const cbx_new_node *nodes,
                                  int32_t count, cbx_error *err);

#endif
