/* SPDX-License-Identifier: Apache-2.0 */
/* wider.h: the search once more, with the further kinds of edit, one after the other. */
#ifndef CBX_WIDER_H
#define CBX_WIDER_H

#include "forbidden.h"
#include "minimal.h"

/* Looks for an answer with the kinds of CBX_EDITS_FURTHER that are allowed, from `found`, which has
 * none of them and may be empty: what it leaves in `found` costs no more, nor more than what a
 * search with fewer kinds finds. `wide` becomes the search that the answer is of: s where it is not
 * one of the wider searches. */
cbx_status cbx_wider(cbx_search *s, const cbx_forbidden *none, cbx_minimal *found,
                     cbx_search **wide, cbx_error *err);

/* What the wider search has noted of its course goes to the first. */
void cbx_wider_note(cbx_search *s, const cbx_search *wide);

#endif
