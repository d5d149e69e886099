/* SPDX-License-Identifier: Apache-2.0 */
/* npz.c: one .npz in the layout of gnn-benchmark, for NumPy and SciPy: adj_* and
 * attr_* are CSR matrices, labels an array, names arrays of texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "error.h"
#include "utf8.h"
#include "writing.h"

typedef struct npz {
    zip_t           *zip;
    const cbx_graph *graph;
    cbx_error       *err;
    const char      *path;
} npz;

static cbx_status zip_failed(npz *z)
{
    return cbx_fail(z->err, CBX_IO, "%s: cannot write: %s", z->path,
                    zip_error_strerror(zip_get_error(z->zip)));
}

/* The archive takes the bytes, also on failure. */
static cbx_status add_bytes(npz *z, const char *name, void *bytes, size_t size)
{
    zip_source_t *source = zip_source_buffer(z->zip, bytes, size, 1);
    if (!source) {
        free(bytes);
        return zip_failed(z);
    }
    zip_int64_t at = zip_file_add(z->zip, name, source, ZIP_FL_OVERWRITE);
    if (at < 0) {
        zip_source_free(source);
        return zip_failed(z);
    }
    (void)zip_file_set_mtime(z->zip, (zip_uint64_t)at, 315576000, 0); /* the same bytes each time */
    return CBX_OK;
}

/* Header and values; `fill` is what to copy, or NULL to fill in later. */
static unsigned char *array(const char *type, int64_t rows, int64_t width, const void *fill,
                            unsigned char **values, size_t *size)
{
    char   header[160];
    size_t item = (size_t)width;
    int    used = rows < 0 ? snprintf(header, sizeof header,
                                      "{'descr': '%s', 'fortran_order': False, 'shape': (), }", type)
                           : snprintf(header, sizeof header,
                                      "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,), }",
                                      type, (long long)rows);
    size_t length = ((size_t)used + 1 + 10 + 63) / 64 * 64 - 10;
    size_t bytes = (rows < 0 ? 1 : (size_t)rows) * item;
    *size = 10 + length + bytes;
    unsigned char *all = malloc(*size);
    if (!all)
        return NULL;
    memcpy(all, "\x93NUMPY\x01", 7);
    all[7] = 0;
    all[8] = (unsigned char)(length & 255);
    all[9] = (unsigned char)(length >> 8);
    memset(all + 10, ' ', length);
    memcpy(all + 10, header, (size_t)used);
    all[10 + length - 1] = '\n';
    *values = all + 10 + length;
    if (fill)
        memcpy(*values, fill, bytes);
    else
        memset(*values, 0, bytes);
    return all;
}

static cbx_status add_array(npz *z, const char *name, const char *type, size_t item, int64_t count,
                            const void *values)
{
    unsigned char *at;
    size_t         size;
    unsigned char *all = array(type, count, (int64_t)item, values, &at, &size);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the archive takes the bytes, and frees them */
    return all ? add_bytes(z, name, all, size) : cbx_fail_memory(z->err);
}

static uint32_t code_point(const char **text)
{
    int           length = cbx_utf8_length(*text);
    unsigned char lead = (unsigned char)**text;
    uint32_t      c = length <= 1 ? lead : lead & (0xff >> (length + 1));
    for (int i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)(*text)[i] & 0x3f);
    *text += length ? length : 1;
    return c;
}

static cbx_status add_names(npz *z, const char *file, const char *const *names, int64_t count)
{
    int64_t longest = 1, all_of_them = 0;
    char    type[24];
    if (!names)
        return CBX_OK;
    for (int64_t i = 0; i < count; i++) {
        int64_t length = 0;
        for (const char *t = names[i]; *t; length++)
            (void)code_point(&t);
        longest = length > longest ? length : longest;
        all_of_them += length;
    }
    if (longest > 1024 && count * (longest / 64) > all_of_them)
        return cbx_fail(z->err, CBX_INVALID,
                        "%s: one of %lld names has %lld characters, and NumPy would take room for "
                        "as many in each: shorten it, or use another format",
                        z->path, (long long)count, (long long)longest);
    (void)snprintf(type, sizeof type, "<U%lld", (long long)longest);
    unsigned char *at;
    size_t         size;
    unsigned char *all = array(type, count, 4 * longest, NULL, &at, &size);
    if (!all)
        return cbx_fail_memory(z->err);
    for (int64_t i = 0; i < count; i++) {
        unsigned char *to = at + i * 4 * longest;
        for (const char *t = names[i]; *t; to += 4) {
            uint32_t c = code_point(&t);
            memcpy(to, &c, 4);
        }
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the archive takes the bytes, and frees them */
    return add_bytes(z, file, all, size);
}

/* The rows of the adjacency matrix are sources: the index by target is transposed. */
static cbx_status add_adjacency(npz *z)
{
    const cbx_graph_data *d = &z->graph->data;
    int64_t               m = d->num_edges, n = d->num_nodes;
    cbx_arena             arena = {0};
    int64_t              *indptr = CBX_NEW0(&arena, int64_t, n + 2);
    int32_t              *indices = CBX_NEW(&arena, int32_t, m);
    float                *data = CBX_NEW(&arena, float, m);
    cbx_status            status = indptr && indices && data ? CBX_OK : cbx_fail_memory(z->err);
    if (!status) {
        for (int64_t e = 0; e < m; e++)
            indptr[d->edge_source[e] + 2]++;
        for (int64_t i = 0; i < n; i++)
            indptr[i + 2] += indptr[i + 1];
        for (int32_t t = 0; t < n; t++) /* targets ascending: so are the columns of each row */
            for (int64_t s = z->graph->in_offset[t]; s < z->graph->in_offset[t + 1]; s++) {
                int64_t at = indptr[z->graph->in_source[s] + 1]++;
                indices[at] = t;
                data[at] = z->graph->slot_weight ? z->graph->slot_weight[s] : 1;
            }
        status = add_array(z, "adj_data.npy", "<f4", 4, m, data);
    }
    if (!status)
        status = add_array(z, "adj_indices.npy", "<i4", 4, m, indices);
    if (!status)
        status = add_array(z, "adj_indptr.npy", "<i8", 8, n + 1, indptr);
    if (!status)
        status = add_array(z, "adj_shape.npy", "<i8", 8, 2, (int64_t[]){n, n});
    cbx_arena_free(&arena);
    return status;
}

static cbx_status add_features(npz *z)
{
    const cbx_graph_data *d = &z->graph->data;
    int64_t               n = d->num_nodes, f = d->num_features, nnz = 0, at = 0;
    cbx_arena             arena = {0};
    const int64_t        *indptr = d->x_indptr;
    const int32_t        *indices = d->x_indices;
    const float          *data = d->x_values;
    cbx_status            status = CBX_OK;
    if (d->x) {
        for (int64_t k = 0; k < n * f; k++)
            nnz += d->x[k] != 0;
        int64_t *p = CBX_NEW0(&arena, int64_t, n + 1);
        int32_t *i = CBX_NEW(&arena, int32_t, nnz);
        float   *v = CBX_NEW(&arena, float, nnz);
        if (!p || !i || !v)
            status = cbx_fail_memory(z->err);
        for (int64_t k = 0; !status && k < n * f; k++) {
            if (d->x[k] != 0) {
                i[at] = (int32_t)(k % f);
                v[at++] = d->x[k];
            }
            p[k / f + 1] = at;
        }
        indptr = p, indices = i, data = v;
    } else {
        nnz = d->x_indptr[n];
    }
    if (!status)
        status = add_array(z, "attr_data.npy", "<f4", 4, nnz, data);
    if (!status)
        status = add_array(z, "attr_indices.npy", "<i4", 4, nnz, indices);
    if (!status)
        status = add_array(z, "attr_indptr.npy", "<i8", 8, n + 1, indptr);
    if (!status)
        status = add_array(z, "attr_shape.npy", "<i8", 8, 2, (int64_t[]){n, f});
    cbx_arena_free(&arena);
    return status;
}

static cbx_status add_all(npz *z)
{
    const cbx_graph_data *d = &z->graph->data;
    cbx_status            status = add_adjacency(z);
    if (!status)
        status = add_features(z);
    if (!status && d->y)
        status = add_array(z, "labels.npy", "<i8", 8, d->num_nodes, d->y);
    if (!status)
        status = add_names(z, "class_names.npy", d->class_names, d->num_classes);
    if (!status)
        status = add_names(z, "attr_names.npy", d->feature_names, d->num_features);
    return status ? status : add_names(z, "node_names.npy", d->node_names, d->num_nodes);
}

static cbx_status write(const cbx_writing *w)
{
    npz z = {.graph = w->edited, .err = w->err, .path = w->path};
    int code = 0;
    if (w->graph->data.task == CBX_GRAPH)
        return cbx_fail(w->err, CBX_INVALID,
                        "%s: this layout holds one graph, and this data has many: use safetensors",
                        w->path);
    z.zip = zip_open(w->path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!z.zip)
        return cbx_fail(w->err, CBX_IO, "%s: cannot write", w->path);
    cbx_status status = add_all(&z);
    if (status) {
        zip_discard(z.zip);
        return status;
    }
    if (zip_close(z.zip)) { /* writes a neighbour and renames it */
        status = zip_failed(&z);
        zip_discard(z.zip);
    }
    return status;
}

const cbx_writer cbx_writer_npz = {
    .name = "npz",
    .about = "NumPy: sparse matrices adj_* and attr_*, labels",
    .ending = ".npz",
    .as_data = true,
    .write = write,
};
