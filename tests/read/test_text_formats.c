/* SPDX-License-Identifier: Apache-2.0 */
/* TU, LINQS, geom-gcn, attributed and OGB text: small cases by hand, and messages
 * that name the file and the line. test_shared_raw.c has the large ones. */
#include "bundle_case.h"

#define TU                                                                          \
    "==> D_A.txt <==\n1, 2\n2, 1\n3,4\n4,3\n3,3\n3,4\n\n==> D_graph_indicator.txt " \
    "<==\n1\n1\n2\n2\n"                                                             \
    "\n==> D_graph_labels.txt <==\n7\n-3\n"

TEST(tu_graphs_have_attributes_and_one_hot_labels)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text(TU "\n==> D_node_labels.txt <==\n5\n7\n5\n6\n"
                               "\n==> D_node_attributes.txt <==\n0.5\n1\n2\n3\n",
                            &g, &err),
                  err))
        return;
    const cbx_graph_data *d = &g->data;
    CHECK_INT(d->task, CBX_GRAPH);
    CHECK_INT(d->num_graphs, 2);
    CHECK_INT(d->num_edges, 4); /* neither the loop nor the second 3 -> 4 */
    CHECK_INT(d->num_features, 4);
    CHECK(value_at(g, 0, 0) == 0.5f && value_at(g, 0, 1) == 1 && value_at(g, 1, 3) == 1);
    CHECK(value_at(g, 3, 2) == 1 && value_at(g, 3, 1) == 0);
    CHECK(d->y[0] == 1 && d->y[1] == 0); /* -3 comes before 7 */
    CHECK(!strcmp(d->class_names[0], "-3") && !strcmp(d->class_names[1], "7"));
    CHECK(d->graph_ptr[1] == 2 && d->graph_ptr[2] == 4);
    cbx_graph_free(g);
}

TEST(tu_graphs_without_features_get_a_constant_one)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text(TU, &g, &err), err))
        return;
    CHECK_INT(g->data.num_features, 1);
    CHECK(value_at(g, 3, 0) == 1);
    cbx_graph_free(g);
}

TEST(tu_errors_name_file_and_line)
{
    check_refused("==> D_A.txt <==\n1, 2\n1, 9\n\n==> D_graph_indicator.txt <==\n1\n1\n",
                  "D_A.txt, line 2", "node 9 does not exist: they are 1 to 2");
    check_refused("==> D_A.txt <==\n1, 2\n1;x\n\n==> D_graph_indicator.txt <==\n1\n1\n",
                  "D_A.txt, line 2", "two nodes expected");
    check_refused("==> D_A.txt <==\n1, 2\n\n==> D_graph_indicator.txt <==\n2\n1\n",
                  "D_graph_indicator.txt, line 2", "must ascend");
    check_refused(TU "\n==> D_node_attributes.txt <==\n1,2\n1\n1,2\n1,2\n",
                  "D_node_attributes.txt, line 2", "1 attributes, the lines before have 2");
    check_refused(TU "\n==> D_node_attributes.txt <==\n1\n2\nthree\n4\n",
                  "D_node_attributes.txt, line 3", "'three' is not a number");
    check_refused(TU "\n==> D_node_labels.txt <==\n1\n2\n3\n", "D_node_labels.txt",
                  "3 lines for 4 nodes");
    check_refused("==> D_A.txt <==\n1, 2\n\n==> D_graph_indicator.txt <==\n1\n4000000000\n",
                  "D_graph_indicator.txt, line 2", "too many for so short a file");
}

TEST(linqs_words_classes_and_citations)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text("==> c.content <==\n31336\t0\t1\t0\tTheory\n1061127\t1\t0\t1\tAgents\n"
                            "p3 0 0 0 Theory\n\n==> c.cites <==\n31336\t1061127\nunknown\tp3\n",
                            &g, &err),
                  err))
        return;
    CHECK_INT(g->data.num_nodes, 3);
    CHECK_INT(g->data.num_features, 3);
    CHECK_INT(g->data.num_edges, 2);
    CHECK(has_edge(g, 0, 1) && has_edge(g, 1, 0));
    CHECK(!strcmp(g->data.class_names[0], "Agents") && g->data.y[0] == 1 && g->data.y[1] == 0);
    CHECK(!strcmp(g->data.node_names[1], "1061127"));
    CHECK(value_at(g, 1, 2) == 1 && value_at(g, 2, 2) == 0);
    cbx_graph_free(g);
    check_refused("==> c.content <==\na 1 0 X\nb 1 X\n\n==> c.cites <==\na b\n",
                  "c.content, line 2", "1 features and a class, the lines before have 2");
    check_refused("==> c.content <==\na 1 0 X\nb 1 z X\n\n==> c.cites <==\na b\n",
                  "c.content, line 2", "'z' is not a number");
    check_refused("==> c.content <==\na 1 0 X\nb 1 1 X\n\n==> c.cites <==\na b\nb\n",
                  "c.cites, line 2", "two nodes expected");
}

TEST(geom_gcn_rows_go_where_their_ids_say)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(
            read_text(
                "==> out1_node_feature_label.txt <==\nnode_id\tfeature(feature_amount:9)\tlabel\n"
                "1\t3,0,3\t1\n0\t5\t0\n"
                "\n==> out1_graph_edges.txt <==\nnode_id\tnode_id\n1\t0\n0\t0\n1\t0\n",
                &g, &err),
            err))
        return;
    CHECK_INT(g->data.num_features, 6);
    CHECK(value_at(g, 0, 5) == 1 && value_at(g, 1, 3) == 1 && value_at(g, 1, 0) == 1);
    CHECK_INT(g->data.x_indptr[2], 3); /* the second 3 is the first one again */
    CHECK_INT(g->data.num_edges, 2);
    CHECK(g->data.edge_source[0] == 0 && g->data.edge_source[1] == 1);
    cbx_graph_free(g);
    check_refused("==> out1_node_feature_label.txt <==\nh\n0\t1,0\t0\n0\t1,0\t0\n"
                  "\n==> out1_graph_edges.txt <==\nh\n0\t0\n",
                  "node 0 is there twice", "each once");
    check_refused("==> out1_node_feature_label.txt <==\nh\n0\t1,0\t0\n"
                  "\n==> out1_graph_edges.txt <==\nh\n0\t0\n0\t1\n",
                  "out1_graph_edges.txt, line 3", "node 1 does not exist");
}

TEST(attributed_labels_count_from_one_and_the_lowest_wins)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text("==> edgelist.txt <==\n0 1\n0 1\n2 2\n"
                            "\n==> labels.txt <==\n0 3 2\n1\n2 4\n"
                            "\n==> tfidf.txt <==\n0\t1\t0.5\n2\t0\t3\n",
                            &g, &err),
                  err))
        return;
    CHECK_INT(g->data.num_edges, 3); /* exactly as listed */
    CHECK_INT(g->data.num_classes, 4);
    CHECK(g->data.y[0] == 1 && g->data.y[1] == 0 && g->data.y[2] == 3);
    CHECK(value_at(g, 0, 1) == 0.5f && value_at(g, 2, 0) == 3 && g->data.discrete[1]);
    cbx_graph_free(g);
    check_refused("==> edgelist.txt <==\n0 1\n0 7\n\n==> labels.txt <==\n0 1\n1 1\n"
                  "\n==> tfidf.txt <==\n0 0 1\n",
                  "edgelist.txt, line 2", "node 7 does not exist: they are 0 to 1");
}

TEST(ogb_folders_have_no_headers)
{
    cbx_graph *g;
    cbx_error  err = {0};
#define OGB                                                                           \
    "==> raw/edge.csv <==\n0,1\n1,2\n\n==> raw/node-feat.csv <==\n0.5,1\n-1,2\n3,4\n" \
    "\n==> raw/num-node-list.csv <==\n3\n\n==> split/time/train.csv <==\n0\n2\n"
    if (!CHECK_OK(read_text(OGB "\n==> raw/node-label.csv <==\n4\nnan\n0\n", &g, &err), err))
        return;
    CHECK_INT(g->data.num_nodes, 3);
    CHECK_INT(g->data.num_edges, 2);
    CHECK_INT(g->data.num_classes, 5);
    CHECK(g->data.y[0] == 4 && g->data.y[1] == -1 && g->data.y[2] == 0);
    CHECK(value_at(g, 1, 0) == -1 && value_at(g, 2, 1) == 4);
    CHECK(g->data.train_mask[0] && !g->data.train_mask[1] && g->data.train_mask[2]);
    cbx_graph_free(g);
    check_refused(OGB "\n==> raw/node-label.csv <==\n4\n1,0\n0\n", "node-label.csv, line 2",
                  "several labels");
    check_refused(OGB "\n==> raw/node-label.csv <==\n4\n0\n", "node-label.csv",
                  "2 lines for 3 nodes");
}

TEST(a_zero_byte_is_not_text)
{
    static const char text[] = "==> edges.csv <==\n1,2\n1,\0002\n";
    cbx_graph        *g;
    cbx_error         err = {0};
    CHECK_INT(read_bytes(text, sizeof text - 1, NULL, NULL, &g, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "line 2: not text");
}

TEST(a_line_that_is_not_understood_counts_no_graphs)
{
    static const char text[] = "==> D_A.txt <==\n1, 2\n\n==> D_graph_indicator.txt <==\n1\n"
                               "2147483648 and more\n1\n";
    problems          found = {0};
    cbx_graph        *g;
    cbx_error         err = {0};
    CHECK_OK(read_bytes(text, strlen(text), NULL, &found, &g, &err), err);
    CHECK(!g);
    CHECK_INT(found.errors, 1);
    CHECK_CONTAINS(found.text[0], "line 2: the number of a graph expected");
}
