/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are taken back: of models of which the test knows how far a value has to go. */
#include <math.h>

#include "people.h"

TEST(a_value_goes_no_further_than_it_must)
{
    people p;
    make_people(&p);
    oracle              o = make_oracle(&p, (float[]){1, 0, 0}, 15000);
    cbx_counterfactual *r = EXPLAIN(&o, 3, NULL);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->certificate, CBX_OPTIMAL); /* nothing does with less than one change */
    CHECK_INT(r->num_edits, 1);
    CHECK_NEAR(r->edits[0].step, 199, 1e-3); /* a hundredth of 1,000 to 20,900 */
    CHECK(r->edits[0].to > 15000 && r->edits[0].to <= 15000 + r->edits[0].step);
    CHECK_NEAR(r->l1_mad, (double)(r->edits[0].to - 1300) / 5000, 0.02);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(a_counted_feature_goes_to_the_first_number_that_does)
{
    people p;
    make_people(&p);
    oracle              o = make_oracle(&p, (float[]){0, 1, 0}, 41.3F);
    cbx_counterfactual *r = EXPLAIN(&o, 3, NULL);
    CHECK_INT(r->num_edits, 1);
    CHECK_NEAR(r->edits[0].to, 42, 0);
    CHECK_NEAR(r->edits[0].step, 1, 0);
    cbx_counterfactual_free(r);
    r = EXPLAIN(&o, 49, NULL); /* from 69 down */
    CHECK_NEAR(r->edits[0].to, 41, 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* What counts less for its scale goes back first, and the other stays where it is. */
TEST(values_go_back_together)
{
    people p;
    make_people(&p);
    oracle o = make_oracle(&p, (float[]){0.01F, 4, 0}, 400); /* either reaches 209, 276 */
    cbx_counterfactual *r = EXPLAIN(&o, 0, "permitted-range", "0:0:20900,1:0:69", NULL);
    double              sum = 0;
    CHECK_INT(r->num_edits, 2);
    CHECK_INT(r->certificate, CBX_IRREDUCIBLE);
    for (int64_t k = 0; k < 2; k++)
        sum += (double)r->edits[k].to * (r->edits[k].feature == INCOME ? 0.01 : 4);
    CHECK(sum > 400 && sum < 404);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(values_leave_what_is_usual_only_where_that_takes_fewer_edits)
{
    people p;
    make_people(&p);
    p.x[INCOME] = 400000; /* one of 200: the middle 98 % end before it */
    oracle              o = make_oracle(&p, (float[]){1, 100, 0}, 21500);
    cbx_counterfactual *r = EXPLAIN(&o, 3, NULL);
    CHECK_INT(r->num_edits, 1); /* 19,200 do, within a step of 3,989, and 20,900 are usual */
    CHECK_INT(r->num_unusual, 0);
    CHECK(r->edits[0].to > 19200 && r->edits[0].to <= 20900);
    cbx_counterfactual_free(r);
    oracle_free(&o);
    o = make_oracle(&p, (float[]){1, 100, 0}, 25000);
    r = EXPLAIN(&o, 3, NULL);
    CHECK_INT(r->num_edits, 1); /* 22,700, or 20,900 and a greater age */
    CHECK_INT(r->num_unusual, 1);
    CHECK(r->edits[0].to > 22700 && r->edits[0].to < 22700 + r->edits[0].step);
    cbx_counterfactual_free(r);
    r = EXPLAIN(&o, 3, "permitted-range", "0:0:20800,1:0:69", NULL);
    CHECK_INT(r->num_edits, 2);
    CHECK_INT(r->num_unusual, 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* One step of age, of which there are few, or most of what incomes there are. */
TEST(of_answers_with_as_many_edits_the_nearest_is_taken)
{
    people p;
    make_people(&p);
    oracle              o = make_oracle(&p, (float[]){1, 10000, 0}, 238000);
    cbx_counterfactual *r = EXPLAIN(&o, 3, NULL); /* 231,300 */
    CHECK_INT(r->num_edits, 1);
    CHECK_INT(r->edits[0].feature, AGE);
    CHECK_NEAR(r->edits[0].to, 24, 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
    o = make_oracle(&p, (float[]){1, 10000, 0}, 231500);
    r = EXPLAIN(&o, 3, NULL);
    CHECK_INT(r->edits[0].feature, INCOME); /* 200 more, and not another year */
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(nothing_is_said_of_the_way_back_where_it_is_not_permitted)
{
    people p;
    make_people(&p);
    oracle              o = make_oracle(&p, (float[]){1, 0, 0}, 5000);
    cbx_counterfactual *r = EXPLAIN(&o, 3, "permitted-range", "0:8000:9000", NULL);
    CHECK_INT(r->certificate, CBX_OPTIMAL);
    CHECK_NEAR(r->edits[0].to, 8000, 0);
    CHECK_NEAR(r->edits[0].step, 0, 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(a_further_answer_is_no_other_value_of_the_same_feature)
{
    people p;
    make_people(&p);
    oracle              o = make_oracle(&p, (float[]){1, 400, 0}, 15000);
    cbx_counterfactual *r = EXPLAIN(&o, 3, "total-cfs", "2", NULL);
    CHECK(r->next != NULL);
    CHECK(r->next && r->next->edits[0].feature != r->edits[0].feature);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

TEST(ones_and_zeros_have_no_way_back)
{
    oracle              o = oracle_make((oracle_shape){0}); /* the karate club */
    cbx_counterfactual *r = EXPLAIN(&o, 8, NULL);
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK(isnan(r->l1_mad));
    for (int64_t k = 0; k < r->num_edits; k++)
        CHECK(r->edits[k].op != CBX_SET_FEATURE || r->edits[k].step == 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* By the income alone it takes more than anybody has; with the rate, too, it is nearer to some. */
TEST(an_answer_is_no_more_unusual_than_is_allowed)
{
    people p;
    make_people(&p);
    oracle              o = make_oracle(&p, (float[]){1, 0, 20000}, 40000);
    cbx_counterfactual *far = EXPLAIN(&o, 3, NULL);
    cbx_counterfactual *near = EXPLAIN(&o, 3, "plausible", "12", NULL);
    cbx_counterfactual *none = EXPLAIN(&o, 3, "plausible", "1", NULL);
    CHECK_INT(far->outcome, CBX_FOUND);
    CHECK_INT(far->num_edits, 1);
    CHECK(far->plausibility > 12);
    CHECK_INT(near->outcome, CBX_FOUND);
    CHECK_INT(near->num_edits, 2);
    CHECK(near->plausibility <= 12);
    CHECK_INT(near->certificate, CBX_IRREDUCIBLE);
    CHECK_INT(none->outcome, CBX_NOT_FOUND);
    CHECK_INT(none->certificate, CBX_NONE_WITHIN_BUDGET);
    cbx_counterfactual_free(far);
    cbx_counterfactual_free(near);
    cbx_counterfactual_free(none);
    oracle_free(&o);
}
