/* SPDX-License-Identifier: Apache-2.0 */
/* asking.h: what a proof (src/proof) asks of the model and of the rules: moves are its choices. */
#ifndef CBX_ASKING_H
#define CBX_ASKING_H

#include "minimal.h"
#include "radius.h"

typedef struct cbx_asking {
    cbx_search     *s;
    cbx_edit_state *W;
    const cbx_move *moves;
    cbx_move       *made; /* in the order of making; room for the largest set and one more */
    int64_t         num_made;
    double          until; /* by cbx_clock */
    cbx_status      status;
    cbx_error      *err;
} cbx_asking;

cbx_branch_asked cbx_asking_of(cbx_asking *a);

/* Is it time to stop? */
bool cbx_asking_stops(cbx_asking *a);

#endif
