/* SPDX-License-Identifier: Apache-2.0 */
/* lead_back.h: the steps of lead_bound.h from the head back to the features, row by row. What a row
 * cannot tell of its inputs goes to the choices' gains, and to what choices at a node gain there.
 */
#ifndef CBX_LEAD_BACK_H
#define CBX_LEAD_BACK_H

#include "lead_bound.h"

/* What every unit that the head sees counts; and the lead now. */
void cbx_lead_start(cbx_lead_bound *b, int32_t ahead, int32_t behind);

/* Row v of layer l: from what its units count behind their ReLUs to what the layer's inputs do. */
void cbx_lead_pass(cbx_lead_bound *b, int32_t l, int32_t v);

/* Row v of layer l, which takes maxima: b->input is what each of them counts. */
void cbx_lead_pass_maxima(cbx_lead_bound *b, int32_t l, int32_t v);

/* Row v of the first layer, where it takes maxima of features that may change: what each of them
 * counts, by b->before and b->bend. */
void cbx_lead_tell_maxima(cbx_lead_bound *b, int32_t v);

/* What a choice of features gains at most by the first layer's maxima, after all rows are told. */
double cbx_lead_max_gain(const cbx_lead_bound *b, const cbx_choice *c);

static inline bool cbx_lead_has_features(const cbx_lead_bound *b)
{
    return b->spread.moves.first < b->spread.graph->count;
}

#endif
