/* SPDX-License-Identifier: Apache-2.0 */
/* Models that subtract means from their input, next to plain ones on data from which they were
 * subtracted beforehand. */
#include "standardise.h"

#include <math.h>

#include "../explain/oracle.h"
#include "pass.h"
#include "test.h"

static const oracle_shape shapes[] = {
    {"gcn", .nodes = 24},
    {"gcn", .nodes = 24, .directed = true, .sparse = true},
    {"gcn", .nodes = 40, .graphs = 8},
    {"graphconv", .nodes = 24, .directed = true},
    {"graphconv", .aggregation = "mean", .nodes = 24, .sparse = true},
    {"cheb", .order = 1, .nodes = 24},
    {"cheb", .order = 3, .nodes = 24, .directed = true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, FEATURES = 5, CLASSES = 3 };

static const float mean[FEATURES] = {1.5f, -0.3f, 0, 2.25f, -4};

/* The same values and bounds, each less by the feature's mean. */
static cbx_graph *less(const oracle *o, bag *b)
{
    cbx_graph_data d = o->data;
    int32_t        n = d.num_nodes;
    float         *x = TAKE(b, float, n *FEATURES), *lo = TAKE(b, float, FEATURES);
    float         *hi = TAKE(b, float, FEATURES);
    cbx_graph     *graph = NULL;
    cbx_error      err = {0};
    for (int32_t k = 0; k < n * FEATURES; k++)
        x[k] = data_feature(&o->data, k / FEATURES, k % FEATURES) - mean[k % FEATURES];
    for (int32_t j = 0; j < FEATURES; j++) {
        lo[j] = d.feat_min[j] - mean[j];
        hi[j] = d.feat_max[j] - mean[j];
    }
    d.x = x;
    d.x_indptr = NULL, d.x_indices = NULL, d.x_values = NULL;
    d.num_x_values = 0;
    d.feat_min = lo, d.feat_max = hi;
    oracle_must(cbx_graph_new(&d, &graph, &err), &err);
    return graph;
}

/* An oracle that takes x, and the same that takes x - mean. */
typedef struct pair {
    bag    bag;
    oracle centred, plain;
} pair;

static pair make(oracle_shape shape)
{
    pair      p = {0};
    cbx_error err = {0};
    shape.seed = 7;
    p.plain = oracle_make(shape);
    p.centred = oracle_make(shape);
    CHECK_OK(cbx_model_centre(p.centred.model, mean, &err), err);
    cbx_graph *graph = less(&p.plain, &p.bag);
    cbx_graph_free(p.plain.graph);
    p.plain.graph = graph;
    p.plain.data = *cbx_graph_view(graph);
    return p;
}

static void drop(pair *p)
{
    oracle_free(&p->centred);
    oracle_free(&p->plain);
    bag_free(&p->bag);
}

static double apart(const float *a, const float *b, int64_t count)
{
    double most = 0;
    for (int64_t k = 0; k < count; k++)
        most = fmax(most, fabs((double)a[k] - b[k]));
    return most;
}

TEST(means_can_be_subtracted_by_the_model_or_before)
{
    for (int i = 0; i < SHAPES; i++) {
        pair    p = make(shapes[i]);
        int32_t rows = oracle_rows(&p.plain);
        float  *one = TAKE(&p.bag, float, rows *CLASSES), *two = TAKE(&p.bag, float, rows *CLASSES);
        cbx_error err = {0};
        CHECK_OK(cbx_predict(p.centred.model, p.centred.graph, 1, one, &err), err);
        CHECK_OK(cbx_predict(p.plain.model, p.plain.graph, 1, two, &err), err);
        CHECK(apart(one, two, (int64_t)rows * CLASSES) < 1e-4);
        CHECK_OK(cbx_predict(p.plain.model, p.centred.graph, 1, two, &err), err);
        CHECK(apart(one, two, (int64_t)rows * CLASSES) > 0.01); /* and it makes a difference */
        drop(&p);
    }
}

/* Removing an edge removes what it carried of the means: they cannot be a part of a bias. */
TEST(removed_edges_take_their_share_of_the_means_with_them)
{
    for (int i = 0; i < SHAPES; i++) {
        pair      p = make(shapes[i]);
        cbx_edit  edit = {.op = CBX_REMOVE_EDGE};
        cbx_error err = {0};
        float     one[CLASSES], two[CLASSES];
        edit.source = (int32_t)p.plain.data.edge_source[3];
        edit.target = (int32_t)p.plain.data.edge_target[3];
        edit.edge = 3;
        int32_t row = p.plain.data.task == CBX_GRAPH ? 0 : edit.target;
        CHECK_OK(cbx_check_edits(p.centred.model, p.centred.graph, row, &edit, 1, one, &err), err);
        CHECK_OK(cbx_check_edits(p.plain.model, p.plain.graph, row, &edit, 1, two, &err), err);
        CHECK(apart(one, two, CLASSES) < 1e-4);
        drop(&p);
    }
}

/* dL/dX and dL/dw of L = log p(class 1 of row 0). */
static void gradients(pair *p, const oracle *o, bool dense, float **dX, float **dw)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_error  err = {0};
    CHECK_OK(cbx_view_whole(o->graph, &arena, &view, &err), err);
    CHECK_OK(cbx_view_features(o->graph, &view, &arena, &X, &err), err);
    float *values = TAKE(&p->bag, float, view.n *FEATURES);
    cbx_matrix_expand(&X, view.n, values);
    if (dense)
        X = cbx_matrix_dense(view.n, FEATURES, values);
    CHECK_OK(cbx_pass_init(&pass, o->model, &view, &X, true, 1, &arena, &err), err);
    float *dlogp = TAKE(&p->bag, float, pass.rows_out *CLASSES);
    for (int32_t k = 0; k < pass.rows_out * CLASSES; k++)
        dlogp[k] = k == 1;
    *dX = TAKE(&p->bag, float, view.n *FEATURES);
    *dw = TAKE(&p->bag, float, view.m);
    cbx_pass_forward(&pass, &X, NULL, 0, 0);
    cbx_pass_backward(&pass, dlogp, *dX, *dw, NULL);
    cbx_arena_free(&arena);
}

TEST(gradients_pass_through)
{
    for (int i = 0; i < SHAPES; i++) {
        pair   p = make(shapes[i]);
        float *dX[2], *dw[2];
        gradients(&p, &p.centred, true, &dX[0], &dw[0]);
        gradients(&p, &p.plain, true, &dX[1], &dw[1]);
        CHECK(apart(dX[0], dX[1], (int64_t)p.plain.data.num_nodes * FEATURES) < 1e-4);
        CHECK(apart(dw[0], dw[1], p.plain.data.num_edges) < 1e-3);
        drop(&p);
    }
}

/* Bounds, kinds and edits are in the data's own units, so those of the two differ by the mean. */
TEST(searches_find_the_same_edits_in_their_own_units)
{
    static const char *const methods[] = {"combinex", "cf-gnn", "minimal", "unr"};
    int                      found = 0;
    for (int i = 0; i < SHAPES; i++) {
        pair p = make(shapes[i]);
        for (int k = 0; k < 4; k++) {
            if (p.plain.data.task == CBX_GRAPH && k == 3)
                continue;
            cbx_explain_options ask = ASK("explainer", methods[k], "target", "any", "epochs", "40",
                                          "policy", "dynamic", "unr-rollouts", "40");
            for (int32_t row = 0; row < 4; row++) {
                cbx_counterfactual *a = explain_row(&p.centred, row, &ask);
                cbx_counterfactual *b = explain_row(&p.plain, row, &ask);
                CHECK_INT(a->outcome, b->outcome);
                CHECK_INT(a->num_edges_removed, b->num_edges_removed);
                CHECK_INT(a->num_features_changed, b->num_features_changed);
                for (int64_t e = 0; e < a->num_edits; e++)
                    if (a->edits[e].op == CBX_SET_FEATURE) {
                        int32_t j = a->edits[e].feature;
                        CHECK(a->edits[e].to >= p.centred.data.feat_min[j] &&
                              a->edits[e].to <= p.centred.data.feat_max[j]);
                    }
                found += a->outcome == CBX_FOUND;
                cbx_counterfactual_free(a), cbx_counterfactual_free(b);
            }
        }
        drop(&p);
    }
    CHECK(found > 30);
}

/* A trace runs every pass; otherwise bounds prove that some need not be. */
TEST(proofs_hold_with_means)
{
    for (int i = 0; i < SHAPES; i++) {
        pair                p = make(shapes[i]);
        cbx_explain_options plain = ASK("epochs", "120", "policy", "linear", "target", "any");
        cbx_explain_options traced = plain;
        traced.trace = true;
        for (int32_t row = 0; row < 6; row++) {
            cbx_counterfactual *a = explain_row(&p.centred, row, &plain);
            cbx_counterfactual *b = explain_row(&p.centred, row, &traced);
            CHECK_INT(a->outcome, b->outcome);
            CHECK_INT(a->epoch, b->epoch);
            CHECK_INT(a->num_edits, b->num_edits);
            cbx_counterfactual_free(a), cbx_counterfactual_free(b);
        }
        drop(&p);
    }
}

/* ---- training */

/* Features 3 and 4 are binary and constant; the others have these means and deviations. */
static oracle scaled(double size, double offset)
{
    oracle o = oracle_make((oracle_shape){"gcn", .nodes = 60, .kind = 'c', .seed = 3});
    float *x = TAKE(&o.bag, float, 60 * FEATURES);
    for (int32_t k = 0; k < 60 * FEATURES; k++) {
        int32_t j = k % FEATURES;
        x[k] = (float)(offset + size * o.data.x[k]);
        x[k] = j == 3 ? (float)(o.data.x[k] > 0) : j == 4 ? 7 : x[k];
    }
    cbx_graph_data d = o.data;
    cbx_error      err = {0};
    d.x = x;
    d.discrete = NULL, d.feat_min = d.feat_max = NULL;
    cbx_graph *graph = NULL;
    oracle_must(cbx_graph_new(&d, &graph, &err), &err);
    cbx_graph_free(o.graph);
    o.graph = graph;
    o.data = *cbx_graph_view(graph);
    return o;
}

TEST(features_that_are_0_or_1_or_constant_stay_as_they_are)
{
    oracle       o = scaled(20, 50);
    cbx_standard s;
    cbx_arena    arena = {0};
    cbx_error    err = {0};
    CHECK_OK(cbx_standard_find(&s, o.graph, &arena, &err), err);
    CHECK_INT(s.count, 3);
    CHECK(s.needed);
    CHECK(s.mean[3] == 0 && s.scale[3] == 1 && s.mean[4] == 0 && s.scale[4] == 1);
    double sum = 0, squares = 0;
    for (int32_t i = 0; i < 60; i++) {
        double z = (o.data.x[i * FEATURES] - s.mean[0]) / s.scale[0];
        sum += z;
        squares += z * z;
    }
    CHECK_NEAR(sum, 0, 1e-3);
    CHECK_NEAR(squares, 60, 1e-3);
    cbx_arena_free(&arena);
    oracle_free(&o);
}

static bool needed(double size, double offset)
{
    oracle       o = scaled(size, offset);
    cbx_standard s;
    cbx_arena    arena = {0};
    cbx_error    err = {0};
    CHECK_OK(cbx_standard_find(&s, o.graph, &arena, &err), err);
    cbx_arena_free(&arena);
    oracle_free(&o);
    return s.needed;
}

TEST(it_is_needed_where_features_are_large_or_of_very_different_sizes)
{
    CHECK(!needed(1, 0));
    CHECK(!needed(4, 5));
    CHECK(needed(4, 20));    /* root mean squares of 20 */
    CHECK(needed(0.002, 0)); /* of a thousandth, and the binary one's of about 0.7 */
}

static cbx_model *train(const oracle *o, const char *mode, cbx_train_result *result,
                        cbx_status expected)
{
    cbx_model_spec    spec;
    cbx_train_options train;
    cbx_model        *model = NULL;
    cbx_error         err = {0};
    cbx_options_default(cbx_model_table(), &spec);
    cbx_options_default(cbx_train_table(), &train);
    oracle_must(cbx_options_set(cbx_train_table(), &train, "standardise", mode, &err), &err);
    spec.hidden = 32;
    spec.dropout = 0;
    train.epochs = 300;
    train.learning_rate = 0.01;
    train.threads = 1;
    oracle_must(cbx_model_new(o->graph, &spec, 3, &model, &err), &err);
    CHECK_INT(cbx_train(model, o->graph, &train, NULL, NULL, result, &err), expected);
    return model;
}

TEST(a_model_that_was_trained_on_standardised_features_takes_the_data_as_it_is)
{
    oracle           o = scaled(40, 900);
    cbx_train_result raw, result;
    cbx_model       *model = train(&o, "off", &raw, CBX_OK), *again = NULL;
    cbx_error        err = {0};
    float            one[60 * CLASSES], two[60 * CLASSES];
    CHECK(raw.scales_differ && raw.num_standardised == 0);
    cbx_model_free(model);
    model = train(&o, "auto", &result, CBX_OK);
    CHECK(!result.scales_differ && result.num_standardised == 3);
    CHECK(raw.train_accuracy < 0.8 && result.train_accuracy > 0.9);
    CHECK_OK(cbx_predict(model, o.graph, 1, one, &err), err);
    int32_t right = 0;
    for (int32_t i = 0; i < 60; i++)
        right += best_of(one + i * CLASSES, CLASSES) == o.data.y[i];
    CHECK_NEAR(right,
               result.train_accuracy * result.num_train + result.test_accuracy * result.num_test,
               0.5);
    /* It goes through a file, and is not the model without its means. */
    CHECK_OK(cbx_model_save(model, test_path("centred.safetensors"), &err), err);
    CHECK_OK(cbx_model_load(test_path("centred.safetensors"), &again, &err), err);
    CHECK_OK(cbx_predict(again, o.graph, 1, two, &err), err);
    CHECK(!memcmp(one, two, sizeof one));
    char hash[2][65];
    cbx_model_hash(model, hash[0]);
    CHECK_OK(cbx_model_centre(again, mean, &err), err);
    cbx_model_hash(again, hash[1]);
    CHECK(strcmp(hash[0], hash[1]) != 0);
    cbx_train_options options;
    cbx_options_default(cbx_train_table(), &options);
    CHECK_INT(cbx_train(model, o.graph, &options, NULL, NULL, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "standardised");
    cbx_model_free(model), cbx_model_free(again);
    oracle_free(&o);
}

TEST(a_maximum_takes_features_as_they_are)
{
    oracle o = oracle_make((oracle_shape){"graphconv", .aggregation = "max", .nodes = 24});
    cbx_train_options options;
    cbx_error         err = {0};
    cbx_options_default(cbx_train_table(), &options);
    options.standardise = CBX_STANDARDISE_ON;
    CHECK_INT(cbx_train(o.model, o.graph, &options, NULL, NULL, NULL, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "maximum");
    CHECK_INT(cbx_model_centre(o.model, mean, &err), CBX_INVALID);
    oracle_free(&o);
}

static cbx_status train_once(void *user)
{
    oracle           *o = user;
    cbx_train_options options;
    cbx_model_spec    spec;
    cbx_model        *model = NULL;
    cbx_options_default(cbx_train_table(), &options);
    cbx_options_default(cbx_model_table(), &spec);
    spec.hidden = 4;
    options.epochs = 1;
    options.threads = 1;
    options.standardise = CBX_STANDARDISE_ON;
    cbx_status status = cbx_model_new(o->graph, &spec, 1, &model, NULL);
    if (!status)
        status = cbx_train(model, o->graph, &options, NULL, NULL, NULL, NULL);
    cbx_model_free(model);
    return status;
}

TEST(standardising_survives_every_allocation_that_fails)
{
    oracle o = scaled(20, 50);
    test_each_allocation(train_once, &o);
    oracle_free(&o);
}
