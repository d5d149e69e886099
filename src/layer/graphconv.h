/* SPDX-License-Identifier: Apache-2.0 */
/* graphconv.h: neighbours, aggregated, times one matrix, and the node itself times another: what
 * GraphConv and SAGEConv have in common. The layer's aggregation says how; parameters lie as
 * W of neighbours, bias, W of the node itself. */
#ifndef CBX_GRAPHCONV_H
#define CBX_GRAPHCONV_H

#include "layer.h"

size_t cbx_graphconv_saved(const cbx_layer *l, const cbx_step *s);
size_t cbx_graphconv_scratch(const cbx_layer *l, const cbx_step *s);
void   cbx_graphconv_forward(const cbx_layer *l, const cbx_step *s);
void   cbx_graphconv_backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g);
void   cbx_graphconv_bound_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y);
bool   cbx_graphconv_linear(const cbx_layer *l, cbx_linear_parts *out);

#endif
