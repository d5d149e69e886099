/* SPDX-License-Identifier: Apache-2.0 */
/* The area under the ROC curve, against all pairs counted one by one. */
#include "auc.h"

#include <math.h>

#include "rng.h"
#include "test.h"

static double count_pairs(const cbx_scored *s, int64_t count)
{
    double won = 0, pairs = 0;
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < count; b++)
            if (s[a].positive && !s[b].positive) {
                won += s[a].score > s[b].score ? 1 : s[a].score == s[b].score ? 0.5 : 0;
                pairs++;
            }
    return won / pairs;
}

TEST(it_is_the_share_of_pairs_that_are_in_order)
{
    cbx_rng rng = cbx_rng_stream(1, 0, 0, 0);
    for (int times = 0; times < 200; times++) {
        cbx_scored s[60];
        int64_t    count = 2 + (int64_t)cbx_rng_below(&rng, 58);
        for (int64_t k = 0; k < count; k++) /* few values: there are ties */
            s[k] = (cbx_scored){(double)cbx_rng_below(&rng, 1 + (uint64_t)times), k % 3 == 0};
        double expected = count_pairs(s, count);
        CHECK(fabs(cbx_auc(s, count) - expected) < 1e-12);
    }
}

/* roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) of scikit-learn is 0.75. */
TEST(it_is_what_others_say)
{
    cbx_scored s[] = {{0.1, false}, {0.4, false}, {0.35, true}, {0.8, true}};
    CHECK(cbx_auc(s, 4) == 0.75);
}

TEST(one_kind_alone_has_none)
{
    cbx_scored s[] = {{1, true}, {2, true}};
    CHECK(isnan(cbx_auc(s, 2)));
    CHECK(isnan(cbx_auc(s, 0)));
}
