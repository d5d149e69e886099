/* SPDX-License-Identifier: Apache-2.0 */
/* Removing edges at random; the draws themselves are compared in test_golden_traces.c. */
#include "../search/rival.h"

RIVAL_TESTS(random_edges, "random-edges", true)

TEST(counterfactuals_of_random_edges_hold)
{
    CHECK(rival_on_nodes("random-edges", "60") > 10);
    CHECK(rival_on_graphs("random-edges", "60") > 0);
}

TEST(half_of_the_edges_stay)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "random-edges", "epochs", "400");
    ask.trace = true;
    cbx_counterfactual *r = explain_row(&o, 0, &ask);
    double              removed = 0;
    for (int64_t t = 0; t < r->num_trace; t++) {
        removed += (double)r->trace[t].removed_edges;
        CHECK_NEAR(r->trace[t].edge_loss, (double)r->trace[t].removed_edges, 0);
    }
    /* 62400 tosses: 0.002 is one standard deviation */
    CHECK_NEAR(removed / (double)(r->num_trace * r->num_edges), 0.5, 0.01);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(an_edge_that_always_stays_changes_nothing_and_one_that_never_does_is_gone)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options all = ASK("explainer", "random-edges", "epochs", "3", "random-keep", "1");
    cbx_explain_options none =
        ASK("explainer", "random-edges", "epochs", "3", "random-keep", "0", "edges", "undirected");
    all.trace = none.trace = true;
    cbx_counterfactual *a = explain_row(&o, 0, &all), *b = explain_row(&o, 0, &none);
    for (int t = 0; t < 3; t++) {
        CHECK_INT(a->trace[t].removed_edges, 0);
        CHECK_INT(b->trace[t].removed_edges, 156);
        CHECK_NEAR(b->trace[t].edge_loss, 78, 0); /* pairs */
    }
    CHECK_INT(a->outcome, CBX_NOT_FOUND);
    cbx_counterfactual_free(a);
    cbx_counterfactual_free(b);
    oracle_free(&o);
}
