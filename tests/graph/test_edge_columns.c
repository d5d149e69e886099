/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of edges: what a column can be, and edits that set one, in a graph of four edges. */
#include <math.h>

#include "edge_columns.h"
#include "reweighted.h"
#include "test.h"

static const int64_t ends[2][4] = {{0, 1, 1, 2}, {1, 0, 2, 0}};
static const float   features[3] = {0};

/* Columns: whole numbers, fractions, many whole numbers, the same everywhere. */
static const float mixed[4][4] = {
    {0, 0.5f, 7, 2}, {0, 0.5f, 7, 2}, {3, -1, 900, 2}, {2, 0.25f, -5, 2}};
static const float kinds[4][3] = {{1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}};

static cbx_graph *graph_with(const float *attr, int32_t wide)
{
    cbx_graph_data d = {.num_nodes = 3,
                        .num_features = 1,
                        .num_classes = 2,
                        .num_edges = 4,
                        .edge_source = ends[0],
                        .edge_target = ends[1],
                        .edge_attr = attr,
                        .edge_dim = wide,
                        .x = features};
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

TEST(columns_are_what_the_data_has_of_them)
{
    cbx_graph              *g = graph_with(mixed[0], 4);
    cbx_arena               arena = {0};
    bool                    all;
    const cbx_edge_columns *c = cbx_edge_columns_find(cbx_graph_arrays(g), &arena);
    CHECK(!c->one_hot);
    CHECK(c->lo[1] == -1 && c->hi[1] == 0.5f && c->lo[2] == -5 && c->hi[2] == 900);
    CHECK(c->whole[0] && !c->whole[1] && c->whole[2] && c->whole[3]);
    CHECK_INT(cbx_edge_column_values(c, 0, &all), 4);
    CHECK(all && cbx_edge_column_value(c, 0, 0) == 0 && cbx_edge_column_value(c, 0, 3) == 3);
    CHECK_INT(cbx_edge_column_values(c, 1, &all), 2);
    CHECK(!all && cbx_edge_column_value(c, 1, 0) == -1 && cbx_edge_column_value(c, 1, 1) == 0.5f);
    CHECK_INT(cbx_edge_column_values(c, 2, &all), 2);
    CHECK(!all);
    CHECK_INT(cbx_edge_column_values(c, 3, &all), 1);
    CHECK(all);
    CHECK(cbx_edge_column_takes(c, 0, 1) && !cbx_edge_column_takes(c, 0, 1.5f));
    CHECK(!cbx_edge_column_takes(c, 0, 4) && !cbx_edge_column_takes(c, 4, 0));
    CHECK(cbx_edge_column_takes(c, 1, 0.1f) && !cbx_edge_column_takes(c, 1, NAN));
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(kinds_are_one_that_is_1_among_others_that_are_0)
{
    cbx_graph              *g = graph_with(kinds[0], 3);
    cbx_arena               arena = {0};
    bool                    all;
    const cbx_edge_columns *c = cbx_edge_columns_find(cbx_graph_arrays(g), &arena);
    CHECK(c->one_hot);
    CHECK_INT(cbx_edge_column_values(c, 1, &all), 1);
    CHECK(all && cbx_edge_column_takes(c, 1, 1) && !cbx_edge_column_takes(c, 1, 0));
    CHECK_INT(cbx_edge_column_values(c, 2, &all), 0); /* no edge is of that kind */
    CHECK(!cbx_edge_column_takes(c, 2, 1));
    CHECK_INT(cbx_edge_row_kind(kinds[2], 3), 1);
    CHECK_INT(cbx_edge_row_kind((float[]){1, 1, 0}, 3), -1);
    CHECK_INT(cbx_edge_row_kind((float[]){0, 0, 0}, 3), -1);
    CHECK_INT(cbx_edge_row_kind((float[]){0, 2, 0}, 3), -1);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

static const float *row_of(const cbx_graph *g, int64_t edge)
{
    const cbx_graph_data *d = cbx_graph_arrays(g);
    return d->edge_attr + edge * d->edge_dim;
}

TEST(an_edit_sets_a_column_and_of_kinds_the_others_become_0)
{
    cbx_graph *g = graph_with(mixed[0], 4), *made = NULL;
    cbx_error  err = {0};
    cbx_edit   both = {.op = CBX_SET_EDGE,
                       .source = 1,
                       .target = 0,
                       .edge = -1,
                       .undirected = true,
                       .attribute = 2,
                       .weight = -0.75f};
    cbx_edit   one = {
          .op = CBX_SET_EDGE, .source = 1, .target = 2, .edge = 2, .attribute = 1, .weight = 2};
    CHECK_OK(cbx_graph_apply(g, (cbx_edit[]){both, one}, 2, &made, &err), err);
    CHECK(row_of(made, 0)[1] == -0.75f && row_of(made, 1)[1] == -0.75f);
    CHECK(row_of(made, 0)[0] == 0 && row_of(made, 2)[1] == -1 && row_of(made, 2)[0] == 2);
    CHECK(row_of(made, 3)[0] == 2 && row_of(g, 0)[1] == 0.5f); /* others stay, and the graph */
    CHECK(cbx_edit_attribute_before(&both, cbx_graph_arrays(g)) == 0.5f);
    CHECK(cbx_edit_attribute_before(&one, cbx_graph_arrays(g)) == 3);
    cbx_graph_free(made);
    cbx_graph_free(g);
    g = graph_with(kinds[0], 3);
    both.attribute = -2;
    both.weight = 1;
    CHECK_OK(cbx_graph_apply(g, &both, 1, &made, &err), err);
    CHECK_INT(cbx_edge_row_kind(row_of(made, 0), 3), 1);
    CHECK_INT(cbx_edge_row_kind(row_of(made, 1), 3), 1);
    CHECK_INT(cbx_edge_row_kind(row_of(made, 3), 3), 0);
    cbx_graph_free(made);
    cbx_graph_free(g);
}

TEST(what_edges_do_not_have_cannot_be_set)
{
    cbx_graph *g = graph_with(kinds[0], 3), *made = NULL;
    cbx_error  err = {0};
    cbx_edit   e = {
          .op = CBX_SET_EDGE, .source = 1, .target = 2, .edge = 2, .attribute = 4, .weight = 1};
    CHECK_INT(cbx_graph_apply(g, &e, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "sets attribute 3 of an edge, and edges of this data have 3");
    e.attribute = 3;
    e.weight = NAN;
    CHECK_INT(cbx_graph_apply(g, &e, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "an attribute that is no number");
    e.weight = 1;
    e.edge = 1;
    CHECK_INT(cbx_graph_apply(g, &e, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no edge from node 1 to node 2");
    cbx_graph_free(g);
    g = graph_with(NULL, 0);
    CHECK_INT(cbx_graph_apply(g, &e, 1, &made, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "sets attribute 2 of an edge, and edges of this data have 0");
    CHECK(isnan(cbx_edit_attribute_before(&e, cbx_graph_arrays(g))));
    cbx_graph_free(g);
}
