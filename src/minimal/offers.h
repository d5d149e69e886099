/* SPDX-License-Identifier: Apache-2.0 */
/* offers.h: which edges a search for additions is offered.
 *
 * Those that the rules allow: at the explained node, to any other; and, unless a rule says
 * otherwise, between two nodes of its factual graph; in graph tasks, between any two of the graph.
 * Where these are more than the option add-candidates, they are looked at a few at a time, and the
 * ones whose derivatives promise most are kept. */
#ifndef CBX_OFFERS_H
#define CBX_OFFERS_H

#include "minimal.h"

typedef struct cbx_offers {
    cbx_edit *edits; /* memory of s->arena */
    int64_t   count;
    bool      all; /* the rules allow no others */
} cbx_offers;

cbx_status cbx_offers_choose(const cbx_search *s, const cbx_rules *rules, cbx_offers *out,
                             cbx_error *err);

#endif
