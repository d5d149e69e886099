/* SPDX-License-Identifier: Apache-2.0 */
/* edge_search.h: the epochs of a method that descends with a mask of edges and nothing else. */
#ifndef CBX_EDGE_SEARCH_H
#define CBX_EDGE_SEARCH_H

#include "edge_mask.h"

/* What such a method brings; `method` is its own. */
typedef struct cbx_edge_steps {
    /* asks the oracle about the mask as it is; what came out */
    const cbx_epoch *(*evaluate)(void *method, bool first);
    void (*keep)(void *method);            /* remembers the mask: it is the best so far */
    void (*step)(void *method, int64_t t); /* moves it */
} cbx_edge_steps;

/* Runs them until the epochs, the time or the patience end, and hands back what was kept. */
cbx_status cbx_edge_search(const cbx_edge_mask *E, cbx_search *s, const cbx_edge_steps *steps,
                           void *method, cbx_error *err);

#endif
