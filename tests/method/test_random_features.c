/* SPDX-License-Identifier: Apache-2.0 */
/* Moving features at random; the draws themselves are compared in test_golden_traces.c. */
#include "../search/rival.h"

RIVAL_TESTS(random_features, "random-features", true)

TEST(counterfactuals_of_random_features_hold)
{
    CHECK(rival_on_nodes("random-features", "60") > 10);
    CHECK(rival_on_graphs("random-features", "60") > 10);
}

/* Of a trace everything is drawn; otherwise only what can count. */
TEST(a_trace_changes_no_answer)
{
    int found = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        /* Three hops of a ring with chords are not all of it: some nodes are out of sight. */
        oracle o = oracle_make((oracle_shape){.nodes = 60, .seed = seed});
        for (int32_t row = 0; row < 3; row++) {
            cbx_explain_options plain =
                ASK("explainer", "random-features", "target", "any", "epochs", "60");
            cbx_explain_options traced = plain;
            traced.trace = true;
            cbx_counterfactual *a = explain_row(&o, row, &plain),
                               *b = explain_row(&o, row, &traced);
            CHECK_INT(a->outcome, b->outcome);
            CHECK_INT(a->epoch, b->epoch);
            CHECK_NEAR(a->loss, b->loss, 0);
            CHECK_INT(a->num_edits, b->num_edits);
            for (int64_t k = 0; k < a->num_edits && k < b->num_edits; k++)
                CHECK(a->edits[k].node == b->edits[k].node && a->edits[k].to == b->edits[k].to);
            found += a->outcome == CBX_FOUND;
            cbx_counterfactual_free(a), cbx_counterfactual_free(b);
        }
        oracle_free(&o);
    }
    CHECK(found > 3 && found < 18);
}

TEST(a_discrete_feature_whose_move_rounds_to_nothing_keeps_its_value)
{
    /* Bounds -1 and 5, values such as 1.3: moves are whole, so fractions stay. */
    oracle              o = oracle_make((oracle_shape){.nodes = 24, .kind = 'f', .seed = 3});
    cbx_explain_options ask = ASK("explainer", "random-features", "epochs", "80", "target", "any");
    int                 checked = 0;
    for (int32_t row = 0; row < 24; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &ask);
        for (int64_t k = 0; k < r->num_edits; k++, checked++) {
            const cbx_edit *e = &r->edits[k];
            double          move = (double)e->to - e->from;
            CHECK(e->to == -1 || e->to == 5 || fabs(move - rint(move)) < 1e-5);
        }
        cbx_counterfactual_free(r);
    }
    CHECK(checked > 100);
    oracle_free(&o);
}
