/* SPDX-License-Identifier: Apache-2.0 */
/* GraphConv by hand with each aggregation, and on a receptive field as on the
 * whole graph. */
#include "layer_case.h"
#include "test.h"

/* 0 -> 2 of weight 2 and 1 -> 2 of weight 3; W_rel = 2, b = 1, W_root = 10. */
static void by_hand(cbx_aggregation aggregation, const float *x, const double *expected)
{
    layer_by_hand((cbx_layer_settings){.aggregation = aggregation}, &cbx_layer_graphconv, x,
                  (float[]){2, 1, 10}, 3, expected);
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
    for (int aggregation = CBX_ADD; aggregation <= CBX_MAX; aggregation++)
        check_prefixes((cbx_layer){
            .ops = &cbx_layer_graphconv, .n_in = 6, .n_out = 4, .set.aggregation = aggregation});
}
