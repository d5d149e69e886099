/* SPDX-License-Identifier: Apache-2.0 */
/* CLEAR's network: sizes by hand, and gradients against differences. tests/torch compares its
 * training with PyTorch's. */
#include "clear_net.h"

#include <math.h>

#include "rng.h"
#include "test.h"

enum { N = 5, D = 3, CLASSES = 2, HIDDEN = 4, LATENT = 3, NODES = 4 };

TEST(parameters_are_those_of_the_encoder_and_two_decoders)
{
    cbx_clear_net net = cbx_clear_net_make(N, D, CLASSES, HIDDEN, LATENT);
    int64_t       encoder = (D + 1) * HIDDEN + 2 * (HIDDEN + CLASSES + 1) * LATENT;
    int64_t       decoder = (LATENT + CLASSES + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN;
    CHECK_INT(net.size, encoder + 2 * decoder + (HIDDEN + 1) * (N * D + N * N));
    CHECK_INT(net.x[2].out, N * D);
    CHECK_INT(net.a[2].out, N * N);
}

TEST(the_estimate_of_memory_covers_the_parameters_and_what_adam_keeps_of_them)
{
    cbx_clear_net net = cbx_clear_net_make(100, 50, 3, 16, 16);
    double        bytes = cbx_clear_net_bytes(100, 50, 16);
    CHECK(bytes > 4.0 * 5 * (double)net.size && bytes < 4.0 * 6 * (double)net.size);
    CHECK(cbx_clear_net_bytes(100, 2000000000, 16) > 1e12); /* and does not overflow */
}

/* The outputs, each times a number of its own, with a term in μ and log σ². */
static double value_of(cbx_clear_flow *f, const float *theta)
{
    double sum = 0;
    cbx_clear_encode(f, theta, 1);
    cbx_clear_decode(f, theta, 1);
    for (int k = 0; k < N * D; k++)
        sum += sin(k) * (double)f->x[2][k];
    for (int k = 0; k < N * N; k++)
        sum += cos(k) * (double)f->a[2][k];
    for (int k = 0; k < LATENT; k++)
        sum += (k + 1) * (double)f->mu[k] - (k + 2) * (double)f->spread[k];
    return sum;
}

TEST(gradients_are_those_of_differences)
{
    cbx_arena      arena = {0};
    cbx_clear_net  net = cbx_clear_net_make(N, D, CLASSES, HIDDEN, LATENT);
    cbx_clear_flow f;
    float          S[NODES * D];
    float *theta = CBX_NEW(&arena, float, net.size), *grad = CBX_NEW0(&arena, float, net.size);
    for (int k = 0; k < NODES * D; k++)
        S[k] = sinf(3 * (float)k);
    cbx_clear_net_draw(&net, 5, theta);
    CHECK_INT(cbx_clear_flow_init(&f, &net, NODES, S, true, &arena), 0);
    for (int k = 0; k < LATENT; k++)
        f.noise[k] = 0.5f - (float)k;
    (void)value_of(&f, theta);
    for (int k = 0; k < N * D; k++)
        f.dx[2][k] = sinf((float)k);
    for (int k = 0; k < N * N; k++)
        f.da[2][k] = cosf((float)k);
    for (int k = 0; k < LATENT; k++) {
        f.dmu[k] = (float)(k + 1);
        f.dspread[k] = (float)-(k + 2);
    }
    cbx_clear_backward(&f, theta, grad);
    int moved = 0;
    for (int64_t k = 0; k < net.size; k++) {
        const float step = 0x1p-11f;
        float       was = theta[k];
        theta[k] = was + step;
        double up = value_of(&f, theta);
        theta[k] = was - step;
        double down = value_of(&f, theta);
        theta[k] = was;
        double slope = (up - down) / (2 * (double)step);
        CHECK_NEAR(grad[k], slope, 0.01 * fmax(1, fabs(slope)));
        moved += grad[k] != 0;
    }
    CHECK(moved > net.size / 2);
    cbx_arena_free(&arena);
}
