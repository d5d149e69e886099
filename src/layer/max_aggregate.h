/* SPDX-License-Identifier: Apache-2.0 */
/* max_aggregate.h: Y = M W with M[i] the elementwise maximum of w x_u over the
 * edges u -> i, and 0 for a node without edges. Where several messages share the
 * maximum they share its gradient equally, as PyTorch has it. */
#ifndef CBX_MAX_AGGREGATE_H
#define CBX_MAX_AGGREGATE_H

#include "layer.h"

size_t cbx_max_saved(const cbx_layer *l, const cbx_step *s);
size_t cbx_max_scratch(const cbx_layer *l, const cbx_step *s);
void   cbx_max_forward(const cbx_layer *l, const cbx_step *s, const float *W);
void cbx_max_backward(const cbx_layer *l, const cbx_step *s, const float *W, const cbx_step_grad *g,
                      float *dW);

#endif
