/* SPDX-License-Identifier: Apache-2.0 */
/* d4_train.h: training D4Explainer's network for an oracle and its graphs. */
#ifndef CBX_D4_TRAIN_H
#define CBX_D4_TRAIN_H

#include "d4_net.h"
#include "edge_scores.h"
#include "rng.h"
#include "trained.h"

/* Levels of noise, the last of which is the largest. */
enum { CBX_D4_LEVELS = 10 };

typedef struct cbx_d4_settings {
    int64_t epochs, batch, rows, samples, layers, width;
    double  lr, decay, noise, edges, oracle;
} cbx_d4_settings;

typedef struct cbx_d4_shared {
    cbx_d4_net  net;
    cbx_trained trained;
    int32_t     most; /* nodes of a graph: larger ones take too much memory */
} cbx_d4_shared;

cbx_status cbx_d4_train(const cbx_setup *setup, cbx_arena *arena, cbx_d4_shared *shared,
                        cbx_error *err);

/* The share of pairs that a level turns around. */
static inline double cbx_d4_noise(const cbx_d4_settings *own, int32_t level)
{
    return own->noise * (level + 1) / CBX_D4_LEVELS;
}

/* The adjacency of a view, n x n; edges without direction are there both ways. */
void cbx_d4_adjacency(const cbx_view *view, bool undirected, uint8_t *adjacency);

/* Turns so many pairs of nodes around, on average; loops stay. */
void cbx_d4_shake(int32_t n, bool undirected, double share, cbx_rng *rng, uint8_t *adjacency);

/* What the network says of the pairs of nodes. */
static inline cbx_edge_scores cbx_d4_scores(const cbx_d4_flow *flow, bool undirected)
{
    return (cbx_edge_scores){
        .score = flow->score, .stride = flow->n, .n = flow->n, .undirected = undirected};
}

#endif
