/* SPDX-License-Identifier: Apache-2.0 */
/* In the fixed order kernels give, bit for bit, what their definitions give in single precision,
 * one rounding after the other. The other tests of this room run in that order, too
 * (CBX_TEST_ORDER). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "order.h"
#include "test.h"

static float *numbers(int64_t count, uint32_t seed)
{
    float *v = malloc((size_t)(count > 0 ? count : 1) * sizeof *v);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (float)((int32_t)seed >> 8) / 1e6f;
    }
    return v;
}

static bool same(int64_t count, const float *a, const float *b)
{
    return !memcmp(a, b, (size_t)count * sizeof *a);
}

/* C = A B, or C += A B, from the first product to the last. */
static void defined(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                    bool add)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) {
            float sum = add ? C[i * n + j] : 0;
            for (int32_t p = 0; p < k; p++)
                sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
}

static float *transposed(int32_t rows, int32_t cols, const float *A)
{
    float *T = malloc((size_t)rows * (size_t)cols * sizeof *T);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < cols; j++)
            T[j * rows + i] = A[i * cols + j];
    return T;
}

static void check_product(int32_t m, int32_t n, int32_t k, bool add, int threads)
{
    float *A = numbers((int64_t)m * k, 1), *B = numbers((int64_t)k * n, 2);
    float *At = transposed(m, k, A), *Bt = transposed(k, n, B);
    float *expected = numbers((int64_t)m * n, 3), *C = numbers((int64_t)m * n, 3);
    defined(m, n, k, A, B, expected, add);
    cbx_gemm_nn(m, n, k, A, B, C, add, threads);
    CHECK(same((int64_t)m * n, C, expected));
    free(C);
    C = numbers((int64_t)m * n, 3);
    cbx_gemm_nt(m, n, k, A, Bt, C, add, threads);
    CHECK(same((int64_t)m * n, C, expected));
    free(C);
    C = numbers((int64_t)m * n, 3);
    cbx_gemm_tn(m, n, k, At, B, C, add, threads);
    CHECK(same((int64_t)m * n, C, expected));
    free(A), free(B), free(At), free(Bt), free(expected), free(C);
}

TEST(products_are_sums_from_first_to_last_whatever_the_shape)
{
    static const int32_t sizes[] = {1, 2, 3, 4, 5, 7, 31, 32, 33, 64, 65};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    bool first = cbx_order_fix(true);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            check_product(sizes[i], sizes[j], 19, false, 1);
            check_product(sizes[i], sizes[j], 130, true, 1); /* more than is copied at a time */
        }
    check_product(300, 70, 129, false, 3);
    check_product(300, 70, 129, true, 1);
    check_product(9, 9, 1, false, 1);
    (void)cbx_order_fix(first);
}

TEST(a_product_of_nothing_is_zero_or_what_was_there)
{
    bool  first = cbx_order_fix(true);
    float C[6] = {1, 2, 3, 4, 5, 6}, nothing = 0;
    cbx_gemm_nn(2, 3, 0, &nothing, &nothing, C, true, 1);
    CHECK(C[0] == 1 && C[5] == 6);
    cbx_gemm_nn(2, 3, 0, &nothing, &nothing, C, false, 1);
    CHECK(C[0] == 0 && C[5] == 0);
    (void)cbx_order_fix(first);
}

TEST(rows_of_features_are_added_one_after_the_other_and_nothing_is_fused)
{
    enum { WIDTH = 37, ENTRIES = 5 };
    static const int32_t column[ENTRIES] = {0, 2, 3, 5, 8};
    static const int64_t offset[] = {0, ENTRIES};
    float               *value = numbers(ENTRIES, 5), *W = numbers(9 * WIDTH, 6);
    float                Y[WIDTH], expected[WIDTH] = {0};
    bool                 first = cbx_order_fix(true);
    cbx_csr              X = {offset, column, value};
    for (int e = 0; e < ENTRIES; e++)
        for (int k = 0; k < WIDTH; k++) {
            volatile float product = value[e] * W[column[e] * WIDTH + k];
            expected[k] += product;
        }
    cbx_csr_times(&X, 1, WIDTH, W, Y, false, 1);
    CHECK(same(WIDTH, Y, expected));
    (void)cbx_order_fix(first);
    free(value), free(W);
}

/* Every sixteenth term, and then halves: vectors of 4, 8 and 16 do that alike. */
TEST(a_length_is_sixteen_sums_put_together)
{
    bool first = cbx_order_fix(true);
    for (int32_t count = 0; count < 70; count++) {
        float *y = numbers(count, 9), lane[16] = {0};
        for (int32_t k = 0; k < count; k++) {
            volatile float square = y[k] * y[k];
            lane[k % 16] += square;
        }
        for (int width = 8; width > 0; width /= 2)
            for (int l = 0; l < width; l++)
                lane[l] += lane[l + width];
        CHECK(cbx_length(count, y) == sqrtf(lane[0])); /* roots are rounded alike everywhere */
        free(y);
    }
    (void)cbx_order_fix(first);
}

TEST(the_usual_order_comes_back)
{
    enum { SIZE = 48 };
    float *A = numbers(SIZE * SIZE, 1), *B = numbers(SIZE * SIZE, 2);
    float  before[SIZE * SIZE], after[SIZE * SIZE];
    bool   first = cbx_order_fix(false);
    cbx_gemm_nn(SIZE, SIZE, SIZE, A, B, before, false, 1);
    (void)cbx_order_fix(true);
    cbx_gemm_nn(SIZE, SIZE, SIZE, A, B, after, false, 1);
    CHECK(test_difference(SIZE * SIZE, after, before) < 1e-4);
    (void)cbx_order_fix(false);
    cbx_gemm_nn(SIZE, SIZE, SIZE, A, B, after, false, 1);
    CHECK(same(SIZE * SIZE, after, before));
    (void)cbx_order_fix(first);
    free(A), free(B);
}
