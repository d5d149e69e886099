/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c: making a graph from plain arrays: check everything, then index.
 *
 * The checks read every value once. After them no other code asks whether a node
 * id is in range or a feature finite. */
#include "graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

cbx_graph *cbx_graph_empty(cbx_error *err)
{
    cbx_graph *g = calloc(1, sizeof *g);
    if (!g)
        cbx_fail_memory(err);
    return g;
}

void cbx_graph_free(cbx_graph *graph)
{
    if (!graph)
        return;
    if (graph->release)
        graph->release(graph->backing);
    cbx_arena_free(&graph->arena);
    free(graph);
}

const cbx_graph_data *cbx_graph_arrays(const cbx_graph *graph)
{
    return &graph->data;
}

/* ---- checks */

static cbx_status check_counts(const cbx_graph_data *d, cbx_error *err)
{
    const struct {
        const char *name;
        int64_t     value;
    } counts[] = {{"num_edges", d->num_edges},   {"num_classes", d->num_classes},
                  {"num_graphs", d->num_graphs}, {"num_splits", d->num_splits},
                  {"num_groups", d->num_groups}, {"num_x_values", d->num_x_values}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].value < 0)
            return cbx_fail(err, CBX_INVALID, "%s must not be negative, but is %lld",
                            counts[i].name, (long long)counts[i].value);
    return CBX_OK;
}

static cbx_status check_sizes(const cbx_graph_data *d, cbx_error *err)
{
    if (d->num_nodes <= 0)
        return cbx_fail(err, CBX_INVALID, "a graph needs at least one node, this has %d",
                        d->num_nodes);
    if (d->num_features <= 0)
        return cbx_fail(err, CBX_INVALID, "a graph needs at least one feature, this has %d",
                        d->num_features);
    if (d->num_edges > 0 && (!d->edge_source || !d->edge_target))
        return cbx_fail(err, CBX_INVALID, "%lld edges, but no edge arrays",
                        (long long)d->num_edges);
    if (!d->x && !(d->x_indptr && d->x_indices && d->x_values))
        return cbx_fail(err, CBX_INVALID,
                        "no features: neither x nor x_indptr, x_indices, x_values");
    if (d->task != CBX_NODE && d->task != CBX_GRAPH)
        return cbx_fail(err, CBX_INVALID, "task is %d, expected CBX_NODE (%d) or CBX_GRAPH (%d)",
                        (int)d->task, CBX_NODE, CBX_GRAPH);
    if (d->task == CBX_GRAPH && (d->num_graphs == 0 || !d->graph_ptr))
        return cbx_fail(err, CBX_INVALID, "a graph task needs graph_ptr and at least one graph");
    return CBX_OK;
}

static cbx_status check_graph_ptr(const cbx_graph_data *d, cbx_error *err)
{
    if (d->task != CBX_GRAPH)
        return CBX_OK;
    int32_t G = d->num_graphs;
    if (d->graph_ptr[0] != 0 || d->graph_ptr[G] != d->num_nodes)
        return cbx_fail(err, CBX_INVALID,
                        "graph_ptr must run from 0 to the number of nodes (%d), but runs from %lld "
                        "to %lld",
                        d->num_nodes, (long long)d->graph_ptr[0], (long long)d->graph_ptr[G]);
    for (int32_t g = 0; g < G; g++)
        if (d->graph_ptr[g + 1] <= d->graph_ptr[g])
            return cbx_fail(err, CBX_INVALID,
                            "graph_ptr[%d] = %lld is not more than the entry before, %lld", g + 1,
                            (long long)d->graph_ptr[g + 1], (long long)d->graph_ptr[g]);
    return CBX_OK;
}

static cbx_status check_edge_attr(const cbx_graph_data *d, cbx_error *err)
{
    if (d->edge_dim < 0 || (d->edge_dim > 0) != (d->edge_attr != NULL))
        return cbx_fail(err, CBX_INVALID, "edge_dim is %d, and there %s edge attributes",
                        d->edge_dim, d->edge_attr ? "are" : "are no");
    for (int64_t k = 0; k < d->num_edges * d->edge_dim; k++)
        if (!isfinite(d->edge_attr[k]))
            return cbx_fail(err, CBX_INVALID, "edge %lld (%lld -> %lld): attribute %lld is %g",
                            (long long)(k / d->edge_dim),
                            (long long)d->edge_source[k / d->edge_dim],
                            (long long)d->edge_target[k / d->edge_dim],
                            (long long)(k % d->edge_dim), (double)d->edge_attr[k]);
    return CBX_OK;
}

static cbx_status check_edges(const cbx_graph_data *d, cbx_error *err)
{
    for (int64_t e = 0; e < d->num_edges; e++) {
        int64_t s = d->edge_source[e], t = d->edge_target[e];
        if (s < 0 || s >= d->num_nodes || t < 0 || t >= d->num_nodes)
            return cbx_fail(err, CBX_INVALID,
                            "edge %lld (%lld -> %lld) points outside the graph: nodes are 0 to %d",
                            (long long)e, (long long)s, (long long)t, d->num_nodes - 1);
        if (d->edge_weight && !isfinite(d->edge_weight[e]))
            return cbx_fail(err, CBX_INVALID, "edge %lld (%lld -> %lld) has weight %g",
                            (long long)e, (long long)s, (long long)t, (double)d->edge_weight[e]);
        if (d->edge_weight && d->edge_weight[e] < 0)
            return cbx_fail(err, CBX_INVALID,
                            "edge %lld (%lld -> %lld) has weight %g; weights must not be negative",
                            (long long)e, (long long)s, (long long)t, (double)d->edge_weight[e]);
    }
    return check_edge_attr(d, err);
}

static cbx_status bad_feature(const cbx_graph_data *d, int64_t row, int64_t column, float v,
                              cbx_error *err)
{
    (void)d;
    return cbx_fail(err, CBX_INVALID, "feature %lld of node %lld is %g; features must be finite",
                    (long long)column, (long long)row, (double)v);
}

static cbx_status check_sparse_row(const cbx_graph_data *d, int32_t i, cbx_error *err)
{
    int64_t begin = d->x_indptr[i], end = d->x_indptr[i + 1];
    for (int64_t k = begin; k < end; k++) {
        int32_t j = d->x_indices[k];
        if (j < 0 || j >= d->num_features)
            return cbx_fail(err, CBX_INVALID, "row %d of x has column %d; columns are 0 to %d", i,
                            j, d->num_features - 1);
        if (k > begin && j <= d->x_indices[k - 1])
            return cbx_fail(err, CBX_INVALID, "row %d of x: columns must ascend, but %d follows %d",
                            i, j, d->x_indices[k - 1]);
        if (!isfinite(d->x_values[k]))
            return bad_feature(d, i, j, d->x_values[k], err);
    }
    return CBX_OK;
}

static cbx_status check_features(const cbx_graph_data *d, cbx_error *err)
{
    if (d->x) {
        int64_t count = (int64_t)d->num_nodes * d->num_features;
        for (int64_t k = 0; k < count; k++)
            if (!isfinite(d->x[k]))
                return bad_feature(d, k / d->num_features, k % d->num_features, d->x[k], err);
        return CBX_OK;
    }
    if (d->x_indptr[0] != 0)
        return cbx_fail(err, CBX_INVALID, "x.indptr starts at %lld, not 0",
                        (long long)d->x_indptr[0]);
    if (d->x_indptr[d->num_nodes] != d->num_x_values)
        return cbx_fail(err, CBX_INVALID,
                        "x.indptr ends with %lld, but x.indices and x.values have %lld entries",
                        (long long)d->x_indptr[d->num_nodes], (long long)d->num_x_values);
    for (int32_t i = 0; i < d->num_nodes; i++) {
        if (d->x_indptr[i + 1] > d->x_indptr[d->num_nodes])
            return cbx_fail(err, CBX_INVALID,
                            "x.indptr[%d] = %lld is more than the last entry, %lld", i + 1,
                            (long long)d->x_indptr[i + 1], (long long)d->x_indptr[d->num_nodes]);
        if (d->x_indptr[i + 1] < d->x_indptr[i])
            return cbx_fail(err, CBX_INVALID,
                            "x.indptr[%d] = %lld is less than the entry before, %lld", i + 1,
                            (long long)d->x_indptr[i + 1], (long long)d->x_indptr[i]);
        cbx_status status = check_sparse_row(d, i, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

static cbx_status check_groups(const cbx_graph_data *d, cbx_error *err)
{
    if (d->num_groups > 0 && !d->feature_group)
        return cbx_fail(err, CBX_INVALID, "%d groups of features, but no feature_group",
                        d->num_groups);
    for (int32_t j = 0; d->feature_group && j < d->num_features; j++)
        if (d->feature_group[j] < -1 || d->feature_group[j] >= d->num_groups)
            return cbx_fail(err, CBX_INVALID,
                            "feature %d is of group %d; groups are 0 to %d, or -1 for none", j,
                            d->feature_group[j], d->num_groups - 1);
    return CBX_OK;
}

static cbx_status check_names(const cbx_graph_data *d, cbx_error *err)
{
    const struct {
        const char        *what;
        const char *const *names;
        int32_t            count;
    } lists[] = {{"class_names", d->class_names, d->num_classes},
                 {"feature_names", d->feature_names, d->num_features},
                 {"node_names", d->node_names, d->num_nodes},
                 {"group_names", d->group_names, d->num_groups}};
    if (d->class_names && d->num_classes == 0) /* how many to find in y must not decide */
        return cbx_fail(err, CBX_INVALID, "class_names are given, but num_classes is 0");
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (int32_t i = 0; lists[k].names && i < lists[k].count; i++)
            if (!lists[k].names[i])
                return cbx_fail(err, CBX_INVALID, "%s[%d] is NULL", lists[k].what, i);
    return CBX_OK;
}

/* After the missing ones were found: a bound given may contradict one found. */
static cbx_status check_bounds(const cbx_graph_data *d, cbx_error *err)
{
    for (int32_t j = 0; j < d->num_features; j++) {
        float lo = d->feat_min[j], hi = d->feat_max[j];
        if (!isfinite(lo) || !isfinite(hi) || lo > hi)
            return cbx_fail(err, CBX_INVALID, "feature %d has the bounds %g to %g", j, (double)lo,
                            (double)hi);
    }
    return CBX_OK;
}

static cbx_status check_labels(cbx_graph *g, cbx_error *err)
{
    cbx_graph_data *d = &g->data;
    int64_t         largest = -1;
    if (d->y) {
        int32_t rows = cbx_graph_label_rows(g);
        for (int32_t i = 0; i < rows; i++) {
            if (d->y[i] < -1 || d->y[i] >= (d->num_classes ? d->num_classes : INT32_MAX))
                return cbx_fail(err, CBX_INVALID,
                                "label %lld of %s %d is out of range: 0 to %d, or -1 for unknown",
                                (long long)d->y[i], d->task == CBX_GRAPH ? "graph" : "node", i,
                                (d->num_classes ? d->num_classes : INT32_MAX) - 1);
            largest = d->y[i] > largest ? d->y[i] : largest;
        }
    }
    /* Whatever counts by class takes memory for all of them. */
    int64_t most = 65536 + 64 * (int64_t)cbx_graph_label_rows(g);
    if (d->num_classes == 0 && largest >= most)
        return cbx_fail(err, CBX_INVALID,
                        "label %lld is too large for %d rows, unless num_classes says so",
                        (long long)largest, cbx_graph_label_rows(g));
    if (d->num_classes == 0)
        d->num_classes = (int32_t)(largest + 1);
    return CBX_OK;
}

/* ---- what was not given: kinds and bounds of features, from their values */

static void range_of_dense(const cbx_graph_data *d, float *lo, float *hi, uint8_t *whole)
{
    int32_t f = d->num_features;
    for (int32_t j = 0; j < f; j++) {
        lo[j] = hi[j] = d->x[j];
        whole[j] = 1;
    }
    for (int32_t i = 0; i < d->num_nodes; i++) {
        const float *row = d->x + (int64_t)i * f;
        for (int32_t j = 0; j < f; j++) {
            lo[j] = row[j] < lo[j] ? row[j] : lo[j];
            hi[j] = row[j] > hi[j] ? row[j] : hi[j];
            if (row[j] != rintf(row[j]))
                whole[j] = 0;
        }
    }
}

static void range_of_sparse(const cbx_graph_data *d, int32_t *seen, float *lo, float *hi,
                            uint8_t *whole)
{
    int32_t f = d->num_features;
    for (int32_t j = 0; j < f; j++) {
        seen[j] = 0;
        whole[j] = 1;
    }
    for (int64_t k = 0; k < d->x_indptr[d->num_nodes]; k++) {
        int32_t j = d->x_indices[k];
        float   v = d->x_values[k];
        lo[j] = !seen[j] || v < lo[j] ? v : lo[j];
        hi[j] = !seen[j] || v > hi[j] ? v : hi[j];
        if (v != rintf(v))
            whole[j] = 0;
        seen[j]++;
    }
    for (int32_t j = 0; j < f; j++) {
        if (seen[j] == d->num_nodes)
            continue;
        lo[j] = seen[j] && lo[j] < 0 ? lo[j] : 0; /* the entries not stored are zeros */
        hi[j] = seen[j] && hi[j] > 0 ? hi[j] : 0;
    }
}

static cbx_status fill_feature_facts(cbx_graph *g, cbx_error *err)
{
    cbx_graph_data *d = &g->data;
    if (d->discrete && d->feat_min && d->feat_max)
        return CBX_OK;
    int32_t  f = d->num_features;
    float   *lo = CBX_NEW(&g->arena, float, f), *hi = CBX_NEW(&g->arena, float, f);
    uint8_t *whole = CBX_NEW(&g->arena, uint8_t, f);
    int32_t *seen = CBX_NEW(&g->arena, int32_t, f);
    if (!lo || !hi || !whole || !seen)
        return cbx_fail_memory(err);
    if (d->x)
        range_of_dense(d, lo, hi, whole);
    else
        range_of_sparse(d, seen, lo, hi, whole);
    d->discrete = d->discrete ? d->discrete : whole;
    d->feat_min = d->feat_min ? d->feat_min : lo;
    d->feat_max = d->feat_max ? d->feat_max : hi;
    return CBX_OK;
}

/* ---- the index */

/* A stable counting sort by target. Files are often sorted already; then slots
 * are ids, and neither the permutation nor a copy of the weights is needed. */
static cbx_status group_by_target(cbx_graph *g, cbx_error *err)
{
    const cbx_graph_data *d = &g->data;
    int64_t               m = d->num_edges;
    int64_t              *offset = CBX_NEW0(&g->arena, int64_t, (size_t)d->num_nodes + 1);
    int32_t              *source = CBX_NEW(&g->arena, int32_t, m);
    if (!offset || !source)
        return cbx_fail_memory(err);
    bool sorted = true;
    for (int64_t e = 0; e < m; e++) {
        offset[d->edge_target[e] + 1]++;
        sorted = sorted && (e == 0 || d->edge_target[e - 1] <= d->edge_target[e]);
    }
    for (int32_t i = 0; i < d->num_nodes; i++)
        offset[i + 1] += offset[i];
    g->in_offset = offset;
    g->in_source = source;
    g->slot_weight = d->edge_weight;
    if (sorted) {
        for (int64_t e = 0; e < m; e++)
            source[e] = (int32_t)d->edge_source[e];
        return CBX_OK;
    }
    int64_t *edge = CBX_NEW(&g->arena, int64_t, m);
    int64_t *next = CBX_NEW(&g->arena, int64_t, d->num_nodes);
    float   *weight = d->edge_weight ? CBX_NEW(&g->arena, float, m) : NULL;
    if (!edge || !next || (d->edge_weight && !weight))
        return cbx_fail_memory(err);
    memcpy(next, offset, (size_t)d->num_nodes * sizeof *next);
    for (int64_t e = 0; e < m; e++) {
        int64_t slot = next[d->edge_target[e]]++;
        source[slot] = (int32_t)d->edge_source[e];
        edge[slot] = e;
        if (weight) /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): made where those are */
            weight[slot] = d->edge_weight[e];
    }
    g->in_edge = edge;
    g->slot_weight = weight;
    return CBX_OK;
}

static cbx_status check_edges_stay_inside(const cbx_graph *g, cbx_error *err)
{
    const cbx_graph_data *d = &g->data;
    if (d->task != CBX_GRAPH)
        return CBX_OK;
    for (int32_t k = 0; k < d->num_graphs; k++) {
        int64_t a = d->graph_ptr[k], b = d->graph_ptr[k + 1];
        for (int64_t s = g->in_offset[a]; s < g->in_offset[b]; s++)
            if (g->in_source[s] < a || g->in_source[s] >= b)
                return cbx_fail(
                    err, CBX_INVALID,
                    "edge %lld comes from node %d, outside graph %d (nodes %lld to %lld)",
                    (long long)cbx_graph_edge_id(g, s), g->in_source[s], k, (long long)a,
                    (long long)b - 1);
    }
    return CBX_OK;
}

cbx_status cbx_graph_index(cbx_graph *g, cbx_error *err)
{
    cbx_status (*const checks[])(const cbx_graph_data *, cbx_error *) = {
        check_counts,   check_sizes,  check_graph_ptr, check_edges,
        check_features, check_groups, check_names};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        cbx_status status = checks[i](&g->data, err);
        if (status)
            return status;
    }
    if (g->data.num_splits == 0 && (g->data.train_mask || g->data.val_mask || g->data.test_mask))
        g->data.num_splits = 1;
    cbx_status status = check_labels(g, err);
    if (!status)
        status = fill_feature_facts(g, err);
    if (!status)
        status = check_bounds(&g->data, err);
    if (!status)
        status = group_by_target(g, err);
    if (!status)
        status = check_edges_stay_inside(g, err);
    return status;
}

cbx_status cbx_graph_new(const cbx_graph_data *data, cbx_graph **out, cbx_error *err)
{
    *out = NULL;
    cbx_graph *g = cbx_graph_empty(err);
    if (!g)
        return CBX_NO_MEMORY;
    g->data = *data;
    cbx_status status = cbx_graph_index(g, err);
    if (status) {
        cbx_graph_free(g);
        return status;
    }
    *out = g;
    return CBX_OK;
}

/* ---- where it was read from */

cbx_status cbx_graph_came_from(cbx_graph *g, const char *path, cbx_error *err)
{
    cbx_origin *origin = CBX_NEW(&g->arena, cbx_origin, 1);
    char       *copy = cbx_arena_strdup(&g->arena, path);
    if (!origin || !copy)
        return cbx_fail_memory(err);
    *origin = (cbx_origin){copy, g->origins};
    g->origins = origin;
    return CBX_OK;
}

int32_t cbx_graph_of_node(const cbx_graph *g, int32_t node)
{
    int32_t lo = 0, hi = g->data.num_graphs;
    while (hi - lo > 1) {
        int32_t middle = lo + (hi - lo) / 2;
        if (g->data.graph_ptr[middle] <= node)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}
