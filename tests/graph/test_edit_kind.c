/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of edit, by what all of them promise: what is written is read again, and an order
 * in which each has one place. */
#include <stdlib.h>
#include <string.h>

#include "edit_kind.h"
#include "json_fields.h"
#include "test.h"

/* Two of every kind, the lesser first. */
static const cbx_edit samples[CBX_EDIT_KINDS][2] = {
    [CBX_REMOVE_EDGE] =
        {{.op = CBX_REMOVE_EDGE, .source = 5, .target = 1, .edge = 7},
         {.op = CBX_REMOVE_EDGE, .source = 2, .target = 3, .edge = -1, .undirected = true}},
    [CBX_SET_FEATURE] =
        {{.op = CBX_SET_FEATURE,
          .node = 1,
          .feature = 4,
          .from = -0.25f,
          .to = 1e-3f,
          .step = 0.0125f},
         {.op = CBX_SET_FEATURE, .node = 1, .feature = 5, .from = 0, .to = 1, .group = 3}},
    [CBX_ADD_EDGE] =
        {{.op = CBX_ADD_EDGE, .source = 4, .target = 2, .edge = -1, .weight = 0.25f},
         {.op = CBX_ADD_EDGE, .source = 5, .target = 2, .edge = -1, .undirected = true}},
    [CBX_REMOVE_NODE] = {{.op = CBX_REMOVE_NODE, .node = 3}, {.op = CBX_REMOVE_NODE, .node = 11}},
    [CBX_SET_EDGE] =
        {
            {.op = CBX_SET_EDGE, .source = 4, .target = 2, .edge = 6, .weight = 0.25f},
            {.op = CBX_SET_EDGE, .source = 5, .target = 2, .edge = -1, .undirected = true}},
    [CBX_ADD_NODE] = {
        {.op = CBX_ADD_NODE, .source = 4, .target = 2, .edge = -1, .weight = 0.25f},
        {.op = CBX_ADD_NODE, .source = 5, .target = 2, .edge = -1, .undirected = true}}};

/* An edge's edit is of its weight, of an attribute, or of its kind. */
static const cbx_edit of_attributes[] = {
    {.op = CBX_SET_EDGE, .source = 4, .target = 2, .edge = 6, .attribute = 3, .weight = 0.25f},
    {.op = CBX_SET_EDGE, .source = 4, .target = 2, .edge = -1, .undirected = true, .attribute = -1},
};

/* The text of one edit, to free(). */
static char *written(const cbx_edit *e)
{
    cbx_json_writer w = {0};
    cbx_json_open(&w, NULL, '{');
    cbx_json_put_text(&w, "op", cbx_edit_kind_of(e)->name);
    cbx_edit_kind_of(e)->put(e, &w);
    cbx_json_close(&w, '}');
    return cbx_json_take(&w);
}

static void write_and_read(const cbx_edit *e)
{
    cbx_edit        again = {0};
    cbx_arena       arena = {0};
    cbx_error       err = {0};
    cbx_json_error  why;
    const cbx_json *o = NULL;
    char           *text = written(e);
    CHECK_INT(cbx_json_parse(text, strlen(text), &arena, &o, &why), CBX_OK);
    CHECK_OK(cbx_edit_kind_named(cbx_json_text(o, "op"), &again.op, &err), err);
    CHECK_OK(cbx_edit_kind_of(&again)->read(o, &again, &err), err);
    char *twice = written(&again);
    CHECK(!strcmp(text, twice));
    CHECK_INT(cbx_edit_compare(e, &again), 0);
    free(text);
    free(twice);
    cbx_arena_free(&arena);
}

TEST(what_is_written_is_read_again)
{
    for (int i = 0; i < 2 * CBX_EDIT_KINDS; i++)
        write_and_read(&samples[i / 2][i % 2]);
    write_and_read(&of_attributes[0]);
    write_and_read(&of_attributes[1]);
}

TEST(an_edge_s_attribute_is_told_by_its_column)
{
    char *text[] = {written(&of_attributes[0]), written(&of_attributes[1])};
    CHECK_CONTAINS(text[0], "\"attribute\":2,\"to\":0.25");
    CHECK(!strstr(text[0], "one_hot") && !strstr(text[0], "weight"));
    CHECK_CONTAINS(text[1], "\"attribute\":0,\"one_hot\":true,\"to\":0");
    CHECK(cbx_edit_compare(&of_attributes[0], &samples[CBX_SET_EDGE][0]) > 0);
    free(text[0]);
    free(text[1]);
}

TEST(a_kind_that_is_none_is_told_what_there_is)
{
    cbx_edit_op op;
    cbx_error   err = {0};
    CHECK_INT(cbx_edit_kind_named("turn_node", &op, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'op' is 'turn_node', ");
    for (int k = 0; k < CBX_EDIT_KINDS; k++)
        CHECK_CONTAINS(err.message, cbx_edit_kinds[k]->name);
    CHECK_INT(cbx_edit_kind_named(NULL, &op, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "(not a text)");
}

TEST(edits_have_an_order)
{
    for (int a = 0; a < 2 * CBX_EDIT_KINDS; a++)
        for (int b = 0; b < 2 * CBX_EDIT_KINDS; b++) {
            int order = cbx_edit_compare(&samples[a / 2][a % 2], &samples[b / 2][b % 2]);
            CHECK_INT((order > 0) - (order < 0), (a > b) - (a < b));
        }
}

TEST(an_edit_names_nodes_and_what_it_names_must_be_there)
{
    cbx_error err = {0};
    int32_t   nodes[2];
    for (int i = 0; i < 2 * CBX_EDIT_KINDS; i++) {
        const cbx_edit      *e = &samples[i / 2][i % 2];
        const cbx_edit_kind *kind = cbx_edit_kind_of(e);
        kind->nodes(e, nodes);
        int32_t        last = nodes[0] > nodes[1] ? nodes[0] : nodes[1];
        cbx_graph_data enough = {.num_nodes = last + 1, .num_features = 6};
        cbx_graph_data small = {.num_nodes = last, .num_features = 6};
        CHECK_OK(kind->fits(e, 9, &enough, &err), err);
        CHECK_INT(kind->fits(e, 9, &small, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "edit 9: the data has no node");
    }
}
