/* SPDX-License-Identifier: Apache-2.0 */
/* minimal.h: what the parts of the explainer "minimal" hand to each other. */
#ifndef CBX_MINIMAL_H
#define CBX_MINIMAL_H

#include "move.h"
#include "setup.h"

/* What the targets of a call share. */
typedef struct cbx_minimal_shared {
    cbx_rules   rules;
    const void *spectral_norm; /* combinex's */
} cbx_minimal_shared;

typedef struct cbx_minimal {
    cbx_move       *moves; /* memory of the search's arena */
    int64_t         count; /* 0: nothing was found */
    double          cost;
    double          lower_bound; /* of the cost of any answer, proved; 0: not known */
    bool            irreducible; /* no move can be left out, by the whole graph */
    cbx_edit_state *state;       /* with no move made */
} cbx_minimal;

#endif
