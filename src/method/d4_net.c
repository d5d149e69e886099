/* SPDX-License-Identifier: Apache-2.0 */
/* d4_net.c: see d4_net.h. */
#include "d4_net.h"

#include <string.h>

#include "deadline.h"
#include "train_rows.h"

enum { INPUTS = 3 }; /* of a pair: adjacency, noise, whether it is on the diagonal */

cbx_d4_net cbx_d4_net_make(int32_t features, int32_t width, int32_t layers)
{
    cbx_d4_net net = {.features = features, .width = width, .layers = layers};
    net.pair = cbx_dense_place(INPUTS, width, true, &net.size);
    net.node = cbx_dense_place(features, width, true, &net.size);
    for (int32_t l = 0; l < layers; l++) {
        cbx_d4_block *b = &net.blocks[l];
        for (int k = 0; k < 2; k++)
            b->p[k] = cbx_dense_place(width, width, true, &net.size);
        for (int k = 0; k < 2; k++)
            b->q[k] = cbx_dense_place(width, width, true, &net.size);
        b->out = cbx_dense_place(2 * width, width, true, &net.size);
    }
    net.score[0] = cbx_dense_place(width, width, true, &net.size);
    net.score[1] = cbx_dense_place(width, 1, false, &net.size);
    return net;
}

void cbx_d4_net_draw(const cbx_d4_net *net, uint64_t seed, float *theta)
{
    cbx_dense_draw(&net->pair, seed, CBX_STREAM_NETWORK, theta);
    cbx_dense_draw(&net->node, seed, CBX_STREAM_NETWORK, theta);
    for (int32_t l = 0; l < net->layers; l++) {
        const cbx_d4_block *b = &net->blocks[l];
        for (int k = 0; k < 2; k++) {
            cbx_dense_draw(&b->p[k], seed, CBX_STREAM_NETWORK, theta);
            cbx_dense_draw(&b->q[k], seed, CBX_STREAM_NETWORK, theta);
        }
        cbx_dense_draw(&b->out, seed, CBX_STREAM_NETWORK, theta);
    }
    cbx_dense_draw(&net->score[0], seed, CBX_STREAM_NETWORK, theta);
    cbx_dense_draw(&net->score[1], seed, CBX_STREAM_NETWORK, theta);
}

double cbx_d4_net_bytes(int32_t nodes, int32_t features, int32_t width, int32_t layers)
{
    double pairs = (double)nodes * nodes, arrays = 7.0 * layers + 13; /* as flow_init makes them */
    return sizeof(float) * (pairs * width * arrays + 2.0 * nodes * ((double)features + width) +
                            5.0 * ((double)features * width + 6.0 * layers * width * width));
}

/* Room for so many rows of the net's width. */
static float *wide(const cbx_d4_flow *f, int32_t times, cbx_arena *arena)
{
    return CBX_NEW(arena, float, (size_t)f->pairs *(size_t)f->net->width *(size_t)times);
}

static int make_gradients(cbx_d4_flow *f, cbx_arena *arena)
{
    f->dscore = CBX_NEW(arena, float, f->pairs);
    f->dhidden = wide(f, 1, arena);
    f->dU = wide(f, 1, arena);
    f->dboth = wide(f, 2, arena);
    f->dM = wide(f, 1, arena);
    f->more = wide(f, 1, arena);
    for (int k = 0; k < 2; k++) {
        f->dp[k] = wide(f, 1, arena);
        f->dq[k] = wide(f, 1, arena);
        if (!f->dp[k] || !f->dq[k])
            return -1;
    }
    return f->dscore && f->dhidden && f->dU && f->dboth && f->dM && f->more ? 0 : -1;
}

int cbx_d4_flow_init(cbx_d4_flow *f, const cbx_d4_net *net, int32_t n, const float *X,
                     bool gradient, cbx_arena *arena)
{
    *f = (cbx_d4_flow){.net = net, .n = n, .pairs = n * n, .X = X};
    f->input = CBX_NEW(arena, float, (size_t)f->pairs *INPUTS);
    f->first = wide(f, 1, arena);
    f->own = CBX_NEW(arena, float, (size_t)n *(size_t)net->width);
    f->start = wide(f, 1, arena);
    f->hidden = wide(f, 1, arena);
    f->score = CBX_NEW(arena, float, f->pairs);
    if (!f->input || !f->first || !f->own || !f->start || !f->hidden || !f->score)
        return -1;
    for (int32_t l = 0; l < net->layers; l++) {
        cbx_d4_work *w = &f->blocks[l];
        w->both = wide(f, 2, arena);
        w->out = wide(f, 1, arena);
        for (int k = 0; k < 2; k++) {
            w->p[k] = wide(f, 1, arena);
            w->q[k] = wide(f, 1, arena);
            if (!w->p[k] || !w->q[k])
                return -1;
        }
        if (!w->both || !w->out)
            return -1;
    }
    return gradient ? make_gradients(f, arena) : 0;
}

/* ---- forward */

static void multiply_rows(int32_t width, const float *restrict a, const float *restrict b,
                          float   scale, float *restrict to)
{
    for (int32_t k = 0; k < width; k++)
        to[k] += scale * a[k] * b[k];
}

/* M[i, j] = Σ P[i, l] Q[l, j] / n by channel, into the second half of `both`'s rows; the first is
 * U. */
static void multiply(const cbx_d4_flow *f, const float *U, const cbx_d4_work *w)
{
    int32_t n = f->n, width = f->net->width;
    for (int32_t p = 0; p < f->pairs; p++) {
        int32_t i = p / n, j = p % n;
        float  *row = w->both + (int64_t)p * 2 * width, *M = row + width;
        if (cbx_out_of_time((double)n * width))
            return;
        memcpy(row, U + (int64_t)p * width, (size_t)width * sizeof *row);
        memset(M, 0, (size_t)width * sizeof *M);
        for (int32_t l = 0; l < n; l++)
            multiply_rows(width, w->p[1] + ((int64_t)i * n + l) * width,
                          w->q[1] + ((int64_t)l * n + j) * width, 1 / (float)n, M);
    }
}

static void block_forward(cbx_d4_flow *f, int32_t l, const float *U, const float *theta)
{
    const cbx_d4_block *b = &f->net->blocks[l];
    cbx_d4_work        *w = &f->blocks[l];
    for (int k = 0; k < 2; k++) {
        cbx_dense_forward(&b->p[k], theta, f->pairs, k ? w->p[0] : U, w->p[k]);
        cbx_dense_forward(&b->q[k], theta, f->pairs, k ? w->q[0] : U, w->q[k]);
    }
    multiply(f, U, w);
    cbx_dense_forward(&b->out, theta, f->pairs, w->both, w->out);
}

void cbx_d4_forward(cbx_d4_flow *f, const float *theta, const uint8_t *adjacency, double noise)
{
    const cbx_d4_net *net = f->net;
    int32_t           width = net->width;
    for (int32_t p = 0; p < f->pairs; p++) {
        f->input[p * INPUTS] = adjacency[p];
        f->input[p * INPUTS + 1] = (float)noise;
        f->input[p * INPUTS + 2] = p / f->n == p % f->n;
    }
    cbx_dense_forward(&net->pair, theta, f->pairs, f->input, f->first);
    cbx_dense_forward(&net->node, theta, f->n, f->X, f->own);
    memcpy(f->start, f->first, (size_t)f->pairs * (size_t)width * sizeof *f->start);
    for (int32_t i = 0; i < f->n; i++)
        cbx_copy(width, f->own + (int64_t)i * width, f->start + ((int64_t)i * f->n + i) * width,
                 true);
    const float *U = f->start;
    for (int32_t l = 0; l < net->layers; l++) {
        block_forward(f, l, U, theta);
        U = f->blocks[l].out;
    }
    cbx_dense_forward(&net->score[0], theta, f->pairs, U, f->hidden);
    cbx_dense_forward(&net->score[1], theta, f->pairs, f->hidden, f->score);
}

/* ---- backward */

/* From dM to dp[1] and dq[1]. */
static void multiply_backward(cbx_d4_flow *f, const cbx_d4_work *w)
{
    int32_t n = f->n, width = f->net->width;
    size_t  bytes = (size_t)f->pairs * (size_t)width * sizeof(float);
    memset(f->dp[1], 0, bytes);
    memset(f->dq[1], 0, bytes);
    for (int32_t p = 0; p < f->pairs; p++) {
        int32_t      i = p / n, j = p % n;
        const float *dM = f->dM + (int64_t)p * width;
        if (cbx_out_of_time(2.0 * n * width))
            return;
        for (int32_t l = 0; l < n; l++) {
            int64_t left = ((int64_t)i * n + l) * width, right = ((int64_t)l * n + j) * width;
            multiply_rows(width, dM, w->q[1] + right, 1 / (float)n, f->dp[1] + left);
            multiply_rows(width, dM, w->p[1] + left, 1 / (float)n, f->dq[1] + right);
        }
    }
}

/* dU, of the block's output, becomes that of its input. */
static void block_backward(cbx_d4_flow *f, int32_t l, const float *U, const float *theta,
                           float *grad)
{
    const cbx_d4_block *b = &f->net->blocks[l];
    const cbx_d4_work  *w = &f->blocks[l];
    int32_t             width = f->net->width;
    cbx_dense_backward(&b->out, theta, f->pairs, w->both, w->out, f->dU, f->dboth, grad);
    for (int32_t p = 0; p < f->pairs; p++) {
        const float *row = f->dboth + (int64_t)p * 2 * width;
        memcpy(f->dU + (int64_t)p * width, row, (size_t)width * sizeof *row);
        memcpy(f->dM + (int64_t)p * width, row + width, (size_t)width * sizeof *row);
    }
    multiply_backward(f, w);
    for (int k = 1; k >= 0; k--) {
        cbx_dense_backward(&b->p[k], theta, f->pairs, k ? w->p[0] : U, w->p[k], f->dp[k],
                           k ? f->dp[0] : f->more, grad);
        if (k == 0)
            cbx_copy((int64_t)f->pairs * width, f->more, f->dU, true);
    }
    for (int k = 1; k >= 0; k--) {
        cbx_dense_backward(&b->q[k], theta, f->pairs, k ? w->q[0] : U, w->q[k], f->dq[k],
                           k ? f->dq[0] : f->more, grad);
        if (k == 0)
            cbx_copy((int64_t)f->pairs * width, f->more, f->dU, true);
    }
}

void cbx_d4_backward(cbx_d4_flow *f, const float *theta, float *grad)
{
    const cbx_d4_net *net = f->net;
    int32_t           width = net->width, last = net->layers - 1;
    cbx_dense_backward(&net->score[1], theta, f->pairs, f->hidden, f->score, f->dscore, f->dhidden,
                       grad);
    cbx_dense_backward(&net->score[0], theta, f->pairs, f->blocks[last].out, f->hidden, f->dhidden,
                       f->dU, grad);
    for (int32_t l = last; l >= 0; l--)
        block_backward(f, l, l ? f->blocks[l - 1].out : f->start, theta, grad);
    for (int32_t i = 0; i < f->n; i++) /* what the diagonal has of its nodes */
        cbx_copy(width, f->dU + ((int64_t)i * f->n + i) * width, f->more + (int64_t)i * width,
                 false);
    cbx_dense_backward(&net->node, theta, f->n, f->X, f->own, f->more, NULL, grad);
    cbx_dense_backward(&net->pair, theta, f->pairs, f->input, f->first, f->dU, NULL, grad);
}
