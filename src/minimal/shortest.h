/* SPDX-License-Identifier: Apache-2.0 */
/* shortest.h: of answers that cost the same, the one whose values go least far.
 *
 * How far a value has to go is known once it is taken back, which takes too long for all that a
 * search meets. So a few are noted, those that promise the shortest way by what their last move
 * gained, and in the end each of them is taken back. */
#ifndef CBX_SHORTEST_H
#define CBX_SHORTEST_H

#include "beam.h"

/* A set that flips, by its score; `before`: the score without its last move. */
void cbx_shortest_note(cbx_beam *F, const cbx_move_set *set, double before);

/* The best, taken back, gives way to one that was noted, costs the same and goes less far. */
cbx_status cbx_shortest_choose(cbx_beam *F, cbx_error *err);

#endif
