/* SPDX-License-Identifier: Apache-2.0 */
/* The largest that choices add to a row's units, against sorting all that they could add. */
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "spread_parts.h"
#include "test.h"

enum { WIDTH = 5, ENTRIES = 14, CHOICES = 20, MOST = 16 };

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* Choices of edges first, then rows of features, which count as often as features may be made. */
static void check_tops(cbx_rng *rng, int64_t budget, int64_t features)
{
    double            best[MOST], few[CBX_FEW * WIDTH + WIDTH], of[ENTRIES * WIDTH];
    double            all[WIDTH], rest[WIDTH];
    int32_t           choice[ENTRIES];
    uint8_t           same[ENTRIES] = {0};
    int64_t           begin[] = {0, 3, ENTRIES};
    cbx_partial_graph graph = {.count = CHOICES, .budget = budget};
    cbx_spread        s = {.graph = &graph, .moves = {.graph = &graph}, .best = best, .few = few};
    cbx_reach_list    list = {.begin = begin, .choice = choice};
    cbx_tops          tops = {all, rest};
    double            sign = cbx_rng_below(rng, 2) ? 1 : -1;
    for (int32_t k = 0; k < ENTRIES; k++)
        choice[k] = cbx_rng_below(rng, 4) ? k : CHOICES + k;
    for (int32_t k = 0; k < ENTRIES * WIDTH; k++)
        of[k] = 2 * cbx_rng_uniform(rng) - 1;
    for (int32_t k = 4; k < ENTRIES; k++) { /* some edges do what the one before does */
        same[k] = cbx_rng_below(rng, 2) && choice[k] < CHOICES && choice[k - 1] < CHOICES;
        if (same[k])
            memcpy(of + k * WIDTH, of + (k - 1) * WIDTH, WIDTH * sizeof *of);
    }
    cbx_spread_tops(&s, &list, of, 1, WIDTH, sign, (cbx_allowance){budget, features}, same, &tops);
    for (int32_t j = 0; j < WIDTH; j++) {
        double  value[ENTRIES * MOST], sum = 0;
        int64_t count = 0, most = budget < CHOICES ? budget : CHOICES;
        for (int64_t k = begin[1]; k < begin[2]; k++)
            for (int64_t r = choice[k] < CHOICES ? 1
                             : features < most   ? features
                                                 : most;
                 r > 0; r--)
                if (sign * of[k * WIDTH + j] > 0)
                    value[count++] = sign * of[k * WIDTH + j];
        qsort(value, (size_t)count, sizeof *value, by_size);
        for (int64_t k = 0; k < count && k < most; k++)
            sum += value[k];
        double least = most > 0 && count >= most ? value[most - 1] : 0;
        CHECK_NEAR(all[j], sum, 1e-12);
        CHECK_NEAR(rest[j], sum - least, 1e-12);
        if (count > 0) /* the largest of them has the others beside it; one that is not among them
                        * all but the last */
            CHECK_NEAR(cbx_beside(all[j], rest[j], value[0]), sum - value[0], 1e-12);
        CHECK_NEAR(cbx_beside(all[j], rest[j], -0.5), sum - least, 1e-12);
    }
}

TEST(the_largest_of_each_unit_are_those_that_sorting_finds)
{
    cbx_rng rng = cbx_rng_stream(1, 2, 3, 4);
    for (int64_t budget = 0; budget < MOST; budget++)
        for (int64_t features = 0; features < 4; features++)
            for (int k = 0; k < 10; k++)
                check_tops(&rng, budget, features);
}
