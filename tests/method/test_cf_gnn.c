/* SPDX-License-Identifier: Apache-2.0 */
/* CF-GNNExplainer; its epochs are compared in test_golden_traces.c. */
#include "../search/rival.h"
#include "../search/own_options.h"

RIVAL_TESTS(cf_gnn, "cf-gnn", false)

TEST(counterfactuals_of_cf_gnn_hold)
{
    CHECK(rival_on_nodes("cf-gnn", "60") > 10);
    CHECK(rival_on_graphs("cf-gnn", "60") > 0);
}

/* All of an epoch's loss that has no cross-entropy is β times the distance. */
TEST(beta_is_the_price_of_a_removed_edge)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "cf-gnn", "target", "any", "cf-gnn-beta", "0.125");
    int64_t             flipped = 0;
    ask.trace = true;
    for (int32_t row = 0; row < 34; row += 4) {
        cbx_counterfactual *r = explain_row(&o, row, &ask);
        for (int64_t t = 0; t < r->num_trace; t++) {
            const cbx_epoch *e = &r->trace[t];
            CHECK_NEAR(e->loss, e->eta * e->ce + 0.125 * e->edge_loss, 1e-9);
            flipped += e->eta == 0;
            CHECK(e->hit == (e->eta == 0)); /* any other class is a hit */
        }
        cbx_counterfactual_free(r);
    }
    CHECK(flipped > 0);
    oracle_free(&o);
}

/* A step of plain descent is lr times a gradient whose norm is at most the clip. */
TEST(the_gradient_is_clipped)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "cf-gnn", "optimiser", "sgd", "lr", "1", "epochs",
                                  "2", "cf-gnn-beta", "1000", "cf-gnn-clip", "0.5");
    ask.trace = true;
    cbx_counterfactual *r = explain_row(&o, 0, &ask);
    /* The price rules: all 156 parameters rise from 1 by the same step, which has norm 0.5. */
    double EP = 1 + 0.5 / sqrt(156);
    CHECK_NEAR(r->trace[0].edge_loss, 156 * (1 - 1 / (1 + exp(-1.0))), 1e-3);
    CHECK_NEAR(r->trace[1].edge_loss, 156 * (1 - 1 / (1 + exp(-EP))), 1e-3);
    cbx_counterfactual_free(r);
    set_option(&ask, "cf-gnn-clip", "0");
    r = explain_row(&o, 0, &ask);
    CHECK_NEAR(r->trace[1].edge_loss, 0, 1e-9);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* Without a gradient of the distance, a flipped graph stays as it is. */
TEST(a_hard_distance_counts_edges_and_brings_none_back)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "cf-gnn", "target", "any", "cf-gnn-distance", "hard",
                                  "edges", "undirected", "optimiser", "sgd", "lr", "1");
    int                 found = 0;
    ask.trace = true;
    for (int32_t row = 0; row < 34; row += 3) {
        cbx_counterfactual *r = explain_row(&o, row, &ask);
        for (int64_t t = 0; t < r->num_trace; t++) {
            const cbx_epoch *e = &r->trace[t];
            CHECK_INT((int64_t)e->edge_loss * 2, e->removed_edges); /* karate has no loops */
            if (t && r->trace[t - 1].eta == 0)
                CHECK(e->eta == 0 && e->removed_edges == r->trace[t - 1].removed_edges);
        }
        found += r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
    }
    CHECK(found > 0);
    oracle_free(&o);
}
