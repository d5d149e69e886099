/* SPDX-License-Identifier: Apache-2.0 */
/* What goes with edges, and what a degree does to the sum of a row's edges, against adding it up.
 */
#include "undone.h"

#include <stdlib.h>

#include "rng.h"
#include "spread_parts.h"
#include "test.h"

enum { CHOICES = 6, ROWS = 3, EDGES = 12 };

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* Of each choice no more edges count than can go beside it; of many, all do. */
static void check_row(cbx_rng *rng, cbx_undone *u, cbx_edge_sum *sum, int64_t others)
{
    double gain[CHOICES] = {0}, little[CHOICES][EDGES] = {{0}};
    for (int32_t e = 0; e < EDGES; e++) {
        for (int32_t times = 0; times < 4; times++) {
            int32_t c = (int32_t)cbx_rng_below(rng, CHOICES);
            double  by = cbx_rng_uniform(rng) - 0.3;
            cbx_undone_add(u, c, by);
            little[c][e] += by > 0 ? by : 0;
        }
        cbx_undone_end_edge(u, others);
    }
    cbx_undone_end_row(u, gain, sum);
    for (int32_t c = 0; c < CHOICES; c++) {
        double expected = 0;
        qsort(little[c], EDGES, sizeof(double), by_size);
        for (int64_t e = 0; e < EDGES && (e < others || others > CBX_FEW); e++)
            expected += little[c][e];
        CHECK_NEAR(gain[c], expected, 1e-12);
        CHECK_NEAR(sum->more[CBX_TO_OTHERS][c], sum->kept ? expected : 0, 1e-12);
        CHECK_NEAR(sum->more[CBX_TO_ITSELF][c], 0, 0);
    }
}

TEST(as_many_edges_count_as_can_go_beside_a_choice)
{
    cbx_rng        rng = cbx_rng_stream(5, 6, 7, 8);
    cbx_arena      arena = {0};
    cbx_undone     u;
    cbx_edge_sum   sum;
    cbx_node_scale scale = {.whole = true, .removals = 2};
    CHECK(!cbx_undone_init(&u, CHOICES, &arena));
    for (int k = 0; k < 60; k++) { /* nothing is left of one row when the next begins */
        CHECK(!cbx_edge_sum_init(&sum, CHOICES + ROWS, &arena));
        if (k % 2)
            cbx_edge_sum_begin(&sum, &scale);
        check_row(&rng, &u, &sum, 1 + k % (CBX_FEW + 3));
    }
    cbx_arena_free(&arena);
}

/* Node 0 has the edges of the first two choices; behind the choices are rows of features. */
static void check_degree(cbx_rng *rng, int64_t budget, bool both)
{
    cbx_arena         arena = {0};
    int64_t           at_begin[] = {0, 2, 2, 2}, local[] = {9, 9, 9};
    int32_t           at[] = {0, 1};
    uint8_t           fate[CHOICES] = {0};
    cbx_choice        choices[CHOICES] = {{0}};
    double            best[16], gain[2][CHOICES] = {{0}}, add[2][CHOICES + ROWS];
    double           *gains[] = {gain[0], gain[1]};
    cbx_partial_graph graph = {.count = CHOICES, .budget = budget, .at_begin = at_begin, .at = at};
    cbx_spread        s = {.graph = &graph, .moves = {.graph = &graph}, .best = best};
    cbx_edge_sum      sum;
    cbx_node_scale    scale = {
           .whole = true, .removals = 2, .target = {.now = 0.5, .rise = 0.3, .least_rise = 0.2}};
    graph.fate = fate;
    graph.local = local;
    graph.choices = choices;
    CHECK(!cbx_edge_sum_init(&sum, CHOICES + ROWS, &arena));
    cbx_edge_sum_begin(&sum, &scale);
    sum.now = 4 * cbx_rng_uniform(rng) - 2;
    double now = sum.now;
    for (int32_t c = 0; c < CHOICES + ROWS; c++) {
        double by = 2 * cbx_rng_uniform(rng) - 1, more = 2 * cbx_rng_uniform(rng) - 1;
        cbx_edge_sum_add(&sum, c, by / 2);
        cbx_edge_sum_add(&sum, c, by / 2);
        sum.more[CBX_TO_OTHERS][c] += more;
        add[0][c] = by;
        add[1][c] = by + more;
    }
    cbx_edge_sum_end(&sum, &s, &scale, 0, both, gains);
    for (int to = 0; to < 2; to++)
        for (int32_t c = 0; c < CHOICES; c++) {
            double  other[64], high = now + add[to][c];
            int64_t count = 0;
            for (int32_t k = 0; k < CHOICES + ROWS; k++)
                for (int64_t r = k < CHOICES ? k != c : budget - 1; r > 0; r--)
                    other[count++] = add[to][k] > 0 ? add[to][k] : 0;
            qsort(other, (size_t)count, sizeof *other, by_size);
            for (int64_t k = 0; k < budget - 1; k++)
                high += other[k];
            double expected = high > 0 ? high * 0.6 : high * 0.4;
            bool   counts = c < 2 && (to == 0 || both);
            CHECK_NEAR(gain[to][c], counts ? expected : 0, 1e-12);
        }
    for (int32_t c = 0; c < CHOICES + ROWS; c++) /* as it was before */
        CHECK(sum.add[c] == 0 && sum.more[0][c] == 0 && sum.more[1][c] == 0 && !sum.is_listed[c]);
    CHECK(!sum.kept && sum.count == 0);
    cbx_arena_free(&arena);
}

TEST(what_a_degree_gains_is_of_the_sum_with_the_best_others)
{
    cbx_rng rng = cbx_rng_stream(9, 10, 11, 12);
    for (int k = 0; k < 200; k++)
        check_degree(&rng, 1 + k % 5, k % 2);
}

TEST(every_share_is_between_both)
{
    cbx_arena arena = {0};
    cbx_gains g;
    double    out[2];
    CHECK(!cbx_gains_init(&g, 2, &arena));
    for (int c = 0; c < 2; c++) {
        g.common[c] = 1 + c;
        g.charged[CBX_TO_ITSELF][c] = 4;
        g.charged[CBX_TO_OTHERS][c] = 8;
    }
    g.both = true;
    for (int share = 0; share <= CBX_SHARES; share++) {
        CHECK(cbx_gains_of(&g, 2, share, out));
        CHECK_NEAR(out[0], 5 + 4.0 * share / CBX_SHARES, 1e-12);
        CHECK_NEAR(out[1], 6 + 4.0 * share / CBX_SHARES, 1e-12);
    }
    CHECK(!cbx_gains_of(&g, 2, CBX_SHARES + 1, out));
    g.both = false;
    CHECK(cbx_gains_of(&g, 2, 0, out) && !cbx_gains_of(&g, 2, 1, out));
    cbx_arena_free(&arena);
}
