/* SPDX-License-Identifier: Apache-2.0 */
/* take_first.h: many moves that flip together: as many of them, in their order, as it takes, and
 * of those the ones that are needed. */
#ifndef CBX_TAKE_FIRST_H
#define CBX_TAKE_FIRST_H

#include "beam.h"

/* What is left is offered as the best. Nothing is where all of them do not flip. */
cbx_status cbx_take_first(cbx_beam *F, const cbx_move *moves, int64_t count, cbx_error *err);

#endif
