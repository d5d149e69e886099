/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c: products with the adjacency and with sparse features.
 *
 * All are gathers: a row of the output is a weighted sum of rows of the input,
 * so rows are independent and every thread count gives the same bits. */
#include "kernel.h"

#include <string.h>

#include "gather.h"

CBX_HOT
static void spmm_rows(const cbx_adjacency *A, int32_t begin, int32_t end, int32_t width,
                      float scale, const float *X, float *Y, bool add)
{
    for (int32_t i = begin; i < end; i++) {
        float *y = Y + (int64_t)i * width;
        if (!add)
            memset(y, 0, (size_t)width * sizeof *y);
        if (A->diag)
            axpy(width, scale * A->diag[i], X + (int64_t)i * width, y);
        for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
            axpy(width, scale * A->value[e], X + (int64_t)A->source[e] * width, y);
    }
}

void cbx_spmm(const cbx_adjacency *A, int32_t rows, int32_t width, float scale, const float *X,
              float *Y, bool add, int threads)
{
    double work = rows ? (double)(A->offset[rows] + rows) * width : 0;
    FOR_CHUNKS(rows, work, threads, spmm_rows(A, begin, end, width, scale, X, Y, add));
}

CBX_HOT
static void spmm_t_rows(const cbx_adjacency *A, int32_t rows_out, int32_t begin, int32_t end,
                        int32_t width, float scale, const float *X, float *Y, bool add)
{
    for (int32_t j = begin; j < end; j++) {
        float *y = Y + (int64_t)j * width;
        if (!add)
            memset(y, 0, (size_t)width * sizeof *y);
        if (A->diag && j < rows_out)
            axpy(width, scale * A->diag[j], X + (int64_t)j * width, y);
        for (int64_t o = A->out_offset[j]; o < A->out_offset[j + 1]; o++) {
            int32_t i = A->out_target[o];
            if (i >= rows_out)
                break;
            axpy(width, scale * A->value[A->out_slot[o]], X + (int64_t)i * width, y);
        }
    }
}

void cbx_spmm_t(const cbx_adjacency *A, int32_t rows_out, int32_t rows_in, int32_t width,
                float scale, const float *X, float *Y, bool add, int threads)
{
    double work = rows_in ? (double)(A->out_offset[rows_in] + rows_in) * width : 0;
    FOR_CHUNKS(rows_in, work, threads,
               spmm_t_rows(A, rows_out, begin, end, width, scale, X, Y, add));
}

CBX_HOT
static void sddmm_rows(const cbx_adjacency *A, int32_t begin, int32_t end, int32_t width,
                       float scale, const float *G, const float *H, float *dvalue, float *ddiag)
{
    for (int32_t i = begin; i < end; i++) {
        const float *g = G + (int64_t)i * width;
        if (ddiag)
            ddiag[i] += scale * dot(width, g, H + (int64_t)i * width);
        for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
            dvalue[e] += scale * dot(width, g, H + (int64_t)A->source[e] * width);
    }
}

void cbx_sddmm(const cbx_adjacency *A, int32_t rows, int32_t width, float scale, const float *G,
               const float *H, float *dvalue, float *ddiag, int threads)
{
    double work = rows ? (double)(A->offset[rows] + rows) * width : 0;
    FOR_CHUNKS(rows, work, threads, sddmm_rows(A, begin, end, width, scale, G, H, dvalue, ddiag));
}

CBX_HOT
static void csr_rows(const cbx_csr *X, int32_t begin, int32_t end, int32_t width, const float *W,
                     float *Y, bool add)
{
    for (int32_t i = begin; i < end; i++) {
        float *y = Y + (int64_t)i * width;
        if (!add)
            memset(y, 0, (size_t)width * sizeof *y);
        for (int64_t e = X->offset[i]; e < X->offset[i + 1]; e++)
            axpy(width, X->value[e], W + (int64_t)X->column[e] * width, y);
    }
}

void cbx_csr_times(const cbx_csr *X, int32_t rows, int32_t width, const float *W, float *Y,
                   bool add, int threads)
{
    double work = rows ? (double)(X->offset[rows] + rows) * width : 0;
    FOR_CHUNKS(rows, work, threads, csr_rows(X, begin, end, width, W, Y, add));
}

CBX_HOT
static void rows_add_run(const cbx_change *changes, int64_t count, int32_t rows, int32_t width,
                         const float *W, float *Y)
{
    for (int64_t k = 0; k < count; k++)
        if (changes[k].row < rows)
            axpy(width, changes[k].delta, W + (int64_t)changes[k].column * width,
                 Y + (int64_t)changes[k].row * width);
}

void cbx_rows_add(const cbx_change *changes, int64_t count, int32_t rows, int32_t width,
                  const float *W, float *Y)
{
    rows_add_run(changes, count, rows, width, W, Y);
}
