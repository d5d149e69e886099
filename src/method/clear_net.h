/* SPDX-License-Identifier: Apache-2.0 */
/* clear_net.h: CLEAR's variational autoencoder of graphs, conditioned on the wanted class.
 *
 * Of a graph of n <= N nodes with features X it sees S = Â X, Â having loops and being normalised
 * by degrees on both sides; y is the wanted class, one-hot:
 *
 *     encoder    H = relu(S W + b), p = mean of its rows, μ and log σ² linear in [p, y]
 *     code       z = μ + σ ε, in the paper's words p(z | G, y)
 *     decoders   [z, y] -> h -> h -> N d, and [z, y] -> h -> h -> N²
 *
 * Of what the decoders give, the first n nodes' count. */
#ifndef CBX_CLEAR_NET_H
#define CBX_CLEAR_NET_H

#include "dense.h"
#include "error.h"

typedef struct cbx_clear_net {
    int32_t   nodes, features, classes, hidden, latent;
    cbx_dense encode, mean, spread; /* spread: log σ² */
    cbx_dense x[3], a[3];           /* decoders of features and of edges */
    int64_t   size;
} cbx_clear_net;

cbx_clear_net cbx_clear_net_make(int32_t nodes, int32_t features, int32_t classes, int32_t hidden,
                                 int32_t latent);
void          cbx_clear_net_draw(const cbx_clear_net *net, uint64_t seed, float *theta);

/* Bytes that training takes, about: most parameters are those of the decoders' last layers. */
double cbx_clear_net_bytes(int32_t nodes, int32_t features, int32_t hidden);

/* One graph on its way through. */
typedef struct cbx_clear_flow {
    const cbx_clear_net *net;
    int32_t              n;
    const float         *S;                              /* n x features */
    float               *H, *seen, *mu, *spread, *noise; /* seen: [p, y] */
    float               *code;                           /* [z, y] */
    float               *x[3], *a[3];                    /* of each layer; x[2]: N d, a[2]: N² */
    float               *dx[3], *da[3], *dmu, *dspread;  /* gradients, see backward */
    float               *dH, *dseen, *dcode, *more;      /* work */
} cbx_clear_flow;

/* 0 on success */
int cbx_clear_flow_init(cbx_clear_flow *flow, const cbx_clear_net *net, int32_t n, const float *S,
                        bool gradient, cbx_arena *arena);

/* Up to μ and log σ². */
void cbx_clear_encode(cbx_clear_flow *flow, const float *theta, int32_t class);

/* From there, with `noise` in units of σ, which the caller wrote. */
void cbx_clear_decode(cbx_clear_flow *flow, const float *theta, int32_t class);

/* The caller has put dL by x[2] and a[2] into dx[2] and da[2], and those parts of dL by μ and
 * log σ² that do not come through the code into dmu and dspread. All are used up. */
void cbx_clear_backward(cbx_clear_flow *flow, const float *theta, float *grad);

#endif
