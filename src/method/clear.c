/* SPDX-License-Identifier: Apache-2.0 */
/* clear.c: CLEAR (Ma et al. 2022): an autoencoder of graphs, trained on many of them, is asked for
 * the graph with the wanted class.
 *
 * clear_train.h has the training, clear_net.h the network. A search decodes the graph's code for
 * the target, or where any class will do for the likeliest other one: first its mean, then draws
 * around it, --clear-samples in all. Edges of less than one half go; features become what is
 * decoded, whole numbers where they are discrete. Edges that the decoder would add are no edits,
 * and are left out. Of the candidates that lead to the target, that of least loss is the answer.
 *
 * In the record of a candidate, loss is CE(target) + the number of removals and of changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clear_train.h"
#include "deadline.h"
#include "explainers.h"
#include "order.h"
#include "pairs.h"
#include "project.h"
#include "rng.h"
#include "trial.h"

enum { STREAM_SAMPLES = 71 };

/* Multiplications in the time of a value or slot. */
static const double VALUE = 30;

/* A graph that was decoded, as edits would make it. */
typedef struct candidate {
    float   *X;    /* n x features */
    uint8_t *gone; /* by slot */
} candidate;

typedef struct state {
    cbx_search             *s;
    const cbx_clear_shared *shared;
    cbx_pairs               pairs;
    float                  *before; /* n x features */
    cbx_clear_flow          flow;
    cbx_view                view; /* with slots that are gone: now.gone */
    float                  *w;
    candidate               now, best;
    cbx_trials              trials;
    uint8_t                *goes;  /* by pair, and only where there are rules */
    cbx_shape              *shape; /* NULL: any will do */
} state;

static int make_candidate(candidate *c, const state *st)
{
    const cbx_search *s = st->s;
    c->X = CBX_NEW(s->arena, float, (size_t)s->view->n *(size_t)s->X.cols);
    c->gone = CBX_NEW0(s->arena, uint8_t, s->view->m);
    return c->X && c->gone ? 0 : -1;
}

static cbx_status init(state *st, cbx_search *s, cbx_error *err)
{
    size_t values = (size_t)s->view->n * (size_t)s->X.cols;
    *st = (state){.s = s, .shared = s->shared, .view = *s->view, .trials = {.s = s}};
    float *S = CBX_NEW(s->arena, float, values);
    st->before = CBX_NEW(s->arena, float, values);
    st->w = CBX_NEW(s->arena, float, s->view->m);
    if (!S || !st->before || !st->w || make_candidate(&st->now, st) ||
        make_candidate(&st->best, st) ||
        cbx_clear_flow_init(&st->flow, &st->shared->net, s->view->n, S, false, s->arena))
        return cbx_fail_memory(err);
    if (cbx_pairs_removed_at_once(s, &st->pairs))
        return cbx_fail_late(err);
    if (cbx_project_is_needed(s)) {
        st->goes = CBX_NEW0(s->arena, uint8_t, st->pairs.count);
        cbx_status status =
            st->goes ? cbx_shape_new(s, &st->pairs, &st->shape, err) : cbx_fail_memory(err);
        if (status)
            return status;
    }
    cbx_matrix_expand(&s->X, s->view->n, st->before);
    cbx_clear_smooth(s->view, st->before, s->X.cols, S);
    st->view.removed = st->now.gone;
    cbx_matrix dense = cbx_matrix_dense(s->view->n, s->X.cols, st->now.X);
    return cbx_pass_init(&st->trials.pass, s->model, &st->view, &dense, false, 1, s->arena, err);
}

/* What the decoder says becomes edits of features and … */
static void take_features(state *st)
{
    const cbx_search *s = st->s;
    int32_t           d = s->X.cols;
    for (int64_t k = 0; k < (int64_t)s->view->n * d && !cbx_out_of_time_at(k, VALUE); k++) {
        double lo = (double)s->lo[k % d], hi = (double)s->hi[k % d];
        double value = lo + (hi - lo) * cbx_logistic((double)st->flow.x[2][k]);
        value = s->discrete[k % d] ? rint(value) : value;
        st->now.X[k] = isfinite(value) ? (float)fmin(fmax(value, lo), hi) : st->before[k];
    }
    for (int32_t i = 0; i < s->view->n && cbx_project_is_needed(s); i++)
        cbx_project_row(s, i, st->before + (int64_t)i * d, st->flow.x[2] + (int64_t)i * d,
                        st->now.X + (int64_t)i * d);
    for (int64_t k = 0; k < (int64_t)s->view->n * d; k++)
        st->trials.now.changed_features += st->now.X[k] != st->before[k];
}

/* Of what is to go, that which the rules let go. */
static void keep_rules(state *st)
{
    const cbx_search *s = st->s;
    if (!st->goes)
        return;
    for (int32_t i = 0; i < s->view->n; i++)
        for (int64_t e = s->view->offset[i]; e < s->view->offset[i + 1]; e++)
            if (st->pairs.slot_of[st->pairs.pair_of[e]] == e)
                st->goes[st->pairs.pair_of[e]] =
                    st->now.gone[e] && cbx_project_may_go(s, s->view->source[e], i);
    if (st->shape)
        (void)cbx_shape_keep(st->shape, st->goes);
    for (int64_t e = 0; e < s->view->m; e++)
        st->now.gone[e] = st->goes[st->pairs.pair_of[e]];
}

/* … of edges. Those of one removal have the same score. */
static void take_edges(state *st)
{
    const cbx_view *v = st->s->view;
    cbx_edge_scores scores =
        cbx_clear_scores(&st->flow, v->n, st->s->options->edges == CBX_EDGES_UNDIRECTED);
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            st->now.gone[e] = cbx_edge_score(&scores, i, v->source[e]) < 0;
    keep_rules(st);
    for (int64_t e = 0; e < v->m; e++) {
        bool gone = st->now.gone[e];
        st->w[e] = gone ? 0 : v->weight ? v->weight[e] : 1;
        st->trials.now.removed_edges += gone;
        st->trials.now.edge_loss += gone && st->pairs.slot_of[st->pairs.pair_of[e]] == e;
    }
}

static void keep(state *st)
{
    const cbx_search *s = st->s;
    memcpy(st->best.X, st->now.X, (size_t)s->view->n * (size_t)s->X.cols * sizeof *st->best.X);
    memcpy(st->best.gone, st->now.gone, (size_t)s->view->m);
}

static void try_sample(state *st, int64_t number, int32_t class)
{
    cbx_search *s = st->s;
    uint64_t    seed = (uint64_t)s->options->seed + ((uint64_t)STREAM_SAMPLES << 56);
    cbx_rng     rng = cbx_rng_stream(seed, (uint64_t)s->row, (uint64_t)number, 0);
    cbx_matrix  X = cbx_matrix_dense(s->view->n, s->X.cols, st->now.X);
    for (int32_t k = 0; k < st->shared->net.latent; k++)
        st->flow.noise[k] = number ? (float)cbx_rng_normal(&rng) : 0;
    st->trials.now = (cbx_epoch){0};
    cbx_clear_decode(&st->flow, st->shared->trained.theta, class);
    take_features(st);
    take_edges(st);
    st->trials.now.feature_loss = (double)st->trials.now.changed_features;
    if (cbx_trials_judge(&st->trials, &X, st->w))
        keep(st);
}

/* ---- the answer */

static cbx_status write_edits(state *st, cbx_error *err)
{
    cbx_search     *s = st->s;
    const cbx_view *v = s->view;
    bool            undirected = s->options->edges == CBX_EDGES_UNDIRECTED;
    int64_t         count = 0, values = (int64_t)v->n * s->X.cols;
    for (int64_t k = 0; k < values; k++)
        count += st->best.X[k] != st->before[k];
    for (int64_t e = 0; e < v->m; e++)
        count += st->best.gone[e];
    cbx_status status = cbx_search_make_edits(s, count, err);
    if (status)
        return status;
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            if (st->best.gone[e] && st->pairs.slot_of[st->pairs.pair_of[e]] == e)
                s->edits[s->num_edits++] = cbx_search_edit_of_slot(s, i, e, undirected);
    for (int64_t k = 0; k < values; k++)
        if (st->best.X[k] != st->before[k])
            s->edits[s->num_edits++] =
                cbx_search_edit_of_feature(s, (int32_t)(k / s->X.cols), (int32_t)(k % s->X.cols),
                                           st->before[k], st->best.X[k]);
    return CBX_OK;
}

static cbx_status refuse(cbx_search *s, cbx_error *err)
{
    enum { LONGEST = 120 };
    char *text = CBX_NEW(s->keep, char, LONGEST);
    if (!text)
        return cbx_fail_memory(err);
    (void)snprintf(text, LONGEST, "the graph has %d nodes, and clear explains graphs of at most %d",
                   s->view->n, CBX_CLEAR_NODES);
    s->why = text;
    return CBX_OK;
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    const cbx_clear_settings *own = s->settings;
    const cbx_clear_shared   *shared = s->shared;
    state                     st;
    cbx_trained_tell(&shared->trained, s);
    if (s->view->n > shared->net.nodes)
        return refuse(s, err);
    cbx_status status = init(&st, s, err);
    if (status)
        return status;
    int32_t class = cbx_search_aim(s, s->before);
    cbx_clear_encode(&st.flow, shared->trained.theta, class);
    for (int64_t k = 0; k < own->samples; k++) {
        try_sample(&st, k, class);
        if (cbx_time_is_up() || cbx_search_should_stop(s, k + 1, own->samples))
            break;
    }
    return s->found ? write_edits(&st, err) : CBX_OK;
}

static cbx_status prepare(const cbx_setup *setup, cbx_arena *arena, const void **shared,
                          cbx_error *err)
{
    cbx_clear_shared *made = CBX_NEW0(arena, cbx_clear_shared, 1);
    *shared = made;
    return made ? cbx_clear_train(setup, arena, made, err) : cbx_fail_memory(err);
}

static int64_t steps(const void *own)
{
    return ((const cbx_clear_settings *)own)->samples;
}

#define AT(field) offsetof(cbx_clear_settings, field)
static const cbx_option own_options[] = {
    {"clear-epochs", CBX_OPTION_INT, AT(epochs), "200", 0, 1e6, NULL,
     "clear: passes over the graphs that it is trained on; the oracle counts in the second half"},
    {"clear-batch", CBX_OPTION_INT, AT(batch), "32", 1, 1e6, NULL, "clear: graphs a step"},
    {"clear-rows", CBX_OPTION_INT, AT(rows), "256", 1, 1e9, NULL,
     "clear: graphs that it is trained on, at most; of more, so many are drawn"},
    {"clear-samples", CBX_OPTION_INT, AT(samples), "10", 1, 1e6, NULL,
     "clear: codes that are decoded for a target: the mean, and draws around it"},
    {"clear-lr", CBX_OPTION_REAL, AT(lr), "0.001", 1e-12, 1e3, NULL, "clear: Adam's learning rate"},
    {"clear-features", CBX_OPTION_REAL, AT(features), "10", 0, 1e9, NULL,
     "clear: price of features that are not the graph's"},
    {"clear-edges", CBX_OPTION_REAL, AT(edges), "10", 0, 1e9, NULL,
     "clear: price of edges that are not the graph's"},
    {"clear-kl", CBX_OPTION_REAL, AT(kl), "1", 0, 1e9, NULL,
     "clear: price of codes that are not normally distributed"},
    {"clear-oracle", CBX_OPTION_REAL, AT(oracle), "5", 0, 1e9, NULL,
     "clear: weight of the oracle's cross-entropy"},
};
#undef AT

static const cbx_option_table own_table =
    CBX_OPTION_TABLE("clear", own_options, cbx_clear_settings);

const cbx_explainer cbx_explainer_clear = {.name = "clear",
                                           .search = search,
                                           .options = &own_table,
                                           .prepare = prepare,
                                           .steps = steps,
                                           .uncounted = true,
                                           .descends = true,
                                           .graphs_only = true};
