/* SPDX-License-Identifier: Apache-2.0 */
/* take_back.h: values no further from what they were than the flip needs.
 *
 * A search tries far values, because they tell soonest whether a feature counts. What flips is then
 * taken back towards the factual value: feature by feature, first those that gain least for the way
 * they have gone, each as far as the flip allows, and again until none moves. What is left is the
 * promise behind `irreducible`: no feature alone can go back by a step (columns.h), nor by two,
 * four, eight, … steps. */
#ifndef CBX_TAKE_BACK_H
#define CBX_TAKE_BACK_H

#include "beam.h"

/* Takes the values of the best back. */
cbx_status cbx_take_back(cbx_beam *F, cbx_error *err);

/* How far features with values between have gone together, each in units of its scale. */
double cbx_take_back_way(const cbx_edit_state *W, const cbx_move *moves, int64_t count);

/* The same, each times what changing its feature costs: the part of an answer's cost that grows
 * with how far values go. */
double cbx_take_back_cost(const cbx_edit_state *W, const cbx_move *moves, int64_t count);

/* How many values have left what is usual. */
int64_t cbx_take_back_unusual(const cbx_edit_state *W, const cbx_move *moves, int64_t count);

/* The step by which the move's value does not go back; 0: nothing is promised of it, because it has
 * no values between or because what it was is not permitted. */
float cbx_take_back_step(const cbx_edit_state *W, const cbx_move *m);

/* The move to a value of the data about halfway; false: there is none, or it may not be made. */
bool cbx_take_back_halfway(const cbx_edit_state *W, const cbx_move *m, cbx_move *halfway);

/* The value 2^k steps back; false: that is not between what it is and what it was. */
bool cbx_take_back_value(const cbx_edit_state *W, const cbx_move *m, int k, float *value);

/* A value a little less far back than the move's, towards `further`; the move's own where it is
 * counted. */
float cbx_take_back_less(const cbx_edit_state *W, const cbx_move *m, float further);

#endif
