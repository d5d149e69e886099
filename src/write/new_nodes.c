/* SPDX-License-Identifier: Apache-2.0 */
/* new_nodes.c: see new_nodes.h. */
#include "new_nodes.h"

#include "error.h"
#include "with_nodes.h"

/* By graph: how many nodes come to those before it. */
static int32_t come_before(const cbx_graph *g, const cbx_new_node *nodes, int32_t count,
                           int32_t node)
{
    int32_t before = 0, graph = cbx_graph_of_node(g, node);
    for (int32_t k = 0; k < count; k++)
        before += cbx_graph_of_node(g, nodes[k].at) < graph;
    return before;
}

/* The others, by the numbers of the graph that has the new nodes. */
static int64_t renumber(const cbx_graph *g, const cbx_edit *edits, int64_t count,
                        const cbx_new_node *nodes, int32_t num_nodes, cbx_edit *others)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        cbx_edit e = edits[k];
        if (e.op == CBX_ADD_NODE)
            continue;
        if (e.op == CBX_SET_FEATURE || e.op == CBX_REMOVE_NODE) {
            e.node += come_before(g, nodes, num_nodes, e.node);
        } else {
            e.source += come_before(g, nodes, num_nodes, e.source);
            e.target += come_before(g, nodes, num_nodes, e.target);
        }
        others[kept++] = e;
    }
    return kept;
}

cbx_status cbx_writing_add_nodes(cbx_writing *w, const cbx_edit **edits, int64_t *count,
                                 cbx_graph **made, cbx_arena *arena)
{
    const cbx_graph *g = w->graph;
    cbx_new_node    *nodes;
    int32_t          num_nodes;
    cbx_edit *others = CBX_NEW(arena, cbx_edit, *count), *new = CBX_NEW(arena, cbx_edit, *count);
    if (!others || !new)
        return cbx_fail_memory(w->err);
    cbx_status status = cbx_edits_new_nodes(g, *edits, *count, arena, &nodes, &num_nodes, w->err);
    if (status || !num_nodes)
        return status;
    for (int64_t k = 0, at = 0; k < *count; k++)
        if ((*edits)[k].op == CBX_ADD_NODE)
            new[at++] = (*edits)[k];
    status = cbx_graph_apply(g, new, num_nodes, made, w->err);
    if (status)
        return status;
    const int64_t *ptr = (*made)->data.graph_ptr;
    uint8_t       *came = CBX_NEW0(arena, uint8_t, (*made)->data.num_nodes);
    if (!came)
        return cbx_fail_memory(w->err);
    for (int32_t k = 0; k < g->data.num_graphs; k++) {
        int64_t own = g->data.graph_ptr[k + 1] - g->data.graph_ptr[k];
        for (int64_t i = ptr[k] + own; i < ptr[k + 1]; i++)
            came[i] = 1;
    }
    w->came = came;
    w->num_came = (*made)->data.num_edges - g->data.num_edges;
    w->graph = *made;
    *count = renumber(g, *edits, *count, nodes, num_nodes, others);
    *edits = others;
    return CBX_OK;
}
