/* SPDX-License-Identifier: Apache-2.0 */
/* new_nodes.h: edits that add nodes, for formats that mark what edits do. */
#ifndef CBX_NEW_NODES_H
#define CBX_NEW_NODES_H

#include "writing.h"

/* Where the edits add nodes: w->graph becomes one that has them and their edges, w->came and
 * w->num_came say which those are, and `edits` becomes the other edits, by its numbers, in memory
 * of `arena`. `made` is to be freed. */
cbx_status cbx_writing_add_nodes(cbx_writing *w, const cbx_edit **edits, int64_t *count,
                                 cbx_graph **made, cbx_arena *arena);

#endif
