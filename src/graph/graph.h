/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h: a checked graph with its edges grouped by target.
 *
 * An edge has an *id*, its position in the caller's arrays, which never changes,
 * and a *slot*, its position in the grouped order. Within a target, slots keep
 * the order of ids. */
#ifndef CBX_GRAPH_H
#define CBX_GRAPH_H

#include "arena.h"
#include "combinex.h"
#include "internal.h"

/* A file that the graph was read from. */
typedef struct cbx_origin {
    const char              *path;
    const struct cbx_origin *next;
} cbx_origin;

struct cbx_graph {
    cbx_graph_data data;
    const int64_t *in_offset;   /* n + 1 */
    const int32_t *in_source;   /* m, by slot */
    const int64_t *in_edge;     /* m: slot -> id; NULL: the same number */
    const float   *slot_weight; /* m, or NULL: all 1 */
    /* NULL, or edges beyond those of the arrays: added.h */
    const struct cbx_added_edges *added;
    cbx_arena                     arena;
    const cbx_origin             *origins;
    /* what the borrowed arrays live in, if the graph owns that: a mapped file */
    void *backing;
    void (*release)(void *backing);
};

/* An empty graph whose arena the caller fills; finish it with cbx_graph_index,
 * which checks g->data and builds the index. On failure free it as usual. */
CBX_INTERNAL cbx_graph *cbx_graph_empty(cbx_error *err);
CBX_INTERNAL cbx_status cbx_graph_index(cbx_graph *g, cbx_error *err);

/* Notes that the graph was read from this file. */
CBX_INTERNAL cbx_status cbx_graph_came_from(cbx_graph *g, const char *path, cbx_error *err);

static inline int64_t cbx_graph_edge_id(const cbx_graph *g, int64_t slot)
{
    return g->in_edge ? g->in_edge[slot] : slot;
}

/* Nodes, or graphs: what has a label. */
static inline int32_t cbx_graph_label_rows(const cbx_graph *g)
{
    return g->data.task == CBX_GRAPH ? g->data.num_graphs : g->data.num_nodes;
}

/* Graph tasks: which graph has this node. */
CBX_INTERNAL int32_t cbx_graph_of_node(const cbx_graph *g, int32_t node);

#endif
