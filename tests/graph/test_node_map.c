/* SPDX-License-Identifier: Apache-2.0 */
/* The map from graph ids to view ids: order of arrival, growth, failure. */
#include "node_map.h"

#include "../core/bag.h"
#include "test.h"

TEST(nodes_are_numbered_in_order_of_arrival)
{
    cbx_node_map map = {0};
    CHECK_INT(cbx_node_map_add(&map, 70), 0);
    CHECK_INT(cbx_node_map_add(&map, 3), 1);
    CHECK_INT(cbx_node_map_add(&map, 70), 0);
    CHECK_INT(cbx_node_map_add(&map, 0), 2);
    CHECK_INT(map.count, 3);
    CHECK(map.nodes[0] == 70 && map.nodes[1] == 3 && map.nodes[2] == 0);
    CHECK_INT(cbx_node_map_find(&map, 3), 1);
    CHECK_INT(cbx_node_map_find(&map, 4), -1);
    cbx_node_map_free(&map);
}

TEST(an_empty_map_finds_nothing)
{
    cbx_node_map map = {0};
    CHECK_INT(cbx_node_map_find(&map, 0), -1);
    cbx_node_map_free(&map);
    cbx_node_map_free(&map);
    CHECK_INT(map.count, 0);
}

TEST(a_map_grows_and_keeps_every_number)
{
    /* 5000 different ids, multiples of 2^12 among them, from 64 places upwards. */
    enum { COUNT = 5000 };
    cbx_node_map map = {0};
    int          wrong = 0;
    for (int32_t i = 0; i < COUNT; i++)
        wrong += cbx_node_map_add(&map, i % 2 ? i * 4096 : INT32_MAX - i) != i;
    for (int32_t i = 0; i < COUNT; i++) {
        int32_t node = i % 2 ? i * 4096 : INT32_MAX - i;
        wrong += cbx_node_map_find(&map, node) != i;
        wrong += cbx_node_map_add(&map, node) != i;
        wrong += map.nodes[i] != node;
        wrong += cbx_node_map_find(&map, node - 1 - i % 2) >= 0 && i % 2;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(map.count, COUNT);
    CHECK(map.size >= 2 * COUNT); /* at most half full, or look-ups get slow */
    cbx_node_map_free(&map);
}

static cbx_status fill(void *user)
{
    cbx_node_map map = {0};
    cbx_status   status = CBX_OK;
    (void)user;
    for (int32_t i = 0; i < 1000 && !status; i++) {
        int32_t at = cbx_node_map_add(&map, i * 3);
        status = at < 0 ? CBX_NO_MEMORY : CBX_OK;
        if (status) /* the map is as it was, and the next try succeeds */
            CHECK(map.count == i && cbx_node_map_find(&map, i * 3) == -1 &&
                  (i == 0 || cbx_node_map_find(&map, i * 3 - 3) == i - 1) &&
                  cbx_node_map_add(&map, i * 3) == i);
        else
            CHECK_INT(at, i);
    }
    cbx_node_map_free(&map);
    return status;
}

TEST(a_map_survives_the_failure_of_any_allocation)
{
    test_each_allocation(fill, NULL);
}
