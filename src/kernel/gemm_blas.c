/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c: dense products through CBLAS.
 *
 * The output is cut into blocks of rows whatever the number of threads, and each
 * block is one BLAS call: the same calls, hence the same bits, always. */
#include "blas.h"
#include "kernel.h"
#include "threads.h"

/* Gradients of weights (A transposed) have few, long rows: smaller blocks, or
 * there would be one. */
enum { ROWS = 128, ROWS_TRANSPOSED = 64 };

static void clear(int64_t count, float *C)
{
    for (int64_t i = 0; i < count; i++)
        C[i] = 0;
}

/* OpenBLAS multiplies small matrices without copying them first, which for thin ones
 * takes longer than the product. Small is up to a million multiplications, and for A B'
 * an output of 1,200 values; so a product is cut into parts that just are. */
enum { SMALL = 1000000, SMALL_TRANSPOSED = 1200 };

/* The size of the parts of `whole`, each being a multiple of `unit`, that make `cost`
 * at most `most`; whole where that is impossible. */
static int32_t part_of(int32_t whole, double cost, double most, int32_t unit)
{
    if (cost <= most)
        return whole;
    int32_t part = (int32_t)(whole * most / cost) / unit * unit;
    return part > 0 ? part : whole;
}

/* A B: in blocks of rows, or, where that leaves hardly any, along k. */
static void block_nn(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                     bool add)
{
    double  cost = (double)m * n * k;
    int32_t rows = part_of(m, cost, SMALL, 16), part = k;
    if (rows == m)
        part = part_of(k, cost, SMALL, 64);
    for (int32_t i = 0; i < m; i += rows)
        for (int32_t at = 0; at < k; at += part)
            cbx_sgemm(CblasNoTrans, CblasNoTrans, m - i < rows ? m - i : rows, n,
                      k - at < part ? k - at : part, A + (int64_t)i * k + at, k,
                      B + (int64_t)at * n, n, add || at, C + (int64_t)i * n, n);
}

/* A B': along the rows of B. */
static void block_nt(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                     bool add)
{
    int32_t part = part_of(n, (double)m * n, SMALL_TRANSPOSED, 8);
    for (int32_t at = 0; at < n; at += part)
        cbx_sgemm(CblasNoTrans, CblasTrans, m, n - at < part ? n - at : part, k, A, k,
                  B + (int64_t)at * k, k, add, C + at, n);
}

static void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int32_t m, int32_t n, int32_t k,
                 const float *A, const float *B, float *C, bool add, int threads)
{
    if (m <= 0 || n <= 0)
        return;
    if (k <= 0) {
        if (!add)
            clear((int64_t)m * n, C);
        return;
    }
    int32_t step = ta == CblasNoTrans ? ROWS : ROWS_TRANSPOSED;
    int     team = m > step ? threads : 1; /* one block is one thread's */
    CBX_PARALLEL_FOR(team, (double)m * n * k, at, m, step, {
        int32_t rows = m - (int32_t)at < step ? m - (int32_t)at : step;
        if (ta != CblasNoTrans)
            cbx_sgemm(ta, tb, rows, n, k, A + at, m, B, n, add, C + at * n, n);
        else if (tb == CblasNoTrans)
            block_nn(rows, n, k, A + at * k, B, C + at * n, add);
        else
            block_nt(rows, n, k, A + at * k, B, C + at * n, add);
    });
}

void cbx_gemm_nn(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads)
{
    gemm(CblasNoTrans, CblasNoTrans, m, n, k, A, B, C, add, threads);
}

void cbx_gemm_nt(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads)
{
    gemm(CblasNoTrans, CblasTrans, m, n, k, A, B, C, add, threads);
}

void cbx_gemm_tn(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads)
{
    gemm(CblasTrans, CblasNoTrans, m, n, k, A, B, C, add, threads);
}

void cbx_dgemm(bool transpose_a, bool transpose_b, int32_t m, int32_t n, int32_t k, const double *A,
               const double *B, double *C, bool add)
{
    if (m <= 0 || n <= 0)
        return;
    if (k <= 0) {
        for (int64_t i = 0; i < (int64_t)m * n && !add; i++)
            C[i] = 0;
        return;
    }
    cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1.0, A, transpose_a ? m : k, B,
                transpose_b ? k : n, add ? 1.0 : 0.0, C, n);
}
