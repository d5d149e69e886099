/* SPDX-License-Identifier: Apache-2.0 */
/* robustness.h: how firmly an answer stands. */
#ifndef CBX_ROBUSTNESS_H
#define CBX_ROBUSTNESS_H

#include "minimal.h"

/* The share of `samples` random changes of what was found (up to three more moves each)
 * that keep the class. */
double cbx_robustness(cbx_search *s, cbx_minimal *found, int64_t samples);

#endif
