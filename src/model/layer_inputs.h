/* SPDX-License-Identifier: Apache-2.0 */
/* layer_inputs.h: what each layer of a model is given, of all nodes of a graph.
 *
 * Whoever asks what many nodes would do as neighbours of another looks them up here: a layer of the
 * form Y = A X N + X M + b (cbx_block_linear, no maximum) takes of a neighbour its input times N.
 */
#ifndef CBX_LAYER_INPUTS_H
#define CBX_LAYER_INPUTS_H

#include "pass.h"

typedef struct cbx_layer_inputs {
    const cbx_model *model;
    cbx_matrix       X;         /* of the first layer: the graph's features, borrowed */
    float          **hidden;    /* by layer: n x n_in; NULL for the first */
    double         **neighbour; /* by layer: N, n_in x n_out */
    float           *root;      /* by node: what GCN scales by; NULL: no layer does */
} cbx_layer_inputs;

/* *out is NULL where a layer is not of that form. One run of the model on the whole graph, less its
 * last layer; what is kept does not grow with what is asked of it. Read only afterwards. */
cbx_status cbx_layer_inputs_new(const cbx_model *model, const cbx_graph *graph, int threads,
                                cbx_arena *arena, cbx_layer_inputs **out, cbx_error *err);

/* `pull` times what layer l is given of the node. */
double cbx_layer_inputs_dot(const cbx_layer_inputs *inputs, int32_t l, int32_t node,
                            const float *pull);

#endif
