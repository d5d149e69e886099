/* SPDX-License-Identifier: Apache-2.0 */
/* Dense products against three nested loops in double. */
#include "blas.h"
#include "kernel.h"

#include <math.h>

#include "../core/bag.h"
#include "test.h"
#include "reference.h"

typedef enum { NN, NT, TN } shape;

static void product(shape s, int32_t m, int32_t n, int32_t k, const float *A, const float *B,
                    float *C, bool add, int threads)
{
    switch (s) {
    case NN:
        cbx_gemm_nn(m, n, k, A, B, C, add, threads);
        break;
    case NT:
        cbx_gemm_nt(m, n, k, A, B, C, add, threads);
        break;
    case TN:
        cbx_gemm_tn(m, n, k, A, B, C, add, threads);
        break;
    }
}

static void reference(shape s, int32_t m, int32_t n, int32_t k, const float *A, const float *B,
                      double *C)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t l = 0; l < k; l++) {
                double a = s == TN ? A[(int64_t)l * m + i] : A[(int64_t)i * k + l];
                double b = s == NT ? B[(int64_t)j * k + l] : B[(int64_t)l * n + j];
                C[(int64_t)i * n + j] += a * b;
            }
}

static void check_size(shape s, int32_t m, int32_t n, int32_t k, bool add)
{
    bag     b = {0};
    cbx_rng rng = cbx_rng_stream((uint64_t)s, (uint64_t)m, (uint64_t)n, (uint64_t)k);
    int64_t size = (int64_t)m * n;
    float  *A = draws(&b, &rng, (int64_t)m * k), *B = draws(&b, &rng, (int64_t)k * n);
    /* What is overwritten must not be read: NaN would show. */
    float  *C = add ? draws(&b, &rng, size) : filled(&b, size, NAN);
    double *expected = TAKE(&b, double, size);
    for (int64_t i = 0; i < size; i++)
        expected[i] = add ? (double)C[i] : 0;
    reference(s, m, n, k, A, B, expected);
    product(s, m, n, k, A, B, C, add, 2);
    /* A sum of k products below 1 grows like sqrt(k) and is rounded k times. */
    if (!CHECK(worst(size, C, expected) < 2e-7 * (50 + k)))
        printf("  (shape %d, %d x %d x %d, add %d)\n", s, m, n, k, add);
    bag_free(&b);
}

static void check_all_sizes(shape s)
{
    /* 128 rows are one block, 64 where A is transposed: sizes around them, around
     * 16, and none. The last are large enough for a block to be cut again, by rows or,
     * with three of them, along k; A B' is cut along n from 1,200 values on. */
    static const int32_t sizes[][3] = {
        {0, 3, 2},      {3, 0, 2},      {3, 2, 0},      {0, 0, 0},      {1, 1, 1},
        {1, 9, 4},      {2, 1, 7},      {15, 16, 17},   {17, 33, 16},   {63, 3, 5},
        {64, 5, 3},     {65, 3, 5},     {127, 4, 19},   {128, 19, 4},   {129, 3, 5},
        {300, 30, 1},   {400, 16, 32},  {5, 300, 20},   {100, 40, 700}, {128, 100, 100},
        {128, 200, 99}, {3, 140, 2500}, {140, 70, 300},
    };
    CHECK_INT(cbx_blas_begin(NULL), CBX_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int add = 0; add < 2; add++)
            check_size(s, sizes[i][0], sizes[i][1], sizes[i][2], add);
}

TEST(gemm_nn_multiplies_row_by_column)
{
    /* {1 2; 3 4} {5 6; 7 8} = {1*5+2*7, 1*6+2*8; 3*5+4*7, 3*6+4*8} */
    const float A[] = {1, 2, 3, 4}, B[] = {5, 6, 7, 8};
    float       C[4];
    cbx_gemm_nn(2, 2, 2, A, B, C, false, 1);
    CHECK(C[0] == 19 && C[1] == 22 && C[2] == 43 && C[3] == 50);
}

TEST(gemm_nn_agrees_with_its_reference)
{
    check_all_sizes(NN);
}

TEST(gemm_nt_agrees_with_its_reference)
{
    check_all_sizes(NT);
}

TEST(gemm_tn_agrees_with_its_reference)
{
    check_all_sizes(TN);
}

TEST(a_product_over_nothing_is_zero_or_adds_nothing)
{
    for (shape s = NN; s <= TN; s++) {
        float C[6] = {1, 2, 3, 4, 5, 6}, none = 0;
        product(s, 2, 3, 0, &none, &none, C, true, 1);
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(C[i], i + 1, 0);
        product(s, 2, 3, 0, &none, &none, C, false, 1);
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(C[i], 0, 0);
    }
}

TEST(gemm_gives_the_same_bits_at_any_number_of_threads)
{
    /* 1100 rows are many blocks, the last not full, and each is cut along k. */
    enum { M = 1100, N = 40, K = 250 };
    CHECK((double)M * N * K > WORTH_A_TEAM);
    CHECK_INT(cbx_blas_begin(NULL), CBX_OK);
    for (shape s = NN; s <= TN; s++) {
        bag     b = {0};
        cbx_rng rng = cbx_rng_stream(9, s, 0, 0);
        float  *A = draws(&b, &rng, M * K), *B = draws(&b, &rng, K * N);
        float  *start = draws(&b, &rng, M * N), *one = copied(&b, M * N, start);
        product(s, M, N, K, A, B, one, true, 1);
        for (int threads = 2; threads <= 4; threads += 2) {
            float *many = copied(&b, M * N, start);
            product(s, M, N, K, A, B, many, true, threads);
            CHECK(same_bits(M * N, one, many));
        }
        bag_free(&b);
    }
}
