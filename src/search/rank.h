/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h: which edits matter most. */
#ifndef CBX_RANK_H
#define CBX_RANK_H

#include "explainer.h"

/* Fills in the edits' influence, `result` being the class they lead to, and sorts
 * them by it. */
cbx_status cbx_rank_edits(cbx_search *s, int32_t result, cbx_error *err);

#endif
