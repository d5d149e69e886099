/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of single precision against the C library's of double precision. */
#include "real_math.h"

#include "test.h"

/* The largest difference over a range, against what is larger of 1 (or `floor`) and the value. */
static double worst(float (*f)(float), double (*g)(double), double from, double to, double floor)
{
    double most = 0;
    for (int i = 0; i <= 200000; i++) {
        float  x = (float)(from + (to - from) * i / 200000);
        double expected = g((double)x), d = fabs((double)f(x) - expected);
        d /= fmax(floor, fabs(expected));
        most = d <= most ? most : d;
    }
    return most;
}

TEST(exp_is_right_to_three_units_in_the_last_place)
{
    CHECK_NEAR(worst(cbx_expf, exp, -86, 88, 0), 0, 3 * 6e-8);
    CHECK(cbx_expf(0) == 1);
    CHECK(cbx_expf(-INFINITY) == 0);
    CHECK(cbx_expf(-200) == 0);
    CHECK(isinf(cbx_expf(200)));
    CHECK(isinf(cbx_expf(INFINITY)));
    CHECK(isnan(cbx_expf(NAN)));
}

TEST(expm1_keeps_small_values)
{
    CHECK_NEAR(worst(cbx_expm1f, expm1, -1, 1, 0.01), 0, 3e-6);
    CHECK_NEAR(worst(cbx_expm1f, expm1, -0.09, 0.09, 0), 0, 3e-7);
    CHECK(isnan(cbx_expm1f(NAN)));
}

TEST(tanh_and_erf_are_right_to_two_in_ten_million)
{
    CHECK_NEAR(worst(cbx_tanhf, tanh, -20, 20, 1), 0, 2e-7);
    CHECK_NEAR(worst(cbx_erff, erf, -6, 6, 1), 0, 2e-7);
    CHECK(cbx_tanhf(INFINITY) == 1 && cbx_tanhf(-INFINITY) == -1);
    CHECK(cbx_erff(INFINITY) == 1 && cbx_erff(-INFINITY) == -1);
    CHECK(isnan(cbx_tanhf(NAN)) && isnan(cbx_erff(NAN)));
}
