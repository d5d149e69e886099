/* SPDX-License-Identifier: Apache-2.0 */
/* offers.h: which edges a search for additions is offered.
 *
 * All that may be added (addable.h), where these are no more than the option add-candidates. Of
 * more, the ones whose derivatives promise most: looked at one by one where the model's layers
 * allow that (promise.h), and then, or else, a few at a time with all that they bring along. What
 * is held meanwhile does not grow with what is looked at. */
#ifndef CBX_OFFERS_H
#define CBX_OFFERS_H

#include "explainer.h"
#include "rules.h"

typedef struct cbx_offers {
    cbx_edit *edits; /* memory of s->arena */
    int64_t   count;
    bool      all; /* the rules allow no others */
} cbx_offers;

/* At most so many. */
cbx_status cbx_offers_choose(const cbx_search *s, const cbx_rules *rules, int64_t most,
                             cbx_offers *out, cbx_error *err);

/* For methods that hold what may be added beside what may go: the search with a few edges offered.
 * `wide`->offered is NULL where none may be added. Afterwards
 * cbx_widen_hand_back. */
cbx_status cbx_offers_widen(const cbx_search *s, cbx_search *wide, cbx_error *err);

#endif
