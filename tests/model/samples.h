/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h: graphs with labels that can be learned, and models from settings. */
#ifndef CBX_TEST_SAMPLES_H
#define CBX_TEST_SAMPLES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "model.h"
#include "rng.h"
#include "test.h"

typedef struct sample {
    cbx_graph_data data;
    cbx_graph     *graph;
    cbx_arena      arena; /* of the arrays */
} sample;

typedef struct sample_shape {
    int32_t  nodes; /* in all */
    int32_t  features, classes;
    int32_t  graphs;   /* 0: a node task */
    bool     sparse;   /* features */
    bool     full;     /* no feature is 0 */
    bool     weighted; /* edges */
    bool     plain;    /* a node task without loops */
    uint64_t seed;
} sample_shape;

/* Three edges into each node, from its own graph and mostly from its own class; each
 * tenth node has a loop too. */
static inline void sample_edges(sample *s, sample_shape shape, cbx_rng *rng)
{
    int32_t  n = shape.nodes, C = shape.classes, m = 0;
    int64_t *source = CBX_NEW(&s->arena, int64_t, n * 4),
            *target = CBX_NEW(&s->arena, int64_t, n * 4);
    float *weight = CBX_NEW(&s->arena, float, n * 4);
    for (int32_t i = 0; i < n; i++) {
        int32_t g = 0, a = 0, b = n;
        while (shape.graphs && s->data.graph_ptr[g + 1] <= i)
            g++;
        if (shape.graphs) {
            a = (int32_t)s->data.graph_ptr[g];
            b = (int32_t)s->data.graph_ptr[g + 1];
        }
        for (int k = 0; k < (i % 10 || shape.plain ? 3 : 4); k++, m++) {
            int32_t other = a + (int32_t)cbx_rng_below(rng, (uint64_t)(b - a));
            if (!shape.graphs && k < 2) /* classes are i % C */
                other = other - other % C + i % C < n ? other - other % C + i % C : i;
            if (shape.plain && other == i)
                other = (i + 1) % n;
            source[m] = k == 3 ? i : other;
            target[m] = i;
            weight[m] = (float)(0.2 + cbx_rng_uniform(rng));
        }
    }
    s->data.num_edges = m;
    s->data.edge_source = source;
    s->data.edge_target = target;
    s->data.edge_weight = shape.weighted ? weight : NULL;
}

/* Noise, and a hint of the class in one of the first columns. */
static inline void sample_features(sample *s, sample_shape shape, cbx_rng *rng)
{
    int32_t  n = shape.nodes, f = shape.features;
    float   *x = CBX_NEW(&s->arena, float, n *f), *value = CBX_NEW(&s->arena, float, n *f);
    int64_t *indptr = CBX_NEW0(&s->arena, int64_t, n + 1);
    int32_t *column = CBX_NEW(&s->arena, int32_t, n * f);
    int64_t  at = 0;
    for (int32_t i = 0, g = 0; i < n; i++) {
        while (shape.graphs && s->data.graph_ptr[g + 1] <= i)
            g++;
        int64_t label = s->data.y[shape.graphs ? g : i];
        for (int32_t j = 0; j < f; j++) {
            double share = cbx_rng_uniform(rng), v = 2 * cbx_rng_uniform(rng) - 1;
            v = share < 0.3 || shape.full ? v : 0;
            x[i * f + j] = (float)(v + (j == label % f ? 0.5 : 0));
            if (x[i * f + j] != 0) {
                column[at] = j;
                value[at++] = x[i * f + j];
            }
        }
        indptr[i + 1] = at;
    }
    s->data.x = shape.sparse ? NULL : x;
    s->data.x_indptr = shape.sparse ? indptr : NULL;
    s->data.x_indices = shape.sparse ? column : NULL;
    s->data.x_values = shape.sparse ? value : NULL;
    s->data.num_x_values = shape.sparse ? at : 0;
}

static inline sample make_sample(sample_shape shape)
{
    sample    s = {.data = {.task = shape.graphs ? CBX_GRAPH : CBX_NODE,
                            .num_nodes = shape.nodes,
                            .num_features = shape.features,
                            .num_classes = shape.classes,
                            .num_graphs = shape.graphs}};
    cbx_rng   rng = cbx_rng_stream(shape.seed, (uint64_t)shape.nodes, (uint64_t)shape.features, 0);
    int32_t   rows = shape.graphs ? shape.graphs : shape.nodes;
    int64_t  *y = CBX_NEW(&s.arena, int64_t, rows), *ptr = CBX_NEW(&s.arena, int64_t, rows + 1);
    cbx_error err = {0};
    for (int32_t i = 0; i < rows; i++)
        y[i] = i % shape.classes;
    for (int64_t g = 0; g <= shape.graphs && shape.graphs; g++) /* sizes vary */
        ptr[g] = g * shape.nodes / shape.graphs - (g > 0 && g < shape.graphs && g % 2);
    s.data.y = y;
    s.data.graph_ptr = shape.graphs ? ptr : NULL;
    sample_edges(&s, shape, &rng);
    sample_features(&s, shape, &rng);
    if (cbx_graph_new(&s.data, &s.graph, &err)) {
        printf("  %s\n", err.message);
        exit(1);
    }
    return s;
}

static inline void free_sample(sample *s)
{
    cbx_graph_free(s->graph);
    cbx_arena_free(&s->arena);
    *s = (sample){0};
}

/* Settings are pairs of names and values of cbx_model_table, up to a NULL. A gcn, if none says
 * otherwise. */
static inline cbx_model *make_model(const cbx_graph *g, int64_t seed, const char *const *settings)
{
    cbx_model_spec spec;
    cbx_model     *m = NULL;
    cbx_error      err = {0};
    cbx_fields_default(cbx_model_table(), &spec);
    CHECK_OK(cbx_fields_set(cbx_model_table(), &spec, "model", "gcn", &err), err);
    for (; *settings; settings += 2)
        CHECK_OK(cbx_fields_set(cbx_model_table(), &spec, settings[0], settings[1], &err), err);
    if (cbx_model_new_with(g, &spec, seed, &m, &err)) {
        printf("  %s\n", err.message);
        exit(1);
    }
    return m;
}

#define MODEL(g, seed, ...) make_model((g), (seed), (const char *const[]){__VA_ARGS__, NULL})

/* Likewise of cbx_train_table; features as they are, whose steps can be worked out. */
static inline cbx_train_options make_options(const char *const *settings)
{
    cbx_train_options o;
    cbx_error         err = {0};
    cbx_fields_default(cbx_train_table(), &o);
    CHECK_OK(cbx_fields_set(cbx_train_table(), &o, "standardise", "off", &err), err);
    for (; *settings; settings += 2)
        CHECK_OK(cbx_fields_set(cbx_train_table(), &o, settings[0], settings[1], &err), err);
    return o;
}

#define OPTIONS(...) make_options((const char *const[]){__VA_ARGS__, NULL})

static inline float *copy_theta(const cbx_model *m)
{
    float *copy = malloc((size_t)m->size * sizeof *copy);
    memcpy(copy, m->theta, (size_t)m->size * sizeof *copy);
    return copy;
}

static inline bool same_theta(const cbx_model *m, const float *theta)
{
    return !memcmp(m->theta, theta, (size_t)m->size * sizeof *theta);
}

#endif
