/* SPDX-License-Identifier: Apache-2.0 */
/* infeasible.h: there is nothing to find, proved without trying.
 *
 * Three reasons. A class can be one that no input leads to, by the weights of the head
 * alone. Where no edge may go, features can move as far as their ranges reach and no
 * further; the model's own bounds (class_bound.h) tell how much of the prediction's lead that
 * can take at most. And, edges that may go among them, boxes (box.h) may leave no class a chance:
 * of a model whose units are dead, they do. Where they do not tell, what takes longer may
 * (box_back.h, cells.h), as long as it takes no longer than the search, or a second. */
#ifndef CBX_INFEASIBLE_H
#define CBX_INFEASIBLE_H

#include "minimal.h"

/* True: however the features move within the rules and whichever of the edges go, the prediction
 * stays. */
cbx_status cbx_infeasible(cbx_search *s, const cbx_edit_state *W, bool *proved, cbx_error *err);

/* Is the class out of reach whatever the features and the edges are? */
bool cbx_infeasible_class(const cbx_model *model, int32_t class);

#endif
