/* SPDX-License-Identifier: Apache-2.0 */
/* absent.h: asking a model that somebody else runs of a graph that some nodes are gone from.
 *
 * Layers pass over nodes that a view says are absent; a program or a function gets a graph that has
 * none. */
#ifndef CBX_ABSENT_H
#define CBX_ABSENT_H

#include "pass.h"

bool cbx_is_anyone_absent(const cbx_view *view);

/* pass->logp of what is left; NaN: there is no answer. Of a pass with an oracle only. */
void cbx_forward_without_absent(cbx_pass *pass);

#endif
