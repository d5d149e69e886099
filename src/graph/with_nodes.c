/* SPDX-License-Identifier: Apache-2.0 */
/* with_nodes.c: see with_nodes.h; insert_nodes.c has the rest. */
#include "with_nodes.h"

#include <math.h>
#include <string.h>

#include "added.h"
#include "deadline.h"
#include "error.h"

/* Multiplications in the time of an edge, or a value, that is copied. */
static const double COPY = 16;

/* ---- which there are */

static cbx_status refuse(const cbx_edit *e, int64_t k, const char *why, cbx_error *err)
{
    return cbx_fail(err, CBX_INVALID, "edit %lld: no copy of node %d can be added at node %d: %s",
                    (long long)k, e->source, e->target, why);
}

static cbx_status check(const cbx_graph *g, const cbx_edit *edits, int64_t count, int64_t k,
                        cbx_error *err)
{
    const cbx_edit *e = &edits[k];
    int32_t         n = g->data.num_nodes;
    if (g->data.task != CBX_GRAPH)
        return refuse(e, k,
                      "nodes are added to graphs that have a class, not to one whose nodes "
                      "have classes",
                      err);
    if (e->source < 0 || e->source >= n || e->target < 0 || e->target >= n)
        return cbx_fail(err, CBX_INVALID, "edit %lld: there is no node %d", (long long)k,
                        e->source < 0 || e->source >= n ? e->source : e->target);
    if (cbx_graph_of_node(g, e->source) != cbx_graph_of_node(g, e->target))
        return refuse(e, k, "they are of two graphs", err);
    if (!isfinite(e->weight))
        return refuse(e, k, "the weight of its edge is no number", err);
    if (cbx_edits_remove_node(edits, count, e->target))
        return refuse(e, k, "that node is removed", err);
    return CBX_OK;
}

int64_t cbx_edits_new_node_edges(const cbx_edit *edits, int64_t count)
{
    int64_t edges = 0;
    for (int64_t k = 0; k < count; k++)
        if (edits[k].op == CBX_ADD_NODE)
            edges += edits[k].undirected ? 2 : 1;
    return edges;
}

cbx_status cbx_edits_new_nodes(const cbx_graph *graph, const cbx_edit *edits, int64_t count,
                               cbx_arena *arena, cbx_new_node **out, int32_t *num_out,
                               cbx_error *err)
{
    float      usual = 0;
    cbx_status status = CBX_OK;
    *num_out = 0;
    if (!(*out = CBX_NEW(arena, cbx_new_node, count)))
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < count && !status; k++) {
        const cbx_edit *e = &edits[k];
        if (e->op != CBX_ADD_NODE)
            continue;
        status = check(graph, edits, count, k, err);
        if (!status && e->weight == 0 && usual == 0)
            usual = cbx_graph_usual_weight(graph);
        if (isnan(usual))
            return cbx_fail_memory(err);
        (*out)[(*num_out)++] =
            (cbx_new_node){e->source, e->target, e->weight != 0 ? e->weight : usual, e->undirected};
    }
    return status;
}

/* ---- a view with them */

/* Slots of the new edges: into the nodes that were there, behind their own, and into the new ones.
 * By node of the view, how many into it; returns how many there are. */
static int64_t count_edges(const cbx_new_node *nodes, int32_t count, int64_t *into, bool *weighted)
{
    int64_t edges = 0;
    for (int32_t k = 0; k < count; k++) {
        into[nodes[k].at]++;
        edges += nodes[k].undirected ? 2 : 1;
        *weighted = *weighted || nodes[k].weight != 1;
    }
    return edges;
}

typedef struct slots {
    int64_t *offset, *edge, *next; /* next: by node that was there, its first free slot */
    int32_t *source;
    float   *weight; /* NULL: all 1 */
} slots;

static void put_slot(const slots *to, int64_t at, int32_t source, int64_t edge, float weight)
{
    to->source[at] = source;
    to->edge[at] = edge;
    if (to->weight)
        to->weight[at] = weight;
}

static cbx_status fill(const cbx_view *v, const cbx_new_node *nodes, int32_t count,
                       int64_t first_id, const slots *to, cbx_error *err)
{
    int64_t at = 0, id = first_id;
    for (int32_t i = 0; i < v->n; i++) {
        int64_t more = to->next[i];
        to->offset[i] = at;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++, at++) {
            if (cbx_out_of_time_at(e, COPY))
                return cbx_fail_late(err);
            put_slot(to, at, v->source[e], v->edge ? v->edge[e] : e, v->weight ? v->weight[e] : 1);
        }
        to->next[i] = at;
        at += more;
    }
    for (int32_t k = 0; k < count; k++) {
        const cbx_new_node *node = &nodes[k];
        put_slot(to, to->next[node->at]++, v->n + k, id++, node->weight);
        to->offset[v->n + k] = at;
        if (node->undirected)
            put_slot(to, at++, node->at, id++, node->weight);
    }
    to->offset[v->n + count] = at;
    return CBX_OK;
}

static cbx_status add_slots(const cbx_view *v, const cbx_new_node *nodes, int32_t count,
                            int64_t first_id, cbx_arena *arena, cbx_view *out, cbx_error *err)
{
    bool    weighted = v->weight != NULL;
    int64_t m = v->m;
    slots   to = {.next = CBX_NEW0(arena, int64_t, v->n)};
    if (!to.next)
        return cbx_fail_memory(err);
    m += count_edges(nodes, count, to.next, &weighted);
    to.offset = CBX_NEW(arena, int64_t, (size_t)out->n + 1);
    to.source = CBX_NEW(arena, int32_t, m);
    to.edge = CBX_NEW(arena, int64_t, m);
    to.weight = weighted ? CBX_NEW(arena, float, m) : NULL;
    if (!to.offset || !to.source || !to.edge || (weighted && !to.weight))
        return cbx_fail_memory(err);
    cbx_status status = fill(v, nodes, count, first_id, &to, err);
    out->m = m;
    out->offset = to.offset;
    out->source = to.source;
    out->edge = to.edge;
    out->weight = to.weight;
    return status ? status : cbx_view_group_by_source(out, arena, err);
}

cbx_status cbx_view_with_nodes(const cbx_view *view, const cbx_new_node *nodes, int32_t count,
                               int64_t first_id, cbx_arena *arena, cbx_view *out, cbx_error *err)
{
    *out = *view;
    out->n = view->n + count;
    int32_t *node = CBX_NEW(arena, int32_t, out->n);
    int32_t *prefix = CBX_NEW(arena, int32_t, 1), *ptr = CBX_NEW(arena, int32_t, 2);
    if (!node || !prefix || !ptr)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < out->n; i++)
        node[i] = i >= view->n ? nodes[i - view->n].copied : view->node ? view->node[i] : i;
    ptr[0] = 0;
    ptr[1] = prefix[0] = out->n;
    out->hops = 0;
    out->prefix = prefix;
    out->graph_ptr = ptr;
    out->node = node;
    return add_slots(view, nodes, count, first_id, arena, out, err);
}

/* One above the other; both are dense, or both sparse. */
static cbx_status stack(const cbx_matrix *A, const cbx_matrix *B, cbx_arena *arena, cbx_matrix *out,
                        cbx_error *err)
{
    const cbx_matrix *parts[2] = {A, B};
    int32_t           rows = A->rows + B->rows, cols = A->cols, row = 0;
    bool              sparse = !A->dense;
    int64_t           sizes[2], at = 0;
    for (int i = 0; i < 2; i++)
        sizes[i] = sparse ? parts[i]->csr.offset[parts[i]->rows] - parts[i]->csr.offset[0]
                          : (int64_t)parts[i]->rows * cols;
    int64_t *offset = sparse ? CBX_NEW(arena, int64_t, (size_t)rows + 1) : NULL;
    int32_t *column = sparse ? CBX_NEW(arena, int32_t, sizes[0] + sizes[1]) : NULL;
    float   *value = CBX_NEW(arena, float, sizes[0] + sizes[1]);
    if (!value || (sparse && (!offset || !column)))
        return cbx_fail_memory(err);
    if (cbx_out_of_time(COPY * (double)(sizes[0] + sizes[1])))
        return cbx_fail_late(err);
    for (int i = 0; i < 2; i++) {
        const cbx_csr *csr = &parts[i]->csr;
        int64_t        begin = sparse ? csr->offset[0] : 0;
        for (int32_t k = 0; sparse && k < parts[i]->rows; k++)
            offset[row++] = at + csr->offset[k] - begin;
        if (sparse && sizes[i])
            memcpy(column + at, csr->column + begin, (size_t)sizes[i] * sizeof *column);
        if (sizes[i])
            memcpy(value + at, (sparse ? csr->value : parts[i]->dense) + begin,
                   (size_t)sizes[i] * sizeof *value);
        at += sizes[i];
    }
    if (sparse)
        offset[rows] = at;
    *out = sparse ? (cbx_matrix){.rows = rows, .cols = cols, .csr = {offset, column, value}}
                  : cbx_matrix_dense(rows, cols, value);
    return CBX_OK;
}

cbx_status cbx_features_with_nodes(const cbx_graph *graph, const cbx_view *view,
                                   const cbx_matrix *X, cbx_arena *arena, cbx_matrix *out,
                                   cbx_error *err)
{
    const cbx_view new = {.n = view->n - X->rows, .node = view->node + X->rows};
    cbx_matrix rows;
    cbx_status status = cbx_view_features(graph, &new, arena, &rows, err);
    return status ? status : stack(X, &rows, arena, out, err);
}
