/* SPDX-License-Identifier: Apache-2.0 */
/* The bound on singular values: never below the true one, and not far above it. */
#include <math.h>

#include "../core/bag.h"
#include "kernel.h"
#include "test.h"
#include "reference.h"

/* The largest singular value by power iteration, in double, from below. */
static double largest(int32_t rows, int32_t cols, const float *W, bag *b)
{
    double *v = TAKE(b, double, cols), *u = TAKE(b, double, rows), size = 0;
    for (int32_t j = 0; j < cols; j++)
        v[j] = 1 + 0.01 * j;
    for (int step = 0; step < 2000; step++) {
        double sum = 0;
        for (int32_t i = 0; i < rows; i++) {
            u[i] = 0;
            for (int32_t j = 0; j < cols; j++)
                u[i] += W[(int64_t)i * cols + j] * v[j];
        }
        for (int32_t j = 0; j < cols; j++) {
            v[j] = 0;
            for (int32_t i = 0; i < rows; i++)
                v[j] += W[(int64_t)i * cols + j] * u[i];
            sum += v[j] * v[j];
        }
        size = sqrt(sqrt(sum));
        for (int32_t j = 0; j < cols && sum > 0; j++)
            v[j] /= sqrt(sum);
    }
    return size;
}

static void check(int32_t rows, int32_t cols, double skew, double most)
{
    bag     b = {0};
    cbx_rng rng = cbx_rng_stream(1, (uint64_t)rows, (uint64_t)cols, 0);
    float  *W = TAKE(&b, float, (int64_t)rows *cols);
    float  *scratch = TAKE(&b, float, cbx_spectral_scratch(rows, cols));
    for (int64_t k = 0; k < (int64_t)rows * cols; k++)
        W[k] = draw(&rng, -1, 1) * (float)pow(skew, (double)(k % cols));
    double bound = cbx_spectral_bound(rows, cols, W, scratch), truth = largest(rows, cols, W, &b);
    CHECK(bound >= truth * (1 - 1e-6));
    CHECK(bound <= truth * most);
    bag_free(&b);
}

TEST(the_bound_is_above_the_largest_singular_value_and_near_it)
{
    const int32_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {5, 7}, {40, 12}, {12, 40}, {64, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (double skew = 1; skew > 0.5; skew -= 0.3)
            check(sizes[i][0], sizes[i][1], skew, 1.12);
}

TEST(wide_matrices_have_a_bound_too)
{
    check(CBX_SPECTRAL_MOST + 1, CBX_SPECTRAL_MOST + 3, 1, 1e6);
}

TEST(odd_matrices)
{
    float W[6] = {0}, scratch[64];
    CHECK_NEAR(cbx_spectral_bound(2, 3, W, scratch), 0, 0);
    W[1] = 3e30f; /* squares overflow */
    CHECK(cbx_spectral_bound(2, 3, W, scratch) == INFINITY);
    W[1] = NAN;
    CHECK(!(cbx_spectral_bound(2, 3, W, scratch) < 1e30f));
    const float turned[4] = {0.6f, -0.8f, 0.8f, 0.6f};
    CHECK_NEAR(cbx_spectral_bound(2, 2, turned, scratch), 1, 0.03);
}
