/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h: what kernels that gather rows are made of. The row loops are functions apart, a chunk
 * at a time, because run-time instruction-set selection and OpenMP's outlining do not mix. */
#ifndef CBX_GATHER_H
#define CBX_GATHER_H

#include "kernel.h"
#include "threads.h"

enum { CHUNK = 64 }; /* rows a thread takes at a time */

/* `body` sees rows begin .. end - 1. */
#define FOR_CHUNKS(rows, work, threads, body)                                              \
    CBX_PARALLEL_FOR(threads, work, at_, rows, CHUNK, {                                    \
        int32_t begin = (int32_t)at_, end = (rows)-begin < CHUNK ? (rows) : begin + CHUNK; \
        body;                                                                              \
    })

static inline void axpy(int32_t width, float a, const float *restrict x, float *restrict y)
{
    for (int32_t k = 0; k < width; k++)
        y[k] += a * x[k];
}

static inline float dot(int32_t width, const float *restrict a, const float *restrict b)
{
    /* Sixteen sums in a fixed order: the compiler may not reorder one. */
    float   lane[16] = {0};
    int32_t k = 0;
    for (; k + 16 <= width; k += 16)
        for (int32_t l = 0; l < 16; l++)
            lane[l] += a[k + l] * b[k + l];
    float sum = 0;
    for (; k < width; k++)
        sum += a[k] * b[k];
    for (int32_t l = 0; l < 8; l++)
        lane[l] += lane[l + 8];
    for (int32_t l = 0; l < 4; l++)
        lane[l] += lane[l + 4];
    return sum + ((lane[0] + lane[2]) + (lane[1] + lane[3]));
}

#endif
