/* SPDX-License-Identifier: Apache-2.0 */
/* α over the epochs, for each policy, by hand. */
#include "policy.h"

#include "test.h"

static cbx_explain_options with(const char *policy, int64_t epochs)
{
    cbx_explain_options o;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "policy", policy, &err), err);
    o.epochs = epochs;
    return o;
}

static double alpha(const cbx_explain_options *o, int64_t t)
{
    return cbx_policy_alpha(o, t, 3, 2);
}

TEST(linear_falls_from_one_towards_zero)
{
    cbx_explain_options o = with("linear", 8);
    CHECK_NEAR(alpha(&o, 0), 1, 0);
    CHECK_NEAR(alpha(&o, 2), 0.75, 0);
    CHECK_NEAR(alpha(&o, 4), 0.5, 0);
    CHECK_NEAR(alpha(&o, 7), 0.125, 0);
    CHECK_NEAR(alpha(&o, 8), 0, 0);
    CHECK_NEAR(alpha(&o, 9), 0, 0); /* never below */
}

TEST(exponential_falls_by_e_in_as_many_epochs_as_the_decay)
{
    cbx_explain_options o = with("exponential", 8);
    CHECK_NEAR(o.decay, 0.1, 0);
    CHECK_NEAR(alpha(&o, 0), 1, 0);
    CHECK_NEAR(alpha(&o, 1), 4.5399929762484854e-05, 1e-18); /* e^-10 */
    CHECK_NEAR(alpha(&o, 2), 2.0611536224385579e-09, 1e-22);
    o.decay = 4;
    CHECK_NEAR(alpha(&o, 4), 0.36787944117144233, 1e-15);
    CHECK_NEAR(alpha(&o, 6), 0.22313016014842982, 1e-15);
}

TEST(sinusoidal_is_half_a_cosine)
{
    cbx_explain_options o = with("sinusoidal", 6);
    CHECK_NEAR(alpha(&o, 0), 1, 0);
    CHECK_NEAR(alpha(&o, 1), 0.93301270189221932, 1e-15); /* cos 30° = √3/2 */
    CHECK_NEAR(alpha(&o, 2), 0.75, 1e-15);
    CHECK_NEAR(alpha(&o, 3), 0.5, 1e-15);
    CHECK_NEAR(alpha(&o, 4), 0.25, 1e-15);
    CHECK_NEAR(alpha(&o, 6), 0, 1e-15);
}

TEST(dynamic_prices_whichever_loss_is_larger)
{
    cbx_explain_options o = with("dynamic", 6);
    CHECK_NEAR(cbx_policy_alpha(&o, 0, 2, 1), 0, 0); /* edges cost more: price edges */
    CHECK_NEAR(cbx_policy_alpha(&o, 5, 1, 2), 1, 0);
    CHECK_NEAR(cbx_policy_alpha(&o, 1, 2, 2), 1, 0); /* a tie prices features */
    CHECK_NEAR(cbx_policy_alpha(&o, 1, 0, 0), 1, 0);
}

TEST(constant_is_the_alpha_of_the_options)
{
    cbx_explain_options o = with("constant", 6);
    CHECK_NEAR(alpha(&o, 0), 1, 0);
    CHECK_NEAR(alpha(&o, 5), 1, 0);
    o.alpha = 0.3;
    CHECK_NEAR(alpha(&o, 0), 0.3, 0);
    CHECK_NEAR(alpha(&o, 5), 0.3, 0);
}

TEST(features_price_features_only_and_edges_edges_only)
{
    cbx_explain_options features = with("features", 6), edges = with("edges", 6);
    for (int64_t t = 0; t < 6; t++) {
        CHECK_NEAR(alpha(&features, t), 1, 0);
        CHECK_NEAR(alpha(&edges, t), 0, 0);
    }
}

TEST(a_search_of_one_epoch_has_an_alpha)
{
    static const char *const names[] = {"linear",   "exponential", "sinusoidal", "dynamic",
                                        "constant", "features",    "edges"};
    for (int i = 0; i < 7; i++) {
        cbx_explain_options o = with(names[i], 1);
        CHECK_NEAR(cbx_policy_alpha(&o, 0, 0, 0), i == 6 ? 0 : 1, 0);
    }
}
