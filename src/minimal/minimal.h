/* SPDX-License-Identifier: Apache-2.0 */
/* minimal.h: the search for few edits, for the explainer of that name. */
#ifndef CBX_MINIMAL_H
#define CBX_MINIMAL_H

#include "edit.h"
#include "setup.h"
#include "whatif.h"

/* Moves that may not be made again, so that the next answer is another one. */
typedef struct cbx_forbidden {
    cbx_move *moves;
    int64_t   count;
    bool      diverse; /* nor may any edit of theirs */
} cbx_forbidden;

bool cbx_forbids(const cbx_forbidden *forbidden, const cbx_move *move);

/* What the targets of a call share. */
typedef struct cbx_minimal_shared {
    cbx_rules   rules;
    const void *stretch; /* combinex's */
} cbx_minimal_shared;

typedef struct cbx_minimal {
    cbx_move   *moves; /* memory of the search's arena */
    int64_t     count; /* 0: nothing was found */
    double      cost;
    bool        irreducible; /* no move can be left out, by the whole graph */
    cbx_whatif *whatif;      /* with no move made */
} cbx_minimal;

/* The cheapest set of moves that a search of this kind meets. */
cbx_status cbx_minimal_find(cbx_search *s, const cbx_forbidden *forbidden, cbx_minimal *out,
                            cbx_error *err);

/* Tries every set of moves that is cheaper, until `seconds` have passed. True: there is
 * none, or a cheaper one was found and took its place, and there is none cheaper than
 * that. Where nothing was found, every set there is. */
cbx_status cbx_minimal_prove(cbx_search *s, cbx_minimal *found, double seconds, bool *proved,
                             cbx_error *err);

/* The share of `samples` random changes of what was found (up to three more moves each)
 * that keep the class. */
double cbx_minimal_robustness(cbx_search *s, cbx_minimal *found, int64_t samples);

/* True: however the features move within the rules, the prediction stays. Where edges may
 * go it never is. */
cbx_status cbx_minimal_out_of_reach(cbx_search *s, const cbx_whatif *W, bool *proved,
                                    cbx_error *err);

/* Is the class out of reach whatever the features and the edges are? */
bool cbx_model_never(const cbx_model *model, int32_t class);

#endif
