/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.h: the nodes nearest to one in an embedding, and the importance of edges:
 * the share of them that are no longer among the nearest when the edges are gone. */
#ifndef CBX_NEIGHBOURS_H
#define CBX_NEIGHBOURS_H

#include "embedding.h"

typedef struct cbx_neighbours {
    int32_t   node;  /* whose */
    int32_t   count; /* how many: as asked for, or all others */
    int32_t  *before, *after;
    float    *distance; /* of `after`, scratch */
    cbx_patch patch;
} cbx_neighbours;

/* Free with cbx_patch_free(&N->patch), whatever the status. */
cbx_status cbx_neighbours_init(cbx_neighbours *N, const cbx_embedding *E, int32_t node,
                               int64_t count, cbx_arena *arena, cbx_error *err);

cbx_status cbx_neighbours_importance(cbx_neighbours *N, const cbx_lost_edge *edges, int64_t count,
                                     double *importance, cbx_error *err);

#endif
