/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that get nodes more: where they are, what they are called, and what hangs on what. */
#include <stdlib.h>
#include <string.h>

#include "edit_kind.h"
#include "test.h"
#include "with_nodes.h"

/* 0 - 1 - 2 and a loop at 2, 3 alone; 4 - 5. */
static const int64_t     source[] = {0, 1, 1, 2, 2, 4, 5}, target[] = {1, 0, 2, 1, 2, 5, 4};
static const float       x[] = {10, 0, 11, 0, 12, 0, 13, 0, 14, 1, 15, 1};
static const float       weight[] = {1, 1, 2, 2, 4, 5, 5}, attr[] = {3, 3, 7, 7, 7, 9, 9};
static const int64_t     indptr[] = {0, 1, 2, 3, 4, 6, 8};
static const int32_t     indices[] = {0, 0, 0, 0, 0, 1, 0, 1};
static const float       values[] = {10, 11, 12, 13, 14, 1, 15, 1};
static const int64_t     y[] = {0, 1, 0, 1, 0, 1}, ptr[] = {0, 4, 6}, graphs_y[] = {1, 0};
static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

static cbx_graph *make(cbx_task task, bool sparse, bool named)
{
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    cbx_graph_data d = {.task = task,
                        .num_nodes = 6,
                        .num_features = 2,
                        .num_edges = 7,
                        .edge_source = source,
                        .edge_target = target,
                        .edge_weight = weight,
                        .edge_attr = attr,
                        .edge_dim = 1,
                        .x = sparse ? NULL : x,
                        .x_indptr = sparse ? indptr : NULL,
                        .x_indices = sparse ? indices : NULL,
                        .x_values = sparse ? values : NULL,
                        .num_x_values = sparse ? 8 : 0,
                        .node_names = named ? names : NULL,
                        .y = task == CBX_GRAPH ? graphs_y : y,
                        .num_graphs = task == CBX_GRAPH ? 2 : 0,
                        .graph_ptr = task == CBX_GRAPH ? ptr : NULL};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

static cbx_edit come(int32_t copied, int32_t at)
{
    return (cbx_edit){
        .op = CBX_ADD_NODE, .source = copied, .target = at, .edge = -1, .undirected = true};
}

static bool has_edge(const cbx_graph_data *d, int64_t from, int64_t to, float w, float a)
{
    int found = 0;
    for (int64_t e = 0; e < d->num_edges; e++)
        found += d->edge_source[e] == from && d->edge_target[e] == to && d->edge_weight[e] == w &&
                 d->edge_attr[e] == a;
    return found == 1;
}

/* The value of feature j, of a graph that is dense or sparse. */
static float value_of(const cbx_graph_data *d, int32_t node, int32_t j)
{
    if (d->x)
        return d->x[node * 2 + j];
    for (int64_t k = d->x_indptr[node]; k < d->x_indptr[node + 1]; k++)
        if (d->x_indices[k] == j)
            return d->x_values[k];
    return 0;
}

TEST(new_nodes_come_behind_the_last_of_their_graph)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        cbx_graph       *g = make(CBX_GRAPH, sparse, false), *made = NULL;
        cbx_error        err = {0};
        const cbx_edit   edits[] = {come(4, 5),
                                    come(2, 0),
                                    come(2, 2),
                                    {.op = CBX_SET_FEATURE, .node = 2, .feature = 0, .to = 99}};
        static const int from[] = {0, 1, 2, 3, 2, 2, 4, 5, 4};
        CHECK_OK(cbx_graph_apply(g, edits, 4, &made, &err), err);
        const cbx_graph_data *d = cbx_graph_arrays(made);
        CHECK_INT(d->num_nodes, 9);
        CHECK_INT(d->graph_ptr[1], 6);
        CHECK_INT(d->graph_ptr[2], 9);
        CHECK((d->x == NULL) == (sparse == 1));
        for (int i = 0; i < 9; i++) /* a copy is of the node as it was */
            for (int j = 0; j < 2; j++)
                CHECK(value_of(d, i, j) == (i == 2 && j == 0 ? 99 : x[2 * from[i] + j]));
        CHECK_INT(d->num_edges, 13);
        CHECK(has_edge(d, 6, 7, 5, 9) && has_edge(d, 7, 6, 5, 9)); /* was 4 - 5 */
        /* the median of the data's weights and attributes */
        CHECK(has_edge(d, 4, 0, 2, 7) && has_edge(d, 0, 4, 2, 7));
        CHECK(has_edge(d, 5, 2, 2, 7) && has_edge(d, 2, 5, 2, 7));
        CHECK(has_edge(d, 8, 7, 2, 7) && has_edge(d, 7, 8, 2, 7));
        CHECK(!d->node_names);
        cbx_graph_free(made);
        cbx_graph_free(g);
    }
}

TEST(nodes_go_and_come_in_one_answer)
{
    cbx_graph *g = make(CBX_GRAPH, false, false), *made = NULL;
    cbx_error  err = {0};
    cbx_edit   edits[] = {{.op = CBX_REMOVE_NODE, .node = 1}, come(1, 2), come(5, 4)};
    edits[1].undirected = false;
    edits[1].weight = 0.5F;
    CHECK_OK(cbx_graph_apply(g, edits, 3, &made, &err), err);
    const cbx_graph_data    *d = cbx_graph_arrays(made);
    static const char *const called[] = {"0", "2", "3", "copy of 1", "4", "5", "copy of 5"};
    CHECK_INT(d->num_nodes, 7);
    CHECK_INT(d->graph_ptr[1], 4);
    for (int i = 0; i < 7; i++)
        CHECK(!strcmp(d->node_names[i], called[i]));
    CHECK(d->x[2 * 3] == 11 && d->x[2 * 6] == 15);
    CHECK_INT(d->num_edges, 6); /* the loop, 4 - 5, one, and one each way */
    CHECK(has_edge(d, 3, 1, 0.5F, 7));
    CHECK(has_edge(d, 6, 4, 2, 7) && has_edge(d, 4, 6, 2, 7));
    cbx_graph_free(made);
    cbx_graph_free(g);
    g = make(CBX_GRAPH, false, true);
    CHECK_OK(cbx_graph_apply(g, edits + 1, 1, &made, &err), err);
    CHECK(!strcmp(cbx_graph_arrays(made)->node_names[4], "copy of b"));
    cbx_graph_free(made);
    cbx_graph_free(g);
}

TEST(what_cannot_come_is_told)
{
    cbx_graph     *g = make(CBX_GRAPH, false, false), *nodes = make(CBX_NODE, false, false);
    cbx_graph     *made = NULL;
    cbx_error      err = {0};
    const cbx_edit far = come(6, 2), other = come(4, 2), fine = come(0, 1);
    const cbx_edit both[] = {come(0, 1), {.op = CBX_REMOVE_NODE, .node = 1}};
    CHECK_INT(cbx_graph_apply(g, &far, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no node 6");
    CHECK_INT(cbx_graph_apply(g, &other, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "no copy of node 4 can be added at node 2: they are of two graphs");
    CHECK_INT(cbx_graph_apply(g, both, 2, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "that node is removed");
    CHECK_INT(cbx_graph_apply(nodes, &fine, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "nodes are added to graphs that have a class");
    cbx_graph_free(g);
    cbx_graph_free(nodes);
}

TEST(views_get_nodes_as_graphs_do)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        cbx_graph   *g = make(CBX_GRAPH, sparse, false);
        cbx_error    err = {0};
        cbx_arena    arena = {0};
        cbx_view     view, with;
        cbx_matrix   X, all;
        float        rows[6 * 2];
        cbx_new_node nodes[] = {{1, 0, 3, true}, {3, 2, 3, false}};
        CHECK_OK(cbx_view_graphs(g, &(int32_t){0}, 1, &arena, &view, &err), err);
        CHECK_OK(cbx_view_features(g, &view, &arena, &X, &err), err);
        CHECK_OK(cbx_view_with_nodes(&view, nodes, 2, 7, &arena, &with, &err), err);
        CHECK_OK(cbx_features_with_nodes(g, &with, &X, &arena, &all, &err), err);
        CHECK_INT(with.n, 6);
        CHECK_INT(with.m, 8);
        CHECK_INT(with.graph_ptr[1], 6);
        CHECK_INT(with.prefix[0], 6);
        static const int64_t offset[] = {0, 2, 4, 7, 7, 8, 8};
        static const int32_t from[] = {1, 4, 0, 2, 1, 2, 5, 0};
        static const int64_t edge[] = {1, 7, 0, 3, 2, 4, 9, 8};
        for (int i = 0; i < 7; i++)
            CHECK_INT(with.offset[i], offset[i]);
        for (int e = 0; e < 8; e++) {
            CHECK_INT(with.source[e], from[e]);
            CHECK_INT(with.edge[e], edge[e]);
            CHECK(with.weight[e] == (edge[e] >= 7 ? 3 : weight[edge[e]]));
        }
        cbx_matrix_expand(&all, 6, rows);
        for (int i = 0; i < 6; i++)
            CHECK(rows[2 * i] == x[2 * (i < 4 ? i : i == 4 ? 1 : 3)]);
        cbx_arena_free(&arena);
        cbx_graph_free(g);
    }
}

static cbx_status apply_once(void *user)
{
    const cbx_edit edits[] = {{.op = CBX_REMOVE_NODE, .node = 1}, come(1, 2), come(5, 4)};
    cbx_graph     *made = NULL;
    cbx_error      err = {0};
    cbx_status     status = cbx_graph_apply(user, edits, 3, &made, &err);
    CHECK_INT(err.status, status);
    CHECK((made != NULL) == (status == CBX_OK));
    cbx_graph_free(made);
    return status;
}

TEST(getting_nodes_survives_the_failure_of_any_allocation)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        cbx_graph *g = make(CBX_GRAPH, sparse, sparse);
        test_each_allocation(apply_once, g);
        cbx_graph_free(g);
    }
}
