/* SPDX-License-Identifier: Apache-2.0 */
/* gcn.c: graph convolution (Kipf and Welling 2017), PyG's GCNConv.
 *
 *     Y = A X W + b,   A = D^-1/2 (A + I) D^-1/2
 *
 * Parameters: W (lin.weight), b (bias). What is saved is propagate.h's. */
#include <string.h>

#include "propagate.h"
#include "traits.h"

static cbx_norm_kind norm(const cbx_layer *l)
{
    (void)l;
    return CBX_NORM_GCN;
}

static cbx_sight sight(const cbx_layer *l)
{
    (void)l;
    return CBX_SIGHT_DEGREES;
}

static bool parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    const cbx_parameter all[] = {
        {.name = "lin.weight", l->n_in, l->n_out, CBX_INIT_GLOROT, .of_input = true},
        {.name = "bias", 0, l->n_out, CBX_INIT_ZERO},
    };
    if (i >= 2)
        return false;
    *out = all[i];
    return true;
}

static void forward(const cbx_layer *l, const cbx_step *s)
{
    const float *W = l->theta, *b = W + (size_t)l->n_in * (size_t)l->n_out;
    cbx_propagate_forward(l, s, W);
    cbx_add_bias(s->rows_out, l->n_out, b, s->Y, s->threads);
}

static void backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    cbx_propagate_backward(l, s, l->theta, g, g->dtheta);
    if (g->dtheta)
        cbx_column_sums(s->rows_out, l->n_out, g->dY,
                        g->dtheta + (size_t)l->n_in * (size_t)l->n_out, s->threads);
}

static void bound_output_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y)
{
    cbx_propagate_bound_shift(l, s, y, y->spectral_norm[0]);
}

static bool linear(const cbx_layer *l, cbx_linear_parts *out)
{
    *out = (cbx_linear_parts){.neighbour = l->theta,
                              .bias = l->theta + (size_t)l->n_in * (size_t)l->n_out};
    return true;
}

const cbx_layer_ops cbx_layer_gcn = {
    .name = "gcn",
    .norm = norm,
    .sight = sight,
    .removes_marked_slots = true,
    .entry = cbx_trait_products,
    .adds_shift = true,
    .reach = cbx_trait_one_hop,
    .parameter = parameter,
    .saved = cbx_propagate_saved,
    .scratch = cbx_propagate_scratch,
    .forward = forward,
    .backward = backward,
    .bound_output_shift = bound_output_shift,
    .linear = linear,
};
