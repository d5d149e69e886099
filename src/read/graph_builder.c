/* SPDX-License-Identifier: Apache-2.0 */
/* graph_builder.c: from what a reader found to a graph. */
#include "graph_builder.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "graph.h"

cbx_graph_builder *cbx_graph_builder_new(void)
{
    cbx_graph_builder *d = calloc(1, sizeof *d);
    if (d)
        d->num_nodes = d->num_features = -1;
    return d;
}

void cbx_graph_builder_free(cbx_graph_builder *d)
{
    if (!d)
        return;
    cbx_longs_free(&d->source);
    cbx_longs_free(&d->target);
    cbx_floats_free(&d->weight);
    cbx_floats_free(&d->x);
    cbx_longs_free(&d->indptr);
    cbx_ints_free(&d->columns);
    cbx_floats_free(&d->values);
    cbx_longs_free(&d->y);
    cbx_longs_free(&d->graph_ptr);
    for (int i = 0; i < CBX_PARTS; i++)
        cbx_bytes_free(&d->mask[i]);
    cbx_bytes_free(&d->discrete);
    cbx_bytes_free(&d->immutable);
    cbx_ints_free(&d->group);
    cbx_arena_free(&d->arena);
    free(d);
}

bool cbx_graph_builder_edge(cbx_graph_builder *d, int64_t source, int64_t target)
{
    return cbx_longs_add(&d->source, source) && cbx_longs_add(&d->target, target);
}

bool cbx_graph_builder_row(cbx_graph_builder *d)
{
    return cbx_longs_add(&d->indptr, (int64_t)d->values.count);
}

bool cbx_graph_builder_entry(cbx_graph_builder *d, int32_t column, float value)
{
    return cbx_ints_add(&d->columns, column) && cbx_floats_add(&d->values, value);
}

/* ---- features */

typedef struct entry {
    int32_t column;
    float   value;
} entry;

static int by_column(const void *a, const void *b)
{
    int32_t x = ((const entry *)a)->column, y = ((const entry *)b)->column;
    return (x > y) - (x < y);
}

/* Columns ascending, each once, no zeros; indptr gets its last entry. */
static bool tidy_rows(cbx_graph_builder *d)
{
    entry  *row = NULL;
    size_t  room = 0;
    int64_t to = 0, rows = (int64_t)d->indptr.count;
    if (!cbx_longs_add(&d->indptr, (int64_t)d->values.count))
        return false;
    for (int64_t i = 0; i < rows; i++) {
        int64_t begin = d->indptr.at[i], end = d->indptr.at[i + 1];
        size_t  count = (size_t)(end - begin);
        if (count > room) {
            free(row);
            room = 2 * count;
            row = malloc(room * sizeof *row);
            if (!row)
                return false;
        }
        bool sorted = true;
        for (size_t k = 0; k < count; k++) {
            row[k] = (entry){d->columns.at[begin + (int64_t)k], d->values.at[begin + (int64_t)k]};
            sorted = sorted && (k == 0 || row[k - 1].column < row[k].column);
        }
        if (!sorted)
            qsort(row, count, sizeof *row, by_column);
        d->indptr.at[i] = to;
        for (size_t k = 0; k < count; k++) {
            float value = row[k].value;
            while (k + 1 < count && row[k + 1].column == row[k].column) {
                k++;
                value = d->twice == CBX_TWICE_ADD ? value + row[k].value : row[k].value;
            }
            if (value == 0)
                continue;
            d->columns.at[to] = row[k].column;
            d->values.at[to++] = value;
        }
    }
    free(row);
    d->indptr.at[rows] = to;
    d->columns.count = d->values.count = (size_t)to;
    return true;
}

bool cbx_graph_builder_make_dense(cbx_graph_builder *d)
{
    int64_t rows = (int64_t)d->indptr.count, f = d->num_features;
    if (!cbx_floats_fill(&d->x, (size_t)(rows * f), 0))
        return false;
    for (int64_t i = 0; i < rows; i++) {
        int64_t end = i + 1 < rows ? d->indptr.at[i + 1] : (int64_t)d->values.count;
        for (int64_t k = d->indptr.at[i]; k < end; k++) {
            float *at = &d->x.at[i * f + d->columns.at[k]];
            *at = d->twice == CBX_TWICE_ADD ? *at + d->values.at[k] : d->values.at[k];
        }
    }
    cbx_longs_free(&d->indptr);
    cbx_ints_free(&d->columns);
    cbx_floats_free(&d->values);
    d->dense = true;
    return true;
}

bool cbx_graph_builder_fit_features(cbx_graph_builder *d)
{
    double entries = (double)d->indptr.count * (double)d->num_features;
    if (d->dense || entries > 4 * (double)d->values.count + 4096)
        return true;
    return cbx_graph_builder_make_dense(d);
}

/* ---- classes */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool name_classes(cbx_graph_builder *d, const cbx_longs *distinct)
{
    d->class_names = CBX_NEW(&d->arena, const char *, distinct->count);
    for (size_t i = 0; d->class_names && i < distinct->count; i++) {
        char text[24];
        (void)snprintf(text, sizeof text, "%lld", (long long)distinct->at[i]);
        d->class_names[i] = cbx_arena_strdup(&d->arena, text);
        if (!d->class_names[i])
            return false;
    }
    return d->class_names != NULL;
}

bool cbx_graph_builder_number_classes(cbx_graph_builder *d, bool keep_unknown, bool name)
{
    cbx_longs distinct = {0};
    bool      ok = cbx_longs_reserve(&distinct, d->y.count);
    for (size_t i = 0; ok && i < d->y.count; i++)
        if (!keep_unknown || d->y.at[i] != -1)
            ok = cbx_longs_add(&distinct, d->y.at[i]);
    if (ok && distinct.count) {
        size_t to = 1;
        qsort(distinct.at, distinct.count, sizeof *distinct.at, ascending);
        for (size_t i = 1; i < distinct.count; i++)
            if (distinct.at[i] != distinct.at[i - 1])
                distinct.at[to++] = distinct.at[i];
        distinct.count = to;
    }
    for (size_t i = 0; ok && i < d->y.count; i++) {
        if (keep_unknown && d->y.at[i] == -1)
            continue;
        int64_t *found =
            bsearch(&d->y.at[i], distinct.at, distinct.count, sizeof *distinct.at, ascending);
        d->y.at[i] = found - distinct.at;
    }
    if (ok) {
        bool same = true; /* 0, 1, … need no names */
        for (size_t i = 0; i < distinct.count; i++)
            same = same && distinct.at[i] == (int64_t)i;
        d->num_classes = (int64_t)distinct.count;
        ok = same || !name || name_classes(d, &distinct);
    }
    cbx_longs_free(&distinct);
    return ok;
}

bool cbx_graph_builder_sort_classes(cbx_graph_builder *d, const cbx_names *classes)
{
    int64_t  count = classes->count;
    int64_t *order = CBX_NEW(&d->arena, int64_t, count), *rank = CBX_NEW(&d->arena, int64_t, count);
    bool     plain = true;
    if (!order || !rank || !cbx_names_sort(classes, order))
        return false;
    for (int64_t k = 0; k < count; k++) {
        char text[24];
        rank[order[k]] = k;
        (void)snprintf(text, sizeof text, "%lld", (long long)k);
        plain = plain && !strcmp(text, classes->at[order[k]]);
    }
    for (size_t i = 0; i < d->y.count; i++)
        d->y.at[i] = d->y.at[i] < 0 ? -1 : rank[d->y.at[i]];
    d->num_classes = count;
    if (!plain)
        d->class_names = cbx_names_copy(classes, order, &d->arena);
    return plain || d->class_names;
}

/* ---- finishing */

static void release(void *backing)
{
    cbx_graph_builder_free(backing);
}

static cbx_status check_rows(const cbx_graph_builder *d, int64_t rows, cbx_error *err)
{
    const struct {
        const char *what;
        size_t      have;
        int64_t     want;
    } sizes[] = {{"labels", d->y.count, rows},
                 {"entries of train masks", d->mask[0].count, rows * d->num_splits},
                 {"entries of validation masks", d->mask[1].count, rows * d->num_splits},
                 {"entries of test masks", d->mask[2].count, rows * d->num_splits},
                 {"edge weights", d->weight.count, (int64_t)d->source.count},
                 {"feature kinds", d->discrete.count, d->num_features}};
    if (d->num_nodes > INT32_MAX || d->num_features > INT32_MAX || d->num_classes > INT32_MAX ||
        rows > INT32_MAX)
        return cbx_fail(err, CBX_INVALID, "more than 2,147,483,647 nodes, features or classes");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].have && (int64_t)sizes[i].have != sizes[i].want)
            return cbx_fail(err, CBX_INVALID, "%lld %s where %lld were expected",
                            (long long)sizes[i].have, sizes[i].what, (long long)sizes[i].want);
    int64_t have = d->dense ? (d->num_features ? (int64_t)d->x.count / d->num_features : 0)
                            : (int64_t)d->indptr.count - 1;
    if (have != d->num_nodes)
        return cbx_fail(err, CBX_INVALID, "%lld rows of features for %lld nodes", (long long)have,
                        (long long)d->num_nodes);
    return CBX_OK;
}

static void fill_data(const cbx_graph_builder *d, cbx_graph_data *g)
{
    g->task = d->task;
    g->num_nodes = (int32_t)d->num_nodes;
    g->num_features = (int32_t)d->num_features;
    g->num_classes = (int32_t)d->num_classes;
    g->num_graphs = d->task == CBX_GRAPH ? (int32_t)d->graph_ptr.count - 1 : 0;
    g->num_edges = (int64_t)d->source.count;
    g->edge_source = d->source.at;
    g->edge_target = d->target.at;
    g->edge_weight = d->weight.count ? d->weight.at : NULL;
    if (d->dense) {
        g->x = d->x.at;
    } else {
        g->x_indptr = d->indptr.at;
        g->x_indices = d->columns.at;
        g->x_values = d->values.at;
        g->num_x_values = (int64_t)d->values.count;
    }
    g->discrete = d->discrete.count ? d->discrete.at : NULL;
    g->immutable = d->immutable.count ? d->immutable.at : NULL;
    g->feature_group = d->group.count ? d->group.at : NULL;
    g->num_groups = d->num_groups;
    g->group_names = d->num_groups ? d->group_names : NULL;
    g->y = d->y.count ? d->y.at : NULL;
    g->graph_ptr = d->task == CBX_GRAPH ? d->graph_ptr.at : NULL;
    g->num_splits = d->num_splits;
    g->train_mask = d->mask[CBX_TRAIN].count ? d->mask[CBX_TRAIN].at : NULL;
    g->val_mask = d->mask[CBX_VAL].count ? d->mask[CBX_VAL].at : NULL;
    g->test_mask = d->mask[CBX_TEST].count ? d->mask[CBX_TEST].at : NULL;
    g->name = d->name;
    g->class_names = d->class_names;
    g->feature_names = d->feature_names;
    g->node_names = d->node_names;
}

static cbx_status finish(cbx_graph_builder *d, cbx_graph *g, cbx_error *err)
{
    cbx_status status = cbx_graph_builder_order_edges(d, err);
    if (status)
        return status;
    bool ok = d->dense ? cbx_floats_reserve(&d->x, 1)
                       : tidy_rows(d) && cbx_ints_reserve(&d->columns, 1) &&
                             cbx_floats_reserve(&d->values, 1); /* an array, even if of nothing */
    if (!ok)
        return cbx_fail_memory(err);
    int64_t rows = d->task == CBX_GRAPH ? (int64_t)d->graph_ptr.count - 1 : d->num_nodes;
    status = check_rows(d, rows, err);
    if (status)
        return status;
    fill_data(d, &g->data);
    return cbx_graph_index(g, err);
}

cbx_status cbx_graph_builder_finish(cbx_graph_builder *d, cbx_graph **out, cbx_error *err)
{
    *out = NULL;
    cbx_graph *g = cbx_graph_empty(err);
    if (!g) {
        cbx_graph_builder_free(d);
        return CBX_NO_MEMORY;
    }
    g->backing = d;
    g->release = release;
    cbx_status status = finish(d, g, err);
    if (status)
        cbx_graph_free(g);
    else
        *out = g;
    return status;
}
