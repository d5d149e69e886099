/* SPDX-License-Identifier: Apache-2.0 */
/* embedding.h: the last hidden layer of every node, and what becomes of it when some
 * edges go.
 *
 * An embedding is computed once, with all that a change can build on: every layer's
 * output and its products with the weights. A patch then follows the removal of edges
 * through the layers and computes only the rows that it reaches. */
#ifndef CBX_EMBEDDING_H
#define CBX_EMBEDDING_H

#include "pass.h"

typedef struct cbx_embedding {
    const cbx_model *model;
    cbx_view         view; /* the whole graph */
    cbx_matrix       X;
    cbx_pass         pass;     /* pass.out: the layers' outputs, n rows each */
    int32_t         *matrices; /* by layer: cbx_layer_products */
    float         ***product;  /* by layer and matrix: input times W, n rows */
    int32_t          width;    /* of the last layer */
} cbx_embedding;

/* Read only afterwards, so threads can share it. */
cbx_status cbx_embedding_init(cbx_embedding *E, const cbx_model *model, const cbx_graph *graph,
                              int threads, cbx_arena *arena, cbx_error *err);

static inline const float *cbx_embedding_row(const cbx_embedding *E, int32_t node)
{
    return E->pass.out[E->model->num_layers - 1] + (int64_t)node * E->width;
}

/* An edge of the whole graph: its slot and the row that the slot belongs to. */
typedef struct cbx_lost_edge {
    int64_t slot;
    int32_t target;
} cbx_lost_edge;

/* Rows of one layer that are not what they were. */
typedef struct cbx_fresh_rows {
    int32_t *nodes; /* n: room for all */
    int32_t  count;
    int32_t *place; /* n: 1 + the place in `nodes`, 0: as it was */
    float   *values;
} cbx_fresh_rows;

/* One thread's. */
typedef struct cbx_patch {
    const cbx_embedding *E;
    cbx_view             view; /* the embedding's, with edges lost counted in outside_count */
    float               *outside_count;
    cbx_norm             norms[CBX_NORM_COUNT]; /* those that the layers use */
    float               *w;
    uint8_t             *gone;          /* by slot */
    cbx_fresh_rows      *fresh;         /* by layer */
    cbx_fresh_rows       touched, rows; /* ends of lost edges; nodes with other values */
    cbx_fresh_rows       local;         /* nodes of one layer's step */
    cbx_arena            scratch;       /* of one removal */
} cbx_patch;

cbx_status cbx_patch_init(cbx_patch *P, const cbx_embedding *E, cbx_arena *arena, cbx_error *err);
void       cbx_patch_free(cbx_patch *P);

/* The embedding of the graph without these edges; forgets the removal before. Each edge
 * must be named once, and none be a loop: those come back by themselves in some layers. */
cbx_status cbx_patch_remove(cbx_patch *P, const cbx_lost_edge *edges, int64_t count,
                            cbx_error *err);

/* The node's row after the last removal. */
const float *cbx_patch_row(const cbx_patch *P, int32_t node);

#endif
