/* SPDX-License-Identifier: Apache-2.0 */
/* What the search finds: every counterfactual, applied to the graph and shown to
 * the oracle anew, does what it says, for all oracles, tasks and policies. */
#include "../search/holds.h"

/* With all policies that differ in kind, both kinds of edges and of targets; at
 * least `least` of a hundred must be found, or nothing was tested. */
static void check_oracle(oracle_shape shape, int least, bool edges_matter)
{
    oracle o = oracle_make(shape);
    /* Chebyshev layers look further than one hop each, and count arrows that leave */
    bool same =
        !shape.conv || strcmp(shape.conv, "cheb") != 0 || (shape.order < 3 && !shape.directed);
    cbx_explain_options linear = ASK("policy", "linear", "epochs", "60");
    cbx_explain_options both =
        ASK("policy", "dynamic", "epochs", "60", "edges", "undirected", "target", "any");
    cbx_explain_options features = ASK("policy", "features", "epochs", "40", "target", "any");
    cbx_explain_options edges = ASK("policy", "edges", "epochs", "60", "target", "any");
    cbx_explain_options pairs = ASK("policy", "edges", "epochs", "60", "edges", "undirected");
    int rates[] = {explain_rows(&o, &linear, 1, same), explain_rows(&o, &both, 1, same),
                   explain_rows(&o, &features, 1, same)};
    int by_edges = explain_rows(&o, &edges, 1, same) + explain_rows(&o, &pairs, 1, same);
    for (int i = 0; i < 3; i++)
        if (!CHECK(rates[i] >= least))
            printf("  (%s: only %d%% found)\n", shape.conv ? shape.conv : "gcn", rates[i]);
    CHECK(edges_matter ? by_edges > 0 : by_edges == 0);
    oracle_free(&o);
}

TEST(every_counterfactual_on_karate_holds_with_gcn)
{
    check_oracle((oracle_shape){.conv = "gcn"}, 50, true);
}

TEST(every_counterfactual_on_karate_holds_with_cheb_of_order_1_2_and_3)
{
    for (int64_t order = 1; order <= 3; order++) /* order 1 looks at no edge */
        check_oracle((oracle_shape){.conv = "cheb", .order = order}, 50, order > 1);
}

TEST(every_counterfactual_on_karate_holds_with_graphconv_add_mean_and_max)
{
    check_oracle((oracle_shape){.conv = "graphconv", .aggregation = "add"}, 50, true);
    check_oracle((oracle_shape){.conv = "graphconv", .aggregation = "mean"}, 50, true);
    check_oracle((oracle_shape){.conv = "graphconv", .aggregation = "max"}, 50, true);
}

TEST(every_counterfactual_of_a_graph_task_holds)
{
    static const char *const convs[] = {"gcn", "cheb", "graphconv"};
    for (int i = 0; i < 3; i++)
        for (int sparse = 0; sparse < 2; sparse++)
            check_oracle((oracle_shape){convs[i], 2, "add", 60, 12, .sparse = sparse}, 50, true);
}

TEST(every_counterfactual_on_a_directed_graph_with_loops_and_weights_holds)
{
    static const char *const convs[] = {"gcn", "cheb", "graphconv", "graphconv", "graphconv"};
    static const char *const how[] = {"add", "add", "add", "mean", "max"};
    for (int i = 0; i < 5; i++)
        check_oracle((oracle_shape){convs[i], 2, how[i], 24, .directed = true, .sparse = i % 2}, 50,
                     true);
}

/* What a search within a budget does not see is there when its edits are checked. */
TEST(every_counterfactual_of_a_search_within_a_budget_holds)
{
    static const char *const budgets[] = {"40", "60", "100"}; /* 8, 12 and 20 nodes */
    oracle                   o = oracle_make((oracle_shape){.nodes = 60, .directed = true});
    for (int i = 0; i < 3; i++) {
        cbx_explain_options a = ASK("budget", budgets[i], "epochs", "60", "target", "any");
        CHECK(explain_rows(&o, &a, 1, true) > 20);
        cbx_counterfactual *r = explain_row(&o, 0, &a);
        CHECK(r->num_nodes <= a.budget / 5 && r->num_left_out > 0);
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

TEST(all_seven_policies_and_all_optimisers_find_what_holds)
{
    static const char *const policies[] = {"linear",   "exponential", "sinusoidal", "dynamic",
                                           "constant", "features",    "edges"};
    static const char *const optimisers[][3] = {
        {"adam", "0.1", "0"}, {"sgd", "2", "0"}, {"sgd", "1", "0.9"}, {"adadelta", "10", "0"}};
    oracle o = oracle_make((oracle_shape){.nodes = 24, .directed = true});
    for (int p = 0; p < 7; p++)
        for (int k = 0; k < 4; k++) {
            cbx_explain_options a =
                ASK("policy", policies[p], "optimiser", optimisers[k][0], "lr", optimisers[k][1],
                    "momentum", optimisers[k][2], "epochs", "80", "target", "any");
            int rate = explain_rows(&o, &a, 3, true);
            if (!CHECK(rate > 0))
                printf("  (%s, %s: nothing found)\n", policies[p], optimisers[k][0]);
        }
    oracle_free(&o);
}
