/* SPDX-License-Identifier: Apache-2.0 */
/* The fixed order is a thread's own, and our elementary functions are right, to the last bit the
 * same everywhere. */
#include "order.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "test.h"
#include "threads.h"

TEST(an_order_is_put_back_by_whoever_fixed_it)
{
    bool first = cbx_order_fix(true);
    CHECK(cbx_order_is_fixed());
    CHECK(cbx_order_fix(false) == true);
    CHECK(!cbx_order_is_fixed());
    CHECK(cbx_order_fix(first) == false);
    CHECK(cbx_order_is_fixed() == first);
}

TEST(other_threads_do_not_see_it)
{
    int  seen = 0, others = 0;
    bool first = cbx_order_fix(true);
    (void)others;
#ifdef _OPENMP
#pragma omp parallel num_threads(4) reduction(+ : seen, others)
    if (cbx_thread_number() != 0) {
        others++;
        seen += cbx_order_is_fixed();
    }
    CHECK(others > 0);
#endif
    CHECK_INT(seen, 0);
    CHECK(cbx_order_is_fixed());
    (void)cbx_order_fix(first);
}

/* Units in the last place between two doubles of the same sign. */
static double units(double a, double b)
{
    int64_t p, q;
    memcpy(&p, &a, sizeof p);
    memcpy(&q, &b, sizeof q);
    return p > q ? (double)(p - q) : (double)(q - p);
}

TEST(exp_and_log_are_right_to_two_units_in_the_last_place)
{
    double worst_exp = 0, worst_log = 0;
    for (double x = -707; x < 709; x += 0.0371) { /* libm's own error is a unit at most */
        worst_exp = fmax(worst_exp, units(cbx_own_exp(x), exp(x)) - 1);
        worst_exp = fmax(worst_exp, units(cbx_own_exp(x / 700), exp(x / 700)) - 1);
        double y = exp(x / 3) + 1e-9, near = 1 + x / 1500;
        worst_log = fmax(worst_log, units(cbx_own_log(y), log(y)) - 1);
        if (fabs(near - 1) > 1e-6)
            worst_log = fmax(worst_log, units(cbx_own_log(near), log(near)) - 1);
    }
    CHECK_NEAR(worst_exp, 0, 2);
    CHECK_NEAR(worst_log, 0, 2);
}

TEST(exp_and_log_know_the_ends)
{
    CHECK(cbx_own_exp(0) == 1 && cbx_own_log(1) == 0);
    CHECK(cbx_own_exp(711) == INFINITY && cbx_own_exp(INFINITY) == INFINITY);
    CHECK(cbx_own_exp(-800) == 0 && cbx_own_exp(-INFINITY) == 0);
    CHECK_NEAR(cbx_own_exp(-744) / exp(-744), 1, 0.4); /* so small that a few bits are left */
    CHECK(isnan(cbx_own_exp(NAN)) && isnan(cbx_own_log(NAN)) && isnan(cbx_own_log(-1)));
    CHECK(cbx_own_log(0) == -INFINITY && cbx_own_log(INFINITY) == INFINITY);
    CHECK_NEAR(cbx_own_log(0x1p-1074), -744.44007192138122, 1e-12);
}

TEST(cosines_and_powers_are_right)
{
    const double pi = 3.14159265358979323846;
    for (double share = 0; share <= 1; share += 0.00137)
        CHECK_NEAR(cbx_own_cos_pi(share), cos(pi * share), 5e-16);
    CHECK(cbx_own_cos_pi(0) == 1 && cbx_own_cos_pi(1) == -1);
    CHECK(cbx_own_power(3, 5) == 243 && cbx_own_power(0.5, 10) == 0x1p-10);
    CHECK(cbx_own_power(7, 0) == 1 && cbx_own_power(0, 4) == 0);
    CHECK_NEAR(cbx_own_power(0.999, 1000) / pow(0.999, 1000), 1, 1e-12);
}

TEST(the_last_bit_is_the_same_on_every_machine)
{
    CHECK(cbx_own_exp(1) == 0x1.5bf0a8b14576ap+1);
    CHECK(cbx_own_exp(-3.7) == 0x1.9511fc6871044p-6);
    CHECK(cbx_own_log(10) == 0x1.26bb1bbb55516p+1);
    CHECK(cbx_own_log(0.3) == -0x1.34378fcbda721p+0);
    CHECK(cbx_own_cos_pi(0.3) == 0x1.2cf2304755a5ep-1);
    CHECK(cbx_own_power(0.9, 7) == 0x1.e9c6a99d1cdc0p-2);
}

TEST(the_fixed_order_has_our_functions_and_the_other_the_c_librarys)
{
    bool first = cbx_order_fix(true);
    CHECK(cbx_exp(0.7) == cbx_own_exp(0.7) && cbx_log(0.7) == cbx_own_log(0.7));
    CHECK(cbx_cos_pi(0.7) == cbx_own_cos_pi(0.7));
    (void)cbx_order_fix(false);
    CHECK(cbx_exp(0.7) == exp(0.7) && cbx_log(0.7) == log(0.7));
    (void)cbx_order_fix(first);
}
