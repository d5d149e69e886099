/* SPDX-License-Identifier: Apache-2.0 */
/* The elementwise maximum: ties, nodes without edges, and who gets the gradient. */
#include "max_aggregate.h"

#include <math.h>

#include "../kernel/reference.h"
#include "layer_case.h"
#include "test.h"

typedef struct hand {
    cbx_view   view;
    cbx_matrix X;
    cbx_layer  layer;
    cbx_step   step;
    float      Y[6], saved[12], tmp[6];
} hand;

/* Node 2 hears from 0, 1 and 1 again; node 0 from 2; node 1 from nobody. Two
 * features; W exchanges them and doubles the second: M W = {2 m_1, m_0}. */
static const int64_t offset[] = {0, 1, 1, 4}, out_offset[] = {0, 1, 3, 4};
static const int32_t source[] = {2, 0, 1, 1}, out_target[] = {2, 2, 2, 0};
static const int64_t out_slot[] = {1, 2, 3, 0};
static const float   W[] = {0, 1, 2, 0};

static void set_up(hand *h, const float *value, const float *x, int32_t rows_out)
{
    *h = (hand){.view = {.n = 3, .m = 4}, .X = cbx_matrix_dense(3, 2, x)};
    h->layer = (cbx_layer){.n_in = 2, .n_out = 2, .set.aggregation = CBX_MAX};
    h->step = (cbx_step){.view = &h->view,
                         .A = {offset, source, value, NULL, out_offset, out_target, out_slot},
                         .rows_out = rows_out,
                         .rows_in = 3,
                         .X = &h->X,
                         .Y = h->Y,
                         .saved = h->saved,
                         .tmp = h->tmp,
                         .threads = 1};
    cbx_max_forward(&h->layer, &h->step, W);
}

TEST(each_feature_has_a_maximum_of_its_own)
{
    /* Messages to 2: 1*{4, -5}, 2*{1, -1}, 3*{1, -1}: maxima {4, -2}. To 0: 2*{7, 8}.
     * To 1: none, hence 0. Y = {2 m_1, m_0}. */
    hand        h;
    const float value[] = {2, 1, 2, 3}, x[] = {4, -5, 1, -1, 7, 8};
    set_up(&h, value, x, 3);
    const float expected[] = {32, 14, 0, 0, -4, 4};
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(h.Y[i], expected[i], 0);
    CHECK_INT((int64_t)cbx_max_saved(&h.layer, &h.step), 6);
    CHECK_INT((int64_t)cbx_max_scratch(&h.layer, &h.step), 6);
}

TEST(the_gradient_goes_to_the_message_that_was_largest)
{
    /* The same with dY = {1, 10; 100, 1000; 3, 5}, so dM = dY W' = {dY_1, 2 dY_0} =
     * {10, 2}, {1000, 200}, {5, 6}. Node 2's m_0 came from edge 1 (node 0, w 1) and
     * m_1 from edge 2 (node 1, w 2); node 0's both from edge 0 (node 2, w 2). */
    hand        h;
    const float value[] = {2, 1, 2, 3}, x[] = {4, -5, 1, -1, 7, 8};
    float       dY[] = {1, 10, 100, 1000, 3, 5}, dX[6], dvalue[4] = {0}, dW[4] = {0};
    set_up(&h, value, x, 3);
    cbx_step_grad g = {dY, dX, dvalue, NULL, NULL};
    cbx_max_backward(&h.layer, &h.step, W, &g, dW);
    const float edges[] = {10 * 7 + 2 * 8, 5 * 4, 6 * -1, 0};
    const float inputs[] = {5, 0, 0, 2 * 6, 2 * 10, 2 * 2};
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(dvalue[i], edges[i], 0);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(dX[i], inputs[i], 0);
    /* dW = M'dY, M = {14, 16}, {0, 0}, {4, -2} */
    CHECK_NEAR(dW[0], 14 * 1 + 4 * 3, 0);
    CHECK_NEAR(dW[1], 14 * 10 + 4 * 5, 0);
    CHECK_NEAR(dW[2], 16 * 1 - 2 * 3, 0);
    CHECK_NEAR(dW[3], 16 * 10 - 2 * 5, 0);
}

TEST(equal_messages_share_the_gradient_equally)
{
    /* All three messages to 2 are {6, 0}: 6*{1, 0}, 3*{2, 0} twice. dM = {5, 6}: each
     * edge gets a third of it times its input, each input times its weight. */
    hand        h;
    const float value[] = {2, 6, 3, 3}, x[] = {1, 0, 2, 0, 0, 0};
    float       dY[] = {0, 0, 0, 0, 3, 5}, dX[6], dvalue[4] = {0};
    set_up(&h, value, x, 3);
    cbx_step_grad g = {dY, dX, dvalue, NULL, NULL};
    cbx_max_backward(&h.layer, &h.step, W, &g, NULL);
    const double third[] = {5.0 / 3, 6.0 / 3};
    CHECK_NEAR(dvalue[1], third[0] * 1, 1e-6);
    CHECK_NEAR(dvalue[2], third[0] * 2, 1e-6);
    CHECK_NEAR(dvalue[3], third[0] * 2, 1e-6);
    CHECK_NEAR(dX[0], 6 * third[0], 1e-5);
    CHECK_NEAR(dX[1], 6 * third[1], 1e-5);
    CHECK_NEAR(dX[2], 6 * third[0], 1e-5); /* by two edges of weight 3 */
    CHECK_NEAR(dX[3], 6 * third[1], 1e-5);
    CHECK_NEAR(dX[4], 0, 0);
}

TEST(rows_that_were_not_computed_pass_nothing)
{
    /* Only row 0 is: the gradient is that of edge 0 alone. */
    hand        h;
    const float value[] = {2, 1, 2, 3}, x[] = {4, -5, 1, -1, 7, 8};
    float       dY[] = {1, 10}, dX[6], dvalue[4] = {0};
    set_up(&h, value, x, 1);
    CHECK(h.Y[0] == 32 && h.Y[1] == 14 && h.Y[2] == 0);
    cbx_step_grad g = {dY, dX, dvalue, NULL, NULL};
    cbx_max_backward(&h.layer, &h.step, W, &g, NULL);
    CHECK_NEAR(dvalue[0], 86, 0);
    CHECK(dvalue[1] == 0 && dvalue[2] == 0 && dvalue[3] == 0);
    CHECK(dX[0] == 0 && dX[1] == 0 && dX[2] == 0 && dX[3] == 0);
    CHECK(dX[4] == 20 && dX[5] == 4);
}

TEST(maxima_of_random_graphs_agree_with_plain_loops)
{
    enum { N = 40, F = 9, OUT = 2 };
    random_graph r = make_graph((graph_shape){N, 150, 1, .seed = 2});
    cbx_arena    arena = {0};
    bag          b = {0};
    cbx_rng      rng = cbx_rng_stream(1, 0, 0, 0);
    cbx_view     v = layer_view(r.graph, -1, 0, &arena);
    cbx_layer    l = {
           .ops = &cbx_layer_graphconv, .n_in = F, .n_out = OUT, .set.aggregation = CBX_MAX};
    layer_case c;
    layer_open(&c, l, &v, 0, layer_input(&b, &rng, l, &v, 0), &rng);
    for (int64_t e = 0; e < c.num_values; e++)
        c.value[e] = draw(&rng, -1, 1);
    cbx_max_forward(&c.layer, &c.step, c.theta);
    double Y[N * OUT] = {0};
    for (int i = 0; i < N; i++)
        for (int k = 0; k < F; k++) {
            double m = -INFINITY;
            for (int64_t e = v.offset[i]; e < v.offset[i + 1]; e++)
                m = fmax(m, (double)c.value[e] * c.X.dense[v.source[e] * F + k]);
            for (int o = 0; o < OUT && v.offset[i] < v.offset[i + 1]; o++)
                Y[i * OUT + o] += m * c.theta[k * OUT + o];
        }
    CHECK(worst(N * OUT, c.step.Y, Y) < 1e-5);
    layer_close(&c);
    bag_free(&b);
    cbx_arena_free(&arena);
    free_graph(&r);
}
