/* SPDX-License-Identifier: Apache-2.0 */
/* prove_edges.h: is there nothing cheaper, where edges are all that may change? By branch and bound
 * (src/proof), which excludes most sets without trying them. */
#ifndef CBX_PROVE_EDGES_H
#define CBX_PROVE_EDGES_H

#include "minimal.h"

typedef struct cbx_edge_proof {
    const cbx_move *moves; /* all there are */
    int64_t         count;
    double          cheapest; /* what each costs */
    double          until;    /* by cbx_clock */
    double          share;    /* above 0: no branches, and bounds for this share of the search's
                               * work */
    bool applies;             /* false: some are no removals, or nothing is known of the model */
    bool proved;
} cbx_edge_proof;

/* What cbx_prove does, to within the gap that options set. Where it does not apply, nothing has
 * changed. */
cbx_status cbx_prove_edges(cbx_search *s, cbx_minimal *found, cbx_edge_proof *proof,
                           cbx_error *err);

#endif
