/* SPDX-License-Identifier: Apache-2.0 */
/* costs.h: what an answer costs, worked out from its edits and the data. */
#ifndef CBX_ADVERSARY_COSTS_H
#define CBX_ADVERSARY_COSTS_H

#include "question.h"

/* What changing a feature costs. */
double price_of(const question *q, int feature);

/* Has the feature values between those it may take? */
bool has_between(const question *q, int feature);

/* Without how far values go. */
double fixed_cost(const question *q, const cbx_counterfactual *answer);

/* Which of cost and l1_mad is not right, or NULL. */
const char *wrong_cost(const question *q, const cbx_counterfactual *answer);

/* How unusual the most unusual of the rows is that differ from the world's (all of them: nodes x
 * features); NaN: none differs, or there is nothing to compare with. */
double plausibility_of(const question *q, const float *x);

/* Is that within the question's limit, or beyond it by no more than this share? */
bool is_plausible(const question *q, const float *x, double slack);

/* Does the first, by what the question counts, cost more? */
bool costs_more(const question *q, const cbx_counterfactual *a, const cbx_counterfactual *b);

#endif
