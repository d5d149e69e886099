/* SPDX-License-Identifier: Apache-2.0 */
/* GIN by hand, and on a receptive field as on the whole graph. */
#include "layer_case.h"
#include "test.h"

/* X = 1, 4, 5. Hidden units: relu(x + 1) and
 * relu(-x + 2); Y = 10 of the first + 100 of the second + 7. */
static void by_hand(cbx_layer_settings set, double eps, const double *expected)
{
    const float theta[] = {1, -1, 1, 2, 10, 100, 7, (float)eps};
    layer_by_hand(set, &cbx_layer_gin, (float[]){1, 4, 5}, theta, 7 + set.train_eps, expected);
}

TEST(gin_adds_weighted_messages_to_the_node_itself)
{
    /* Sums 1, 4 and 5 + 2*1 + 3*4 = 19: hidden (2, 1), (5, 0), (20, 0). */
    by_hand((cbx_layer_settings){.mlp_hidden = 2}, 0, (double[]){127, 57, 207});
}

TEST(the_node_itself_counts_one_and_eps)
{
    /* eps = -1.5: sums -0.5, -2 and -2.5 + 14 = 11.5: hidden (0.5, 2.5), (0, 4), (12.5, 0). */
    const double expected[] = {262, 407, 132};
    by_hand((cbx_layer_settings){.mlp_hidden = 2, .eps = -1.5}, 0, expected);
    by_hand((cbx_layer_settings){.mlp_hidden = 2, .eps = 8, .train_eps = true}, -1.5, expected);
}

TEST(gin_on_a_receptive_field_gives_the_rows_of_the_whole_graph)
{
    check_prefixes(
        (cbx_layer){.ops = &cbx_layer_gin, .n_in = 6, .n_out = 4, .set = cbx_settings_default()});
}
