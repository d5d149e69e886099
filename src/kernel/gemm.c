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
enum { ROWS = 128, ROWS_TRANSPOSED = 64 };

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
    int     lda = ta == CblasNoTrans ? k : m, ldb = tb == CblasNoTrans ? n : k;
    CBX_PARALLEL_FOR(threads, blocks > 1 ? (double)m * n * k : 0)
    for (int32_t b = 0; b < blocks; b++) {
        int32_t      at = b * step, rows = m - at < step ? m - at : step;
        const float *a = ta == CblasNoTrans ? A + (int64_t)at * k : A + at;
        cblas_sgemm(CblasRowMajor, ta, tb, rows, n, k, 1.0f, a, lda, B, ldb, add ? 1.0f : 0.0f,
                    C + (int64_t)at * n, n);
    }
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
