/* SPDX-License-Identifier: Apache-2.0 */
/* Every public function with every allocation failing in turn: CBX_NO_MEMORY, nothing leaked
 * (the sanitizers look), nothing half done. The list is held against the public headers, so that
 * a function that is added there must be added here. What does not allocate is shown not to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "combinex/extend.h"
#include "test.h"
#include "../search/own_options.h"

/* What the calls work on, made once. */
static struct {
    cbx_graph          *graph;
    cbx_model          *model;
    cbx_counterfactual *answer;
    cbx_dataset_means  *means;
    cbx_options        *options; /* "epochs" is 7 */
    cbx_explain_options explain;
    cbx_train_options   train;
    cbx_model_spec      spec;
    char               *json;
    float               logp[34 * 4];
    float               values[64 * 1024];
    char                graph_file[512], model_file[512], out_file[512], link[512];
} the;

static void make(void)
{
    cbx_error err = {0};
    if (the.graph)
        return;
    cbx_fields_default(cbx_explain_table(), &the.explain);
    the.explain.target = "next";
    cbx_fields_default(cbx_train_table(), &the.train);
    cbx_fields_default(cbx_model_table(), &the.spec);
    the.spec.hidden = 8;
    the.spec.layers = 2;
    the.train.epochs = 30;
    the.train.threads = 1;
    the.explain.threads = 1;
    the.explain.target = "any";
    set_option(&the.explain, "robustness", "2");
    (void)snprintf(the.graph_file, sizeof the.graph_file, "%s", test_path("karate.safetensors"));
    (void)snprintf(the.model_file, sizeof the.model_file, "%s", test_path("model.safetensors"));
    (void)snprintf(the.out_file, sizeof the.out_file, "%s", test_path("out"));
    (void)snprintf(the.link, sizeof the.link, "%s", test_path("link"));
    (void)unlink(the.link);
    CHECK(!symlink("not-there", the.link));
    CHECK_OK(cbx_graph_builtin_with("karate", NULL, &the.graph, &err), err);
    CHECK_OK(cbx_model_new_with(the.graph, &the.spec, 1, &the.model, &err), err);
    CHECK_OK(cbx_train_with(the.model, the.graph, &the.train, NULL, NULL, NULL, &err), err);
    for (int32_t row = 0; row < 34 && (!the.answer || the.answer->outcome != CBX_FOUND); row++) {
        cbx_counterfactual_free(the.answer);
        CHECK_OK(cbx_explain_with(the.model, the.graph, row, &the.explain, NULL, NULL, &the.answer,
                                  &err),
                 err);
    }
    CHECK_INT(the.answer->outcome, CBX_FOUND);
    CHECK_OK(cbx_dataset_means_new(the.model, the.graph, 1, &the.means, &err), err);
    CHECK_OK(cbx_graph_save(the.graph, the.graph_file, &err), err);
    CHECK_OK(cbx_model_save(the.model, the.model_file, &err), err);
    CHECK_OK(cbx_options_new(cbx_explain_table(), &the.options, &err), err);
    CHECK_OK(cbx_options_set(the.options, "epochs", "7", &err), err);
    the.json = cbx_counterfactual_json_with(the.answer, the.graph, &the.explain, NULL, NULL);
}

static void unmake(void)
{
    cbx_options_free(the.options);
    cbx_dataset_means_free(the.means);
    cbx_counterfactual_free(the.answer);
    cbx_model_free(the.model);
    cbx_graph_free(the.graph);
    free(the.json);
    memset(&the, 0, sizeof the);
}

/* ------------------------------------------------------- what allocates */

#define CALL(function) static cbx_status call_##function(void *user)

static cbx_status drop(cbx_status status, cbx_graph **graph)
{
    CHECK(!status == (*graph != NULL));
    cbx_graph_free(*graph);
    return status;
}

CALL(cbx_graph_new)
{
    cbx_graph *g = NULL;
    return (void)user, drop(cbx_graph_new(cbx_graph_arrays(the.graph), &g, NULL), &g);
}
CALL(cbx_graph_load)
{
    cbx_graph *g = NULL;
    return (void)user, drop(cbx_graph_load(the.graph_file, &g, NULL), &g);
}
CALL(cbx_graph_read)
{
    cbx_graph       *g = NULL;
    cbx_read_options options = {.copy = true};
    return (void)user, drop(cbx_graph_read_with(the.graph_file, &options, &g, NULL), &g);
}
CALL(cbx_file_target)
{
    char      *target = NULL;
    cbx_status status = cbx_file_target(the.link, &target, NULL);
    CHECK(!status == (target != NULL));
    free(target);
    return (void)user, status;
}
CALL(cbx_graph_builtin)
{
    cbx_graph *g = NULL;
    return (void)user, drop(cbx_graph_builtin_with("tree-cycles", NULL, &g, NULL), &g);
}
CALL(cbx_graph_apply)
{
    cbx_graph *g = NULL;
    return (void)user,
           drop(cbx_graph_apply(the.graph, the.answer->edits, the.answer->num_edits, &g, NULL), &g);
}
CALL(cbx_graph_save)
{
    return (void)user, cbx_graph_save(the.graph, the.out_file, NULL);
}
CALL(cbx_graph_export)
{
    return (void)user, cbx_graph_export(the.graph, "graphml", the.answer->edits,
                                        the.answer->num_edits, the.out_file, NULL);
}
CALL(cbx_graph_measure)
{
    cbx_graph_stats stats;
    return (void)user, cbx_graph_measure(the.graph, &stats, NULL);
}
CALL(cbx_graph_one_hot)
{
    int32_t group[34], count;
    return (void)user, cbx_graph_one_hot(the.graph, group, &count, NULL);
}
CALL(cbx_format_detect)
{
    const char *name;
    return (void)user, cbx_format_detect(the.graph_file, &name, NULL);
}
static void hear(void *user, cbx_problem_kind kind, const char *message)
{
    (void)user, (void)kind, (void)message;
}
CALL(cbx_graph_check)
{
    return (void)user, cbx_graph_check_with(the.graph_file, NULL, hear, NULL, NULL);
}
CALL(cbx_dataset_fetch) /* from where nobody answers: what is left is our own memory */
{
    char             *path = NULL;
    cbx_fetch_options options = {.from = "http://127.0.0.1:9", .timeout = 1};
    cbx_status        status =
        cbx_dataset_fetch_with("cora", the.out_file, &options, NULL, NULL, &path, NULL);
    CHECK(status && !path);
    return (void)user, status == CBX_NO_MEMORY ? status : CBX_OK;
}
CALL(cbx_model_new)
{
    cbx_model *m = NULL;
    cbx_status status = cbx_model_new_with(the.graph, &the.spec, 1, &m, NULL);
    CHECK(!status == (m != NULL));
    cbx_model_free(m);
    return (void)user, status;
}
CALL(cbx_model_load)
{
    cbx_model *m = NULL;
    cbx_status status = cbx_model_load(the.model_file, &m, NULL);
    CHECK(!status == (m != NULL));
    cbx_model_free(m);
    return (void)user, status;
}
CALL(cbx_model_save)
{
    return (void)user, cbx_model_save(the.model, the.out_file, NULL);
}
CALL(cbx_model_set_note)
{
    cbx_model *m = NULL;
    cbx_status status = cbx_model_new_with(the.graph, &the.spec, 1, &m, NULL);
    if (!status)
        status = cbx_model_set_note(m, "key", "a longer text than the last", NULL);
    cbx_model_free(m);
    return (void)user, status;
}
CALL(cbx_train) /* the model is as before where it fails */
{
    char              before[65], after[65];
    cbx_train_options options = the.train;
    options.epochs = 2;
    cbx_model_hash(the.model, before);
    cbx_status status = cbx_train_with(the.model, the.graph, &options, NULL, NULL, NULL, NULL);
    cbx_model_hash(the.model, after);
    CHECK(!status || !strcmp(before, after));
    return (void)user, status;
}
CALL(cbx_split)
{
    uint8_t part[34];
    return (void)user, cbx_split_with(the.graph, &the.train, part, NULL);
}
CALL(cbx_predict)
{
    return (void)user, cbx_predict(the.model, the.graph, 1, the.logp, NULL);
}
CALL(cbx_robust)
{
    const int32_t row = the.answer->row;
    cbx_radius    radius = {0};
    cbx_options  *options = NULL;
    cbx_status    status = cbx_options_new(cbx_robust_table(), &options, NULL);
    if (!status)
        status = cbx_options_set(options, "budget", "1", NULL);
    if (!status)
        status = cbx_robust(the.model, the.graph, &row, 1, options, NULL, NULL, &radius, NULL);
    CHECK(status || radius.lower_bound > 0);
    cbx_options_free(options);
    return (void)user, status;
}
CALL(cbx_explain)
{
    cbx_counterfactual *c = NULL;
    cbx_status          status =
        cbx_explain_with(the.model, the.graph, the.answer->row, &the.explain, NULL, NULL, &c, NULL);
    CHECK(!status == (c != NULL));
    cbx_counterfactual_free(c);
    return (void)user, status;
}
static int count_answers(void *user, int64_t i, const cbx_counterfactual *result)
{
    (void)i;
    *(int *)user += result != NULL;
    return 0;
}
CALL(cbx_explain_many)
{
    static const int32_t rows[] = {3, 8};
    int                  answers = 0;
    cbx_explain_options  options;
    cbx_fields_default(cbx_explain_table(), &options);
    options.target = "next";
    (void)cbx_explain_preset_with(&options, "paper", NULL);
    options.epochs = 5;
    options.threads = 1;
    cbx_status status = cbx_explain_many_with(the.model, the.graph, rows, 2, &options,
                                              count_answers, NULL, &answers, NULL);
    CHECK(status || answers == 2);
    /* An arena that cannot be made one block between rows goes on as it is. */
    return (void)user, !status && test_allocation_failed() ? CBX_NO_MEMORY : status;
}
CALL(cbx_explain_kept)
{
    static const int32_t rows[] = {3, 8};
    int64_t              found;
    cbx_status status = cbx_explain_kept(the.model, the.graph, rows, 2, the.options, the.out_file,
                                         false, NULL, NULL, NULL, &found, NULL);
    cbx_status gone = cbx_explain_forget(the.out_file, NULL);
    if (gone) /* by the failure that is tried, which comes once */
        gone = cbx_explain_forget(the.out_file, NULL);
    CHECK_INT(gone, CBX_OK);
    return (void)user, !status && test_allocation_failed() ? CBX_NO_MEMORY : status;
}
CALL(cbx_graph_find)
{
    int32_t     number = -1;
    cbx_nearest near;
    cbx_nearest_begin(&near, "kaarte");
    cbx_nearest_try(&near, "karate");
    CHECK(!strcmp(near.best, "karate"));
    return (void)user, cbx_graph_find(the.graph, CBX_PART_NODE, "8", &number, NULL);
}
CALL(cbx_check_edits)
{
    return (void)user, cbx_check_edits(the.model, the.graph, the.answer->row, the.answer->edits,
                                       the.answer->num_edits, the.logp, NULL);
}
CALL(cbx_counterfactual_json)
{
    char *text = cbx_counterfactual_json_with(the.answer, the.graph, &the.explain, NULL, NULL);
    bool  made = text != NULL;
    free(text);
    return (void)user, made ? CBX_OK : CBX_NO_MEMORY;
}
CALL(cbx_model_rescale)
{
    static const float ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    cbx_model         *model = NULL;
    int32_t            f = cbx_graph_arrays(the.graph)->num_features;
    cbx_status         status = cbx_model_new(the.graph, NULL, 1, &model, NULL);
    if (!status)
        status = cbx_model_rescale(model, ones, ones, f, NULL);
    cbx_model_free(model);
    return (void)user, status;
}

CALL(cbx_counterfactual_check_rules)
{
    return (void)user, cbx_counterfactual_check_rules(the.json, the.graph, NULL);
}

CALL(cbx_edits_check_rules)
{
    return (void)user, cbx_edits_check_rules(the.json, the.graph, NULL, 0, -1, NULL);
}

CALL(cbx_counterfactual_parse)
{
    cbx_counterfactual *c = NULL;
    char                graph[65], model[65];
    cbx_status          status = cbx_counterfactual_parse(the.json, &c, graph, model, NULL);
    CHECK(!status == (c != NULL));
    cbx_counterfactual_free(c);
    return (void)user, status;
}
CALL(cbx_dataset_means_new)
{
    cbx_dataset_means *y = NULL;
    cbx_status         status = cbx_dataset_means_new(the.model, the.graph, 1, &y, NULL);
    CHECK(!status == (y != NULL));
    cbx_dataset_means_free(y);
    return (void)user, status;
}
CALL(cbx_measure)
{
    cbx_measures out;
    return (void)user, cbx_measure(the.means, the.answer, &out, NULL);
}
static cbx_bench_options small_bench(void)
{
    cbx_bench_options options;
    cbx_fields_default(cbx_bench_table(), &options);
    options.models = "gcn";
    options.explainers = "ego";
    options.folds = 2;
    options.samples = 1;
    options.train_epochs = 1;
    options.epochs = 2;
    options.jobs = 1;
    return options;
}
/* Work that fails while the rest goes on is a failure in the result. */
CALL(cbx_bench_run)
{
    cbx_bench_options options = small_bench();
    cbx_bench_data    data = {"karate", the.graph};
    cbx_bench_result  result = {0};
    const char       *folder = user;
    cbx_status        status =
        cbx_bench_run_with(&options, &data, 1, folder, true, NULL, NULL, &result, NULL);
    return !status && result.failures ? CBX_NO_MEMORY : status;
}
static int hear_estimate(void *user, const cbx_bench_estimate *cell)
{
    (void)user, (void)cell;
    return 0;
}
CALL(cbx_bench_dry_run)
{
    cbx_bench_options options = small_bench();
    cbx_bench_data    data = {"karate", the.graph};
    return (void)user, cbx_bench_dry_run_with(&options, &data, 1, hear_estimate, NULL, NULL);
}

CALL(cbx_options_new)
{
    cbx_options *options = NULL;
    cbx_status   status = cbx_options_new(cbx_explain_table(), &options, NULL);
    if (!status)
        status = cbx_options_set(options, "target", "any", NULL);
    cbx_options_free(options);
    return (void)user, status;
}
CALL(cbx_options_over)
{
    cbx_options        *options = NULL;
    cbx_explain_options fields;
    cbx_status          status = cbx_options_over(cbx_explain_table(), &fields, &options, NULL);
    cbx_options_free(options);
    return (void)user, status;
}

CALL(cbx_model_open)
{
    cbx_model *model = NULL;
    cbx_status status = cbx_model_open(the.model_file, NULL, &model, NULL);
    cbx_model_free(model);
    return (void)user, status;
}

/* Each row's number. */
static int count_rows(void *user, const cbx_asked_graph *graph, float *scores)
{
    (void)user;
    for (int32_t i = 0; i < graph->num_rows; i++)
        scores[i] = (float)i;
    return 0;
}

CALL(numbers)
{
    cbx_options *reading = NULL;
    cbx_model   *model = NULL, *aimed = NULL;
    cbx_oracle   oracle = {.num_features = cbx_graph_arrays(the.graph)->num_features,
                           .num_scores = 1,
                           .hops = -1,
                           .predict = count_rows};
    cbx_status   status = cbx_options_new(cbx_open_table(), &reading, NULL);
    if (!status)
        status = cbx_options_set(reading, "scores", "number", NULL);
    oracle.reading = reading;
    if (!status)
        status = cbx_model_of_oracle(&oracle, &model, NULL);
    if (!status)
        status = cbx_model_aim(model, the.graph, ">=3", &aimed, NULL);
    if (!status)
        CHECK(cbx_model_class_name(aimed, 1) != NULL);
    cbx_model_free(aimed);
    cbx_model_free(model);
    cbx_options_free(reading);
    return (void)user, status;
}

/* A method from outside, which takes the first edge away. */
static cbx_status take_first(cbx_method_search *search, const cbx_method_task *task, cbx_error *err)
{
    float      logp[4];
    bool       flips = cbx_method_should_stop(search, 1);
    cbx_status status = cbx_method_try(search, task->removals, 1, logp, &flips, err);
    return status ? status : cbx_method_answer(search, task->removals, 1, 1, err);
}

/* Refusing takes no memory; accepting takes a slot. */
CALL(own_layer)
{
    const cbx_layer_kind none = {.size = sizeof none};
    return (void)user, cbx_layer_register(&none, NULL) == CBX_INVALID ? CBX_OK : CBX_INVALID;
}
CALL(own_method)
{
    static const cbx_method method = {
        .size = sizeof method, .name = "first-edge", .search = take_first};
    static bool         there;
    cbx_options        *options = NULL;
    cbx_counterfactual *answer = NULL;
    if (!there)
        CHECK_INT(cbx_method_register(&method, NULL), CBX_OK);
    there = true;
    cbx_status status = cbx_options_new(cbx_explain_table(), &options, NULL);
    if (!status)
        status = cbx_options_set(options, "explainer", "first-edge", NULL);
    if (!status)
        status = cbx_explain(the.model, the.graph, 0, options, NULL, NULL, &answer, NULL);
    cbx_counterfactual_free(answer);
    cbx_options_free(options);
    return (void)user, status;
}

/* ------------------------------------------------- what does not allocate */

CALL(cbx_version)
{
    return (void)user, cbx_version() ? CBX_OK : CBX_INVALID;
}
CALL(cbx_options_get)
{
    char text[32];
    return (void)user, cbx_options_get(the.options, "epochs", text, sizeof text) &&
                               cbx_options_is_default(the.options, "seed") &&
                               cbx_option_at(cbx_explain_table(), 0) &&
                               cbx_option_table_title(cbx_explain_table())
                           ? CBX_OK
                           : CBX_INVALID;
}
CALL(cbx_explain_preset)
{
    return (void)user, cbx_explain_preset(the.options, "paper", NULL);
}
CALL(cbx_graph_arrays)
{
    return (void)user,
           cbx_graph_arrays(the.graph) && !cbx_graph_origin(the.graph, 0) ? CBX_OK : CBX_INVALID;
}
CALL(cbx_text_next)
{
    char        shown[CBX_SHOWN_SIZE];
    const char *text = "\x1b\u00e9\xff";
    while (cbx_text_next(&text, shown)) {
    }
    return (void)user, CBX_OK;
}
CALL(cbx_model_fits)
{
    return (void)user, cbx_model_fits(the.model, the.graph, NULL);
}
CALL(cbx_model_set)
{
    const char *name;
    int32_t     rows, cols;
    CHECK(cbx_model_parameter(the.model, 0, &name, &rows, &cols));
    int64_t     count = (int64_t)rows * cols, shape[3];
    const void *values;
    const char *key;
    CHECK_INT(cbx_model_parameter_shape(the.model, 0, shape), 2);
    CHECK(cbx_model_takes("cheb", "order") && !cbx_model_takes("gcn", "order"));
    (void)cbx_model_setting(the.model, 0, &values, &key);
    CHECK((size_t)count <= sizeof the.values / sizeof *the.values);
    cbx_status status = cbx_model_get(the.model, 0, the.values, count, NULL);
    return (void)user, status ? status : cbx_model_set(the.model, 0, the.values, count, NULL);
}
/* A function of nothing, or of a number or a name. */
CALL(tables_and_names)
{
    const void *all[] = {cbx_read_table(),
                         cbx_fetch_table(),
                         cbx_generate_table(),
                         cbx_model_table(),
                         cbx_train_table(),
                         cbx_explain_table(),
                         cbx_bench_table(),
                         cbx_format_name(0),
                         cbx_format_about(0),
                         cbx_remote_name(0),
                         cbx_remote_about(cbx_remote_name(0)),
                         cbx_builtin_name(0),
                         cbx_builtin_about("karate"),
                         cbx_export_name(0),
                         cbx_export_about(0),
                         cbx_export_of("x.graphml"),
                         cbx_explain_preset_name(0),
                         cbx_bench_paper_data(0),
                         cbx_outcome_name(CBX_FOUND),
                         cbx_certificate_name(CBX_OPTIMAL)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK(all[i] != NULL);
    return (void)user, CBX_OK;
}
CALL(model_parts)
{
    char hash[65];
    CHECK_INT(cbx_model_describe(the.model).num_classes, 4);
    cbx_model_set_reproducible(the.model, false);
    CHECK(!cbx_model_note(the.model, "none"));
    cbx_model_hash(the.model, hash);
    cbx_graph_hash(the.graph, hash);
    (void)cbx_is_flip(the.answer->before, the.answer->num_classes, 0, -1, 0);
    return (void)user, CBX_OK;
}
CALL(frees)
{
    cbx_graph_free(NULL);
    cbx_model_free(NULL);
    cbx_counterfactual_free(NULL);
    cbx_dataset_means_free(NULL);
    return (void)user, CBX_OK;
}

CALL(cbx_report_write)
{
    (void)user;
    const cbx_report_source source = {.model = the.model, .graph = the.graph};
    return cbx_report_write(the.json, &source, the.out_file, NULL);
}

CALL(cbx_picture_write)
{
    (void)user;
    const cbx_report_source source = {.model = the.model, .graph = the.graph};
    return cbx_picture_write(the.json, &source, "svg", the.out_file, NULL);
}

/* Adding fails in silence; finding tells of it. */
static cbx_status call_common_edits(void *user)
{
    (void)user;
    cbx_common_edits *common_edits = NULL;
    const cbx_common *common;
    cbx_status        status = cbx_common_edits_new(&common_edits, NULL);
    if (!status) {
        cbx_common_edits_add(common_edits, the.answer);
        status = cbx_common_edits_find(common_edits, &common, NULL);
    }
    cbx_common_edits_free(common_edits);
    return status;
}

static cbx_status call_atoms(void *user)
{
    static const char *const names[] = {"C", "N"}, *const groups[] = {"element"};
    static const float   x[] = {1, 0, 0, 1}, lo[] = {0, 0}, hi[] = {1, 1};
    static const int32_t group[] = {0, 0};
    cbx_graph_data       d = {.num_nodes = 2,
                              .num_features = 2,
                              .x = x,
                              .feat_min = lo,
                              .feat_max = hi,
                              .feature_names = names,
                              .feature_group = group,
                              .num_groups = 1,
                              .group_names = groups};
    cbx_graph           *g = NULL;
    cbx_atoms           *atoms = NULL;
    cbx_status           status = cbx_graph_new(&d, &g, NULL);
    if (!status)
        status = cbx_atoms_new(g, NULL, &atoms, NULL);
    CHECK(!status == (atoms != NULL));
    if (atoms) {
        CHECK(!strcmp(cbx_atoms_node(atoms, 1), "N"));
        CHECK(!strcmp(cbx_atoms_feature(atoms, 0), "C"));
    }
    cbx_atoms_free(atoms);
    cbx_graph_free(g);
    return (void)user, status;
}

/* ------------------------------------------------------------- the list */

typedef struct entry {
    const char *names; /* separated by blanks */
    cbx_status (*call)(void *user);
    bool allocates;
} entry;

#define ALLOCATES(function)              \
    {                                    \
#function, call_##function, true \
    }
#define ALLOCATES_NOT(function)           \
    {                                     \
#function, call_##function, false \
    }

static const entry entries[] = {
    ALLOCATES(cbx_graph_new),
    ALLOCATES(cbx_graph_load),
    ALLOCATES(cbx_graph_read),
    ALLOCATES(cbx_file_target),
    ALLOCATES(cbx_graph_builtin),
    ALLOCATES(cbx_graph_apply),
    ALLOCATES(cbx_graph_save),
    ALLOCATES(cbx_graph_export),
    ALLOCATES(cbx_graph_measure),
    ALLOCATES(cbx_graph_one_hot),
    ALLOCATES(cbx_format_detect),
    ALLOCATES(cbx_graph_check),
    ALLOCATES(cbx_dataset_fetch),
    ALLOCATES(cbx_model_new),
    ALLOCATES(cbx_model_load),
    ALLOCATES(cbx_model_save),
    ALLOCATES(cbx_model_set_note),
    ALLOCATES(cbx_train),
    ALLOCATES(cbx_split),
    ALLOCATES(cbx_predict),
    {"cbx_robust cbx_robust_table", call_cbx_robust, true},
    ALLOCATES(cbx_explain),
    ALLOCATES(cbx_explain_many),
    {"cbx_explain_kept cbx_explain_forget", call_cbx_explain_kept, true},
    {"cbx_graph_find cbx_nearest_begin cbx_nearest_try", call_cbx_graph_find, false},
    ALLOCATES(cbx_check_edits),
    ALLOCATES(cbx_counterfactual_json),
    ALLOCATES(cbx_counterfactual_parse),
    ALLOCATES(cbx_counterfactual_check_rules),
    ALLOCATES(cbx_edits_check_rules),
    ALLOCATES(cbx_model_rescale),
    ALLOCATES(cbx_dataset_means_new),
    ALLOCATES(cbx_measure),
    ALLOCATES(cbx_bench_run),
    ALLOCATES(cbx_bench_dry_run),
    ALLOCATES(cbx_report_write),
    ALLOCATES(cbx_picture_write),
    {"cbx_options_new cbx_options_set cbx_options_free", call_cbx_options_new, true},
    ALLOCATES(cbx_options_over),
    ALLOCATES(cbx_model_open),
    {"cbx_model_of_oracle cbx_model_aim cbx_model_class_name cbx_open_table", call_numbers, true},
    {"cbx_layer_register", call_own_layer, false},
    {"cbx_method_register cbx_method_should_stop cbx_method_try cbx_method_answer", call_own_method,
     true},
    {"cbx_common_edits_new cbx_common_edits_add cbx_common_edits_find cbx_common_edits_free",
     call_common_edits, true},
    {"cbx_atoms_new cbx_atoms_free cbx_atoms_node cbx_atoms_feature", call_atoms, true},
    ALLOCATES_NOT(cbx_version),
    {"cbx_options_get cbx_options_is_default cbx_option_at cbx_option_table_title",
     call_cbx_options_get, false},
    ALLOCATES_NOT(cbx_explain_preset),
    {"cbx_graph_arrays cbx_graph_origin", call_cbx_graph_arrays, false},
    ALLOCATES_NOT(cbx_text_next),
    ALLOCATES(cbx_model_fits),
    {"cbx_model_parameter cbx_model_parameter_shape cbx_model_takes cbx_model_setting "
     "cbx_model_get cbx_model_set",
     call_cbx_model_set, false},
    {"cbx_read_table cbx_fetch_table cbx_generate_table cbx_model_table cbx_train_table "
     "cbx_explain_table cbx_bench_table cbx_format_name cbx_format_about cbx_remote_name "
     "cbx_remote_about cbx_builtin_name cbx_builtin_about cbx_export_name cbx_export_about "
     "cbx_export_of cbx_explain_preset_name cbx_bench_paper_data cbx_outcome_name "
     "cbx_certificate_name",
     call_tables_and_names, false},
    {"cbx_model_describe cbx_model_set_reproducible cbx_model_note cbx_model_hash cbx_graph_hash "
     "cbx_is_flip",
     call_model_parts, false},
    {"cbx_graph_free cbx_model_free cbx_counterfactual_free cbx_dataset_means_free", call_frees,
     false},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static bool listed(const char *name, size_t length)
{
    for (size_t i = 0; i < ENTRIES; i++)
        for (const char *at = entries[i].names; *at; at += strspn(at, " ")) {
            size_t size = strcspn(at, " ");
            if (size == length && !strncmp(at, name, length))
                return true;
            at += size;
        }
    return false;
}

/* How many functions the header declares; those that are not in the list are told. */
static int check_header(const char *header)
{
    const char *path = test_source(header);
    size_t      size = 0;
    int         count = 0;
    if (!path) {
        test_skip("the source tree is not there");
        return 0;
    }
    unsigned char *bytes = test_read_file(path, &size);
    if (!CHECK(bytes != NULL))
        return 0;
    char *text = (char *)bytes;
    text[size] = '\0';
    for (char *at = strstr(text, "\nCBX_API "); at; at = strstr(at + 1, "\nCBX_API ")) {
        char *end = strchr(at, '('), *name = end;
        while (name > at && strchr("abcdefghijklmnopqrstuvwxyz0123456789_", name[-1]))
            name--;
        count++;
        if (!CHECK(listed(name, (size_t)(end - name))))
            printf("  (%.*s has no failing allocations here)\n", (int)(end - name), name);
    }
    free(bytes);
    return count;
}

TEST(every_public_function_is_in_the_list)
{
    CHECK(check_header("include/combinex.h") > 30);
    CHECK(check_header("include/combinex/kit.h") > 30);
    CHECK(check_header("include/combinex/extend.h") > 0);
}

TEST(every_failing_allocation_is_survived_and_told)
{
    make();
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s", test_path("bench"));
    for (size_t i = 0; i < ENTRIES; i++) {
        int before = test_failures();
        if (entries[i].allocates)
            test_each_allocation(entries[i].call, folder);
        if (test_failures() > before)
            printf("  (%s)\n", entries[i].names);
    }
    unmake();
}

TEST(what_does_not_allocate_cannot_run_out_of_memory)
{
    make();
    for (size_t i = 0; i < ENTRIES; i++) {
        if (entries[i].allocates)
            continue;
        long before = test_allocations();
        CHECK_INT(entries[i].call(NULL), CBX_OK);
        if (!CHECK_INT(test_allocations(), before))
            printf("  (%s)\n", entries[i].names);
    }
    unmake();
}
