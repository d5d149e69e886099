/* SPDX-License-Identifier: Apache-2.0 */
/* GAT by hand, without edges of weight 0 as with them, and on a receptive field as on the whole
 * graph. */
#include <math.h>
#include <string.h>

#include "layer_case.h"
#include "test.h"

/* 0 -> 2 of weight w, 1 -> 2, a loop at 2; X = 0, ln 2, -1. H = X, scores: source's x + 3 times the
 * target's, b = 10. */
static void by_hand(cbx_layer_settings set, float w, double expected)
{
    const float    x[] = {0, 0.693147181f, -1}, theta[] = {1, 1, 3, 10};
    cbx_graph_data d = {.num_nodes = 3,
                        .num_features = 1,
                        .num_edges = 3,
                        .edge_source = (int64_t[]){0, 1, 2},
                        .edge_target = (int64_t[]){2, 2, 2},
                        .edge_weight = (float[]){w, 1, 5},
                        .x = x};
    cbx_graph     *g = NULL;
    cbx_arena      arena = {0};
    cbx_rng        rng = {0};
    layer_case     c;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    cbx_view  v = layer_view(g, -1, 0, &arena);
    cbx_layer l = {.ops = &cbx_layer_gat, .n_in = 1, .n_out = 1, .set = set};
    layer_open(&c, l, &v, 0, cbx_matrix_dense(3, 1, x), &rng);
    CHECK_INT(c.num_theta, 4);
    memcpy(c.theta, theta, sizeof theta);
    const float *Y = layer_forward(&c);
    CHECK_NEAR(Y[0], set.no_self_loops ? 10 : 10 + 0, 1e-6);
    CHECK_NEAR(Y[1], set.no_self_loops ? 10 : 10 + log(2), 1e-6);
    CHECK_NEAR(Y[2], expected, 1e-6);
    layer_close(&c);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(gat_shares_a_sum_out_by_scores)
{
    /* Slope 1: scores are -3, ln 2 - 3 and -4, and what is put in for the loop weighs 1. */
    const double e = exp(-1), total = 1 + 2 + e;
    by_hand((cbx_layer_settings){.heads = 1, .negative_slope = 1}, 1,
            10 + (2 * log(2) - e) / total);
}

TEST(a_weight_multiplies_the_summand_above_and_below)
{
    const double e = exp(-1);
    by_hand((cbx_layer_settings){.heads = 1, .negative_slope = 1}, 3,
            10 + (2 * log(2) - e) / (3 + 2 + e));
    by_hand((cbx_layer_settings){.heads = 1, .negative_slope = 1}, 0,
            10 + (2 * log(2) - e) / (2 + e));
}

TEST(scores_below_0_are_multiplied_by_the_slope)
{
    /* Slope 0: all scores are 0. */
    by_hand((cbx_layer_settings){.heads = 1}, 1, 10 + (0 + log(2) - 1) / 3);
}

TEST(without_self_loops_a_loop_is_an_edge_like_others)
{
    by_hand((cbx_layer_settings){.heads = 1, .no_self_loops = true}, 1,
            10 + (0 + log(2) - 5) / (1 + 1 + 5));
}

/* Forward on a view whose slots `gone` have weight 0, then on the same without these slots. */
static void compare_without(cbx_layer_settings set, float score, bool marked)
{
    enum { N = 30, IN = 4, OUT = 6 };
    cbx_layer    l = {.ops = &cbx_layer_gat, .n_in = IN, .n_out = OUT, .set = set};
    random_graph r = make_graph((graph_shape){N, 90, 1, .weighted = true, .seed = 5});
    cbx_arena    arena = {0};
    bag          b = {0};
    cbx_rng      rng = cbx_rng_stream(3, 0, 0, 0), again;
    cbx_view     v = layer_view(r.graph, -1, 0, &arena), w;
    cbx_matrix   X = layer_input(&b, &rng, l, &v, 0);
    uint8_t     *removed = TAKE(&b, uint8_t, v.m);
    int64_t     *source = TAKE(&b, int64_t, v.m), *target = TAKE(&b, int64_t, v.m), left = 0;
    float       *weight = TAKE(&b, float, v.m);
    layer_case   c[2];
    for (int32_t i = 0; i < N; i++)
        for (int64_t e = v.offset[i]; e < v.offset[i + 1]; e++) {
            removed[e] = e % 3 == 0;
            source[left] = v.source[e];
            target[left] = i;
            weight[left] = v.weight[e];
            left += !removed[e];
        }
    cbx_graph_data d = {.num_nodes = N,
                        .num_features = 1,
                        .num_edges = left,
                        .edge_source = source,
                        .edge_target = target,
                        .edge_weight = weight,
                        .x = r.data.x,
                        .x_indptr = r.data.x_indptr,
                        .x_indices = r.data.x_indices,
                        .x_values = r.data.x_values};
    cbx_graph     *rest = NULL;
    CHECK_INT(cbx_graph_new(&d, &rest, NULL), CBX_OK);
    w = layer_view(rest, -1, 0, &arena);
    again = rng;
    layer_open(&c[0], l, &v, 0, X, &rng);
    layer_open(&c[1], l, &w, 0, X, &again);
    for (int64_t e = 0; e < v.m; e++)
        c[0].value[e] = removed[e] ? 0 : c[0].value[e];
    for (int k = 0; k < 2; k++)
        for (int64_t i = IN * OUT; i < IN * OUT + 2 * OUT; i++)
            c[k].theta[i] *= score; /* those that are gone would outweigh all others */
    v.removed = marked ? removed : NULL;
    CHECK(left < v.m);
    CHECK(same_bits(c[0].num_outputs, layer_forward(&c[0]), layer_forward(&c[1])));
    layer_close(&c[0]);
    layer_close(&c[1]);
    cbx_graph_free(rest);
    cbx_arena_free(&arena);
    bag_free(&b);
    free_graph(&r);
}

TEST(an_edge_of_weight_0_is_none_to_the_last_bit)
{
    const cbx_layer_settings sets[] = {
        {.heads = 1, .negative_slope = 0.2},
        {.heads = 3, .negative_slope = 0.2, .no_self_loops = true},
    };
    for (int i = 0; i < 2; i++)
        for (int marked = 0; marked < 2; marked++) {
            compare_without(sets[i], 1, marked);
            compare_without(sets[i], 200, marked);
        }
}

TEST(heads_share_a_layers_units_or_there_is_no_such_layer)
{
    cbx_error err = {0};
    cbx_layer l = {.ops = &cbx_layer_gat, .n_in = 3, .n_out = 10, .set.heads = 4};
    CHECK_INT(cbx_layer_check(&l, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "10 units");
    CHECK_CONTAINS(err.message, "4 heads");
    l.set.average_heads = true;
    CHECK_INT(cbx_layer_check(&l, &err), CBX_OK);
    l.n_out = INT32_MAX;
    CHECK_INT(cbx_layer_check(&l, &err), CBX_INVALID);
    l = (cbx_layer){.ops = &cbx_layer_gat, .n_in = 3, .n_out = 12, .set.heads = 4};
    CHECK_INT(cbx_layer_check(&l, &err), CBX_OK);
}

TEST(gat_on_a_receptive_field_gives_the_rows_of_the_whole_graph)
{
    cbx_layer l = {.ops = &cbx_layer_gat, .n_in = 6, .n_out = 4, .set = cbx_settings_default()};
    for (l.set.heads = 1; l.set.heads <= 2; l.set.heads++)
        check_prefixes(l);
}
