/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: what they give, and what is said of tables that are wrong. */
#include "bundle_case.h"

#define EDGES "==> edges.csv <==\nsource,target\nann,bob\nbob,cid\n"
#define FEATURES                                                                              \
    "\n==> features.csv <==\nid,age,city,label,split\nann,31,\"Rome, \"\"IT\"\"\",no,train\n" \
    "bob,25.5,Oslo,yes,val\ncid,0,Oslo,no,test\n"

TEST(tables_give_nodes_features_classes_and_splits)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text(EDGES FEATURES, &g, &err), err))
        return;
    const cbx_graph_data *d = &g->data;
    CHECK_INT(d->num_nodes, 3);
    CHECK_INT(d->num_edges, 2);
    CHECK(has_edge(g, 0, 1) && has_edge(g, 1, 2) && !has_edge(g, 1, 0));
    CHECK_INT(d->num_features, 3);
    CHECK(!strcmp(d->feature_names[0], "age"));
    CHECK(!strcmp(d->feature_names[1], "city=Oslo"));
    CHECK(!strcmp(d->feature_names[2], "city=Rome, \"IT\""));
    CHECK(value_at(g, 0, 0) == 31 && value_at(g, 1, 0) == 25.5f && value_at(g, 2, 0) == 0);
    CHECK(value_at(g, 0, 2) == 1 && value_at(g, 0, 1) == 0 && value_at(g, 2, 1) == 1);
    CHECK(!d->discrete[0] && d->discrete[1] && d->discrete[2]);
    CHECK_INT(d->num_groups, 1);
    CHECK(!strcmp(d->group_names[0], "city"));
    CHECK(d->feature_group[0] == -1 && d->feature_group[1] == 0 && d->feature_group[2] == 0);
    CHECK_INT(d->num_classes, 2);
    CHECK(!strcmp(d->class_names[0], "no") && !strcmp(d->class_names[1], "yes"));
    CHECK(d->y[0] == 0 && d->y[1] == 1 && d->y[2] == 0);
    CHECK(d->train_mask[0] && d->val_mask[1] && d->test_mask[2] && !d->test_mask[0]);
    CHECK(!strcmp(d->node_names[2], "cid"));
    cbx_graph_free(g);
}

TEST(ids_that_count_from_zero_are_no_names_and_whole_classes_keep_their_number)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text("==> x_edges.tsv <==\nu\tv\tweight\n1\t0\t0.5\n"
                            "\n==> x_nodes.tsv <==\nid\tf\n0\t1\n1\t2\n"
                            "\n==> x_labels.tsv <==\nid\tclass\n1\t1\n0\t0\n",
                            &g, &err),
                  err))
        return;
    CHECK(!g->data.node_names && !g->data.class_names);
    CHECK(g->data.y[0] == 0 && g->data.y[1] == 1);
    CHECK(g->data.edge_weight && g->data.edge_weight[0] == 0.5f);
    cbx_graph_free(g);
}

TEST(an_edge_list_alone_has_one_constant_feature)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text("==> edges.csv <==\n7 9\n9 8\n", &g, &err), err))
        return;
    CHECK_INT(g->data.num_nodes, 3);
    CHECK_INT(g->data.num_features, 1);
    CHECK(value_at(g, 2, 0) == 1 && !strcmp(g->data.node_names[0], "7"));
    CHECK(has_edge(g, 0, 1) && has_edge(g, 1, 2));
    CHECK(!g->data.y);
    cbx_graph_free(g);
}

TEST(symmetric_adds_the_reverse_of_every_edge_once)
{
    static const char text[] = "==> edges.csv <==\ns,t\n0,1\n1,0\n1,2\n2,2\n";
    cbx_read_options  options = {.symmetric = true};
    cbx_graph        *g;
    cbx_error         err = {0};
    if (!CHECK_OK(read_bytes(text, strlen(text), &options, NULL, &g, &err), err))
        return;
    CHECK_INT(g->data.num_edges, 5);
    CHECK(has_edge(g, 2, 1));
    CHECK(g->data.edge_source[0] == 0 && g->data.edge_target[2] == 2); /* in their old places */
    cbx_graph_free(g);
}

TEST(what_is_wrong_is_told_with_its_line)
{
    check_refused(EDGES "eve,ann\n" FEATURES, "edges.csv, line 4", "node 'eve' has no row");
    check_refused(EDGES "\n==> features.csv <==\nid,age\nann,1\nbob,x\ncid,3\nann,4\n", "line",
                  "'ann' is there already");
    check_refused(EDGES "\n==> features.csv <==\nid,age\nann,\nbob,\ncid,n/a\n",
                  "features.csv, line 2", "column 'age' is ''");
    check_refused(EDGES "\n==> features.csv <==\nid,age\nann,1\nbob,2,3\ncid,3\n",
                  "features.csv, line 3", "3 fields, the header has 2");
    check_refused(EDGES "\n==> features.csv <==\n1,2\n3,4\n", "features.csv, line 1", "header");
    check_refused("==> edges.csv <==\na,b,weight\n1,2,-3\n", "line 2", "weight '-3'");
    check_refused(EDGES "\n==> labels.csv <==\nid,label,split\nann,1,tset\n", "line 2", "tset");
    check_refused("==> edges.csv <==\n", "edges.csv", "empty");
}

TEST(checking_tells_of_every_bad_line)
{
    static const char text[] = EDGES "eve,ann\n\nzoe,bob,3\n"
                                     "\n==> features.csv <==\nid,age\nann,1\nbob,2,3\ncid,inf\n";
    problems          found = {0};
    cbx_graph        *g;
    cbx_error         err = {0};
    CHECK_OK(read_bytes(text, strlen(text), NULL, &found, &g, &err), err);
    CHECK(g == NULL);
    CHECK_INT(found.errors, 6);
    CHECK_CONTAINS(found.text[0], "features.csv, line 3: 3 fields");
    CHECK_CONTAINS(found.text[1], "features.csv, line 4: column 'age' is 'inf'");
    CHECK_CONTAINS(found.text[2], "edges.csv, line 2: node 'bob' has no row");
    CHECK_CONTAINS(found.text[3], "edges.csv, line 3: node 'bob' has no row");
    CHECK_CONTAINS(found.text[4], "edges.csv, line 4: node 'eve'");
    CHECK_CONTAINS(found.text[5], "edges.csv, line 6: 3 fields");
}

TEST(a_column_of_texts_that_all_differ_is_no_feature)
{
    char   text[8192] = "==> edges.csv <==\n0,1\n\n==> features.csv <==\nid,note\n";
    size_t at = strlen(text);
    for (int i = 0; i < 200; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%d,text %d\n", i, i);
    check_refused(text, "column 'note'", "200 different texts");
}

TEST(what_is_missing_is_the_median_or_a_category_and_told)
{
    static const char text[] = EDGES "eve,ann\n\n==> features.csv <==\nid,age,city\nann,7,Rome\n"
                                     "bob,,n/a\ncid,9,\neve,30,Rome\n";
    problems          found = {0};
    cbx_graph        *g;
    cbx_error         err = {0};
    if (!CHECK_OK(read_bytes(text, strlen(text), NULL, &found, &g, &err), err) || !CHECK(g != NULL))
        return;
    CHECK(value_at(g, 0, 0) == 7 && value_at(g, 1, 0) == 9 && value_at(g, 3, 0) == 30);
    CHECK(g->data.discrete[0]);
    CHECK_INT(g->data.num_features, 3);
    CHECK(!strcmp(g->data.feature_names[1], "city=Rome"));
    CHECK(!strcmp(g->data.feature_names[2], "city=missing"));
    CHECK(value_at(g, 1, 2) == 1 && value_at(g, 2, 2) == 1 && value_at(g, 0, 2) == 0);
    CHECK_INT(found.errors, 0);
    CHECK_CONTAINS(found.text[0], "column 'age': 1 value is missing; the median, 9, stands");
    CHECK_CONTAINS(found.text[1], "column 'city': 2 values are missing");
    cbx_graph_free(g);
}

TEST(numbers_with_commas_and_days_are_numbers)
{
    cbx_graph *g;
    cbx_error  err = {0};
    if (!CHECK_OK(read_text(EDGES
                            "\n==> features.csv <==\nid,income,since\nann,\"1,200\",1970-01-03\n"
                            "bob,800,1970-02-01\ncid,\"12,000.5\",1970-01-01\n",
                            &g, &err),
                  err))
        return;
    CHECK_INT(g->data.num_features, 2);
    CHECK(value_at(g, 0, 0) == 1200 && value_at(g, 2, 0) == 12000.5f);
    CHECK(value_at(g, 0, 1) == 2 && value_at(g, 1, 1) == 31 && value_at(g, 2, 1) == 0);
    CHECK(!strcmp(g->data.feature_names[1], "since (days since 1970-01-01)"));
    cbx_graph_free(g);
}

TEST(a_slip_among_numbers_is_told_with_its_line)
{
    char   text[8192] = "==> edges.csv <==\n0,1\n\n==> features.csv <==\nid,income\n";
    size_t at = strlen(text);
    for (int i = 0; i < 200; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, i == 70 ? "%d,about %d\n" : "%d,%d\n",
                               i, i);
    check_refused(text, "features.csv, line 72",
                  "column 'income' is 'about 70', a number was expected");
}

TEST(the_column_of_classes_can_be_named)
{
    static const char text[] =
        EDGES "\n==> features.csv <==\nid,age,good\nann,7,1\nbob,8,0\ncid,9,1\n";
    cbx_read_options options = {.label_column = "good"}, wrong = {.label_column = "goof"};
    cbx_graph       *g;
    cbx_error        err = {0};
    if (!CHECK_OK(read_bytes(text, strlen(text), &options, NULL, &g, &err), err))
        return;
    CHECK_INT(g->data.num_features, 1);
    CHECK_INT(g->data.num_classes, 2);
    CHECK(g->data.y[0] == 1 && g->data.y[1] == 0);
    cbx_graph_free(g);
    CHECK_INT(read_bytes(text, strlen(text), &wrong, NULL, &g, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "label_column: ");
    CHECK_CONTAINS(err.message, "features.csv has no column 'goof'; did you mean 'good'?");
}
