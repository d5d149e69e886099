/* SPDX-License-Identifier: Apache-2.0 */
/* small_world.h: a graph so small that every set of edits can be made, and a model of it. */
#ifndef SMALL_WORLD_H
#define SMALL_WORLD_H

#include <math.h>
#include <string.h>

#include "combinex.h"
#include "rng.h"
#include "test.h"

/* So many nodes mostly, and at most. */
enum { NODES = 7, MOST_NODES = 10 };

enum { FEATURES = 3, CLASSES = 3, MOST_EDGES = 5 * MOST_NODES * MOST_NODES };

/* A small graph, as a matrix of edges. */
typedef struct world {
    cbx_rng     rng;
    cbx_task    task;
    int32_t     n;
    bool        edge[MOST_NODES][MOST_NODES];   /* from, to */
    int         copies[MOST_NODES][MOST_NODES]; /* more of them, where there is one */
    bool        weighted;
    float       weight[MOST_NODES][MOST_NODES];
    float       weights[MOST_EDGES];
    float       x[MOST_NODES * FEATURES];
    cbx_model  *model;
    cbx_graph  *graph;
    int64_t     source[MOST_EDGES], target[MOST_EDGES], y[MOST_NODES], ptr[2];
    const char *layer;
    int32_t     most_choices; /* 0: any number */
} world;

static inline int64_t below(world *w, uint64_t count)
{
    return (int64_t)cbx_rng_below(&w->rng, count);
}

/* Weights of edges, some of them 0. */
static inline void draw_weights(world *w)
{
    w->weighted = true;
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < w->n; v++) {
            float any = (float)(2 * cbx_rng_uniform(&w->rng));
            w->weight[u][v] = !w->edge[u][v] ? 1 : below(w, 8) ? any : 0;
        }
}

static inline cbx_graph *graph_of(world *w)
{
    cbx_graph     *graph = NULL;
    cbx_error      err = {0};
    cbx_graph_data d = {.task = w->task,
                        .num_nodes = w->n,
                        .num_features = FEATURES,
                        .num_classes = CLASSES,
                        .edge_source = w->source,
                        .edge_target = w->target,
                        .edge_weight = w->weighted ? w->weights : NULL,
                        .x = w->x,
                        .y = w->y};
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < w->n; v++)
            for (int copies = w->edge[u][v] ? 1 + w->copies[u][v] : 0; copies > 0; copies--) {
                w->weights[d.num_edges] = w->weight[u][v];
                w->source[d.num_edges] = u;
                w->target[d.num_edges++] = v;
            }
    w->ptr[1] = w->n;
    d.num_graphs = w->task == CBX_GRAPH ? 1 : 0;
    d.graph_ptr = w->task == CBX_GRAPH ? w->ptr : NULL;
    CHECK_OK(cbx_graph_new(&d, &graph, &err), err);
    return graph;
}

static inline void set(cbx_options *o, const char *name, const char *value)
{
    cbx_error err = {0};
    CHECK_OK(cbx_options_set(o, name, value, &err), err);
}

/* Parameters as training might leave them: biases and moments that are not 0. */
static inline void shake_parameters(world *w)
{
    cbx_error   err = {0};
    const char *name;
    int32_t     rows, cols;
    float       values[4096];
    for (size_t i = 0; cbx_model_parameter(w->model, i, &name, &rows, &cols); i++) {
        int64_t count = (int64_t)(rows ? rows : 1) * (cols ? cols : 1);
        CHECK_OK(cbx_model_get(w->model, i, values, count, &err), err);
        for (int64_t k = 0; k < count; k++) {
            values[k] += (float)(cbx_rng_uniform(&w->rng) - 0.5);
            if (strstr(name, "running_var"))
                values[k] = 0.3f + fabsf(values[k]);
        }
        CHECK_OK(cbx_model_set(w->model, i, values, count, &err), err);
    }
}

static inline void free_world(world *w)
{
    cbx_graph_free(w->graph);
    cbx_model_free(w->model);
}

/* The lead of one class over another on the graph of the world's edges as they are now. */
static inline double true_lead(world *w, int32_t a, int32_t b)
{
    float      logp[MOST_NODES * CLASSES];
    cbx_error  err = {0};
    cbx_graph *edited = graph_of(w);
    CHECK_OK(cbx_predict(w->model, edited, 1, logp, &err), err);
    cbx_graph_free(edited);
    return (double)logp[a] - logp[b];
}

/* Every parameter of a layer becomes another. */
static inline void change_layers(world *w, double (*to)(double))
{
    const char *name;
    cbx_error   err = {0};
    int32_t     rows, cols;
    float       values[4096];
    for (size_t i = 0; cbx_model_parameter(w->model, i, &name, &rows, &cols); i++) {
        int64_t count = (int64_t)(rows ? rows : 1) * (cols ? cols : 1);
        CHECK_OK(cbx_model_get(w->model, i, values, count, &err), err);
        for (int64_t k = 0; k < count && strstr(name, "layers."); k++)
            values[k] = (float)to(values[k]);
        CHECK_OK(cbx_model_set(w->model, i, values, count, &err), err);
    }
}

/* The class leads by so much more, on every graph. */
static inline void add_to_bias(world *w, int32_t class, double more)
{
    const char *name;
    cbx_error   err = {0};
    int32_t     rows, cols;
    float       bias[CLASSES];
    for (size_t i = 0; cbx_model_parameter(w->model, i, &name, &rows, &cols); i++)
        if (!strcmp(name, "output_layer.bias")) {
            CHECK_OK(cbx_model_get(w->model, i, bias, CLASSES, &err), err);
            bias[class] += (float)more;
            CHECK_OK(cbx_model_set(w->model, i, bias, CLASSES, &err), err);
        }
}

#endif
