/* SPDX-License-Identifier: Apache-2.0 */
/* prove_none.h: is there no set of removals at all that flips, of whatever size? By patterns
 * (src/proof/pattern_branch.h). */
#ifndef CBX_PROVE_NONE_H
#define CBX_PROVE_NONE_H

#include "asking.h"

/* True: there is none. False: it is not known, or there was no time. The graph's choices are all
 * removals there are, and its budget their number; `bound` is of it. */
bool cbx_prove_none(const cbx_asking *a, const cbx_net *net, cbx_partial_graph *graph,
                    cbx_lead_bound *bound);

#endif
