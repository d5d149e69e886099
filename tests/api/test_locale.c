/* SPDX-License-Identifier: Apache-2.0 */
/* The library in a program that has set a locale: what is read means the same, and what is
 * written is the same to the byte. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static const char *const locales[] = {"de_DE.UTF-8", "ps_AF.UTF-8", "tr_TR.UTF-8"};
enum { LOCALES = sizeof locales / sizeof *locales };

static bool no_locales(void)
{
    if (!getenv("CBX_TEST_LOCALES"))
        test_skip("no locales: tests/locale/run.sh makes them");
    return !getenv("CBX_TEST_LOCALES");
}

/* Runs `each` in "C" (with -1) and in every other locale. */
static void in_each_locale(void (*each)(int which))
{
    char before[256];
    (void)snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    (void)setlocale(LC_ALL, "C");
    each(-1);
    for (int i = 0; i < LOCALES; i++) {
        if (CHECK(setlocale(LC_ALL, locales[i]) != NULL))
            each(i);
    }
    (void)setlocale(LC_ALL, before);
}

static cbx_graph *graph_of_fractions(void)
{
    static const int64_t     from[] = {0, 1, 1, 2, 2, 0}, to[] = {1, 0, 2, 1, 0, 2};
    static const float       weight[] = {0.5f, 0.25f, 1.5f, 2, 0.1f, 1e-3f};
    static const float       x[] = {0.5f, -1.25f, 3.75f, 1e-5f, 0.1f, 2};
    static const int64_t     y[] = {0, 1, 0};
    static const char *const names[] = {"a", "b"};
    cbx_graph_data           data = {.num_nodes = 3,
                                     .num_features = 2,
                                     .num_classes = 2,
                                     .num_edges = 6,
                                     .edge_source = from,
                                     .edge_target = to,
                                     .edge_weight = weight,
                                     .x = x,
                                     .y = y,
                                     .name = "fractions",
                                     .feature_names = names};
    cbx_graph               *graph = NULL;
    cbx_error                err = {0};
    CHECK_OK(cbx_graph_new(&data, &graph, &err), err);
    return graph;
}

/* The bytes of a file, which goes, must be those that it had the first time, in "C". */
typedef struct first {
    unsigned char *bytes;
    size_t         size;
} first;

static void same_as_first(first *f, int which, const char *path)
{
    size_t         size = 0;
    unsigned char *bytes = test_read_file(path, &size);
    (void)unlink(path);
    if (!CHECK(bytes != NULL))
        return;
    if (which < 0) {
        *f = (first){bytes, size};
        return;
    }
    if (!CHECK(f->bytes && size == f->size && !memcmp(bytes, f->bytes, size)))
        printf("  %s, in %s\n", path, locales[which]);
    free(bytes);
}

/* ---- options */

static void set_a_half(int which)
{
    cbx_model_spec spec;
    cbx_error      err = {0};
    (void)which;
    cbx_fields_default(cbx_model_table(), &spec);
    CHECK(spec.dropout == 0.5);
    CHECK_OK(cbx_fields_set(cbx_model_table(), &spec, "dropout", "0.125", &err), err);
    CHECK(spec.dropout == 0.125);
    CHECK_INT(cbx_fields_set(cbx_model_table(), &spec, "dropout", "0,125", &err), CBX_INVALID);
    CHECK_INT(cbx_fields_set(cbx_model_table(), &spec, "dropout", "1.5", &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "1.5 is out of range: 0 to 0.99");
}

TEST(options_and_their_defaults_are_the_same_in_every_locale)
{
    if (!no_locales())
        in_each_locale(set_a_half);
}

/* ---- graphs */

/* A format, where it is written to, and the file that becomes of it. */
static const char *const exports[][3] = {{"graphml", "x.graphml", "x.graphml"},
                                         {"gexf", "x.gexf", "x.gexf"},
                                         {"dot", "x.dot", "x.dot"},
                                         {"csv", "x", "x/features.csv"},
                                         {"csv", "x", "x/edges.csv"},
                                         {"npz", "x.npz", "x.npz"},
                                         {"safetensors", "x.safetensors", "x.safetensors"}};
enum { EXPORTS = sizeof exports / sizeof *exports };
static first exported[EXPORTS];

static void export_all(int which)
{
    static const cbx_edit edit = {
        .op = CBX_SET_FEATURE, .node = 1, .feature = 0, .from = 3.75f, .to = 0.125f};
    cbx_graph *graph = graph_of_fractions();
    for (int i = 0; graph && i < EXPORTS; i++) {
        cbx_error err = {0};
        CHECK_OK(cbx_graph_export(graph, exports[i][0], &edit, 1, test_path(exports[i][1]), &err),
                 err);
        same_as_first(&exported[i], which, test_path(exports[i][2]));
    }
    (void)unlink(test_path("x/features.csv"));
    (void)rmdir(test_path("x"));
    cbx_graph_free(graph);
}

TEST(graphs_are_exported_as_the_same_bytes_in_every_locale)
{
    if (no_locales())
        return;
    in_each_locale(export_all);
    CHECK(exported[3].bytes && strstr((char *)exported[3].bytes, "0.125"));
    for (int i = 0; i < EXPORTS; i++)
        free(exported[i].bytes);
}

/* ---- models and answers */

enum { MODEL, LINE, PAGE, PICTURE, OUTPUTS };
static first outputs[OUTPUTS];

static const cbx_counterfactual *an_answer(void)
{
    static const float        before[] = {-0.1f, -2.5f}, after[] = {-3.25f, -0.0625f};
    static const cbx_edit     edits[] = {{.op = CBX_SET_FEATURE,
                                          .node = 1,
                                          .feature = 0,
                                          .from = 3.75f,
                                          .to = 0.125f,
                                          .influence = 1.5f}};
    static cbx_counterfactual found;
    found = (cbx_counterfactual){.outcome = CBX_FOUND,
                                 .reason = "",
                                 .row = 1,
                                 .target = 1,
                                 .result = 1,
                                 .num_classes = 2,
                                 .edits = edits,
                                 .num_edits = 1,
                                 .num_features_changed = 1,
                                 .before = before,
                                 .after = after,
                                 .loss = 0.75,
                                 .seconds = 0.5};
    return &found;
}

static void write_all(int which)
{
    cbx_graph     *graph = graph_of_fractions();
    cbx_model     *model = NULL;
    cbx_error      err = {0};
    cbx_model_spec spec;
    cbx_fields_default(cbx_model_table(), &spec);
    if (!graph || !CHECK_OK(cbx_model_new_with(graph, &spec, 1, &model, &err), err))
        return;
    CHECK(cbx_model_describe(model).dropout == 0.5);
    CHECK_OK(cbx_model_save(model, test_path("m"), &err), err);
    same_as_first(&outputs[MODEL], which, test_path("m"));

    cbx_explain_options options;
    cbx_fields_default(cbx_explain_table(), &options);
    options.target = "next";
    char *line = cbx_counterfactual_json_with(an_answer(), graph, &options, NULL, NULL);
    if (CHECK(line != NULL)) {
        cbx_report_source source = {.graph = graph, .model = model};
        test_write_file(test_path("line"), line, strlen(line));
        same_as_first(&outputs[LINE], which, test_path("line"));
        CHECK_OK(cbx_report_write(line, &source, test_path("page"), &err), err);
        same_as_first(&outputs[PAGE], which, test_path("page"));
        CHECK_OK(cbx_picture_write(line, &source, "svg", test_path("picture"), &err), err);
        same_as_first(&outputs[PICTURE], which, test_path("picture"));
    }
    free(line);
    cbx_model_free(model);
    cbx_graph_free(graph);
}

TEST(models_and_answers_are_written_as_the_same_bytes_in_every_locale)
{
    if (no_locales())
        return;
    in_each_locale(write_all);
    CHECK(outputs[LINE].bytes && strstr((char *)outputs[LINE].bytes, "\"seconds\":0.5"));
    for (int i = 0; i < OUTPUTS; i++)
        free(outputs[i].bytes);
}
