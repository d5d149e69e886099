/* SPDX-License-Identifier: Apache-2.0 */
/* d4_train.c: see d4_train.h.
 *
 * In every epoch a graph gets noise of a level that is drawn. P is what the network says of the
 * edges without it, A what they are; the oracle sees the graph's own edges with weights P, and c
 * is the class that it gives the graph:
 *
 *     L = mean over pairs of BCE(P, A), edges weighing `edges` times, + α (-log(1 - p(c)))
 *
 * Adam's rate falls by a factor in every epoch. */
#include "d4_train.h"

#include <math.h>
#include <string.h>

#include "error.h"
#include "explain.h"
#include "order.h"
#include "train_rows.h"

enum { STREAM_NOISE = CBX_STREAM_OWN };

static const double MOST_BYTES = 2e9;

typedef struct training {
    const cbx_setup       *setup;
    const cbx_d4_settings *own;
    cbx_d4_shared         *shared;
    int32_t               *rows;
    int32_t                count;
    cbx_fit                fit;
    cbx_arena              arena; /* of the training */
    cbx_arena              step;  /* of one graph */
} training;

void cbx_d4_adjacency(const cbx_view *v, bool undirected, uint8_t *adjacency)
{
    memset(adjacency, 0, (size_t)v->n * (size_t)v->n);
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            adjacency[(int64_t)i * v->n + v->source[e]] = 1;
            if (undirected)
                adjacency[(int64_t)v->source[e] * v->n + i] = 1;
        }
}

void cbx_d4_shake(int32_t n, bool undirected, double share, cbx_rng *rng, uint8_t *adjacency)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < (undirected ? i : n); j++) {
            if (i == j || !(cbx_rng_uniform(rng) < share))
                continue;
            adjacency[(int64_t)i * n + j] ^= 1;
            if (undirected)
                adjacency[(int64_t)j * n + i] ^= 1;
        }
}

/* ---- a graph that is trained on */

typedef struct step_state {
    cbx_view        view;
    cbx_matrix      X;
    float          *w, *dw, *dlogp;
    uint8_t        *adjacency, *shaken; /* n x n */
    int32_t         prediction;
    cbx_pass        pass;
    cbx_d4_flow     flow;
    cbx_edge_scores scores; /* flow's, with slopes */
    bool            undirected;
} step_state;

static int step_arrays(step_state *s, const training *t, cbx_arena *arena)
{
    size_t n = (size_t)s->view.n;
    float *dense = CBX_NEW(arena, float, n *(size_t)s->X.cols);
    s->w = CBX_NEW(arena, float, s->view.m);
    s->dw = CBX_NEW(arena, float, s->view.m);
    s->dlogp = CBX_NEW0(arena, float, t->setup->model->num_classes);
    double *slope = CBX_NEW0(arena, double, n *n);
    s->adjacency = CBX_NEW(arena, uint8_t, n * n);
    s->shaken = CBX_NEW(arena, uint8_t, n * n);
    if (!dense || !s->w || !s->dw || !s->dlogp || !slope || !s->adjacency || !s->shaken)
        return -1;
    cbx_matrix_expand(&s->X, s->view.n, dense);
    cbx_d4_adjacency(&s->view, s->undirected, s->adjacency);
    memcpy(s->shaken, s->adjacency, n * n);
    if (cbx_d4_flow_init(&s->flow, &t->shared->net, s->view.n, dense, true, arena))
        return -1;
    s->scores = cbx_d4_scores(&s->flow, s->undirected);
    s->scores.slope = slope;
    return 0;
}

/* The graph, and the class that the oracle gives it; -1: its numbers are not finite. */
static cbx_status step_init(step_state *s, training *t, int32_t row, cbx_error *err)
{
    const cbx_setup *setup = t->setup;
    cbx_arena       *arena = &t->step;
    s->undirected = setup->options->edges == CBX_EDGES_UNDIRECTED;
    cbx_status status =
        cbx_factual_view(setup->model, setup->graph, setup->options, row, arena, &s->view, err);
    if (!status)
        status = cbx_view_features(setup->graph, &s->view, arena, &s->X, err);
    if (!status && step_arrays(s, t, arena))
        status = cbx_fail_memory(err);
    if (!status)
        status = cbx_pass_init(&s->pass, setup->model, &s->view, &s->X, true, 1, arena, err);
    if (status)
        return status;
    cbx_pass_forward(&s->pass, &s->X, NULL, 0, 0);
    s->prediction =
        isnan(s->pass.logp[0]) ? -1 : cbx_best_class(s->pass.logp, setup->model->num_classes, -1);
    return CBX_OK;
}

/* ---- the loss */

/* -log(1 - p(c)), and its gradient by log-probabilities. */
static double leave(const step_state *s, const training *t)
{
    const float *logp = s->pass.logp;
    int32_t      C = t->setup->model->num_classes;
    double       others = 0;
    for (int32_t c = 0; c < C; c++)
        others += c == s->prediction ? 0 : cbx_exp((double)logp[c]);
    for (int32_t c = 0; c < C; c++)
        s->dlogp[c] =
            c == s->prediction ? 0 : (float)(-t->own->oracle * cbx_exp((double)logp[c]) / others);
    return -cbx_log(others);
}

static double oracle_loss(step_state *s, const training *t)
{
    cbx_edge_scores_weigh(&s->scores, &s->view, s->w);
    cbx_pass_forward(&s->pass, &s->X, s->w, 0, 0);
    double loss = t->own->oracle * leave(s, t);
    if (!isfinite(loss)) /* no other class has any probability: there is nothing to follow */
        return 0;
    cbx_pass_backward(&s->pass, s->dlogp, NULL, s->dw, NULL);
    cbx_edge_scores_follow(&s->scores, &s->view, s->dw);
    return loss;
}

/* Adds the graph's gradient; one whose numbers are not finite is left out. */
static cbx_status train_on(void *user, int32_t row, int64_t epoch, double *loss, bool *counts,
                           cbx_error *err)
{
    training  *t = user;
    step_state s = {.prediction = -1};
    cbx_rng rng = cbx_rng_stream((uint64_t)t->setup->options->seed + ((uint64_t)STREAM_NOISE << 56),
                                 (uint64_t)epoch, (uint64_t)row, 0);
    cbx_arena_reset(&t->step);
    cbx_status status = step_init(&s, t, row, err);
    if (status || s.prediction < 0)
        return status;
    double noise = cbx_d4_noise(t->own, (int32_t)cbx_rng_below(&rng, CBX_D4_LEVELS));
    cbx_d4_shake(s.view.n, s.undirected, noise, &rng, s.shaken);
    t->fit.adam.lr = t->own->lr * cbx_exp(cbx_log(t->own->decay) * (double)epoch);
    cbx_d4_forward(&s.flow, t->fit.theta, s.shaken, noise);
    double pairs = (double)((int64_t)s.view.n * s.view.n);
    double value = cbx_edge_scores_compare(&s.scores, s.adjacency, 1 / pairs, t->own->edges) +
                   oracle_loss(&s, t);
    cbx_edge_scores_spread(&s.scores, s.flow.dscore);
    if (cbx_time_is_up())
        return cbx_fail_late(err);
    if (!isfinite(value) || !isfinite(cbx_sum_squares(s.flow.pairs, s.flow.dscore)))
        return CBX_OK;
    cbx_d4_backward(&s.flow, t->fit.theta, t->fit.grad);
    *loss = value;
    *counts = true;
    return CBX_OK;
}

static cbx_status train(void *user, float *theta, cbx_error *err)
{
    training *t = user;
    uint64_t  seed = (uint64_t)t->setup->options->seed;
    cbx_d4_net_draw(&t->shared->net, seed, theta);
    return cbx_train_rows(&(cbx_row_training){.epochs = t->own->epochs,
                                              .batch = t->own->batch,
                                              .patience = -1,
                                              .seed = seed,
                                              .lr = t->own->lr,
                                              .rows = t->rows,
                                              .count = t->count,
                                              .user = t,
                                              .add = train_on},
                          theta, t->shared->net.size, &t->fit, &t->arena, err);
}

/* ---- which graphs */

/* The most nodes that a graph may have for its pairs to fit in memory. */
static int32_t most_nodes(const training *t, int32_t features)
{
    int32_t most = 0;
    while (cbx_d4_net_bytes(most + 1, features, (int32_t)t->own->width, (int32_t)t->own->layers) <=
           MOST_BYTES)
        most++;
    return most;
}

static cbx_status choose_graphs(training *t, cbx_error *err)
{
    const cbx_graph_data *data = &t->setup->graph->data;
    t->shared->most = most_nodes(t, data->num_features);
    for (int32_t g = 0; g < data->num_graphs; g++) {
        int64_t size = data->graph_ptr[g + 1] - data->graph_ptr[g];
        if (size > 0 && size <= t->shared->most)
            t->rows[t->count++] = g;
    }
    if (!t->count)
        return cbx_fail_option(err, "explainer",
                               "d4 would need more than %.0f GB for any of these graphs: with %d "
                               "features, d4_width %lld and d4_layers %lld they may have %d nodes",
                               MOST_BYTES / 1e9, data->num_features, (long long)t->own->width,
                               (long long)t->own->layers, t->shared->most);
    t->count = cbx_draw_rows(t->rows, t->count, t->own->rows, (uint64_t)t->setup->options->seed);
    return CBX_OK;
}

cbx_status cbx_d4_train(const cbx_setup *setup, cbx_arena *arena, cbx_d4_shared *shared,
                        cbx_error *err)
{
    training t = {.setup = setup, .own = setup->settings, .shared = shared};
    shared->net = cbx_d4_net_make(setup->graph->data.num_features, (int32_t)t.own->width,
                                  (int32_t)t.own->layers);
    t.rows = CBX_NEW(&t.arena, int32_t, setup->graph->data.num_graphs);
    cbx_status status = t.rows ? choose_graphs(&t, err) : cbx_fail_memory(err);
    if (!status)
        status = cbx_trained_get(setup, shared->net.size, train, &t, arena, &shared->trained, err);
    cbx_arena_free(&t.step);
    cbx_arena_free(&t.arena);
    return status;
}
