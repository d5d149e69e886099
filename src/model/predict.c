/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c: the classes of all rows of a graph. */
#include <math.h>
#include <string.h>

#include "blas.h"
#include "deadline.h"
#include "error.h"
#include "order.h"
#include "pass.h"
#include "threads.h"

/* Node tasks: one pass over the whole graph. */
static cbx_status predict_nodes(const cbx_model *m, const cbx_graph *g, int threads, float *logp,
                                cbx_error *err)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_status status = cbx_view_whole(g, &arena, &view, err);
    if (!status)
        status = cbx_view_features(g, &view, &arena, &X, err);
    if (!status)
        status = cbx_pass_init(&pass, m, &view, &X, false, threads, &arena, err);
    if (!status) {
        cbx_pass_forward(&pass, &X, NULL, 0, 0);
        memcpy(logp, pass.logp, (size_t)pass.rows_out * (size_t)m->num_classes * sizeof *logp);
    }
    cbx_arena_free(&arena);
    return status;
}

/* Graph tasks: some graphs at a time, so that memory does not grow with their number. */
static cbx_status predict_graphs(const cbx_model *m, const cbx_graph *g, int threads, float *logp,
                                 cbx_error *err)
{
    enum { BATCH = 256 };
    cbx_arena  arena = {0};
    cbx_status status = CBX_OK;
    int32_t    most = m->oracle && m->oracle->one_graph ? 1 : BATCH;
    for (int32_t at = 0; at < g->data.num_graphs && !status; at += most) {
        int32_t    ids[BATCH], count = 0;
        cbx_view   view;
        cbx_matrix X;
        cbx_pass   pass;
        for (; count < most && at + count < g->data.num_graphs; count++)
            ids[count] = at + count;
        cbx_arena_reset(&arena);
        status = cbx_view_graphs(g, ids, count, &arena, &view, err);
        if (!status)
            status = cbx_view_features(g, &view, &arena, &X, err);
        if (!status)
            status = cbx_pass_init(&pass, m, &view, &X, false, threads, &arena, err);
        if (status)
            break;
        cbx_pass_forward(&pass, &X, NULL, 0, 0);
        memcpy(logp + (int64_t)at * m->num_classes, pass.logp,
               (size_t)count * (size_t)m->num_classes * sizeof *logp);
    }
    cbx_arena_free(&arena);
    return status;
}

cbx_status cbx_predict_unchecked(const cbx_model *model, const cbx_graph *graph, int64_t threads,
                                 float *log_probs, cbx_error *err)
{
    cbx_status status = cbx_model_fits(model, graph, err);
    if (!status)
        status = cbx_blas_begin(err);
    if (status)
        return status;
    cbx_deadline deadline;
    bool         alone = cbx_deadline_begin_alone(&deadline);
    int          count = cbx_threads(threads);
    bool         before = cbx_order_fix(model->reproducible);
    status = graph->data.task == CBX_GRAPH ? predict_graphs(model, graph, count, log_probs, err)
                                           : predict_nodes(model, graph, count, log_probs, err);
    (void)cbx_order_fix(before);
    if (alone && !status && cbx_time_is_up())
        status = cbx_fail_late(err);
    if (alone)
        cbx_deadline_end(&deadline);
    return status;
}

cbx_status cbx_fail_overflow(const cbx_graph *graph, int32_t row, cbx_error *err)
{
    return cbx_fail(err, CBX_INVALID,
                    "%s %d: the model's output is not finite: features, edge weights or parameters "
                    "are too large for single precision",
                    graph->data.task == CBX_GRAPH ? "graph" : "node", row);
}

cbx_status cbx_predict(const cbx_model *model, const cbx_graph *graph, int64_t threads,
                       float *log_probs, cbx_error *err)
{
    cbx_status status = cbx_predict_unchecked(model, graph, threads, log_probs, err);
    int32_t    rows = cbx_graph_label_rows(graph);
    for (int32_t i = 0; i < rows && !status; i++)
        if (isnan(log_probs[(int64_t)i * model->num_classes]))
            status = cbx_fail_overflow(graph, i, err);
    return status;
}
