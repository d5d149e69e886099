/* SPDX-License-Identifier: Apache-2.0 */
/* ask_few.h: asking the oracle where most of a view is not there.
 *
 * Newcomers (newcomers.h) can be many times the nodes of a graph, and hardly any of them has come
 * at a time. What is there is then run as a view of its own. */
#ifndef CBX_ASK_FEW_H
#define CBX_ASK_FEW_H

#include "edit_state.h"

/* Is that less work? */
bool cbx_ask_few_pays(const cbx_edit_state *W);

/* Log-probabilities of what is there, to `logp`; false: no memory, or no time. */
bool cbx_ask_few(cbx_edit_state *W, float *logp);

#endif
