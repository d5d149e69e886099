/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.h: graphs with a quickly trained model each, to be explained. */
#ifndef CBX_TEST_ORACLE_H
#define CBX_TEST_ORACLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/bag.h"
#include "combinex/kit.h"
#include "inner_options.h"

typedef struct oracle {
    bag            bag; /* the graph's arrays */
    cbx_graph_data data;
    cbx_graph     *graph;
    cbx_model     *model;
} oracle;

/* How the graph is and how the model; zeroed: a node task, undirected, dense. */
typedef struct oracle_shape {
    const char *conv; /* NULL: gcn */
    int64_t     order;
    const char *aggregation; /* NULL: add */
    int32_t     nodes;       /* 0: the karate club, and the rest does not count */
    int32_t     graphs;      /* 0: a node task */
    bool        directed;    /* with loops, repeated edges and weights */
    bool        weighted;    /* undirected, with weights that are the same both ways */
    bool        sparse;
    bool        tight; /* bounds are the data's smallest and largest values */
    /* of all features: d(iscrete), c(ontinuous), or f: discrete but with fractions, as
     * a mask can say; 0: discrete and continuous take turns */
    char        kind;
    int32_t     features;    /* 0: 5 */
    const char *standardise; /* NULL: off */
    const char *pool;        /* NULL: as it is by default */
    bool        block;       /* skip connections, batch normalisation, hidden units in the head */
    uint64_t    seed;
} oracle_shape;

static inline void oracle_must(cbx_status status, const cbx_error *err)
{
    if (status) {
        printf("  the test itself: %s\n", err->message);
        exit(1);
    }
}

/* Even features are whole numbers from 0 to 3 with bounds -1 and 5, odd ones lie
 * between -1 and 1 with bounds -1.5 and 2. A third of the entries are 0. */
static inline void oracle_features(oracle *o, cbx_rng *rng, bool sparse, char kind)
{
    int32_t  n = o->data.num_nodes, f = o->data.num_features;
    float   *x = TAKE(&o->bag, float, n *f), *value = TAKE(&o->bag, float, n *f);
    float   *lo = TAKE(&o->bag, float, f), *hi = TAKE(&o->bag, float, f);
    uint8_t *discrete = TAKE(&o->bag, uint8_t, f);
    int64_t *indptr = TAKE(&o->bag, int64_t, n + 1), at = 0;
    int32_t *column = TAKE(&o->bag, int32_t, n * f);
    for (int32_t j = 0; j < f; j++) {
        discrete[j] = kind ? kind != 'c' : j % 2 == 0;
        lo[j] = discrete[j] ? -1 : -1.5f;
        hi[j] = discrete[j] ? 5 : 2;
    }
    for (int32_t i = 0; i < n; i++) {
        indptr[i] = at;
        for (int32_t j = 0; j < f; j++) {
            float v = discrete[j] ? (float)cbx_rng_below(rng, 4) : draw(rng, -1, 1);
            v = cbx_rng_below(rng, 3) ? v : 0;
            v += kind == 'f' ? 0.3f : 0;
            x[i * f + j] = v;
            column[at] = j;
            value[at] = v;
            at += v != 0;
        }
    }
    indptr[n] = at;
    o->data.x = sparse ? NULL : x;
    o->data.x_indptr = sparse ? indptr : NULL;
    o->data.x_indices = sparse ? column : NULL;
    o->data.x_values = sparse ? value : NULL;
    o->data.num_x_values = sparse ? at : 0;
    o->data.discrete = discrete;
    o->data.feat_min = lo;
    o->data.feat_max = hi;
}

/* A ring in every graph, and as many random edges within it. */
static inline void oracle_edges(oracle *o, cbx_rng *rng, const int64_t *ends, int32_t graphs,
                                bool directed, bool weighted)
{
    int64_t  n = o->data.num_nodes, m = 0;
    int64_t *source = TAKE(&o->bag, int64_t, 4 * n), *target = TAKE(&o->bag, int64_t, 4 * n);
    float   *weight = TAKE(&o->bag, float, 4 * n);
    for (int32_t g = 0; g < graphs; g++)
        for (int64_t i = ends[g]; i < ends[g + 1]; i++)
            for (int way = 0; way < 2; way++) {
                int64_t size = ends[g + 1] - ends[g], to = ends[g] + (i + 1 - ends[g]) % size;
                if (way)
                    to = ends[g] + (int64_t)cbx_rng_below(rng, (uint64_t)size);
                if (to == i && !directed)
                    continue;
                weight[m] = draw(rng, 0.3, 1.5);
                source[m] = i;
                target[m++] = to;
                weight[m] = draw(rng, 0.3, 1.5);
                weight[m] = weighted ? weight[m - 1] : weight[m];
                source[m] = directed ? i % 3 ? to : i : to; /* every third is a loop at i */
                target[m++] = i;
            }
    o->data.num_edges = m;
    o->data.edge_source = source;
    o->data.edge_target = target;
    o->data.edge_weight = directed || weighted ? weight : NULL;
}

/* A label is about the first feature, of the node or on average. */
static inline void oracle_labels(oracle *o, const float *x, const int64_t *ends, int32_t rows)
{
    bool     whole = o->data.discrete[0];
    int64_t *y = TAKE(&o->bag, int64_t, rows);
    for (int32_t r = 0; r < rows; r++) {
        double  sum = 0;
        int64_t begin = ends ? ends[r] : r, end = ends ? ends[r + 1] : r + 1;
        for (int64_t i = begin; i < end; i++)
            sum += x[i * o->data.num_features];
        sum /= (double)(end - begin);
        y[r] = sum < (whole ? 0.9 : -0.2) ? 0 : sum < (whole ? 1.5 : 0.2) ? 1 : 2;
    }
    o->data.y = y;
    o->data.num_classes = 3;
}

static inline void oracle_graph(oracle *o, oracle_shape s)
{
    cbx_rng  rng = cbx_rng_stream(s.seed, (uint64_t)s.nodes, (uint64_t)s.graphs, 5);
    int32_t  graphs = s.graphs ? s.graphs : 1;
    int64_t *ends = TAKE(&o->bag, int64_t, graphs + 1);
    for (int32_t g = 0; g <= graphs; g++)
        ends[g] = (int64_t)g * s.nodes / graphs;
    o->data = (cbx_graph_data){.task = s.graphs ? CBX_GRAPH : CBX_NODE,
                               .num_nodes = s.nodes,
                               .num_features = s.features ? s.features : 5,
                               .num_graphs = s.graphs,
                               .graph_ptr = s.graphs ? ends : NULL};
    cbx_rng again = rng;
    oracle_features(o, &again, false, s.kind);
    oracle_labels(o, o->data.x, s.graphs ? ends : NULL, s.graphs ? s.graphs : s.nodes);
    oracle_features(o, &rng, s.sparse, s.kind); /* the same numbers in the form asked for */
    oracle_edges(o, &rng, ends, graphs, s.directed, s.weighted);
    if (s.tight)
        o->data.feat_min = o->data.feat_max = NULL;
    cbx_error err = {0};
    oracle_must(cbx_graph_new(&o->data, &o->graph, &err), &err);
}

static inline void oracle_train(oracle *o, oracle_shape s)
{
    cbx_model_spec    spec;
    cbx_train_options train;
    cbx_train_result  result;
    cbx_error         err = {0};
    const char       *conv = s.conv ? s.conv : "gcn", *how = s.aggregation ? s.aggregation : "add";
    cbx_fields_default(cbx_model_table(), &spec);
    cbx_fields_default(cbx_train_table(), &train);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", conv, &err), &err);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "aggregation", how, &err), &err);
    oracle_must(cbx_fields_set(cbx_train_table(), &train, "standardise",
                               s.standardise ? s.standardise : "off", &err),
                &err);
    if (s.pool)
        oracle_must(cbx_fields_set(cbx_model_table(), &spec, "pool", s.pool, &err), &err);
    spec.order = s.order ? s.order : 1;
    spec.layers = 2;
    spec.hidden = 12;
    spec.dropout = 0.1;
    spec.residual = spec.batch_norm = s.block;
    spec.head_hidden = s.block ? 6 : 0;
    train.epochs = 60;
    train.learning_rate = 0.02;
    train.threads = 1;
    train.seed = 1;
    oracle_must(cbx_model_new_with(o->graph, &spec, 3, &o->model, &err), &err);
    oracle_must(cbx_train_with(o->model, o->graph, &train, NULL, NULL, &result, &err), &err);
}

static inline oracle oracle_make(oracle_shape s)
{
    oracle    o = {0};
    cbx_error err = {0};
    if (s.nodes)
        oracle_graph(&o, s);
    else
        oracle_must(cbx_graph_builtin_with("karate", NULL, &o.graph, &err), &err);
    o.data = *cbx_graph_arrays(o.graph);
    oracle_train(&o, s);
    return o;
}

/* A graph as it is given, and a model of one layer whose parameters are to be set. */
static inline oracle oracle_by_hand(const cbx_graph_data *data, const char *conv,
                                    const char *aggregation, int64_t hidden)
{
    oracle         o = {.data = *data};
    cbx_model_spec spec;
    cbx_error      err = {0};
    oracle_must(cbx_graph_new(&o.data, &o.graph, &err), &err);
    o.data = *cbx_graph_arrays(o.graph);
    cbx_fields_default(cbx_model_table(), &spec);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", conv, &err), &err);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "aggregation", aggregation, &err), &err);
    spec.layers = 1;
    spec.hidden = hidden;
    oracle_must(cbx_model_new_with(o.graph, &spec, 1, &o.model, &err), &err);
    return o;
}

/* By PyG's name, and out x in as PyG has it. */
static inline void oracle_set(oracle *o, const char *wanted, const float *values)
{
    const char *name;
    int32_t     rows, cols;
    cbx_error   err = {0};
    for (size_t i = 0; cbx_model_parameter(o->model, i, &name, &rows, &cols); i++)
        if (!strcmp(name, wanted)) {
            oracle_must(cbx_model_set(o->model, i, values, (int64_t)rows * cols, &err), &err);
            return;
        }
    printf("  the test itself: no parameter %s\n", wanted);
    exit(1);
}

static inline void oracle_free(oracle *o)
{
    cbx_graph_free(o->graph);
    cbx_model_free(o->model);
    bag_free(&o->bag);
}

static inline int32_t oracle_rows(const oracle *o)
{
    return o->data.task == CBX_GRAPH ? o->data.num_graphs : o->data.num_nodes;
}

static inline float data_feature(const cbx_graph_data *d, int32_t i, int32_t j)
{
    if (d->x)
        return d->x[(int64_t)i * d->num_features + j];
    for (int64_t k = d->x_indptr[i]; k < d->x_indptr[i + 1]; k++)
        if (d->x_indices[k] == j)
            return d->x_values[k];
    return 0;
}

/* Settings are pairs of names and values of cbx_explain_table, up to a NULL. */
static inline cbx_explain_options explain_options(const char *const *settings)
{
    cbx_explain_options o = {0};
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    oracle_must(cbx_explain_preset_with(&o, "paper", &err), &err);
    for (; *settings; settings += 2)
        oracle_must(cbx_fields_set(cbx_explain_table(), &o, settings[0], settings[1], &err), &err);
    return o;
}

#define ASK(...) explain_options((const char *const[]){__VA_ARGS__, NULL})

static inline int32_t best_of(const float *values, int32_t count)
{
    int32_t best = 0;
    for (int32_t k = 1; k < count; k++)
        best = values[k] > values[best] ? k : best;
    return best;
}

/* Explains one row, which must work. */
static inline cbx_counterfactual *explain_row(const oracle *o, int32_t row,
                                              const cbx_explain_options *options)
{
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    oracle_must(cbx_explain_with(o->model, o->graph, row, options, NULL, NULL, &r, &err), &err);
    return r;
}

#endif
