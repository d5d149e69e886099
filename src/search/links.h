/* SPDX-License-Identifier: Apache-2.0 */
/* links.h: the whole graph without directions, and which of its edges are gone.
 *
 * Rules about the graph's shape (that it stays in one piece, that no node is left alone) are
 * about the whole graph, of which the factual graph is a part: the way round that keeps two
 * nodes connected may lead outside of it. A node's loops link it to nobody. */
#ifndef CBX_LINKS_H
#define CBX_LINKS_H

#include "view.h"

typedef struct cbx_links {
    const cbx_view *whole;
    uint8_t        *gone;   /* by edge id */
    uint8_t        *absent; /* by node: it is gone, and its edges with it */
    int64_t        *seen;   /* by node: the last walk that came here */
    int64_t         walk;
    int32_t        *queue[2];
    int32_t        *around; /* for cbx_links_lost */
} cbx_links;

/* `whole`: of cbx_view_whole. 0 on success. */
int cbx_links_init(cbx_links *links, const cbx_view *whole, cbx_arena *arena);

/* Has the node no link to another any more? */
bool cbx_links_none_at(const cbx_links *links, int32_t node);

/* Is there no way from one to the other any more, whichever way edges point? Walks from both
 * ends, so that it takes no longer than the smaller part that is cut off, if one is. Where time
 * is up, yes. */
bool cbx_links_apart(cbx_links *links, int32_t a, int32_t b);

/* Of an absent node: are those that it linked, also by way of other absent ones, no longer in one
 * piece? Or, where `one_piece` is not asked for, has one of them no link any more? */
bool cbx_links_lost(cbx_links *links, int32_t node, bool one_piece);

#endif
