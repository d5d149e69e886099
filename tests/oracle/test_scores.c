/* SPDX-License-Identifier: Apache-2.0 */
/* What the scores of a model mean. Log-probabilities are worked out by hand, gradients compared
 * with differences. */
#include <math.h>
#include <string.h>

#include "scores.h"
#include "test.h"

static const cbx_view no_view; /* ranges here are fixed ones */

static cbx_scores reading_of(cbx_meaning means, int32_t scores, const char *label)
{
    cbx_scores       r = {0};
    cbx_error        err = {0};
    cbx_open_options said = {.scores = (int)means, .label = label};
    CHECK_OK(cbx_scores_make(&said, CBX_MEANS_AUTO, scores, "test", &r, &err), err);
    return r;
}

TEST(ranges_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        double      low, high, share, step;
    } good[] = {{">=3.5", 3.5, INFINITY, 0, 0},
                {" <= -2 ", -INFINITY, -2, 0, 0},
                {"[2, 3]", 2, 3, 0, 0},
                {"+10%", -INFINITY, INFINITY, 0.1, 0},
                {"-0.5", -INFINITY, INFINITY, 0, -0.5}};
    static const char *const bad[] = {"",      "3",     ">=",    "[3,2]", "[1,2", "+0%",
                                      ">=1 2", "[1;2]", ">=nan", ">=inf", "next", "+10%%"};
    cbx_range                range;
    cbx_error                err = {0};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        CHECK_OK(cbx_range_parse(good[k].text, &range, &err), err);
        CHECK(range.low == good[k].low && range.high == good[k].high);
        CHECK_NEAR(range.share, good[k].share, 1e-15);
        CHECK_NEAR(range.step, good[k].step, 1e-15);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK_INT(cbx_range_parse(bad[k], &range, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "a range is expected");
    }
    CHECK_OK(cbx_range_parse("<2", &range, &err), err);
    CHECK(range.high < 2 && range.high > 1.999999999);
}

TEST(the_end_of_a_range_is_inside)
{
    cbx_error  err = {0};
    cbx_range  range;
    cbx_scores r = reading_of(CBX_MEANS_NUMBERS, 1, NULL);
    float      logp[2];
    CHECK_INT(cbx_scores_classes(&r), 1);
    r.aim = &range;
    CHECK_INT(cbx_scores_classes(&r), 2);
    static const struct {
        const char *range;
        double      number;
        bool        inside;
    } cases[] = {{">=3.5", 3.5, true},   {">3.5", 3.5, false},   {"<=3.5", 3.5, true},
                 {"<3.5", 3.5, false},   {"[2,3]", 2, true},     {"[2,3]", 3, true},
                 {"[2,3]", 3.01, false}, {"[2,3]", 1.99, false}, {"[2,2]", 2, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        CHECK_OK(cbx_range_parse(cases[k].range, &range, &err), err);
        cbx_scores_forward(&r, &no_view, 0, &cases[k].number, logp);
        CHECK_INT(logp[1] > logp[0], cases[k].inside);
        CHECK_NEAR(exp((double)logp[0]) + exp((double)logp[1]), 1, 1e-6);
    }
}

TEST(a_range_can_be_told_from_what_each_row_has)
{
    static const double  base[] = {10, -10, 0};
    static const int32_t node[] = {1, 0, 2};
    cbx_view             view = {.node = node};
    cbx_range            up, down;
    cbx_error            err = {0};
    cbx_scores           r = reading_of(CBX_MEANS_NUMBERS, 1, NULL);
    float                logp[2];
    CHECK_OK(cbx_range_parse("+10%", &up, &err), err);
    CHECK_OK(cbx_range_parse("-0.5", &down, &err), err);
    up.base = down.base = base;
    static const double nine = -9, eleven = 11, less = -10.5;
    r.aim = &up;
    cbx_scores_forward(&r, &view, 0, &nine, logp); /* node 1: -10, and a tenth more is -9 */
    CHECK(logp[1] > logp[0]);
    cbx_scores_forward(&r, &view, 1, &eleven, logp);
    CHECK(logp[1] > logp[0]);
    cbx_scores_forward(&r, &view, 1, &nine, logp);
    CHECK(logp[1] < logp[0]);
    r.aim = &down;
    cbx_scores_forward(&r, &view, 0, &less, logp);
    CHECK(logp[1] > logp[0]);
}

TEST(scores_of_every_meaning_become_log_probabilities)
{
    static const double scores[] = {0.2, 0.7, 0.1};
    float               logp[3];
    cbx_scores          r = reading_of(CBX_MEANS_CLASSES, 3, NULL);
    double              sum = exp(0.2) + exp(0.7) + exp(0.1);
    cbx_scores_forward(&r, &no_view, 0, scores, logp);
    CHECK_NEAR(logp[1], 0.7 - log(sum), 1e-6);
    r = reading_of(CBX_MEANS_PROBABILITIES, 3, NULL);
    cbx_scores_forward(&r, &no_view, 0, scores, logp);
    CHECK_NEAR(logp[0], log(0.2), 1e-6);
    r = reading_of(CBX_MEANS_LABELS, 3, "1");
    cbx_scores_forward(&r, &no_view, 0, scores, logp);
    CHECK_NEAR(logp[1], -log1p(exp(-0.7)), 1e-6);
    r = reading_of(CBX_MEANS_CHANCES, 3, "1");
    cbx_scores_forward(&r, &no_view, 0, scores, logp);
    CHECK_NEAR(logp[1], log(0.7), 1e-6);
    CHECK_NEAR(logp[0], log(0.3), 1e-6);
}

TEST(certain_chances_are_no_errors_and_what_is_not_finite_is_unknown)
{
    static const double certain[] = {1, 0}, unknown[] = {NAN, 1}, beyond[] = {1.5, 0};
    float               logp[2];
    cbx_scores          r = reading_of(CBX_MEANS_PROBABILITIES, 2, NULL);
    cbx_scores_forward(&r, &no_view, 0, certain, logp);
    CHECK(logp[0] == 0 && logp[1] < -1000 && isfinite(logp[1]));
    cbx_scores_forward(&r, &no_view, 0, unknown, logp);
    CHECK(isnan(logp[0]) && isnan(logp[1]));
    r = reading_of(CBX_MEANS_CHANCES, 2, "0");
    cbx_scores_forward(&r, &no_view, 0, certain, logp);
    CHECK(logp[1] == 0 && isfinite(logp[0]));
    cbx_scores_forward(&r, &no_view, 0, beyond, logp);
    CHECK(isnan(logp[0]));
}

TEST(gradients_of_scores_are_those_of_differences)
{
    static const cbx_meaning all[] = {CBX_MEANS_CLASSES, CBX_MEANS_PROBABILITIES, CBX_MEANS_LABELS,
                                      CBX_MEANS_CHANCES, CBX_MEANS_NUMBERS};
    static const float       dlogp[] = {0.7F, -1.3F, 0.4F};
    cbx_error                err = {0};
    cbx_range                range;
    CHECK_OK(cbx_range_parse("[0.1,0.65]", &range, &err), err);
    for (size_t k = 0; k < 5; k++) {
        double     scores[] = {0.2, 0.6, 0.2}, by[3];
        float      logp[3], moved[2][3];
        cbx_scores r = reading_of(all[k], 3, k < 2 ? NULL : "1");
        r.aim = all[k] == CBX_MEANS_NUMBERS ? &range : NULL;
        cbx_scores_forward(&r, &no_view, 0, scores, logp);
        cbx_scores_backward(&r, &no_view, 0, scores, logp, dlogp, by);
        for (int32_t c = 0; c < 3; c++) {
            const double step = 1e-3, here = scores[c];
            double       slope = 0;
            for (int side = 0; side < 2; side++) {
                scores[c] = here + (side ? step : -step);
                cbx_scores_forward(&r, &no_view, 0, scores, moved[side]);
            }
            scores[c] = here;
            for (int32_t i = 0; i < cbx_scores_classes(&r); i++)
                slope +=
                    (double)dlogp[i] * ((double)moved[1][i] - (double)moved[0][i]) / (2 * step);
            CHECK_NEAR(by[c], slope, 2e-3 * fmax(1, fabs(slope)));
        }
    }
}
