/* SPDX-License-Identifier: Apache-2.0 */
/* view.h: the part of a graph that a computation runs on.
 *
 * Models run on views only: the whole graph, the receptive field of one node, or
 * some of the graphs of a graph task. A view numbers its nodes itself. In a
 * receptive field the order is by distance from the target, so "nodes within k
 * hops" is the prefix [0, prefix[k]), and a layer computes a prefix of rows. */
#ifndef CBX_VIEW_H
#define CBX_VIEW_H

#include "graph.h"
#include "internal.h"
#include "matrix.h"

typedef struct cbx_view {
    int32_t n;
    int64_t m;
    /* edges by target, as in graph.h, in the view's numbering */
    const int64_t *offset;
    const int32_t *source;
    const float   *weight;    /* by slot, or NULL: all 1 */
    const uint8_t *removed;   /* by slot, or NULL: weight 0 here means that the edge is gone */
    const uint8_t *absent;    /* by node, or NULL: it is not there, and its slots are removed */
    const int64_t *edge;      /* slot -> edge id of the graph; NULL: the same number */
    const float   *edge_attr; /* the graph's: edge_dim of each edge id, or NULL */
    int32_t        edge_dim;
    /* What edges have while a search changes it from one question to the next: who takes weights
     * or attributes reads them here each time. NULL: nobody does, and they are those above. */
    const float   *set_weight; /* by slot */
    const float   *set_attr;   /* by slot, edge_dim of each */
    const int32_t *node;       /* view -> graph; NULL: the same number */
    /* the same slots by source, targets ascending */
    const int64_t *out_offset;
    const int32_t *out_target;
    const int64_t *out_slot;

    int32_t        hops;
    const int32_t *prefix; /* hops + 1 */

    /* What the view's nodes have outside of it: the summed weight and the number of
     * edges from nodes that were left out. They count in degrees, so that what is
     * inside has its true values. NULL: nothing was left out. */
    const float *outside_weight; /* n */
    const float *outside_count;  /* n */
    int32_t      left_out;       /* links to nodes that were not taken; 0: none */

    int32_t        num_graphs; /* graph tasks: segments of nodes, pooled each to one row */
    const int32_t *graph_ptr;  /* num_graphs + 1 */
} cbx_view;

/* Rows within h hops of the target; beyond the last hop, all. */
static inline int32_t cbx_view_rows(const cbx_view *view, int32_t h)
{
    return view->prefix[h < view->hops ? h : view->hops];
}

/* The weight of the edge in a slot, by its own and not by what a search makes of it. */
static inline float cbx_view_weight(const cbx_view *view, int64_t slot)
{
    return view->set_weight ? view->set_weight[slot] : view->weight ? view->weight[slot] : 1;
}

/* Its attributes; only of a view that has some. */
static inline const float *cbx_view_attr(const cbx_view *view, int64_t slot)
{
    int64_t id = view->edge ? view->edge[slot] : slot;
    return view->set_attr ? view->set_attr + slot * view->edge_dim
                          : view->edge_attr + id * view->edge_dim;
}

/* Each fills in `view` with memory from `arena`. */
CBX_INTERNAL cbx_status cbx_view_whole(const cbx_graph *graph, cbx_arena *arena, cbx_view *view,
                                       cbx_error *err);

/* Everything that reaches `node` in at most `hops` steps, and the edges among it. */
cbx_status cbx_view_around(const cbx_graph *graph, int32_t node, int32_t hops, cbx_arena *arena,
                           cbx_view *view, cbx_error *err);

/* The same with at most `most` nodes: those nearest to `node`. If that is not all,
 * view->left_out says so. */
CBX_INTERNAL cbx_status cbx_view_nearest(const cbx_graph *graph, int32_t node, int32_t hops,
                                         int32_t most, cbx_arena *arena, cbx_view *view,
                                         cbx_error *err);

/* The same with, in its last hop, the nodes to which edges lead from the hops before it, so
 * that those have their outgoing edges too. `whole`: the view of the whole graph. */
cbx_status cbx_view_both_ways(const cbx_graph *graph, const cbx_view *whole, int32_t node,
                              int32_t hops, int32_t most, cbx_arena *arena, cbx_view *view,
                              cbx_error *err);

/* Just what a model that looks `hops` far computes `node` from: edges into the nodes
 * before the last hop, and true degrees of all. Exact, and no larger than need be. */
cbx_status cbx_view_cone(const cbx_graph *graph, int32_t node, int32_t hops, cbx_arena *arena,
                         cbx_view *view, cbx_error *err);

/* These graphs of a graph task, one after the other. */
CBX_INTERNAL cbx_status cbx_view_graphs(const cbx_graph *graph, const int32_t *ids, int32_t count,
                                        cbx_arena *arena, cbx_view *view, cbx_error *err);

/* (Re)builds out_offset, out_target and out_slot from offset and source. */
cbx_status cbx_view_group_by_source(cbx_view *view, cbx_arena *arena, cbx_error *err);

/* The features of the view's nodes: borrowed where the view is the whole graph,
 * copied (and as sparse as they were) elsewhere. */
CBX_INTERNAL cbx_status cbx_view_features(const cbx_graph *graph, const cbx_view *view,
                                          cbx_arena *arena, cbx_matrix *out, cbx_error *err);

#endif
