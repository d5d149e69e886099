/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that lose nodes, and edges that get other weights: what is left, and by which names. */
#include <stdlib.h>
#include <string.h>

#include "edit_kind.h"
#include "test.h"
#include "without_nodes.h"

static const int64_t source[] = {0, 1, 2, 2, 4, 5}, target[] = {1, 2, 0, 2, 5, 4};
static const float   x[] = {10, 11, 12, 13, 14, 15}, weight[] = {1, 2, 3, 4, 5, 6};
static const int64_t y[] = {0, 1, 0, 1, 0, 1}, ptr[] = {0, 4, 6}, graphs_y[] = {1, 0};
static const uint8_t train[] = {1, 0, 1, 0, 0, 1};

static cbx_graph *make(cbx_task task)
{
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    cbx_graph_data d = {.task = task,
                        .num_nodes = 6,
                        .num_features = 1,
                        .num_edges = 6,
                        .edge_source = source,
                        .edge_target = target,
                        .edge_weight = weight,
                        .x = x,
                        .y = task == CBX_GRAPH ? graphs_y : y,
                        .train_mask = task == CBX_GRAPH ? NULL : train,
                        .num_graphs = task == CBX_GRAPH ? 2 : 0,
                        .graph_ptr = task == CBX_GRAPH ? ptr : NULL};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

TEST(what_is_left_has_its_own_rows_and_names)
{
    cbx_graph     *g = make(CBX_NODE), *made = NULL;
    cbx_error      err = {0};
    const cbx_edit edits[] = {{.op = CBX_REMOVE_NODE, .node = 1},
                              {.op = CBX_REMOVE_NODE, .node = 3},
                              {.op = CBX_REMOVE_NODE, .node = 1}};
    CHECK_OK(cbx_graph_apply(g, edits, 3, &made, &err), err);
    const cbx_graph_data    *d = cbx_graph_arrays(made);
    static const char *const names[] = {"0", "2", "4", "5"};
    static const int64_t     from[] = {1, 1, 2, 3}, to[] = {0, 1, 3, 2};
    CHECK_INT(d->num_nodes, 4);
    for (int i = 0; i < 4; i++) {
        CHECK(!strcmp(d->node_names[i], names[i]));
        CHECK(d->x[i] == x[atoi(names[i])]);
        CHECK_INT(d->y[i], y[atoi(names[i])]);
        CHECK_INT(d->train_mask[i], train[atoi(names[i])]);
    }
    if (CHECK_INT(d->num_edges, 4))
        for (int e = 0; e < 4; e++) {
            CHECK_INT(d->edge_source[e], from[e]);
            CHECK_INT(d->edge_target[e], to[e]);
            CHECK(d->edge_weight[e] == weight[e + 2]);
        }
    cbx_graph_free(made);
    cbx_graph_free(g);
}

TEST(graphs_end_where_their_nodes_do_and_keep_one)
{
    cbx_graph     *g = make(CBX_GRAPH), *made = NULL;
    cbx_error      err = {0};
    const cbx_edit edits[] = {{.op = CBX_REMOVE_NODE, .node = 0},
                              {.op = CBX_REMOVE_NODE, .node = 3},
                              {.op = CBX_REMOVE_NODE, .node = 4},
                              {.op = CBX_REMOVE_NODE, .node = 5}};
    CHECK_OK(cbx_graph_apply(g, edits, 3, &made, &err), err);
    const cbx_graph_data *d = cbx_graph_arrays(made);
    CHECK_INT(d->graph_ptr[0], 0);
    CHECK_INT(d->graph_ptr[1], 2);
    CHECK_INT(d->graph_ptr[2], 3);
    CHECK_INT(d->num_edges, 2); /* 1 -> 2, and the loop at 2 */
    CHECK_INT(d->y[0], 1);
    cbx_graph_free(made);
    CHECK_INT(cbx_graph_apply(g, edits, 4, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "leave graph 1 without a node");
    cbx_graph_free(g);
}

TEST(what_cannot_be_is_told)
{
    cbx_graph     *g = make(CBX_NODE), *made = NULL;
    cbx_error      err = {0};
    const cbx_edit far = {.op = CBX_REMOVE_NODE, .node = 6};
    const cbx_edit both[] = {
        {.op = CBX_REMOVE_NODE, .node = 3},
        {.op = CBX_ADD_EDGE, .source = 3, .target = 5, .edge = -1, .undirected = true}};
    CHECK_INT(cbx_graph_apply(g, &far, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no node 6");
    CHECK_INT(cbx_graph_apply(g, both, 2, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "one of them is removed");
    cbx_graph_free(g);
}

TEST(weights_are_those_of_the_edits_and_no_others)
{
    cbx_graph     *g = make(CBX_NODE), *made = NULL;
    cbx_error      err = {0};
    const cbx_edit edits[] = {
        {.op = CBX_SET_EDGE, .source = 4, .target = 5, .edge = -1, .undirected = true, .weight = 9},
        {.op = CBX_SET_EDGE, .source = 1, .target = 2, .edge = 1, .weight = 7}};
    static const float expected[] = {1, 7, 3, 4, 9, 9};
    CHECK_OK(cbx_graph_apply(g, edits, 2, &made, &err), err);
    for (int e = 0; e < 6; e++) {
        CHECK(cbx_graph_arrays(made)->edge_weight[e] == expected[e]);
        CHECK(cbx_graph_arrays(g)->edge_weight[e] == weight[e]);
    }
    cbx_graph_free(made);
    cbx_graph_free(g);
}

TEST(views_lose_nodes_as_graphs_do)
{
    cbx_graph    *g = make(CBX_GRAPH);
    cbx_error     err = {0};
    cbx_arena     arena = {0};
    cbx_view      view, left;
    cbx_matrix    X, rows;
    const uint8_t gone[] = {0, 1, 0, 0};
    CHECK_OK(cbx_view_graphs(g, &(int32_t){0}, 1, &arena, &view, &err), err);
    CHECK_OK(cbx_view_features(g, &view, &arena, &X, &err), err);
    CHECK_OK(cbx_view_without_nodes(&view, gone, NULL, &arena, &left, &err), err);
    CHECK_OK(cbx_matrix_without_rows(&X, gone, view.n, &arena, &rows, &err), err);
    CHECK_INT(left.n, 3);
    CHECK_INT(left.m, 2);
    CHECK_INT(left.graph_ptr[1], 3);
    CHECK_INT(left.prefix[0], 3);
    CHECK(left.node[0] == 0 && left.node[1] == 2 && left.node[2] == 3);
    CHECK(rows.rows == 3 && rows.dense[1] == 12);
    const uint8_t all[] = {1, 1, 1, 1};
    CHECK_INT(cbx_view_without_nodes(&view, all, NULL, &arena, &left, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "without a node");
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

static cbx_status apply_once(void *user)
{
    const cbx_edit edits[] = {{.op = CBX_REMOVE_NODE, .node = 1},
                              {.op = CBX_SET_EDGE,
                               .source = 4,
                               .target = 5,
                               .edge = -1,
                               .undirected = true,
                               .weight = 9}};
    cbx_graph     *made = NULL;
    cbx_error      err = {0};
    cbx_status     status = cbx_graph_apply(user, edits, 2, &made, &err);
    CHECK_INT(err.status, status);
    CHECK((made != NULL) == (status == CBX_OK));
    cbx_graph_free(made);
    return status;
}

TEST(losing_nodes_survives_the_failure_of_any_allocation)
{
    for (int task = 0; task < 2; task++) {
        cbx_graph *g = make(task ? CBX_GRAPH : CBX_NODE);
        test_each_allocation(apply_once, g);
        cbx_graph_free(g);
    }
}
