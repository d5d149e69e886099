/* SPDX-License-Identifier: Apache-2.0 */
/* writing.h: what a writer is, and what it is given.
 *
 * A writer is one file with one const cbx_writer, one word in writers.def and one
 * test. Formats for people's programs keep the edges that edits remove and mark
 * them; formats for data hold the edited graph. */
#ifndef CBX_WRITING_H
#define CBX_WRITING_H

#include "graph.h"

typedef struct cbx_writing {
    const cbx_graph *graph;   /* as it was */
    const cbx_graph *edited;  /* with the edits; the same without any */
    const uint8_t   *removed; /* by edge id; NULL: no edits */
    const cbx_edit  *edits;   /* sorted by node: only those that set features */
    int64_t          num_edits;
    bool             pairs; /* undirected: u -- v is written once, for u < v */
    const char      *path;
    cbx_error       *err;
} cbx_writing;

typedef struct cbx_writer {
    const char *name;
    const char *about;
    const char *ending; /* of files; NULL: a folder */
    cbx_status (*write)(const cbx_writing *w);
} cbx_writer;

/* Whether edge `e` is to be written: of pairs, one of the two. */
bool cbx_writing_edge(const cbx_writing *w, int64_t e);
bool cbx_writing_removed(const cbx_writing *w, int64_t e);

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
