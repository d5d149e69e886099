/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: the oracle on the edited graph, with edges really removed.
 *
 * Graph tasks run on the whole graph, node tasks on the whole of it too while it
 * is of moderate size. For one node of a large graph that would be mostly idle
 * work: there the oracle runs on exactly what the node's class depends on
 * (cbx_view_cone), which gives the same numbers. It shares no code with the search
 * but the model itself. */
#include <string.h>

#include "edit.h"
#include "error.h"
#include "pass.h"
#include "setup.h"

/* Nodes up to which the whole graph is run. */
enum { MODERATE = 100000 };

static cbx_status run(const cbx_model *model, const cbx_graph *graph, const cbx_view *view,
                      const cbx_edit *edits, int64_t count, int32_t row, cbx_arena *arena,
                      float *log_probs, cbx_error *err)
{
    cbx_places places;
    cbx_view   edited;
    cbx_matrix X, X_edited;
    cbx_pass   pass;
    uint8_t   *drop = CBX_NEW(arena, uint8_t, view->m);
    if (!drop || cbx_places_init(&places, view))
        return cbx_fail_memory(err);
    cbx_status status = cbx_view_features(graph, view, arena, &X, err);
    if (!status)
        status = cbx_edits_mark(graph, &places, edits, count, drop, err);
    if (!status)
        status = cbx_view_without(view, drop, arena, &edited, err);
    if (!status)
        status = cbx_features_edited(&places, &X, edits, count, arena, &X_edited, err);
    if (!status)
        status = cbx_pass_init(&pass, model, &edited, &X_edited, false, 1, arena, err);
    if (!status) {
        cbx_pass_forward(&pass, &X_edited, NULL, 0, 0);
        memcpy(log_probs, pass.logp + (int64_t)row * model->num_classes,
               (size_t)model->num_classes * sizeof *log_probs);
    }
    cbx_places_free(&places);
    return status;
}

/* Takes the edges source -> target with this id (-1: any) out of what the last
 * hop's node `at` has outside the cone; returns how many there are. */
static int64_t remove_outside(const cbx_graph *g, const cbx_edit *e, int32_t source, int32_t target,
                              int32_t at, float *weight, float *count)
{
    int64_t found = 0;
    for (int64_t s = g->in_offset[target]; s < g->in_offset[target + 1]; s++) {
        if (g->in_source[s] != source ||
            (!e->undirected && e->edge >= 0 && e->edge != cbx_graph_edge_id(g, s)))
            continue;
        found++;
        if (at >= 0) {
            weight[at] -= g->slot_weight ? g->slot_weight[s] : 1;
            count[at] -= 1;
        }
    }
    return found;
}

/* In a cone an edit can be inside, where it is made like any other; into the last
 * hop, where it changes a degree; or without influence. Writes the first kind to
 * `inside` and makes the second. */
static cbx_status sort_edits(const cbx_graph *g, const cbx_view *cone, const cbx_places *places,
                             const cbx_edit *edits, int64_t count, cbx_edit *inside,
                             int64_t *num_inside, cbx_error *err)
{
    int32_t last = cone->prefix[cone->hops - 1], n = g->data.num_nodes;
    float  *weight = (float *)cone->outside_weight, *number = (float *)cone->outside_count;
    *num_inside = 0;
    for (int64_t k = 0; k < count; k++) {
        const cbx_edit *e = &edits[k];
        if (e->op == CBX_SET_FEATURE) {
            if (e->node < 0 || e->node >= n)
                return cbx_fail(err, CBX_INVALID, "edit %lld: there is no node %d", (long long)k, e->node);
            if (cbx_places_find(places, e->node) >= 0)
                inside[(*num_inside)++] = *e;
            continue;
        }
        int64_t found = 0;
        for (int back = 0; back <= (e->undirected && e->source != e->target); back++) {
            int32_t source = back ? e->target : e->source, target = back ? e->source : e->target;
            if (source < 0 || source >= n || target < 0 || target >= n)
                continue;
            int32_t at = cbx_places_find(places, target);
            bool    loop = source == target;
            int64_t here = remove_outside(g, e, source, target, at >= last && !loop ? at : -1,
                                          weight, number);
            found += here;
            if (here && at >= 0 && (at < last || loop))
                inside[(*num_inside)++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                                     .source = source,
                                                     .target = target,
                                                     .edge = e->undirected ? -1 : e->edge};
        }
        if (!found)
            return cbx_fail(err, CBX_INVALID, "edit %lld: there is no edge from node %d to node %d",
                            (long long)k, e->source, e->target);
    }
    return CBX_OK;
}

static cbx_status check_cone(const cbx_model *model, const cbx_graph *graph, int32_t row,
                             const cbx_edit *edits, int64_t count, cbx_arena *arena,
                             float *log_probs, cbx_error *err)
{
    cbx_view   cone;
    cbx_places places;
    int64_t    num_inside = 0;
    cbx_edit  *inside = CBX_NEW(arena, cbx_edit, 2 * count);
    if (!inside)
        return cbx_fail_memory(err);
    cbx_status status = cbx_view_cone(graph, row, cbx_model_reach(model), arena, &cone, err);
    if (status)
        return status;
    if (cbx_places_init(&places, &cone))
        return cbx_fail_memory(err);
    status = sort_edits(graph, &cone, &places, edits, count, inside, &num_inside, err);
    cbx_places_free(&places);
    return status ? status
                  : run(model, graph, &cone, inside, num_inside, 0, arena, log_probs, err);
}

/* Chebyshev layers normalise by degrees of outgoing edges, which a cone does not
 * know; and a model that looks nowhere has no cone. */
static bool has_cone(const cbx_model *model)
{
    for (int32_t l = 0; l < model->num_layers; l++)
        if (model->layers[l].ops->norm(&model->layers[l]) == CBX_NORM_CHEB)
            return false;
    return cbx_model_reach(model) > 0;
}

cbx_status cbx_check_edits_within(const cbx_model *model, const cbx_graph *graph, int32_t row,
                                  const cbx_edit *edits, int64_t count, int32_t moderate,
                                  float *log_probs, cbx_error *err)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    int32_t    rows = cbx_graph_label_rows(graph);
    bool       graphs = graph->data.task == CBX_GRAPH;
    cbx_status status = cbx_model_fits(model, graph, err);
    if (!status && (row < 0 || row >= rows))
        status = cbx_fail(err, CBX_INVALID, "%s %d does not exist: there are 0 to %d",
                          graphs ? "graph" : "node", row, rows - 1);
    if (status)
        return status;
    if (!graphs && rows > moderate && has_cone(model)) {
        status = check_cone(model, graph, row, edits, count, &arena, log_probs, err);
    } else {
        status = graphs ? cbx_view_graphs(graph, &row, 1, &arena, &view, err)
                        : cbx_view_whole(graph, &arena, &view, err);
        if (!status)
            status = run(model, graph, &view, edits, count, graphs ? 0 : row, &arena, log_probs, err);
    }
    cbx_arena_free(&arena);
    return status;
}

cbx_status cbx_check_edits(const cbx_model *model, const cbx_graph *graph, int32_t row,
                           const cbx_edit *edits, int64_t count, float *log_probs, cbx_error *err)
{
    return cbx_check_edits_within(model, graph, row, edits, count, MODERATE, log_probs, err);
}
