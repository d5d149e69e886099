/* SPDX-License-Identifier: Apache-2.0 */
/* polish.h: makes a set of moves that flips smaller.
 *
 *   reduce    take back every move that is not needed, many at once and then each, until
 *             none is
 *   swap      take back two and look for one that does
 *   rebuild   take back some at random and build up again, otherwise or as far beyond
 *             the border as it goes
 *
 * and again from the start, whenever it got cheaper. */
#ifndef CBX_POLISH_H
#define CBX_POLISH_H

#include "beam.h"

/* Makes the best smaller, until nothing that is tried does. */
cbx_status cbx_polish(cbx_beam *F, cbx_error *err);

/* Takes back moves that are not needed, the last first, until none is. */
cbx_status cbx_polish_reduce(cbx_beam *F, cbx_move_set *set, cbx_error *err);

#endif
