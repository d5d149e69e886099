/* SPDX-License-Identifier: Apache-2.0 */
/* CLEAR: what it finds holds, and what it cannot do it says. */
#include "../search/rival.h"
#include "clear_train.h"

RIVAL_TESTS(clear, "clear", true)

TEST(counterfactuals_of_clear_hold)
{
    CHECK(rival_on_graphs("clear", "1") > 10);
}

TEST(training_makes_answers_more_like_the_graphs)
{
    oracle  o = oracle_make((oracle_shape){.nodes = 60, .graphs = 12});
    int64_t edits[2] = {0}, found[2] = {0};
    for (int trained = 0; trained < 2; trained++) {
        cbx_explain_options ask = ASK("explainer", "clear", "target", "any", "clear-lr", "0.01",
                                      "clear-epochs", trained ? "300" : "0");
        for (int32_t row = 0; row < 12; row++) {
            cbx_counterfactual *r = explain_row(&o, row, &ask);
            found[trained] += r->outcome == CBX_FOUND;
            edits[trained] += r->num_edits;
            cbx_counterfactual_free(r);
        }
    }
    CHECK(found[1] >= found[0] && found[1] > 6);
    CHECK(edits[1] * found[0] < edits[0] * found[1]); /* edits an answer */
    oracle_free(&o);
}

TEST(nodes_are_refused)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "clear");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &ask, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "clear explains graphs only");
    oracle_free(&o);
}

TEST(a_graph_of_more_than_a_hundred_nodes_is_told_and_others_are_explained)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 330, .graphs = 3});
    cbx_explain_options ask = ASK("explainer", "clear", "target", "any", "clear-epochs", "1");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &ask, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "graphs of at most 100 nodes, and all of these have more");
    oracle_free(&o);

    o = oracle_make((oracle_shape){.nodes = 201, .graphs = 2}); /* 100 and 101 nodes */
    r = explain_row(&o, 1, &ask);
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK_CONTAINS(r->reason, "the graph has 101 nodes, and clear explains graphs of at most 100");
    cbx_counterfactual_free(r);
    r = explain_row(&o, 0, &ask);
    CHECK(r->num_trained > 100 * 100 * 16 && !strstr(r->reason, "nodes"));
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* Two nodes and an edge, one feature each: Â has a half everywhere. */
TEST(features_are_smoothed_by_degrees_with_a_loop_at_every_node)
{
    static const int64_t offset[] = {0, 1, 2};
    static const int32_t source[] = {1, 0};
    const cbx_view       view = {.n = 2, .m = 2, .offset = offset, .source = source};
    const float          X[] = {1, 5};
    float                S[2];
    cbx_clear_smooth(&view, X, 1, S);
    CHECK_NEAR(S[0], 3, 1e-6);
    CHECK_NEAR(S[1], 3, 1e-6);
}
