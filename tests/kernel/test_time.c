/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels look at the clock: when time is up what is left of a long one is not computed. */
#include <math.h>

#include "../core/bag.h"
#include "deadline.h"
#include "kernel.h"
#include "test.h"

enum { N = 4096, WIDTH = 512, DEGREE = 32 };

typedef struct arrays {
    bag           bag;
    cbx_adjacency A;
    cbx_csr       sparse;
    const float  *X, *W;
    int64_t       size; /* of Y */
    float        *Y;
} arrays;

/* Node i has edges from the DEGREE nodes behind it, round the end. */
static arrays make_arrays(int64_t size)
{
    arrays   a = {.size = size};
    cbx_rng  rng = cbx_rng_stream(1, 2, 3, 4);
    int64_t  m = (int64_t)N * DEGREE;
    int64_t *offset = TAKE(&a.bag, int64_t, N + 1), *slot = TAKE(&a.bag, int64_t, m);
    int32_t *source = TAKE(&a.bag, int32_t, m), *column = TAKE(&a.bag, int32_t, m);
    int32_t *target = TAKE(&a.bag, int32_t, m);
    for (int32_t i = 0; i <= N; i++)
        offset[i] = (int64_t)i * DEGREE;
    for (int64_t e = 0; e < m; e++) {
        source[e] = (int32_t)((e / DEGREE + e % DEGREE + 1) % N);
        column[e] = (int32_t)(e % DEGREE);
        target[e] = 0;
        slot[e] = e;
    }
    float *value = draws(&a.bag, &rng, m);
    a.A = (cbx_adjacency){offset, source, value, NULL, offset, target, slot};
    a.sparse = (cbx_csr){offset, column, value};
    a.X = draws(&a.bag, &rng, (int64_t)N * WIDTH);
    a.W = draws(&a.bag, &rng, (int64_t)WIDTH * WIDTH);
    a.Y = filled(&a.bag, size, NAN);
    return a;
}

typedef void kernel(const arrays *a, int threads);

static void spmm(const arrays *a, int threads)
{
    cbx_spmm(&a->A, N, WIDTH, 1, a->X, a->Y, false, threads);
}
static void spmm_t(const arrays *a, int threads)
{
    cbx_spmm_t(&a->A, N, N, WIDTH, 1, a->X, a->Y, false, threads);
}
static void csr_times(const arrays *a, int threads)
{
    cbx_csr_times(&a->sparse, N, WIDTH, a->W, a->Y, false, threads);
}
static void gemm_nn(const arrays *a, int threads)
{
    cbx_gemm_nn(N, WIDTH, WIDTH, a->X, a->W, a->Y, false, threads);
}
static void gemm_nt(const arrays *a, int threads)
{
    cbx_gemm_nt(N, WIDTH, WIDTH, a->X, a->W, a->Y, false, threads);
}
static void gemm_tn(const arrays *a, int threads)
{
    cbx_gemm_tn(WIDTH, WIDTH, N, a->X, a->X, a->Y, false, threads);
}

/* How much of Y is written when time is up at the given reading of the clock; 0: never. */
static int64_t written(kernel *k, int64_t size, int threads, long reading)
{
    arrays       a = make_arrays(size);
    cbx_deadline d;
    int64_t      count = 0;
    test_clock_stop(reading, 9);
    cbx_deadline_begin(&d, 1, NULL, NULL);
    k(&a, threads);
    CHECK(cbx_time_is_up() == (reading > 0));
    cbx_deadline_end(&d);
    test_clock_run();
    for (int64_t i = 0; i < size; i++)
        count += !isnan(a.Y[i]);
    bag_free(&a.bag);
    return count;
}

TEST(time_that_is_up_ends_every_product)
{
    static const struct {
        kernel *run;
        int64_t size;
    } all[] = {{spmm, N * WIDTH},    {spmm_t, N * WIDTH},  {csr_times, N * WIDTH},
               {gemm_nn, N * WIDTH}, {gemm_nt, N * WIDTH}, {gemm_tn, WIDTH * WIDTH}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_INT(written(all[i].run, all[i].size, 1, 0), all[i].size);
        /* The first reading is the beginning's. A few rows are computed between two. */
        int64_t none = written(all[i].run, all[i].size, 1, 2);
        int64_t some = written(all[i].run, all[i].size, 1, 4);
        CHECK(none < some && some < all[i].size / 2);
        for (int threads = 2; threads <= 3; threads++)
            CHECK(written(all[i].run, all[i].size, threads, 2) < all[i].size);
    }
}

TEST(what_time_did_not_end_is_as_without_it)
{
    arrays       a = make_arrays((int64_t)N * WIDTH), b = make_arrays((int64_t)N * WIDTH);
    cbx_deadline d;
    spmm(&a, 1);
    cbx_deadline_begin(&d, 0, NULL, NULL);
    spmm(&b, 2);
    cbx_deadline_end(&d);
    CHECK(!memcmp(a.Y, b.Y, sizeof *a.Y * N * WIDTH));
    bag_free(&a.bag);
    bag_free(&b.bag);
}
