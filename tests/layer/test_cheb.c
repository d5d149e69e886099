/* SPDX-License-Identifier: Apache-2.0 */
/* Chebyshev convolutions by hand, against the polynomials written out in double,
 * and on a receptive field as on the whole graph. */
#include <math.h>

#include "../kernel/reference.h"
#include "layer_case.h"
#include "test.h"

/* A layer of one number a node, with W_k = k + 1 and b = 100. */
static void by_hand(cbx_graph_data *d, int32_t order, const double *expected)
{
    cbx_graph *g = NULL;
    cbx_arena  arena = {0};
    cbx_rng    rng = {0};
    layer_case c;
    CHECK_INT(cbx_graph_new(d, &g, NULL), CBX_OK);
    cbx_view  v = layer_view(g, -1, 0, &arena);
    cbx_layer l = {.ops = &cbx_layer_cheb, .n_in = 1, .n_out = 1, .set.order = order};
    layer_open(&c, l, &v, 0, cbx_matrix_dense(d->num_nodes, 1, d->x), &rng);
    for (int32_t k = 0; k < order; k++)
        c.theta[k] = (float)(k + 1);
    c.theta[order] = 100;
    const float *Y = layer_forward(&c);
    for (int32_t i = 0; i < d->num_nodes; i++)
        CHECK_NEAR(Y[i], expected[i], 1e-5);
    layer_close(&c);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(cheb_on_two_nodes)
{
    /* A = -{0 1; 1 0}, so T_0 = T_2 = I and T_1 = T_3 = A. X = 3, 5:
     *     K = 1: X            K = 2: X + 2 A X
     *     K = 3: 4 X + 2 A X  K = 4: 4 X + 6 A X     each + 100 */
    cbx_graph_data d = {.num_nodes = 2,
                        .num_features = 1,
                        .num_edges = 2,
                        .edge_source = (int64_t[]){1, 0},
                        .edge_target = (int64_t[]){0, 1},
                        .x = (float[]){3, 5}};
    by_hand(&d, 1, (double[]){103, 105});
    by_hand(&d, 2, (double[]){3 - 10 + 100, 5 - 6 + 100});
    by_hand(&d, 3, (double[]){12 - 10 + 100, 20 - 6 + 100});
    by_hand(&d, 4, (double[]){12 - 30 + 100, 20 - 18 + 100});
}

TEST(cheb_on_a_path_of_three_nodes)
{
    /* 0 - 1 - 2: degrees 1, 2, 1, A = -1/sqrt2 between neighbours. X = 1, 2, 4:
     *     A X = -(2, 5, 2) / sqrt2
     *     A A X = (5, 4, 5) / 2     T_2 X = 2 A A X - X = (4, 2, 1)
     * and Y = X + 2 A X + 3 T_2 X + 100. */
    const double   r = sqrt(2);
    cbx_graph_data d = {.num_nodes = 3,
                        .num_features = 1,
                        .num_edges = 4,
                        .edge_source = (int64_t[]){1, 0, 2, 1},
                        .edge_target = (int64_t[]){0, 1, 1, 2},
                        .x = (float[]){1, 2, 4}};
    by_hand(&d, 3, (double[]){1 - 4 / r + 12 + 100, 2 - 10 / r + 6 + 100, 4 - 4 / r + 3 + 100});
}

/* out = A in, in double, with the values that the layer has */
static void times(const cbx_adjacency *A, int32_t n, int32_t f, const double *in, double *out)
{
    for (int64_t k = 0; k < (int64_t)n * f; k++) {
        int64_t i = k / f;
        out[k] = 0;
        for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
            out[k] += A->value[e] * in[(int64_t)A->source[e] * f + k % f];
    }
}

TEST(cheb_is_the_sum_of_its_polynomials)
{
    /* T_0 = X, T_1 = A X, T_k = 2 A T_{k-1} - T_{k-2}; Y = sum of T_k W_k + b. */
    enum { N = 25, IN = 4, OUT = 3 };
    for (int32_t order = 1; order <= 5; order++) {
        random_graph r = make_graph((graph_shape){N, 70, 1, .weighted = true, .seed = 3});
        cbx_arena    arena = {0};
        cbx_rng      rng = cbx_rng_stream(1, (uint64_t)order, 0, 0);
        bag          b = {0};
        cbx_view     v = layer_view(r.graph, -1, 0, &arena);
        layer_case   c;
        cbx_layer    l = {.ops = &cbx_layer_cheb, .n_in = IN, .n_out = OUT, .set.order = order};
        layer_open(&c, l, &v, 0, layer_input(&b, &rng, l, &v, 0), &rng);
        double T[3][N * IN], Y[N * OUT];
        for (int i = 0; i < N * OUT; i++)
            Y[i] = c.theta[order * IN * OUT + i % OUT];
        for (int32_t k = 0; k < order; k++) {
            double *now = T[k % 3], *last = T[(k + 2) % 3], *before = T[(k + 1) % 3];
            if (k > 0 && c.num_values)
                times(&c.step.A, N, IN, last, now);
            for (int i = 0; i < N * IN; i++)
                now[i] = k == 0 ? c.X.dense[i] : k == 1 ? now[i] : 2 * now[i] - before[i];
            for (int i = 0; i < N * OUT; i++)
                for (int j = 0; j < IN; j++)
                    Y[i] += now[i / OUT * IN + j] * c.theta[(k * IN + j) * OUT + i % OUT];
        }
        CHECK(worst(N * OUT, layer_forward(&c), Y) < 1e-5);
        layer_close(&c);
        bag_free(&b);
        cbx_arena_free(&arena);
        free_graph(&r);
    }
}

TEST(cheb_on_a_receptive_field_gives_the_rows_of_the_whole_graph)
{
    /* Of an undirected one, for any order, or of any graph for order 1, which
     * looks at no edge. On a directed graph higher orders may differ: a degree
     * counts edges *out of* a node, and a node of the field may have edges to
     * nodes outside it, which the field cuts off. In an undirected graph these
     * would lead back, so a field one hop larger than what is read has them. A cone
     * has not, and is not for cheb. */
    int rows = 0;
    for (int32_t order = 1; order <= 4; order++)
        for (uint64_t seed = 0; seed < 4; seed++)
            for (int32_t hop = 0; hop < 2; hop++) {
                cbx_layer   l = {.ops = &cbx_layer_cheb, .n_in = 6, .n_out = 4, .set.order = order};
                graph_shape s = {90,
                                 130,
                                 6,
                                 .undirected = order > 1 || seed & 1,
                                 .weighted = true,
                                 .sparse = seed & 2,
                                 .seed = seed};
                CHECK(prefix_difference(l, s, hop, false, &rows) < 1e-5);
            }
    CHECK(rows > 100);
}
