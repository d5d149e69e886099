/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: the oracle on the edited graph: the whole of it in node tasks, the
 * whole graph in graph tasks, with edges really removed. It shares no code with
 * the search but the model itself. */
#include <string.h>

#include "edit.h"
#include "error.h"
#include "pass.h"

static cbx_status check(const cbx_model *model, const cbx_graph *graph, int32_t row,
                        const cbx_edit *edits, int64_t count, cbx_arena *arena, float *log_probs,
                        cbx_error *err)
{
    cbx_view   view, edited;
    cbx_matrix X, X_edited;
    cbx_pass   pass;
    bool       graphs = graph->data.task == CBX_GRAPH;
    cbx_status status = graphs ? cbx_view_graphs(graph, &row, 1, arena, &view, err)
                               : cbx_view_whole(graph, arena, &view, err);
    if (!status)
        status = cbx_view_features(graph, &view, arena, &X, err);
    if (status)
        return status;
    uint8_t *drop = CBX_NEW(arena, uint8_t, view.m);
    if (!drop)
        return cbx_fail_memory(err);
    status = cbx_edits_mark(graph, &view, edits, count, drop, err);
    if (!status)
        status = cbx_view_without(&view, drop, arena, &edited, err);
    if (!status)
        status = cbx_features_edited(&view, &X, edits, count, arena, &X_edited, err);
    if (!status)
        status = cbx_pass_init(&pass, model, &edited, &X_edited, false, 1, arena, err);
    if (status)
        return status;
    cbx_pass_forward(&pass, &X_edited, NULL, 0, 0);
    memcpy(log_probs, pass.logp + (graphs ? 0 : (int64_t)row * model->num_classes),
           (size_t)model->num_classes * sizeof *log_probs);
    return CBX_OK;
}

cbx_status cbx_check_edits(const cbx_model *model, const cbx_graph *graph, int32_t row,
                           const cbx_edit *edits, int64_t count, float *log_probs, cbx_error *err)
{
    cbx_arena  arena = {0};
    int32_t    rows = cbx_graph_label_rows(graph);
    cbx_status status = cbx_model_fits(model, graph, err);
    if (!status && (row < 0 || row >= rows))
        status = cbx_fail(err, CBX_INVALID, "%s %d does not exist: there are 0 to %d",
                          graph->data.task == CBX_GRAPH ? "graph" : "node", row, rows - 1);
    if (!status)
        status = check(model, graph, row, edits, count, &arena, log_probs, err);
    cbx_arena_free(&arena);
    return status;
}
