/* SPDX-License-Identifier: Apache-2.0 */
/* clear_train.h: training CLEAR's autoencoder for an oracle and its graphs. */
#ifndef CBX_CLEAR_TRAIN_H
#define CBX_CLEAR_TRAIN_H

#include "clear_net.h"
#include "edge_scores.h"
#include "trained.h"

/* Larger graphs are neither trained on nor explained: the edges' decoder has an output for every
 * two nodes. */
enum { CBX_CLEAR_NODES = 100 };

typedef struct cbx_clear_settings {
    int64_t epochs, batch, rows, samples;
    double  lr, features, edges, kl, oracle;
} cbx_clear_settings;

typedef struct cbx_clear_shared {
    cbx_clear_net net;
    cbx_trained   trained;
} cbx_clear_shared;

cbx_status cbx_clear_train(const cbx_setup *setup, cbx_arena *arena, cbx_clear_shared *shared,
                           cbx_error *err);

/* S of clear_net.h, n x features; X dense. */
void cbx_clear_smooth(const cbx_view *view, const float *X, int32_t features, float *S);

/* What the edges' decoder says of the pairs of n nodes. */
static inline cbx_edge_scores cbx_clear_scores(const cbx_clear_flow *flow, int32_t n,
                                               bool undirected)
{
    return (cbx_edge_scores){
        .score = flow->a[2], .stride = flow->net->nodes, .n = n, .undirected = undirected};
}

#endif
