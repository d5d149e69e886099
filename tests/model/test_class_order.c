/* SPDX-License-Identifier: Apache-2.0 */
/* Classes by how likely they are. */
#include "class_order.h"

#include "test.h"

TEST(the_best_is_the_first_of_equals_and_one_can_be_left_out)
{
    const float logp[] = {-3, -1, -2, -1};
    CHECK_INT(cbx_best_class(logp, 4, -1), 1);
    CHECK_INT(cbx_best_class(logp, 4, 1), 3);
    CHECK_INT(cbx_best_class(logp, 1, 0), -1);
}

TEST(every_class_comes_once_the_likely_ones_first)
{
    const float   logp[] = {-3, -1, -2, -1, -3};
    const int32_t expected[] = {1, 3, 2, 0, 4, -1};
    for (int32_t k = 0, last = -1; k < 6; k++) {
        last = cbx_next_class(logp, 5, last);
        CHECK_INT(last, expected[k]);
    }
}
