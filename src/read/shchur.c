/* SPDX-License-Identifier: Apache-2.0 */
/* shchur.c: one .npz of the gnn-benchmark layout: adj_* and attr_* are sparse
 * matrices (or attr_matrix a dense one), labels an array. The spelling with
 * adj_matrix.* is read too. Edges are made simple and go both ways. */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "scipy.h"

static const char *prefix_of(const cbx_bundle *b, const char *what)
{
    static char const *const known[][2] = {
        {"adj_", "attr_"}, {"adj_matrix.", "attr_matrix."}, {"adj_matrix_", "attr_matrix_"}};
    char name[48];
    int  column = !strcmp(what, "attr");
    for (int k = 0; k < 3; k++) {
        (void)snprintf(name, sizeof name, "%sindptr.npy", known[k][column]);
        if (cbx_bundle_find(b, name))
            return known[k][column];
    }
    return NULL;
}

static bool detect(cbx_bundle *bundle)
{
    return prefix_of(bundle, "adj") && cbx_bundle_find(bundle, "labels.npy");
}

static cbx_status read_edges(cbx_reading *r)
{
    cbx_scipy   s = {0};
    const char *prefix = prefix_of(r->bundle, "adj");
    if (!prefix)
        return cbx_fail(r->err, CBX_INVALID, "%s: it has no adj_indptr.npy",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_scipy_read(r, r->bundle, prefix, &s);
    if (!status && (s.matrix.rows != s.matrix.cols || s.matrix.rows != r->builder->num_nodes))
        status =
            cbx_fail(r->err, CBX_INVALID, "%s: the adjacency matrix is %lld x %lld for %lld nodes",
                     cbx_bundle_path(r->bundle), (long long)s.matrix.rows, (long long)s.matrix.cols,
                     (long long)r->builder->num_nodes);
    for (int64_t i = 0; !status && i < s.matrix.rows; i++) {
        int64_t end = cbx_array_int(&s.matrix.indptr, i + 1);
        for (int64_t k = cbx_array_int(&s.matrix.indptr, i); !status && k < end; k++)
            if (cbx_array_real(&s.matrix.data, k) != 0 &&
                !cbx_graph_builder_edge(r->builder, i, cbx_array_int(&s.matrix.indices, k)))
                status = CBX_MEMORY(r);
    }
    cbx_scipy_free(&s);
    return status;
}

static cbx_status read_dense(cbx_reading *r)
{
    cbx_npy            npy;
    cbx_graph_builder *d = r->builder;
    const char        *name = cbx_bundle_find(r->bundle, "attr_matrix.npy");
    if (!name)
        return cbx_fail(r->err, CBX_INVALID, "%s: it has no attr_indptr.npy",
                        cbx_bundle_path(r->bundle));
    cbx_status status = cbx_npy_read(r, r->bundle, name, &npy);
    if (status)
        return status;
    if (npy.array.rank != 2 || !strchr("iufb", npy.array.kind))
        status = cbx_fail(r->err, CBX_INVALID, "%s: attr_matrix is not a matrix of numbers",
                          cbx_bundle_path(r->bundle));
    d->dense = true;
    d->num_nodes = npy.array.shape[0];
    d->num_features = npy.array.shape[1];
    for (int64_t k = 0; !status && k < npy.array.count; k++)
        if (!cbx_floats_add(&d->x, (float)cbx_array_real(&npy.array, k)))
            status = CBX_MEMORY(r);
    cbx_npy_free(&npy);
    return status;
}

static cbx_status read_labels(cbx_reading *r)
{
    cbx_npy     npy;
    const char *name = cbx_bundle_find(r->bundle, "labels.npy");
    if (!name)
        return CBX_OK;
    cbx_status status = cbx_npy_read(r, r->bundle, name, &npy);
    if (status)
        return status;
    if (npy.array.rank != 1 || !strchr("iufb", npy.array.kind))
        status = cbx_fail(r->err, CBX_INVALID,
                          "%s: labels is not a list of numbers: one class a "
                          "node is read, not several",
                          cbx_bundle_path(r->bundle));
    for (int64_t i = 0; !status && i < npy.array.count; i++) {
        int64_t label = cbx_array_int(&npy.array, i);
        if (label < -1 || !cbx_bundle_believes(r->bundle, label < 0 ? 0 : label))
            status = cbx_fail(r->err, CBX_INVALID, "%s: label %lld is %lld",
                              cbx_bundle_path(r->bundle), (long long)i, (long long)label);
        else if (!cbx_longs_add(&r->builder->y, label))
            status = CBX_MEMORY(r);
    }
    cbx_npy_free(&npy);
    return status;
}

/* Names that are texts and fit; files with Python objects there do without. */
static cbx_status read_names(cbx_reading *r, const char *what, int64_t count, const char ***out)
{
    cbx_npy     npy;
    cbx_error   ignored;
    cbx_reading quiet = *r;
    const char *name = cbx_bundle_find(r->bundle, what);
    quiet.err = &ignored;
    if (!name)
        return CBX_OK;
    cbx_status status = cbx_npy_read(&quiet, r->bundle, name, &npy);
    if (status)
        return status == CBX_NO_MEMORY ? CBX_MEMORY(r) : CBX_OK;
    if ((npy.array.kind == 'S' || npy.array.kind == 'U') && npy.array.count == count &&
        npy.array.rank == 1) {
        *out = CBX_NEW(&r->builder->arena, const char *, count);
        for (int64_t i = 0; *out && i < count; i++)
            if (!((*out)[i] = cbx_array_text(&npy.array, i, &r->builder->arena)))
                *out = NULL;
        status = *out ? CBX_OK : CBX_MEMORY(r);
    }
    cbx_npy_free(&npy);
    return status;
}

static int64_t num_classes(const cbx_graph_builder *d)
{
    int64_t most = -1;
    for (size_t i = 0; i < d->y.count; i++)
        most = d->y.at[i] > most ? d->y.at[i] : most;
    return most + 1;
}

static cbx_status read(cbx_reading *r)
{
    cbx_graph_builder *d = r->builder;
    const char        *prefix = prefix_of(r->bundle, "attr");
    cbx_status         status = prefix ? cbx_scipy_features(r, r->bundle, prefix) : read_dense(r);
    if (!status)
        status = read_edges(r);
    if (!status)
        status = read_labels(r);
    if (!status)
        status = read_names(r, "class_names.npy", num_classes(d), &d->class_names);
    if (d->class_names)
        d->num_classes = num_classes(d);
    if (!status)
        status = read_names(r, "attr_names.npy", d->num_features, &d->feature_names);
    if (!status)
        status = read_names(r, "node_names.npy", d->num_nodes, &d->node_names);
    d->edge_rules = CBX_EDGES_NO_LOOPS | CBX_EDGES_BOTH_WAYS | CBX_EDGES_BY_SOURCE;
    return status;
}

const cbx_reader cbx_reader_npz = {
    .name = "npz",
    .about = "one .npz with adj_data, attr_data, labels, … (gnn-benchmark)",
    .detect = detect,
    .read = read,
};
