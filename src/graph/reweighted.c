/* SPDX-License-Identifier: Apache-2.0 */
/* reweighted.c: see reweighted.h. */
#include "reweighted.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"

/* Multiplications in the time of looking at an edge. */
static const double EDGE = 2;

static cbx_status copy_weights(const cbx_graph *g, cbx_arena *arena, float **slot, float **id,
                               cbx_error *err)
{
    size_t m = (size_t)g->data.num_edges;
    *slot = CBX_NEW(arena, float, m);
    *id = CBX_NEW(arena, float, m);
    if (!*slot || !*id)
        return cbx_fail_memory(err);
    memcpy(*slot, g->slot_weight, m * sizeof **slot);
    memcpy(*id, g->data.edge_weight, m * sizeof **id);
    return CBX_OK;
}

/* Those from one node to another that the edit means. Returns how many. */
static int64_t set(const cbx_graph *g, const cbx_edit *e, int32_t source, int32_t target,
                   float *slot_weight, float *weight)
{
    int64_t found = 0;
    for (int64_t s = g->in_offset[target]; s < g->in_offset[target + 1]; s++) {
        int64_t id = cbx_graph_edge_id(g, s);
        if (g->in_source[s] != source || (!e->undirected && e->edge >= 0 && e->edge != id))
            continue;
        slot_weight[s] = weight[id] = e->weight;
        found++;
    }
    return found;
}

static cbx_status set_edge(const cbx_graph *g, const cbx_edit *e, int64_t k, float *slot_weight,
                           float *weight, cbx_error *err)
{
    int32_t n = g->data.num_nodes;
    bool    known = e->source >= 0 && e->source < n && e->target >= 0 && e->target < n;
    int64_t found = 0;
    if (!isfinite(e->weight))
        return cbx_fail(
            err, CBX_INVALID,
            "edit %lld gives the edge from node %d to node %d a weight that is no number",
            (long long)k, e->source, e->target);
    if (known &&
        cbx_out_of_time(EDGE * (double)(g->in_offset[e->target + 1] - g->in_offset[e->target])))
        return cbx_fail_late(err);
    if (known)
        found = set(g, e, e->source, e->target, slot_weight, weight);
    if (known && e->undirected && e->source != e->target)
        found += set(g, e, e->target, e->source, slot_weight, weight);
    return found ? CBX_OK
                 : cbx_fail(err, CBX_INVALID, "edit %lld: there is no edge from node %d to node %d",
                            (long long)k, e->source, e->target);
}

cbx_status cbx_graph_with_weights(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                                  cbx_arena *arena, cbx_graph *out, cbx_error *err)
{
    float     *slot_weight = NULL, *weight = NULL;
    cbx_status status = CBX_OK;
    *out = *graph;
    for (int64_t k = 0; k < count && !status; k++) {
        if (edits[k].op != CBX_SET_EDGE)
            continue;
        if (!graph->slot_weight || !graph->data.edge_weight)
            return cbx_fail(
                err, CBX_INVALID,
                "edit %lld sets the weight of an edge, and edges of this data have none",
                (long long)k);
        if (!weight)
            status = copy_weights(graph, arena, &slot_weight, &weight, err);
        if (!status)
            status = set_edge(graph, &edits[k], k, slot_weight, weight, err);
    }
    if (status || !weight)
        return status;
    out->slot_weight = slot_weight;
    out->data.edge_weight = weight;
    return CBX_OK;
}
