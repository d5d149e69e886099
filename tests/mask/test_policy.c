/* SPDX-License-Identifier: Apache-2.0 */
/* α over the epochs, for each policy, by hand. */
#include "policy.h"

#include "test.h"

static double alpha(const cbx_policy *policy, int64_t t, int64_t T)
{
    return cbx_policy_alpha(policy, t, T, 3, 2);
}

TEST(linear_falls_from_one_towards_zero)
{
    cbx_policy o = {.shape = CBX_POLICY_LINEAR, .alpha = 1, .decay = 0.1};
    CHECK_NEAR(alpha(&o, 0, 8), 1, 0);
    CHECK_NEAR(alpha(&o, 2, 8), 0.75, 0);
    CHECK_NEAR(alpha(&o, 4, 8), 0.5, 0);
    CHECK_NEAR(alpha(&o, 7, 8), 0.125, 0);
    CHECK_NEAR(alpha(&o, 8, 8), 0, 0);
    CHECK_NEAR(alpha(&o, 9, 8), 0, 0); /* never below */
}

TEST(exponential_falls_by_e_in_as_many_epochs_as_the_decay)
{
    cbx_policy o = {.shape = CBX_POLICY_EXPONENTIAL, .alpha = 1, .decay = 0.1};
    CHECK_NEAR(alpha(&o, 0, 8), 1, 0);
    CHECK_NEAR(alpha(&o, 1, 8), 4.5399929762484854e-05, 1e-18); /* e^-10 */
    CHECK_NEAR(alpha(&o, 2, 8), 2.0611536224385579e-09, 1e-22);
    o.decay = 4;
    CHECK_NEAR(alpha(&o, 4, 8), 0.36787944117144233, 1e-15);
    CHECK_NEAR(alpha(&o, 6, 8), 0.22313016014842982, 1e-15);
}

TEST(sinusoidal_is_half_a_cosine)
{
    cbx_policy o = {.shape = CBX_POLICY_SINUSOIDAL, .alpha = 1, .decay = 0.1};
    CHECK_NEAR(alpha(&o, 0, 6), 1, 0);
    CHECK_NEAR(alpha(&o, 1, 6), 0.93301270189221932, 1e-15); /* cos 30° = √3/2 */
    CHECK_NEAR(alpha(&o, 2, 6), 0.75, 1e-15);
    CHECK_NEAR(alpha(&o, 3, 6), 0.5, 1e-15);
    CHECK_NEAR(alpha(&o, 4, 6), 0.25, 1e-15);
    CHECK_NEAR(alpha(&o, 6, 6), 0, 1e-15);
}

TEST(dynamic_prices_whichever_loss_is_larger)
{
    cbx_policy o = {.shape = CBX_POLICY_DYNAMIC, .alpha = 1, .decay = 0.1};
    CHECK_NEAR(cbx_policy_alpha(&o, 0, 6, 2, 1), 0, 0); /* edges cost more: price edges */
    CHECK_NEAR(cbx_policy_alpha(&o, 5, 6, 1, 2), 1, 0);
    CHECK_NEAR(cbx_policy_alpha(&o, 1, 6, 2, 2), 1, 0); /* a tie prices features */
    CHECK_NEAR(cbx_policy_alpha(&o, 1, 6, 0, 0), 1, 0);
}

TEST(constant_is_the_alpha_of_the_options)
{
    cbx_policy o = {.shape = CBX_POLICY_CONSTANT, .alpha = 1, .decay = 0.1};
    CHECK_NEAR(alpha(&o, 0, 6), 1, 0);
    CHECK_NEAR(alpha(&o, 5, 6), 1, 0);
    o.alpha = 0.3;
    CHECK_NEAR(alpha(&o, 0, 6), 0.3, 0);
    CHECK_NEAR(alpha(&o, 5, 6), 0.3, 0);
}

TEST(features_price_features_only_and_edges_edges_only)
{
    cbx_policy features = {.shape = CBX_POLICY_FEATURES}, edges = {.shape = CBX_POLICY_EDGES};
    for (int64_t t = 0; t < 6; t++) {
        CHECK_NEAR(alpha(&features, t, 6), 1, 0);
        CHECK_NEAR(alpha(&edges, t, 6), 0, 0);
    }
}

TEST(a_search_of_one_epoch_has_an_alpha)
{
    for (int shape = 0; shape <= CBX_POLICY_EDGES; shape++) {
        cbx_policy o = {.shape = shape, .alpha = 1, .decay = 0.1};
        CHECK_NEAR(cbx_policy_alpha(&o, 0, 1, 0, 0), shape == CBX_POLICY_EDGES ? 0 : 1, 0);
    }
}
