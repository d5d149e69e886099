/* SPDX-License-Identifier: Apache-2.0 */
/* A trace shows the cross-entropy of every epoch, so a traced search runs the oracle
 * in every epoch. Without a trace it is run where the answer is in doubt only. Both
 * must find the same. */
#include <math.h>

#include "../search/oracle.h"
#include "test.h"

static void compare(const cbx_counterfactual *traced, const cbx_counterfactual *quick)
{
    CHECK_INT(quick->outcome, traced->outcome);
    CHECK_INT(quick->epoch, traced->epoch);
    CHECK_INT(quick->epochs, traced->epochs);
    CHECK_INT(quick->num_edges_removed, traced->num_edges_removed);
    CHECK_INT(quick->num_features_changed, traced->num_features_changed);
    CHECK_NEAR(quick->loss, traced->loss, 1e-6 * fmax(1, fabs(traced->loss)));
    for (int64_t k = 0; k < quick->num_edits && k < traced->num_edits; k++) {
        const cbx_edit *a = &quick->edits[k], *b = &traced->edits[k];
        CHECK_INT(a->op, b->op);
        CHECK_INT(a->op == CBX_SET_FEATURE ? a->node : a->source,
                  b->op == CBX_SET_FEATURE ? b->node : b->source);
        CHECK_INT(a->op == CBX_SET_FEATURE ? a->feature : a->target,
                  b->op == CBX_SET_FEATURE ? b->feature : b->target);
        CHECK_NEAR(a->to, b->to, 1e-5 * fmax(1, fabs((double)b->to)));
    }
}

static int64_t explain_both(oracle_shape shape, const char *policy, const char *optimiser,
                            const char *target)
{
    oracle              o = oracle_make(shape);
    cbx_explain_options quick = ASK("policy", policy, "epochs", "150", "optimiser", optimiser,
                                    "target", target, "threads", "1");
    cbx_explain_options traced = quick;
    int64_t             found = 0;
    traced.trace = 1;
    for (int32_t row = 0; row < oracle_rows(&o) && row < 12; row++) {
        cbx_counterfactual *a = explain_row(&o, row, &quick), *b = explain_row(&o, row, &traced);
        compare(b, a);
        found += a->outcome == CBX_FOUND;
        cbx_counterfactual_free(a);
        cbx_counterfactual_free(b);
    }
    oracle_free(&o);
    return found;
}

TEST(every_policy_finds_the_same_with_and_without_a_trace)
{
    const char *const policies[] = {"linear",   "exponential", "sinusoidal", "dynamic",
                                    "constant", "features",    "edges"};
    int64_t           found = 0;
    for (int p = 0; p < 7; p++)
        found += explain_both((oracle_shape){0}, policies[p], "adam", "next");
    CHECK(found > 20);
}

TEST(every_kind_of_graph_does)
{
    const oracle_shape shapes[] = {
        {.nodes = 60, .kind = 'd', .seed = 1},
        {.nodes = 60, .kind = 'c', .seed = 2},
        {.nodes = 60, .sparse = true, .tight = true, .seed = 3},
        {.nodes = 60, .directed = true, .seed = 4},
        {.nodes = 80, .graphs = 8, .seed = 5},
        {.nodes = 60, .conv = "graphconv", .seed = 6},
        {.nodes = 60, .conv = "graphconv", .aggregation = "max", .seed = 7},
        {.nodes = 60, .conv = "graphconv", .aggregation = "mean", .directed = true, .seed = 8},
        {.nodes = 60, .conv = "cheb", .order = 1, .seed = 9},
    };
    int64_t found = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        found += explain_both(shapes[i], i % 2 ? "linear" : "sinusoidal", "adam",
                              i % 3 ? "next" : "any");
    CHECK(found > 20);
}

/* Few rows of many features: settled columns leave the first layer (fold_columns.h). */
TEST(graphs_of_few_nodes_and_many_features_do)
{
    const oracle_shape shapes[] = {
        {.nodes = 60, .graphs = 20, .kind = 'd', .features = 60, .tight = true, .seed = 1},
        {.nodes = 60, .graphs = 20, .conv = "graphconv", .kind = 'd', .features = 60, .seed = 2},
        {.nodes = 60, .graphs = 20, .features = 60, .tight = true, .seed = 3},
        {.nodes = 60, .graphs = 20, .conv = "cheb", .order = 2, .kind = 'd', .features = 40},
    };
    int64_t found = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        found += explain_both(shapes[i], "linear", "adam", "next");
    CHECK(found > 20);
}

TEST(every_optimiser_does)
{
    int64_t found = explain_both((oracle_shape){0}, "linear", "sgd", "any") +
                    explain_both((oracle_shape){0}, "linear", "adadelta", "any");
    CHECK(found > 0);
}
