/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle on edited graphs: edges are removed, not given weight 0, and what
 * holds only with weights of 0 is not reported as found. */
#include <math.h>

#include "../search/oracle.h"
#include "verify.h"
#include "test.h"

/* Two nodes: a loop of weight 5 at node 0, and 1 -> 0; x = 1 and -0.5. */
static oracle two_nodes(const char *conv, const char *aggregation, int64_t hidden)
{
    static const int64_t source[] = {0, 1}, target[] = {0, 0}, y[] = {0, 1};
    static const float   weight[] = {5, 1}, x[] = {1, -0.5f};
    const cbx_graph_data data = {.num_nodes = 2,
                                 .num_features = 1,
                                 .num_edges = 2,
                                 .edge_source = source,
                                 .edge_target = target,
                                 .edge_weight = weight,
                                 .x = x,
                                 .y = y};
    return oracle_by_hand(&data, conv, aggregation, hidden);
}

/* gcn: h at node 0 is w/D - 0.5/√D, D = w + 1, where w is its loop's weight: 0.629
 * at 5; 0.146 at 1, the weight a removed loop comes back with; and -0.5 at 0. The
 * class is 0 where h > 0. */
static oracle loop_oracle(void)
{
    oracle o = two_nodes("gcn", "add", 2);
    oracle_set(&o, "layers.0.lin.weight", (float[]){1, -1});
    oracle_set(&o, "layers.0.bias", (float[]){0, 0});
    oracle_set(&o, "output_layer.weight", (float[]){30, 0, 0, 30});
    oracle_set(&o, "output_layer.bias", (float[]){0.5f, 0});
    return o;
}

TEST(a_loop_of_gcn_that_is_removed_comes_back_with_weight_1)
{
    oracle         o = loop_oracle();
    cbx_graph_data zero = o.data;
    const float    weight[] = {0, 1};
    cbx_graph     *g = NULL;
    cbx_edit       edit = {.op = CBX_REMOVE_EDGE, .source = 0, .target = 0, .edge = 0};
    float          removed[2], weighted[4];
    cbx_error      err = {0};
    CHECK_OK(cbx_check_edits(o.model, o.graph, 0, &edit, 1, removed, &err), err);
    CHECK_NEAR(removed[0] - removed[1], 30 * (0.5 - 0.5 / sqrt(2)) + 0.5, 1e-4);
    zero.edge_weight = weight;
    oracle_must(cbx_graph_new(&zero, &g, &err), &err);
    CHECK_OK(cbx_predict(o.model, g, 1, weighted, &err), err);
    CHECK_NEAR(weighted[0] - weighted[1], 0.5 - 30 * 0.5, 1e-4);
    cbx_graph_free(g);
    oracle_free(&o);
}

TEST(what_holds_only_with_a_weight_of_0_is_not_found)
{
    oracle              o = loop_oracle();
    cbx_explain_options a = ASK("policy", "edges", "epochs", "80");
    a.trace = true;
    cbx_counterfactual *r = explain_row(&o, 0, &a);
    int                 hits = 0;
    for (int64_t t = 0; t < r->num_trace; t++)
        hits += r->trace[t].hit;
    CHECK(hits > 0); /* the search believed in it */
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK_CONTAINS(r->reason, "does not flip the whole graph");
    CHECK(r->num_edits == 0 && r->num_edges_removed == 0 && r->after == NULL);
    CHECK(r->prediction == 0 && r->result == 0 && r->target == 1);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* graphconv: h is the mean (or largest) of w x over edges: (5 - 0.5) / 2 with both. */
TEST(a_mean_or_a_maximum_forgets_removed_edges)
{
    static const char *const how[] = {"add", "mean", "max"};
    static const double      with_both[] = {4.5, 2.25, 5}, without_loop[] = {-0.5, -0.5, -0.5};
    for (int i = 0; i < 3; i++) {
        oracle   o = two_nodes("graphconv", how[i], 1);
        cbx_edit edit = {.op = CBX_REMOVE_EDGE, .source = 0, .target = 0, .edge = 0};
        cbx_edit both[] = {edit, {.op = CBX_REMOVE_EDGE, .source = 1, .target = 0, .edge = 1}};
        float    logp[2];
        oracle_set(&o, "layers.0.lin_rel.weight", (float[]){1});
        oracle_set(&o, "layers.0.lin_rel.bias", (float[]){10}); /* relu does nothing */
        oracle_set(&o, "layers.0.lin_root.weight", (float[]){0});
        oracle_set(&o, "output_layer.weight", (float[]){1, 0});
        oracle_set(&o, "output_layer.bias", (float[]){-10, 0});
        CHECK_INT(cbx_check_edits(o.model, o.graph, 0, NULL, 0, logp, NULL), CBX_OK);
        CHECK_NEAR(logp[0] - logp[1], with_both[i], 1e-5);
        CHECK_INT(cbx_check_edits(o.model, o.graph, 0, &edit, 1, logp, NULL), CBX_OK);
        CHECK_NEAR(logp[0] - logp[1], without_loop[i], 1e-5);
        CHECK_INT(cbx_check_edits(o.model, o.graph, 0, both, 2, logp, NULL), CBX_OK);
        CHECK_NEAR(logp[0] - logp[1], 0, 1e-5);
        oracle_free(&o);
    }
}

/* ---- against applying and predicting */

/* Every third edge goes and a feature of every node becomes 1. */
static int64_t some_edits(const cbx_graph_data *d, int32_t graph, cbx_edit *edits)
{
    int64_t count = 0;
    int64_t begin = graph < 0 ? 0 : d->graph_ptr[graph];
    int64_t end = graph < 0 ? d->num_nodes : d->graph_ptr[graph + 1];
    for (int64_t e = 0; e < d->num_edges; e += 3)
        if (d->edge_target[e] >= begin && d->edge_target[e] < end)
            edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                        .source = (int32_t)d->edge_source[e],
                                        .target = (int32_t)d->edge_target[e],
                                        .edge = e};
    for (int64_t i = begin; i < end; i++)
        edits[count++] = (cbx_edit){
            .op = CBX_SET_FEATURE, .node = (int32_t)i, .feature = (int32_t)(i * 7 % 5), .to = 1};
    return count;
}

static void check_same_as_applied(oracle_shape shape)
{
    oracle    o = oracle_make(shape);
    bag       b = {0};
    int32_t   rows = oracle_rows(&o), C = o.data.num_classes;
    cbx_edit *edits = TAKE(&b, cbx_edit, o.data.num_edges + o.data.num_nodes);
    float    *whole = TAKE(&b, float, rows *C), one[8];
    cbx_error err = {0};
    for (int32_t row = 0; row < rows; row += 2) {
        int64_t    count = some_edits(&o.data, shape.graphs ? row : -1, edits);
        cbx_graph *g = NULL;
        CHECK_OK(cbx_check_edits(o.model, o.graph, row, edits, count, one, &err), err);
        CHECK_OK(cbx_graph_apply(o.graph, edits, count, &g, &err), err);
        CHECK_OK(cbx_predict(o.model, g, 1, whole, &err), err);
        CHECK(test_difference(C, one, whole + row * C) < 1e-5);
        cbx_graph_free(g);
    }
    bag_free(&b);
    oracle_free(&o);
}

TEST(checking_edits_is_applying_and_predicting)
{
    check_same_as_applied((oracle_shape){"gcn", .nodes = 14, .directed = true});
    check_same_as_applied((oracle_shape){"cheb", 3, .nodes = 14, .sparse = true});
    check_same_as_applied((oracle_shape){"graphconv", 1, "max", 14, .directed = true});
    check_same_as_applied((oracle_shape){"gcn", .nodes = 60, .graphs = 12, .sparse = true});
}

/* ---- large graphs: only what a node's class depends on is run */

/* Near the node and far from it; some of them twice, or covered by others. */
static int64_t random_edits(const cbx_graph_data *d, cbx_rng *rng, cbx_edit *edits)
{
    int64_t count = 1 + (int64_t)cbx_rng_below(rng, 30);
    for (int64_t k = 0; k < count; k++) {
        int64_t  e = (int64_t)cbx_rng_below(rng, (uint64_t)d->num_edges);
        uint64_t what = cbx_rng_below(rng, 8);
        edits[k] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                              .source = (int32_t)d->edge_source[e],
                              .target = (int32_t)d->edge_target[e],
                              .edge = what < 6 ? e : -1, /* -1: all from there to there */
                              .undirected = what == 6};
        if (what < 2)
            edits[k] = (cbx_edit){.op = CBX_SET_FEATURE,
                                  .node = (int32_t)d->edge_source[e],
                                  .feature = (int32_t)cbx_rng_below(rng, 5),
                                  .to = draw(rng, -1, 2)};
        else if (what == 2 && k > 0)
            edits[k] = edits[cbx_rng_below(rng, (uint64_t)k)];
    }
    return count;
}

static void check_cone(oracle_shape shape)
{
    oracle   o = oracle_make(shape);
    cbx_rng  rng = cbx_rng_stream(9, 0, 0, 0);
    cbx_edit edits[30];
    float    whole[3], part[3];
    for (int round = 0; round < 200; round++) {
        int32_t   row = (int32_t)cbx_rng_below(&rng, (uint64_t)o.data.num_nodes);
        int64_t   count = random_edits(&o.data, &rng, edits);
        cbx_error err = {0};
        CHECK_OK(cbx_verify_within(o.model, o.graph, row, edits, count, INT32_MAX, whole, &err),
                 err);
        CHECK_OK(cbx_verify_within(o.model, o.graph, row, edits, count, 0, part, &err), err);
        if (!CHECK(test_difference(3, part, whole) < 2e-5)) {
            printf("  (%s %s, round %d)\n", shape.conv, shape.aggregation, round);
            break;
        }
    }
    oracle_free(&o);
}

TEST(what_a_class_depends_on_gives_what_the_whole_graph_gives_for_any_list_of_edits)
{
    static const char *const how[] = {"add", "mean", "max"};
    for (int directed = 0; directed < 2; directed++) {
        check_cone((oracle_shape){"gcn", 1, "add", 60, .directed = directed});
        check_cone((oracle_shape){"gcn", 1, "add", 60, .directed = directed, .sparse = true});
        for (int i = 0; i < 3; i++)
            check_cone((oracle_shape){"graphconv", 1, how[i], 60, .directed = directed});
    }
}

TEST(what_is_not_there_is_refused_in_large_graphs_too)
{
    oracle         o = oracle_make((oracle_shape){"gcn", .nodes = 60});
    const cbx_edit wrong[] = {
        {.op = CBX_SET_FEATURE, .node = 60, .feature = 0, .to = 1},
        {.op = CBX_SET_FEATURE, .node = -1, .feature = 0, .to = 1},
        {.op = CBX_SET_FEATURE, .node = 0, .feature = 5, .to = 1},
        {.op = CBX_SET_FEATURE, .node = 30, .feature = 5, .to = 1}, /* far from node 0 */
        {.op = CBX_SET_FEATURE, .node = 30, .feature = -1, .to = 1},
        {.op = CBX_SET_FEATURE, .node = 0, .feature = 0, .to = NAN},
        {.op = CBX_SET_FEATURE, .node = 30, .feature = 0, .to = INFINITY},
        {.op = CBX_REMOVE_EDGE, .source = 0, .target = 60, .edge = -1},
        {.op = CBX_REMOVE_EDGE, .source = -5, .target = 0, .edge = -1, .undirected = true},
        {.op = CBX_REMOVE_EDGE, .source = 1, .target = 0, .edge = 100000},
        {.op = CBX_REMOVE_EDGE, .source = 30, .target = 30, .edge = -1, .undirected = true},
    };
    cbx_edit fine = {.op = CBX_SET_FEATURE, .node = 31, .feature = 0, .to = 1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int32_t moderate = 0; moderate < 100; moderate += 99) {
            cbx_edit  two[] = {fine, wrong[i]};
            float     logp[3] = {7, 7, 7};
            cbx_error err = {0};
            if (!CHECK_INT(cbx_verify_within(o.model, o.graph, 0, two, 2, moderate, logp, &err),
                           CBX_INVALID))
                printf("  (edit %zu, %d)\n", i, moderate);
            CHECK_CONTAINS(err.message, "edit 1");
            CHECK(logp[0] == 7);
        }
    oracle_free(&o);
}

TEST(edits_and_rows_that_are_not_there_are_refused)
{
    oracle    o = oracle_make((oracle_shape){.nodes = 60, .graphs = 12});
    cbx_edit  elsewhere = {.op = CBX_SET_FEATURE, .node = 59, .feature = 0, .to = 1};
    cbx_edit  far = {.op = CBX_SET_FEATURE, .node = INT32_MIN, .feature = 0, .to = 1};
    float     logp[3] = {7, 7, 7};
    cbx_error err = {0};
    CHECK_INT(cbx_check_edits(o.model, o.graph, 12, NULL, 0, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "graph 12 does not exist");
    CHECK_INT(cbx_check_edits(o.model, o.graph, -1, NULL, 0, logp, &err), CBX_INVALID);
    CHECK_INT(cbx_check_edits(o.model, o.graph, 0, &elsewhere, 1, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "node 59");
    CHECK_INT(cbx_check_edits(o.model, o.graph, 3, &far, 1, logp, &err), CBX_INVALID);
    CHECK(logp[0] == 7 && logp[2] == 7); /* untouched */
    oracle karate = oracle_make((oracle_shape){0});
    CHECK_INT(cbx_check_edits(karate.model, o.graph, 0, NULL, 0, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "graph classification");
    oracle_free(&karate);
    oracle_free(&o);
}

/* ---- memory */

typedef struct call {
    const oracle *o;
    int32_t       moderate;
} call;

static cbx_status check_once(void *user)
{
    const call *c = user;
    cbx_edit    edits[200];
    float       logp[4];
    cbx_error   err = {0};
    int64_t     count = some_edits(&c->o->data, c->o->data.graph_ptr ? 0 : -1, edits);
    cbx_status  status =
        cbx_verify_within(c->o->model, c->o->graph, 0, edits, count, c->moderate, logp, &err);
    CHECK_INT(err.status, status);
    return status;
}

TEST(checking_survives_the_failure_of_any_allocation)
{
    static const oracle_shape shapes[] = {{"gcn", .nodes = 60, .directed = true, .sparse = true},
                                          {"graphconv", .nodes = 60, .graphs = 12}};
    for (int i = 0; i < 4; i++) {
        oracle o = oracle_make(shapes[i / 2]);
        call   c = {&o, i % 2 ? INT32_MAX : 0};
        test_each_allocation(check_once, &c);
        oracle_free(&o);
    }
}
