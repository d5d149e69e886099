/* SPDX-License-Identifier: Apache-2.0 */
/* GML as others write it. */
#include "bundle_case.h"

#define GML(text) "==> g.gml <==\n" text

static cbx_graph *reads(const char *text)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    CHECK_OK(read_text(text, &g, &err), err);
    return g;
}

TEST(directed_edges_stay_directed)
{
    cbx_graph *g = reads(GML("graph [\n directed 1\n node [ id 7 label \"u\" v 2 ]\n"
                             " node [ id 9 label \"w\" v 3 ]\n edge [ source 9 target 7 ]\n]\n"));
    if (!g)
        return;
    CHECK_INT(g->data.num_edges, 1);
    CHECK(has_edge(g, 1, 0));
    CHECK(!strcmp(g->data.node_names[0], "u") && value_at(g, 1, 0) == 3);
    CHECK_INT(g->data.num_features, 1);
    cbx_graph_free(g);
}

TEST(words_brackets_and_comments_stand_as_they_like)
{
    cbx_graph *g =
        reads(GML("# of two\nCreator \"me # not a comment\" Version 1\r\n"
                  "graph[ comment \"x]\"\nedge[source 5 target -3 weight .5 line[a 1]]\n"
                  "node[id 5 v 1e-1#]\n]node [v +2.5E2\n\tid -3] ] other [ graph [ ] ]"));
    if (!g)
        return;
    CHECK_INT(g->data.num_edges, 2);
    CHECK(g->data.edge_weight[0] == 0.5f && g->data.edge_weight[1] == 0.5f);
    CHECK(value_at(g, 0, 0) == 0.1f && value_at(g, 1, 0) == 250);
    CHECK(!strcmp(g->data.node_names[1], "-3"));
    cbx_graph_free(g);
}

TEST(lists_within_nodes_are_passed_over)
{
    cbx_graph *g = reads(GML("graph [ node [ id 1 graphics [ x 1 fill [ r 2 ] ] v 2 ] ]"));
    if (!g)
        return;
    CHECK_INT(g->data.num_features, 1);
    CHECK(value_at(g, 0, 0) == 2);
    cbx_graph_free(g);
}

TEST(an_attribute_of_numbers_and_texts_is_of_texts)
{
    cbx_graph *g = reads(
        GML("graph [ node [ id 1 v 2 ] node [ id 2 v \"x\" ] node [ id 3 ] node [ id 4 v 2.0 ] ]"));
    if (!g)
        return;
    CHECK_INT(g->data.num_features, 3); /* 2, nothing, x: numbers first */
    CHECK(!strcmp(g->data.feature_names[0], "v=2") && !strcmp(g->data.feature_names[1], "v="));
    CHECK(value_at(g, 0, 0) == 1 && value_at(g, 3, 0) == 1 && value_at(g, 2, 1) == 1);
    cbx_graph_free(g);
}

TEST(characters_are_written_as_in_html)
{
    cbx_graph *g =
        reads(GML("graph [ node [ id 1 label \"a &amp; b &#228;&#128512; &what; &#0; &\" ]"
                  " node [ id 2 label \"&quot;&lt;&gt;&apos;\n&#55296;\" ] ]"));
    if (!g)
        return;
    CHECK(!strcmp(g->data.node_names[0], "a & b ä😀 &what; &#0; &"));
    CHECK(!strcmp(g->data.node_names[1], "\"<>'\n&#55296;"));
    cbx_graph_free(g);
}

TEST(what_is_wrong_is_told_with_its_line)
{
    check_refused(GML("graph [\n node [ id ]\n]\n"), "g.gml, line 2", "behind 'id'");
    check_refused(GML("graph [\n\n node [ id 1"), "line 3", "']' was expected");
    check_refused(GML("graph [\n node [ id 1 label \"a\n\n] ]"), "line 2", "without an end");
    check_refused(GML("graph [ node [ id 1 ] ]\n]"), "line 2", "']', where a word");
    check_refused(GML("graph [ 7 [ id 1 ] ]"), "line 1", "'7', where a word");
    check_refused(GML("graph [ node [ id 1x ] ]"), "line 1", "behind 'id'");
    check_refused(GML("graph [ node [ id 1.5 ] ]"), "line 1", "'id' is not a whole number");
    check_refused(GML("graph [ node [ id \"a\" ] ]"), "line 1", "'id' is not a whole number");
    check_refused(GML("graph [ node [ id 1e300 ] ]"), "line 1", "'id' is not a whole number");
    check_refused(GML("graph [ node [ id nan ] ]"), "line 1", "'id' is not a whole number");
    check_refused(GML("graph [\nnode [ v 1 ] ]"), "line 2", "a node without an id");
    check_refused(GML("graph [ node [ id 1 ]\nnode [ id 1 ] ]"), "line 2",
                  "node 1 is there already");
    check_refused(GML("graph [ node [ id 1 ]\nedge [ source 1 ] ]"), "line 2", "without a target");
    check_refused(GML("graph [ node [ id 1 ]\nedge [ target 1 ] ]"), "line 2", "without a source");
    check_refused(GML("graph [ node [ id 1 ]\nedge [ source 1 target 9 ] ]"), "line 2",
                  "node 9, which is not there");
    check_refused(GML("graph [ node [ id 1 v 2 ] node [ id 2 ] ]"), "vertex 1", "'v'");
    check_refused(GML("Creator \"x\"\n"), "g.gml, line 2", "no graph in it");
    check_refused(GML(""), "g.gml", "no graph in it");
}

TEST(zero_bytes_and_endless_lists_are_refused)
{
    static const char zero[] = GML("graph [ node [ id 1 ] \0 ]");
    cbx_graph        *g;
    cbx_error         err = {0};
    CHECK_INT(read_bytes(zero, sizeof zero - 1, NULL, NULL, &g, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "g.gml: not text");
    char deep[1000] = GML("graph [ node [ id 1 ");
    for (int i = 0; i < 65; i++)
        strcat(deep, "a [ ");
    check_refused(deep, "g.gml, line 1", "more than 64 deep");
}
