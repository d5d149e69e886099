/* SPDX-License-Identifier: Apache-2.0 */
/* reweighted.h: a graph with other weights and attributes of some edges, which shares all else. */
#ifndef CBX_REWEIGHTED_H
#define CBX_REWEIGHTED_H

#include "graph.h"

/* Edits of other kinds are ignored. Fails where an edge is not there, where edges have no weights
 * or no such attribute, or where a value is none. Memory of `arena`, and the old graph's. */
CBX_INTERNAL cbx_status cbx_graph_with_weights(const cbx_graph *graph, const cbx_edit *edits,
                                               int64_t count, cbx_arena *arena, cbx_graph *out,
                                               cbx_error *err);

#endif
