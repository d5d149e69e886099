/* SPDX-License-Identifier: Apache-2.0 */
/* What the search finds: every counterfactual, applied to the graph and shown to
 * the oracle anew, does what it says, for all oracles, tasks and policies. */
#include <math.h>

#include "oracle.h"
#include "policy.h"
#include "test.h"

/* ---- the edits themselves, against the data */

static void check_feature_edit(const cbx_graph_data *d, const cbx_edit *e, uint8_t *seen)
{
    if (!CHECK(e->node >= 0 && e->node < d->num_nodes && e->feature >= 0 &&
               e->feature < d->num_features))
        return;
    CHECK(e->from == data_feature(d, e->node, e->feature));
    CHECK(e->to != e->from);
    CHECK(e->to >= d->feat_min[e->feature] && e->to <= d->feat_max[e->feature]);
    CHECK(!d->discrete[e->feature] || e->to == rintf(e->to));
    CHECK(!seen[(int64_t)e->node * d->num_features + e->feature]++); /* one edit an entry */
}

static void check_edge_edit(const cbx_graph_data *d, const cbx_edit *e, bool undirected,
                            uint8_t *gone)
{
    int64_t count = 0;
    CHECK_INT(e->undirected, undirected);
    for (int64_t k = 0; k < d->num_edges; k++) {
        bool there = d->edge_source[k] == e->source && d->edge_target[k] == e->target;
        bool back = d->edge_source[k] == e->target && d->edge_target[k] == e->source;
        if (undirected ? there || back : there && e->edge == k) {
            CHECK(!gone[k]++); /* one edit an edge */
            count++;
        }
    }
    CHECK(undirected ? count > 0 && e->edge == -1 : count == 1);
}

/* Marks the edges that go in `gone`. */
static void check_edits(const cbx_graph_data *d, const cbx_counterfactual *r,
                        const cbx_explain_options *o, uint8_t *seen, uint8_t *gone)
{
    int64_t edges = 0, features = 0;
    for (int64_t k = 0; k < r->num_edits; k++) {
        const cbx_edit *e = &r->edits[k];
        if (e->op == CBX_SET_FEATURE)
            check_feature_edit(d, e, seen);
        else
            check_edge_edit(d, e, o->edges == 1, gone);
        features += e->op == CBX_SET_FEATURE;
        edges += e->op == CBX_REMOVE_EDGE;
        CHECK(isfinite(e->influence));
        CHECK(k == 0 || e->influence <= r->edits[k - 1].influence);
    }
    CHECK(r->num_edits > 0);
    CHECK_INT(r->num_edges_removed, edges);
    CHECK_INT(r->num_features_changed, features);
    CHECK(o->policy != CBX_POLICY_FEATURES || edges == 0);
    CHECK(o->policy != CBX_POLICY_EDGES || features == 0);
}

/* ---- the graph with the edits, against the result */

static void check_edited(const oracle *o, const cbx_counterfactual *r, const cbx_graph *edited,
                         const uint8_t *gone)
{
    const cbx_graph_data *d = &o->data, *n = cbx_graph_view(edited);
    int64_t               left = 0, changed = 0;
    int32_t               C = r->num_classes, rows = oracle_rows(o);
    float                *logp = malloc((size_t)rows * (size_t)C * sizeof *logp);
    cbx_error             err = {0};
    for (int64_t k = 0; k < d->num_edges; k++)
        left += !gone[k];
    CHECK_INT(n->num_edges, left);
    for (int32_t i = 0; i < d->num_nodes; i++)
        for (int32_t j = 0; j < d->num_features; j++)
            changed += data_feature(d, i, j) != data_feature(n, i, j);
    CHECK_INT(changed, r->num_features_changed);
    if (CHECK_OK(cbx_predict(o->model, edited, 1, logp, &err), err)) {
        const float *row = logp + (int64_t)r->row * C;
        CHECK(test_difference(C, row, r->after) < 1e-5);
        CHECK_INT(best_of(row, C), r->result);
        CHECK(r->target < 0 ? r->result != r->prediction : r->result == r->target);
    }
    free(logp);
}

static void check_found(const oracle *o, const cbx_counterfactual *r,
                        const cbx_explain_options *options)
{
    bag        b = {0};
    size_t     entries = (size_t)o->data.num_nodes * (size_t)o->data.num_features;
    uint8_t   *seen = TAKE(&b, uint8_t, entries), *gone = TAKE(&b, uint8_t, o->data.num_edges);
    cbx_graph *edited = NULL;
    cbx_error  err = {0};
    memset(seen, 0, entries);
    memset(gone, 0, (size_t)o->data.num_edges);
    check_edits(&o->data, r, options, seen, gone);
    CHECK(r->epoch >= 0 && r->epoch < r->epochs);
    CHECK(isfinite(r->loss) && r->seconds >= 0);
    CHECK_INT(r->reason[0], '\0');
    if (CHECK_OK(cbx_graph_apply(o->graph, r->edits, r->num_edits, &edited, &err), err))
        check_edited(o, r, edited, gone);
    cbx_graph_free(edited);
    bag_free(&b);
}

static void check_not_found(const cbx_counterfactual *r)
{
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK(r->num_edits == 0 && r->num_edges_removed == 0 && r->num_features_changed == 0);
    CHECK(r->after == NULL);
    CHECK_INT(r->result, r->prediction);
}

static void check_question(const oracle *o, const cbx_counterfactual *r, int32_t row,
                           const float *logp)
{
    int32_t C = o->data.num_classes;
    CHECK(r->task == o->data.task && r->row == row && r->num_classes == C);
    CHECK_INT(r->num_features, o->data.num_features);
    CHECK(r->num_nodes > 0 && r->num_nodes <= o->data.num_nodes);
    CHECK(r->num_edges > 1 && r->num_edges <= o->data.num_edges);
    CHECK_INT(best_of(r->before, C), r->prediction);
    if (logp) { /* the factual graph decides as the whole graph does */
        CHECK(test_difference(C, r->before, logp + (int64_t)row * C) < 1e-5);
        CHECK_INT(best_of(logp + (int64_t)row * C, C), r->prediction);
    }
}

/* Explains every `step`-th row; how many of a hundred were found. */
static int explain_rows(const oracle *o, const cbx_explain_options *options, int step, bool same)
{
    int       found = 0, asked = 0;
    bag       b = {0};
    float    *logp = TAKE(&b, float, oracle_rows(o) * o->data.num_classes);
    cbx_error err = {0};
    CHECK_OK(cbx_predict(o->model, o->graph, 1, logp, &err), err);
    for (int32_t row = 0; row < oracle_rows(o); row += step, asked++) {
        int                 before = test_failures();
        cbx_counterfactual *r = explain_row(o, row, options);
        check_question(o, r, row, same ? logp : NULL);
        if (r->outcome == CBX_FOUND) /* and what flips is the whole graph's decision */
            CHECK_INT(best_of(logp + (int64_t)row * r->num_classes, r->num_classes), r->prediction);
        if (r->outcome == CBX_FOUND)
            check_found(o, r, options);
        else
            check_not_found(r);
        found += r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
        if (test_failures() > before)
            printf("  (row %d)\n", row);
    }
    bag_free(&b);
    return 100 * found / asked;
}

/* With all policies that differ in kind, both kinds of edges and of targets; at
 * least `least` of a hundred must be found, or nothing was tested. */
static void check_oracle(oracle_shape shape, int least, bool edges_matter)
{
    oracle o = oracle_make(shape);
    /* Chebyshev layers look further than one hop each, and count arrows that leave */
    bool same =
        !shape.conv || strcmp(shape.conv, "cheb") != 0 || (shape.order < 3 && !shape.directed);
    cbx_explain_options linear = ASK("policy", "linear", "epochs", "60");
    cbx_explain_options both =
        ASK("policy", "dynamic", "epochs", "60", "edges", "undirected", "target", "any");
    cbx_explain_options features = ASK("policy", "features", "epochs", "40", "target", "any");
    cbx_explain_options edges = ASK("policy", "edges", "epochs", "60", "target", "any");
    cbx_explain_options pairs = ASK("policy", "edges", "epochs", "60", "edges", "undirected");
    int rates[] = {explain_rows(&o, &linear, 1, same), explain_rows(&o, &both, 1, same),
                   explain_rows(&o, &features, 1, same)};
    int by_edges = explain_rows(&o, &edges, 1, same) + explain_rows(&o, &pairs, 1, same);
    for (int i = 0; i < 3; i++)
        if (!CHECK(rates[i] >= least))
            printf("  (%s: only %d%% found)\n", shape.conv ? shape.conv : "gcn", rates[i]);
    CHECK(edges_matter ? by_edges > 0 : by_edges == 0);
    oracle_free(&o);
}

TEST(every_counterfactual_on_karate_holds_with_gcn)
{
    check_oracle((oracle_shape){.conv = "gcn"}, 50, true);
}

TEST(every_counterfactual_on_karate_holds_with_cheb_of_order_1_2_and_3)
{
    for (int64_t order = 1; order <= 3; order++) /* order 1 looks at no edge */
        check_oracle((oracle_shape){.conv = "cheb", .order = order}, 50, order > 1);
}

TEST(every_counterfactual_on_karate_holds_with_graphconv_add_mean_and_max)
{
    check_oracle((oracle_shape){.conv = "graphconv", .aggregation = "add"}, 50, true);
    check_oracle((oracle_shape){.conv = "graphconv", .aggregation = "mean"}, 50, true);
    check_oracle((oracle_shape){.conv = "graphconv", .aggregation = "max"}, 50, true);
}

TEST(every_counterfactual_of_a_graph_task_holds)
{
    static const char *const convs[] = {"gcn", "cheb", "graphconv"};
    for (int i = 0; i < 3; i++)
        for (int sparse = 0; sparse < 2; sparse++)
            check_oracle((oracle_shape){convs[i], 2, "add", 60, 12, .sparse = sparse}, 50, true);
}

TEST(every_counterfactual_on_a_directed_graph_with_loops_and_weights_holds)
{
    static const char *const convs[] = {"gcn", "cheb", "graphconv", "graphconv", "graphconv"};
    static const char *const how[] = {"add", "add", "add", "mean", "max"};
    for (int i = 0; i < 5; i++)
        check_oracle((oracle_shape){convs[i], 2, how[i], 24, .directed = true, .sparse = i % 2}, 50,
                     true);
}

/* What a search within a budget does not see is there when its edits are checked. */
TEST(every_counterfactual_of_a_search_within_a_budget_holds)
{
    static const char *const budgets[] = {"40", "60", "100"}; /* 8, 12 and 20 nodes */
    oracle                   o = oracle_make((oracle_shape){.nodes = 60, .directed = true});
    for (int i = 0; i < 3; i++) {
        cbx_explain_options a = ASK("budget", budgets[i], "epochs", "60", "target", "any");
        CHECK(explain_rows(&o, &a, 1, true) > 20);
        cbx_counterfactual *r = explain_row(&o, 0, &a);
        CHECK(r->num_nodes <= a.budget / 5 && r->num_left_out > 0);
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

TEST(all_seven_policies_and_all_optimisers_find_what_holds)
{
    static const char *const policies[] = {"linear",   "exponential", "sinusoidal", "dynamic",
                                           "constant", "features",    "edges"};
    static const char *const optimisers[][3] = {
        {"adam", "0.1", "0"}, {"sgd", "2", "0"}, {"sgd", "1", "0.9"}, {"adadelta", "10", "0"}};
    oracle o = oracle_make((oracle_shape){.nodes = 24, .directed = true});
    for (int p = 0; p < 7; p++)
        for (int k = 0; k < 4; k++) {
            cbx_explain_options a =
                ASK("policy", policies[p], "optimiser", optimisers[k][0], "lr", optimisers[k][1],
                    "momentum", optimisers[k][2], "epochs", "80", "target", "any");
            int rate = explain_rows(&o, &a, 3, true);
            if (!CHECK(rate > 0))
                printf("  (%s, %s: nothing found)\n", policies[p], optimisers[k][0]);
        }
    oracle_free(&o);
}
