/* SPDX-License-Identifier: Apache-2.0 */
/* max_aggregate.c: saved are M (rows_out x n_in) and, when X is sparse, a dense
 * copy of its rows_in rows; scratch holds dM, divided by the number of messages
 * that share each maximum. */
#include "max_aggregate.h"

#include <string.h>

#include "threads.h"

static size_t maxima(const cbx_layer *l, const cbx_step *s)
{
    return (size_t)s->rows_out * (size_t)l->n_in;
}

size_t cbx_max_saved(const cbx_layer *l, const cbx_step *s)
{
    return maxima(l, s) + (s->X->dense ? 0 : (size_t)s->rows_in * (size_t)l->n_in);
}

size_t cbx_max_scratch(const cbx_layer *l, const cbx_step *s)
{
    return maxima(l, s);
}

static const float *input(const cbx_layer *l, const cbx_step *s)
{
    return s->X->dense ? s->X->dense : s->saved + maxima(l, s);
}

/* A message of weight 0 is a 0 that can be the largest; one that is gone is none. */
static bool is_gone(const cbx_step *s, int64_t slot)
{
    return s->view->removed && s->view->removed[slot];
}

static void max_row(const cbx_step *s, int32_t i, int32_t f, const float *X, float *m)
{
    const cbx_adjacency *A = &s->A;
    bool                 first = true;
    memset(m, 0, (size_t)f * sizeof *m);
    for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++) {
        const float *x = X + (int64_t)A->source[e] * f;
        float        w = A->value[e];
        if (is_gone(s, e))
            continue;
        for (int32_t k = 0; k < f; k++) {
            float message = w * x[k];
            m[k] = first || message > m[k] ? message : m[k];
        }
        first = false;
    }
}

void cbx_max_forward(const cbx_layer *l, const cbx_step *s, const float *W)
{
    if (!s->X->dense)
        cbx_matrix_expand(s->X, s->rows_in, s->saved + maxima(l, s));
    const float *X = input(l, s);
    CBX_PARALLEL_FOR(s->threads, (double)s->A.offset[s->rows_out] * l->n_in, i, s->rows_out, 1,
                     max_row(s, (int32_t)i, l->n_in, X, s->saved + i * l->n_in));
    cbx_gemm_nn(s->rows_out, l->n_out, l->n_in, s->saved, W, s->Y, false, s->threads);
}

/* dM[i] /= how many messages are equal to the maximum */
static void share_row(const cbx_step *s, int32_t i, int32_t f, const float *X, const float *m,
                      float *d)
{
    const cbx_adjacency *A = &s->A;
    for (int32_t k = 0; k < f; k++) {
        int32_t ties = 0;
        for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
            ties += !is_gone(s, e) && A->value[e] * X[(int64_t)A->source[e] * f + k] == m[k];
        d[k] = ties ? d[k] / (float)ties : 0;
    }
}

static void value_row(const cbx_step *s, int32_t i, int32_t f, const float *X, const float *m,
                      const float *d, float *dvalue)
{
    const cbx_adjacency *A = &s->A;
    for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++) {
        const float *x = X + (int64_t)A->source[e] * f;
        float        w = A->value[e], sum = 0;
        if (is_gone(s, e))
            continue;
        for (int32_t k = 0; k < f; k++)
            sum += w * x[k] == m[k] ? d[k] * x[k] : 0;
        dvalue[e] += sum;
    }
}

static void input_row(const cbx_step *s, int32_t j, int32_t f, const float *X, const float *M,
                      const float *D, float *dx)
{
    const cbx_adjacency *A = &s->A;
    const float         *x = X + (int64_t)j * f;
    memset(dx, 0, (size_t)f * sizeof *dx);
    for (int64_t o = A->out_offset[j]; o < A->out_offset[j + 1]; o++) {
        int32_t i = A->out_target[o];
        if (i >= s->rows_out)
            break;
        if (is_gone(s, A->out_slot[o]))
            continue;
        const float *m = M + (int64_t)i * f, *d = D + (int64_t)i * f;
        float        w = A->value[A->out_slot[o]];
        for (int32_t k = 0; k < f; k++)
            dx[k] += w * x[k] == m[k] ? w * d[k] : 0;
    }
}

void cbx_max_backward(const cbx_layer *l, const cbx_step *s, const float *W, const cbx_step_grad *g,
                      float *dW)
{
    int32_t      f = l->n_in;
    const float *X = input(l, s), *M = s->saved;
    if (dW)
        cbx_gemm_tn(f, l->n_out, s->rows_out, M, g->dY, dW, true, s->threads);
    if (!g->dX && !g->dvalue)
        return;
    cbx_gemm_nt(s->rows_out, f, l->n_out, g->dY, W, s->tmp, false, s->threads);
    double work = (double)s->A.offset[s->rows_out] * f;
    CBX_PARALLEL_FOR(s->threads, work, i, s->rows_out, 1, {
        float *d = s->tmp + i * f;
        share_row(s, (int32_t)i, f, X, M + i * f, d);
        if (g->dvalue)
            value_row(s, (int32_t)i, f, X, M + i * f, d, g->dvalue);
    });
    if (!g->dX)
        return;
    CBX_PARALLEL_FOR(s->threads, work, j, s->rows_in, 1,
                     input_row(s, (int32_t)j, f, X, M, s->tmp, g->dX + j * f));
}
