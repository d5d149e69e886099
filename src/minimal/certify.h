/* SPDX-License-Identifier: Apache-2.0 */
/* certify.h: is every move needed, and as far as it goes, by the whole graph?
 *
 * One that is not, because the lead without it was too small to be sure of in the search, goes, and
 * a value that can go back by its steps (take_back.h) does. What was needed beside it may not be
 * any more, so it takes a round without a change. */
#ifndef CBX_CERTIFY_H
#define CBX_CERTIFY_H

#include "beam.h"

/* Takes moves that are not needed out of the best, and values back, by the whole graph, until there
 * is nothing to take: true then, false where time ended it. Makes and asks nothing in F->W. */
cbx_status cbx_certify(cbx_beam *F, bool *irreducible, cbx_error *err);

#endif
