/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h: the factual graph without directions, for walking on it: its pairs (pairs.h), seen from
 * each of their nodes. Loops are no ways. */
#ifndef CBX_WAYS_H
#define CBX_WAYS_H

#include "embedding.h"
#include "explainer.h"

/* Out of a node, along a pair, to the other one. */
typedef struct cbx_way {
    int32_t node, to; /* the view's numbers */
    int32_t name;     /* of `to`, in the graph */
    int64_t pair;
} cbx_way;

typedef struct cbx_ways {
    int64_t        pairs;
    const int64_t *pair_of;   /* by slot of the view */
    int64_t       *lost_from; /* by pair: where its edges begin in `lost`; pairs + 1 */
    cbx_lost_edge *lost;      /* slots of the whole graph, both directions */
    int64_t       *from;      /* by node: where its ways begin; n + 1 */
    cbx_way       *way;       /* of a node by name */
} cbx_ways;

/* 0 on success */
int cbx_ways_init(cbx_ways *W, const cbx_search *s);

#endif
