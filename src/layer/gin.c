/* SPDX-License-Identifier: Apache-2.0 */
/* gin.c: the convolution of Xu et al. 2019, PyG's GINConv with an MLP of one hidden layer.
 *
 *     Y = relu(((1 + eps) X + A X) W1 + b1) W2 + b2
 *
 * What is inside is a product with the adjacency whose diagonal is 1 + eps, so propagate.h has it:
 * as that of a layer of its own, `inner`, of as many units as the hidden layer has.
 * Parameters: W1 (nn.0.weight), b1 (nn.0.bias), W2 (nn.2.weight), b2 (nn.2.bias), as PyG has them
 * for Sequential(Linear, ReLU, Linear), and eps where it is trained; else it is a setting.
 * Saved: the hidden layer behind its ReLU, the diagonal, propagate's. Scratch: the hidden layer's
 * gradient, the diagonal's, the edges' where nobody wants it, propagate's. */
#include <math.h>
#include <string.h>

#include "propagate.h"
#include "traits.h"

static int32_t hidden(const cbx_layer *l)
{
    return l->set.mlp_hidden ? (int32_t)l->set.mlp_hidden : l->n_out;
}

static bool parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    int32_t             m = hidden(l);
    const cbx_parameter all[] = {
        {.name = "nn.0.weight", l->n_in, m, CBX_INIT_LINEAR, .of_input = true},
        {.name = "nn.0.bias", 0, m, CBX_INIT_LINEAR},
        {.name = "nn.2.weight", m, l->n_out, CBX_INIT_LINEAR},
        {.name = "nn.2.bias", 0, l->n_out, CBX_INIT_LINEAR},
        {.name = "eps", 0, 1, CBX_INIT_ZERO, .value = (float)l->set.eps},
    };
    if (i >= 4 + l->set.train_eps)
        return false;
    *out = all[i];
    return true;
}

/* Where each parameter starts. */
typedef struct places {
    size_t b1, W2, b2, eps;
} places;

static places places_of(const cbx_layer *l)
{
    size_t m = (size_t)hidden(l), out = (size_t)l->n_out;
    places p = {.b1 = (size_t)l->n_in * m};
    p.W2 = p.b1 + m;
    p.b2 = p.W2 + m * out;
    p.eps = p.b2 + out;
    return p;
}

static float own_weight(const cbx_layer *l)
{
    return 1 + (l->set.train_eps ? l->theta[places_of(l).eps] : (float)l->set.eps);
}

static cbx_layer inner_layer(const cbx_layer *l)
{
    cbx_layer inner = *l;
    inner.n_out = hidden(l);
    return inner;
}

static size_t units(const cbx_layer *l, const cbx_step *s)
{
    return (size_t)s->rows_out * (size_t)hidden(l);
}

static size_t saved(const cbx_layer *l, const cbx_step *s)
{
    cbx_layer inner = inner_layer(l);
    return units(l, s) + (size_t)s->rows_out + cbx_propagate_saved(&inner, s);
}

static size_t edges(const cbx_step *s)
{
    return s->rows_out ? (size_t)s->A.offset[s->rows_out] : 0;
}

static size_t scratch(const cbx_layer *l, const cbx_step *s)
{
    cbx_layer inner = inner_layer(l);
    return units(l, s) + (size_t)s->rows_out + edges(s) + cbx_propagate_scratch(&inner, s);
}

/* The step of the inner layer, whose output is the first part of what is saved. */
static cbx_step inner_step(const cbx_layer *l, const cbx_step *s)
{
    cbx_step inner = *s;
    inner.Y = s->saved;
    inner.A.diag = s->saved + units(l, s);
    inner.saved = s->saved + units(l, s) + s->rows_out;
    inner.tmp = s->tmp + units(l, s) + s->rows_out + edges(s);
    return inner;
}

static void forward(const cbx_layer *l, const cbx_step *s)
{
    cbx_layer inner = inner_layer(l);
    cbx_step  step = inner_step(l, s);
    places    at = places_of(l);
    float    *diag = s->saved + units(l, s), own = own_weight(l);
    for (int32_t i = 0; i < s->rows_out; i++)
        diag[i] = own;
    cbx_propagate_forward(&inner, &step, l->theta);
    cbx_add_bias(s->rows_out, inner.n_out, l->theta + at.b1, step.Y, s->threads);
    cbx_relu((int64_t)units(l, s), step.Y, s->threads);
    cbx_gemm_nn(s->rows_out, l->n_out, inner.n_out, step.Y, l->theta + at.W2, s->Y, false,
                s->threads);
    cbx_add_bias(s->rows_out, l->n_out, l->theta + at.b2, s->Y, s->threads);
}

static void backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    cbx_layer     inner = inner_layer(l);
    cbx_step      step = inner_step(l, s);
    places        at = places_of(l);
    int32_t       m = inner.n_out;
    float        *dH = s->tmp, *ddiag = dH + units(l, s), *nobody = ddiag + s->rows_out;
    bool          eps = g->dtheta && l->set.train_eps;
    cbx_step_grad in = {.dY = dH, .dX = g->dX, .dvalue = g->dvalue, .ddiag = eps ? ddiag : NULL};
    cbx_gemm_nt(s->rows_out, m, l->n_out, g->dY, l->theta + at.W2, dH, false, s->threads);
    cbx_relu_backward((int64_t)units(l, s), 1, step.Y, dH, s->threads);
    if (eps)
        memset(ddiag, 0, (size_t)s->rows_out * sizeof *ddiag);
    if (eps && !g->dvalue) { /* the diagonal's gradient comes with that of the edges */
        memset(nobody, 0, edges(s) * sizeof *nobody);
        in.dvalue = nobody;
    }
    cbx_propagate_backward(&inner, &step, l->theta, &in, g->dtheta);
    if (!g->dtheta)
        return;
    cbx_column_sums(s->rows_out, m, dH, g->dtheta + at.b1, s->threads);
    cbx_gemm_tn(m, l->n_out, s->rows_out, step.Y, g->dY, g->dtheta + at.W2, true, s->threads);
    cbx_column_sums(s->rows_out, l->n_out, g->dY, g->dtheta + at.b2, s->threads);
    if (eps)
        cbx_column_sums(s->rows_out, 1, ddiag, g->dtheta + at.eps, s->threads);
}

/* A ReLU moves no further than what it is given. */
static void bound_output_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y)
{
    cbx_layer inner = inner_layer(l);
    float     own = fabsf(own_weight(l));
    cbx_propagate_bound_shift(&inner, s, y, y->spectral_norm[0]);
    for (int32_t i = 0; i < s->rows_out; i++)
        y->out[i] = (y->out[i] + y->spectral_norm[0] * own * y->moved[i]) * y->spectral_norm[2];
}

static const char *const settings[] = {"mlp-hidden", "eps", "train-eps", NULL};

const cbx_layer_ops cbx_layer_gin = {
    .name = "gin",
    .settings = settings,
    .norm = cbx_trait_no_norm,
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
};
