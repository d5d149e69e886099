/* SPDX-License-Identifier: Apache-2.0 */
/* D4Explainer: what it finds holds, and what it cannot do it says. */
#include "../search/rival.h"
#include "d4_train.h"

RIVAL_TESTS(d4, "d4", true)

TEST(counterfactuals_of_d4_hold)
{
    CHECK(rival_on_graphs("d4", "1") > 0);
}

TEST(nodes_are_refused)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "d4");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &ask, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "d4 explains graphs only");
    oracle_free(&o);
}

/* A graph of 100 nodes takes 10 000 pairs, of width 4096 and 16 layers some 20 GB. */
TEST(graphs_that_do_not_fit_in_memory_are_refused_before_anything_is_trained)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 300, .graphs = 3});
    cbx_explain_options ask = ASK("explainer", "d4", "d4-width", "4096", "d4-layers", "2");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &ask, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "d4 would need more than 2 GB for any of these graphs");
    CHECK_CONTAINS(err.message, "they may have ");
    oracle_free(&o);
}

TEST(noise_turns_its_share_of_pairs_around_and_no_loops)
{
    enum { n = 60 };
    uint8_t adjacency[n * n] = {0};
    cbx_rng rng = cbx_rng_stream(1, 2, 3, 4);
    int     count = 0;
    cbx_d4_shake(n, true, 0.25, &rng, adjacency);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            CHECK(i != j || !adjacency[i * n + j]);
            CHECK(adjacency[i * n + j] == adjacency[j * n + i]);
            count += adjacency[i * n + j];
        }
    CHECK(count > 0.2 * n * (n - 1) && count < 0.3 * n * (n - 1));
}

/* Trained on the graphs alone, without the oracle, it learns to give them back. */
TEST(training_teaches_to_take_noise_off)
{
    oracle  o = oracle_make((oracle_shape){.nodes = 60, .graphs = 12});
    int64_t removed[2] = {0};
    for (int trained = 0; trained < 2; trained++) {
        cbx_explain_options ask =
            ASK("explainer", "d4", "target", "any", "d4-epochs", trained ? "60" : "0", "d4-width",
                "8", "d4-layers", "2", "d4-lr", "0.01", "d4-oracle", "0", "d4-noise", "0.1");
        ask.trace = true;
        for (int32_t row = 0; row < 12; row++) {
            cbx_counterfactual *r = explain_row(&o, row, &ask);
            for (int64_t k = 0; k < r->num_trace; k++)
                removed[trained] += r->trace[k].removed_edges;
            cbx_counterfactual_free(r);
        }
    }
    CHECK(removed[1] < removed[0] / 2);
    oracle_free(&o);
}
