/* SPDX-License-Identifier: Apache-2.0 */
/* A graph with edits as a graph of its own, and hashes of graphs. */
#include <string.h>

#include "random_graph.h"
#include "test.h"

static cbx_edit removal(const cbx_graph_data *d, int64_t edge)
{
    return (cbx_edit){.op = CBX_REMOVE_EDGE,
                      .source = (int32_t)d->edge_source[edge],
                      .target = (int32_t)d->edge_target[edge],
                      .edge = edge};
}

static cbx_edit setting(int32_t node, int32_t feature, float to)
{
    return (cbx_edit){.op = CBX_SET_FEATURE, .node = node, .feature = feature, .to = to};
}

static float feature(const cbx_graph_data *d, int32_t i, int32_t j)
{
    if (d->x)
        return d->x[(int64_t)i * d->num_features + j];
    for (int64_t k = d->x_indptr[i]; k < d->x_indptr[i + 1]; k++)
        if (d->x_indices[k] == j)
            return d->x_values[k];
    return 0;
}

static void check_applied(graph_shape shape)
{
    random_graph   r = make_graph(shape);
    cbx_edit       edits[] = {removal(&r.data, 3), setting(2, 1, 9), removal(&r.data, 0)};
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    cbx_graph_data kept = r.data;
    if (!CHECK_OK(cbx_graph_apply(r.graph, edits, 3, &g, &err), err))
        return;
    const cbx_graph_data *d = cbx_graph_arrays(g);
    CHECK_INT(d->num_edges, shape.edges - 2);
    CHECK((d->x == NULL) == shape.sparse);
    CHECK((d->edge_weight != NULL) == shape.weighted);
    for (int64_t e = 0; e < d->num_edges; e++) { /* 1, 2, 4, 5, … are left */
        int64_t from = e < 2 ? e + 1 : e + 2;
        CHECK_INT(d->edge_source[e], kept.edge_source[from]);
        CHECK_INT(d->edge_target[e], kept.edge_target[from]);
        CHECK(!shape.weighted || d->edge_weight[e] == kept.edge_weight[from]);
    }
    for (int32_t i = 0; i < shape.nodes; i++)
        for (int32_t j = 0; j < shape.features; j++)
            CHECK_NEAR(feature(d, i, j), i == 2 && j == 1 ? 9 : feature(&kept, i, j), 0);
    for (int32_t j = 0; j < shape.features; j++) { /* facts are the old graph's */
        CHECK_NEAR(d->feat_max[j], cbx_graph_arrays(r.graph)->feat_max[j], 0);
        CHECK_INT(d->discrete[j], cbx_graph_arrays(r.graph)->discrete[j]);
    }
    CHECK_INT(g->in_offset[shape.nodes], shape.edges - 2);
    cbx_graph_free(g);
    free_graph(&r);
}

TEST(removed_edges_are_gone_and_features_have_their_values)
{
    for (uint64_t seed = 0; seed < 8; seed++)
        check_applied((graph_shape){10, 25, 4, .weighted = seed & 1, .sparse = seed & 2,
                                    .undirected = seed & 4, .seed = seed});
}

/* A small graph task with a value in every field. */
static cbx_graph *full_graph(bag *b)
{
    static const char *const nodes[] = {"a", "b", "c"}, *const classes[] = {"no", "yes"};
    static const char *const features[] = {"size"};
    cbx_graph_data           d = {.task = CBX_GRAPH,
                                  .num_nodes = 3,
                                  .num_features = 1,
                                  .num_classes = 2,
                                  .num_graphs = 2,
                                  .num_edges = 2,
                                  .num_splits = 2};
    cbx_graph               *g = NULL;
    int64_t                 *ints = TAKE(b, int64_t, 9);
    uint8_t                 *bytes = TAKE(b, uint8_t, 13);
    float                   *reals = TAKE(b, float, 7);
    memcpy(ints, (int64_t[]){0, 1, 1, 0, 0, 2, 3, 1, 0}, 9 * sizeof *ints);
    memcpy(bytes, (uint8_t[]){1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1}, 13);
    memcpy(reals, (float[]){0.5f, 1, 2, 3, 4, -1, 9}, 7 * sizeof *reals);
    d.edge_source = ints;
    d.edge_target = ints + 2;
    d.graph_ptr = ints + 4;
    d.y = ints + 7;
    d.train_mask = bytes;
    d.val_mask = bytes + 4;
    d.test_mask = bytes + 8;
    d.discrete = bytes + 12;
    d.edge_weight = reals;
    d.x = reals + 2;
    d.feat_min = reals + 5;
    d.feat_max = reals + 6;
    d.name = "small";
    d.class_names = classes;
    d.feature_names = features;
    d.node_names = nodes;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    return g;
}

TEST(an_edited_graph_outlives_the_one_it_came_from)
{
    bag        b = {0};
    cbx_graph *old = full_graph(&b), *g = NULL;
    CHECK_INT(cbx_graph_apply(old, NULL, 0, &g, NULL), CBX_OK);
    cbx_graph_free(old);
    memset(b.items[0], 0x5a, 9 * sizeof(int64_t)); /* what was not copied changes, … */
    memset(b.items[1], 0x5a, 13);
    memset(b.items[2], 0x5a, 7 * sizeof(float));
    bag_free(&b); /* … and is gone */
    if (!CHECK(g != NULL))
        return;
    const cbx_graph_data *d = cbx_graph_arrays(g);
    CHECK_INT(d->task, CBX_GRAPH);
    CHECK(d->num_classes == 2 && d->num_graphs == 2 && d->num_splits == 2);
    CHECK(d->graph_ptr[0] == 0 && d->graph_ptr[1] == 2 && d->graph_ptr[2] == 3);
    CHECK(d->y[0] == 1 && d->y[1] == 0);
    CHECK(d->train_mask[0] == 1 && d->train_mask[1] == 0 && d->train_mask[3] == 1);
    CHECK(d->val_mask[0] == 0 && d->val_mask[1] == 1);
    CHECK(d->test_mask[2] == 1 && d->test_mask[3] == 0);
    CHECK(d->discrete[0] == 1 && d->feat_min[0] == -1 && d->feat_max[0] == 9);
    CHECK(d->edge_weight[0] == 0.5f && d->edge_weight[1] == 1);
    CHECK(d->x[0] == 2 && d->x[1] == 3 && d->x[2] == 4);
    CHECK(!strcmp(d->name, "small") && !strcmp(d->class_names[1], "yes"));
    CHECK(!strcmp(d->feature_names[0], "size") && !strcmp(d->node_names[2], "c"));
    cbx_graph_free(g);
}

TEST(a_graph_may_lose_its_last_edge)
{
    random_graph r = make_graph((graph_shape){4, 1, 1, .weighted = true, .seed = 1});
    cbx_edit     edit = removal(&r.data, 0);
    cbx_graph   *g = NULL;
    CHECK_INT(cbx_graph_apply(r.graph, &edit, 1, &g, NULL), CBX_OK);
    CHECK(g && g->data.num_edges == 0);
    cbx_graph_free(g);
    free_graph(&r);
}

TEST(a_bad_edit_gives_no_graph)
{
    random_graph r = make_graph((graph_shape){6, 10, 2, .seed = 1});
    cbx_edit     edit = setting(6, 0, 1);
    cbx_graph   *g = (cbx_graph *)&edit;
    cbx_error    err = {0};
    CHECK_INT(cbx_graph_apply(r.graph, &edit, 1, &g, &err), CBX_INVALID);
    CHECK(g == NULL);
    CHECK_CONTAINS(err.message, "no feature 0 of node 6");
    free_graph(&r);
}

/* ---- hashes */

static bool same_hash(const cbx_graph *a, const cbx_graph *b)
{
    char x[65], y[65];
    cbx_graph_hash(a, x);
    cbx_graph_hash(b, y);
    CHECK_INT((int64_t)strlen(x), 64);
    return !strcmp(x, y);
}

TEST(equal_graphs_have_equal_hashes)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        graph_shape  s = {10, 25, 4, .weighted = true, .sparse = sparse, .seed = 1};
        random_graph a = make_graph(s), b = make_graph(s);
        CHECK(same_hash(a.graph, b.graph));
        free_graph(&a);
        free_graph(&b);
    }
}

TEST(a_hash_sees_every_edge_weight_and_feature)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        graph_shape          s = {10, 25, 4, .weighted = true, .sparse = sparse, .seed = 1};
        random_graph         a = make_graph(s), b = make_graph(s);
        cbx_graph_data      *d = &b.graph->data;
        const cbx_graph_data was = *d;
        ((int64_t *)d->edge_source)[24] ^= 1;
        CHECK(!same_hash(a.graph, b.graph));
        ((int64_t *)d->edge_source)[24] ^= 1;
        ((int64_t *)d->edge_target)[0] ^= 1;
        CHECK(!same_hash(a.graph, b.graph));
        ((int64_t *)d->edge_target)[0] ^= 1;
        ((float *)d->edge_weight)[24] += 1;
        CHECK(!same_hash(a.graph, b.graph));
        ((float *)d->edge_weight)[24] = a.data.edge_weight[24];
        float *values = (float *)(sparse ? d->x_values : d->x);
        values[1] += 1;
        CHECK(!same_hash(a.graph, b.graph));
        values[1] = (sparse ? a.data.x_values : a.data.x)[1];
        CHECK(same_hash(a.graph, b.graph));
        d->edge_weight = NULL;
        CHECK(!same_hash(a.graph, b.graph));
        *d = was;
        d->num_classes = 7; /* labels and names are not what a decision rests on */
        CHECK(same_hash(a.graph, b.graph));
        free_graph(&a);
        free_graph(&b);
    }
}

TEST(attributes_of_edges_go_with_them_and_count_in_the_hash)
{
    static const int64_t source[] = {0, 1, 2, 2}, target[] = {1, 2, 0, 1};
    static const float   x[] = {1, 2, 3}, attr[] = {1, 10, 2, 20, 3, 30, 4, 40};
    cbx_graph_data       d = {.num_nodes = 3,
                              .num_features = 1,
                              .num_edges = 4,
                              .edge_source = source,
                              .edge_target = target,
                              .edge_attr = attr,
                              .edge_dim = 2,
                              .x = x};
    cbx_graph           *graph = NULL, *edited = NULL, *bare = NULL;
    cbx_edit             edit = removal(&d, 1);
    char                 with[65], without[65];
    CHECK_INT(cbx_graph_new(&d, &graph, NULL), CBX_OK);
    CHECK_INT(cbx_graph_apply(graph, &edit, 1, &edited, NULL), CBX_OK);
    const cbx_graph_data *e = cbx_graph_arrays(edited);
    CHECK(e->num_edges == 3 && e->edge_dim == 2);
    CHECK(!memcmp(e->edge_attr, (float[]){1, 10, 3, 30, 4, 40}, 6 * sizeof(float)));
    cbx_graph_hash(graph, with);
    d.edge_attr = NULL;
    d.edge_dim = 0;
    CHECK_INT(cbx_graph_new(&d, &bare, NULL), CBX_OK);
    cbx_graph_hash(bare, without);
    CHECK(strcmp(with, without) != 0);
    cbx_graph_free(bare), cbx_graph_free(edited), cbx_graph_free(graph);
}

TEST(a_hash_sees_where_graphs_end_but_neither_names_nor_labels)
{
    static const char *const other[] = {"x", "y", "z"};
    static const uint8_t     no_masks[4] = {0}, kinds[1] = {0};
    static const int64_t     y[] = {0, 0}, ends[] = {0, 2, 3}, one[] = {0, 3};
    static const float       bounds[] = {-50, 50};
    bag                      b = {0};
    cbx_graph               *g = full_graph(&b), *changed = NULL;
    cbx_graph_data           d = *cbx_graph_arrays(g);
    d.name = "large";
    d.class_names = d.feature_names = d.node_names = other;
    d.train_mask = d.val_mask = d.test_mask = no_masks;
    d.discrete = kinds;
    d.feat_min = bounds;
    d.feat_max = bounds + 1;
    d.y = y;
    d.graph_ptr = ends;
    CHECK_INT(cbx_graph_new(&d, &changed, NULL), CBX_OK);
    CHECK(same_hash(g, changed));
    cbx_graph_free(changed);
    d.graph_ptr = one;
    d.num_graphs = 1;
    CHECK_INT(cbx_graph_new(&d, &changed, NULL), CBX_OK);
    CHECK(!same_hash(g, changed));
    cbx_graph_free(changed);
    d.task = CBX_NODE;
    d.num_graphs = 0;
    d.graph_ptr = NULL;
    d.y = NULL;
    CHECK_INT(cbx_graph_new(&d, &changed, NULL), CBX_OK);
    CHECK(!same_hash(g, changed));
    cbx_graph_free(changed);
    cbx_graph_free(g);
    bag_free(&b);
}

TEST(a_hash_sees_which_graph_a_node_belongs_to)
{
    static const int64_t one_two[] = {0, 1, 3}, two_one[] = {0, 2, 3};
    static const float   x[] = {1, 2, 3};
    cbx_graph_data       d = {
              .task = CBX_GRAPH, .num_nodes = 3, .num_features = 1, .num_graphs = 2, .x = x};
    cbx_graph *a = NULL, *b = NULL;
    d.graph_ptr = one_two;
    CHECK_INT(cbx_graph_new(&d, &a, NULL), CBX_OK);
    d.graph_ptr = two_one;
    CHECK_INT(cbx_graph_new(&d, &b, NULL), CBX_OK);
    CHECK(!same_hash(a, b));
    cbx_graph_free(a);
    cbx_graph_free(b);
}

TEST(every_edit_changes_the_hash)
{
    random_graph r = make_graph((graph_shape){8, 12, 3, .sparse = true, .seed = 4});
    cbx_edit     edits[] = {removal(&r.data, 5), setting(1, 2, 7), setting(0, 0, -3)};
    for (int k = 0; k < 3; k++) {
        cbx_graph *g = NULL, *same = NULL;
        CHECK_INT(cbx_graph_apply(r.graph, &edits[k], 1, &g, NULL), CBX_OK);
        CHECK_INT(cbx_graph_apply(r.graph, &edits[k], 1, &same, NULL), CBX_OK);
        CHECK(!same_hash(r.graph, g));
        CHECK(same_hash(same, g));
        cbx_graph_free(g);
        cbx_graph_free(same);
    }
    free_graph(&r);
}

/* ---- memory */

static cbx_status apply_once(void *user)
{
    cbx_edit   edit = setting(0, 0, 3);
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    cbx_status status = cbx_graph_apply(user, &edit, 1, &g, &err);
    CHECK_INT(err.status, status);
    CHECK((g != NULL) == (status == CBX_OK));
    cbx_graph_free(g);
    return status;
}

TEST(applying_survives_the_failure_of_any_allocation)
{
    static const graph_shape shapes[] = {
        {20, 60, 3, .seed = 1},
        {30, 2500, 3, .weighted = true, .seed = 2},
        {900, 400, 60, .weighted = true, .sparse = true, .seed = 3},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        random_graph r = make_graph(shapes[i]);
        test_each_allocation(apply_once, r.graph);
        free_graph(&r);
    }
    bag        b = {0};
    cbx_graph *full = full_graph(&b);
    test_each_allocation(apply_once, full);
    cbx_graph_free(full);
    bag_free(&b);
}
