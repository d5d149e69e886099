/* SPDX-License-Identifier: Apache-2.0 */
/* d4_net.h: the network that D4Explainer removes noise from a graph with: a provably powerful
 * graph network, whose values belong to pairs of nodes.
 *
 * Of a graph of n nodes with features X it sees a noisy adjacency and how noisy it is. Every pair
 * (i, j) has `width` channels:
 *
 *     U_0[i, j] = relu([adjacency, noise, i = j] W + b), and on the diagonal relu(x_i W' + b') more
 *     U_l = relu([U, M] W + b), M = P Q / n by channel, P and Q two layers each of U = U_{l-1}
 *     score[i, j] = two layers of U_L
 *
 * A score is the logit of the edge from j to i in the graph without noise. */
#ifndef CBX_D4_NET_H
#define CBX_D4_NET_H

#include "dense.h"

enum { CBX_D4_LAYERS = 16 }; /* at most */

typedef struct cbx_d4_block {
    cbx_dense p[2], q[2], out;
} cbx_d4_block;

typedef struct cbx_d4_net {
    int32_t      features, width, layers;
    cbx_dense    pair, node, score[2];
    cbx_d4_block blocks[CBX_D4_LAYERS];
    int64_t      size; /* parameters */
} cbx_d4_net;

cbx_d4_net cbx_d4_net_make(int32_t features, int32_t width, int32_t layers);
void       cbx_d4_net_draw(const cbx_d4_net *net, uint64_t seed, float *theta);

/* Bytes that a graph of so many nodes takes in training, about. */
double cbx_d4_net_bytes(int32_t nodes, int32_t features, int32_t width, int32_t layers);

/* What a block computes, by pair. */
typedef struct cbx_d4_work {
    float *p[2], *q[2]; /* of each layer */
    float *both;        /* [U, M] */
    float *out;         /* U_l */
} cbx_d4_work;

/* One graph on its way through. */
typedef struct cbx_d4_flow {
    const cbx_d4_net *net;
    int32_t           n, pairs;            /* n² */
    const float      *X;                   /* n x features */
    float            *input;               /* pairs x 3 */
    float            *first, *own, *start; /* of pairs; of nodes; U_0 */
    cbx_d4_work       blocks[CBX_D4_LAYERS];
    float            *hidden, *score;                     /* score: pairs */
    float            *dscore, *dhidden, *dU, *dboth, *dM; /* gradients; dscore: the caller's */
    float            *dp[2], *dq[2], *more;
} cbx_d4_flow;

/* 0 on success */
int cbx_d4_flow_init(cbx_d4_flow *flow, const cbx_d4_net *net, int32_t n, const float *X,
                     bool gradient, cbx_arena *arena);

/* `adjacency`: n x n, 0 or 1 */
void cbx_d4_forward(cbx_d4_flow *flow, const float *theta, const uint8_t *adjacency, double noise);

/* From dscore, which is used up. */
void cbx_d4_backward(cbx_d4_flow *flow, const float *theta, float *grad);

#endif
