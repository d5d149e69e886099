/* SPDX-License-Identifier: Apache-2.0 */
/* prove_edges.h: is there nothing cheaper, where edges are all that may change? By branch and bound
 * (src/proof), which excludes most sets without trying them. */
#ifndef CBX_PROVE_EDGES_H
#define CBX_PROVE_EDGES_H

#include "minimal.h"
#include "radius.h"

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

/* The largest sets that matter: those that are cheaper than what was found, or all. */
int64_t cbx_prove_largest_set(const cbx_search *s, const cbx_minimal *found,
                              const cbx_edge_proof *p);

/* A set that is cheaper takes the place of what was found, by the moves that choices are and what
 * each costs. Where all smaller ones are excluded, all parts of it are: it is irreducible. 0 on
 * success. */
int cbx_prove_take_over(cbx_minimal *found, const cbx_move *moves, double each,
                        const cbx_radius_answer *a, cbx_arena *arena);

/* What cbx_prove does, to within the gap that options set. Where it does not apply, nothing has
 * changed. */
cbx_status cbx_prove_edges(cbx_search *s, cbx_minimal *found, cbx_edge_proof *proof,
                           cbx_error *err);

#endif
