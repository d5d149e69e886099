/* SPDX-License-Identifier: Apache-2.0 */
/* SAGE by hand, and on a receptive field as on the whole graph. */
#include "layer_case.h"

TEST(sage_adds_the_mean_of_messages_to_the_node_itself)
{
    /* W_l = 10, b = 7, W_r = 100. Node 2 hears (2*1 + 3*4) / 2 = 7; the others nothing. The setting
     * of another layer makes no difference. */
    layer_by_hand((cbx_layer_settings){.aggregation = CBX_MAX}, &cbx_layer_sage, (float[]){1, 4, 5},
                  (float[]){10, 7, 100}, 3, (double[]){107, 407, 577});
}

TEST(sage_on_a_receptive_field_gives_the_rows_of_the_whole_graph)
{
    check_prefixes(
        (cbx_layer){.ops = &cbx_layer_sage, .n_in = 6, .n_out = 4, .set = cbx_settings_default()});
}
