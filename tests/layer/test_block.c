/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around a layer, by hand; its gradients are checked in test_layer.c and, in training,
 * against torch in model/test_goldens.c. */
#include <string.h>

#include "layer_case.h"
#include "test.h"

/* Two nodes, no edge, X = 1, 3; GraphConv's own weight 2, so that it gives 2 and 6. */
typedef struct two_nodes {
    cbx_graph *graph;
    cbx_arena  arena;
    cbx_view   view;
    layer_case c;
} two_nodes;

static void open_two(two_nodes *t, cbx_layer_settings set, const float *theta, int count)
{
    static const float x[] = {1, 3};
    cbx_graph_data     d = {.num_nodes = 2, .num_features = 1, .x = x};
    cbx_rng            rng = {0};
    *t = (two_nodes){0};
    CHECK_INT(cbx_graph_new(&d, &t->graph, NULL), CBX_OK);
    t->view = layer_view(t->graph, -1, 0, &t->arena);
    cbx_layer l = {.ops = &cbx_layer_graphconv, .n_in = 1, .n_out = 1, .set = set};
    layer_open(&t->c, l, &t->view, 0, cbx_matrix_dense(2, 1, x), &rng);
    if (CHECK_INT(t->c.num_theta, count))
        memcpy(t->c.theta, theta, (size_t)count * sizeof *theta);
}

static void close_two(two_nodes *t)
{
    layer_close(&t->c);
    cbx_arena_free(&t->arena);
    cbx_graph_free(t->graph);
}

TEST(a_skip_connection_adds_the_input_times_a_matrix)
{
    two_nodes t; /* 2 x + 10 x */
    open_two(&t, (cbx_layer_settings){.residual = true}, (float[]){0, 0, 2, 10}, 4);
    const float *Y = layer_forward(&t.c);
    CHECK_NEAR(Y[0], 12, 1e-5);
    CHECK_NEAR(Y[1], 36, 1e-5);
    close_two(&t);
}

TEST(a_normalisation_comes_behind_the_skip_connection)
{
    /* (2 x + 10 x - 4) / sqrt(16 + 1e-5) * 3 + 5 */
    const float theta[] = {0, 0, 2, 10, 3, 5, 4, 16};
    two_nodes   t;
    open_two(&t, (cbx_layer_settings){.residual = true, .batch_norm = true}, theta, 8);
    const float *Y = layer_forward(&t.c);
    CHECK_NEAR(Y[0], 11, 1e-4);
    CHECK_NEAR(Y[1], 29, 1e-4);
    close_two(&t);
}

TEST(training_normalises_by_the_rows_that_are_there_and_remembers_them)
{
    /* 2 and 6: mean 4, variance 4, which is 8 where it stands for more than these two rows. */
    const float theta[] = {0, 0, 2, 3, 5, 10, 1};
    two_nodes   t;
    open_two(&t, (cbx_layer_settings){.batch_norm = true}, theta, 7);
    t.c.step.training = true;
    const float *Y = layer_forward(&t.c);
    CHECK_NEAR(Y[0], 2, 1e-4);
    CHECK_NEAR(Y[1], 8, 1e-4);
    cbx_block_observe(&t.c.layer, &t.c.step, t.c.theta);
    CHECK_NEAR(t.c.theta[5], 0.9 * 10 + 0.1 * 4, 1e-5);
    CHECK_NEAR(t.c.theta[6], 0.9 * 1 + 0.1 * 8, 1e-5);
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(t.c.theta[i], theta[i], 0);
    close_two(&t);
}

TEST(every_layer_takes_what_stands_around_it)
{
    for (int i = 0; cbx_layer_at(i); i++) {
        CHECK(cbx_layer_has_setting(cbx_layer_at(i), "residual"));
        CHECK(cbx_layer_has_setting(cbx_layer_at(i), "batch-norm"));
    }
}
