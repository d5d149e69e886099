/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.h: a view with a slot for every edge that may come. */
#ifndef CBX_CANDIDATES_H
#define CBX_CANDIDATES_H

#include "view.h"

typedef struct cbx_candidates {
    cbx_view view;   /* of the same nodes; slots that a view has anyway keep their order */
    uint8_t *absent; /* by slot: the edge is not there yet */
} cbx_candidates;

/* Every edge between two touched nodes (by node; NULL: all are) that are not linked. Without `adds`
 * the view itself. */
cbx_status cbx_candidates_find(const cbx_view *from, bool adds, const uint8_t *touched,
                               cbx_arena *arena, cbx_candidates *out, cbx_error *err);

#endif
