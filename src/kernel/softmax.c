/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.c: from scores to log-probabilities, and back. */
#include "kernel.h"

#include <float.h>

#include "functions.h"
#include "threads.h"

static void log_softmax_row(int32_t width, float *y)
{
    float top = y[0];
    for (int32_t k = 1; k < width; k++)
        top = y[k] > top ? y[k] : top;
    double sum = 0;
    for (int32_t k = 0; k < width; k++)
        sum += CBX_EXP((double)y[k] - top);
    double shift = CBX_LOG(sum);
    /* log sum >= 0, so the best class's value may only be -0 or less. What is less than
     * any float is the least float; after that a row is finite, or NaN all over. */
    for (int32_t k = 0; k < width; k++) {
        double value = (double)y[k] - top - shift;
        y[k] = value < -(double)FLT_MAX ? -FLT_MAX : (float)value;
    }
}

void cbx_log_softmax(int32_t rows, int32_t width, float *Y, int threads)
{
    if (width <= 0)
        return;
    CBX_PARALLEL_FOR(threads, (double)rows * width * 16, i, rows, 1,
                     log_softmax_row(width, Y + i * width));
}

static void log_softmax_backward_row(int32_t width, const float *p, float *d)
{
    double sum = 0;
    for (int32_t k = 0; k < width; k++)
        sum += d[k];
    if (sum == 0)
        return;
    for (int32_t k = 0; k < width; k++)
        d[k] = (float)(d[k] - CBX_EXP((double)p[k]) * sum);
}

void cbx_log_softmax_backward(int32_t rows, int32_t width, const float *logp, float *g, int threads)
{
    CBX_PARALLEL_FOR(threads, (double)rows * width * 16, i, rows, 1,
                     log_softmax_backward_row(width, logp + i * width, g + i * width));
}
