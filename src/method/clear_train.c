/* SPDX-License-Identifier: Apache-2.0 */
/* clear_train.c: see clear_train.h.
 *
 * A is the graph's adjacency, x a feature as a share of its bounds; both decoders end in a
 * sigmoid, P and Q. The wanted class y is drawn, any but the prediction. The oracle sees features
 * that Q gives within the bounds, and the graph's own edges with weights P:
 *
 *     L = β_x mean (Q - x)² + β_a mean of BCE(P, A) + γ mean KL(N(μ, σ²), N(0, 1))
 *         + α (-log p(y)), in the second half of the epochs
 *
 * In the BCE, edges weigh as much as what is none. */
#include "clear_train.h"

#include <math.h>
#include <string.h>

#include "explain.h"
#include "order.h"
#include "rng.h"
#include "train_rows.h"

enum { STREAM_CLASS = CBX_STREAM_OWN, STREAM_NOISE };

static const double MOST_BYTES = 4e9;

typedef struct training {
    const cbx_setup          *setup;
    const cbx_clear_settings *own;
    cbx_clear_shared         *shared;
    int32_t                  *rows;
    int32_t                   count;
    cbx_fit                   fit;
    cbx_arena                 arena; /* of the training */
    cbx_arena                 step;  /* of one graph */
} training;

void cbx_clear_smooth(const cbx_view *v, const float *X, int32_t features, float *S)
{
    for (int32_t i = 0; i < v->n; i++) {
        float *to = S + (int64_t)i * features;
        memset(to, 0, (size_t)features * sizeof *to);
        for (int64_t e = v->offset[i] - 1; e < v->offset[i + 1]; e++) {
            bool    own = e < v->offset[i]; /* the loop that every node has */
            int32_t j = own ? i : v->source[e];
            if (!own && j == i)
                continue;
            double degrees = (double)(v->offset[i + 1] - v->offset[i] + 1) *
                             (double)(v->offset[j + 1] - v->offset[j] + 1);
            for (int32_t k = 0; k < features; k++)
                to[k] += (float)((double)X[(int64_t)j * features + k] / sqrt(degrees));
        }
    }
}

/* ---- a graph that is trained on */

typedef struct step_state {
    cbx_view        view;
    cbx_matrix      X;
    float          *before, *after, *dX; /* n x features: as they are; as the oracle sees them */
    float          *w, *dw, *dlogp;
    uint8_t        *linked; /* n x n */
    int32_t         prediction, class;
    cbx_pass        pass;
    cbx_clear_flow  flow;
    cbx_edge_scores scores; /* flow's, with slopes */
} step_state;

static int step_arrays(step_state *s, const training *t, cbx_arena *arena)
{
    size_t n = (size_t)s->view.n, d = (size_t)t->shared->net.features;
    float *S = CBX_NEW(arena, float, n *d);
    s->before = CBX_NEW(arena, float, n *d);
    s->after = CBX_NEW(arena, float, n *d);
    s->dX = CBX_NEW(arena, float, n *d);
    s->w = CBX_NEW(arena, float, s->view.m);
    s->dw = CBX_NEW(arena, float, s->view.m);
    s->dlogp = CBX_NEW0(arena, float, t->setup->model->num_classes);
    double *slope = CBX_NEW0(arena, double, n *n);
    s->linked = CBX_NEW0(arena, uint8_t, n * n);
    if (!S || !s->before || !s->after || !s->dX || !s->w || !s->dw || !s->dlogp || !slope ||
        !s->linked)
        return -1;
    cbx_matrix_expand(&s->X, s->view.n, s->before);
    cbx_clear_smooth(&s->view, s->before, t->shared->net.features, S);
    for (int32_t i = 0; i < s->view.n; i++)
        for (int64_t e = s->view.offset[i]; e < s->view.offset[i + 1]; e++)
            s->linked[(int64_t)i * s->view.n + s->view.source[e]] = 1;
    if (cbx_clear_flow_init(&s->flow, &t->shared->net, s->view.n, S, true, arena))
        return -1;
    s->scores =
        cbx_clear_scores(&s->flow, s->view.n, t->setup->options->edges == CBX_EDGES_UNDIRECTED);
    s->scores.slope = slope;
    return 0;
}

/* The graph, and the class that the oracle gives it; -1: its numbers are not finite. */
static cbx_status step_init(step_state *s, training *t, int32_t row, cbx_error *err)
{
    const cbx_setup *setup = t->setup;
    cbx_arena       *arena = &t->step;
    cbx_status       status =
        cbx_factual_view(setup->model, setup->graph, setup->options, row, arena, &s->view, err);
    if (!status)
        status = cbx_view_features(setup->graph, &s->view, arena, &s->X, err);
    if (!status && step_arrays(s, t, arena))
        status = cbx_fail_memory(err);
    if (status)
        return status;
    cbx_matrix dense = cbx_matrix_dense(s->view.n, t->shared->net.features, s->before);
    status = cbx_pass_init(&s->pass, setup->model, &s->view, &dense, true, 1, arena, err);
    if (status)
        return status;
    cbx_pass_forward(&s->pass, &dense, NULL, 0, 0);
    s->prediction =
        isnan(s->pass.logp[0]) ? -1 : cbx_best_class(s->pass.logp, setup->model->num_classes, -1);
    return CBX_OK;
}

static void draw(step_state *s, const training *t, int32_t row, int64_t epoch)
{
    uint64_t seed = (uint64_t)t->setup->options->seed;
    int32_t  others = t->setup->model->num_classes - 1;
    cbx_rng  rng =
        cbx_rng_stream(seed + ((uint64_t)STREAM_CLASS << 56), (uint64_t)epoch, (uint64_t)row, 0);
    s->class = (int32_t)cbx_rng_below(&rng, (uint64_t)others);
    s->class += s->class >= s->prediction;
    rng = cbx_rng_stream(seed + ((uint64_t)STREAM_NOISE << 56), (uint64_t)epoch, (uint64_t)row, 0);
    for (int32_t k = 0; k < s->flow.net->latent; k++)
        s->flow.noise[k] = (float)cbx_rng_normal(&rng);
}

/* ---- the loss */

/* Features against the graph's; dx[2] gets the gradient, and `after` what the oracle will see. */
static double features_loss(step_state *s, const training *t)
{
    const cbx_setup *setup = t->setup;
    int32_t          d = t->shared->net.features;
    int64_t          count = (int64_t)s->view.n * d;
    double           sum = 0, price = t->own->features / (double)count;
    memset(s->flow.dx[2], 0, (size_t)t->shared->net.x[2].out * sizeof *s->flow.dx[2]);
    for (int64_t k = 0; k < count; k++) {
        double lo = (double)setup->lo[k % d], range = (double)setup->hi[k % d] - lo;
        double Q = cbx_logistic((double)s->flow.x[2][k]);
        double x = range > 0 ? ((double)s->before[k] - lo) / range : Q;
        s->after[k] = (float)(lo + range * Q);
        s->flow.dx[2][k] = (float)(2 * price * (Q - x) * Q * (1 - Q));
        sum += (Q - x) * (Q - x);
    }
    return price * sum;
}

/* Edges against the graph's, both sides weighing the same; `w` gets what the oracle will see. */
static double edges_loss(step_state *s, const training *t)
{
    int64_t count = (int64_t)s->view.n * s->view.n, there = 0;
    for (int64_t k = 0; k < count; k++)
        there += s->linked[k];
    double weight = there ? (double)(count - there) / (double)there : 0;
    cbx_edge_scores_weigh(&s->scores, &s->view, s->w);
    return cbx_edge_scores_compare(&s->scores, s->linked, t->own->edges / (double)count, weight);
}

static double code_loss(step_state *s, const training *t)
{
    int32_t count = s->flow.net->latent;
    double  price = t->own->kl / count, sum = 0;
    for (int32_t k = 0; k < count; k++) {
        double mu = (double)s->flow.mu[k], spread = (double)s->flow.spread[k];
        sum += 0.5 * (cbx_exp(spread) + mu * mu - 1 - spread);
        s->flow.dmu[k] = (float)(price * mu);
        s->flow.dspread[k] = (float)(price * 0.5 * (cbx_exp(spread) - 1));
    }
    return price * sum;
}

/* The oracle's part of the loss and of the gradients. */
static double oracle_loss(step_state *s, const training *t)
{
    const cbx_setup *setup = t->setup;
    int32_t          d = t->shared->net.features;
    cbx_matrix       X = cbx_matrix_dense(s->view.n, d, s->after);
    cbx_pass_forward(&s->pass, &X, s->w, 0, 0);
    s->dlogp[s->class] = (float)-t->own->oracle;
    cbx_pass_backward(&s->pass, s->dlogp, s->dX, s->dw, NULL);
    for (int64_t k = 0; k < (int64_t)s->view.n * d; k++) {
        double range = (double)setup->hi[k % d] - (double)setup->lo[k % d];
        double Q = cbx_logistic((double)s->flow.x[2][k]);
        s->flow.dx[2][k] += (float)((double)s->dX[k] * range * Q * (1 - Q));
    }
    cbx_edge_scores_follow(&s->scores, &s->view, s->dw);
    return -t->own->oracle * (double)s->pass.logp[s->class];
}

static bool is_finite(const step_state *s, double loss)
{
    const cbx_clear_net *net = s->flow.net;
    return isfinite(loss) && isfinite(cbx_sum_squares(net->x[2].out, s->flow.dx[2])) &&
           isfinite(cbx_sum_squares(net->a[2].out, s->flow.da[2]));
}

/* Adds the graph's gradient; one whose numbers are not finite is left out. */
static cbx_status train_on(void *user, int32_t row, int64_t epoch, double *loss, bool *counts,
                           cbx_error *err)
{
    training  *t = user;
    step_state s = {.prediction = -1};
    cbx_arena_reset(&t->step);
    cbx_status status = step_init(&s, t, row, err);
    if (status || s.prediction < 0 || t->setup->model->num_classes < 2)
        return status;
    draw(&s, t, row, epoch);
    cbx_clear_encode(&s.flow, t->fit.theta, s.class);
    cbx_clear_decode(&s.flow, t->fit.theta, s.class);
    double value = features_loss(&s, t) + edges_loss(&s, t) + code_loss(&s, t);
    if (2 * epoch >= t->own->epochs)
        value += oracle_loss(&s, t);
    memset(s.flow.da[2], 0, (size_t)t->shared->net.a[2].out * sizeof *s.flow.da[2]);
    cbx_edge_scores_spread(&s.scores, s.flow.da[2]);
    if (cbx_time_is_up())
        return cbx_fail_late(err);
    if (!is_finite(&s, value))
        return CBX_OK;
    cbx_clear_backward(&s.flow, t->fit.theta, t->fit.grad);
    *loss = value;
    *counts = true;
    return CBX_OK;
}

static cbx_status train(void *user, float *theta, cbx_error *err)
{
    training *t = user;
    uint64_t  seed = (uint64_t)t->setup->options->seed;
    cbx_clear_net_draw(&t->shared->net, seed, theta);
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

/* Those that are not too large, and the size of the largest of them; 0: there is none. */
static int32_t find_graphs(training *t)
{
    const cbx_graph_data *data = &t->setup->graph->data;
    int32_t               largest = 0;
    for (int32_t g = 0; g < data->num_graphs; g++) {
        int64_t size = data->graph_ptr[g + 1] - data->graph_ptr[g];
        if (size < 1 || size > CBX_CLEAR_NODES)
            continue;
        t->rows[t->count++] = g;
        largest = size > largest ? (int32_t)size : largest;
    }
    return largest;
}

static cbx_status make_net(training *t, cbx_error *err)
{
    const cbx_setup *setup = t->setup;
    enum { HIDDEN = 16, LATENT = 16 };
    int32_t d = setup->graph->data.num_features, nodes = find_graphs(t);
    if (!nodes)
        return cbx_fail_option(err, "explainer",
                               "clear explains graphs of at most %d nodes, and all of these have "
                               "more",
                               CBX_CLEAR_NODES);
    double bytes = cbx_clear_net_bytes(nodes, d, HIDDEN);
    if (bytes > MOST_BYTES)
        return cbx_fail_option(err, "explainer",
                               "clear would need about %.1f GB for %d nodes of %d features each, "
                               "more than %.0f GB",
                               bytes / 1e9, nodes, d, MOST_BYTES / 1e9);
    t->shared->net = cbx_clear_net_make(nodes, d, setup->model->num_classes, HIDDEN, LATENT);
    t->count = cbx_draw_rows(t->rows, t->count, t->own->rows, (uint64_t)setup->options->seed);
    return CBX_OK;
}

cbx_status cbx_clear_train(const cbx_setup *setup, cbx_arena *arena, cbx_clear_shared *shared,
                           cbx_error *err)
{
    training t = {.setup = setup, .own = setup->settings, .shared = shared};
    t.rows = CBX_NEW(&t.arena, int32_t, setup->graph->data.num_graphs);
    cbx_status status = t.rows ? make_net(&t, err) : cbx_fail_memory(err);
    if (!status)
        status = cbx_trained_get(setup, shared->net.size, train, &t, arena, &shared->trained, err);
    cbx_arena_free(&t.step);
    cbx_arena_free(&t.arena);
    return status;
}
