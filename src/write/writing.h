/* SPDX-License-Identifier: Apache-2.0 */
/* writing.h: what a writer is, and what it is given.
 *
 * A writer is one file with one const cbx_writer, one word in writers.def and one
 * test. Formats for people's programs keep the edges and nodes that edits remove and
 * mark them, and mark those that edits add; formats for data hold the edited graph. */
#ifndef CBX_WRITING_H
#define CBX_WRITING_H

#include "graph.h"

typedef struct cbx_writing {
    const cbx_graph *graph;     /* as it was, and with the nodes that come */
    const cbx_graph *edited;    /* with the edits; the same without any; as_data: without nodes */
    const uint8_t   *removed;   /* by edge id; NULL: no edits */
    const float     *weight;    /* by edge id, with the edits; NULL: no edits, or no weights */
    const uint8_t   *lost;      /* by node: removed; NULL: none is */
    const uint8_t   *came;      /* by node: added; NULL: none is */
    int64_t          num_came;  /* edges that come with them: the last of `graph` */
    int64_t          num_added; /* other edges that edits add: the last of `edited` */
    const cbx_edit  *edits;     /* sorted by node: only those that set features */
    int64_t          num_edits;
    bool             pairs; /* undirected: u -- v is written once, for u < v */
    const char      *path;
    cbx_error       *err;
} cbx_writing;

typedef struct cbx_writer {
    const char *name;
    const char *about;
    const char *ending;  /* of files; NULL: a folder */
    bool        as_data; /* it holds the edited graph, and marks nothing */
    cbx_status (*write)(const cbx_writing *w);
} cbx_writer;

/* Edges as the graph had them, and behind them those that were added. */
typedef struct cbx_written_edge {
    int64_t source, target;
    float   weight;
    bool    removed, added;
} cbx_written_edge;

static inline int64_t cbx_writing_edges(const cbx_writing *w)
{
    return w->graph->data.num_edges + w->num_added;
}

/* Edge `e` of them; false: it is not to be written, being the other one of a pair. */
bool cbx_writing_edge(const cbx_writing *w, int64_t e, cbx_written_edge *out);

/* Have edges weights of their own? */
bool cbx_writing_weighted(const cbx_writing *w);

/* Do the edits remove this node? */
static inline bool cbx_writing_lost(const cbx_writing *w, int32_t node)
{
    return w->lost && w->lost[node];
}

/* Do they add it? */
static inline bool cbx_writing_came(const cbx_writing *w, int32_t node)
{
    return w->came && w->came[node];
}

/* A node's or feature's name, or its number in `buffer`. */
typedef char cbx_label[24];
const char  *cbx_writing_node(const cbx_writing *w, int32_t node, cbx_label buffer);
const char  *cbx_writing_feature(const cbx_writing *w, int32_t feature, cbx_label buffer);
/* The class of a node, or of its graph; NULL: unknown. */
const char *cbx_writing_class(const cbx_writing *w, int32_t node, cbx_label buffer);
/* "train", "val", "test" or NULL. Only one published split can be told. */
const char *cbx_writing_split(const cbx_writing *w, int32_t node);

/* The edits that set features of this node: first and how many. */
int64_t cbx_writing_edits(const cbx_writing *w, int32_t node, const cbx_edit **first);

#endif
