/* SPDX-License-Identifier: Apache-2.0 */
/* propagate.c: see propagate.h.
 *
 *   transform first   H = X W (saved), Y = A H
 *                     T = A'dY:  dX = T W'   dW = X'T    dA = <dY, H>
 *   aggregate first   S = A X (saved), Y = S W
 *                     G = dY W': dX = A'G    dW = S'dY   dA = <G, X> */
#include "propagate.h"

#include <math.h>

#include "deadline.h"

static bool aggregate_first(const cbx_layer *l, const cbx_step *s)
{
    /* A product that is known already costs nothing; a shift is of products. */
    if (!s->X->dense || s->X->cache || l->shift)
        return false;
    double edges = (double)s->A.offset[s->rows_out] + s->rows_out;
    double transform = (double)s->rows_in * l->n_in * l->n_out + edges * l->n_out;
    double aggregate = (double)s->rows_out * l->n_in * l->n_out + edges * l->n_in;
    return aggregate < transform;
}

size_t cbx_propagate_saved(const cbx_layer *l, const cbx_step *s)
{
    return aggregate_first(l, s) ? (size_t)s->rows_out * (size_t)l->n_in
                                 : (size_t)s->rows_in * (size_t)l->n_out;
}

size_t cbx_propagate_scratch(const cbx_layer *l, const cbx_step *s)
{
    return cbx_propagate_saved(l, s); /* G has the shape of S, and T that of H */
}

void cbx_propagate_forward(const cbx_layer *l, const cbx_step *s, const float *W)
{
    if (aggregate_first(l, s)) {
        cbx_spmm(&s->A, s->rows_out, l->n_in, 1, s->X->dense, s->saved, false, s->threads);
        cbx_gemm_nn(s->rows_out, l->n_out, l->n_in, s->saved, W, s->Y, false, s->threads);
    } else {
        cbx_matrix_times(s->X, s->rows_in, l->n_out, W, s->saved, false, s->threads);
        if (l->shift)
            cbx_add_bias(s->rows_in, l->n_out, l->shift, s->saved, s->threads);
        cbx_spmm(&s->A, s->rows_out, l->n_out, 1, s->saved, s->Y, false, s->threads);
    }
}

void cbx_propagate_backward(const cbx_layer *l, const cbx_step *s, const float *W,
                            const cbx_step_grad *g, float *dW)
{
    int32_t out = s->rows_out, in = s->rows_in;
    if (aggregate_first(l, s)) {
        if (g->dX || g->dvalue)
            cbx_gemm_nt(out, l->n_in, l->n_out, g->dY, W, s->tmp, false, s->threads);
        if (g->dvalue)
            cbx_sddmm(&s->A, out, l->n_in, 1, s->tmp, s->X->dense, g->dvalue, g->ddiag, s->threads);
        if (g->dX)
            cbx_spmm_t(&s->A, out, in, l->n_in, 1, s->tmp, g->dX, false, s->threads);
        if (dW)
            cbx_gemm_tn(l->n_in, l->n_out, out, s->saved, g->dY, dW, true, s->threads);
        return;
    }
    if (g->dvalue)
        cbx_sddmm(&s->A, out, l->n_out, 1, g->dY, s->saved, g->dvalue, g->ddiag, s->threads);
    if (!g->dX && !dW)
        return;
    cbx_spmm_t(&s->A, out, in, l->n_out, 1, g->dY, s->tmp, false, s->threads);
    if (g->dX)
        cbx_gemm_nt(in, l->n_in, l->n_out, s->tmp, W, g->dX, false, s->threads);
    if (dW)
        cbx_matrix_t_times(s->X, in, l->n_out, s->tmp, dW, s->threads);
}

/* (A - A0) 1 c': what a shift adds to the bound. */
static void add_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y)
{
    const cbx_adjacency *A = &s->A;
    float                size = cbx_length(l->n_out, l->shift);
    for (int32_t i = 0; i < s->rows_out; i++) {
        float sum = A->diag ? fabsf(A->diag[i] - y->then_diag[i]) : 0;
        for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
            sum += fabsf(A->value[e] - y->then_value[e]);
        y->out[i] += sum * size;
    }
}

/* A X - A0 X0 = A (X - X0) + (A - A0) X0 */
void cbx_propagate_bound_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y,
                               float spectral_norm)
{
    const cbx_adjacency *A = &s->A;
    const double         edge = 8; /* multiplications in the time that one takes */
    for (int32_t i = 0; i < s->rows_out; i++) {
        if (cbx_out_of_time(edge * (double)(A->offset[i + 1] - A->offset[i])))
            return;
        float sum = 0;
        if (A->diag)
            sum =
                fabsf(A->diag[i]) * y->moved[i] + fabsf(A->diag[i] - y->then_diag[i]) * y->size[i];
        for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++) {
            int32_t j = A->source[e];
            sum += fabsf(A->value[e]) * y->moved[j] +
                   fabsf(A->value[e] - y->then_value[e]) * y->size[j];
        }
        y->out[i] = sum * spectral_norm;
    }
    if (l->shift)
        add_shift(l, s, y);
}
