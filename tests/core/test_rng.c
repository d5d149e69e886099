/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: known values, ranges, and shares within what chance allows.
 * Seeds are fixed, so a test that passes once passes always. */
#include "rng.h"

#include <math.h>
#include <string.h>

#include "test.h"

TEST(mixing_gives_the_values_computed_elsewhere)
{
    /* by a few lines of Python with integers of any size */
    CHECK(cbx_mix64(0) == 0);
    CHECK(cbx_mix64(1) == 0x5692161d100b05e5u);
    CHECK(cbx_mix64(0x9e3779b97f4a7c15u) == 0xe220a8397b1dcdafu);
    CHECK(cbx_mix64(UINT64_MAX) == 0xb4d055fcf2cbbd7bu);
}

TEST(a_generator_follows_the_published_splitmix64_sequence)
{
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    cbx_rng               rng = {1234567};
    for (int i = 0; i < 5; i++)
        CHECK(cbx_rng_next(&rng) == expected[i]);
}

TEST(a_stream_starts_where_it_always_did)
{
    /* Models in the field were drawn from these; also from Python. */
    cbx_rng rng = cbx_rng_stream(42, 1, 2, 3);
    CHECK(cbx_rng_next(&rng) == 0xf8ab9d5017f504bau);
}

TEST(streams_differ_in_each_of_their_numbers)
{
    /* 6^4 streams of small numbers, in which orders matter too: (1, 2) is not
     * (2, 1). No two may start alike. */
    enum { SIDE = 6, COUNT = SIDE * SIDE * SIDE * SIDE };
    static uint64_t first[COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        cbx_rng rng = cbx_rng_stream(i % 6, i / 6 % 6, i / 36 % 6, i / 216);
        cbx_rng reference = cbx_rng_stream(i % 6, i / 6 % 6, i / 36 % 6, i / 216);
        first[i] = cbx_rng_next(&rng);
        CHECK(first[i] == cbx_rng_next(&reference));
    }
    int equal = 0;
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++)
            equal += first[i] == first[j];
    CHECK_INT(equal, 0);
}

TEST(uniform_numbers_stay_below_one)
{
    /* The state whose next draw is 2^64 - 1, found by inverting the mixer. */
    cbx_rng top = {0x31628af67b2131abu};
    CHECK(cbx_rng_uniform(&top) == 1 - 0x1.0p-53);
    cbx_rng bottom = {0 - 0x9e3779b97f4a7c15u};
    CHECK(cbx_rng_uniform(&bottom) == 0);
}

TEST(uniform_numbers_have_the_mean_and_variance_of_uniform_numbers)
{
    /* Of 100,000: mean 1/2 with deviation 0.29 / 316 = 0.0009, variance 1/12. */
    enum { COUNT = 100000 };
    cbx_rng rng = cbx_rng_stream(1, 0, 0, 0);
    double  sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++) {
        double u = cbx_rng_uniform(&rng);
        if (u < 0 || u >= 1)
            CHECK_NEAR(u, 0.5, 0.5);
        sum += u;
        squares += u * u;
    }
    double mean = sum / COUNT;
    CHECK_NEAR(mean, 0.5, 0.004);
    CHECK_NEAR(squares / COUNT - mean * mean, 1.0 / 12, 0.002);
}

TEST(draws_below_a_bound_take_every_value_equally_often)
{
    /* 20,000 draws for each of 7 values, give or take 131; five times that. */
    cbx_rng rng = cbx_rng_stream(2, 0, 0, 0);
    int     count[7] = {0};
    for (int i = 0; i < 140000; i++) {
        uint64_t v = cbx_rng_below(&rng, 7);
        if (CHECK(v < 7))
            count[v]++;
    }
    for (int v = 0; v < 7; v++)
        CHECK_NEAR(count[v], 20000, 655);
}

TEST(draws_below_a_huge_bound_have_no_bias)
{
    /* Bound 3 * 2^62: a third of the results is below 2^62. Without throwing the
     * first 2^62 draws away it would be a half. */
    cbx_rng rng = cbx_rng_stream(3, 0, 0, 0);
    int     low = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t v = cbx_rng_below(&rng, 3 * ((uint64_t)1 << 62));
        CHECK(v < 3 * ((uint64_t)1 << 62));
        low += v < (uint64_t)1 << 62;
    }
    CHECK_NEAR(low, 10000, 410);
}

TEST(the_only_number_below_one_is_zero)
{
    cbx_rng rng = cbx_rng_stream(4, 0, 0, 0);
    for (int i = 0; i < 100; i++)
        CHECK_INT((int64_t)cbx_rng_below(&rng, 1), 0);
}

TEST(normal_numbers_have_the_moments_of_normal_numbers)
{
    /* Mean 0, variance 1, fourth moment 3, and 68.27 % within one deviation. */
    enum { COUNT = 100000 };
    cbx_rng rng = cbx_rng_stream(5, 0, 0, 0);
    double  sum = 0, squares = 0, fourth = 0;
    int     near = 0;
    for (int i = 0; i < COUNT; i++) {
        double v = cbx_rng_normal(&rng);
        sum += v;
        squares += v * v;
        fourth += v * v * v * v;
        near += fabs(v) < 1;
    }
    CHECK_NEAR(sum / COUNT, 0, 0.016);
    CHECK_NEAR(squares / COUNT, 1, 0.023);
    CHECK_NEAR(fourth / COUNT, 3, 0.16);
    CHECK_NEAR((double)near / COUNT, 0.6827, 0.0074);
}

TEST(a_shuffle_is_a_permutation)
{
    enum { COUNT = 1000 };
    int32_t items[COUNT];
    int     seen[COUNT] = {0}, moved = 0;
    cbx_rng rng = cbx_rng_stream(6, 0, 0, 0);
    for (int i = 0; i < COUNT; i++)
        items[i] = i;
    cbx_rng_shuffle(&rng, items, COUNT);
    for (int i = 0; i < COUNT; i++) {
        if (CHECK(items[i] >= 0 && items[i] < COUNT))
            seen[items[i]]++;
        moved += items[i] != i;
    }
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(seen[i], 1);
    CHECK(moved > COUNT / 2);
}

TEST(all_orders_are_equally_likely)
{
    /* 24 orders of 4 items, 24,000 shuffles: 1000 each, give or take 31. */
    int     count[256] = {0}, orders = 0;
    cbx_rng rng = cbx_rng_stream(7, 0, 0, 0);
    for (int k = 0; k < 24000; k++) {
        int32_t items[4] = {0, 1, 2, 3};
        cbx_rng_shuffle(&rng, items, 4);
        count[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
    }
    for (int i = 0; i < 256; i++) {
        orders += count[i] > 0;
        if (count[i])
            CHECK_NEAR(count[i], 1000, 155);
    }
    CHECK_INT(orders, 24);
}

TEST(shuffling_nothing_or_one_item_changes_nothing)
{
    int32_t one = 5;
    cbx_rng rng = cbx_rng_stream(8, 0, 0, 0);
    cbx_rng_shuffle(&rng, &one, 0);
    cbx_rng_shuffle(&rng, &one, 1);
    CHECK_INT(one, 5);
}
