/* SPDX-License-Identifier: Apache-2.0 */
/* graph_file.c: graphs as safetensors files; docs/formats.md has the layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "graph.h"
#include "graph_file.h"
#include "json_writer.h"
#include "safetensors.h"
#include "utf8.h"
#include "version.h"

/* ---- reading */

/* An array of this type and shape, or NULL if the file has none. */
static cbx_status vector(const cbx_tensor_file *f, const char *name, cbx_dtype dtype, int64_t size,
                         const void **out, cbx_error *err)
{
    const cbx_tensor *t;
    cbx_status        status = cbx_tensors_get(f, name, dtype, 1, &size, &t, err);
    *out = t ? t->data : NULL;
    return status;
}

/* Into a field of any pointer type; `status` carries the first failure through. */
#define READ(field, name, dtype, size)                                \
    do {                                                              \
        const void *data_ = NULL;                                     \
        if (!status)                                                  \
            status = vector(f, (name), (dtype), (size), &data_, err); \
        (field) = data_;                                              \
    } while (0)

static cbx_status too_large(const cbx_tensor_file *f, const char *name, cbx_error *err)
{
    return cbx_fail(err, CBX_INVALID,
                    "%s: tensor '%s' is larger than 2,147,483,647 rows or columns", f->path, name);
}

/* Unused features and classes take no bytes, so a file may claim more than it shows;
 * but memory is taken for them, which must be in proportion to the file. */
static bool believable(const cbx_tensor_file *f, int64_t count)
{
    return count >= 0 && (uint64_t)count <= ((uint64_t)1 << 16) + 64 * (uint64_t)f->map_size;
}

static cbx_status read_features(const cbx_tensor_file *f, cbx_graph_data *d, cbx_error *err)
{
    const cbx_tensor *x, *shape;
    cbx_status        status = cbx_tensors_get(f, "x", CBX_F32, 2, (int64_t[]){-1, -1}, &x, err);
    if (!status && x) {
        if (x->shape[0] > INT32_MAX || x->shape[1] > INT32_MAX)
            return too_large(f, "x", err);
        d->num_nodes = (int32_t)x->shape[0];
        d->num_features = (int32_t)x->shape[1];
        d->x = x->data;
        return CBX_OK;
    }
    if (!status)
        status = cbx_tensors_get(f, "x.shape", CBX_I64, 1, (int64_t[]){2}, &shape, err);
    if (status)
        return status;
    if (!shape)
        return cbx_fail(err, CBX_INVALID, "%s: not a graph file: it has neither 'x' nor 'x.shape'",
                        f->path);
    const int64_t *size = shape->data;
    if (size[0] < 0 || size[1] < 0 || size[0] > INT32_MAX || size[1] > INT32_MAX)
        return too_large(f, "x.shape", err);
    if (!believable(f, size[1]))
        return cbx_fail(err, CBX_INVALID, "%s: 'x.shape' claims %lld features in so short a file",
                        f->path, (long long)size[1]);
    d->num_nodes = (int32_t)size[0];
    d->num_features = (int32_t)size[1];
    READ(d->x_indptr, "x.indptr", CBX_I64, size[0] + 1);
    if (!status && !d->x_indptr)
        status = cbx_fail(err, CBX_INVALID, "%s: 'x.indptr' is missing", f->path);
    if (status)
        return status;
    int64_t nnz = d->x_indptr[size[0]];
    if (nnz < 0)
        return cbx_fail(err, CBX_INVALID, "%s: 'x.indptr' ends with %lld", f->path, (long long)nnz);
    for (int64_t i = 0; i < size[0]; i++) /* or a row would reach beyond the arrays */
        if (d->x_indptr[i] < 0 || d->x_indptr[i] > nnz)
            return cbx_fail(err, CBX_INVALID, "%s: 'x.indptr' has %lld at %lld, and ends with %lld",
                            f->path, (long long)d->x_indptr[i], (long long)i, (long long)nnz);
    READ(d->x_indices, "x.indices", CBX_I32, nnz);
    READ(d->x_values, "x.values", CBX_F32, nnz);
    if (!status && (!d->x_indices || !d->x_values))
        status = cbx_fail(err, CBX_INVALID, "%s: 'x.indices' or 'x.values' is missing", f->path);
    d->num_x_values = nnz;
    return status;
}

static cbx_status read_edges(const cbx_tensor_file *f, cbx_graph_data *d, cbx_error *err)
{
    const cbx_tensor *e;
    cbx_status status = cbx_tensors_get(f, "edge_index", CBX_I64, 2, (int64_t[]){2, -1}, &e, err);
    if (status)
        return status;
    if (!e)
        return cbx_fail(err, CBX_INVALID, "%s: not a graph file: 'edge_index' is missing", f->path);
    d->num_edges = e->shape[1];
    d->edge_source = e->data;
    d->edge_target = d->edge_source + d->num_edges;
    READ(d->edge_weight, "edge_weight", CBX_F32, d->num_edges);
    const cbx_tensor *attr = NULL;
    if (!status)
        status =
            cbx_tensors_get(f, "edge_attr", CBX_F32, 2, (int64_t[]){d->num_edges, -1}, &attr, err);
    if (status || !attr)
        return status;
    if (attr->shape[1] > INT32_MAX)
        return too_large(f, "edge_attr", err);
    d->edge_dim = (int32_t)attr->shape[1];
    d->edge_attr = d->edge_dim ? attr->data : NULL;
    return CBX_OK;
}

static cbx_status read_graph_ptr(const cbx_tensor_file *f, cbx_graph_data *d, cbx_error *err)
{
    const cbx_tensor *ptr;
    cbx_status status = cbx_tensors_get(f, "graph_ptr", CBX_I64, 1, (int64_t[]){-1}, &ptr, err);
    if (status || !ptr)
        return status;
    if (ptr->count < 2)
        return cbx_fail(err, CBX_INVALID, "%s: 'graph_ptr' needs at least two entries", f->path);
    if (ptr->count > INT32_MAX)
        return too_large(f, "graph_ptr", err);
    d->task = CBX_GRAPH;
    d->num_graphs = (int32_t)(ptr->count - 1);
    d->graph_ptr = ptr->data;
    return CBX_OK;
}

/* NAME [rows], or splits.NAME [rows, S]. */
static cbx_status read_mask(const cbx_tensor_file *f, const char *name, int64_t rows,
                            cbx_graph_data *d, const uint8_t **out, cbx_error *err)
{
    char              many[48];
    const cbx_tensor *t;
    cbx_status        status = cbx_tensors_get(f, name, CBX_U8, 1, (int64_t[]){rows}, &t, err);
    if (!status && !t) {
        (void)snprintf(many, sizeof many, "splits.%s", name);
        status = cbx_tensors_get(f, many, CBX_U8, 2, (int64_t[]){rows, -1}, &t, err);
    }
    if (status || !t)
        return status;
    int64_t columns = t->rank == 1 ? 1 : t->shape[1];
    if (columns < 1 || columns > 1000000 || (d->num_splits && d->num_splits != columns))
        return cbx_fail(err, CBX_INVALID, "%s: mask '%s' has %lld splits, the others have %d",
                        f->path, t->name, (long long)columns, d->num_splits);
    d->num_splits = (int32_t)columns;
    *out = t->data;
    return CBX_OK;
}

/* A list of rows, as some sets publish their split, becomes a mask. */
static cbx_status read_index(cbx_graph *g, const cbx_tensor_file *f, const char *name, int64_t rows,
                             const uint8_t **out, cbx_error *err)
{
    const cbx_tensor *t;
    cbx_status        status = cbx_tensors_get(f, name, CBX_I64, 1, (int64_t[]){-1}, &t, err);
    if (status || !t || *out)
        return status;
    uint8_t *mask = CBX_NEW0(&g->arena, uint8_t, rows);
    if (!mask)
        return cbx_fail_memory(err);
    for (int64_t i = 0; i < t->count; i++) {
        int64_t row = ((const int64_t *)t->data)[i];
        if (row < 0 || row >= rows)
            return cbx_fail(err, CBX_INVALID, "%s: '%s' names row %lld; rows are 0 to %lld",
                            f->path, name, (long long)row, (long long)rows - 1);
        mask[row] = 1;
    }
    if (g->data.num_splits > 1)
        return cbx_fail(err, CBX_INVALID, "%s: '%s' is one split, the masks have %d", f->path, name,
                        g->data.num_splits);
    g->data.num_splits = 1;
    *out = mask;
    return CBX_OK;
}

static cbx_status read_splits(cbx_graph *g, const cbx_tensor_file *f, int64_t rows, cbx_error *err)
{
    cbx_graph_data *d = &g->data;
    cbx_status      status = read_mask(f, "train_mask", rows, d, &d->train_mask, err);
    if (!status)
        status = read_mask(f, "val_mask", rows, d, &d->val_mask, err);
    if (!status)
        status = read_mask(f, "test_mask", rows, d, &d->test_mask, err);
    if (!status)
        status = read_index(g, f, "train_idx", rows, &d->train_mask, err);
    if (!status)
        status = read_index(g, f, "val_idx", rows, &d->val_mask, err);
    return status ? status : read_index(g, f, "test_idx", rows, &d->test_mask, err);
}

/* Names are a JSON list in the metadata, because safetensors hold numbers only. */
static cbx_status read_names(cbx_graph *g, const cbx_tensor_file *f, const char *key, int64_t count,
                             const char *const **out, cbx_error *err)
{
    const char *text = cbx_tensors_meta(f, key);
    if (!text)
        return CBX_OK;
    const cbx_json *list;
    cbx_json_error  why;
    cbx_status      status = cbx_json_parse(text, strlen(text), &g->arena, &list, &why);
    if (status == CBX_NO_MEMORY)
        return cbx_fail_memory(err);
    if (status || list->kind != CBX_JSON_LIST || (int64_t)list->count != count)
        return cbx_fail(err, CBX_INVALID, "%s: metadata '%s' is not a JSON list of %lld names",
                        f->path, key, (long long)count);
    const char **names = CBX_NEW(&g->arena, const char *, count);
    int64_t      i = 0;
    if (!names)
        return cbx_fail_memory(err);
    for (const cbx_json *name = list->first; name; name = name->next, i++) {
        if (!name->text)
            return cbx_fail(err, CBX_INVALID, "%s: entry %lld of metadata '%s' is not a text",
                            f->path, (long long)i, key);
        names[i] = name->text;
    }
    *out = names;
    return CBX_OK;
}

static cbx_status read_num_classes(const cbx_tensor_file *f, cbx_graph_data *d, cbx_error *err)
{
    const char *text = cbx_tensors_meta(f, "num_classes");
    if (!text)
        return CBX_OK;
    char *end;
    long  value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > INT32_MAX || !believable(f, value))
        return cbx_fail(err, CBX_INVALID,
                        "%s: metadata 'num_classes' is '%.40s', a number ≥ 1 expected", f->path,
                        text);
    d->num_classes = (int32_t)value;
    return CBX_OK;
}

static cbx_status read_arrays(cbx_graph *g, const cbx_tensor_file *f, cbx_error *err)
{
    cbx_graph_data *d = &g->data;
    d->name = cbx_tensors_meta(f, "name");
    cbx_status status = read_features(f, d, err);
    if (!status)
        status = read_edges(f, d, err);
    if (!status)
        status = read_graph_ptr(f, d, err);
    int64_t rows = cbx_graph_label_rows(g), features = d->num_features;
    READ(d->y, "y", CBX_I64, rows);
    READ(d->discrete, "discrete_mask", CBX_U8, features);
    READ(d->feat_min, "feat_min", CBX_F32, features);
    READ(d->feat_max, "feat_max", CBX_F32, features);
    READ(d->immutable, "immutable_mask", CBX_U8, features);
    READ(d->feature_group, "feature_group", CBX_I32, features);
    for (int64_t j = 0; !status && d->feature_group && j < features; j++) {
        int32_t group = d->feature_group[j];
        if (group < -1 || group >= features)
            status = cbx_fail(err, CBX_INVALID, "%s: feature %lld is of group %d", f->path,
                              (long long)j, group);
        else if (group >= d->num_groups)
            d->num_groups = group + 1;
    }
    if (!status)
        status = read_splits(g, f, rows, err);
    return status ? status : read_num_classes(f, d, err);
}

static void release(void *backing)
{
    cbx_tensors_close(backing);
}

static cbx_status open_graph(const char *path, bool copy, cbx_graph **out, cbx_error *err)
{
    *out = NULL;
    cbx_tensor_file *f;
    cbx_status status = copy ? cbx_tensors_copy(path, &f, err) : cbx_tensors_open(path, &f, err);
    if (status)
        return status;
    cbx_graph *g = cbx_graph_empty(err);
    if (!g) {
        cbx_tensors_close(f);
        return CBX_NO_MEMORY;
    }
    g->backing = f;
    g->release = release;
    status = read_arrays(g, f, err);
    if (status)
        cbx_graph_free(g);
    else
        *out = g;
    return status;
}

cbx_status cbx_graph_file_map(const char *path, cbx_graph **out, cbx_error *err)
{
    return open_graph(path, false, out, err);
}

static cbx_status load(const char *path, bool copy, cbx_graph **out, cbx_error *err)
{
    cbx_graph *g;
    *out = NULL;
    cbx_status status = open_graph(path, copy, &g, err);
    if (status)
        return status;
    const cbx_tensor_file *f = g->backing;
    status = cbx_graph_index(g, err);
    if (status == CBX_INVALID)
        cbx_error_prefix(err, path);
    if (!status)
        status = read_names(g, f, "class_names", g->data.num_classes, &g->data.class_names, err);
    if (!status)
        status =
            read_names(g, f, "feature_names", g->data.num_features, &g->data.feature_names, err);
    if (!status)
        status = read_names(g, f, "node_names", g->data.num_nodes, &g->data.node_names, err);
    if (!status && g->data.num_groups)
        status = read_names(g, f, "group_names", g->data.num_groups, &g->data.group_names, err);
    if (status) {
        cbx_graph_free(g);
        return status;
    }
    *out = g;
    return CBX_OK;
}

cbx_status cbx_graph_load(const char *path, cbx_graph **out, cbx_error *err)
{
    return load(path, false, out, err);
}

cbx_status cbx_graph_file_copy(const char *path, cbx_graph **out, cbx_error *err)
{
    return load(path, true, out, err);
}

/* ---- writing */

enum { MOST_TENSORS = 20, MOST_META = 12 };

typedef struct writer {
    cbx_tensor tensors[MOST_TENSORS];
    size_t     count;
    cbx_meta   meta[MOST_META];
    size_t     meta_count;
    char       numbers[4][24];
    char      *names[4]; /* owned */
} writer;

static void add(writer *w, const char *name, cbx_dtype dtype, const void *data, int32_t rank,
                int64_t a, int64_t b)
{
    if (data)
        w->tensors[w->count++] =
            (cbx_tensor){.name = name, .dtype = dtype, .rank = rank, .shape = {a, b}, .data = data};
}

static void add_mask(writer *w, const char *one, const char *many, const uint8_t *mask,
                     int64_t rows, int32_t splits)
{
    if (splits == 1)
        add(w, one, CBX_U8, mask, 1, rows, 0);
    else
        add(w, many, CBX_U8, mask, 2, rows, splits);
}

static void add_meta(writer *w, const char *key, const char *value)
{
    if (value)
        w->meta[w->meta_count++] = (cbx_meta){key, value};
}

static void add_number(writer *w, int at, const char *key, int64_t value)
{
    (void)snprintf(w->numbers[at], sizeof w->numbers[at], "%lld", (long long)value);
    add_meta(w, key, w->numbers[at]);
}

static cbx_status add_names(writer *w, int at, const char *key, const char *const *names,
                            int64_t count, const char *path, cbx_error *err)
{
    if (!names)
        return CBX_OK;
    for (int64_t i = 0; i < count; i++)
        if (!cbx_is_utf8(names[i]))
            return cbx_fail(err, CBX_INVALID, "%s: entry %lld of %s is not UTF-8", path,
                            (long long)i, key);
    cbx_json_writer list = {.digits = 0};
    cbx_json_open(&list, NULL, '[');
    for (int64_t i = 0; i < count; i++)
        cbx_json_put_text(&list, NULL, names[i]);
    cbx_json_close(&list, ']');
    w->names[at] = cbx_json_take(&list);
    add_meta(w, key, w->names[at]);
    return w->names[at] ? CBX_OK : cbx_fail_memory(err);
}

static void add_arrays(writer *w, const cbx_graph_data *d, int64_t rows, const int64_t *edge_index,
                       const int64_t *shape)
{
    add(w, "edge_index", CBX_I64, edge_index, 2, 2, d->num_edges);
    add(w, "edge_weight", CBX_F32, d->edge_weight, 1, d->num_edges, 0);
    add(w, "edge_attr", CBX_F32, d->edge_attr, 2, d->num_edges, d->edge_dim);
    if (d->x) {
        add(w, "x", CBX_F32, d->x, 2, d->num_nodes, d->num_features);
    } else {
        int64_t nnz = d->x_indptr[d->num_nodes];
        add(w, "x.shape", CBX_I64, shape, 1, 2, 0);
        add(w, "x.indptr", CBX_I64, d->x_indptr, 1, (int64_t)d->num_nodes + 1, 0);
        add(w, "x.indices", CBX_I32, d->x_indices, 1, nnz, 0);
        add(w, "x.values", CBX_F32, d->x_values, 1, nnz, 0);
    }
    add(w, "y", CBX_I64, d->y, 1, rows, 0);
    add(w, "graph_ptr", CBX_I64, d->graph_ptr, 1, (int64_t)d->num_graphs + 1, 0);
    add(w, "discrete_mask", CBX_U8, d->discrete, 1, d->num_features, 0);
    add(w, "feat_min", CBX_F32, d->feat_min, 1, d->num_features, 0);
    add(w, "feat_max", CBX_F32, d->feat_max, 1, d->num_features, 0);
    add(w, "immutable_mask", CBX_U8, d->immutable, 1, d->num_features, 0);
    if (d->num_groups)
        add(w, "feature_group", CBX_I32, d->feature_group, 1, d->num_features, 0);
    add_mask(w, "train_mask", "splits.train_mask", d->train_mask, rows, d->num_splits);
    add_mask(w, "val_mask", "splits.val_mask", d->val_mask, rows, d->num_splits);
    add_mask(w, "test_mask", "splits.test_mask", d->test_mask, rows, d->num_splits);
}

cbx_status cbx_graph_save(const cbx_graph *graph, const char *path, cbx_error *err)
{
    const cbx_graph_data *d = &graph->data;
    writer                w = {0};
    cbx_status            status;
    int64_t               m = d->num_edges;
    const int64_t         shape[2] = {d->num_nodes, d->num_features};
    /* The two rows may lie anywhere; the file wants them one after the other. */
    int64_t       *copy = NULL;
    const int64_t *edge_index = d->edge_source;
    if (!edge_index || d->edge_target != edge_index + m) {
        copy = malloc((size_t)(m ? m : 1) * 2 * sizeof *copy);
        if (!copy)
            return cbx_fail_memory(err);
        if (m && d->edge_source && d->edge_target) {
            memcpy(copy, d->edge_source, (size_t)m * sizeof *copy);
            memcpy(copy + m, d->edge_target, (size_t)m * sizeof *copy);
        }
        edge_index = copy;
    }
    add_arrays(&w, d, cbx_graph_label_rows(graph), edge_index, shape);
    add_meta(&w, "name", d->name);
    add_meta(&w, "task", d->task == CBX_GRAPH ? "graph classification" : "node classification");
    add_number(&w, 0, "num_nodes", d->num_nodes);
    add_number(&w, 1, "num_edges", m);
    add_number(&w, 2, "num_features", d->num_features);
    if (d->num_classes)
        add_number(&w, 3, "num_classes", d->num_classes);
    add_meta(&w, "written_by", "combinex " CBX_VERSION_TEXT);
    status = add_names(&w, 0, "class_names", d->class_names, d->num_classes, path, err);
    if (!status)
        status = add_names(&w, 1, "feature_names", d->feature_names, d->num_features, path, err);
    if (!status)
        status = add_names(&w, 2, "node_names", d->node_names, d->num_nodes, path, err);
    if (!status && d->num_groups)
        status = add_names(&w, 3, "group_names", d->group_names, d->num_groups, path, err);
    if (!status)
        status = cbx_tensors_write(path, w.tensors, w.count, w.meta, w.meta_count, err);
    for (int i = 0; i < 4; i++)
        free(w.names[i]);
    free(copy);
    return status;
}
