/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c: how good one counterfactual is.
 *
 * Distances compare the mean row of the edited factual graph with the mean row of
 * the data set: of the features, and of the oracle's last hidden layer, which is
 * computed on the edited graph and from the edited features. Sums are taken in
 * double precision and in the order of rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "edit.h"
#include "blas.h"
#include "combinex/kit.h"
#include "error.h"
#include "kernel.h"
#include "order.h"
#include "pass.h"
#include "receptive.h"
#include "threads.h"

struct cbx_dataset_means {
    const cbx_model *model;
    const cbx_graph *graph;
    int32_t          num_features, width; /* of the last hidden layer */
    double          *features;            /* means over the data set's nodes */
    double          *hidden;
    cbx_arena        arena;
};

/* Adds the rows of X to sum[]. */
static void add_rows(const cbx_matrix *X, double *sum)
{
    const int64_t *offset = X->dense ? NULL : X->csr.offset;
    for (int32_t i = 0; i < X->rows; i++) {
        for (int32_t j = 0; X->dense && j < X->cols; j++)
            sum[j] += (double)X->dense[(int64_t)i * X->cols + j];
        for (int64_t k = offset ? offset[i] : 0; offset && k < offset[i + 1]; k++)
            sum[X->csr.column[k]] += (double)X->csr.value[k];
    }
}

/* Adds all rows of the last hidden layer on the view to sum[]. */
static cbx_status add_hidden(const cbx_model *model, const cbx_view *view, const cbx_matrix *X,
                             int threads, cbx_arena *arena, double *sum, cbx_error *err)
{
    cbx_pass   pass;
    cbx_status status = cbx_pass_init(&pass, model, view, X, false, threads, arena, err);
    if (status)
        return status;
    cbx_pass_forward(&pass, X, NULL, 0, 0);
    int32_t    last = model->num_layers - 1;
    cbx_matrix H = cbx_matrix_dense(view->n, model->layers[last].n_out, pass.out[last]);
    add_rows(&H, sum);
    return CBX_OK;
}

static cbx_status sum_nodes(cbx_dataset_means *y, int threads, cbx_arena *arena, cbx_error *err)
{
    cbx_view   view;
    cbx_matrix X;
    cbx_status status = cbx_view_whole(y->graph, arena, &view, err);
    if (!status)
        status = cbx_view_features(y->graph, &view, arena, &X, err);
    if (status)
        return status;
    add_rows(&X, y->features);
    return add_hidden(y->model, &view, &X, threads, arena, y->hidden, err);
}

/* Some graphs at a time, so that memory does not grow with their number. */
static cbx_status sum_graphs(cbx_dataset_means *y, int threads, cbx_arena *arena, cbx_error *err)
{
    enum { BATCH = 256 };
    int32_t    graphs = y->graph->data.num_graphs;
    cbx_status status = CBX_OK;
    for (int32_t at = 0; at < graphs && !status; at += BATCH) {
        int32_t    ids[BATCH], count = 0;
        cbx_view   view;
        cbx_matrix X;
        for (; count < BATCH && at + count < graphs; count++)
            ids[count] = at + count;
        cbx_arena_reset(arena);
        status = cbx_view_graphs(y->graph, ids, count, arena, &view, err);
        if (!status)
            status = cbx_view_features(y->graph, &view, arena, &X, err);
        if (status)
            break;
        add_rows(&X, y->features);
        status = add_hidden(y->model, &view, &X, threads, arena, y->hidden, err);
    }
    return status;
}

/* In the model's order. */
static cbx_status in_order(cbx_dataset_means *y,
                           cbx_status (*sum)(cbx_dataset_means *y, int threads, cbx_arena *work,
                                             cbx_error *err),
                           int threads, cbx_arena *work, cbx_error *err)
{
    bool       before = cbx_order_fix(y->model->reproducible);
    cbx_status status = sum(y, threads, work, err);
    (void)cbx_order_fix(before);
    return status;
}

cbx_status cbx_dataset_means_new(const cbx_model *model, const cbx_graph *graph, int64_t threads,
                                 cbx_dataset_means **out, cbx_error *err)
{
    *out = NULL;
    cbx_status status = cbx_model_fits(model, graph, err);
    if (status)
        return status;
    cbx_dataset_means *y = calloc(1, sizeof *y);
    if (!y)
        return cbx_fail_memory(err);
    cbx_arena work = {0};
    y->model = model;
    y->graph = graph;
    y->num_features = graph->data.num_features;
    y->width = model->layers[model->num_layers - 1].n_out;
    y->features = CBX_NEW0(&y->arena, double, y->num_features);
    y->hidden = CBX_NEW0(&y->arena, double, y->width);
    if (!y->features || !y->hidden)
        status = cbx_fail_memory(err);
    if (!status)
        status = cbx_blas_begin(err);
    if (!status)
        status = in_order(y, graph->data.task == CBX_GRAPH ? sum_graphs : sum_nodes,
                          cbx_threads(threads), &work, err);
    cbx_arena_free(&work);
    if (status) {
        cbx_dataset_means_free(y);
        return status;
    }
    for (int32_t j = 0; j < y->num_features; j++)
        y->features[j] /= graph->data.num_nodes;
    for (int32_t j = 0; j < y->width; j++)
        y->hidden[j] /= graph->data.num_nodes;
    *out = y;
    return CBX_OK;
}

void cbx_dataset_means_free(cbx_dataset_means *means)
{
    if (means)
        cbx_arena_free(&means->arena);
    free(means);
}

static bool is_cut_of(const cbx_view *view, const cbx_counterfactual *c)
{
    return view->n == c->num_nodes && view->m == c->num_edges;
}

/* The factual graph as the methods of the paper cut it out, or as a search for everything does. */
static cbx_status cut_node(const cbx_dataset_means *y, const cbx_counterfactual *c,
                           cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    cbx_view   whole;
    cbx_status status = cbx_view_nearest(y->graph, c->row, y->model->num_layers + 1, c->num_nodes,
                                         arena, view, err);
    if (status || is_cut_of(view, c) || !cbx_model_sees_further(y->model))
        return status;
    if (cbx_receptive_needs_whole(y->model) &&
        (status = cbx_view_whole(y->graph, arena, &whole, err)))
        return status;
    return cbx_receptive_view(y->model, y->graph, &whole, c->row, c->num_nodes, arena, view, err);
}

/* The factual graph of the answer, every node of which counts alike. */
static cbx_status cut_again(const cbx_dataset_means *y, const cbx_counterfactual *c,
                            cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    cbx_status status = c->task == CBX_GRAPH
                            ? cbx_view_graphs(y->graph, &c->row, 1, arena, view, err)
                            : cut_node(y, c, arena, view, err);
    if (status)
        return status;
    if (!is_cut_of(view, c))
        return cbx_fail(err, CBX_INVALID,
                        "the answer for row %d has a factual graph of %d nodes and %lld edges, and "
                        "this graph gives it %d and %lld",
                        c->row, c->num_nodes, (long long)c->num_edges, view->n, (long long)view->m);
    int32_t *all = CBX_NEW(arena, int32_t, 1);
    if (!all)
        return cbx_fail_memory(err);
    all[0] = view->n; /* or the layers would compute what the target's row needs */
    view->hops = 0;
    view->prefix = all;
    return CBX_OK;
}

static double distance(const double *sum, int32_t rows, const double *mean, int32_t cols)
{
    double total = 0;
    for (int32_t j = 0; j < cols; j++) {
        double d = sum[j] / rows - mean[j];
        total += d * d;
    }
    return sqrt(total);
}

static cbx_status measure_edited(const cbx_dataset_means *y, const cbx_counterfactual *c,
                                 cbx_arena *arena, cbx_measures *out, cbx_error *err)
{
    cbx_view   view, edited;
    cbx_matrix X, X_edited;
    cbx_places places;
    cbx_status status = cut_again(y, c, arena, &view, err);
    if (status)
        return status;
    uint8_t *drop = CBX_NEW(arena, uint8_t, view.m);
    double  *features = CBX_NEW0(arena, double, y->num_features);
    double  *hidden = CBX_NEW0(arena, double, y->width);
    if (!drop || !features || !hidden || cbx_places_init(&places, &view))
        return cbx_fail_memory(err);
    status = cbx_view_features(y->graph, &view, arena, &X, err);
    if (!status)
        status = cbx_edits_mark(y->graph, &places, c->edits, c->num_edits, drop, err);
    if (!status)
        status = cbx_view_without(&view, drop, arena, &edited, err);
    if (!status)
        status = cbx_features_edited(&places, &X, c->edits, c->num_edits, arena, &X_edited, err);
    cbx_places_free(&places);
    if (!status)
        status = add_hidden(y->model, &edited, &X_edited, 1, arena, hidden, err);
    if (status)
        return status;
    add_rows(&X_edited, features);
    out->node_sparsity =
        (double)c->num_features_changed / ((double)view.n * (double)y->num_features);
    out->edge_sparsity = view.m ? (double)(view.m - edited.m) / (double)view.m : 0;
    out->distribution_distance = distance(features, view.n, y->features, y->num_features);
    out->embedding_distance = distance(hidden, view.n, y->hidden, y->width);
    return CBX_OK;
}

cbx_status cbx_measure(const cbx_dataset_means *means, const cbx_counterfactual *answer,
                       cbx_measures *out, cbx_error *err)
{
    const int64_t *labels = means->graph->data.y;
    cbx_measures   m = {NAN, NAN, NAN, NAN, NAN, 0, 0};
    cbx_arena      arena = {0};
    *out = m;
    if (answer->outcome != CBX_FOUND)
        return CBX_OK;
    if (answer->task != means->graph->data.task || answer->row < 0 ||
        answer->row >= cbx_graph_label_rows(means->graph))
        return cbx_fail(err, CBX_INVALID, "the answer for row %d is not about this graph",
                        answer->row);
    if (answer->num_edges_added || answer->num_nodes_removed || answer->num_nodes_added ||
        answer->num_edges_reweighted) /* they may lead out of it */
        return cbx_fail(err, CBX_INVALID,
                        "the answer for row %d %s, and the measures are of what is left of "
                        "the factual graph",
                        answer->row,
                        answer->num_edges_added     ? "adds edges"
                        : answer->num_nodes_removed ? "removes nodes"
                        : answer->num_nodes_added   ? "adds nodes"
                                                    : "changes weights of edges");
    bool       before = cbx_order_fix(means->model->reproducible);
    cbx_status status = measure_edited(means, answer, &arena, &m, err);
    (void)cbx_order_fix(before);
    cbx_arena_free(&arena);
    if (status)
        return status;
    int64_t label = labels ? labels[answer->row] : -1;
    if (label >= 0)
        m.fidelity = (answer->prediction == label) - (answer->result == label);
    m.features_changed = answer->num_features_changed;
    m.edges_removed = answer->num_edges_removed;
    *out = m;
    return CBX_OK;
}
