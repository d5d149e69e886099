/* SPDX-License-Identifier: Apache-2.0 */
/* dense.h: the small dense networks that some methods train, and their steps.
 *
 * Parameters of a network are one block, layer after layer: W (in x out) and then b. */
#ifndef CBX_DENSE_H
#define CBX_DENSE_H

#include "arena.h"
#include "kernel.h"

typedef struct cbx_dense {
    int32_t in, out;
    bool    relu;
    int64_t at; /* of W in the block */
} cbx_dense;

/* A layer whose parameters lie at *at, which is moved behind them. */
cbx_dense cbx_dense_place(int32_t in, int32_t out, bool relu, int64_t *at);

/* Fresh parameters, as torch.nn.Linear draws them; `stream` keeps networks and seeds apart. */
void cbx_dense_draw(const cbx_dense *layer, uint64_t seed, uint64_t stream, float *theta);

/* Y = X W + b, or relu of it; X has so many rows */
void cbx_dense_forward(const cbx_dense *layer, const float *theta, int32_t rows, const float *X,
                       float *Y);

/* From dY, which is used up, adds to the gradient and overwrites dX, unless that is NULL. */
void cbx_dense_backward(const cbx_dense *layer, const float *theta, int32_t rows, const float *X,
                        const float *Y, float *dY, float *dX, float *grad);

/* Adam on a block of parameters. */
typedef struct cbx_fit {
    int64_t  size;
    float   *theta, *grad; /* grad: what has been added since the last step */
    float   *mean, *square;
    cbx_adam adam;
} cbx_fit;

/* 0 on success */
int cbx_fit_init(cbx_fit *fit, float *theta, int64_t size, double lr, cbx_arena *arena);

/* Goes down the sum of so many gradients, as their mean, and clears it. A gradient that is not
 * finite makes no step. */
void cbx_fit_step(cbx_fit *fit, int64_t count);

#endif
