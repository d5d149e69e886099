/* SPDX-License-Identifier: Apache-2.0 */
/* edit.h: views and features with edits applied. */
#ifndef CBX_EDIT_H
#define CBX_EDIT_H

#include "internal.h"
#include "node_map.h"
#include "view.h"

/* The view's numbers of the graph's nodes. Views that are the whole graph or one
 * graph of a graph task need no table; others get one with cbx_places_init, 0 on
 * success; -1: no memory, or no time. */
typedef struct cbx_places {
    const cbx_view *view;
    cbx_node_map    map;
} cbx_places;

CBX_INTERNAL int     cbx_places_init(cbx_places *places, const cbx_view *view);
CBX_INTERNAL int32_t cbx_places_find(const cbx_places *places, int32_t node); /* -1: not there */
CBX_INTERNAL void    cbx_places_free(cbx_places *places);

/* The first of the edges from `source` to `target`, or where it would be, among the view's edges
 * by source. */
int64_t cbx_view_find_target(const cbx_view *view, int32_t source, int32_t target);

/* Marks the slots that the edits remove in drop[] (view->m, cleared here). An edit
 * that names no edge or node there is an error. */
CBX_INTERNAL cbx_status cbx_edits_mark(const cbx_graph *graph, const cbx_places *places,
                                       const cbx_edit *edits, int64_t count, uint8_t *drop,
                                       cbx_error *err);

/* The view without the marked slots. */
CBX_INTERNAL cbx_status cbx_view_without(const cbx_view *view, const uint8_t *drop,
                                         cbx_arena *arena, cbx_view *out, cbx_error *err);

/* Its features with the edits' values. Edits of nodes that the view does not have are ignored. */
CBX_INTERNAL cbx_status cbx_features_edited(const cbx_places *places, const cbx_matrix *X,
                                            const cbx_edit *edits, int64_t count, cbx_arena *arena,
                                            cbx_matrix *out, cbx_error *err);

#endif
