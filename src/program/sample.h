/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: a made-up graph for a program, of which it is asked how far it looks and whether it
 * follows edge weights. */
#ifndef CBX_SAMPLE_H
#define CBX_SAMPLE_H

#include "ir.h"

typedef struct cbx_sample {
    cbx_runner_input *inputs; /* of the program, in its order */
    int64_t           edges;  /* in each edge list */
} cbx_sample;

/* A dozen nodes; self-loops, repeated edges and nodes without edges occur. The same each time. */
cbx_status cbx_sample_make(const cbx_program *p, cbx_arena *arena, cbx_sample *out, cbx_error *err);

/* Is this input one entry per edge, in this dimension? -1: it is not. */
int32_t cbx_sample_edge_dim(const cbx_program *p, int32_t input);

/* More than any model takes for a graph of that size. */
#define CBX_SAMPLE_MOST ((size_t)1 << 28)

#endif
