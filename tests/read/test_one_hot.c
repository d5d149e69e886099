/* SPDX-License-Identifier: Apache-2.0 */
/* One-hot groups by brute force: every interval of columns is tried. */
#include <math.h>
#include <stdlib.h>

#include "graph.h"
#include "rng.h"
#include "test.h"

static cbx_graph *graph_of(int32_t n, int32_t f, const float *x)
{
    cbx_graph_data d = {.num_nodes = n, .num_features = f, .x = x};
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

/* Whether every row has exactly one 1, and otherwise zeros, in columns a to b. */
static bool is_group(int32_t n, int32_t f, const float *x, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < n; i++) {
        int ones = 0;
        for (int32_t j = a; j <= b; j++) {
            float v = x[i * f + j];
            if (v != 0 && v != 1)
                return false;
            ones += v == 1;
        }
        if (ones != 1)
            return false;
    }
    return true;
}

static bool has_ones(int32_t n, int32_t f, const float *x, int32_t j)
{
    for (int32_t i = 0; i < n; i++)
        if (x[i * f + j] == 1)
            return true;
    return false;
}

TEST(groups_are_found_beside_other_features)
{
    static const float x[] = {5, 1, 0, 0,      0.5f, 0, 1, /**/ 6, 0, 0, 1,
                              1, 1, 0, /**/ 7, 0,    1, 0, 1,      0, 1};
    cbx_graph         *g = graph_of(3, 7, x);
    int32_t            group[7], count;
    cbx_error          err = {0};
    if (g && CHECK_OK(cbx_graph_one_hot(g, group, &count, &err), err)) {
        CHECK_INT(count, 2);
        const int32_t want[] = {-1, 0, 0, 0, -1, 1, 1};
        for (int j = 0; j < 7; j++)
            CHECK_INT(group[j], want[j]);
    }
    cbx_graph_free(g);
}

TEST(groups_equal_those_found_by_trying_all_intervals)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        cbx_rng rng = cbx_rng_stream(seed, 0, 0, 0);
        int32_t n = 1 + (int32_t)cbx_rng_below(&rng, 5), f = 1 + (int32_t)cbx_rng_below(&rng, 8);
        float   x[40];
        for (int32_t k = 0; k < n * f; k++)
            x[k] = cbx_rng_below(&rng, 3) == 0;
        cbx_graph *g = graph_of(n, f, x);
        int32_t    group[8], want[8], count, wanted = 0;
        for (int32_t j = 0; j < f; j++)
            want[j] = -1;
        for (int32_t a = 0; a < f; a++)
            for (int32_t b = a + 1; b < f; b++)
                if (has_ones(n, f, x, a) && has_ones(n, f, x, b) && is_group(n, f, x, a, b)) {
                    for (int32_t j = a; j <= b; j++)
                        want[j] = wanted;
                    wanted++;
                    a = b;
                    break;
                }
        if (g && CHECK(cbx_graph_one_hot(g, group, &count, NULL) == CBX_OK)) {
            CHECK_INT(count, wanted);
            for (int32_t j = 0; j < f; j++)
                CHECK_INT(group[j], want[j]);
        }
        cbx_graph_free(g);
        if (test_failures())
            return;
    }
}

static cbx_status find(void *user)
{
    int32_t group[7], count;
    return cbx_graph_one_hot(user, group, &count, NULL);
}

TEST(failing_allocations_are_reported)
{
    static const float x[7] = {1, 0, 0, 0, 0, 0, 0};
    cbx_graph         *g = graph_of(1, 7, x);
    if (g)
        test_each_allocation(find, g);
    cbx_graph_free(g);
}

TEST(degrees_and_homophily_are_counted)
{
    /* 0 <- 1, 0 <- 2, 0 <- 3, 1 <- 2; classes 0 0 1 -1 */
    static const int64_t source[] = {1, 2, 3, 2}, target[] = {0, 0, 0, 1}, y[] = {0, 0, 1, -1};
    static const float   x[4] = {1, 1, 1, 1};
    cbx_graph_data       d = {.num_nodes = 4, .num_features = 1, .num_edges = 4, .x = x, .y = y};
    cbx_graph           *g = NULL;
    cbx_graph_stats      stats;
    cbx_error            err = {0};
    d.edge_source = source;
    d.edge_target = target;
    if (CHECK_OK(cbx_graph_new(&d, &g, &err), err) &&
        CHECK_OK(cbx_graph_measure(g, &stats, &err), err)) {
        CHECK_INT(stats.degrees[0], 2); /* 2 and 3 */
        CHECK_INT(stats.degrees[1], 1); /* 1 has one */
        CHECK_INT(stats.degrees[2], 1); /* 0 has three: 2 to 3 */
        CHECK_INT(stats.degrees[3], 0);
        CHECK_NEAR(stats.homophily, 1.0 / 3, 1e-12); /* of three edges with known ends */
    }
    cbx_graph_free(g);
    d.y = NULL;
    if (CHECK_OK(cbx_graph_new(&d, &g, &err), err) &&
        CHECK_OK(cbx_graph_measure(g, &stats, &err), err))
        CHECK(isnan(stats.homophily));
    cbx_graph_free(g);
}
