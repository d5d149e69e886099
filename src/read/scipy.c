/* SPDX-License-Identifier: Apache-2.0 */
/* scipy.c: scipy.sparse.save_npz, and the same parts under a prefix. */
#include "scipy.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

static cbx_status part(cbx_reading *r, cbx_bundle *npz, const char *prefix, const char *what,
                       cbx_npy *out)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%.40s%s.npy", prefix, what);
    const char *file = cbx_bundle_find(npz, name);
    if (!file)
        return cbx_fail(r->err, CBX_INVALID, "%s: it has no %s", cbx_bundle_path(npz), name);
    return cbx_npy_read(r, npz, file, out);
}

/* A save_npz file names its format: only rows are read here. */
static cbx_status check_format(cbx_reading *r, cbx_bundle *npz, const char *prefix)
{
    char      name[64];
    cbx_npy   npy;
    cbx_arena arena = {0};
    (void)snprintf(name, sizeof name, "%.40sformat.npy", prefix);
    const char *file = cbx_bundle_find(npz, name);
    if (!file)
        return CBX_OK;
    cbx_status status = cbx_npy_read(r, npz, file, &npy);
    if (status)
        return status;
    bool        text = (npy.array.kind == 'S' || npy.array.kind == 'U') && npy.array.count == 1;
    const char *format = text ? cbx_array_text(&npy.array, 0, &arena) : "?";
    if (!format)
        status = CBX_MEMORY(r);
    else if (strcmp(format, "csr") != 0)
        status = cbx_fail(r->err, CBX_INVALID,
                          "%s: a sparse matrix in the format '%.20s'; 'csr' was expected",
                          cbx_bundle_path(npz), format);
    cbx_arena_free(&arena);
    cbx_npy_free(&npy);
    return status;
}

cbx_status cbx_scipy_read(cbx_reading *r, cbx_bundle *npz, const char *prefix, cbx_scipy *out)
{
    static const char *const names[] = {"indptr", "indices", "data", "shape"};
    *out = (cbx_scipy){0};
    cbx_status status = check_format(r, npz, prefix);
    for (int k = 0; !status && k < 4; k++)
        status = part(r, npz, prefix, names[k], &out->parts[k]);
    if (status)
        return status;
    const cbx_array *shape = &out->parts[3].array;
    if (shape->count != 2 || !strchr("iu", shape->kind))
        return cbx_fail(r->err, CBX_INVALID, "%s: %sshape is not two whole numbers",
                        cbx_bundle_path(npz), prefix);
    out->matrix = (cbx_sparse){cbx_array_int(shape, 0), cbx_array_int(shape, 1),
                               out->parts[0].array, out->parts[1].array, out->parts[2].array};
    return cbx_sparse_check(&out->matrix, cbx_bundle_path(npz), r);
}

void cbx_scipy_free(cbx_scipy *s)
{
    for (int k = 0; k < 4; k++)
        cbx_npy_free(&s->parts[k]);
}

cbx_status cbx_scipy_features(cbx_reading *r, cbx_bundle *npz, const char *prefix)
{
    cbx_scipy          s;
    cbx_graph_builder *d = r->builder;
    cbx_status         status = cbx_scipy_read(r, npz, prefix, &s);
    if (!status) {
        d->num_nodes = s.matrix.rows;
        d->num_features = s.matrix.cols;
        d->twice = CBX_TWICE_ADD;
    }
    for (int64_t i = 0; !status && i < s.matrix.rows; i++)
        if (!cbx_sparse_row(&s.matrix, i, d))
            status = CBX_MEMORY(r);
    cbx_scipy_free(&s);
    return status;
}
