/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's hash stands for: architecture and parameters, nothing else. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

static cbx_graph *karate(void)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    CHECK_OK(cbx_graph_builtin_with("karate", NULL, &g, &err), err);
    return g;
}

/* A small model; `option` (or NULL) is set to `value` on top. */
static cbx_model *model_with(const cbx_graph *g, const char *option, const char *value)
{
    cbx_model_spec spec;
    cbx_model     *m = NULL;
    cbx_error      err = {0};
    cbx_fields_default(cbx_model_table(), &spec);
    spec.hidden = 5;
    if (option)
        CHECK_OK(cbx_fields_set(cbx_model_table(), &spec, option, value, &err), err);
    CHECK_OK(cbx_model_new_with(g, &spec, 7, &m, &err), err);
    return m;
}

static void hash_with(const cbx_graph *g, const char *option, const char *value, char hex[65])
{
    cbx_model *m = model_with(g, option, value);
    cbx_model_hash(m, hex);
    cbx_model_free(m);
}

TEST(a_hash_is_64_hexadecimal_digits_and_the_same_every_time)
{
    cbx_graph *g = karate();
    char       a[65], b[65];
    memset(a, 'x', sizeof a);
    hash_with(g, NULL, NULL, a);
    hash_with(g, NULL, NULL, b);
    CHECK_INT((int64_t)strspn(a, "0123456789abcdef"), 64);
    CHECK_INT(a[64], '\0');
    CHECK(!strcmp(a, b));
    cbx_graph_free(g);
}

TEST(every_part_of_the_architecture_changes_the_hash)
{
    static const char *const options[][2] = {{NULL, NULL},           {"model", "cheb"},
                                             {"model", "graphconv"}, {"layers", "2"},
                                             {"hidden", "6"},        {"head", "last"}};
    enum { COUNT = sizeof options / sizeof *options };
    cbx_graph *g = karate();
    char       hex[COUNT][65];
    for (int i = 0; i < COUNT; i++) {
        hash_with(g, options[i][0], options[i][1], hex[i]);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(hex[i], hex[k]) != 0);
    }
    cbx_graph_free(g);
}

/* The parameters are the same here, bit for bit: only the word differs. */
TEST(aggregation_and_order_change_the_hash)
{
    static const char *const aggregations[] = {"add", "mean", "max"};
    cbx_graph               *g = karate();
    cbx_model_spec           spec;
    cbx_model               *m = NULL;
    cbx_error                err = {0};
    char                     hex[5][65];
    cbx_fields_default(cbx_model_table(), &spec);
    spec.hidden = 4;
    for (int i = 0; i < 5; i++) {
        const cbx_option_table *table = cbx_model_table();
        CHECK_OK(cbx_fields_set(table, &spec, "model", i < 3 ? "graphconv" : "cheb", &err), err);
        CHECK_OK(cbx_fields_set(table, &spec, "aggregation", aggregations[i % 3], &err), err);
        spec.order = i < 3 ? 1 : i - 1;
        CHECK_OK(cbx_model_new_with(g, &spec, 7, &m, &err), err);
        cbx_model_hash(m, hex[i]);
        cbx_model_free(m);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(hex[i], hex[k]) != 0);
    }
    cbx_graph_free(g);
}

/* Again with the same parameters. */
TEST(every_setting_changes_the_hash)
{
    static const char *const settings[][3] = {
        {"gat", "negative-slope", "0.2"}, {"gat", "negative-slope", "0.3"},
        {"gat", "no-self-loops", "true"}, {"gin", "eps", "0"},
        {"gin", "eps", "0.25"},           {"gin", "residual", "true"},
        {"gin", "batch-norm", "true"},    {"gin", "head-hidden", "8"}};
    cbx_graph *g = karate();
    cbx_model *m = NULL;
    cbx_error  err = {0};
    char       hex[8][65];
    for (int i = 0; i < 8; i++) {
        const cbx_option_table *table = cbx_model_table();
        cbx_model_spec          spec;
        cbx_fields_default(table, &spec);
        CHECK_OK(cbx_fields_set(table, &spec, "model", settings[i][0], &err), err);
        CHECK_OK(cbx_fields_set(table, &spec, settings[i][1], settings[i][2], &err), err);
        CHECK_OK(cbx_model_new_with(g, &spec, 7, &m, &err), err);
        cbx_model_hash(m, hex[i]);
        cbx_model_free(m);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(hex[i], hex[k]) != 0);
    }
    cbx_graph_free(g);
}

TEST(every_parameter_changes_the_hash)
{
    cbx_graph  *g = karate();
    cbx_model  *m = model_with(g, NULL, NULL);
    cbx_error   err = {0};
    char        before[65], after[65];
    const char *name;
    int32_t     rows, cols;
    cbx_model_hash(m, before);
    for (size_t i = 0; cbx_model_parameter(m, i, &name, &rows, &cols); i++) {
        size_t count = (size_t)rows * (size_t)cols;
        float *values = calloc(count, sizeof *values);
        CHECK_OK(cbx_model_get(m, i, values, (int64_t)count, &err), err);
        float kept = values[count - 1];
        values[count - 1] += 0.5f;
        CHECK_OK(cbx_model_set(m, i, values, (int64_t)count, &err), err);
        cbx_model_hash(m, after);
        CHECK(strcmp(before, after) != 0);
        values[count - 1] = kept;
        CHECK_OK(cbx_model_set(m, i, values, (int64_t)count, &err), err);
        cbx_model_hash(m, after);
        CHECK(!strcmp(before, after));
        free(values);
    }
    cbx_model_free(m);
    cbx_graph_free(g);
}

TEST(notes_and_dropout_do_not_change_the_hash)
{
    cbx_graph *g = karate();
    cbx_model *m = model_with(g, NULL, NULL);
    cbx_error  err = {0};
    char       before[65], after[65];
    cbx_model_hash(m, before);
    CHECK_OK(cbx_model_set_note(m, "test_accuracy", "0.99", &err), err);
    cbx_model_hash(m, after);
    CHECK(!strcmp(before, after));
    cbx_model_free(m);
    hash_with(g, "dropout", "0.1", after); /* predicting drops nothing */
    CHECK(!strcmp(before, after));
    cbx_graph_free(g);
}

TEST(a_saved_and_loaded_model_has_the_hash_it_had)
{
    cbx_graph  *g = karate();
    cbx_model  *m = model_with(g, "model", "cheb"), *again = NULL;
    cbx_error   err = {0};
    char        before[65], after[65];
    const char *path = test_path("model.safetensors");
    cbx_model_hash(m, before);
    CHECK_OK(cbx_model_save(m, path, &err), err);
    if (CHECK_OK(cbx_model_load(path, &again, &err), err)) {
        cbx_model_hash(again, after);
        CHECK(!strcmp(before, after));
    }
    cbx_model_free(m);
    cbx_model_free(again);
    cbx_graph_free(g);
}
