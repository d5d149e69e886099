/* SPDX-License-Identifier: Apache-2.0 */
/* result.h: a counterfactual as one block, so that one free is enough. */
#ifndef CBX_RESULT_H
#define CBX_RESULT_H

#include "internal.h"

struct cbx_search; /* explainer.h */

/* What a search has found. `after` may be NULL. */
cbx_status cbx_result_pack(const struct cbx_search *s, cbx_outcome outcome, const char *reason,
                           const float *after, double seconds, cbx_counterfactual **out,
                           cbx_error *err);

/* Sets the numbers of its edits, by kind. */
CBX_INTERNAL void cbx_result_count_edits(cbx_counterfactual *c);

/* A copy in one block; NULL when memory runs out. */
CBX_INTERNAL cbx_counterfactual *cbx_result_copy(const cbx_counterfactual *from);

#endif
