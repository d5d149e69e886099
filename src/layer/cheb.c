/* SPDX-License-Identifier: Apache-2.0 */
/* cheb.c: Chebyshev spectral convolution (Defferrard et al. 2016), PyG's ChebConv
 * with symmetric normalisation and largest eigenvalue 2.
 *
 *     Y = sum over k < K of T_k(A) X W_k + b,   A = -D^-1/2 A D^-1/2
 *
 * T_k is never formed. Clenshaw's recurrence works on the K products X W_k, whose
 * rows are short, and takes sparse X as it comes:
 *
 *     B_k = X W_k + c_k A B_{k+1} - B_{k+2},   c_0 = 1, else 2;   Y = B_0 + b
 *
 * and backward runs it the other way, with G_0 = dY:
 *
 *     G_{k+1} += c_k A'G_k    G_{k+2} -= G_k    dA += c_k <G_k, B_{k+1}>
 *     dW_k = X'G_k            dX = sum of G_k W_k'
 *
 * B_k is needed within k hops of the output rows, so each has a prefix of its own.
 * Parameters: W_0 … W_{K-1} (lins.k.weight), b (bias). Saved: B_1 … B_{K-1};
 * scratch: G_1 … G_{K-1}. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layer.h"
#include "traits.h"

static cbx_norm_kind norm(const cbx_layer *l)
{
    (void)l;
    return CBX_NORM_CHEB;
}

static cbx_sight sight(const cbx_layer *l)
{
    return l->set.order > 1 ? CBX_SIGHT_BOTH_WAYS : CBX_SIGHT_MESSAGES;
}

static int32_t reach(const cbx_layer *l)
{
    return (int32_t)l->set.order - 1;
}

static bool parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    if (i > l->set.order)
        return false;
    if (i == l->set.order) {
        *out = (cbx_parameter){.name = "bias", 0, l->n_out, CBX_INIT_ZERO};
        return true;
    }
    *out = (cbx_parameter){.rows = l->n_in, l->n_out, CBX_INIT_GLOROT, .of_input = true};
    (void)snprintf(out->name, sizeof out->name, "lins.%d.weight", i);
    return true;
}

static int32_t rows_at(const cbx_step *s, int32_t k)
{
    return cbx_view_rows(s->view, s->hop + k);
}

/* Floats of the blocks 1 … K-1 that have a block's rows. */
static size_t blocks(const cbx_layer *l, const cbx_step *s)
{
    size_t total = 0;
    for (int32_t k = 1; k < l->set.order; k++)
        total += (size_t)rows_at(s, k) * (size_t)l->n_out;
    return total;
}

/* Where block k >= 1 starts. */
static float *block(const cbx_layer *l, const cbx_step *s, float *base, int32_t k)
{
    for (int32_t i = 1; i < k; i++)
        base += (size_t)rows_at(s, i) * (size_t)l->n_out;
    return base;
}

static float coefficient(int32_t k)
{
    return k == 0 ? 1 : 2;
}

static void subtract(int64_t count, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] -= x[i];
}

static void forward(const cbx_layer *l, const cbx_step *s)
{
    size_t size = (size_t)l->n_in * (size_t)l->n_out;
    for (int32_t k = (int32_t)l->set.order - 1; k >= 0; k--) {
        int32_t rows = rows_at(s, k);
        float  *B = k == 0 ? s->Y : block(l, s, s->saved, k);
        cbx_matrix_times(s->X, rows, l->n_out, l->theta + size * (size_t)k, B, false, s->threads);
        if (l->shift)
            cbx_add_bias(rows, l->n_out, l->shift + (size_t)k * (size_t)l->n_out, B, s->threads);
        if (k + 1 < l->set.order)
            cbx_spmm(&s->A, rows, l->n_out, coefficient(k), block(l, s, s->saved, k + 1), B, true,
                     s->threads);
        if (k + 2 < l->set.order)
            subtract((int64_t)rows * l->n_out, block(l, s, s->saved, k + 2), B);
    }
    cbx_add_bias(s->rows_out, l->n_out, l->theta + size * (size_t)l->set.order, s->Y, s->threads);
}

/* G_{k+1} and G_{k+2} from G_k; the former is complete then. */
static void backward_recurrence(const cbx_layer *l, const cbx_step *s, int32_t k, const float *G)
{
    int32_t rows = rows_at(s, k), next = rows_at(s, k + 1);
    float  *G1 = block(l, s, s->tmp, k + 1);
    /* G_1 is touched here first; later ones hold -G_{k-1} in their first rows. */
    cbx_spmm_t(&s->A, rows, next, l->n_out, coefficient(k), G, G1, k > 0, s->threads);
    if (k + 2 < l->set.order) {
        float *G2 = block(l, s, s->tmp, k + 2);
        memset(G2, 0, (size_t)rows_at(s, k + 2) * (size_t)l->n_out * sizeof *G2);
        subtract((int64_t)rows * l->n_out, G, G2);
    }
}

static void backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    size_t size = (size_t)l->n_in * (size_t)l->n_out;
    if (g->dX) /* rows beyond a block's prefix get nothing from it */
        memset(g->dX, 0, (size_t)s->rows_in * (size_t)l->n_in * sizeof *g->dX);
    for (int32_t k = 0; k < l->set.order; k++) {
        int32_t      rows = rows_at(s, k);
        const float *G = k == 0 ? g->dY : block(l, s, s->tmp, k);
        const float *W = l->theta + size * (size_t)k;
        if (k + 1 < l->set.order) {
            if (g->dvalue)
                cbx_sddmm(&s->A, rows, l->n_out, coefficient(k), G, block(l, s, s->saved, k + 1),
                          g->dvalue, NULL, s->threads);
            backward_recurrence(l, s, k, G);
        }
        if (g->dX)
            cbx_gemm_nt(rows, l->n_in, l->n_out, G, W, g->dX, true, s->threads);
        if (g->dtheta)
            cbx_matrix_t_times(s->X, rows, l->n_out, G, g->dtheta + size * (size_t)k, s->threads);
    }
    if (g->dtheta)
        cbx_column_sums(s->rows_out, l->n_out, g->dY, g->dtheta + size * (size_t)l->set.order,
                        s->threads);
}

/* Of order 1, which sees no edge. Higher orders would need the size of every B_k. */
static void bound_output_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y)
{
    for (int32_t i = 0; i < s->rows_out; i++)
        y->out[i] = l->set.order == 1 ? y->spectral_norm[0] * y->moved[i] : INFINITY;
}

/* Likewise of order 1 alone. */
static bool linear(const cbx_layer *l, cbx_linear_parts *out)
{
    *out =
        (cbx_linear_parts){.own = l->theta, .bias = l->theta + (size_t)l->n_in * (size_t)l->n_out};
    return l->set.order == 1;
}

static const char *const settings[] = {"order", NULL};

const cbx_layer_ops cbx_layer_cheb = {
    .name = "cheb",
    .settings = settings,
    .norm = norm,
    .sight = sight,
    .removes_marked_slots = true,
    .entry = cbx_trait_products,
    .adds_shift = true,
    .reach = reach,
    .parameter = parameter,
    .saved = blocks,
    .scratch = blocks,
    .forward = forward,
    .backward = backward,
    .bound_output_shift = bound_output_shift,
    .linear = linear,
};
