/* SPDX-License-Identifier: Apache-2.0 */
/* added.c: see added.h. */
#include "added.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "edge_columns.h"
#include "edit_kind.h"
#include "error.h"
#include "reweighted.h"
#include "sort.h"
#include "with_nodes.h"

/* Multiplications in the time of looking at an edge. */
static const double EDGE = 2;

/* ---- what there is */

cbx_in_edges cbx_graph_in_edges(const cbx_graph *g, int32_t node)
{
    cbx_in_edges in = {.begin = g->in_offset[node],
                       .own = g->in_offset[node + 1] - g->in_offset[node]};
    in.count = in.own;
    if (!g->added)
        return in;
    int64_t low = 0, high = g->added->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->added->target[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    in.added = low;
    for (; low < g->added->count && g->added->target[low] == node; low++)
        in.count++;
    return in;
}

bool cbx_graph_has_edge(const cbx_graph *g, int32_t source, int32_t target)
{
    for (int64_t s = g->in_offset[target]; s < g->in_offset[target + 1]; s++)
        if (g->in_source[s] == source)
            return true;
    return false;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Of `count` values, `stride` apart; `work` has room for them. Of an even number, the lower of the
 * two in the middle: a value that the data has. */
static float median(const float *values, int64_t count, int64_t stride, float *work)
{
    for (int64_t k = 0; k < count; k++)
        work[k] = values[k * stride];
    qsort(work, (size_t)count, sizeof *work, by_value);
    return work[(count - 1) / 2];
}

float cbx_graph_usual_weight(const cbx_graph *graph)
{
    int64_t m = graph->data.num_edges;
    if (!graph->slot_weight || m == 0)
        return 1;
    float *work = malloc((size_t)m * sizeof *work);
    float  middle = work ? median(graph->slot_weight, m, 1, work) : NAN;
    free(work);
    return middle == 0 ? 1 : middle;
}

/* Has every edge exactly one attribute that is 1, and the others 0? Then the one that most have,
 * the first of several; else -1. `count`: of each attribute. */
static int64_t most_common(const cbx_graph_data *d, int64_t *count)
{
    int64_t wide = d->edge_dim, best = 0;
    for (int64_t k = 0; k < d->num_edges; k++) {
        int32_t on = cbx_edge_row_kind(d->edge_attr + k * wide, d->edge_dim);
        if (on < 0)
            return -1;
        count[on]++;
    }
    for (int64_t j = 1; j < wide; j++)
        best = count[j] > count[best] ? j : best;
    return wide > 1 && d->num_edges > 0 ? best : -1;
}

/* Attributes by edge id, with the medians for each new edge; or, where they say of which kind an
 * edge is, the kind of most. */
static cbx_status add_attributes(cbx_graph *g, int64_t count, cbx_arena *arena, cbx_error *err)
{
    cbx_graph_data *d = &g->data;
    size_t          wide = (size_t)d->edge_dim, m = (size_t)d->num_edges;
    float          *attr = CBX_NEW(arena, float, (m + (size_t)count) * wide);
    float          *work = CBX_NEW(arena, float, m);
    int64_t        *kinds = CBX_NEW0(arena, int64_t, wide);
    if (!attr || !work || !kinds)
        return cbx_fail_memory(err);
    int64_t kind = most_common(d, kinds);
    memcpy(attr, d->edge_attr, m * wide * sizeof *attr);
    for (size_t j = 0; j < wide; j++) {
        float middle = kind >= 0 ? (float)((int64_t)j == kind)
                       : m       ? median(d->edge_attr + j, (int64_t)m, (int64_t)wide, work)
                                 : 0;
        for (size_t k = 0; k < (size_t)count; k++)
            attr[(m + k) * wide + j] = middle;
    }
    d->edge_attr = attr;
    return CBX_OK;
}

/* ---- adding */

static cbx_status refuse(const cbx_edit *e, int64_t k, const char *why, cbx_error *err)
{
    return cbx_fail(err, CBX_INVALID, "edit %lld: no edge can be added from node %d to node %d: %s",
                    (long long)k, e->source, e->target, why);
}

/* Can there be one? */
static cbx_status check(const cbx_graph *g, const cbx_edit *e, int64_t k, cbx_error *err)
{
    int32_t n = g->data.num_nodes;
    if (e->source < 0 || e->source >= n || e->target < 0 || e->target >= n)
        return cbx_fail(err, CBX_INVALID, "edit %lld: there is no node %d", (long long)k,
                        e->source < 0 || e->source >= n ? e->source : e->target);
    if (e->source == e->target)
        return refuse(e, k, "they are the same", err);
    if (g->data.task == CBX_GRAPH &&
        cbx_graph_of_node(g, e->source) != cbx_graph_of_node(g, e->target))
        return refuse(e, k, "they are of two graphs", err);
    if (!isfinite(e->weight))
        return refuse(e, k, "its weight is no number", err);
    double looks = (double)(g->in_offset[e->target + 1] - g->in_offset[e->target]);
    if (cbx_out_of_time(EDGE * looks))
        return cbx_fail_late(err);
    if (cbx_graph_has_edge(g, e->source, e->target) ||
        (e->undirected && cbx_graph_has_edge(g, e->target, e->source)))
        return refuse(e, k, "there is one already", err);
    return CBX_OK;
}

typedef struct new_edge {
    int32_t source, target;
    int64_t id;
    float   weight;
} new_edge;

static int by_target(const void *a, const void *b)
{
    const new_edge *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_ends(const void *a, const void *b)
{
    const new_edge *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

bool cbx_edits_remove_node(const cbx_edit *edits, int64_t count, int32_t node)
{
    for (int64_t k = 0; k < count; k++)
        if (edits[k].op == CBX_REMOVE_NODE && edits[k].node == node)
            return true;
    return false;
}

/* Every edge that the edits add, in order. Returns how many, or -1: see `err`. */
static int64_t list(const cbx_graph *g, const cbx_edit *edits, int64_t count, new_edge *to,
                    cbx_error *err)
{
    int64_t n = 0;
    float   usual = 0;
    for (int64_t k = 0; k < count; k++) {
        const cbx_edit *e = &edits[k];
        if (cbx_edit_kind_check(e, k, err))
            return -1;
        if (e->op != CBX_ADD_EDGE)
            continue;
        if (check(g, e, k, err))
            return -1;
        if (cbx_edits_remove_node(edits, count, e->source) ||
            cbx_edits_remove_node(edits, count, e->target)) {
            (void)refuse(e, k, "one of them is removed", err);
            return -1;
        }
        if (e->weight == 0 && usual == 0 && isnan(usual = cbx_graph_usual_weight(g))) {
            (void)cbx_fail_memory(err);
            return -1;
        }
        float weight = e->weight != 0 ? e->weight : usual;
        to[n] = (new_edge){e->source, e->target, n, weight};
        n++;
        if (e->undirected) {
            to[n] = (new_edge){e->target, e->source, n, weight};
            n++;
        }
    }
    return n;
}

static cbx_status refuse_twice(new_edge *edges, int64_t count, cbx_arena *arena, cbx_error *err)
{
    if (cbx_sort(edges, count, sizeof *edges, by_ends, arena))
        return cbx_fail_late(err);
    for (int64_t k = 1; k < count; k++)
        if (!by_ends(&edges[k - 1], &edges[k]))
            return cbx_fail(err, CBX_INVALID, "the edge from node %d to node %d is added twice",
                            edges[k].source, edges[k].target);
    return cbx_sort(edges, count, sizeof *edges, by_target, arena) ? cbx_fail_late(err) : CBX_OK;
}

/* `num`: how many there are. */
static cbx_status add_edges(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                            int64_t room, cbx_arena *arena, cbx_graph *out, int64_t *num,
                            cbx_error *err)
{
    cbx_error               why = {0};
    struct cbx_added_edges *added = CBX_NEW(arena, struct cbx_added_edges, 1);
    new_edge               *edges = CBX_NEW(arena, new_edge, room);
    if (!added || !edges)
        return cbx_fail_memory(err);
    int64_t n = list(graph, edits, count, edges, &why);
    if (n < 0)
        return cbx_fail(err, why.status, "%s", why.message);
    cbx_status status = refuse_twice(edges, n, arena, err);
    if (status)
        return status;
    *added = (struct cbx_added_edges){.count = n,
                                      .source = CBX_NEW(arena, int32_t, n),
                                      .target = CBX_NEW(arena, int32_t, n),
                                      .id = CBX_NEW(arena, int64_t, n),
                                      .weight = CBX_NEW(arena, float, n)};
    if (!added->source || !added->target || !added->id || !added->weight)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < n; k++) {
        added->source[k] = edges[k].source;
        added->target[k] = edges[k].target;
        added->id[k] = edges[k].id;
        added->weight[k] = edges[k].weight;
        added->weighted = added->weighted || edges[k].weight != 1;
    }
    out->added = added;
    *num = n;
    return CBX_OK;
}

cbx_status cbx_graph_with_edges(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                                cbx_arena *arena, cbx_graph *out, cbx_error *err)
{
    int64_t    room = 0, n = 0, with_nodes = cbx_edits_new_node_edges(edits, count);
    cbx_status status = cbx_graph_with_weights(graph, edits, count, arena, out, err);
    for (int64_t k = 0; k < count; k++)
        room += edits[k].op == CBX_ADD_EDGE ? 2 : 0;
    if (!status && room)
        status = add_edges(graph, edits, count, room, arena, out, &n, err);
    if (status || !out->data.edge_attr || n + with_nodes == 0)
        return status;
    return add_attributes(out, n + with_nodes, arena, err);
}
