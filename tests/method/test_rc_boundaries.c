/* SPDX-License-Identifier: Apache-2.0 */
/* RCExplainer's boundaries: walks and choices that can be worked out by hand. */
#include "rc_boundaries.h"

#include "test.h"

/* Scores by class; what a softmax takes off is the same for all classes of a row. */
static const float ZERO[] = {5, 0, 0}, ONE[] = {0, 5, 0}, TWO[] = {0, 0, 5};
static const float BETWEEN[] = {0, 4, 5}; /* of class 2, and near class 1 */

TEST(a_walk_ends_in_the_first_class_that_is_another)
{
    /* half-way from 0 to 2 there lies class 1: its score is 4 all along */
    static const float from[] = {6, 4, 0}, to[] = {0, 4, 6};
    const float       *logp[] = {from, to, ZERO, TWO};
    const int32_t      class_of[] = {0, 2, 0, 2};
    const cbx_rc_rows  rows = {logp, class_of, 4, 3};
    CHECK_INT(cbx_rc_walk(&rows, 0, 1), 1);
    CHECK_INT(cbx_rc_walk(&rows, 2, 3), 2);
    CHECK_INT(cbx_rc_walk(&rows, 1, 0), 1);
    CHECK_INT(cbx_rc_walk(&rows, 0, 2), -1);
}

static cbx_rc_boundaries find(const cbx_rc_rows *rows, cbx_arena *arena)
{
    cbx_rc_boundaries found = {0};
    cbx_error         err = {0};
    CHECK_OK(cbx_rc_boundaries_find(rows, 50, 1, arena, &found, &err), err);
    return found;
}

TEST(those_are_chosen_that_together_shut_the_others_out)
{
    /* each of the others has less of 0 than of itself only */
    static const float one[] = {1, 5, 0}, two[] = {1, 0, 5};
    cbx_arena          arena = {0};
    const float       *logp[] = {ZERO, one, two};
    const int32_t      class_of[] = {0, 1, 2};
    const cbx_rc_rows  rows = {logp, class_of, 3, 3};
    cbx_rc_boundaries  all = find(&rows, &arena);
    int64_t            begin;
    CHECK_INT(cbx_rc_boundaries_of(&all, 0, &begin), 2);
    CHECK_INT(begin, 0);
    CHECK(all.list[0].own == 0 && all.list[1].own == 0);
    CHECK_INT(all.list[0].other + all.list[1].other, 3);
    CHECK_INT(cbx_rc_boundaries_of(&all, 3, &begin), 0);
    cbx_arena_free(&arena);
}

TEST(a_boundary_that_shuts_nobody_more_out_is_left_out)
{
    /* rows of class 1 and of class 2 all have more of 1 than of 0: towards 1 is enough for 0 */
    cbx_arena         arena = {0};
    const float      *logp[] = {ZERO, ONE, BETWEEN, BETWEEN, BETWEEN};
    const int32_t     class_of[] = {0, 1, 2, 2, 2};
    const cbx_rc_rows rows = {logp, class_of, 5, 3};
    cbx_rc_boundaries all = find(&rows, &arena);
    int64_t           begin;
    CHECK_INT(cbx_rc_boundaries_of(&all, 0, &begin), 1);
    CHECK_INT(all.list[begin].other, 1);
    cbx_arena_free(&arena);
}

TEST(rows_whose_numbers_are_not_finite_count_nowhere)
{
    cbx_arena         arena = {0};
    const float      *logp[] = {ZERO, ONE};
    const int32_t     class_of[] = {0, -1};
    const cbx_rc_rows rows = {logp, class_of, 2, 3};
    CHECK_INT(find(&rows, &arena).count, 0);
    cbx_arena_free(&arena);
}
