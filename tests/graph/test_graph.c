/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs from arrays: every check once, the index, and the facts found. */
#include "graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "random_graph.h"
#include "test.h"

/* Four nodes, two features, three edges; in graph tasks, two graphs of two. */
static const int64_t sources[] = {0, 1, 3}, targets[] = {1, 0, 2}, ends[] = {0, 2, 4};
static const float   weights[] = {1, 2, 3}, features[] = {0, 1, 2, 3, 4, 5, 6, 7};

static cbx_graph_data node_task(void)
{
    return (cbx_graph_data){.num_nodes = 4,
                            .num_features = 2,
                            .num_edges = 3,
                            .edge_source = sources,
                            .edge_target = targets,
                            .edge_weight = weights,
                            .x = features};
}

static cbx_graph_data graph_task(void)
{
    cbx_graph_data d = node_task();
    d.task = CBX_GRAPH;
    d.num_graphs = 2;
    d.graph_ptr = ends;
    return d;
}

/* The graph is refused with a message that has both parts. */
static void refused(const cbx_graph_data *d, const char *place, const char *value)
{
    cbx_error  err = {0};
    cbx_graph *g = (cbx_graph *)&err;
    CHECK_INT(cbx_graph_new(d, &g, &err), CBX_INVALID);
    CHECK_INT(err.status, CBX_INVALID);
    CHECK(g == NULL);
    CHECK_CONTAINS(err.message, place);
    CHECK_CONTAINS(err.message, value);
    CHECK_INT(cbx_graph_new(d, &g, NULL), CBX_INVALID);
}

static cbx_graph *accepted(const cbx_graph_data *d)
{
    cbx_error  err = {0};
    cbx_graph *g = NULL;
    CHECK_OK(cbx_graph_new(d, &g, &err), err);
    return g;
}

TEST(good_graphs_are_accepted)
{
    cbx_graph_data node = node_task(), graph = graph_task();
    cbx_graph     *a = accepted(&node), *b = accepted(&graph);
    CHECK(a && b);
    if (a && b) {
        CHECK_INT(cbx_graph_label_rows(a), 4);
        CHECK_INT(cbx_graph_label_rows(b), 2);
        CHECK(cbx_graph_arrays(a)->x == features);
    }
    cbx_graph_free(a);
    cbx_graph_free(b);
    cbx_graph_free(NULL);
}

/* ---- sizes */

TEST(a_graph_without_nodes_or_features_is_refused)
{
    cbx_graph_data d = node_task();
    d.num_nodes = 0;
    refused(&d, "at least one node", "0");
    d.num_nodes = -3;
    refused(&d, "at least one node", "-3");
    d = node_task();
    d.num_features = 0;
    refused(&d, "at least one feature", "0");
    d.num_features = -2;
    refused(&d, "at least one feature", "-2");
}

TEST(negative_counts_are_refused)
{
    cbx_graph_data d = node_task();
    d.num_edges = -1;
    refused(&d, "num_edges", "-1");
    d = node_task();
    d.num_classes = -2;
    refused(&d, "num_classes", "-2");
    d = node_task();
    d.num_graphs = -3;
    refused(&d, "num_graphs", "-3");
    d = node_task();
    d.num_splits = -4;
    refused(&d, "num_splits", "-4");
}

TEST(missing_arrays_are_named)
{
    cbx_graph_data d = node_task();
    d.edge_source = NULL;
    refused(&d, "3 edges", "no edge arrays");
    d = node_task();
    d.edge_target = NULL;
    refused(&d, "3 edges", "no edge arrays");
    d = node_task();
    d.x = NULL;
    refused(&d, "no features", "x_indptr");
    d.x_indptr = (int64_t[]){0, 0, 0, 0, 0};
    d.x_indices = (int32_t[]){0};
    refused(&d, "no features", "x_values");
    d = graph_task();
    d.graph_ptr = NULL;
    refused(&d, "graph task", "graph_ptr");
    d = graph_task();
    d.num_graphs = 0;
    refused(&d, "graph task", "at least one graph");
}

TEST(a_graph_may_have_no_edges)
{
    cbx_graph_data d = node_task();
    d.num_edges = 0;
    d.edge_source = d.edge_target = NULL;
    d.edge_weight = NULL;
    cbx_graph *g = accepted(&d);
    if (g)
        for (int i = 0; i <= 4; i++)
            CHECK_INT(g->in_offset[i], 0);
    cbx_graph_free(g);
}

/* ---- graph_ptr */

TEST(graph_ptr_must_run_from_zero_to_the_number_of_nodes)
{
    cbx_graph_data d = graph_task();
    d.graph_ptr = (int64_t[]){1, 2, 4};
    refused(&d, "graph_ptr must run from 0 to the number of nodes (4)", "from 1 to 4");
    d.graph_ptr = (int64_t[]){0, 2, 3};
    refused(&d, "graph_ptr must run from 0 to the number of nodes (4)", "from 0 to 3");
}

TEST(graph_ptr_must_ascend)
{
    cbx_graph_data d = graph_task();
    d.graph_ptr = (int64_t[]){0, 0, 4};
    refused(&d, "graph_ptr[1]", "0 is not more than the entry before, 0");
    d.graph_ptr = (int64_t[]){0, 5, 4};
    refused(&d, "graph_ptr[2]", "4 is not more than the entry before, 5");
}

TEST(an_edge_between_two_graphs_is_refused)
{
    cbx_graph_data d = graph_task();
    d.edge_source = (int64_t[]){0, 1, 1};
    refused(&d, "edge 2 comes from node 1", "outside graph 1 (nodes 2 to 3)");
    d.edge_source = (int64_t[]){2, 1, 3};
    refused(&d, "edge 0 comes from node 2", "outside graph 0 (nodes 0 to 1)");
}

/* ---- edges */

TEST(an_edge_outside_the_graph_is_refused_with_its_ends)
{
    cbx_graph_data d = node_task();
    d.edge_source = (int64_t[]){0, 4, 3};
    refused(&d, "edge 1 (4 -> 0)", "nodes are 0 to 3");
    d.edge_source = (int64_t[]){-1, 1, 3};
    refused(&d, "edge 0 (-1 -> 1)", "nodes are 0 to 3");
    d = node_task();
    d.edge_target = (int64_t[]){1, 0, 4};
    refused(&d, "edge 2 (3 -> 4)", "nodes are 0 to 3");
    d.edge_target = (int64_t[]){1, 0, -7};
    refused(&d, "edge 2 (3 -> -7)", "nodes are 0 to 3");
    d.edge_target = (int64_t[]){1, (int64_t)1 << 32, 2}; /* 0 if cut to 32 bits */
    refused(&d, "edge 1 (1 -> 4294967296)", "nodes are 0 to 3");
}

TEST(a_bad_weight_is_refused_with_its_edge)
{
    cbx_graph_data d = node_task();
    d.edge_weight = (float[]){1, NAN, 1};
    refused(&d, "edge 1 (1 -> 0)", "weight nan");
    d.edge_weight = (float[]){1, 1, INFINITY};
    refused(&d, "edge 2 (3 -> 2)", "weight inf");
    d.edge_weight = (float[]){-0.5f, 1, 1};
    refused(&d, "edge 0 (0 -> 1)", "weight -0.5; weights must not be negative");
    d.edge_weight = (float[]){0, 1, 1};
    cbx_graph_free(accepted(&d));
}

TEST(edge_attributes_are_all_there_and_finite)
{
    cbx_graph_data d = node_task();
    d.edge_dim = 2;
    refused(&d, "edge_dim is 2", "there are no edge attributes");
    d.edge_attr = (float[]){1, 2, 3, 4, NAN, 6};
    refused(&d, "edge 2 (3 -> 2)", "attribute 0 is nan");
    d.edge_attr = (float[]){1, 2, 3, 4, 5, -6};
    cbx_graph_free(accepted(&d));
    d.edge_dim = 0;
    refused(&d, "edge_dim is 0", "there are edge attributes");
    d.edge_dim = -1;
    refused(&d, "edge_dim is -1", "edge attributes");
}

/* ---- features */

TEST(a_feature_that_is_no_number_is_refused_with_its_place)
{
    cbx_graph_data d = node_task();
    d.x = (float[]){0, 1, 2, 3, 4, NAN, 6, 7};
    refused(&d, "feature 1 of node 2", "nan");
    d.x = (float[]){0, 1, 2, 3, 4, 5, -INFINITY, 7};
    refused(&d, "feature 0 of node 3", "-inf");
}

/* The same four nodes with sparse features: {1, 0}, {}, {0, 2}, {3, 4}. */
static cbx_graph_data sparse_task(const int64_t *indptr, const int32_t *indices,
                                  const float *values)
{
    cbx_graph_data d = node_task();
    d.x = NULL;
    d.x_indptr = indptr;
    d.x_indices = indices;
    d.x_values = values;
    d.num_x_values = 4;
    return d;
}

TEST(sparse_features_are_checked_entry_by_entry)
{
    const int64_t  indptr[] = {0, 1, 1, 2, 4};
    const int32_t  indices[] = {0, 1, 0, 1};
    const float    values[] = {1, 2, 3, 4};
    cbx_graph_data d = sparse_task(indptr, indices, values);
    cbx_graph_free(accepted(&d));
    d = sparse_task(indptr, indices, (float[]){1, 2, 3, INFINITY});
    refused(&d, "feature 1 of node 3", "inf");
    d = sparse_task(indptr, (int32_t[]){0, 2, 0, 1}, values);
    refused(&d, "row 2 of x has column 2", "columns are 0 to 1");
    d = sparse_task(indptr, (int32_t[]){-1, 1, 0, 1}, values);
    refused(&d, "row 0 of x has column -1", "columns are 0 to 1");
    d = sparse_task(indptr, (int32_t[]){0, 1, 1, 0}, values);
    refused(&d, "row 3 of x", "columns must ascend, but 0 follows 1");
    d = sparse_task((int64_t[]){0, 1, 9, 2, 4}, indices, values);
    refused(&d, "x.indptr[2] = 9 is more than the last entry, 4", "");
    d = sparse_task(indptr, (int32_t[]){0, 1, 1, 1}, values);
    refused(&d, "row 3 of x", "columns must ascend, but 1 follows 1");
    d = sparse_task((int64_t[]){1, 1, 1, 2, 4}, indices, values);
    refused(&d, "x.indptr starts at 1", "not 0");
    d = sparse_task((int64_t[]){0, 2, 1, 2, 4}, indices, values);
    refused(&d, "x.indptr[2] = 1", "less than the entry before, 2");
    d = sparse_task((int64_t[]){0, 1, 9, 2, 4}, indices, values); /* nothing there to read */
    refused(&d, "x.indptr[2] = 9", "more than the last entry, 4");
}

TEST(sparse_features_end_where_their_arrays_do)
{
    const int64_t  indptr[] = {0, 1, 1, 2, 4};
    const int32_t  indices[] = {0, 1, 0, 1};
    const float    values[] = {1, 2, 3, 4};
    cbx_graph_data d = sparse_task(indptr, indices, values);
    for (int64_t count = 0; count < 6; count++) {
        char told[32];
        (void)snprintf(told, sizeof told, "have %lld entries", (long long)count);
        d.num_x_values = count;
        if (count == 4)
            cbx_graph_free(accepted(&d));
        else
            refused(&d, "x.indptr ends with 4", told);
    }
    d.num_x_values = -1;
    refused(&d, "num_x_values must not be negative", "-1");
    d = sparse_task((int64_t[]){0, 1, 1, 2, INT64_MAX}, indices, values);
    refused(&d, "x.indptr ends with 9223372036854775807", "have 4 entries");
}

TEST(a_feature_is_of_a_group_that_there_is)
{
    cbx_graph_data d = node_task();
    d.num_groups = 1;
    refused(&d, "1 groups of features", "no feature_group");
    d.feature_group = (int32_t[]){0, 1};
    refused(&d, "feature 1 is of group 1", "groups are 0 to 0, or -1");
    d.feature_group = (int32_t[]){-2, 0};
    refused(&d, "feature 0 is of group -2", "groups are 0 to 0, or -1");
    d.feature_group = (int32_t[]){-1, 0};
    cbx_graph_free(accepted(&d));
    d.num_groups = -1;
    refused(&d, "num_groups must not be negative", "-1");
}

TEST(names_are_as_many_as_there_are_things_and_none_is_missing)
{
    cbx_graph_data d = node_task();
    d.y = (int64_t[]){0, 1, 1, 0};
    d.class_names = (const char *const[]){"no", "yes"};
    refused(&d, "class_names are given", "num_classes is 0");
    d.num_classes = 2;
    cbx_graph_free(accepted(&d));
    d.class_names = (const char *const[]){"no", NULL};
    refused(&d, "class_names[1]", "NULL");
    d.class_names = NULL;
    d.node_names = (const char *const[]){"a", "b", NULL, "d"};
    refused(&d, "node_names[2]", "NULL");
    d.node_names = NULL;
    d.feature_names = (const char *const[]){NULL, "b"};
    refused(&d, "feature_names[0]", "NULL");
    d.feature_names = NULL;
    d.num_groups = 1;
    d.feature_group = (int32_t[]){0, 0};
    d.group_names = (const char *const[]){NULL};
    refused(&d, "group_names[0]", "NULL");
}

TEST(a_task_is_one_of_the_two)
{
    cbx_graph_data d = node_task();
    d.task = (cbx_task)2;
    refused(&d, "task is 2", "CBX_GRAPH (1)");
}

TEST(bad_bounds_are_refused_with_their_feature)
{
    cbx_graph_data d = node_task();
    d.feat_min = (float[]){0, 2};
    d.feat_max = (float[]){9, 1};
    refused(&d, "feature 1", "bounds 2 to 1");
    d.feat_max = (float[]){NAN, 9};
    refused(&d, "feature 0", "bounds 0 to nan");
    d = node_task();
    d.feat_min = (float[]){0, -INFINITY};
    refused(&d, "feature 1", "-inf");
}

TEST(a_bound_given_must_go_with_the_one_found)
{
    /* Feature 1 runs from 1 to 7. */
    cbx_graph_data d = node_task();
    d.feat_min = (float[]){0, 8};
    refused(&d, "feature 1", "bounds 8 to 7");
    d = node_task();
    d.feat_max = (float[]){9, 0.5f};
    refused(&d, "feature 1", "bounds 1 to 0.5");
}

TEST(a_label_out_of_range_is_refused_with_its_row)
{
    cbx_graph_data d = node_task();
    d.num_classes = 3;
    d.y = (int64_t[]){0, 1, 3, 2};
    refused(&d, "label 3 of node 2", "0 to 2, or -1");
    d.y = (int64_t[]){0, -2, 1, 2};
    refused(&d, "label -2 of node 1", "0 to 2, or -1");
    d.num_classes = 0;
    d.y = (int64_t[]){0, 1, 1, INT32_MAX};
    refused(&d, "label 2147483647 of node 3", "0 to 2147483646");
    d = graph_task();
    d.num_classes = 2;
    d.y = (int64_t[]){-1, 2};
    refused(&d, "label 2 of graph 1", "0 to 1, or -1");
}

/* ---- the index */

TEST(edges_are_grouped_by_target_in_the_order_of_their_ids)
{
    /* Into node 0: ids 1 and 4; into 1: id 3; into 2: ids 0 and 2. */
    cbx_graph_data d = node_task();
    d.num_edges = 5;
    d.edge_source = (int64_t[]){3, 2, 1, 0, 0};
    d.edge_target = (int64_t[]){2, 0, 2, 1, 0};
    d.edge_weight = (float[]){10, 11, 12, 13, 14};
    cbx_graph *g = accepted(&d);
    if (!g)
        return;
    static const int64_t offset[] = {0, 2, 3, 5, 5}, edge[] = {1, 4, 3, 0, 2};
    static const int32_t source[] = {2, 0, 0, 3, 1};
    for (int i = 0; i < 5; i++) {
        CHECK_INT(g->in_offset[i], offset[i]);
        CHECK_INT(g->in_source[i], source[i]);
        CHECK_INT(g->in_edge[i], edge[i]);
        CHECK_INT(cbx_graph_edge_id(g, i), edge[i]);
        CHECK_NEAR(g->slot_weight[i], 10 + (double)edge[i], 0);
    }
    cbx_graph_free(g);
}

TEST(sorted_edges_are_not_copied)
{
    cbx_graph_data d = node_task();
    d.edge_target = (int64_t[]){1, 1, 3};
    cbx_graph *g = accepted(&d);
    if (!g)
        return;
    CHECK(g->in_edge == NULL);
    CHECK(g->slot_weight == weights);
    for (int64_t s = 0; s < 3; s++) {
        CHECK_INT(cbx_graph_edge_id(g, s), s);
        CHECK_INT(g->in_source[s], sources[s]);
    }
    CHECK_INT(g->in_offset[1], 0);
    CHECK_INT(g->in_offset[2], 2);
    CHECK_INT(g->in_offset[4], 3);
    cbx_graph_free(g);
}

TEST(edges_without_weights_have_none_in_any_order)
{
    cbx_graph_data d = node_task();
    d.edge_weight = NULL;
    cbx_graph *g = accepted(&d);
    if (g) {
        CHECK(g->in_edge != NULL);
        CHECK(g->slot_weight == NULL);
    }
    cbx_graph_free(g);
}

TEST(the_index_of_a_random_graph_is_a_stable_permutation)
{
    random_graph     r = make_graph((graph_shape){60, 300, 3, .weighted = true, .seed = 1});
    const cbx_graph *g = r.graph;
    int              seen[300] = {0}, wrong = 0;
    for (int32_t i = 0; i < 60; i++)
        for (int64_t s = g->in_offset[i]; s < g->in_offset[i + 1]; s++) {
            int64_t id = cbx_graph_edge_id(g, s);
            seen[id]++;
            wrong += r.data.edge_target[id] != i || r.data.edge_source[id] != g->in_source[s];
            wrong += r.data.edge_weight[id] != g->slot_weight[s];
            wrong += s > g->in_offset[i] && cbx_graph_edge_id(g, s - 1) >= id;
        }
    for (int e = 0; e < 300; e++)
        wrong += seen[e] != 1;
    CHECK_INT(wrong, 0);
    CHECK_INT(g->in_offset[60], 300);
    free_graph(&r);
}

/* ---- facts */

TEST(kinds_and_bounds_of_features_are_found_from_the_values)
{
    /* Columns: whole numbers, 0 and 1, halves, a constant, negative ones. */
    cbx_graph_data d = node_task();
    d.num_nodes = 3;
    d.num_edges = 0;
    d.num_features = 5;
    d.x = (float[]){3, 0, 0.5f, 7, -1, -2, 1, 1, 7, -3, 9, 1, 2, 7, -2};
    cbx_graph *g = accepted(&d);
    if (!g)
        return;
    static const float    lo[] = {-2, 0, 0.5f, 7, -3}, hi[] = {9, 1, 2, 7, -1};
    static const uint8_t  discrete[] = {1, 1, 0, 1, 1};
    const cbx_graph_data *f = cbx_graph_arrays(g);
    for (int j = 0; j < 5; j++) {
        CHECK_NEAR(f->feat_min[j], lo[j], 0);
        CHECK_NEAR(f->feat_max[j], hi[j], 0);
        CHECK_INT(f->discrete[j], discrete[j]);
    }
    cbx_graph_free(g);
}

TEST(the_zeros_that_sparse_features_do_not_store_count_for_bounds)
{
    /* Column 0 is stored everywhere: 2 to 5. Column 1 has 3 and 4 in two of three
     * rows: 0 to 4. Column 2 has -1: -1 to 0. Column 3 is never stored: 0 to 0.
     * Column 4 has 0.5 once: 0 to 0.5, continuous. */
    cbx_graph_data d = node_task();
    d.num_nodes = 3;
    d.num_edges = 0;
    d.num_features = 5;
    d.x = NULL;
    d.x_indptr = (int64_t[]){0, 2, 4, 7};
    d.x_indices = (int32_t[]){0, 1, 0, 1, 0, 2, 4};
    d.x_values = (float[]){2, 3, 5, 4, 3, -1, 0.5f};
    d.num_x_values = 7;
    cbx_graph *g = accepted(&d);
    if (!g)
        return;
    static const float    lo[] = {2, 0, -1, 0, 0}, hi[] = {5, 4, 0, 0, 0.5f};
    static const uint8_t  discrete[] = {1, 1, 1, 1, 0};
    const cbx_graph_data *f = cbx_graph_arrays(g);
    for (int j = 0; j < 5; j++) {
        CHECK_NEAR(f->feat_min[j], lo[j], 0);
        CHECK_NEAR(f->feat_max[j], hi[j], 0);
        CHECK_INT(f->discrete[j], discrete[j]);
    }
    cbx_graph_free(g);
}

TEST(dense_and_sparse_features_have_the_same_facts)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        graph_shape           s = {4, 3, 12, .seed = seed};
        random_graph          dense = make_graph(s), sparse = (s.sparse = true, make_graph(s));
        const cbx_graph_data *a = cbx_graph_arrays(dense.graph),
                             *b = cbx_graph_arrays(sparse.graph);
        for (int j = 0; j < 12; j++) {
            CHECK_NEAR(a->feat_min[j], b->feat_min[j], 0);
            CHECK_NEAR(a->feat_max[j], b->feat_max[j], 0);
            CHECK_INT(a->discrete[j], b->discrete[j]);
        }
        free_graph(&dense);
        free_graph(&sparse);
    }
}

TEST(facts_that_are_given_are_kept)
{
    const uint8_t  discrete[] = {0, 0};
    const float    lo[] = {-10, -20}, hi[] = {10, 20};
    cbx_graph_data d = node_task();
    d.discrete = discrete;
    cbx_graph *g = accepted(&d);
    CHECK(g && g->data.discrete == discrete && g->data.feat_min[1] == 1 &&
          g->data.feat_max[1] == 7);
    cbx_graph_free(g);
    d.discrete = NULL;
    d.feat_min = lo;
    d.feat_max = hi;
    g = accepted(&d);
    CHECK(g && g->data.feat_min == lo && g->data.feat_max == hi && g->data.discrete[0] == 1);
    cbx_graph_free(g);
}

TEST(the_number_of_classes_is_the_largest_label_and_one)
{
    cbx_graph_data d = node_task();
    d.y = (int64_t[]){0, 4, -1, 2};
    cbx_graph *g = accepted(&d);
    CHECK(g && g->data.num_classes == 5);
    cbx_graph_free(g);
    d.num_classes = 9;
    g = accepted(&d);
    CHECK(g && g->data.num_classes == 9);
    cbx_graph_free(g);
    d.num_classes = 0;
    d.y = (int64_t[]){-1, -1, -1, -1};
    g = accepted(&d);
    CHECK(g && g->data.num_classes == 0);
    cbx_graph_free(g);
    d.y = NULL;
    g = accepted(&d);
    CHECK(g && g->data.num_classes == 0);
    cbx_graph_free(g);
}

TEST(masks_without_a_number_of_splits_are_one_split)
{
    const uint8_t  mask[12] = {0};
    cbx_graph_data d = node_task();
    cbx_graph     *g = accepted(&d);
    CHECK(g && g->data.num_splits == 0);
    cbx_graph_free(g);
    d.test_mask = mask;
    g = accepted(&d);
    CHECK(g && g->data.num_splits == 1);
    cbx_graph_free(g);
    d.num_splits = 3;
    g = accepted(&d);
    CHECK(g && g->data.num_splits == 3);
    cbx_graph_free(g);
}

/* ---- ownership and memory */

static void count_release(void *backing)
{
    ++*(int *)backing;
}

TEST(a_graph_releases_what_its_arrays_live_in)
{
    int        released = 0;
    cbx_graph *g = cbx_graph_empty(NULL);
    if (!CHECK(g != NULL))
        return;
    g->backing = &released;
    g->release = count_release;
    g->data = node_task();
    CHECK_INT(cbx_graph_index(g, NULL), CBX_OK);
    cbx_graph_free(g);
    CHECK_INT(released, 1);
}

static cbx_status new_graph(void *user)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    cbx_status status = cbx_graph_new(user, &g, &err);
    CHECK_INT(err.status, status);
    CHECK((g != NULL) == (status == CBX_OK));
    cbx_graph_free(g);
    return status;
}

TEST(a_graph_survives_the_failure_of_any_allocation)
{
    /* Sizes that make the arena grow at different arrays. */
    static const graph_shape shapes[] = {
        {20, 60, 3, .seed = 2},
        {700, 300, 3, .weighted = true, .seed = 3},
        {30, 2000, 3, .weighted = true, .seed = 4},
        {30, 1000, 2000, .sparse = true, .weighted = true, .seed = 5},
        {3000, 3000, 3, .weighted = true, .seed = 6},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        random_graph r = make_graph(shapes[i]);
        test_each_allocation(new_graph, &r.data);
        free_graph(&r);
    }
}
