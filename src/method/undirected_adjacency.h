/* SPDX-License-Identifier: Apache-2.0 */
/* undirected_adjacency.h: the factual graph without directions, for walking on it: its pairs
 * (pairs.h), seen from each of their nodes. Loops are no ways. */
#ifndef CBX_UNDIRECTED_ADJACENCY_H
#define CBX_UNDIRECTED_ADJACENCY_H

#include "embedding.h"
#include "explainer.h"

/* Out of a node, along a pair, to the other one. */
typedef struct cbx_way {
    int32_t node, to; /* the view's numbers */
    int32_t name;     /* of `to`, in the graph */
    int64_t pair;
} cbx_way;

typedef struct cbx_undirected_adjacency {
    int64_t        pairs;
    const int64_t *pair_of;   /* by slot of the view */
    int64_t       *lost_from; /* by pair: where its edges begin in `lost`; pairs + 1 */
    cbx_lost_edge *lost;      /* slots of the whole graph, both directions */
    int64_t       *from;      /* by node: where its ways begin; n + 1 */
    cbx_way       *way;       /* of a node by name */
} cbx_undirected_adjacency;

/* 0 on success */
int cbx_undirected_adjacency_init(cbx_undirected_adjacency *W, const cbx_search *s);

#endif
