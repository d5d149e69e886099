/* SPDX-License-Identifier: Apache-2.0 */
/* receptive.h: the part of a graph that a node's class depends on. */
#ifndef CBX_RECEPTIVE_H
#define CBX_RECEPTIVE_H

#include "internal.h"
#include "model.h"

/* One hop more than there are layers, which the published methods look at, or as far as the model
 * sees: further, and along outgoing edges, which `whole` (of cbx_view_whole) is for; it may be NULL
 * where cbx_receptive_needs_whole says so. At most `most` nodes, as for cbx_view_nearest. */
CBX_INTERNAL cbx_status cbx_receptive_view(const cbx_model *model, const cbx_graph *graph,
                                           const cbx_view *whole, int32_t node, int32_t most,
                                           cbx_arena *arena, cbx_view *view, cbx_error *err);

CBX_INTERNAL bool cbx_receptive_needs_whole(const cbx_model *model);

/* Is that view, with nothing left out, certain to be all? Not where a layer does not tell. */
bool cbx_receptive_is_known(const cbx_model *model);

#endif
