/* SPDX-License-Identifier: Apache-2.0 */
/* box.h: what a class can lead by when every feature is anywhere in its range and any of the edges
 * that may go are gone, however many.
 *
 * Boxes from layer to layer, without budgets. They are wide; but of a model whose units are dead,
 * or of ranges that are narrow, they tell that nothing helps. */
#ifndef CBX_BOX_H
#define CBX_BOX_H

#include "net.h"
#include "scale.h"

typedef struct cbx_box_question {
    const cbx_net           *net;
    const cbx_partial_graph *graph;      /* its choices are the edges that may go */
    const float             *low, *high; /* rows x features: of those that the first layer reads */
} cbx_box_question;

/* The lead of class `ahead` over class `behind`, as the model computes it, at most; INFINITY where
 * nothing is known. CBX_OK or no memory, no time. */
cbx_status cbx_box_lead(const cbx_box_question *q, int32_t ahead, int32_t behind, cbx_arena *arena,
                        double *lead, cbx_error *err);

#endif
