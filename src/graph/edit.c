/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c: applying edits. Removed edges are really gone, not given weight 0: for
 * some layers (a self-loop of gcn, a mean over edges) that is not the same. */
#include "edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "sort.h"

/* Multiplications in the time of an edit, and of an edge that is copied. */
static const double EDIT = 200, COPY = 16;

int cbx_places_init(cbx_places *places, const cbx_view *view)
{
    *places = (cbx_places){.view = view};
    if (!view->node || view->graph_ptr)
        return 0;
    for (int32_t i = 0; i < view->n; i++)
        if (cbx_out_of_time_at(i, EDIT) || cbx_node_map_add(&places->map, view->node[i]) < 0) {
            cbx_places_free(places);
            return -1;
        }
    return 0;
}

void cbx_places_free(cbx_places *places)
{
    cbx_node_map_free(&places->map);
}

int32_t cbx_places_find(const cbx_places *places, int32_t node)
{
    const cbx_view *view = places->view;
    if (places->map.count)
        return cbx_node_map_find(&places->map, node);
    int64_t i = view->node ? (int64_t)node - view->node[0] : node;
    return i >= 0 && i < view->n ? (int32_t)i : -1;
}

int64_t cbx_view_find_target(const cbx_view *v, int32_t source, int32_t target)
{
    int64_t low = v->out_offset[source], high = v->out_offset[source + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (v->out_target[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t mark(const cbx_view *v, int32_t source, int32_t target, int64_t edge, uint8_t *drop)
{
    int64_t found = 0;
    for (int64_t o = cbx_view_find_target(v, source, target);
         o < v->out_offset[source + 1] && v->out_target[o] == target; o++) {
        int64_t e = v->out_slot[o];
        if (edge < 0 || (v->edge ? v->edge[e] : e) == edge) {
            drop[e] = 1;
            found++;
        }
    }
    return found;
}

cbx_status cbx_edits_mark(const cbx_graph *graph, const cbx_places *places, const cbx_edit *edits,
                          int64_t count, uint8_t *drop, cbx_error *err)
{
    const cbx_view *view = places->view;
    memset(drop, 0, (size_t)view->m);
    for (int64_t k = 0; k < count; k++) {
        const cbx_edit *e = &edits[k];
        if (cbx_out_of_time_at(k, EDIT))
            return cbx_fail_late(err);
        if (e->op == CBX_SET_FEATURE) {
            if (cbx_places_find(places, e->node) < 0 || e->feature < 0 ||
                e->feature >= graph->data.num_features)
                return cbx_fail(err, CBX_INVALID,
                                "edit %lld: there is no feature %d of node %d here", (long long)k,
                                e->feature, e->node);
            if (!isfinite(e->to))
                return cbx_fail(err, CBX_INVALID, "edit %lld sets feature %d of node %d to %g",
                                (long long)k, e->feature, e->node, (double)e->to);
            continue;
        }
        int32_t s = cbx_places_find(places, e->source), t = cbx_places_find(places, e->target);
        int64_t found = s < 0 || t < 0 ? 0 : mark(view, s, t, e->undirected ? -1 : e->edge, drop);
        if (e->undirected && s >= 0 && t >= 0)
            found += mark(view, t, s, -1, drop);
        if (!found)
            return cbx_fail(err, CBX_INVALID,
                            "edit %lld: there is no edge from node %d to node %d here",
                            (long long)k, e->source, e->target);
    }
    return CBX_OK;
}

cbx_status cbx_view_without(const cbx_view *view, const uint8_t *drop, cbx_arena *arena,
                            cbx_view *out, cbx_error *err)
{
    *out = *view;
    int64_t *offset = CBX_NEW(arena, int64_t, (size_t)view->n + 1);
    int32_t *source = CBX_NEW(arena, int32_t, view->m);
    int64_t *edge = CBX_NEW(arena, int64_t, view->m);
    float   *weight = view->weight ? CBX_NEW(arena, float, view->m) : NULL;
    if (!offset || !source || !edge || (view->weight && !weight))
        return cbx_fail_memory(err);
    int64_t at = 0;
    for (int32_t i = 0; i < view->n; i++) {
        offset[i] = at;
        for (int64_t e = view->offset[i]; e < view->offset[i + 1]; e++) {
            if (cbx_out_of_time_at(e, COPY))
                return cbx_fail_late(err);
            if (drop[e])
                continue;
            source[at] = view->source[e];
            edge[at] = view->edge ? view->edge[e] : e;
            if (weight)
                weight[at] = view->weight[e];
            at++;
        }
    }
    offset[view->n] = at;
    out->m = at;
    out->offset = offset;
    out->source = source;
    out->edge = edge;
    out->weight = weight;
    return cbx_view_group_by_source(out, arena, err);
}

typedef struct cell {
    int32_t row, column;
    float   value;
    int64_t order; /* a later edit of the same entry wins */
} cell;

static int by_place(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Row i of the sparse matrix with the row's cells merged in; returns its new end. */
static int64_t merge_row(const cbx_matrix *X, int32_t i, const cell *cells, int64_t count,
                         int32_t *column, float *value, int64_t at)
{
    int64_t e = X->csr.offset[i], end = X->csr.offset[i + 1], c = 0;
    while (e < end || c < count) {
        if (c == count || (e < end && X->csr.column[e] < cells[c].column)) {
            column[at] = X->csr.column[e];
            value[at++] = X->csr.value[e++];
            continue;
        }
        while (c + 1 < count && cells[c + 1].column == cells[c].column)
            c++;
        if (e < end && X->csr.column[e] == cells[c].column)
            e++;
        if (cells[c].value != 0) {
            column[at] = cells[c].column;
            value[at++] = cells[c].value;
        }
        c++;
    }
    return at;
}

static cbx_status edit_sparse(const cbx_matrix *X, const cell *cells, int64_t count,
                              cbx_arena *arena, cbx_matrix *out, cbx_error *err)
{
    int64_t  room = X->csr.offset[X->rows] - X->csr.offset[0] + count;
    int64_t *offset = CBX_NEW(arena, int64_t, (size_t)X->rows + 1);
    int32_t *column = CBX_NEW(arena, int32_t, room);
    float   *value = CBX_NEW(arena, float, room);
    if (!offset || !column || !value)
        return cbx_fail_memory(err);
    int64_t at = 0, c = 0;
    for (int32_t i = 0; i < X->rows; i++) {
        int64_t first = c;
        if (cbx_out_of_time((double)(X->csr.offset[i + 1] - X->csr.offset[i]) * COPY))
            return cbx_fail_late(err);
        while (c < count && cells[c].row == i)
            c++;
        offset[i] = at;
        at = merge_row(X, i, cells + first, c - first, column, value, at);
    }
    offset[X->rows] = at;
    out->csr = (cbx_csr){offset, column, value};
    return CBX_OK;
}

cbx_status cbx_features_edited(const cbx_places *places, const cbx_matrix *X, const cbx_edit *edits,
                               int64_t count, cbx_arena *arena, cbx_matrix *out, cbx_error *err)
{
    *out = (cbx_matrix){.rows = X->rows, .cols = X->cols};
    cell   *cells = CBX_NEW(arena, cell, count);
    int64_t used = 0;
    if (!cells)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < count; k++) {
        if (cbx_out_of_time_at(k, EDIT))
            return cbx_fail_late(err);
        if (edits[k].op != CBX_SET_FEATURE)
            continue;
        int32_t row = cbx_places_find(places, edits[k].node);
        if (row >= 0)
            cells[used++] = (cell){row, edits[k].feature, edits[k].to, k};
    }
    if (cbx_sort(cells, used, sizeof *cells, by_place, arena))
        return cbx_fail_late(err);
    if (!X->dense)
        return edit_sparse(X, cells, used, arena, out, err);
    size_t size = (size_t)X->rows * (size_t)X->cols;
    float *dense = CBX_NEW(arena, float, size);
    if (!dense)
        return cbx_fail_memory(err);
    memcpy(dense, X->dense, size * sizeof *dense);
    for (int64_t c = 0; c < used; c++)
        dense[(int64_t)cells[c].row * X->cols + cells[c].column] = cells[c].value;
    out->dense = dense;
    return CBX_OK;
}
