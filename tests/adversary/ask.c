/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: see ask.h. */
#include "ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cbx_graph_data data_of(const world *w)
{
    cbx_graph_data data = {.task = w->task,
                           .num_nodes = w->nodes,
                           .num_features = w->features,
                           .num_classes = w->classes,
                           .num_graphs = w->graphs,
                           .num_edges = w->edges,
                           .edge_source = w->source,
                           .edge_target = w->target,
                           .edge_weight = w->weighted ? w->edge_weight : NULL,
                           .discrete = w->told_kinds ? w->discrete : NULL,
                           .feat_min = w->told_bounds ? w->lo : NULL,
                           .feat_max = w->told_bounds ? w->hi : NULL,
                           .graph_ptr = w->task == CBX_GRAPH ? w->graph_ptr : NULL,
                           .immutable = w->immutable};
    data.x = w->sparse ? NULL : w->x;
    data.x_indptr = w->sparse ? w->indptr : NULL;
    data.x_indices = w->sparse ? w->indices : NULL;
    data.x_values = w->sparse ? w->values : NULL;
    data.num_x_values = w->sparse ? w->indptr[w->nodes] : 0;
    data.feature_group = w->told_blocks ? w->told : NULL;
    data.num_groups = w->told_blocks;
    return data;
}

/* The naive model's parameters, by name. */
static cbx_status fill_model(const question *q, cbx_model *model, cbx_error *err)
{
    const char *name;
    int32_t     rows, cols;
    for (size_t i = 0; cbx_model_parameter(model, i, &name, &rows, &cols); i++) {
        float         values[MAX_HEADS * MAX_LAYERS * MAX_HIDDEN * MAX_WIDE];
        int           stride;
        const double *from = naive_parameter((naive_gnn *)&q->gnn, name, &stride);
        if (!from) {
            (void)snprintf(err->message, sizeof err->message, "no parameter %s here", name);
            return CBX_INVALID;
        }
        for (int32_t r = 0; r < rows; r++)
            for (int32_t c = 0; c < cols; c++)
                values[r * cols + c] = (float)from[r * stride + c];
        cbx_status status = cbx_model_set(model, i, values, (int64_t)(rows ? rows : 1) * cols, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

/* A model gets a mean by training on features that have one. What it learns does not matter. */
static cbx_status centre_model(const question *q, cbx_model *model, cbx_error *err)
{
    enum { NODES = 8 };
    static const int64_t ends[] = {0, 2, 4, 6, 8};
    static const int64_t edges[NODES] = {0}, labels[NODES] = {0};
    float                x[NODES * MAX_WIDE];
    bool                 graphs = q->world.task == CBX_GRAPH;
    cbx_graph           *graph = NULL;
    cbx_options         *train = NULL;
    for (int k = 0; k < NODES * q->gnn.features; k++)
        x[k] = (float)(1 + k);
    cbx_graph_data data = {.task = q->world.task,
                           .num_nodes = NODES,
                           .num_features = q->gnn.features,
                           .num_classes = q->gnn.classes,
                           .num_graphs = graphs ? 4 : 0,
                           .num_edges = 1,
                           .edge_source = edges,
                           .edge_target = edges,
                           .graph_ptr = graphs ? ends : NULL,
                           .x = x,
                           .y = labels};
    cbx_status     status = cbx_options_new(cbx_train_table(), &train, err);
    if (!status)
        status = cbx_options_set(train, "epochs", "1", err);
    if (!status)
        status = cbx_options_set(train, "threads", "1", err);
    if (!status)
        status = cbx_graph_new(&data, &graph, err);
    if (!status)
        status = cbx_train(model, graph, train, NULL, NULL, NULL, err);
    cbx_options_free(train);
    cbx_graph_free(graph);
    return status;
}

static cbx_status set_number(cbx_options *options, const char *name, int value, cbx_error *err)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d", value);
    return cbx_options_set(options, name, text, err);
}

static cbx_status set_real(cbx_options *options, const char *name, double value, cbx_error *err)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.17g", value);
    return cbx_options_set(options, name, text, err);
}

static cbx_status set_attention(cbx_options *spec, const naive_gnn *g, cbx_error *err)
{
    cbx_status status = set_number(spec, "heads", g->heads, err);
    if (!status)
        status = cbx_options_set(spec, "average-heads", g->average ? "true" : "false", err);
    if (!status)
        status = cbx_options_set(spec, "no-self-loops", g->alone ? "true" : "false", err);
    return status ? status : set_real(spec, "negative-slope", g->slope, err);
}

static cbx_status make_model(const question *q, asked *a)
{
    static const char *const convs[] = {"gcn", "graphconv", "graphconv", "graphconv",
                                        "gin", "gat",       "cheb"};
    static const char *const ways[] = {"add", "add", "mean", "max", "add", "add", "add"};
    static const char *const pools[] = {"mean", "sum", "max", "mean"};
    cbx_options             *spec = NULL;
    cbx_error               *err = &a->error;
    cbx_status               status = cbx_options_new(cbx_model_table(), &spec, err);
    if (!status)
        status = set_number(spec, "layers", q->gnn.layers, err);
    if (!status)
        status = set_number(spec, "hidden", q->gnn.hidden, err);
    if (!status)
        status = set_number(spec, "order", q->gnn.order, err);
    if (!status)
        status = cbx_options_set(spec, "model", q->gnn.sage ? "sage" : convs[q->gnn.conv], err);
    if (!status && !q->gnn.sage)
        status = cbx_options_set(spec, "aggregation", ways[q->gnn.conv], err);
    if (!status)
        status = cbx_options_set(spec, "residual", q->gnn.residual ? "true" : "false", err);
    if (!status)
        status = cbx_options_set(spec, "batch-norm", q->gnn.norm ? "true" : "false", err);
    if (!status)
        status = set_number(spec, "head-hidden", q->gnn.head_hidden, err);
    if (!status && q->gnn.conv == NAIVE_GIN)
        status = set_real(spec, "eps", q->gnn.eps, err);
    if (!status && q->gnn.conv == NAIVE_GAT)
        status = set_attention(spec, &q->gnn, err);
    if (!status)
        status = cbx_options_set(spec, "head", q->gnn.cat ? "cat" : "last", err);
    if (!status)
        status = cbx_options_set(spec, "pool", pools[q->gnn.pool], err);
    if (!status)
        status = cbx_model_new(a->graph, spec, 1, &a->model, err);
    cbx_options_free(spec);
    if (!status && q->gnn.centred)
        status = centre_model(q, a->model, err);
    return status ? status : fill_model(q, a->model, err);
}

bool ask_prepare(const question *q, asked *a)
{
    cbx_graph_data data = data_of(&q->world);
    *a = (asked){0};
    cbx_status status = cbx_graph_new(&data, &a->graph, &a->error);
    if (!status)
        status = make_model(q, a);
    if (!status)
        status = cbx_options_new(cbx_explain_table(), &a->options, &a->error);
    for (int k = 0; k < q->num_settings && !status; k++)
        status = cbx_options_set(a->options, q->settings[k][0], q->settings[k][1], &a->error);
    return !status;
}

static int lose_patience(void *user, int64_t done, int64_t total, const char *text)
{
    int *left = user;
    (void)done;
    (void)total;
    (void)text;
    return --*left == 0;
}

bool ask_explain(const question *q, asked *a)
{
    int patience = q->patience;
    return !cbx_explain(a->model, a->graph, q->row, a->options, patience ? lose_patience : NULL,
                        &patience, &a->answer, &a->error);
}

void ask_free(asked *a)
{
    cbx_counterfactual_free(a->answer);
    cbx_options_free(a->options);
    cbx_model_free(a->model);
    cbx_graph_free(a->graph);
}
