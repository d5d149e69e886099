/* SPDX-License-Identifier: Apache-2.0 */
/* change.h: what a person counts: a one-hot group that points elsewhere is one change. */
#ifndef CBX_CHANGE_H
#define CBX_CHANGE_H

#include "combinex.h"

/* Edits that are told with another one: those by which a group's old feature goes off. */
int64_t cbx_edits_that_follow(const cbx_counterfactual *answer);

#endif
