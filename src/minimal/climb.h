/* SPDX-License-Identifier: Apache-2.0 */
/* climb.h: a flip that is far away, by changing very many things at once.
 *
 * Some classes are only met deep inside the space of inputs, hundreds of changes from a row,
 * where a search that adds one change after the other sees no slope to follow. So every feature
 * and every pair has a wish, a number between its bounds, that follows the derivative of the
 * lead; the graph is edited to what the wishes come to: whole numbers for discrete features, gone
 * or not for pairs. The derivative is taken at the edited graph, so what is met is what an answer
 * would be, and no relaxation of it. Where slopes lead nowhere, wishes are drawn at last. */
#ifndef CBX_CLIMB_H
#define CBX_CLIMB_H

#include "beam.h"

/* The last resort, where nothing was found. */
cbx_status cbx_climb(cbx_beam *F, cbx_error *err);

#endif
