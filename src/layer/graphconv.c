/* SPDX-License-Identifier: Apache-2.0 */
/* graphconv.c: the convolution of Morris et al. 2019, PyG's GraphConv.
 *
 *     Y[i] = agg over edges u -> i of (w x_u) W_rel + b + x_i W_root
 *
 * agg is add, mean (over the number of edges, whatever their weights) or max
 * (elementwise; 0 for a node without edges). Add and mean are products with an
 * adjacency and go through propagate.h. Max is max_aggregate.h.
 * Parameters: W_rel (lin_rel.weight), b (lin_rel.bias), W_root (lin_root.weight).
 * Saved: propagate's, or for max the aggregate and the dense input. */
#include "graphconv.h"
#include "max_aggregate.h"
#include "propagate.h"
#include "traits.h"

static cbx_norm_kind norm(const cbx_layer *l)
{
    return l->set.aggregation == CBX_MEAN ? CBX_NORM_MEAN : CBX_NORM_NONE;
}

/* A maximum is taken of each column of X apart. */
static cbx_entry entry(const cbx_layer *l)
{
    return l->set.aggregation == CBX_MAX ? CBX_ENTRY_COLUMNS : CBX_ENTRY_PRODUCTS;
}

static bool parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    const cbx_parameter all[] = {
        {.name = "lin_rel.weight", l->n_in, l->n_out, CBX_INIT_LINEAR, .of_input = true},
        {.name = "lin_rel.bias", 0, l->n_out, CBX_INIT_LINEAR},
        {.name = "lin_root.weight", l->n_in, l->n_out, CBX_INIT_LINEAR, .of_input = true},
    };
    if (i >= 3)
        return false;
    *out = all[i];
    return true;
}

size_t cbx_graphconv_saved(const cbx_layer *l, const cbx_step *s)
{
    return l->set.aggregation == CBX_MAX ? cbx_max_saved(l, s) : cbx_propagate_saved(l, s);
}

size_t cbx_graphconv_scratch(const cbx_layer *l, const cbx_step *s)
{
    return l->set.aggregation == CBX_MAX ? cbx_max_scratch(l, s) : cbx_propagate_scratch(l, s);
}

void cbx_graphconv_forward(const cbx_layer *l, const cbx_step *s)
{
    size_t       size = (size_t)l->n_in * (size_t)l->n_out;
    const float *rel = l->theta, *bias = rel + size, *root = bias + l->n_out;
    if (l->set.aggregation == CBX_MAX)
        cbx_max_forward(l, s, rel);
    else
        cbx_propagate_forward(l, s, rel);
    cbx_matrix_times(s->X, s->rows_out, l->n_out, root, s->Y, true, s->threads);
    if (l->shift)
        cbx_add_bias(s->rows_out, l->n_out, l->shift + l->n_out, s->Y, s->threads);
    cbx_add_bias(s->rows_out, l->n_out, bias, s->Y, s->threads);
}

void cbx_graphconv_backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    size_t       size = (size_t)l->n_in * (size_t)l->n_out;
    const float *rel = l->theta, *root = rel + size + l->n_out;
    if (l->set.aggregation == CBX_MAX)
        cbx_max_backward(l, s, rel, g, g->dtheta);
    else
        cbx_propagate_backward(l, s, rel, g, g->dtheta);
    if (g->dX)
        cbx_gemm_nt(s->rows_out, l->n_in, l->n_out, g->dY, root, g->dX, true, s->threads);
    if (g->dtheta) {
        cbx_column_sums(s->rows_out, l->n_out, g->dY, g->dtheta + size, s->threads);
        cbx_matrix_t_times(s->X, s->rows_out, l->n_out, g->dY, g->dtheta + size + l->n_out,
                           s->threads);
    }
}

/* Where every term of a maximum moves by so much, the maximum moves no more than
 * they do together: max is bounded like add. */
void cbx_graphconv_bound_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y)
{
    cbx_propagate_bound_shift(l, s, y, y->spectral_norm[0]);
    for (int32_t i = 0; i < s->rows_out; i++)
        y->out[i] += y->spectral_norm[2] * y->moved[i];
}

bool cbx_graphconv_linear(const cbx_layer *l, cbx_linear_parts *out)
{
    size_t size = (size_t)l->n_in * (size_t)l->n_out;
    *out = (cbx_linear_parts){.neighbour = l->theta,
                              .own = l->theta + size + l->n_out,
                              .bias = l->theta + size,
                              .maximum = l->set.aggregation == CBX_MAX};
    return true;
}

static const char *const settings[] = {"aggregation", NULL};

const cbx_layer_ops cbx_layer_graphconv = {
    .name = "graphconv",
    .settings = settings,
    .norm = norm,
    .sight = cbx_trait_messages,
    .removes_marked_slots = true,
    .entry = entry,
    .adds_shift = true,
    .reach = cbx_trait_one_hop,
    .parameter = parameter,
    .saved = cbx_graphconv_saved,
    .scratch = cbx_graphconv_scratch,
    .forward = cbx_graphconv_forward,
    .backward = cbx_graphconv_backward,
    .bound_output_shift = cbx_graphconv_bound_shift,
    .linear = cbx_graphconv_linear,
};
