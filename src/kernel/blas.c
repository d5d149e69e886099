/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c: see blas.h. */
#include "blas.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "error.h"

#if defined(__GNUC__) && defined(__ELF__)
/* Present when the BLAS is OpenBLAS; others have no threads or their own rules. */
extern int  openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int) __attribute__((weak));

static bool is_openblas(void)
{
    return openblas_get_num_threads && openblas_set_num_threads;
}

static void leave_threads(void)
{
    if (is_openblas() && openblas_get_num_threads() > 1)
        openblas_set_num_threads(1);
}
#else
static bool is_openblas(void)
{
    return false;
}

static void leave_threads(void)
{
}
#endif

/* ---- memory. OpenBLAS takes a buffer for every product that runs at the same time, keeps it
 * for later ones, and where it gets none asks again for ever. So where memory is limited the
 * first buffer is taken while there is room for it, and products take turns with it. */

static atomic_bool in_turns;

static bool is_limited(void)
{
    struct rlimit space, data;
    return !getrlimit(RLIMIT_AS, &space) && !getrlimit(RLIMIT_DATA, &data) &&
           (space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

/* A buffer of OpenBLAS's, 128 MiB on today's machines, and some more. */
static const size_t ROOM = (size_t)160 << 20;

static bool has_room(void)
{
    void *probe = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED)
        return false;
    (void)munmap(probe, ROOM);
    return true;
}

/* By a product that is large enough for one. */
static bool take_buffer(void)
{
    enum { N = 192 };
    float *zeros = calloc((size_t)3 * N * N, sizeof *zeros);
    bool   taken = zeros && has_room();
    if (taken)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, N, N, N, 1.0f, zeros, N,
                    zeros + (size_t)N * N, N, 0.0f, zeros + (size_t)2 * N * N, N);
    free(zeros);
    return taken;
}

cbx_status cbx_blas_begin(cbx_error *err)
{
    leave_threads();
    if (in_turns || !is_openblas() || !is_limited())
        return CBX_OK;
#pragma omp critical(cbx_blas)
    if (!in_turns)
        in_turns = take_buffer();
    return in_turns
               ? CBX_OK
               : cbx_fail(err, CBX_NO_MEMORY,
                          "out of memory: it is limited, as by 'ulimit -v', and OpenBLAS needs "
                          "%zu MiB that are not there",
                          ROOM >> 20);
}

void cbx_sgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int32_t m, int32_t n, int32_t k,
               const float *A, int32_t lda, const float *B, int32_t ldb, bool add, float *C,
               int32_t ldc)
{
    if (!in_turns) {
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, A, lda, B, ldb, add ? 1.0f : 0.0f, C,
                    ldc);
        return;
    }
#pragma omp critical(cbx_blas)
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, A, lda, B, ldb, add ? 1.0f : 0.0f, C, ldc);
}
