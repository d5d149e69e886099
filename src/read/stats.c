/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c: what `data info` tells about a graph. One pass over the edges, plus a
 * sorted copy of each row to see duplicates and missing reverse edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/kit.h"
#include "error.h"
#include "graph.h"

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sources of every row, sorted. */
static int32_t *sorted_rows(const cbx_graph *g, cbx_arena *arena)
{
    int32_t *rows = CBX_NEW(arena, int32_t, g->data.num_edges);
    if (!rows)
        return NULL;
    if (g->data.num_edges)
        memcpy(rows, g->in_source, (size_t)g->data.num_edges * sizeof *rows);
    for (int32_t i = 0; i < g->data.num_nodes; i++) {
        int64_t begin = g->in_offset[i], count = g->in_offset[i + 1] - begin;
        if (count > 1)
            qsort(rows + begin, (size_t)count, sizeof *rows, ascending);
    }
    return rows;
}

static bool has_edge(const cbx_graph *g, const int32_t *rows, int32_t source, int32_t target)
{
    int64_t begin = g->in_offset[target], count = g->in_offset[target + 1] - begin;
    return count > 0 && bsearch(&source, rows + begin, (size_t)count, sizeof *rows, ascending);
}

static void count_edges(const cbx_graph *g, const int32_t *rows, uint8_t *linked,
                        cbx_graph_stats *out)
{
    out->undirected = true;
    for (int32_t i = 0; i < g->data.num_nodes; i++) {
        int64_t begin = g->in_offset[i], end = g->in_offset[i + 1];
        if (end - begin > out->max_in_degree)
            out->max_in_degree = end - begin > INT32_MAX ? INT32_MAX : (int32_t)(end - begin);
        for (int64_t s = begin; s < end; s++) {
            int32_t j = rows[s];
            out->self_loops += j == i;
            out->duplicate_edges += s > begin && j == rows[s - 1];
            if (j != i)
                linked[i] = linked[j] = 1;
            out->undirected = out->undirected && has_edge(g, rows, i, j);
        }
    }
}

static int bin_of(int64_t degree)
{
    int bin = 0;
    for (; degree && bin < CBX_DEGREE_BINS - 1; degree >>= 1)
        bin++;
    return bin;
}

static void count_degrees(const cbx_graph *g, cbx_graph_stats *out)
{
    for (int32_t i = 0; i < g->data.num_nodes; i++)
        out->degrees[bin_of(g->in_offset[i + 1] - g->in_offset[i])]++;
}

static double homophily(const cbx_graph_data *d)
{
    int64_t known = 0, same = 0;
    for (int64_t e = 0; d->task == CBX_NODE && d->y && e < d->num_edges; e++) {
        int64_t a = d->y[d->edge_source[e]], b = d->y[d->edge_target[e]];
        known += a >= 0 && b >= 0;
        same += a >= 0 && a == b;
    }
    return known ? (double)same / (double)known : NAN;
}

cbx_status cbx_graph_measure(const cbx_graph *graph, cbx_graph_stats *out, cbx_error *err)
{
    const cbx_graph_data *d = &graph->data;
    cbx_arena             arena = {0};
    memset(out, 0, sizeof *out);
    int32_t *rows = sorted_rows(graph, &arena);
    uint8_t *linked = CBX_NEW0(&arena, uint8_t, d->num_nodes);
    if (!rows || !linked) {
        cbx_arena_free(&arena);
        return cbx_fail_memory(err);
    }
    count_edges(graph, rows, linked, out);
    count_degrees(graph, out);
    out->homophily = homophily(d);
    for (int32_t i = 0; i < d->num_nodes; i++)
        out->isolated_nodes += !linked[i];
    for (int32_t j = 0; j < d->num_features; j++)
        out->discrete_features += d->discrete[j] != 0;
    int64_t      count = d->x ? (int64_t)d->num_nodes * d->num_features : d->x_indptr[d->num_nodes];
    const float *values = d->x ? d->x : d->x_values;
    for (int64_t k = 0; k < count; k++)
        out->nonzero_features += values[k] != 0;
    cbx_arena_free(&arena);
    return CBX_OK;
}
