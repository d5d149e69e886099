/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.h: Y = A X W in whichever order is cheaper, and its gradients.
 *
 * A(XW) multiplies rows_in rows by W and adds up rows of width n_out; (AX)W adds
 * up rows of width n_in and multiplies rows_out rows. In a receptive field
 * rows_out is a fraction of rows_in, and the second wins although its rows are
 * wider. Sparse X always goes through W first. */
#ifndef CBX_PROPAGATE_H
#define CBX_PROPAGATE_H

#include "layer.h"

size_t cbx_propagate_saved(const cbx_layer *l, const cbx_step *s);
size_t cbx_propagate_scratch(const cbx_layer *l, const cbx_step *s);

/* Y = A X W, or A (X W + shift); the layer's first shift is W's */
void cbx_propagate_forward(const cbx_layer *l, const cbx_step *s, const float *W);

/* dX overwritten; dvalue, ddiag and dW added to */
void cbx_propagate_backward(const cbx_layer *l, const cbx_step *s, const float *W,
                            const cbx_step_grad *g, float *dW);

/* How far A X W may have moved, W stretching a vector by at most `spectral_norm`. */
void cbx_propagate_bound_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y,
                               float spectral_norm);

#endif
