/* SPDX-License-Identifier: Apache-2.0 */
/* insert_nodes.c: see with_nodes.h. */
#include <string.h>

#include "added.h"
#include "error.h"
#include "number.h"
#include "with_nodes.h"

/* Who is where: in the new order, the old node, or -1 - k of the k-th new one. */
typedef struct order {
    int32_t  n; /* all of them */
    int32_t *who;
    int32_t *number; /* by old node, and behind them by new one */
    int64_t *ptr;
} order;

static cbx_status put_in_order(const cbx_graph *g, const cbx_new_node *nodes, int32_t count,
                               cbx_arena *arena, order *out, cbx_error *err)
{
    const cbx_graph_data *d = &g->data;
    int32_t               at = 0;
    *out = (order){.n = d->num_nodes + count,
                   .who = CBX_NEW(arena, int32_t, (size_t)d->num_nodes + (size_t)count),
                   .number = CBX_NEW(arena, int32_t, (size_t)d->num_nodes + (size_t)count),
                   .ptr = CBX_NEW(arena, int64_t, (size_t)d->num_graphs + 1)};
    if (!out->who || !out->number || !out->ptr)
        return cbx_fail_memory(err);
    for (int32_t k = 0; k < d->num_graphs; k++) {
        out->ptr[k] = at;
        for (int32_t i = (int32_t)d->graph_ptr[k]; i < d->graph_ptr[k + 1]; i++) {
            out->number[i] = at;
            out->who[at++] = i;
        }
        for (int32_t i = 0; i < count; i++)
            if (cbx_graph_of_node(g, nodes[i].at) == k) {
                out->number[d->num_nodes + i] = at;
                out->who[at++] = -1 - i;
            }
    }
    out->ptr[d->num_graphs] = at;
    return CBX_OK;
}

/* A row of features: where it begins, and how many values it has. */
static int64_t row_of(const cbx_graph_data *d, int32_t node, size_t *count)
{
    int64_t begin = d->x ? (int64_t)node * d->num_features : d->x_indptr[node];
    *count = d->x ? (size_t)d->num_features : (size_t)(d->x_indptr[node + 1] - begin);
    return begin;
}

/* Whose row the i-th is, and where. */
static const cbx_graph_data *source_of(const cbx_graph *g, const cbx_graph *from,
                                       const cbx_new_node *nodes, const order *o, int32_t i,
                                       int32_t *node)
{
    *node = o->who[i] >= 0 ? o->who[i] : nodes[-1 - o->who[i]].copied;
    return o->who[i] >= 0 ? &g->data : &from->data;
}

static cbx_status insert_rows(cbx_graph *g, const cbx_graph *from, const cbx_new_node *nodes,
                              const order *o, cbx_error *err)
{
    bool    sparse = !g->data.x;
    int64_t size = 0, at = 0;
    size_t  count;
    int32_t node;
    for (int32_t i = 0; i < o->n; i++) {
        const cbx_graph_data *d = source_of(g, from, nodes, o, i, &node);
        (void)row_of(d, node, &count);
        size += (int64_t)count;
    }
    float   *value = CBX_NEW(&g->arena, float, size);
    int32_t *column = sparse ? CBX_NEW(&g->arena, int32_t, size) : NULL;
    int64_t *offset = sparse ? CBX_NEW(&g->arena, int64_t, (size_t)o->n + 1) : NULL;
    if (!value || (sparse && (!column || !offset)))
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < o->n; i++) {
        const cbx_graph_data *d = source_of(g, from, nodes, o, i, &node);
        int64_t               begin = row_of(d, node, &count);
        if (offset)
            offset[i] = at;
        if (column && count)
            memcpy(column + at, d->x_indices + begin, count * sizeof *column);
        if (count)
            memcpy(value + at, (sparse ? d->x_values : d->x) + begin, count * sizeof *value);
        at += (int64_t)count;
    }
    if (offset)
        offset[o->n] = at;
    g->data.x = sparse ? NULL : value;
    g->data.x_indptr = offset;
    g->data.x_indices = column;
    g->data.x_values = sparse ? value : NULL;
    g->data.num_x_values = sparse ? at : 0;
    return CBX_OK;
}

/* A new one is called after the node that it is a copy of. */
static cbx_status insert_names(cbx_graph *g, const cbx_graph *from, const cbx_new_node *nodes,
                               const order *o, cbx_error *err)
{
    enum { LONGEST = 128 };
    const char **names = CBX_NEW(&g->arena, const char *, o->n);
    char         text[LONGEST];
    if (!names)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < o->n; i++) {
        if (o->who[i] >= 0) {
            names[i] = g->data.node_names[o->who[i]];
            continue;
        }
        int32_t copied = nodes[-1 - o->who[i]].copied;
        if (from->data.node_names)
            (void)cbx_print(text, sizeof text, "copy of %.100s", from->data.node_names[copied]);
        else
            (void)cbx_print(text, sizeof text, "copy of %d", copied);
        if (!(names[i] = cbx_arena_strdup(&g->arena, text)))
            return cbx_fail_memory(err);
    }
    g->data.node_names = names;
    return CBX_OK;
}

/* All edges with their new numbers, and behind them the new nodes' own. */
static cbx_status insert_edges(cbx_graph *g, const cbx_graph *from, const cbx_new_node *nodes,
                               int32_t count, const order *o, cbx_error *err)
{
    cbx_graph_data *d = &g->data;
    int64_t         m = d->num_edges, all = m, at = m;
    size_t          wide = (size_t)d->edge_dim;
    bool            weighted = d->edge_weight != NULL;
    for (int32_t k = 0; k < count; k++) {
        all += nodes[k].undirected ? 2 : 1;
        weighted = weighted || nodes[k].weight != 1;
    }
    int64_t *index = CBX_NEW(&g->arena, int64_t, 2 * all);
    float   *weight = weighted ? CBX_NEW(&g->arena, float, all) : NULL;
    float   *attr = d->edge_attr ? CBX_NEW(&g->arena, float, (size_t)all *wide) : NULL;
    if (!index || (weighted && !weight) || (d->edge_attr && !attr))
        return cbx_fail_memory(err);
    for (int64_t e = 0; e < m; e++) {
        index[e] = o->number[d->edge_source[e]];
        index[all + e] = o->number[d->edge_target[e]];
        if (weight)
            weight[e] = d->edge_weight ? d->edge_weight[e] : 1;
    }
    for (int32_t k = 0; k < count; k++)
        for (int way = 0; way < (nodes[k].undirected ? 2 : 1); way++, at++) {
            index[way ? all + at : at] = o->number[d->num_nodes + k];
            index[way ? at : all + at] = o->number[nodes[k].at];
            if (weight)
                weight[at] = nodes[k].weight;
        }
    if (attr && d->edge_attr && m)
        memcpy(attr, d->edge_attr, (size_t)m * wide * sizeof *attr);
    if (attr)
        memcpy(attr + (size_t)m * wide,
               from->data.edge_attr + (size_t)cbx_graph_num_edges(from) * wide,
               (size_t)(all - m) * wide * sizeof *attr);
    d->num_edges = all;
    d->edge_source = index;
    d->edge_target = index + all;
    d->edge_weight = weight;
    d->edge_attr = attr;
    return CBX_OK;
}

cbx_status cbx_graph_insert_nodes(cbx_graph *g, const cbx_graph *from, const cbx_new_node *nodes,
                                  int32_t count, cbx_error *err)
{
    order      o;
    cbx_status status = put_in_order(g, nodes, count, &g->arena, &o, err);
    if (!status)
        status = insert_rows(g, from, nodes, &o, err);
    if (!status && g->data.node_names)
        status = insert_names(g, from, nodes, &o, err);
    if (!status)
        status = insert_edges(g, from, nodes, count, &o, err);
    if (status)
        return status;
    g->data.num_nodes = o.n;
    g->data.graph_ptr = o.ptr;
    return CBX_OK;
}
