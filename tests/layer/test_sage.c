/* SPDX-License-Identifier: Apache-2.0 */
/* SAGE by hand, and on a receptive field as on the whole graph. */
#include "layer_case.h"
#include "test.h"

TEST(sage_adds_the_mean_of_messages_to_the_node_itself)
{
    /* 0 -> 2 of weight 2 and 1 -> 2 of weight 3, X = 1, 4, 5; W_l = 10, b = 7, W_r = 100. Node 2
     * hears (2*1 + 3*4) / 2 = 7; the others nothing. */
    const float    x[] = {1, 4, 5}, theta[] = {10, 7, 100};
    const double   expected[] = {107, 407, 577};
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
    cbx_layer l = {.ops = &cbx_layer_sage, .n_in = 1, .n_out = 1, .set.aggregation = CBX_MAX};
    layer_open(&c, l, &v, 0, cbx_matrix_dense(3, 1, x), &rng);
    CHECK_INT(c.num_theta, 3);
    for (int i = 0; i < 3; i++)
        c.theta[i] = theta[i];
    const float *Y = layer_forward(&c);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(Y[i], expected[i], 1e-4);
    layer_close(&c);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(sage_on_a_receptive_field_gives_the_rows_of_the_whole_graph)
{
    cbx_layer l = {.ops = &cbx_layer_sage, .n_in = 6, .n_out = 4, .set = cbx_settings_default()};
    int       rows = 0;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int32_t hop = 0; hop < 3; hop++) {
            graph_shape s = {
                60,          130, 6, .undirected = seed & 1, .weighted = true, .sparse = seed & 2,
                .seed = seed};
            CHECK(prefix_difference(l, s, hop, false, &rows) < 1e-5);
            CHECK(prefix_difference(l, s, hop, true, &rows) < 1e-5);
        }
    CHECK(rows > 100);
}
