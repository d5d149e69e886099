/* SPDX-License-Identifier: Apache-2.0 */
/* without_nodes.c: see without_nodes.h. */
#include "without_nodes.h"

#include <string.h>

#include "deadline.h"
#include "error.h"

/* Multiplications in the time of an edge, or a value, that is copied. */
static const double COPY = 16;

int32_t cbx_edits_mark_nodes(const cbx_places *places, const cbx_edit *edits, int64_t count,
                             uint8_t *gone)
{
    int32_t marked = 0;
    if (places->view->n)
        memset(gone, 0, (size_t)places->view->n);
    for (int64_t k = 0; k < count; k++) {
        int32_t i = edits[k].op == CBX_REMOVE_NODE && edits[k].node >= 0
                        ? cbx_places_find(places, edits[k].node)
                        : -1;
        if (i < 0 || gone[i])
            continue;
        gone[i] = 1;
        marked++;
    }
    return marked;
}

/* How many of the nodes from `begin` to `end` stay. */
static int32_t count_left(const uint8_t *gone, int32_t begin, int32_t end)
{
    int32_t left = 0;
    for (int32_t i = begin; i < end; i++)
        left += !gone[i];
    return left;
}

/* Edges between nodes that stay, with their new numbers. */
static cbx_status keep_slots(const cbx_view *v, const uint8_t *gone, const float *w,
                             cbx_arena *arena, cbx_view *out, cbx_error *err)
{
    const float *from = w ? w : v->weight;
    int32_t     *number = CBX_NEW(arena, int32_t, v->n);
    int64_t     *offset = CBX_NEW(arena, int64_t, (size_t)out->n + 1);
    int32_t     *source = CBX_NEW(arena, int32_t, v->m);
    int64_t     *edge = CBX_NEW(arena, int64_t, v->m), at = 0;
    float       *weight = from ? CBX_NEW(arena, float, v->m) : NULL;
    size_t       wide = v->set_attr ? (size_t)v->edge_dim : 0;
    float       *attr = CBX_NEW(arena, float, (size_t)v->m *wide);
    if (!number || !offset || !source || !edge || (from && !weight) || !attr)
        return cbx_fail_memory(err);
    for (int32_t i = 0, next = 0; i < v->n; i++)
        number[i] = gone[i] ? -1 : next++;
    for (int32_t i = 0; i < v->n; i++) {
        if (gone[i])
            continue;
        offset[number[i]] = at;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            if (cbx_out_of_time_at(e, COPY))
                return cbx_fail_late(err);
            if (gone[v->source[e]] || (v->removed && v->removed[e]))
                continue;
            source[at] = number[v->source[e]];
            edge[at] = v->edge ? v->edge[e] : e;
            if (weight)
                weight[at] = from[e];
            if (wide)
                memcpy(attr + (size_t)at * wide, cbx_view_attr(v, e), wide * sizeof *attr);
            at++;
        }
    }
    offset[out->n] = at;
    out->m = at;
    out->offset = offset;
    out->source = source;
    out->edge = edge;
    out->weight = weight;
    out->removed = NULL;
    out->set_weight = NULL; /* `w` has them */
    out->set_attr = wide ? attr : NULL;
    return cbx_view_group_by_source(out, arena, err);
}

/* What is known of each node, of those that stay. */
static cbx_status keep_nodes(const cbx_view *v, const uint8_t *gone, cbx_arena *arena,
                             cbx_view *out, cbx_error *err)
{
    int32_t *node = CBX_NEW(arena, int32_t, out->n);
    bool     outside = v->outside_weight != NULL, counted = v->outside_count != NULL;
    float   *weight = outside ? CBX_NEW(arena, float, out->n) : NULL;
    float   *count = counted ? CBX_NEW(arena, float, out->n) : NULL;
    if (!node || (outside && !weight) || (counted && !count))
        return cbx_fail_memory(err);
    for (int32_t i = 0, at = 0; i < v->n; i++) {
        if (gone[i])
            continue;
        node[at] = v->node ? v->node[i] : i;
        if (outside)
            weight[at] = v->outside_weight[i];
        if (counted)
            count[at] = v->outside_count[i];
        at++;
    }
    out->node = node;
    out->outside_weight = weight;
    out->outside_count = count;
    return CBX_OK;
}

/* The nodes within each number of hops, and of each graph. */
static cbx_status keep_parts(const cbx_view *v, const uint8_t *gone, cbx_arena *arena,
                             cbx_view *out, cbx_error *err)
{
    int32_t *prefix = CBX_NEW(arena, int32_t, (size_t)v->hops + 1);
    int32_t *ptr = v->graph_ptr ? CBX_NEW(arena, int32_t, (size_t)v->num_graphs + 1) : NULL;
    if (!prefix || (v->graph_ptr && !ptr))
        return cbx_fail_memory(err);
    for (int32_t h = 0; h <= v->hops; h++)
        prefix[h] = count_left(gone, 0, v->prefix[h]);
    out->prefix = prefix;
    for (int32_t g = 0; ptr && g < v->num_graphs; g++) {
        int32_t left = count_left(gone, v->graph_ptr[g], v->graph_ptr[g + 1]);
        ptr[g] = g ? ptr[g] : 0;
        ptr[g + 1] = ptr[g] + left;
        if (!left && v->graph_ptr[g + 1] > v->graph_ptr[g])
            return cbx_fail(err, CBX_INVALID, "the edits leave a graph without a node: one stays");
    }
    out->graph_ptr = ptr;
    return CBX_OK;
}

cbx_status cbx_view_without_nodes(const cbx_view *view, const uint8_t *gone, const float *w,
                                  cbx_arena *arena, cbx_view *out, cbx_error *err)
{
    *out = *view;
    out->n = count_left(gone, 0, view->n);
    out->absent = NULL;
    cbx_status status = keep_parts(view, gone, arena, out, err);
    if (!status)
        status = keep_nodes(view, gone, arena, out, err);
    return status ? status : keep_slots(view, gone, w, arena, out, err);
}

cbx_status cbx_matrix_without_rows(const cbx_matrix *X, const uint8_t *gone, int32_t rows,
                                   cbx_arena *arena, cbx_matrix *out, cbx_error *err)
{
    int32_t  left = count_left(gone, 0, rows);
    size_t   f = (size_t)X->cols;
    bool     sparse = !X->dense;
    int64_t  size = sparse ? X->csr.offset[rows] - X->csr.offset[0] : (int64_t)left * X->cols;
    int64_t *offset = sparse ? CBX_NEW(arena, int64_t, (size_t)left + 1) : NULL;
    int32_t *column = sparse ? CBX_NEW(arena, int32_t, size) : NULL;
    float   *value = CBX_NEW(arena, float, size);
    if (!value || (sparse && (!offset || !column)))
        return cbx_fail_memory(err);
    int64_t at = 0;
    for (int32_t i = 0, row = 0; i < rows; i++) {
        int64_t begin = sparse ? X->csr.offset[i] : (int64_t)i * X->cols;
        size_t  count = sparse ? (size_t)(X->csr.offset[i + 1] - begin) : f;
        if (gone[i])
            continue;
        if (cbx_out_of_time(COPY * (double)count))
            return cbx_fail_late(err);
        if (sparse)
            offset[row++] = at;
        if (sparse && count)
            memcpy(column + at, X->csr.column + begin, count * sizeof *column);
        if (count)
            memcpy(value + at, (sparse ? X->csr.value : X->dense) + begin, count * sizeof *value);
        at += (int64_t)count;
    }
    if (sparse)
        offset[left] = at;
    *out = sparse ? (cbx_matrix){.rows = left, .cols = X->cols, .csr = {offset, column, value}}
                  : cbx_matrix_dense(left, X->cols, value);
    return CBX_OK;
}
