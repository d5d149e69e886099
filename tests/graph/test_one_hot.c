/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups are honoured without being told; which there are tests/read/test_one_hot.c says. */
#include "one_hot.h"

#include "test.h"

enum { MOST_NODES = 60, MOST_FEATURES = 60 };

/* Every node has one of `width` features from `begin` on, in turn, and a feature of its own value
 * before that. */
static int32_t count_groups(int32_t nodes, int32_t width, bool told, int32_t *group)
{
    static float   x[MOST_NODES * (MOST_FEATURES + 1)];
    int32_t        f = width + 1;
    cbx_graph_data d = {.num_nodes = nodes, .num_features = f, .x = x};
    for (int32_t i = 0; i < nodes; i++)
        for (int32_t j = 0; j < f; j++)
            x[i * f + j] = j == 0 ? (float)i / 7 : i % width == j - 1;
    for (int32_t j = 0; j < f; j++)
        group[j] = told && (j == 1 || j == 2) ? 0 : -1;
    return cbx_one_hot_find(&d, true, told, group);
}

TEST(a_group_that_many_nodes_show_is_one)
{
    int32_t group[MOST_FEATURES + 1];
    CHECK_INT(count_groups(40, 3, false, group), 1);
    CHECK_INT(group[0], -1);
    CHECK_INT(group[1], 0);
    CHECK_INT(group[3], 0);
}

TEST(what_few_nodes_show_may_be_chance)
{
    int32_t group[MOST_FEATURES + 1];
    CHECK_INT(count_groups(19, 3, false, group), 0);
    CHECK_INT(group[1], -1);
    CHECK_INT(count_groups(20, 3, false, group), 1);
}

TEST(a_feature_for_each_node_is_no_kind)
{
    int32_t group[MOST_FEATURES + 1];
    CHECK_INT(count_groups(34, 34, false, group), 0);
    CHECK_INT(count_groups(34, 18, false, group), 0);
    CHECK_INT(count_groups(34, 17, false, group), 1);
}

TEST(groups_that_the_data_tells_of_are_let_be)
{
    int32_t group[MOST_FEATURES + 1];
    CHECK_INT(count_groups(40, 4, true, group), 0); /* what is left of it is not one of each */
    CHECK_INT(group[1], 0);
    CHECK_INT(group[3], -1);
}
