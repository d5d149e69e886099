/* SPDX-License-Identifier: Apache-2.0 */
/* What answers cost: a fixed part for each change, and how far its value goes. */
#include <math.h>

#include <string.h>

#include "people.h"

/* A deviation of the income, which is 5,000, counts 50; one of the rate, a quarter, as said. */
static oracle make_bank(const people *p, double rate, double more_than)
{
    return make_oracle(p, (float[]){0.01F, 0, (float)(4 * rate)}, (float)more_than);
}

/* Person 50 has an income of 6,000 and a rate of a half: 60, and 120 with 60 for a deviation. By
 * 100 more, the income goes two deviations, the rate less; but the income can go further. */
static cbx_counterfactual *ask_for_100_more(const char *const *settings)
{
    people p;
    make_people(&p);
    oracle              o = make_bank(&p, 60, 60 + 120 + 100);
    cbx_counterfactual *r = explain_with(&o, 50, settings);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->num_edits, 1);
    CHECK_NEAR(r->lower_bound, 1, 0); /* an edge, or a feature that costs no more */
    /* one that costs as little is the cheapest: nothing does with less than one change */
    bool least = r->cost < 1 + 1e-9 || r->cost - r->l1_mad < 1 + 1e-9;
    CHECK_INT(r->certificate, least ? CBX_OPTIMAL : CBX_IRREDUCIBLE);
    oracle_free(&o);
    return r;
}

#define ASK_FOR_100_MORE(...) \
    ask_for_100_more((const char *const[]){"beam", "1", "candidates", "1", __VA_ARGS__})

TEST(of_answers_with_as_many_edits_the_nearest_is_given)
{
    cbx_counterfactual *r = ASK_FOR_100_MORE(NULL);
    CHECK_INT(r->edits[0].feature, RATE);
    CHECK_NEAR(r->l1_mad, 100.0 / 60, 0.05);
    CHECK_NEAR(r->cost, 1 + r->l1_mad, 1e-9);
    cbx_counterfactual_free(r);
}

TEST(where_only_edits_count_the_way_does_not)
{
    cbx_counterfactual *r = ASK_FOR_100_MORE("cost", "edits", NULL);
    CHECK_INT(r->edits[0].feature, INCOME);
    CHECK_NEAR(r->l1_mad, 2, 0.05);
    CHECK_NEAR(r->cost, 1, 0);
    cbx_counterfactual_free(r);
}

TEST(a_feature_that_costs_more_is_left_alone)
{
    cbx_counterfactual *r = ASK_FOR_100_MORE("feature-cost", "2:3", NULL);
    CHECK_INT(r->edits[0].feature, INCOME);
    CHECK_NEAR(r->cost, 1 + r->l1_mad, 1e-9);
    cbx_counterfactual_free(r);
}

TEST(a_price_is_of_the_fixed_part_and_of_the_way)
{
    cbx_counterfactual *r = ASK_FOR_100_MORE("feature-cost", "7,2:5", NULL);
    CHECK_INT(r->edits[0].feature, RATE);
    CHECK_NEAR(r->cost, 5 * (1 + r->l1_mad), 1e-9);
    cbx_counterfactual_free(r);
}

/* Person 70 has 8,000 and a rate of 0.7, which can go 1.2 deviations of 100 each. By 125 more, the
 * income alone goes 2.5 deviations; with the rate both go 1.3, which is worth an edit. */
static cbx_counterfactual *ask_for_125_more(const char *cost)
{
    people p;
    make_people(&p);
    oracle              o = make_bank(&p, 100, 80 + 280 + 125);
    cbx_counterfactual *r = EXPLAIN(&o, 70, "cost", cost, NULL);
    CHECK_INT(r->outcome, CBX_FOUND);
    bool traded = !strcmp(cost, "distance");
    CHECK_INT(r->certificate, r->num_edits > 1 || traded ? CBX_IRREDUCIBLE : CBX_OPTIMAL);
    CHECK_NEAR(r->lower_bound, 1, 0);
    CHECK_NEAR(r->cost, (double)r->num_edits + r->l1_mad, 1e-9);
    oracle_free(&o);
    return r;
}

TEST(by_distance_an_edit_more_may_save_more_than_it_costs)
{
    cbx_counterfactual *both = ask_for_125_more("both"), *distance = ask_for_125_more("distance");
    CHECK_INT(both->num_edits, 1);
    CHECK_NEAR(both->l1_mad, 2.5, 0.05);
    CHECK_INT(distance->num_edits, 2);
    CHECK_NEAR(distance->l1_mad, 1.3, 0.05);
    CHECK(distance->cost < both->cost);
    cbx_counterfactual_free(both);
    cbx_counterfactual_free(distance);
}

/* With the fewest edits first, further answers are in that order, and then the nearest first. */
TEST(answers_are_in_the_order_of_what_counts)
{
    people p;
    make_people(&p);
    oracle              o = make_bank(&p, 60, 60 + 120 + 100);
    cbx_counterfactual *r = EXPLAIN(&o, 50, "total-cfs", "3", NULL);
    int64_t             answers = 1;
    for (const cbx_counterfactual *a = r; a->next; a = a->next, answers++) {
        CHECK(a->num_edits <= a->next->num_edits);
        CHECK(a->num_edits < a->next->num_edits || a->cost <= a->next->cost);
    }
    CHECK(answers >= 2);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* A proof tries sets by their number; of a trade against the way it says nothing. */
TEST(nothing_is_optimal_where_edits_are_traded)
{
    people p;
    make_people(&p);
    oracle              o = make_oracle(&p, (float[]){0, 1, 0}, 41.3F);
    const char         *ages = "1", *range = "1:20:69";
    cbx_counterfactual *both = EXPLAIN(&o, 3, "features-to-vary", ages, "permitted-range", range,
                                       "own-features", "true", "prove", "5", NULL);
    cbx_counterfactual *distance =
        EXPLAIN(&o, 3, "features-to-vary", ages, "permitted-range", range, "own-features", "true",
                "prove", "5", "cost", "distance", NULL);
    CHECK_INT(both->certificate, CBX_OPTIMAL);
    CHECK_CONTAINS(both->scope, "however far values go");
    CHECK_INT(distance->certificate, CBX_IRREDUCIBLE);
    cbx_counterfactual_free(both);
    cbx_counterfactual_free(distance);
    oracle_free(&o);
}

static void check_refused(const char *costs, const char *expected)
{
    people p;
    make_people(&p);
    oracle              o = make_bank(&p, 60, 1000);
    cbx_explain_options options;
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &options);
    oracle_must(cbx_fields_set(cbx_explain_table(), &options, "feature-cost", costs, &err), &err);
    CHECK_INT(cbx_explain_with(o.model, o.graph, 50, &options, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, expected);
    oracle_free(&o);
}

TEST(costs_that_make_no_sense_are_refused_with_their_place)
{
    check_refused("2,1:x", "'x' at position 5: expected a cost from 1e-6 to 1e6");
    check_refused("0", "'0' at position 1: expected a cost from 1e-6 to 1e6");
    check_refused("1:1e7", "'1e7' at position 3");
    check_refused("3:1", "feature 3 does not exist");
}
