/* SPDX-License-Identifier: Apache-2.0 */
/* symmetry.h: choices of which one is as good as the other.
 *
 * Two nodes are *twins* where swapping them changes nothing: the same features, the same links to
 * all others, the same choices of them, such as leaves of one node that are alike. As long as what
 * was made and barred is the same at both, each choice at one has a counterpart at the other, and a
 * set of choices leads as far as the set of their counterparts. So once all sets with one of them
 * are excluded, those with any of its counterparts are. Formulas do not tell them apart; a model
 * that adds up in another order can, by its rounding. */
#ifndef CBX_SYMMETRY_H
#define CBX_SYMMETRY_H

#include "partial_graph.h"

typedef struct cbx_incidence {
    int32_t other; /* node at the other end */
    bool    out;   /* leads there, not from there */
    int64_t slot;
} cbx_incidence;

typedef struct cbx_symmetry {
    const cbx_partial_graph *graph;
    int64_t                 *begin; /* of node v: links[begin[v]] and on, by other end */
    cbx_incidence           *links;
    int32_t                 *next;     /* by node: the next one of its twins, in a ring */
    int32_t                 *sides[2]; /* scratch: nodes */
    bool                     any;
} cbx_symmetry;

/* Of the graph's nodes, features X; `apart` is one that has no twin (-1: none). Where nothing is
 * alike, `any` is false, and there is nothing more to it. */
cbx_status cbx_symmetry_find(cbx_symmetry *s, const cbx_partial_graph *graph, const cbx_matrix *X,
                             int32_t apart, cbx_arena *arena, cbx_error *err);

/* The counterparts of a choice, itself among them, by the fates as they are in `fate`: `out` has
 * room for all choices. Returns how many. */
int64_t cbx_symmetry_orbit(const cbx_symmetry *s, const uint8_t *fate, int32_t choice,
                           int32_t *out);

#endif
