/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted about a graph, by hand and by brute force. */
#include <string.h>

#include "../graph/random_graph.h"
#include "test.h"

static cbx_graph_stats measure(const cbx_graph *g)
{
    cbx_graph_stats s;
    cbx_error       err = {0};
    memset(&s, 0x5a, sizeof s);
    CHECK_OK(cbx_graph_measure(g, &s, &err), err);
    return s;
}

static cbx_graph_stats measure_edges(int32_t nodes, int64_t edges, const int64_t *source,
                                     const int64_t *target)
{
    static const float x[16] = {0};
    cbx_graph_data     d = {.num_nodes = nodes,
                            .num_features = 1,
                            .num_edges = edges,
                            .edge_source = source,
                            .edge_target = target,
                            .x = x};
    cbx_graph         *g = NULL;
    cbx_graph_stats    s = {0};
    if (CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK))
        s = measure(g);
    cbx_graph_free(g);
    return s;
}

TEST(a_graph_counted_by_hand)
{
    /* 0 <-> 1, 1 -> 2 three times, loops at 2 and 3, nothing at 4: two duplicates,
     * two loops; 3 and 4 are isolated; node 2 has four edges in; 2 -> 1 is missing. */
    const int64_t   source[] = {0, 1, 1, 2, 1, 3, 1}, target[] = {1, 0, 2, 2, 2, 3, 2};
    cbx_graph_stats s = measure_edges(5, 7, source, target);
    CHECK_INT(s.self_loops, 2);
    CHECK_INT(s.duplicate_edges, 2);
    CHECK_INT(s.isolated_nodes, 2);
    CHECK_INT(s.max_in_degree, 4);
    CHECK(!s.undirected);
}

TEST(a_duplicate_loop_is_a_loop_and_a_duplicate)
{
    const int64_t   both[] = {0, 0, 0};
    cbx_graph_stats s = measure_edges(1, 3, both, both);
    CHECK_INT(s.self_loops, 3);
    CHECK_INT(s.duplicate_edges, 2);
    CHECK_INT(s.isolated_nodes, 1);
    CHECK(s.undirected);
}

TEST(edges_stored_in_both_directions_are_undirected)
{
    const int64_t source[] = {0, 1, 1, 2, 2}, target[] = {1, 0, 2, 1, 2};
    CHECK(measure_edges(3, 5, source, target).undirected);
    const int64_t one_way[] = {0, 1, 1, 2, 0}, back[] = {1, 0, 2, 1, 2};
    CHECK(!measure_edges(3, 5, one_way, back).undirected);
}

TEST(a_source_alone_is_not_isolated)
{
    const int64_t   source[] = {0}, target[] = {1};
    cbx_graph_stats s = measure_edges(3, 1, source, target);
    CHECK_INT(s.isolated_nodes, 1);
    CHECK_INT(s.max_in_degree, 1);
}

TEST(a_graph_without_edges_is_undirected_and_all_isolated)
{
    cbx_graph_stats s = measure_edges(4, 0, NULL, NULL);
    CHECK(s.undirected);
    CHECK_INT(s.isolated_nodes, 4);
    CHECK_INT(s.max_in_degree, 0);
    CHECK_INT(s.self_loops + s.duplicate_edges, 0);
}

static void brute_force(const cbx_graph_data *d, cbx_graph_stats *out)
{
    enum { MOST = 64 };
    int32_t times[MOST][MOST] = {{0}};
    *out = (cbx_graph_stats){.undirected = true};
    for (int64_t e = 0; e < d->num_edges; e++)
        times[d->edge_source[e]][d->edge_target[e]]++;
    for (int32_t i = 0; i < d->num_nodes; i++) {
        int32_t in = 0, linked = 0;
        for (int32_t j = 0; j < d->num_nodes; j++) {
            in += times[j][i];
            linked += i != j && (times[i][j] || times[j][i]);
            out->duplicate_edges += times[j][i] > 1 ? times[j][i] - 1 : 0;
            out->undirected = out->undirected && !times[i][j] == !times[j][i];
        }
        out->self_loops += times[i][i];
        out->isolated_nodes += !linked;
        out->max_in_degree = in > out->max_in_degree ? in : out->max_in_degree;
    }
}

TEST(random_graphs_are_counted_as_by_brute_force)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        graph_shape     shape = {30,
                                 20 + 10 * (int64_t)(seed % 10),
                                 9,
                                 .undirected = seed % 3 == 0,
                                 .sparse = seed % 2,
                                 .seed = seed};
        random_graph    r = make_graph(shape);
        cbx_graph_stats s = measure(r.graph), expected;
        int64_t         nonzero = 0, whole = 0;
        brute_force(&r.data, &expected);
        for (int k = 0; k < 30 * 9; k++)
            nonzero += r.x[k] != 0;
        for (int j = 0; j < 9; j++)
            whole += r.graph->data.discrete[j];
        CHECK_INT(s.self_loops, expected.self_loops);
        CHECK_INT(s.duplicate_edges, expected.duplicate_edges);
        CHECK_INT(s.isolated_nodes, expected.isolated_nodes);
        CHECK_INT(s.max_in_degree, expected.max_in_degree);
        CHECK_INT(s.undirected, expected.undirected);
        CHECK_INT(s.nonzero_features, nonzero);
        CHECK_INT(s.discrete_features, whole);
        free_graph(&r);
    }
}

static cbx_status measure_once(void *user)
{
    cbx_graph_stats s;
    return cbx_graph_measure(user, &s, NULL);
}

TEST(measuring_survives_the_failure_of_any_allocation)
{
    random_graph small = make_graph((graph_shape){20, 60, 3, .seed = 2});
    random_graph large = make_graph((graph_shape){9000, 2000, 3, .seed = 3});
    test_each_allocation(measure_once, small.graph);
    test_each_allocation(measure_once, large.graph);
    free_graph(&small);
    free_graph(&large);
}
