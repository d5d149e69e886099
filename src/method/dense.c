/* SPDX-License-Identifier: Apache-2.0 */
/* dense.c: see dense.h. */
#include "dense.h"

#include <math.h>
#include <string.h>

#include "rng.h"

cbx_dense cbx_dense_place(int32_t in, int32_t out, bool relu, int64_t *at)
{
    cbx_dense layer = {.in = in, .out = out, .relu = relu, .at = *at};
    *at += ((int64_t)in + 1) * out;
    return layer;
}

void cbx_dense_draw(const cbx_dense *layer, uint64_t seed, uint64_t stream, float *theta)
{
    cbx_rng rng = cbx_rng_stream(seed, stream, (uint64_t)layer->at, 0);
    double  most = 1 / sqrt((double)layer->in);
    int64_t count = ((int64_t)layer->in + 1) * layer->out;
    for (int64_t k = 0; k < count; k++)
        theta[layer->at + k] = (float)(most * (2 * cbx_rng_uniform(&rng) - 1));
}

static int64_t bias_at(const cbx_dense *layer)
{
    return layer->at + (int64_t)layer->in * layer->out;
}

void cbx_dense_forward(const cbx_dense *layer, const float *theta, int32_t rows, const float *X,
                       float *Y)
{
    cbx_gemm_nn(rows, layer->out, layer->in, X, theta + layer->at, Y, false, 1);
    cbx_add_bias(rows, layer->out, theta + bias_at(layer), Y, 1);
    if (layer->relu)
        cbx_relu((int64_t)rows * layer->out, Y, 1);
}

void cbx_dense_backward(const cbx_dense *layer, const float *theta, int32_t rows, const float *X,
                        const float *Y, float *dY, float *dX, float *grad)
{
    if (layer->relu)
        cbx_relu_backward((int64_t)rows * layer->out, 1, Y, dY, 1);
    cbx_gemm_tn(layer->in, layer->out, rows, X, dY, grad + layer->at, true, 1);
    cbx_column_sums(rows, layer->out, dY, grad + bias_at(layer), 1);
    if (dX)
        cbx_gemm_nt(rows, layer->in, layer->out, dY, theta + layer->at, dX, false, 1);
}

int cbx_fit_init(cbx_fit *fit, float *theta, int64_t size, double lr, cbx_arena *arena)
{
    *fit = (cbx_fit){.size = size,
                     .theta = theta,
                     .adam = {.lr = lr, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}};
    fit->grad = CBX_NEW0(arena, float, size);
    fit->mean = CBX_NEW0(arena, float, size);
    fit->square = CBX_NEW0(arena, float, size);
    return fit->grad && fit->mean && fit->square ? 0 : -1;
}

void cbx_fit_step(cbx_fit *fit, int64_t count)
{
    if (count > 0 && isfinite(cbx_sum_squares(fit->size, fit->grad))) {
        cbx_scale(fit->size, 1 / (float)count, fit->grad);
        fit->adam.step++;
        cbx_adam_step(&fit->adam, fit->size, fit->grad, fit->mean, fit->square, fit->theta);
    }
    memset(fit->grad, 0, (size_t)fit->size * sizeof *fit->grad);
}
