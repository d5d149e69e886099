/* SPDX-License-Identifier: Apache-2.0 */
/* GCN by hand, and on a receptive field as on the whole graph. */
#include <math.h>

#include "layer_case.h"
#include "test.h"

TEST(gcn_swaps_rows_on_a_two_node_cycle)
{
    /* A exchanges the nodes, W doubles, b adds one: Y = {2*5+1, 2*3+1}. */
    cbx_view      v = {.n = 2, .m = 2, .prefix = (int32_t[]){2}};
    float         Y[2], saved[2];
    cbx_matrix    X = cbx_matrix_dense(2, 1, (float[]){3, 5});
    cbx_layer     l = {.ops = &cbx_layer_gcn, .n_in = 1, .n_out = 1, .theta = (float[]){2, 1}};
    cbx_adjacency A = {(int64_t[]){0, 1, 2}, (int32_t[]){1, 0}, (float[]){1, 1},  NULL,
                       (int64_t[]){0, 1, 2}, (int32_t[]){1, 0}, (int64_t[]){1, 0}};
    cbx_step      s = {&v, A, 0, 2, 2, &X, Y, saved, NULL, 1, false};
    cbx_layer_gcn.forward(&l, &s);
    CHECK_NEAR(Y[0], 11, 0);
    CHECK_NEAR(Y[1], 7, 0);
}

TEST(gcn_on_a_path_of_three_nodes)
{
    /* 0 - 1 - 2: degrees with loops 2, 3, 2; edges count 1/sqrt(6), loops 1/2, 1/3,
     * 1/2. X = 1, 2, 3; W = 2; b = 1:
     *     Y = 2 (1/2 + 2/sqrt6) + 1,  2 (2/3 + 4/sqrt6) + 1,  2 (3/2 + 2/sqrt6) + 1 */
    cbx_graph_data d = {.num_nodes = 3,
                        .num_features = 1,
                        .num_edges = 4,
                        .edge_source = (int64_t[]){1, 0, 2, 1},
                        .edge_target = (int64_t[]){0, 1, 1, 2},
                        .x = (float[]){1, 2, 3}};
    cbx_graph     *g = NULL;
    cbx_arena      arena = {0};
    cbx_rng        rng = {0};
    layer_case     c;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    cbx_view  v = layer_view(g, -1, 0, &arena);
    cbx_layer l = {.ops = &cbx_layer_gcn, .n_in = 1, .n_out = 1};
    layer_open(&c, l, &v, 0, cbx_matrix_dense(3, 1, d.x), &rng);
    c.theta[0] = 2;
    c.theta[1] = 1;
    const float *Y = layer_forward(&c);
    CHECK_NEAR(Y[0], 2 * (0.5 + 2 / sqrt(6)) + 1, 1e-6);
    CHECK_NEAR(Y[1], 2 * (2.0 / 3 + 4 / sqrt(6)) + 1, 1e-6);
    CHECK_NEAR(Y[2], 2 * (1.5 + 2 / sqrt(6)) + 1, 1e-6);
    layer_close(&c);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(gcn_on_a_receptive_field_gives_the_rows_of_the_whole_graph)
{
    /* Degrees count edges into a node. In a field one hop larger than the nodes
     * read, all of those are there; the arrows may point anywhere. */
    check_prefixes((cbx_layer){.ops = &cbx_layer_gcn, .n_in = 6, .n_out = 4});
}
