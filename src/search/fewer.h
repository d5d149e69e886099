/* SPDX-License-Identifier: Apache-2.0 */
/* fewer.h: an answer of no more edits than are allowed.
 *
 * Most methods have no say in how many edits they make. Where their answer has too many, those that
 * are not needed are taken out, the least influential first, until there are few enough or each is
 * needed. */
#ifndef CBX_FEWER_H
#define CBX_FEWER_H

#include "explainer.h"

/* Of the search's edits, in their place. Where that does not do, they stay too many, and no
 * answer. */
cbx_status cbx_fewer_edits(cbx_search *s, cbx_error *err);

#endif
