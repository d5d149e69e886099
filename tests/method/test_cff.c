/* SPDX-License-Identifier: Apache-2.0 */
/* CF²; its epochs are compared in test_golden_traces.c. */
#include "../search/rival.h"

RIVAL_TESTS(cff, "cff", true)

TEST(counterfactuals_of_cff_hold)
{
    CHECK(rival_on_nodes("cff", "80") > 10);
    CHECK(rival_on_graphs("cff", "80") > 0);
}

/* Without margins nothing holds the mask up: Adam's first step lowers each by lr. */
TEST(without_margins_the_mask_shrinks_to_nothing)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "cff", "cff-lambda", "0", "cff-lr", "1", "epochs",
                                  "20", "edges", "undirected");
    ask.trace = true;
    cbx_counterfactual *r = explain_row(&o, 0, &ask);
    for (int64_t t = 1; t < r->num_trace; t++) {
        CHECK(r->trace[t].edge_loss < r->trace[t - 1].edge_loss);
        CHECK_NEAR(r->trace[t].loss, r->trace[t].edge_loss, 1e-9);
        CHECK(r->trace[t].removed_edges <= r->trace[t - 1].removed_edges);
    }
    CHECK_INT(r->trace[19].removed_edges, 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(masks_start_from_the_normal_distribution)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "cff", "epochs", "1");
    double              sum = 0;
    ask.trace = true;
    for (int64_t seed = 0; seed < 200; seed++) {
        ask.seed = seed;
        cbx_counterfactual *r = explain_row(&o, 0, &ask);
        sum += r->trace[0].edge_loss / 156;
        CHECK(r->trace[0].edge_loss > 0 && r->trace[0].edge_loss < 156);
        cbx_counterfactual_free(r);
    }
    CHECK_NEAR(sum / 200, 0.5, 0.005); /* σ of a symmetric draw; one deviation is 0.001 */
    oracle_free(&o);
}
