/* SPDX-License-Identifier: Apache-2.0 */
/* sage.c: GraphSAGE (Hamilton et al. 2017) with the mean, PyG's SAGEConv.
 *
 *     Y[i] = mean over edges u -> i of (w x_u) W_l + b + x_i W_r
 *
 * which is graphconv's with names of its own. Parameters: W_l (lin_l.weight), b (lin_l.bias),
 * W_r (lin_r.weight). */
#include "graphconv.h"
#include "traits.h"

/* The setting is not this layer's, and may say anything. */
static cbx_layer with_mean(const cbx_layer *l)
{
    cbx_layer mean = *l;
    mean.set.aggregation = CBX_MEAN;
    return mean;
}

static cbx_norm_kind norm(const cbx_layer *l)
{
    (void)l;
    return CBX_NORM_MEAN;
}

static bool parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    const cbx_parameter all[] = {
        {.name = "lin_l.weight", l->n_in, l->n_out, CBX_INIT_LINEAR, .of_input = true},
        {.name = "lin_l.bias", 0, l->n_out, CBX_INIT_LINEAR},
        {.name = "lin_r.weight", l->n_in, l->n_out, CBX_INIT_LINEAR, .of_input = true},
    };
    if (i >= 3)
        return false;
    *out = all[i];
    return true;
}

static size_t saved(const cbx_layer *l, const cbx_step *s)
{
    cbx_layer mean = with_mean(l);
    return cbx_graphconv_saved(&mean, s);
}

static size_t scratch(const cbx_layer *l, const cbx_step *s)
{
    cbx_layer mean = with_mean(l);
    return cbx_graphconv_scratch(&mean, s);
}

static void forward(const cbx_layer *l, const cbx_step *s)
{
    cbx_layer mean = with_mean(l);
    cbx_graphconv_forward(&mean, s);
}

static void backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    cbx_layer mean = with_mean(l);
    cbx_graphconv_backward(&mean, s, g);
}

static void bound_output_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y)
{
    cbx_layer mean = with_mean(l);
    cbx_graphconv_bound_shift(&mean, s, y);
}

static bool linear(const cbx_layer *l, cbx_linear_parts *out)
{
    cbx_layer mean = with_mean(l);
    return cbx_graphconv_linear(&mean, out);
}

const cbx_layer_ops cbx_layer_sage = {
    .name = "sage",
    .norm = norm,
    .sight = cbx_trait_messages,
    .removes_marked_slots = true,
    .entry = cbx_trait_products,
    .adds_shift = true,
    .reach = cbx_trait_one_hop,
    .parameter = parameter,
    .saved = saved,
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
    .bound_output_shift = bound_output_shift,
    .linear = linear,
};
