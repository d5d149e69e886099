/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML and GML as others write them. */
#include "bundle_case.h"

static bool have_igraph(void)
{
#ifdef CBX_HAVE_IGRAPH
    return true;
#else
    test_skip("built without igraph");
    return false;
#endif
}

#define GRAPHML(direction, nodes, edges)                                       \
    "==> g.graphml <==\n<?xml version=\"1.0\"?>\n<graphml>\n"                  \
    "<key id=\"a\" for=\"node\" attr.name=\"age\" attr.type=\"double\"/>\n"    \
    "<key id=\"c\" for=\"node\" attr.name=\"class\" attr.type=\"string\"/>\n"  \
    "<key id=\"t\" for=\"node\" attr.name=\"town\" attr.type=\"string\"/>\n"   \
    "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n" \
    "<graph edgedefault=\"" direction "\">\n" nodes edges "</graph></graphml>\n"
#define NODE(id, age, class, town)             \
    "<node id=\"" id "\"><data key=\"a\">" age \
    "</data><data key=\"c\">" class "</data><data key=\"t\">" town "</data></node>\n"

TEST(graphml_attributes_become_features_and_classes)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!have_igraph() ||
        !CHECK_OK(read_text(GRAPHML("undirected",
                                    NODE("x", "3", "b", "Rome") NODE("y", "4.5", "a", "Oslo"),
                                    "<edge source=\"x\" target=\"y\"><data key=\"w\">2</data>"
                                    "</edge>\n"),
                            &g, &err),
                  err))
        return;
    const cbx_graph_data *d = &g->data;
    CHECK_INT(d->num_nodes, 2);
    CHECK_INT(d->num_edges, 2);
    CHECK(has_edge(g, 0, 1) && has_edge(g, 1, 0));
    CHECK(d->edge_weight[0] == 2 && d->edge_weight[1] == 2);
    CHECK_INT(d->num_features, 3);
    CHECK(value_at(g, 1, 0) == 4.5f);
    CHECK(!strcmp(d->feature_names[1], "town=Oslo") && value_at(g, 1, 1) == 1);
    CHECK(value_at(g, 0, 1) == 0 && value_at(g, 0, 2) == 1);
    CHECK(!strcmp(d->class_names[0], "a") && d->y[0] == 1 && d->y[1] == 0);
    CHECK(!strcmp(d->node_names[0], "x"));
    cbx_graph_free(g);
}

TEST(directed_edges_stay_directed)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!have_igraph() ||
        !CHECK_OK(read_text("==> g.gml <==\ngraph [\n directed 1\n node [ id 7 label \"u\" v 2 ]\n"
                            " node [ id 9 label \"w\" v 3 ]\n edge [ source 9 target 7 ]\n]\n",
                            &g, &err),
                  err))
        return;
    CHECK_INT(g->data.num_edges, 1);
    CHECK(has_edge(g, 1, 0));
    CHECK(!strcmp(g->data.node_names[0], "u") && value_at(g, 1, 0) == 3);
    cbx_graph_free(g);
}

TEST(errors_of_igraph_are_passed_on_with_their_line)
{
    if (!have_igraph())
        return;
    check_refused("==> g.gml <==\ngraph [\n node [ id ]\n]\n", "g.gml", "line 2");
    check_refused("==> g.graphml <==\n<graphml><graph><node></graphml>", "g.graphml", "");
    check_refused(GRAPHML("directed", NODE("x", "", "a", "b"), ""), "vertex 0", "'age'");
}
