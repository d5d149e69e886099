/* SPDX-License-Identifier: Apache-2.0 */
/* Training on standardised features: which are, by what, and what becomes of the model. */
#include "standardise.h"

#include <math.h>

#include "../search/oracle.h"
#include "test.h"

enum { FEATURES = 5, CLASSES = 3 };
static float means[FEATURES] = {1.5f, -0.3f, 0, 2.25f, -4};

/* Feature 3 is 0 or 1, 4 is constant; of the others, 2 is 0 in most nodes. */
static oracle scaled(double size, double offset, bool sparse)
{
    oracle   o = oracle_make((oracle_shape){"gcn", .nodes = 60, .kind = 'c', .seed = 3});
    float   *x = TAKE(&o.bag, float, 60 * FEATURES), *value = TAKE(&o.bag, float, 60 * FEATURES);
    int64_t *indptr = TAKE(&o.bag, int64_t, 61), at = 0;
    int32_t *column = TAKE(&o.bag, int32_t, 60 * FEATURES);
    for (int32_t k = 0; k < 60 * FEATURES; k++) {
        int32_t j = k % FEATURES;
        x[k] = (float)(offset + size * o.data.x[k]);
        x[k] = j == 3 ? (float)(o.data.x[k] > 0) : j == 4 ? 7 : x[k];
        x[k] = j == 2 && k / FEATURES % 3 ? 0 : x[k];
        indptr[k / FEATURES + 1] = at + (x[k] != 0);
        column[at] = j;
        value[at] = x[k];
        at += x[k] != 0;
    }
    indptr[0] = 0;
    cbx_graph_data d = o.data;
    cbx_error      err = {0};
    d.x = sparse ? NULL : x;
    if (sparse)
        d.x_indptr = indptr, d.x_indices = column, d.x_values = value, d.num_x_values = at;
    d.discrete = NULL, d.feat_min = d.feat_max = NULL;
    cbx_graph *graph = NULL;
    oracle_must(cbx_graph_new(&d, &graph, &err), &err);
    cbx_graph_free(o.graph);
    o.graph = graph;
    o.data = *cbx_graph_arrays(graph);
    return o;
}

static cbx_standard find(const oracle *o, const uint8_t *part, int mode, cbx_arena *arena)
{
    cbx_standard s;
    cbx_error    err = {0};
    CHECK_OK(cbx_standard_find(&s, o->graph, part, mode, &o->model->layers[0], arena, &err), err);
    return s;
}

/* As the definition has it, of the nodes of one part. */
static void moments(const oracle *o, const uint8_t *part, int32_t j, double *mean,
                    double *deviation)
{
    double sum = 0, squares = 0;
    int    count = 0;
    for (int32_t i = 0; i < 60; i++)
        if (part[i] == 0) {
            double v = data_feature(&o->data, i, j);
            sum += v;
            squares += v * v;
            count++;
        }
    *mean = sum / count;
    *deviation = sqrt(squares / count - *mean * *mean);
}

TEST(means_and_deviations_are_those_of_training_rows)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        oracle    o = scaled(20, 50, sparse);
        cbx_arena arena = {0};
        uint8_t   part[60];
        for (int32_t i = 0; i < 60; i++)
            part[i] = (uint8_t)(i % 4 == 1 ? 2 : 0);
        cbx_standard s = find(&o, part, CBX_STANDARDISE_AUTO, &arena);
        for (int32_t j = 0; j < 2; j++) {
            double mean, deviation;
            moments(&o, part, j, &mean, &deviation);
            CHECK_NEAR(s.mean[j], mean, 1e-4);
            CHECK_NEAR(s.scale[j], deviation, 1e-4);
        }
        cbx_arena_free(&arena);
        oracle_free(&o);
    }
}

TEST(what_a_feature_is_decides_what_is_done_to_it)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        oracle       o = scaled(20, 50, sparse);
        cbx_arena    arena = {0};
        uint8_t      part[60] = {0};
        cbx_standard s = find(&o, part, CBX_STANDARDISE_AUTO, &arena);
        double       squares = 0;
        for (int32_t i = 0; i < 60; i++)
            squares += pow(data_feature(&o.data, i, 2), 2);
        CHECK_INT(s.count, 3);
        CHECK(s.shifts);
        CHECK(s.mean[2] == 0); /* its zeros stay zeros */
        CHECK_NEAR(s.scale[2], sqrt(squares / 20), 1e-4);
        CHECK(s.mean[3] == 0 && s.scale[3] == 1); /* 0 or 1 */
        CHECK(s.mean[4] == 0 && s.scale[4] == 1); /* constant */
        s = find(&o, part, CBX_STANDARDISE_ON, &arena);
        CHECK(s.mean[4] == 0 && s.scale[4] == 1);
        CHECK(s.count == 3 || s.mean[3] > 0); /* on: 0 or 1 as any other */
        cbx_arena_free(&arena);
        oracle_free(&o);
    }
}

/* How features are stored is no part of the data. */
TEST(sparse_and_dense_features_are_standardised_alike)
{
    oracle       dense = scaled(20, 50, false), sparse = scaled(20, 50, true);
    cbx_arena    arena = {0};
    uint8_t      part[60] = {0};
    cbx_graph   *one = NULL, *two = NULL;
    cbx_error    err = {0};
    cbx_standard s = find(&dense, part, CBX_STANDARDISE_AUTO, &arena);
    cbx_standard t = find(&sparse, part, CBX_STANDARDISE_AUTO, &arena);
    CHECK_OK(cbx_standard_graph(&s, dense.graph, &arena, &one, &err), err);
    CHECK_OK(cbx_standard_graph(&t, sparse.graph, &arena, &two, &err), err);
    CHECK(!cbx_graph_arrays(two)->x);
    for (int32_t k = 0; k < 60 * FEATURES; k++)
        CHECK(data_feature(cbx_graph_arrays(one), k / FEATURES, k % FEATURES) ==
              data_feature(cbx_graph_arrays(two), k / FEATURES, k % FEATURES));
    cbx_graph_free(one), cbx_graph_free(two);
    cbx_arena_free(&arena);
    oracle_free(&dense), oracle_free(&sparse);
}

TEST(a_maximum_has_features_divided_only)
{
    oracle       o = scaled(20, 50, false);
    oracle       max = oracle_make((oracle_shape){"graphconv", .aggregation = "max", .nodes = 24});
    cbx_arena    arena = {0};
    uint8_t      part[60] = {0};
    cbx_standard s;
    cbx_error    err = {0};
    CHECK_OK(cbx_standard_find(&s, o.graph, part, CBX_STANDARDISE_AUTO, &max.model->layers[0],
                               &arena, &err),
             err);
    CHECK(!s.shifts && s.count == 3 && s.scale[0] > 40);
    CHECK_INT(cbx_model_centre(max.model, means, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "aggregation 'max'");
    cbx_arena_free(&arena);
    oracle_free(&o), oracle_free(&max);
}

static cbx_model *train(const oracle *o, const char *mode, cbx_train_result *result,
                        cbx_status expected)
{
    cbx_model_spec    spec;
    cbx_train_options train;
    cbx_model        *model = NULL;
    cbx_error         err = {0};
    cbx_fields_default(cbx_model_table(), &spec);
    cbx_fields_default(cbx_train_table(), &train);
    oracle_must(cbx_fields_set(cbx_train_table(), &train, "standardise", mode, &err), &err);
    spec.hidden = 32;
    spec.dropout = 0;
    train.epochs = 300;
    train.learning_rate = 0.01;
    train.threads = 1;
    oracle_must(cbx_model_new_with(o->graph, &spec, 3, &model, &err), &err);
    CHECK_INT(cbx_train_with(model, o->graph, &train, NULL, NULL, result, &err), expected);
    return model;
}

static int32_t right_answers(const oracle *o, const float *logp)
{
    int32_t right = 0;
    for (int32_t i = 0; i < 60; i++)
        right += best_of(logp + i * CLASSES, CLASSES) == o->data.y[i];
    return right;
}

TEST(a_model_that_was_trained_on_standardised_features_takes_the_data_as_it_is)
{
    float logp[60 * CLASSES];
    for (int sparse = 0; sparse < 2; sparse++) {
        oracle           o = scaled(40, 900, sparse);
        cbx_train_result raw, result;
        cbx_error        err = {0};
        cbx_model_free(train(&o, "off", &raw, CBX_OK));
        cbx_model *model = train(&o, "auto", &result, CBX_OK);
        CHECK(raw.num_standardised == 0 && result.num_standardised == 3);
        CHECK(raw.train_accuracy < 0.9 && result.train_accuracy > 0.95);
        CHECK_OK(cbx_predict(model, o.graph, 1, logp, &err), err);
        double right =
            result.train_accuracy * result.num_train + result.test_accuracy * result.num_test;
        CHECK_NEAR(right_answers(&o, logp), right, 0.5);
        cbx_train_options again;
        cbx_fields_default(cbx_train_table(), &again);
        CHECK_INT(cbx_train_with(model, o.graph, &again, NULL, NULL, NULL, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "standardised");
        cbx_model_free(model);
        oracle_free(&o);
    }
}

/* What test rows hold has no say in what is learned. */
TEST(test_rows_do_not_leak)
{
    oracle            o = scaled(40, 900, false);
    cbx_train_result  result;
    cbx_model        *model = train(&o, "auto", &result, CBX_OK);
    cbx_train_options options;
    uint8_t           part[60];
    cbx_error         err = {0};
    cbx_arena         arena = {0};
    cbx_fields_default(cbx_train_table(), &options);
    CHECK_OK(cbx_split_with(o.graph, &options, part, &err), err);
    cbx_standard s = find(&o, part, CBX_STANDARDISE_AUTO, &arena);
    CHECK(!memcmp(model->mean, s.mean, sizeof means));
    cbx_arena_free(&arena);
    cbx_model_free(model);
    oracle_free(&o);
}

TEST(a_file_keeps_the_means)
{
    oracle           o = scaled(40, 900, false);
    cbx_train_result result;
    cbx_model       *model = train(&o, "auto", &result, CBX_OK), *again = NULL;
    cbx_error        err = {0};
    float            one[60 * CLASSES], two[60 * CLASSES];
    char             hash[2][65];
    CHECK_OK(cbx_model_save(model, test_path("centred.safetensors"), &err), err);
    CHECK_OK(cbx_model_load(test_path("centred.safetensors"), &again, &err), err);
    CHECK_OK(cbx_predict(model, o.graph, 1, one, &err), err);
    CHECK_OK(cbx_predict(again, o.graph, 1, two, &err), err);
    CHECK(!memcmp(one, two, sizeof one));
    cbx_model_hash(model, hash[0]);
    CHECK_OK(cbx_model_centre(again, means, &err), err);
    cbx_model_hash(again, hash[1]);
    CHECK(strcmp(hash[0], hash[1]) != 0); /* they are a part of what the model is */
    cbx_model_free(model), cbx_model_free(again);
    oracle_free(&o);
}

TEST(features_of_0_and_1_train_to_the_same_bits)
{
    oracle           o = oracle_make((oracle_shape){0}); /* the karate club */
    cbx_train_result result;
    cbx_model       *off = train(&o, "off", &result, CBX_OK),
              *standard = train(&o, "auto", &result, CBX_OK);
    CHECK_INT(result.num_standardised, 0);
    CHECK(off->size == standard->size &&
          !memcmp(off->theta, standard->theta, (size_t)off->size * sizeof *off->theta));
    cbx_model_free(off), cbx_model_free(standard);
    oracle_free(&o);
}

static cbx_status train_once(void *user)
{
    oracle           *o = user;
    cbx_train_options options;
    cbx_model_spec    spec;
    cbx_model        *model = NULL;
    cbx_fields_default(cbx_train_table(), &options);
    cbx_fields_default(cbx_model_table(), &spec);
    spec.hidden = 4;
    options.epochs = 1;
    options.threads = 1;
    options.standardise = CBX_STANDARDISE_ON;
    cbx_status status = cbx_model_new_with(o->graph, &spec, 1, &model, NULL);
    if (!status)
        status = cbx_train_with(model, o->graph, &options, NULL, NULL, NULL, NULL);
    cbx_model_free(model);
    return status;
}

TEST(standardising_survives_every_allocation_that_fails)
{
    oracle o = scaled(20, 50, true);
    test_each_allocation(train_once, &o);
    oracle_free(&o);
}
