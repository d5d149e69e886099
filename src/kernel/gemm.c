/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c: dense products through CBLAS.
 *
 * The output is cut into blocks of rows whatever the number of threads, and each
 * block is one BLAS call: the same calls, hence the same bits, always. */
#include "kernel.h"

#include <cblas.h>

#include "threads.h"

/* Gradients of weights (A transposed) have few, long rows: smaller blocks, or
 * there would be one. */
enum { ROWS = 128, ROWS_TRANSPOSED = 64, SMALL = 1000000 };

#if defined(__GNUC__) && defined(__ELF__)
/* Present when the BLAS is OpenBLAS; others have no threads or their own rules. */
extern int  openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int) __attribute__((weak));

void cbx_blas_single_threaded(void)
{
    if (openblas_get_num_threads && openblas_set_num_threads && openblas_get_num_threads() > 1)
        openblas_set_num_threads(1);
}
#else
void cbx_blas_single_threaded(void)
{
}
#endif

static void clear(int64_t count, float *C)
{
    for (int64_t i = 0; i < count; i++)
        C[i] = 0;
}

/* One block. OpenBLAS multiplies small matrices without copying them first, which
 * for thin ones takes longer than the product: so a product of few rows and many
 * columns of A is cut along k, each part just small enough (a million
 * multiplications is its limit). */
static void block(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int32_t m, int32_t n, int32_t k,
                  const float *A, int32_t lda, const float *B, float *C, bool add)
{
    int32_t ldb = tb == CblasNoTrans ? n : k, part = k;
    if (ta == CblasNoTrans && tb == CblasNoTrans && (double)m * n * k > SMALL)
        part = (int32_t)(SMALL / ((double)m * n)) / 64 * 64;
    if (part < 64)
        part = k;
    for (int32_t at = 0; at < k; at += part)
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k - at < part ? k - at : part, 1.0f, A + at, lda,
                    B + (int64_t)at * n, ldb, add || at ? 1.0f : 0.0f, C, n);
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
    int32_t step = ta == CblasNoTrans ? ROWS : ROWS_TRANSPOSED, blocks = (m + step - 1) / step;
    CBX_PARALLEL_FOR(threads, blocks > 1 ? (double)m * n * k : 0, at, m, step, {
        int32_t rows = m - (int32_t)at < step ? m - (int32_t)at : step;
        block(ta, tb, rows, n, k, ta == CblasNoTrans ? A + at * k : A + at,
              ta == CblasNoTrans ? k : m, B, C + at * n, add);
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
