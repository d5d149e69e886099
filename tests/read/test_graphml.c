/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML as others write it. */
#include "bundle_case.h"

#define FILE_OF(text) "==> g.graphml <==\n" text
#define GRAPHML(direction, nodes, edges)                                       \
    FILE_OF("<?xml version=\"1.0\"?>\n<graphml>\n")                            \
    "<key id=\"a\" for=\"node\" attr.name=\"age\" attr.type=\"double\"/>\n"    \
    "<key id=\"c\" for=\"node\" attr.name=\"class\" attr.type=\"string\"/>\n"  \
    "<key id=\"t\" for=\"node\" attr.name=\"town\" attr.type=\"string\"/>\n"   \
    "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n" \
    "<graph edgedefault=\"" direction "\">\n" nodes edges "</graph></graphml>\n"
#define NODE(id, age, class, town)             \
    "<node id=\"" id "\"><data key=\"a\">" age \
    "</data><data key=\"c\">" class "</data><data key=\"t\">" town "</data></node>\n"
/* One key, and what is in the graph. */
#define ONE_KEY(key, body) \
    FILE_OF("<graphml>" key "\n<graph edgedefault=\"directed\">\n" body "</graph></graphml>")
#define AGE "<key id=\"a\" for=\"node\" attr.name=\"age\" attr.type=\"double\"/>"

static cbx_graph *reads(const char *text)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    CHECK_OK(read_text(text, &g, &err), err);
    return g;
}

TEST(attributes_become_features_and_classes)
{
    cbx_graph *g =
        reads(GRAPHML("undirected", NODE("x", "3", "b", "Rome") NODE("y", " 4.5\n", "a", "Oslo"),
                      "<edge source=\"x\" target=\"y\"><data key=\"w\">2</data></edge>\n"));
    if (!g)
        return;
    const cbx_graph_data *d = &g->data;
    CHECK_INT(d->num_nodes, 2);
    CHECK_INT(d->num_edges, 2);
    CHECK(has_edge(g, 0, 1) && has_edge(g, 1, 0));
    CHECK(d->edge_source[0] == 1); /* the way from the later vertex comes first */
    CHECK(d->edge_weight[0] == 2 && d->edge_weight[1] == 2);
    CHECK_INT(d->num_features, 3);
    CHECK(value_at(g, 1, 0) == 4.5f);
    CHECK(!strcmp(d->feature_names[1], "town=Oslo") && value_at(g, 1, 1) == 1);
    CHECK(value_at(g, 0, 1) == 0 && value_at(g, 0, 2) == 1);
    CHECK_INT(d->num_groups, 1);
    CHECK(!strcmp(d->group_names[0], "town") && d->feature_group[2] == 0);
    CHECK(!strcmp(d->class_names[0], "a") && d->y[0] == 1 && d->y[1] == 0);
    CHECK(!strcmp(d->node_names[0], "x"));
    cbx_graph_free(g);
}

TEST(what_is_not_said_is_the_default)
{
    cbx_graph *g = reads(ONE_KEY(
        "<key id=\"a\" for=\"node\" attr.name=\"a\" attr.type=\"int\"><default>7</default></key>"
        "<key id=\"b\" for=\"node\" attr.name=\"b\" attr.type=\"boolean\"/>"
        "<key id=\"t\" for=\"node\" attr.name=\"t\" attr.type=\"string\"><default>q</default></key>"
        "<key id=\"u\" for=\"node\" attr.name=\"u\" attr.type=\"string\"/>",
        "<node id=\"x\"><data key=\"a\">1</data><data key=\"b\">TRUE</data></node>"
        "<node id=\"y\"><data key=\"t\">p</data><data key=\"u\">v</data></node>"));
    if (!g)
        return;
    /* a, b, t=p, t=q, u=, u=v */
    static const float x[] = {1, 1, 0, 1, 1, 0, /**/ 7, 0, 1, 0, 0, 1};
    CHECK_INT(g->data.num_features, 6);
    CHECK(!strcmp(g->data.feature_names[4], "u="));
    for (int32_t k = 0; k < 12; k++)
        CHECK(value_at(g, k / 6, k % 6) == x[k]);
    cbx_graph_free(g);
}

TEST(a_class_that_is_not_said_is_unknown)
{
    cbx_graph *g = reads(ONE_KEY("<key id=\"c\" for=\"node\" attr.name=\"Y\" attr.type=\"int\"/>",
                                 "<node id=\"x\"><data key=\"c\">10</data></node><node id=\"y\"/>"
                                 "<node id=\"z\"><data key=\"c\">9</data></node>"));
    if (!g)
        return;
    CHECK(g->data.y[0] == 1 && g->data.y[1] == -1 && g->data.y[2] == 0);
    CHECK(!strcmp(g->data.class_names[0], "9")); /* by value, not by letters */
    CHECK(!strcmp(g->data.feature_names[0], "constant") && value_at(g, 1, 0) == 1);
    cbx_graph_free(g);
}

TEST(of_what_is_said_twice_the_last_counts)
{
    cbx_graph *g =
        reads(ONE_KEY(AGE, "<node id=\"x\"><data key=\"a\">1</data><data key=\"a\">5</data></node>"
                           "<node id=\"y\"><data key=\"a\">2</data></node>"
                           "<node id=\"x\"><data key=\"a\">6</data></node>"));
    if (!g)
        return;
    CHECK_INT(g->data.num_nodes, 2);
    CHECK(value_at(g, 0, 0) == 6 && value_at(g, 1, 0) == 2);
    cbx_graph_free(g);
}

TEST(an_edge_may_come_before_its_nodes)
{
    cbx_graph *g = reads(ONE_KEY(AGE, "<edge source=\"y\" target=\"x\"/>"
                                      "<node id=\"x\"><data key=\"a\">1</data></node>"
                                      "<node id=\"y\"><data key=\"a\">2</data></node>"));
    if (!g)
        return;
    CHECK(!strcmp(g->data.node_names[0], "y") && value_at(g, 0, 0) == 2 && has_edge(g, 0, 1));
    cbx_graph_free(g);
}

TEST(what_other_programs_put_in_is_passed_over)
{
    cbx_graph *g = reads(FILE_OF(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n") "<g:graphml "
                                                             "xmlns:g=\"http://"
                                                             "graphml.graphdrawing.org/xmlns\" "
                                                             "xmlns:y=\"u\">\n"
                                                             "<g:desc>of <b>a</b></g:desc><g:key "
                                                             "for=\"node\" id=\"d6\" "
                                                             "yfiles.type=\"nodegraphics\"/>\n"
                                                             "<g:key id=\"a\" for=\"node\" "
                                                             "attr.type=\"float\"/>\n"
                                                             "<g:key id=\"p\" for=\"port\" "
                                                             "attr.name=\"p\" "
                                                             "attr.type=\"string\"/>\n"
                                                             "<g:graph id=\"G\"><g:data "
                                                             "key=\"a\">3</g:data>\n"
                                                             "<g:node id=\"x\"><g:data "
                                                             "key=\"d6\"><y:Shape>s<y:Label>7</"
                                                             "y:Label></y:Shape></g:data>"
                                                             "<g:port name=\"p\"/><g:data "
                                                             "key=\"a\"><![CDATA[1]]>.<!-- "
                                                             "-->5<y:z>9</y:z></g:data>"
                                                             "<g:graph><g:node "
                                                             "id=\"inner\"><g:data "
                                                             "key=\"a\">9</g:data></g:node></"
                                                             "g:graph></g:node>\n"
                                                             "<g:node id=\"\xe4 &amp; y\"><g:data "
                                                             "key=\"a\">2</g:data><g:data "
                                                             "key=\"?\">8</g:data></g:node>"
                                                             "<g:hyperedge/></"
                                                             "g:graph><g:graph><g:node "
                                                             "id=\"z\"/></g:graph></g:graphml>\n");
    if (!g)
        return;
    CHECK_INT(g->data.num_nodes, 2);
    CHECK_INT(g->data.num_features, 1);
    CHECK(!strcmp(g->data.feature_names[0], "a") && value_at(g, 0, 0) == 1.5f);
    CHECK(!strcmp(g->data.node_names[1], "ä & y"));
    cbx_graph_free(g);
}

TEST(weights_that_are_texts_are_none)
{
    cbx_graph *g = reads(ONE_KEY(
        "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"string\"/>",
        "<node id=\"x\"/><edge source=\"x\" target=\"x\"><data key=\"w\">much</data></edge>"));
    if (g)
        CHECK(!g->data.edge_weight);
    cbx_graph_free(g);
}

TEST(what_is_wrong_is_told_with_its_line)
{
    check_refused(FILE_OF("<graphml><graph>\n<node></graphml>"), "g.graphml, line 2",
                  "without an id");
    check_refused(FILE_OF("<graphml>\n<graph></graphml>"), "g.graphml, line 2", "mismatched tag");
    check_refused(FILE_OF("<graphml><graph>"), "g.graphml, line 1", "");
    check_refused(FILE_OF(""), "g.graphml", "no element");
    check_refused(FILE_OF("<gexf/>"), "line 1: the element <gexf>", "<graphml> was expected");
    check_refused(FILE_OF("<graphml/>"), "g.graphml", "no <graph>");
    check_refused(ONE_KEY(AGE, "<edge source=\"x\"/>"), "line 3", "without a target");
    check_refused(ONE_KEY(AGE, "<edge target=\"x\"/>"), "line 3", "without a source");
    check_refused(ONE_KEY(AGE "\n" AGE, ""), "line 2", "key 'a' is there already");
    check_refused(ONE_KEY(AGE, "\n\n<node id=\"x\"><data key=\"a\">1,5</data></node>"), "line 5",
                  "'1,5' is not a number");
    check_refused(ONE_KEY("<key id=\"b\" attr.type=\"boolean\"/>",
                          "<node id=\"x\"><data key=\"b\">perhaps</data></node>"),
                  "line 3", "'perhaps' is not true or false");
    check_refused(GRAPHML("directed", NODE("x", "", "a", "b"), ""), "vertex 0", "'age'");
    check_refused(ONE_KEY(AGE, "<node id=\"x\"><data key=\"a\">1</data></node><node id=\"y\"/>"),
                  "vertex 1", "'age'");
}

TEST(a_document_type_is_refused_and_with_it_entities)
{
    check_refused(
        FILE_OF("<?xml version=\"1.0\"?>\n<!DOCTYPE graphml [\n"
                "<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">\n"
                "]><graphml>&b;</graphml>"),
        "g.graphml, line 2", "DOCTYPE");
    check_refused(FILE_OF("<!DOCTYPE graphml SYSTEM \"/etc/passwd\"><graphml/>"), "line 1",
                  "DOCTYPE");
    check_refused(FILE_OF("<graphml>&b;</graphml>"), "line 1", "undefined entity");
}

/* Some hundred bytes of keys, times some hundred bytes of nodes. */
TEST(defaults_of_many_keys_for_many_nodes_are_too_much)
{
    enum { KEYS = 3000, NODES = 12000, ROOM = KEYS * 100 + NODES * 24 + 200 };
    char *text = malloc(ROOM);
    int   at = snprintf(text, ROOM, FILE_OF("<graphml>"));
    for (int i = 0; i < KEYS; i++)
        at += snprintf(text + at, (size_t)(ROOM - at),
                       "<key id=\"%d\" attr.type=\"int\"><default>1</default></key>", i);
    at += snprintf(text + at, (size_t)(ROOM - at), "<graph>");
    for (int i = 0; i < NODES; i++)
        at += snprintf(text + at, (size_t)(ROOM - at), "<node id=\"%d\"/>", i);
    (void)snprintf(text + at, (size_t)(ROOM - at), "</graph></graphml>");
    check_refused(text, "36000000 values", "left to defaults");
    free(text);
}

TEST(the_file_that_is_named_is_the_one_that_is_read)
{
    static const char one[] = "<graphml><graph><node id=\"one\"/></graph></graphml>";
    static const char two[] = "graph [ node [ id 5 ] node [ id 6 ] ]";
    cbx_graph        *g = NULL;
    cbx_error         err = {0};
    test_write_file(test_path("same.graphml"), one, strlen(one));
    test_write_file(test_path("same.gml"), two, strlen(two));
    if (CHECK_OK(cbx_graph_read_with(test_path("same.gml"), NULL, &g, &err), err))
        CHECK_INT(g->data.num_nodes, 2);
    cbx_graph_free(g);
    if (CHECK_OK(cbx_graph_read_with(test_path("same.graphml"), NULL, &g, &err), err))
        CHECK_INT(g->data.num_nodes, 1);
    cbx_graph_free(g);
}
