/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, and loops that join dimensions. */
#include "array.h"
#include "test.h"

static cbx_array packed(int32_t rank, const int64_t *size)
{
    cbx_array a = {.type = CBX_REAL64, .rank = rank};
    for (int32_t i = 0; i < rank; i++)
        a.size[i] = size[i];
    CHECK(cbx_array_pack(&a));
    return a;
}

TEST(packing_counts_and_refuses_what_is_too_much)
{
    cbx_array a = packed(3, (int64_t[]){2, 3, 4});
    CHECK_INT(a.count, 24);
    CHECK_INT(a.stride[0], 12);
    CHECK(cbx_array_is_packed(&a));
    cbx_array large = {.rank = 2, .size = {(int64_t)1 << 40, (int64_t)1 << 40}};
    CHECK(!cbx_array_pack(&large));
    cbx_array empty = {.rank = 3, .size = {(int64_t)1 << 62, (int64_t)1 << 62, 0}};
    CHECK(!cbx_array_pack(&empty) || empty.count == 0);
}

TEST(dimensions_that_go_on_evenly_are_one_loop)
{
    cbx_array a = packed(3, (int64_t[]){2, 3, 4}), row = packed(1, (int64_t[]){4}),
              one = packed(0, NULL);
    cbx_loops l;
    cbx_loops_make(&l, &a, 2, (const cbx_array *const[]){&a, &one});
    CHECK_INT(l.size[0], 24);
    CHECK_INT(l.size[1], 1);
    cbx_loops_make(&l, &a, 2, (const cbx_array *const[]){&a, &row});
    CHECK_INT(l.depth, 2);
    CHECK_INT(l.size[0], 4);
    CHECK_INT(l.size[1], 6);
    CHECK_INT(l.step[1][1], 0);
}

TEST(copies_and_sums_follow_steps)
{
    double    from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {0}, sums[3] = {0};
    cbx_array a = packed(2, (int64_t[]){2, 3}), turned = packed(2, (int64_t[]){3, 2});
    cbx_array sum = packed(2, (int64_t[]){1, 3});
    cbx_array view = turned;
    view.stride[0] = 1; /* the transpose of a, as it lies */
    view.stride[1] = 3;
    cbx_array_copy(&turned, to, &view, from);
    CHECK(to[0] == 1 && to[1] == 4 && to[2] == 2 && to[5] == 6);
    cbx_array_add(&a, &sum, sums, &a, from);
    CHECK(sums[0] == 5 && sums[1] == 7 && sums[2] == 9);
}
