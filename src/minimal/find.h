/* SPDX-License-Identifier: Apache-2.0 */
/* find.h: one answer: sets of moves are built up, or COMBINEX's answer is taken where that leads
 * nowhere or both are asked for, and at last it climbs; what flips is polished. */
#ifndef CBX_FIND_H
#define CBX_FIND_H

#include "forbidden.h"
#include "minimal.h"

/* The cheapest set of moves that a search of this kind meets. It has been verified on the whole
 * graph, and so has that none of its moves can be left out, or go back by its steps, where it is
 * `irreducible`. */
cbx_status cbx_find(cbx_search *s, const cbx_forbidden *forbidden, cbx_minimal *out,
                    cbx_error *err);

/* The same, and an answer of a search that had fewer moves is one to begin with; `start` may be
 * NULL, or hold none. */
cbx_status cbx_find_from(cbx_search *s, const cbx_forbidden *forbidden, const cbx_minimal *start,
                         cbx_minimal *out, cbx_error *err);

/* Of an answer that did not come from cbx_find: takes its values back, and asks the whole graph
 * again whether it is irreducible. */
cbx_status cbx_find_settle(cbx_search *s, cbx_minimal *found, cbx_error *err);

#endif
