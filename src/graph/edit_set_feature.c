/* SPDX-License-Identifier: Apache-2.0 */
/* edit_set_feature.c: a feature of a node takes another value. */
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "edit_kind.h"
#include "error.h"
#include "json_fields.h"
#include "sort.h"

static void nodes(const cbx_edit *e, int32_t ends[2])
{
    ends[0] = ends[1] = e->node;
}

static int compare(const cbx_edit *a, const cbx_edit *b)
{
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->feature > b->feature) - (a->feature < b->feature);
}

static cbx_status fits(const cbx_edit *e, int64_t k, const cbx_graph_data *d, cbx_error *err)
{
    if (e->node >= d->num_nodes)
        return cbx_fail(err, CBX_INVALID, "edit %lld: the data has no node %d", (long long)k,
                        e->node);
    if (e->feature >= d->num_features)
        return cbx_fail(err, CBX_INVALID, "edit %lld: the data has no feature %d", (long long)k,
                        e->feature);
    return CBX_OK;
}

static cbx_status mark(const cbx_edit *e, int64_t k, const cbx_graph *graph,
                       const cbx_places *places, uint8_t *drop, cbx_error *err)
{
    (void)drop;
    if (cbx_places_find(places, e->node) < 0 || e->feature < 0 ||
        e->feature >= graph->data.num_features)
        return cbx_fail(err, CBX_INVALID, "edit %lld: there is no feature %d of node %d here",
                        (long long)k, e->feature, e->node);
    if (!isfinite(e->to))
        return cbx_fail(err, CBX_INVALID, "edit %lld sets feature %d of node %d to %g",
                        (long long)k, e->feature, e->node, (double)e->to);
    return CBX_OK;
}

static void put(const cbx_edit *e, cbx_json_writer *w)
{
    cbx_json_put_int(w, "node", e->node);
    cbx_json_put_int(w, "feature", e->feature);
    cbx_json_put_real(w, "from", (double)e->from);
    cbx_json_put_real(w, "to", (double)e->to);
    if (e->group > 0)
        cbx_json_put_int(w, "group", e->group - 1);
    if (e->step > 0)
        cbx_json_put_real(w, "step", (double)e->step);
}

static cbx_status read(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    int64_t    node = 0, feature = 0, group = -1;
    cbx_status status = cbx_json_whole(o, "node", INT32_MAX, CBX_JSON_REQUIRED, &node, err);
    if (!status)
        status = cbx_json_whole(o, "feature", INT32_MAX, CBX_JSON_REQUIRED, &feature, err);
    if (!status)
        status = cbx_json_float(o, "from", &e->from, err);
    if (!status)
        status = cbx_json_float(o, "to", &e->to, err);
    if (!status)
        status = cbx_json_whole(o, "group", INT32_MAX - 1, -1, &group, err);
    if (!status && cbx_json_get(o, "step"))
        status = cbx_json_float(o, "step", &e->step, err);
    if (!status && !(e->step >= 0))
        status = cbx_fail(err, CBX_INVALID, "'step' is %g, 0 or more expected", (double)e->step);
    e->node = (int32_t)node;
    e->feature = (int32_t)feature;
    e->group = (int32_t)(group + 1);
    return status;
}

static const char *label(const cbx_edit *e, const cbx_graph_data *d)
{
    return d->feature_names && e->feature < d->num_features ? d->feature_names[e->feature] : NULL;
}

const cbx_edit_kind cbx_edit_set_feature = {.name = "set_feature",
                                            .nodes = nodes,
                                            .compare = compare,
                                            .fits = fits,
                                            .mark = mark,
                                            .put = put,
                                            .read = read,
                                            .label = label};

/* ---- features with such edits made */

/* Multiplications in the time of an edit, and of a value that is copied. */
static const double EDIT = 200, COPY = 16;

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
