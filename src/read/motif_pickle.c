/* SPDX-License-Identifier: Apache-2.0 */
/* motif_pickle.c: planted-motif graphs as explainers publish them: one pickle with
 * a dense adjacency matrix.
 *
 *   a dict   adj [1, n, n], feat [1, n, f], labels [1, n], train_idx, test_idx
 *   a tuple  adj [n, n], x [n, f], one-hot labels of the three parts [n, C] each,
 *            their masks [n] each, and the edges of the motifs
 *
 * Edges are the nonzeros, row by row. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "pickle.h"

static const char *file_of(cbx_bundle *bundle)
{
    const char *name = cbx_bundle_ending(bundle, ".pickle");
    return name ? name : cbx_bundle_ending(bundle, ".pkl");
}

static bool detect(cbx_bundle *bundle)
{
    return file_of(bundle) != NULL;
}

/* The array of these last dimensions (-1: any), leading ones of size 1 apart. */
static cbx_status array_of(cbx_reading *r, const char *file, const char *what, const cbx_py *py,
                           int64_t rows, int64_t cols, cbx_array *out)
{
    if (!py || py->kind != CBX_PY_ARRAY || !py->array || !strchr("iufb", py->array->kind))
        return cbx_fail(r->err, CBX_INVALID, "%s: %s is %s, an array was expected", file, what,
                        py ? cbx_py_name(py) : "missing");
    *out = *py->array;
    int rank = cols ? 2 : 1;
    while (out->rank > rank && out->shape[0] == 1) {
        out->rank--;
        memmove(out->shape, out->shape + 1, (size_t)out->rank * sizeof *out->shape);
    }
    if (out->rank != rank || (rows >= 0 && out->shape[0] != rows) ||
        (cols > 0 && out->shape[1] != cols))
        return cbx_fail(r->err, CBX_INVALID, "%s: %s has a shape that does not fit", file, what);
    return CBX_OK;
}

static cbx_status add_graph(cbx_reading *r, const char *file, const cbx_py *adj, const cbx_py *feat)
{
    cbx_graph_builder *d = r->builder;
    cbx_array          a, x;
    cbx_status         status = array_of(r, file, "the adjacency matrix", adj, -1, -1, &a);
    if (!status && a.shape[0] != a.shape[1])
        status = cbx_fail(r->err, CBX_INVALID, "%s: the adjacency matrix is not square", file);
    if (!status)
        status = array_of(r, file, "the feature matrix", feat, a.shape[0], -1, &x);
    if (status)
        return status;
    d->num_nodes = a.shape[0];
    d->num_features = x.shape[1];
    d->dense = true;
    for (int64_t k = 0; k < x.count; k++)
        if (!cbx_floats_add(&d->x, (float)cbx_array_real(&x, k)))
            return CBX_MEMORY(r);
    for (int64_t k = 0; k < a.count; k++)
        if (cbx_array_real(&a, k) != 0 &&
            !cbx_graph_builder_edge(d, k / a.shape[1], k % a.shape[1]))
            return CBX_MEMORY(r);
    return CBX_OK;
}

static cbx_status add_index(cbx_reading *r, const char *file, const cbx_py *list, int part)
{
    cbx_graph_builder *d = r->builder;
    if (!list)
        return CBX_OK;
    if (list->kind != CBX_PY_LIST)
        return cbx_fail(r->err, CBX_INVALID, "%s: the split is %s, a list was expected", file,
                        cbx_py_name(list));
    if (!cbx_bytes_fill(&d->mask[part], (size_t)d->num_nodes, 0))
        return CBX_MEMORY(r);
    d->num_splits = 1;
    for (size_t i = 0; i < list->count; i++) {
        int64_t node = list->items[i]->integer;
        if (list->items[i]->kind != CBX_PY_INT || node < 0 || node >= d->num_nodes)
            return cbx_fail(r->err, CBX_INVALID,
                            "%s: the split names node %lld; they are 0 to %lld", file,
                            (long long)node, (long long)d->num_nodes - 1);
        d->mask[part].at[node] = 1;
    }
    return CBX_OK;
}

static cbx_status read_dict(cbx_reading *r, const char *file, const cbx_py *py)
{
    cbx_graph_builder *d = r->builder;
    cbx_array          y;
    cbx_status         status = add_graph(r, file, cbx_py_get(py, "adj"), cbx_py_get(py, "feat"));
    if (!status)
        status = array_of(r, file, "labels", cbx_py_get(py, "labels"), d->num_nodes, 0, &y);
    for (int64_t i = 0; !status && i < d->num_nodes; i++)
        if (!cbx_longs_add(&d->y, cbx_array_int(&y, i)))
            status = CBX_MEMORY(r);
    if (!status)
        status = add_index(r, file, cbx_py_get(py, "train_idx"), CBX_TRAIN);
    return status ? status : add_index(r, file, cbx_py_get(py, "test_idx"), CBX_TEST);
}

static cbx_status read_tuple(cbx_reading *r, const char *file, const cbx_py *py)
{
    static const char *const parts[] = {"y_train", "y_val", "y_test"};
    cbx_graph_builder       *d = r->builder;
    cbx_array                y[CBX_PARTS], mask;
    cbx_status               status = add_graph(r, file, py->items[0], py->items[1]);
    for (int k = 0; !status && k < CBX_PARTS; k++) {
        status = array_of(r, file, parts[k], py->items[2 + k], d->num_nodes, k ? y[0].shape[1] : -1,
                          &y[k]);
        if (!status)
            status = array_of(r, file, "a mask", py->items[5 + k], d->num_nodes, 0, &mask);
        for (int64_t i = 0; !status && i < d->num_nodes; i++)
            if (!cbx_bytes_add(&d->mask[k], cbx_array_real(&mask, i) != 0))
                status = CBX_MEMORY(r);
    }
    if (status)
        return status;
    d->num_splits = 1;
    d->num_classes = y[0].shape[1];
    for (int64_t i = 0; i < d->num_nodes; i++) { /* each part has its own nodes' labels */
        int64_t label = -1;
        for (int64_t c = 0; c < d->num_classes; c++)
            for (int k = 0; k < CBX_PARTS; k++)
                if (cbx_array_real(&y[k], i * d->num_classes + c) != 0)
                    label = c;
        if (!cbx_longs_add(&d->y, label))
            return CBX_MEMORY(r);
    }
    return CBX_OK;
}

static cbx_status read(cbx_reading *r)
{
    cbx_arena      arena = {0};
    unsigned char *bytes = NULL;
    const cbx_py  *py;
    const char    *file = file_of(r->bundle);
    if (!file)
        return cbx_fail(r->err, CBX_INVALID, "%s: no file called NAME.pickle or NAME.pkl",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_pickle_read(r, file, &arena, &bytes, &py);
    if (!status && py->kind == CBX_PY_DICT)
        status = read_dict(r, file, py);
    else if (!status && py->kind == CBX_PY_TUPLE && py->count >= 8)
        status = read_tuple(r, file, py);
    else if (!status)
        status = cbx_fail(r->err, CBX_INVALID, "%s: %s, a dict or a tuple of arrays was expected",
                          file, cbx_py_name(py));
    free(bytes);
    cbx_arena_free(&arena);
    return status;
}

const cbx_reader cbx_reader_motif_pickle = {
    .name = "motif-pickle",
    .about = "planted motifs of CF-GNNExplainer and PGExplainer: NAME.pickle, NAME.pkl",
    .detect = detect,
    .read = read,
};
