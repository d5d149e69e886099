/* SPDX-License-Identifier: Apache-2.0 */
/* d4.c: D4Explainer (Chen et al. 2023): noise is put on a graph and taken off again by a network
 * that was trained to leave a graph of another class.
 *
 * d4_train.h has the training, d4_net.h the network. A sample turns pairs of nodes around at the
 * largest level of noise. Level by level, down to the smallest, the network then says which edges
 * there are, a graph is drawn by that, and it gets the noise of the next level. In the end, edges
 * of the graph of which it says less than one half are removed. Edges that it would add are no
 * edits, and are left out. Of the samples that lead to the target, that of least loss is the
 * answer.
 *
 * In the record of a sample, loss is CE(target) + the number of removals. */
#include <stdio.h>
#include <string.h>

#include "d4_train.h"
#include "deadline.h"
#include "edge_mask.h"
#include "error.h"
#include "explainers.h"
#include "order.h"
#include "pairs.h"
#include "trial.h"

enum { STREAM_SAMPLES = 73 };

typedef struct state {
    cbx_search            *s;
    const cbx_d4_shared   *shared;
    const cbx_d4_settings *own;
    cbx_edge_mask          E;         /* its `cut` are the removals */
    uint8_t               *adjacency; /* n x n */
    cbx_d4_flow            flow;
    cbx_trials             trials;
    bool                   undirected;
} state;

static cbx_status init(state *st, cbx_search *s, cbx_error *err)
{
    size_t n = (size_t)s->view->n;
    *st = (state){.s = s, .shared = s->shared, .own = s->settings};
    st->undirected = s->options->edges == CBX_EDGES_UNDIRECTED;
    float *X = CBX_NEW(s->arena, float, n *(size_t)s->X.cols);
    st->adjacency = CBX_NEW(s->arena, uint8_t, n * n);
    if (!X || !st->adjacency ||
        cbx_d4_flow_init(&st->flow, &st->shared->net, s->view->n, X, false, s->arena))
        return cbx_fail_memory(err);
    cbx_matrix_expand(&s->X, s->view->n, X);
    cbx_status status = cbx_edge_mask_init(&st->E, s, err);
    return status ? status : cbx_trials_init(&st->trials, s, &s->X, err);
}

/* A graph drawn by what the network says. */
static void redraw(state *st, cbx_rng *rng)
{
    int32_t         n = st->s->view->n;
    cbx_edge_scores scores = cbx_d4_scores(&st->flow, st->undirected);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < (st->undirected ? i : n); j++) {
            bool there = cbx_rng_uniform(rng) < cbx_logistic(cbx_edge_score(&scores, i, j));
            st->adjacency[(int64_t)i * n + j] = there;
            if (st->undirected)
                st->adjacency[(int64_t)j * n + i] = there;
        }
}

/* Noise, and off again. */
static void denoise(state *st, cbx_rng *rng)
{
    cbx_search *s = st->s;
    cbx_d4_adjacency(s->view, st->undirected, st->adjacency);
    for (int32_t level = CBX_D4_LEVELS - 1; level >= 0 && !cbx_time_is_up(); level--) {
        double noise = cbx_d4_noise(st->own, level);
        cbx_d4_shake(s->view->n, st->undirected, noise, rng, st->adjacency);
        cbx_d4_forward(&st->flow, st->shared->trained.theta, st->adjacency, noise);
        redraw(st, rng);
    }
}

static void try_sample(state *st, int64_t number)
{
    cbx_search *s = st->s;
    uint64_t    seed = (uint64_t)s->options->seed + ((uint64_t)STREAM_SAMPLES << 56);
    cbx_rng     rng = cbx_rng_stream(seed, (uint64_t)s->row, (uint64_t)number, 0);
    cbx_epoch  *now = &st->trials.now;
    denoise(st, &rng);
    cbx_edge_scores scores = cbx_d4_scores(&st->flow, st->undirected);
    for (int64_t p = 0; p < st->E.pairs; p++) {
        int64_t slot = st->E.slot_of ? st->E.slot_of[p] : p;
        st->E.cut[p] = cbx_edge_score(&scores, st->E.target_of[slot], s->view->source[slot]) < 0;
    }
    cbx_edge_mask_apply(&st->E);
    *now = (cbx_epoch){.edge_loss = st->E.loss, .removed_edges = st->E.removed};
    if (cbx_trials_judge(&st->trials, &s->X, st->E.hard))
        cbx_edge_mask_keep(&st->E);
}

static cbx_status refuse(cbx_search *s, int32_t most, cbx_error *err)
{
    enum { LONGEST = 160 };
    char *text = CBX_NEW(s->keep, char, LONGEST);
    if (!text)
        return cbx_fail_memory(err);
    (void)snprintf(text, LONGEST,
                   "the graph has %d nodes, and the memory that d4 may take is enough for %d",
                   s->view->n, most);
    s->why = text;
    return CBX_OK;
}

static cbx_status try_all(cbx_search *s, cbx_error *err)
{
    state      st;
    cbx_status status = init(&st, s, err);
    if (status)
        return status;
    for (int64_t k = 0; k < st.own->samples; k++) {
        try_sample(&st, k);
        if (cbx_time_is_up() || cbx_search_should_stop(s, k + 1, st.own->samples))
            break;
    }
    return cbx_edge_mask_collect(&st.E, s, err);
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    const cbx_d4_shared *shared = s->shared;
    cbx_trained_tell(&shared->trained, s);
    return s->view->n > shared->most ? refuse(s, shared->most, err) : try_all(s, err);
}

static cbx_status prepare(const cbx_setup *setup, cbx_arena *arena, const void **shared,
                          cbx_error *err)
{
    cbx_d4_shared *made = CBX_NEW0(arena, cbx_d4_shared, 1);
    *shared = made;
    return made ? cbx_d4_train(setup, arena, made, err) : cbx_fail_memory(err);
}

static int64_t steps(const void *own)
{
    return ((const cbx_d4_settings *)own)->samples;
}

#define AT(field) offsetof(cbx_d4_settings, field)
static const cbx_option own_options[] = {
    {"d4-epochs", CBX_OPTION_INT, AT(epochs), "30", 0, 1e6, NULL,
     "d4: passes over the graphs that it is trained on"},
    {"d4-batch", CBX_OPTION_INT, AT(batch), "4", 1, 1e6, NULL, "d4: graphs a step"},
    {"d4-rows", CBX_OPTION_INT, AT(rows), "128", 1, 1e9, NULL,
     "d4: graphs that it is trained on, at most; of more, so many are drawn"},
    {"d4-samples", CBX_OPTION_INT, AT(samples), "10", 1, 1e6, NULL,
     "d4: times that noise is put on a target and taken off"},
    {"d4-layers", CBX_OPTION_INT, AT(layers), "6", 1, CBX_D4_LAYERS, NULL,
     "d4: layers of the network"},
    {"d4-width", CBX_OPTION_INT, AT(width), "64", 1, 4096, NULL,
     "d4: channels of a pair of nodes in them"},
    {"d4-lr", CBX_OPTION_REAL, AT(lr), "0.001", 1e-12, 1e3, NULL, "d4: Adam's learning rate"},
    {"d4-decay", CBX_OPTION_REAL, AT(decay), "0.999", 1e-6, 1, NULL,
     "d4: what the learning rate is multiplied by in every epoch"},
    {"d4-noise", CBX_OPTION_REAL, AT(noise), "0.4", 0, 0.5, NULL,
     "d4: share of pairs of nodes that the largest of its ten levels of noise turns around"},
    {"d4-edges", CBX_OPTION_REAL, AT(edges), "2.5", 0, 1e9, NULL,
     "d4: weight of a pair with an edge against one without"},
    {"d4-oracle", CBX_OPTION_REAL, AT(oracle), "0.5", 0, 1e9, NULL,
     "d4: weight of leaving the class against being like the graph"},
};
#undef AT

static const cbx_option_table own_table = CBX_OPTION_TABLE("d4", own_options, cbx_d4_settings);

const cbx_explainer cbx_explainer_d4 = {.name = "d4",
                                        .search = search,
                                        .options = &own_table,
                                        .prepare = prepare,
                                        .steps = steps,
                                        .uncounted = true,
                                        .descends = true,
                                        .graphs_only = true,
                                        .edges_only = true};
