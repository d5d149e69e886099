/* SPDX-License-Identifier: Apache-2.0 */
/* GraphConv by hand with each aggregation, and on a receptive field as on the
 * whole graph. */
#include "layer_case.h"
#include "test.h"

/* 0 -> 2 of weight 2 and 1 -> 2 of weight 3; W_rel = 2, b = 1, W_root = 10. */
static void by_hand(cbx_aggregation aggregation, const float *x, const double *expected)
{
    cbx_graph_data d = {.num_nodes = 3,
                        .num_features = 1,
                        .num_edges = 2,
                        .edge_source = (int64_t[]){0, 1},
                        .edge_target = (int64_t[]){2, 2},
                        .edge_weight = (float[]){2, 3},
                        .x = x};
    cbx_graph     *g = NULL;
    cbx_arena      arena = {0};
    cbx_rng        rng = {0};
    layer_case     c;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    cbx_view  v = layer_view(g, -1, 0, &arena);
    cbx_layer l = {
        .ops = &cbx_layer_graphconv, .n_in = 1, .n_out = 1, .set.aggregation = aggregation};
    layer_open(&c, l, &v, 0, cbx_matrix_dense(3, 1, x), &rng);
    c.theta[0] = 2;
    c.theta[1] = 1;
    c.theta[2] = 10;
    const float *Y = layer_forward(&c);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(Y[i], expected[i], 1e-6);
    layer_close(&c);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(graphconv_adds_weighted_messages)
{
    /* Node 2: 2 (2*1 + 3*4) + 1 + 10*5 = 79; the others get no message. */
    by_hand(CBX_ADD, (float[]){1, 4, 5}, (double[]){11, 41, 79});
}

TEST(graphconv_takes_the_mean_over_edges)
{
    /* Node 2: 2 (2*1 + 3*4)/2 + 1 + 50 = 65. */
    by_hand(CBX_MEAN, (float[]){1, 4, 5}, (double[]){11, 41, 65});
}

TEST(graphconv_takes_the_largest_weighted_message)
{
    /* Node 2: 2 max(2*1, 3*4) + 1 + 50 = 75, and 2 max(2*8, 3*4) + 51 = 83. */
    by_hand(CBX_MAX, (float[]){1, 4, 5}, (double[]){11, 41, 75});
    by_hand(CBX_MAX, (float[]){8, 4, 5}, (double[]){81, 41, 83});
}

TEST(the_largest_of_negative_messages_is_negative)
{
    /* max(2*-1, 3*-4) = -2, not the 0 of a node without edges: 2*-2 + 1 + 50 = 47. */
    by_hand(CBX_MAX, (float[]){-1, -4, 5}, (double[]){-9, -39, 47});
}

TEST(graphconv_on_a_receptive_field_gives_the_rows_of_the_whole_graph)
{
    int rows = 0;
    for (int aggregation = CBX_ADD; aggregation <= CBX_MAX; aggregation++)
        for (uint64_t seed = 0; seed < 4; seed++)
            for (int32_t hop = 0; hop < 3; hop++) {
                cbx_layer   l = {.ops = &cbx_layer_graphconv,
                                 .n_in = 6,
                                 .n_out = 4,
                                 .set.aggregation = aggregation};
                graph_shape s = {60,
                                 130,
                                 6,
                                 .undirected = seed & 1,
                                 .weighted = true,
                                 .sparse = seed & 2,
                                 .seed = seed};
                CHECK(prefix_difference(l, s, hop, false, &rows) < 1e-5);
                CHECK(prefix_difference(l, s, hop, true, &rows) < 1e-5);
            }
    CHECK(rows > 100);
}
