/* SPDX-License-Identifier: Apache-2.0 */
/* reweighted.c: see reweighted.h. */
#include "reweighted.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "edge_columns.h"
#include "edit_kind.h"
#include "error.h"

/* Multiplications in the time of looking at an edge. */
static const double EDGE = 2;

/* What edges are given; NULL: nothing of that kind. */
typedef struct given {
    float *slot_weight, *weight; /* by slot, by id */
    float *attr;                 /* by id, edge_dim of each */
} given;

static cbx_status copy_weights(const cbx_graph *g, cbx_arena *arena, given *to, cbx_error *err)
{
    size_t m = (size_t)g->data.num_edges;
    to->slot_weight = CBX_NEW(arena, float, m);
    to->weight = CBX_NEW(arena, float, m);
    if (!to->slot_weight || !to->weight)
        return cbx_fail_memory(err);
    memcpy(to->slot_weight, g->slot_weight, m * sizeof *to->slot_weight);
    memcpy(to->weight, g->data.edge_weight, m * sizeof *to->weight);
    return CBX_OK;
}

static cbx_status copy_attributes(const cbx_graph *g, cbx_arena *arena, given *to, cbx_error *err)
{
    size_t size = (size_t)g->data.num_edges * (size_t)g->data.edge_dim;
    to->attr = CBX_NEW(arena, float, size);
    if (!to->attr)
        return cbx_fail_memory(err);
    memcpy(to->attr, g->data.edge_attr, size * sizeof *to->attr);
    return CBX_OK;
}

/* What there is to be changed, copied before the first change. */
static cbx_status make_ready(const cbx_graph *g, const cbx_edit *e, int64_t k, cbx_arena *arena,
                             given *to, cbx_error *err)
{
    if (e->attribute) {
        cbx_status status = cbx_edit_kind_of(e)->fits(e, k, &g->data, err);
        return status || to->attr ? status : copy_attributes(g, arena, to, err);
    }
    if (!g->slot_weight || !g->data.edge_weight)
        return cbx_fail(err, CBX_INVALID,
                        "edit %lld sets the weight of an edge, and edges of this data have none",
                        (long long)k);
    return to->weight ? CBX_OK : copy_weights(g, arena, to, err);
}

static void set_attribute(const cbx_edit *e, float *row, int32_t wide)
{
    for (int32_t j = 0; j < wide && e->attribute < 0; j++)
        row[j] = 0;
    row[cbx_edit_column(e)] = e->weight;
}

/* Those from one node to another that the edit means. Returns how many. */
static int64_t set(const cbx_graph *g, const cbx_edit *e, int32_t source, int32_t target,
                   const given *to)
{
    int64_t found = 0;
    for (int64_t s = g->in_offset[target]; s < g->in_offset[target + 1]; s++) {
        int64_t id = cbx_graph_edge_id(g, s);
        if (g->in_source[s] != source || (!e->undirected && e->edge >= 0 && e->edge != id))
            continue;
        if (e->attribute)
            set_attribute(e, to->attr + id * g->data.edge_dim, g->data.edge_dim);
        else if (to->weight) /* which make_ready has seen to */
            to->slot_weight[s] = to->weight[id] = e->weight;
        found++;
    }
    return found;
}

static cbx_status set_edge(const cbx_graph *g, const cbx_edit *e, int64_t k, const given *to,
                           cbx_error *err)
{
    int32_t n = g->data.num_nodes;
    bool    known = e->source >= 0 && e->source < n && e->target >= 0 && e->target < n;
    int64_t found = 0;
    if (!isfinite(e->weight))
        return cbx_fail(err, CBX_INVALID,
                        "edit %lld gives the edge from node %d to node %d %s that is no number",
                        (long long)k, e->source, e->target,
                        e->attribute ? "an attribute" : "a weight");
    if (known &&
        cbx_out_of_time(EDGE * (double)(g->in_offset[e->target + 1] - g->in_offset[e->target])))
        return cbx_fail_late(err);
    if (known)
        found = set(g, e, e->source, e->target, to);
    if (known && e->undirected && e->source != e->target)
        found += set(g, e, e->target, e->source, to);
    return found ? CBX_OK
                 : cbx_fail(err, CBX_INVALID, "edit %lld: there is no edge from node %d to node %d",
                            (long long)k, e->source, e->target);
}

cbx_status cbx_graph_with_weights(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                                  cbx_arena *arena, cbx_graph *out, cbx_error *err)
{
    given      to = {0};
    cbx_status status = CBX_OK;
    *out = *graph;
    for (int64_t k = 0; k < count && !status; k++) {
        if (edits[k].op != CBX_SET_EDGE)
            continue;
        status = make_ready(graph, &edits[k], k, arena, &to, err);
        if (!status)
            status = set_edge(graph, &edits[k], k, &to, err);
    }
    if (status)
        return status;
    if (to.weight) {
        out->slot_weight = to.slot_weight;
        out->data.edge_weight = to.weight;
    }
    if (to.attr)
        out->data.edge_attr = to.attr;
    return CBX_OK;
}
