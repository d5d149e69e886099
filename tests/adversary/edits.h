/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h: an answer's edits, made on the whole graph and looked at one by one. */
#ifndef CBX_ADVERSARY_EDITS_H
#define CBX_ADVERSARY_EDITS_H

#include "brute_force.h"

/* All edits but those of one change, by one of its edits (-1: all). */
void make_edits(const question *q, const cbx_counterfactual *answer, int64_t but, edited *out);

/* What the graph says with them. */
outcome ask_edited(const question *q, const cbx_counterfactual *answer, const edited *edited);

/* Why they are not edits within the rules, or NULL. */
const char *wrong_edits(const question *q, const cbx_counterfactual *answer, const edited *edited);

/* Has everything changed that others may only change with, is it not too unusual, and is there what
 * must be left? */
bool change_together(const question *q, const edited *edited);

/* The first edit whose step is not what it should be, or -1. */
int64_t wrong_step(const question *q, const cbx_counterfactual *answer);

/* Which number of the answer is not right, or NULL. */
const char *wrong_numbers(const question *q, const cbx_counterfactual *answer,
                          const outcome *outcome);

/* Do they edit the same thing? */
bool same_place(const cbx_edit *a, const cbx_edit *b);

/* Are these log-probabilities those? */
bool are_close(const question *q, const float *told, const outcome *outcome);

/* Of a class over the next one. */
double lead_of(const question *q, const outcome *outcome, int class);

#endif
