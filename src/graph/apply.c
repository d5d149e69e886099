/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c: a graph with edits, as a graph of its own; and a graph's hash. */
#include <string.h>

#include "added.h"
#include "edit.h"
#include "error.h"
#include "number.h"
#include "sha256.h"
#include "with_nodes.h"
#include "without_nodes.h"

/* Arrays that edits leave alone are copied too, so that the new graph does not
 * depend on the life of the old. */
static const void *copy(cbx_arena *arena, const void *from, size_t count, size_t size, bool *failed)
{
    if (!from)
        return NULL;
    void *to = cbx_arena_alloc(arena, count, size);
    if (!to)
        *failed = true;
    else
        memcpy(to, from, count * size);
    return to;
}

static const char *const *copy_names(cbx_arena *arena, const char *const *names, int32_t count,
                                     bool *failed)
{
    if (!names)
        return NULL;
    const char **to = CBX_NEW(arena, const char *, count);
    for (int32_t i = 0; to && i < count; i++)
        if (!(to[i] = cbx_arena_strdup(arena, names[i])))
            to = NULL;
    *failed = *failed || !to;
    return to;
}

static void copy_rest(cbx_graph *to, const cbx_graph *from, bool *failed)
{
    const cbx_graph_data *d = &from->data;
    cbx_graph_data       *n = &to->data;
    cbx_arena            *a = &to->arena;
    size_t                f = (size_t)d->num_features, rows = (size_t)cbx_graph_label_rows(from);
    size_t                masks = rows * (size_t)d->num_splits;
    n->discrete = copy(a, d->discrete, f, 1, failed);
    n->feat_min = copy(a, d->feat_min, f, sizeof(float), failed);
    n->feat_max = copy(a, d->feat_max, f, sizeof(float), failed);
    n->y = copy(a, d->y, rows, sizeof(int64_t), failed);
    n->graph_ptr = copy(a, d->graph_ptr, (size_t)d->num_graphs + 1, sizeof(int64_t), failed);
    n->train_mask = copy(a, d->train_mask, masks, 1, failed);
    n->val_mask = copy(a, d->val_mask, masks, 1, failed);
    n->test_mask = copy(a, d->test_mask, masks, 1, failed);
    n->name = copy(a, d->name, d->name ? strlen(d->name) + 1 : 0, 1, failed);
    n->class_names = copy_names(a, d->class_names, d->num_classes, failed);
    n->feature_names = copy_names(a, d->feature_names, d->num_features, failed);
    n->node_names = copy_names(a, d->node_names, d->num_nodes, failed);
    n->immutable = copy(a, d->immutable, f, 1, failed);
    n->feature_group = copy(a, d->feature_group, f, sizeof(int32_t), failed);
    n->group_names = copy_names(a, d->group_names, d->num_groups, failed);
}

/* ---- nodes that go */

/* What a graph is made of, and which of it goes. */
typedef struct parts_gone {
    const uint8_t *edge;   /* by id */
    const uint8_t *node;   /* NULL: none */
    const int32_t *number; /* by node: its new number; NULL: the same */
} parts_gone;

/* Of `size` bytes for each node, those of the nodes that stay; they move up. */
static void move_up(const void *array, const uint8_t *gone, int32_t n, size_t size)
{
    char *bytes = (char *)array; /* the new graph's own */
    for (int32_t i = 0, at = 0; bytes && i < n; i++)
        if (!gone[i])
            memmove(bytes + (size_t)at++ * size, bytes + (size_t)i * size, size);
}

/* By a number each, of the graph as it was: so that everybody can tell who is who. */
static cbx_status name_by_number(cbx_graph *g, cbx_error *err)
{
    int32_t      n = g->data.num_nodes;
    const char **names = CBX_NEW(&g->arena, const char *, n);
    char         text[16];
    if (!names)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < n; i++) {
        (void)cbx_print(text, sizeof text, "%d", i);
        if (!(names[i] = cbx_arena_strdup(&g->arena, text)))
            return cbx_fail_memory(err);
    }
    g->data.node_names = names;
    return CBX_OK;
}

/* All but the features, which are without them already. */
static cbx_status drop_nodes(cbx_graph *g, const uint8_t *gone, cbx_error *err)
{
    cbx_graph_data *d = &g->data;
    int32_t         n = d->num_nodes, left = 0;
    cbx_status      status = d->node_names ? CBX_OK : name_by_number(g, err);
    if (status)
        return status;
    if (d->task != CBX_GRAPH) {
        size_t splits = (size_t)d->num_splits;
        move_up(d->y, gone, n, sizeof *d->y);
        move_up(d->train_mask, gone, n, splits);
        move_up(d->val_mask, gone, n, splits);
        move_up(d->test_mask, gone, n, splits);
    }
    move_up(d->node_names, gone, n, sizeof *d->node_names);
    int64_t *ptr = (int64_t *)d->graph_ptr; /* the new graph's own */
    for (int32_t i = 0, k = 0; i < n; i++) {
        for (; ptr && k <= d->num_graphs && ptr[k] <= i; k++)
            ptr[k] = left;
        left += !gone[i];
    }
    for (int32_t k = d->num_graphs; ptr && k >= 0 && ptr[k] == n; k--)
        ptr[k] = left;
    for (int32_t k = 0; ptr && k < d->num_graphs; k++)
        if (ptr[k] == ptr[k + 1])
            return cbx_fail(err, CBX_INVALID, "the edits leave graph %d without a node: one stays",
                            k);
    d->num_nodes = left;
    return left ? CBX_OK : cbx_fail(err, CBX_INVALID, "the edits remove all nodes: one stays");
}

/* The edges that were not dropped, and behind them those that were added. */
static cbx_status keep_edges(cbx_graph *to, const cbx_graph *from, const parts_gone *gone,
                             cbx_error *err)
{
    const uint8_t        *drop_id = gone->edge;
    const cbx_graph_data *d = &from->data;
    int64_t               more = from->added ? from->added->count : 0, m = more;
    for (int64_t e = 0; e < d->num_edges; e++)
        m += !drop_id[e];
    bool     weighted = cbx_graph_is_weighted(from);
    int64_t *index = CBX_NEW(&to->arena, int64_t, 2 * m);
    size_t   wide = (size_t)d->edge_dim;
    float   *weight = weighted ? CBX_NEW(&to->arena, float, m) : NULL;
    float   *attr = d->edge_attr ? CBX_NEW(&to->arena, float, (size_t)m *wide) : NULL;
    if (!index || (weighted && !weight) || (d->edge_attr && !attr))
        return cbx_fail_memory(err);
    int64_t at = 0;
    for (int64_t e = 0; e < d->num_edges; e++) {
        if (drop_id[e])
            continue;
        index[at] = d->edge_source[e];
        index[m + at] = d->edge_target[e];
        if (weight)
            weight[at] = d->edge_weight ? d->edge_weight[e] : 1;
        if (attr)
            memcpy(attr + (size_t)at * wide, d->edge_attr + (size_t)e * wide, wide * sizeof *attr);
        at++;
    }
    for (int64_t k = 0; k < more; k++) {
        int64_t id = from->added->id[k];
        index[at + id] = from->added->source[k];
        index[m + at + id] = from->added->target[k];
        if (weight)
            weight[at + id] = from->added->weight[k];
    }
    if (attr && more)
        memcpy(attr + (size_t)at * wide, d->edge_attr + (size_t)d->num_edges * wide,
               (size_t)more * wide * sizeof *attr);
    for (int64_t e = 0; gone->number && e < 2 * m; e++)
        index[e] = gone->number[index[e]];
    to->data.num_edges = m;
    to->data.edge_source = index;
    to->data.edge_target = index + m;
    to->data.edge_weight = weight;
    to->data.edge_attr = attr;
    return CBX_OK;
}

/* Which nodes go, and the features of the others. */
static cbx_status find_gone(const cbx_places *places, const cbx_edit *edits, int64_t count,
                            cbx_graph *g, cbx_arena *work, parts_gone *gone, cbx_matrix *X,
                            cbx_error *err)
{
    int32_t  n = places->view->n;
    uint8_t *nodes = CBX_NEW(work, uint8_t, n);
    int32_t *number = CBX_NEW(work, int32_t, n);
    if (!nodes || !number)
        return cbx_fail_memory(err);
    if (!cbx_edits_mark_nodes(places, edits, count, nodes))
        return CBX_OK;
    for (int32_t i = 0, next = 0; i < n; i++)
        number[i] = nodes[i] ? -1 : next++;
    gone->node = nodes;
    gone->number = number;
    cbx_matrix all = *X;
    return cbx_matrix_without_rows(&all, nodes, n, &g->arena, X, err);
}

/* Behind the last of each graph, once those that go are gone. */
static cbx_status add_nodes(cbx_graph *g, const cbx_graph *from, const parts_gone *gone,
                            cbx_new_node *nodes, int32_t num_nodes, cbx_error *err)
{
    for (int32_t k = 0; k < num_nodes && gone->number; k++)
        nodes[k].at = gone->number[nodes[k].at];
    return num_nodes ? cbx_graph_insert_nodes(g, from, nodes, num_nodes, err) : CBX_OK;
}

static cbx_status apply(const cbx_graph *old, const cbx_edit *edits, int64_t count, cbx_graph *g,
                        cbx_arena *work, cbx_error *err)
{
    const cbx_graph_data *d = &old->data;
    cbx_graph             with, *graph = &with;
    cbx_view              view;
    cbx_matrix            X, edited;
    cbx_new_node         *nodes;
    int32_t               num_nodes;
    cbx_status            status = cbx_graph_with_edges(old, edits, count, work, &with, err);
    if (!status)
        status = cbx_edits_new_nodes(old, edits, count, work, &nodes, &num_nodes, err);
    if (status)
        return status;
    uint8_t *drop = CBX_NEW(work, uint8_t, cbx_graph_num_edges(graph));
    uint8_t *drop_id = CBX_NEW(work, uint8_t, cbx_graph_num_edges(graph));
    if (!drop || !drop_id)
        return cbx_fail_memory(err);
    status = cbx_view_whole(graph, work, &view, err);
    if (!status)
        status = cbx_view_features(graph, &view, work, &X, err);
    cbx_places places = {.view = &view};
    parts_gone gone = {.edge = drop_id};
    if (!status)
        status = cbx_edits_mark(graph, &places, edits, count, drop, err);
    if (!status)
        status = cbx_features_edited(&places, &X, edits, count, &g->arena, &edited, err);
    if (!status)
        status = find_gone(&places, edits, count, g, work, &gone, &edited, err);
    if (status)
        return status;
    for (int64_t s = 0; s < view.m; s++)
        drop_id[view.edge ? view.edge[s] : s] = drop[s];
    g->data = *d;
    g->data.x = edited.dense;
    g->data.x_indptr = edited.csr.offset;
    g->data.x_indices = edited.csr.column;
    g->data.x_values = edited.csr.value;
    g->data.num_x_values = edited.dense ? 0 : edited.csr.offset[edited.rows];
    bool failed = false;
    copy_rest(g, graph, &failed);
    if (failed)
        return cbx_fail_memory(err);
    status = keep_edges(g, graph, &gone, err);
    if (!status && gone.node)
        status = drop_nodes(g, gone.node, err);
    if (!status)
        status = add_nodes(g, graph, &gone, nodes, num_nodes, err);
    return status ? status : cbx_graph_index(g, err);
}

cbx_status cbx_graph_apply(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                           cbx_graph **out, cbx_error *err)
{
    cbx_arena work = {0};
    *out = NULL;
    cbx_graph *g = cbx_graph_empty(err);
    if (!g)
        return CBX_NO_MEMORY;
    cbx_status status = apply(graph, edits, count, g, &work, err);
    cbx_arena_free(&work);
    if (status) {
        cbx_graph_free(g);
        return status;
    }
    *out = g;
    return CBX_OK;
}

void cbx_graph_hash(const cbx_graph *graph, char hex[65])
{
    const cbx_graph_data *d = &graph->data;
    int64_t    sizes[] = {d->task, d->num_nodes, d->num_features, d->num_graphs, d->num_edges};
    cbx_sha256 sha;
    size_t     m = (size_t)d->num_edges, n = (size_t)d->num_nodes;
    cbx_sha256_init(&sha);
    cbx_sha256_add(&sha, sizes, sizeof sizes);
    if (m) {
        cbx_sha256_add(&sha, d->edge_source, m * sizeof *d->edge_source);
        cbx_sha256_add(&sha, d->edge_target, m * sizeof *d->edge_target);
    }
    if (d->edge_weight)
        cbx_sha256_add(&sha, d->edge_weight, m * sizeof *d->edge_weight);
    if (d->edge_attr) {
        cbx_sha256_add(&sha, &d->edge_dim, sizeof d->edge_dim);
        cbx_sha256_add(&sha, d->edge_attr, m * (size_t)d->edge_dim * sizeof *d->edge_attr);
    }
    if (d->x) {
        cbx_sha256_add(&sha, d->x, n * (size_t)d->num_features * sizeof *d->x);
    } else {
        size_t nnz = (size_t)d->x_indptr[n];
        cbx_sha256_add(&sha, d->x_indptr, (n + 1) * sizeof *d->x_indptr);
        cbx_sha256_add(&sha, d->x_indices, nnz * sizeof *d->x_indices);
        cbx_sha256_add(&sha, d->x_values, nnz * sizeof *d->x_values);
    }
    if (d->graph_ptr)
        cbx_sha256_add(&sha, d->graph_ptr, ((size_t)d->num_graphs + 1) * sizeof *d->graph_ptr);
    cbx_sha256_hex(&sha, hex);
}
