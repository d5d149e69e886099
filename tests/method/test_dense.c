/* SPDX-License-Identifier: Apache-2.0 */
/* Dense layers and their steps: by hand, and against differences in double precision. */
#include "dense.h"

#include <math.h>
#include <string.h>

#include "test.h"

TEST(parameters_of_layers_lie_one_behind_the_other)
{
    int64_t   size = 0;
    cbx_dense a = cbx_dense_place(3, 4, true, &size), b = cbx_dense_place(4, 2, false, &size);
    CHECK_INT(a.at, 0);
    CHECK_INT(b.at, 16);
    CHECK_INT(size, 26);
}

TEST(a_layer_multiplies_adds_and_cuts_what_is_negative)
{
    int64_t     size = 0;
    cbx_dense   layer = cbx_dense_place(2, 2, true, &size);
    const float theta[] = {1, 2, 3, -4, 0.5f, 1}, X[] = {1, 1, 2, -1};
    float       Y[4];
    cbx_dense_forward(&layer, theta, 2, X, Y);
    CHECK(Y[0] == 4.5f && Y[1] == 0 && Y[2] == 0 && Y[3] == 9);
}

TEST(fresh_parameters_are_within_bounds_and_a_seed_s_own)
{
    int64_t   size = 0;
    cbx_dense layer = cbx_dense_place(16, 5, true, &size);
    float     a[85], b[85], largest = 0;
    cbx_dense_draw(&layer, 1, 0, a);
    cbx_dense_draw(&layer, 1, 0, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    cbx_dense_draw(&layer, 2, 0, b);
    CHECK(memcmp(a, b, sizeof a) != 0);
    for (int k = 0; k < 85; k++)
        largest = fmaxf(largest, fabsf(a[k]));
    CHECK(largest <= 0.25f && largest > 0.2f);
}

/* ---- gradients */

enum { ROWS = 3, IN = 4, MIDDLE = 5 };

/* The sum of a network's outputs, each times a number of its own, in double precision. */
static double plain(const cbx_dense *first, const cbx_dense *second, const float *theta,
                    const float *X)
{
    double sum = 0;
    for (int r = 0; r < ROWS; r++) {
        double out = (double)theta[second->at + MIDDLE];
        for (int j = 0; j < MIDDLE; j++) {
            double h = (double)theta[first->at + IN * MIDDLE + j];
            for (int i = 0; i < IN; i++)
                h += (double)X[r * IN + i] * (double)theta[first->at + i * MIDDLE + j];
            out += fmax(h, 0) * (double)theta[second->at + j];
        }
        sum += (r + 1) * out;
    }
    return sum;
}

TEST(gradients_are_those_of_differences)
{
    int64_t   size = 0;
    cbx_dense first = cbx_dense_place(IN, MIDDLE, true, &size);
    cbx_dense second = cbx_dense_place(MIDDLE, 1, false, &size);
    float     theta[31], grad[31] = {0}, X[ROWS * IN], dX[ROWS * IN], H[ROWS * MIDDLE], Y[ROWS];
    float     dH[ROWS * MIDDLE], dY[ROWS] = {1, 2, 3};
    CHECK_INT(size, 31);
    cbx_dense_draw(&first, 3, 0, theta);
    cbx_dense_draw(&second, 3, 0, theta);
    for (int k = 0; k < ROWS * IN; k++)
        X[k] = sinf((float)k);
    cbx_dense_forward(&first, theta, ROWS, X, H);
    cbx_dense_forward(&second, theta, ROWS, H, Y);
    cbx_dense_backward(&second, theta, ROWS, H, Y, dY, dH, grad);
    cbx_dense_backward(&first, theta, ROWS, X, H, dH, dX, grad);
    const float step = 0x1p-12f;
    for (int k = 0; k < 31 + ROWS * IN; k++) {
        float *at = k < 31 ? &theta[k] : &X[k - 31], was = *at;
        *at = was + step;
        double up = plain(&first, &second, theta, X);
        *at = was - step;
        double down = plain(&first, &second, theta, X);
        *at = was;
        CHECK_NEAR(k < 31 ? grad[k] : dX[k - 31], (up - down) / (2 * (double)step), 1e-3);
    }
}

/* ---- steps */

TEST(a_step_goes_down_the_mean_gradient_as_adam_does)
{
    cbx_arena arena = {0};
    cbx_fit   fit;
    float     theta[] = {1, 1, 1};
    CHECK_INT(cbx_fit_init(&fit, theta, 3, 0.1, &arena), 0);
    fit.grad[0] = 8;
    fit.grad[1] = -8;
    cbx_fit_step(&fit, 4); /* the first step is as long as the rate, whatever the gradient */
    CHECK_NEAR(theta[0], 0.9, 1e-6);
    CHECK_NEAR(theta[1], 1.1, 1e-6);
    CHECK(theta[2] == 1 && fit.grad[0] == 0);
    fit.grad[0] = 4; /* mean 1: m = 0.9 * 0.2 + 0.1, v = 0.999 * 0.004 + 0.001 */
    cbx_fit_step(&fit, 4);
    CHECK_NEAR(theta[0], 0.9 - 0.1 * (0.28 / 0.19) / sqrt(0.004996 / 0.001999), 1e-6);
    cbx_arena_free(&arena);
}

TEST(a_gradient_that_is_not_finite_makes_no_step)
{
    cbx_arena arena = {0};
    cbx_fit   fit;
    float     theta[] = {1, 1};
    CHECK_INT(cbx_fit_init(&fit, theta, 2, 0.1, &arena), 0);
    fit.grad[0] = NAN;
    fit.grad[1] = 1;
    cbx_fit_step(&fit, 1);
    CHECK(theta[0] == 1 && theta[1] == 1 && fit.grad[0] == 0);
    cbx_fit_step(&fit, 0); /* of no rows */
    CHECK(theta[0] == 1 && theta[1] == 1);
    cbx_arena_free(&arena);
}
