/* SPDX-License-Identifier: Apache-2.0 */
/* D4Explainer's network: gradients against differences, and an estimate of memory. tests/torch
 * compares its training with PyTorch's. */
#include "d4_net.h"

#include <math.h>

#include "test.h"

enum { N = 4, D = 3, WIDTH = 5, LAYERS = 2 };

static const uint8_t adjacency[N * N] = {0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0};

static double value_of(cbx_d4_flow *f, const float *theta)
{
    double sum = 0;
    cbx_d4_forward(f, theta, adjacency, 0.3);
    for (int k = 0; k < N * N; k++)
        sum += sin(k + 1) * (double)f->score[k];
    return sum;
}

TEST(gradients_are_those_of_differences)
{
    cbx_arena   arena = {0};
    cbx_d4_net  net = cbx_d4_net_make(D, WIDTH, LAYERS);
    cbx_d4_flow f;
    float       X[N * D];
    float      *theta = CBX_NEW(&arena, float, net.size), *grad = CBX_NEW0(&arena, float, net.size);
    int         moved = 0;
    for (int k = 0; k < N * D; k++)
        X[k] = sinf(3 * (float)k);
    cbx_d4_net_draw(&net, 2, theta);
    for (int64_t k = 0; k < net.size; k++)
        theta[k] *= 2; /* so that every layer says something */
    CHECK_INT(cbx_d4_flow_init(&f, &net, N, X, true, &arena), 0);
    (void)value_of(&f, theta);
    for (int k = 0; k < N * N; k++)
        f.dscore[k] = sinf((float)k + 1);
    cbx_d4_backward(&f, theta, grad);
    for (int64_t k = 0; k < net.size; k++) {
        const float step = 0x1p-11f;
        float       was = theta[k];
        theta[k] = was + step;
        double up = value_of(&f, theta);
        theta[k] = was - step;
        double down = value_of(&f, theta);
        theta[k] = was;
        double slope = (up - down) / (2 * (double)step);
        CHECK_NEAR(grad[k], slope, 0.02 * fmax(1, fabs(slope)));
        moved += fabsf(grad[k]) > 0.05f;
    }
    CHECK(moved > net.size / 8);
    cbx_arena_free(&arena);
}

TEST(a_noisy_graph_s_nodes_may_be_numbered_otherwise)
{
    cbx_arena     arena = {0};
    cbx_d4_net    net = cbx_d4_net_make(1, WIDTH, LAYERS);
    cbx_d4_flow   f, g;
    const int32_t place[N] = {2, 0, 3, 1};
    float         X[N] = {1, 2, 3, 4}, Y[N];
    uint8_t       other[N * N];
    float        *theta = CBX_NEW(&arena, float, net.size);
    for (int i = 0; i < N; i++) {
        Y[place[i]] = X[i];
        for (int j = 0; j < N; j++)
            other[place[i] * N + place[j]] = adjacency[i * N + j];
    }
    cbx_d4_net_draw(&net, 2, theta);
    CHECK_INT(cbx_d4_flow_init(&f, &net, N, X, false, &arena), 0);
    CHECK_INT(cbx_d4_flow_init(&g, &net, N, Y, false, &arena), 0);
    cbx_d4_forward(&f, theta, adjacency, 0.2);
    cbx_d4_forward(&g, theta, other, 0.2);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK_NEAR(g.score[place[i] * N + place[j]], f.score[i * N + j], 1e-5);
    CHECK(fabsf(f.score[1] - f.score[2]) > 1e-6f); /* and they are not all the same */
    cbx_arena_free(&arena);
}

TEST(the_estimate_of_memory_is_what_a_graph_takes)
{
    cbx_arena   arena = {0};
    cbx_d4_net  net = cbx_d4_net_make(10, 16, 6);
    cbx_d4_flow f;
    float      *X = CBX_NEW0(&arena, float, 40 * 10);
    size_t      before = arena.total;
    CHECK_INT(cbx_d4_flow_init(&f, &net, 40, X, true, &arena), 0);
    double took = (double)(arena.total - before), said = cbx_d4_net_bytes(40, 10, 16, 6);
    CHECK(said > 0.5 * took && said < 2 * took);
    cbx_arena_free(&arena);
}
