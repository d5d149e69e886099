/* SPDX-License-Identifier: Apache-2.0 */
/* view.c: cutting views out of graphs. Costs are linear in the view, never in
 * the graph, except for the view that is the whole graph. */
#include "view.h"

#include <string.h>

#include "added.h"
#include "deadline.h"
#include "error.h"
#include "node_map.h"

/* Multiplications in the time of a few steps through memory, and of a look into a map. */
static const double STEP = 8, LOOKUP = 40;

cbx_status cbx_view_group_by_source(cbx_view *view, cbx_arena *arena, cbx_error *err)
{
    /* Counts two places up: see cbx_matrix_transpose. */
    int64_t *offset = CBX_NEW0(arena, int64_t, (size_t)view->n + 2);
    int32_t *target = CBX_NEW(arena, int32_t, view->m);
    int64_t *slot = CBX_NEW(arena, int64_t, view->m);
    if (!offset || !target || !slot)
        return cbx_fail_memory(err);
    for (int64_t e = 0; e < view->m; e++) {
        if (cbx_out_of_time_at(e, STEP))
            return cbx_fail_late(err);
        offset[view->source[e] + 2]++;
    }
    for (int32_t i = 0; i < view->n; i++)
        offset[i + 2] += offset[i + 1];
    for (int32_t i = 0; i < view->n; i++)
        for (int64_t e = view->offset[i]; e < view->offset[i + 1]; e++) {
            if (cbx_out_of_time_at(e, STEP))
                return cbx_fail_late(err);
            int64_t at = offset[view->source[e] + 1]++;
            target[at] = i;
            slot[at] = e;
        }
    view->out_offset = offset;
    view->out_target = target;
    view->out_slot = slot;
    return CBX_OK;
}

static cbx_status one_prefix(cbx_view *view, cbx_arena *arena, cbx_error *err)
{
    int32_t *prefix = CBX_NEW(arena, int32_t, 1);
    if (!prefix)
        return cbx_fail_memory(err);
    prefix[0] = view->n;
    view->hops = 0;
    view->prefix = prefix;
    return CBX_OK;
}

/* All edges in the order of targets, where some were added. */
static cbx_status merge_added(const cbx_graph *g, cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    int64_t  m = cbx_graph_num_edges(g), at = 0;
    int64_t *offset = CBX_NEW(arena, int64_t, (size_t)view->n + 1);
    int32_t *source = CBX_NEW(arena, int32_t, m);
    int64_t *edge = CBX_NEW(arena, int64_t, m);
    float   *weight = cbx_graph_is_weighted(g) ? CBX_NEW(arena, float, m) : NULL;
    if (!offset || !source || !edge || (cbx_graph_is_weighted(g) && !weight))
        return cbx_fail_memory(err);
    for (int32_t v = 0; v < view->n; v++) {
        cbx_in_edges in = cbx_graph_in_edges(g, v);
        offset[v] = at;
        for (int64_t k = 0; k < in.count; k++, at++) {
            cbx_in_edge e = cbx_in_edges_at(g, &in, k);
            if (cbx_out_of_time_at(at, STEP))
                return cbx_fail_late(err);
            source[at] = e.source;
            edge[at] = e.id;
            if (weight)
                weight[at] = e.weight;
        }
    }
    offset[view->n] = at;
    view->m = m;
    view->offset = offset;
    view->source = source;
    view->edge = edge;
    view->weight = weight;
    return CBX_OK;
}

cbx_status cbx_view_whole(const cbx_graph *graph, cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    const cbx_graph_data *d = &graph->data;
    *view = (cbx_view){.n = d->num_nodes,
                       .m = d->num_edges,
                       .offset = graph->in_offset,
                       .source = graph->in_source,
                       .weight = graph->slot_weight,
                       .edge = graph->in_edge,
                       .edge_attr = d->edge_attr,
                       .edge_dim = d->edge_dim};
    if (d->task == CBX_GRAPH) {
        int32_t *ptr = CBX_NEW(arena, int32_t, (size_t)d->num_graphs + 1);
        if (!ptr)
            return cbx_fail_memory(err);
        for (int32_t g = 0; g <= d->num_graphs; g++)
            ptr[g] = (int32_t)d->graph_ptr[g];
        view->num_graphs = d->num_graphs;
        view->graph_ptr = ptr;
    }
    cbx_status status = one_prefix(view, arena, err);
    if (!status && graph->added)
        status = merge_added(graph, arena, view, err);
    return status ? status : cbx_view_group_by_source(view, arena, err);
}

/* How a neighbourhood is cut out. */
typedef struct reach {
    int32_t         hops;
    int32_t         most;  /* nodes */
    bool            cone;  /* the last hop's nodes keep no edge but their own loops */
    const cbx_view *whole; /* NULL, or where outgoing edges are found, and they are followed */
} reach;

/* Adds a node unless there are too many, and then counts the link to it that is not followed.
 * -1: no memory. */
static int follow(cbx_node_map *map, int32_t node, int32_t most, int32_t *left_out)
{
    if (map->count < most || cbx_node_map_find(map, node) >= 0)
        return cbx_node_map_add(map, node) < 0 ? -1 : 0;
    *left_out += *left_out < INT32_MAX;
    return 0;
}

/* Breadth-first against the arrows, and at last one step with them. Fills the map with graph
 * id -> view id, and prefix[] as it goes. Returns the number of links that were not followed,
 * or -1: no memory, or no time. */
static int32_t find_nodes(const cbx_graph *g, int32_t node, const reach *cut, cbx_node_map *map,
                          int32_t *prefix)
{
    int32_t left_out = 0, begin = 0;
    if (cbx_node_map_add(map, node) < 0)
        return -1;
    prefix[0] = 1;
    for (int32_t h = 1; h <= cut->hops; h++) {
        int32_t end = map->count;
        for (int32_t i = begin; i < end; i++) {
            cbx_in_edges in = cbx_graph_in_edges(g, map->nodes[i]);
            for (int64_t k = 0; k < in.count; k++)
                if (cbx_out_of_time_at(in.begin + k, LOOKUP) ||
                    follow(map, cbx_in_edges_at(g, &in, k).source, cut->most, &left_out))
                    return -1;
        }
        begin = end;
        prefix[h] = map->count;
    }
    const cbx_view *w = cut->whole;
    for (int32_t i = 0; w && cut->hops > 0 && i < prefix[cut->hops - 1]; i++)
        for (int64_t o = w->out_offset[map->nodes[i]]; o < w->out_offset[map->nodes[i] + 1]; o++)
            if (cbx_out_of_time_at(o, LOOKUP) ||
                follow(map, w->out_target[o], cut->most, &left_out))
                return -1;
    for (int64_t k = 0; w && g->added && k < g->added->count; k++) {
        int32_t from = cbx_node_map_find(map, g->added->source[k]);
        if (cut->hops > 0 && from >= 0 && from < prefix[cut->hops - 1] &&
            follow(map, g->added->target[k], cut->most, &left_out))
            return -1;
    }
    prefix[cut->hops] = map->count;
    return left_out;
}

/* Where the edges of a view go; all NULL: they are only counted. */
typedef struct edge_arrays {
    int64_t *offset;
    int32_t *source;
    int64_t *edge;
    float   *weight, *outside_weight, *outside_count;
} edge_arrays;

/* Edges whose ends are both inside are taken, the others added up. In a cone the
 * last hop, which begins at node `last`, takes loops only. Returns how many, or -1: no time. */
static int64_t take_edges(const cbx_graph *g, const cbx_node_map *map, int32_t last,
                          const edge_arrays *to)
{
    int64_t m = 0;
    for (int32_t i = 0; i < map->count; i++) {
        int32_t v = map->nodes[i];
        double  outside = 0, count = 0;
        if (to->offset)
            to->offset[i] = m;
        cbx_in_edges in = cbx_graph_in_edges(g, v);
        for (int64_t k = 0; k < in.count; k++) {
            if (cbx_out_of_time_at(in.begin + k, LOOKUP))
                return -1;
            cbx_in_edge e = cbx_in_edges_at(g, &in, k);
            int32_t     j = i < last || e.source == v ? cbx_node_map_find(map, e.source) : -1;
            outside += j < 0 ? (double)e.weight : 0;
            count += j < 0;
            if (j >= 0 && to->source) {
                to->source[m] = j;
                to->edge[m] = e.id;
                if (to->weight)
                    to->weight[m] = e.weight;
            }
            m += j >= 0;
        }
        if (to->outside_weight) {
            to->outside_weight[i] = (float)outside;
            to->outside_count[i] = (float)count;
        }
    }
    if (to->offset)
        to->offset[map->count] = m;
    return m;
}

static cbx_status fill_around(const cbx_graph *g, const cbx_node_map *map, const reach *cut,
                              cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    int32_t n = map->count, last = cut->cone && cut->hops > 0 ? view->prefix[cut->hops - 1] : n;
    bool    partial = cut->cone || view->left_out > 0, weighted = cbx_graph_is_weighted(g);
    int64_t m = take_edges(g, map, last, &(edge_arrays){0});
    if (m < 0)
        return cbx_fail_late(err);
    edge_arrays to = {.offset = CBX_NEW(arena, int64_t, (size_t)n + 1),
                      .source = CBX_NEW(arena, int32_t, m),
                      .edge = CBX_NEW(arena, int64_t, m),
                      .weight = weighted ? CBX_NEW(arena, float, m) : NULL,
                      .outside_weight = partial ? CBX_NEW(arena, float, n) : NULL,
                      .outside_count = partial ? CBX_NEW(arena, float, n) : NULL};
    int32_t    *node = CBX_NEW(arena, int32_t, n);
    if (!to.offset || !to.source || !to.edge || !node || (weighted && !to.weight) ||
        (partial && (!to.outside_weight || !to.outside_count)))
        return cbx_fail_memory(err);
    if (take_edges(g, map, last, &to) < 0)
        return cbx_fail_late(err);
    memcpy(node, map->nodes, (size_t)n * sizeof *node);
    view->n = n;
    view->m = m;
    view->offset = to.offset;
    view->source = to.source;
    view->edge = to.edge;
    view->edge_attr = g->data.edge_attr;
    view->edge_dim = g->data.edge_dim;
    view->node = node;
    view->weight = to.weight;
    view->outside_weight = to.outside_weight;
    view->outside_count = to.outside_count;
    return cbx_view_group_by_source(view, arena, err);
}

static cbx_status view_of_cut(const cbx_graph *graph, int32_t node, const reach *cut,
                              cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    if (node < 0 || node >= graph->data.num_nodes)
        return cbx_fail(err, CBX_INVALID, "node %d does not exist: nodes are 0 to %d", node,
                        graph->data.num_nodes - 1);
    *view = (cbx_view){.hops = cut->hops};
    cbx_node_map map = {0};
    int32_t     *prefix = CBX_NEW(arena, int32_t, (size_t)cut->hops + 1);
    int32_t      left_out = prefix ? find_nodes(graph, node, cut, &map, prefix) : -1;
    cbx_status   status = left_out < 0 ? cbx_fail_late(err) : CBX_OK;
    if (!status) {
        view->prefix = prefix;
        view->left_out = left_out;
        status = fill_around(graph, &map, cut, arena, view, err);
    }
    cbx_node_map_free(&map);
    return status;
}

cbx_status cbx_view_around(const cbx_graph *graph, int32_t node, int32_t hops, cbx_arena *arena,
                           cbx_view *view, cbx_error *err)
{
    return view_of_cut(graph, node, &(reach){.hops = hops, .most = INT32_MAX}, arena, view, err);
}

cbx_status cbx_view_nearest(const cbx_graph *graph, int32_t node, int32_t hops, int32_t most,
                            cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    return cbx_view_both_ways(graph, NULL, node, hops, most, arena, view, err);
}

cbx_status cbx_view_both_ways(const cbx_graph *graph, const cbx_view *whole, int32_t node,
                              int32_t hops, int32_t most, cbx_arena *arena, cbx_view *view,
                              cbx_error *err)
{
    const reach cut = {.hops = hops, .most = most > 1 ? most : 1, .whole = whole};
    return view_of_cut(graph, node, &cut, arena, view, err);
}

cbx_status cbx_view_cone(const cbx_graph *graph, int32_t node, int32_t hops, cbx_arena *arena,
                         cbx_view *view, cbx_error *err)
{
    return view_of_cut(graph, node, &(reach){.hops = hops, .most = INT32_MAX, .cone = true}, arena,
                       view, err);
}

cbx_status cbx_view_graphs(const cbx_graph *graph, const int32_t *ids, int32_t count,
                           cbx_arena *arena, cbx_view *view, cbx_error *err)
{
    const cbx_graph_data *d = &graph->data;
    int64_t               n = 0, m = 0;
    *view = (cbx_view){.num_graphs = count};
    for (int32_t k = 0; k < count; k++) {
        if (ids[k] < 0 || ids[k] >= d->num_graphs)
            return cbx_fail(err, CBX_INVALID, "graph %d does not exist: graphs are 0 to %d", ids[k],
                            d->num_graphs - 1);
        int64_t a = d->graph_ptr[ids[k]], b = d->graph_ptr[ids[k] + 1];
        n += b - a;
        for (int64_t v = a; v < b; v++)
            m += cbx_graph_in_edges(graph, (int32_t)v).count;
    }
    int32_t *ptr = CBX_NEW(arena, int32_t, (size_t)count + 1), *node = CBX_NEW(arena, int32_t, n);
    int64_t *offset = CBX_NEW(arena, int64_t, n + 1), *edge = CBX_NEW(arena, int64_t, m);
    int32_t *source = CBX_NEW(arena, int32_t, m);
    bool     weighted = cbx_graph_is_weighted(graph);
    float   *weight = weighted ? CBX_NEW(arena, float, m) : NULL;
    if (!ptr || !node || !offset || !edge || !source || (weighted && !weight))
        return cbx_fail_memory(err);
    int32_t i = 0;
    int64_t e = 0;
    for (int32_t k = 0; k < count; k++) {
        int32_t a = (int32_t)d->graph_ptr[ids[k]], b = (int32_t)d->graph_ptr[ids[k] + 1];
        int32_t shift = i - a;
        ptr[k] = i;
        for (int32_t v = a; v < b; v++, i++) {
            node[i] = v;
            offset[i] = e;
            cbx_in_edges in = cbx_graph_in_edges(graph, v);
            for (int64_t s = 0; s < in.count; s++, e++) {
                if (cbx_out_of_time_at(e, STEP))
                    return cbx_fail_late(err);
                cbx_in_edge into = cbx_in_edges_at(graph, &in, s);
                source[e] = into.source + shift;
                edge[e] = into.id;
                if (weight)
                    weight[e] = into.weight;
            }
        }
    }
    ptr[count] = i;
    offset[i] = e;
    view->n = i;
    view->m = e;
    view->offset = offset;
    view->source = source;
    view->edge = edge;
    view->edge_attr = graph->data.edge_attr;
    view->edge_dim = graph->data.edge_dim;
    view->node = node;
    view->weight = weight;
    view->graph_ptr = ptr;
    cbx_status status = one_prefix(view, arena, err);
    return status ? status : cbx_view_group_by_source(view, arena, err);
}

static cbx_status gather_sparse(const cbx_graph_data *d, const cbx_view *view, cbx_arena *arena,
                                cbx_matrix *out, cbx_error *err)
{
    int64_t nnz = 0;
    for (int32_t i = 0; i < view->n; i++)
        nnz += d->x_indptr[view->node[i] + 1] - d->x_indptr[view->node[i]];
    int64_t *offset = CBX_NEW(arena, int64_t, (size_t)view->n + 1);
    int32_t *column = CBX_NEW(arena, int32_t, nnz);
    float   *value = CBX_NEW(arena, float, nnz);
    if (!offset || !column || !value)
        return cbx_fail_memory(err);
    int64_t at = 0;
    for (int32_t i = 0; i < view->n; i++) {
        int64_t begin = d->x_indptr[view->node[i]];
        size_t  count = (size_t)(d->x_indptr[view->node[i] + 1] - begin);
        if (cbx_out_of_time(STEP + (double)count))
            return cbx_fail_late(err);
        offset[i] = at;
        if (count) {
            memcpy(column + at, d->x_indices + begin, count * sizeof *column);
            memcpy(value + at, d->x_values + begin, count * sizeof *value);
        }
        at += (int64_t)count;
    }
    offset[view->n] = at;
    out->csr = (cbx_csr){offset, column, value};
    return CBX_OK;
}

cbx_status cbx_view_features(const cbx_graph *graph, const cbx_view *view, cbx_arena *arena,
                             cbx_matrix *out, cbx_error *err)
{
    const cbx_graph_data *d = &graph->data;
    *out = (cbx_matrix){.rows = view->n, .cols = d->num_features};
    if (!view->node) {
        out->dense = d->x;
        out->csr = (cbx_csr){d->x_indptr, d->x_indices, d->x_values};
        return CBX_OK;
    }
    if (!d->x)
        return gather_sparse(d, view, arena, out, err);
    size_t f = (size_t)d->num_features;
    float *rows = CBX_NEW(arena, float, (size_t)view->n *f);
    if (!rows)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < view->n; i++) {
        if (cbx_out_of_time(STEP + (double)f))
            return cbx_fail_late(err);
        memcpy(rows + (size_t)i * f, d->x + (size_t)view->node[i] * f, f * sizeof *rows);
    }
    out->dense = rows;
    return CBX_OK;
}
