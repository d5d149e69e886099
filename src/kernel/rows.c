/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c: passes over rows that round but once an entry. */
#include "kernel.h"

#include <string.h>

#include "rng.h"
#include "threads.h"

enum { BLOCK = 8192 }; /* floats a thread takes at a time */

CBX_HOT
static void add_bias(int32_t rows, int32_t width, const float *restrict bias, float *restrict Y)
{
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < width; k++)
            Y[(int64_t)i * width + k] += bias[k];
}

void cbx_add_bias(int32_t rows, int32_t width, const float *bias, float *Y, int threads)
{
    int32_t step = BLOCK / (width > 0 ? width : 1) + 1;
    CBX_PARALLEL_FOR(threads, (double)rows * width * 4, at, rows, step,
                     add_bias(rows - (int32_t)at < step ? rows - (int32_t)at : step, width, bias,
                              Y + at * width));
}

CBX_HOT
static void column_sums(int32_t rows, int32_t width, int32_t begin, int32_t end,
                        const float *restrict Y, float *restrict sum)
{
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = begin; k < end; k++)
            sum[k] += Y[(int64_t)i * width + k];
}

void cbx_column_sums(int32_t rows, int32_t width, const float *Y, float *sum, int threads)
{
    enum { COLUMNS = 64 };
    CBX_PARALLEL_FOR(threads, (double)rows * width * 4, begin, width, COLUMNS, {
        int32_t end = width - (int32_t)begin < COLUMNS ? width : (int32_t)begin + COLUMNS;
        column_sums(rows, width, (int32_t)begin, end, Y, sum);
    });
}

CBX_HOT
static void add(int64_t count, const float *restrict x, float *restrict y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] += x[i];
}

void cbx_copy(int64_t count, const float *x, float *y, bool adds)
{
    if (adds)
        add(count, x, y);
    else if (count > 0)
        memcpy(y, x, (size_t)count * sizeof *y);
}

CBX_HOT
static void relu(int64_t count, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = y[i] <= 0 ? 0 : y[i]; /* NaN stays, or a wrong answer would look like one */
}

CBX_HOT
static void relu_backward(int64_t count, float scale, const float *restrict y, float *restrict g)
{
    for (int64_t i = 0; i < count; i++)
        g[i] = y[i] > 0 ? g[i] * scale : 0;
}

void cbx_relu(int64_t count, float *y, int threads)
{
    CBX_PARALLEL_FOR(threads, (double)count * 4, at, count, BLOCK,
                     relu(count - at < BLOCK ? count - at : BLOCK, y + at));
}

void cbx_relu_backward(int64_t count, float scale, const float *y, float *g, int threads)
{
    CBX_PARALLEL_FOR(threads, (double)count * 4, at, count, BLOCK,
                     relu_backward(count - at < BLOCK ? count - at : BLOCK, scale, y + at, g + at));
}

CBX_HOT
static void dropout_row(int32_t width, uint64_t base, uint32_t limit, float scale, float *y)
{
    /* Two entries a draw, from counters rather than a state: this vectorises. */
    for (int32_t k = 0; k < width; k++) {
        uint64_t draw = cbx_mix64(base + (uint64_t)(k >> 1) * 0x9e3779b97f4a7c15u);
        uint32_t half = (uint32_t)(k & 1 ? draw >> 32 : draw);
        y[k] = half < limit ? 0 : y[k] * scale;
    }
}

void cbx_dropout(int32_t rows, int32_t width, double rate, uint64_t stream, float *Y, int threads)
{
    if (rate <= 0)
        return;
    uint32_t limit = (uint32_t)(rate * 4294967296.0);
    float    scale = (float)(1 / (1 - rate));
    CBX_PARALLEL_FOR(threads, (double)rows * width * 8, i, rows, 1,
                     dropout_row(width, cbx_mix64(stream ^ ((uint64_t)i * 0xd1b54a32d192ed03u + 1)),
                                 limit, scale, Y + i * width));
}

void cbx_scale(int64_t count, float factor, float *v)
{
    for (int64_t i = 0; i < count; i++)
        v[i] *= factor;
}
