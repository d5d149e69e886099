/* SPDX-License-Identifier: Apache-2.0 */
/* without_nodes.h: views and features with some nodes really gone, and the others numbered anew,
 * in the same order. */
#ifndef CBX_WITHOUT_NODES_H
#define CBX_WITHOUT_NODES_H

#include "edit.h"

/* By the view's node: do the edits remove it? Cleared here; nodes that are not there are ignored.
 * Returns how many go. */
int32_t cbx_edits_mark_nodes(const cbx_places *places, const cbx_edit *edits, int64_t count,
                             uint8_t *gone);

/* The view without these nodes, the edges at them, and the slots that it marks as removed. `w`: the
 * weights of its slots, NULL: its own. Each of its graphs must keep a node. */
cbx_status cbx_view_without_nodes(const cbx_view *view, const uint8_t *gone, const float *w,
                                  cbx_arena *arena, cbx_view *out, cbx_error *err);

/* The rows of the nodes that stay. `rows`: those of X that count, the view's first. */
cbx_status cbx_matrix_without_rows(const cbx_matrix *X, const uint8_t *gone, int32_t rows,
                                   cbx_arena *arena, cbx_matrix *out, cbx_error *err);

#endif
