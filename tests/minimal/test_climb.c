/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that are far away: no change has a slope, and many have to be made at once. */
#include <math.h>

#include "../search/oracle.h"
#include "test.h"

enum { FEATURES = 40, NEEDED = 7, MOST_OF_THEM = 33, RARELY_DRAWN = 36 };

/* Node 0 alone, all of its features 0. The other class leads by twice the number of features that
 * are 1 and above 6, less 1 (above `needed` - 1); below, nothing that is done to one of them
 * changes anything. */
static oracle make_with(float most, int needed)
{
    static float   x[3 * FEATURES], lo[FEATURES], hi[FEATURES], weight[FEATURES], none[FEATURES];
    static uint8_t discrete[FEATURES];
    static const int64_t source[] = {1, 2}, target[] = {2, 1}, y[] = {0, 1, 0};
    for (int j = 0; j < FEATURES; j++) {
        hi[j] = most;
        weight[j] = discrete[j] = 1;
    }
    oracle o = oracle_by_hand(&(cbx_graph_data){.num_nodes = 3,
                                                .num_features = FEATURES,
                                                .num_edges = 2,
                                                .num_classes = 2,
                                                .edge_source = source,
                                                .edge_target = target,
                                                .x = x,
                                                .y = y,
                                                .feat_min = lo,
                                                .feat_max = hi,
                                                .discrete = discrete},
                              "graphconv", "add", 1);
    oracle_set(&o, "layers.0.lin_rel.weight", none);
    oracle_set(&o, "layers.0.lin_rel.bias", (float[]){(float)(1 - needed)});
    oracle_set(&o, "layers.0.lin_root.weight", weight);
    oracle_set(&o, "output_layer.weight", (float[]){0, 2});
    oracle_set(&o, "output_layer.bias", (float[]){1, 0});
    return o;
}

static oracle make(float most)
{
    return make_with(most, NEEDED);
}

static cbx_counterfactual *explained(const oracle *o, const char *rule, const char *value)
{
    cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "min-edges", "0");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    if (rule)
        CHECK_OK(cbx_fields_set(cbx_explain_table(), &options, rule, value, &err), err);
    CHECK_OK(cbx_explain_with(o->model, o->graph, 0, &options, NULL, NULL, &r, &err), err);
    return r;
}

TEST(a_flip_that_no_single_change_leads_to_is_found_and_made_small)
{
    oracle              o = make(1);
    cbx_counterfactual *r = explained(&o, NULL, NULL);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->num_edits, NEEDED);
    CHECK_INT(r->certificate, CBX_IRREDUCIBLE);
    CHECK(isnan(r->best_lead));
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(a_flip_that_takes_nearly_everything_is_drawn)
{
    oracle              o = make_with(1, MOST_OF_THEM);
    cbx_counterfactual *r = explained(&o, NULL, NULL);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->num_edits, MOST_OF_THEM);
    CHECK_INT(r->certificate, CBX_IRREDUCIBLE);
    cbx_counterfactual_free(r);
    r = explained(&o, "immutable-features", "0-7"); /* 32 are left */
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* Of 30 features and more each tells, but all 40 have to be 1. */
TEST(where_a_draw_comes_near_a_climb_goes_on)
{
    oracle o = make_with(1, 30);
    oracle_set(&o, "output_layer.weight", (float[]){0, 0.097F});
    cbx_counterfactual *r = explained(&o, NULL, NULL);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->num_edits, FEATURES);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* Nothing leads to the flip but a draw of nearly all, and the first round has none; it is drawn
 * again where classes are as near to each other as here, and not where they are not. */
TEST(where_draws_come_near_others_are_drawn)
{
    for (int near = 0; near < 2; near++) {
        oracle o = make_with(1, RARELY_DRAWN);
        oracle_set(&o, "output_layer.bias", (float[]){near ? 0.05F : 1, 0});
        cbx_counterfactual *r = explained(&o, NULL, NULL);
        CHECK_INT(r->outcome, near ? CBX_FOUND : CBX_NOT_FOUND);
        CHECK_INT(r->num_edits, near ? RARELY_DRAWN : 0);
        cbx_counterfactual_free(r);
        oracle_free(&o);
    }
}

TEST(it_keeps_to_the_rules)
{
    oracle              o = make(1);
    cbx_counterfactual *r = explained(&o, "immutable-features", "0-4");
    CHECK_INT(r->outcome, CBX_FOUND);
    for (int64_t k = 0; k < r->num_edits; k++)
        CHECK(r->edits[k].feature >= 5);
    cbx_counterfactual_free(r);
    r = explained(&o, "max-edits", "6");
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(what_is_not_found_says_how_near_it_came)
{
    oracle              o = make(0.125F); /* of all 40 together 5, which is not above 6 */
    cbx_counterfactual *r = explained(&o, NULL, NULL);
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK_NEAR(r->best_lead, -1, 1e-5);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}
