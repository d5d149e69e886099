/* SPDX-License-Identifier: Apache-2.0 */
/* train.c: combinex train. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "cli.h"
#include "help.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "source.h"
#include "text.h"

typedef struct train_args {
    general_options general;
    const char     *data;
    const char     *output;
    bool            reproducible;
    cbx_options    *spec;
    cbx_options    *train;
    cbx_options    *read;
} train_args;

static const cbx_option_table *output_table(void)
{
    static const cbx_option options[] = {
        {"output", CBX_OPTION_TEXT, offsetof(train_args, output), NULL, 0, 0, NULL,
         "the model file to write"},
        {"reproducible", CBX_OPTION_BOOL, offsetof(train_args, reproducible), "false", 0, 0, NULL,
         HELP_REPRODUCIBLE},
    };
    static const cbx_option_table table = {"Output", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

/* What tells apart the rows that the model was trained on, as JSON: enough to
 * set the same train options again and ask cbx_split. */
static char *split_note(const cbx_options *options)
{
    static const char *const names[] = {"split", "fold",      "folds",
                                        "seed",  "val-share", "train-share"};
    const cbx_option_table  *table = cbx_train_table();
    char                    *text = NULL;
    size_t                   size;
    json                     j = {.out = open_memstream(&text, &size)};
    if (!j.out)
        return NULL;
    json_open(&j, NULL, '{');
    const cbx_option *option;
    for (size_t i = 0; (option = cbx_option_at(table, i)); i++) {
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            if (!strcmp(option->name, names[n]))
                json_option(&j, options, option);
        }
    }
    json_close(&j, '}');
    if (fclose(j.out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* Nothing here may differ from run to run: same seed, same file. */
static cbx_status write_notes(cbx_model *model, const source *s, const train_args *a,
                              const cbx_train_result *result, cbx_error *err)
{
    char       accuracy[32];
    char      *split = split_note(a->train);
    cbx_status status = CBX_OK;
    if (!split) {
        *err = (cbx_error){.status = CBX_NO_MEMORY, .message = "out of memory"};
        return CBX_NO_MEMORY;
    }
    (void)snprintf(accuracy, sizeof accuracy, "%.9g", result->test_accuracy);
    status = cbx_model_set_note(model, "data", s->name, err);
    if (!status)
        status = cbx_model_set_note(model, "split", split, err);
    if (!status)
        status = cbx_model_set_note(model, "version", cbx_version(), err);
    if (!status && a->reproducible)
        status = cbx_model_set_note(model, "reproducible", "true", err);
    if (!status && isfinite(result->test_accuracy))
        status = cbx_model_set_note(model, "test_accuracy", accuracy, err);
    free(split);
    return status;
}

/* What is said of this kind of model only, where it is not the default. */
static void print_settings(const cbx_model *model)
{
    const cbx_option *o;
    const void       *values;
    const char       *key;
    for (size_t i = 0; (o = cbx_model_setting(model, i, &values, &key)); i++) {
        const void *at = (const char *)values + o->offset;
        char        text[64];
        if (o->type == CBX_OPTION_INT)
            (void)snprintf(text, sizeof text, "%lld", (long long)*(const int64_t *)at);
        else if (o->type == CBX_OPTION_REAL)
            (void)snprintf(text, sizeof text, "%.9g", *(const double *)at);
        else if (o->type == CBX_OPTION_CHOICE)
            (void)snprintf(text, sizeof text, "%s", o->choices[*(const int *)at]);
        else
            (void)snprintf(text, sizeof text, "%s", *(const bool *)at ? "true" : "false");
        if (!strcmp(text, o->fallback))
            continue;
        (void)printf(", %s%s%s", o->name, o->type == CBX_OPTION_BOOL ? "" : " ",
                     o->type == CBX_OPTION_BOOL ? "" : text);
    }
}

static void print_text(const cbx_model *model, const train_args *a, const source *s,
                       const cbx_train_result *r)
{
    number_text          n, best;
    count_text           layers, rows;
    const cbx_model_info info = cbx_model_describe(model);
    text_put(stdout, s->name, 0);
    (void)printf(": %s", info.conv);
    print_settings(model);
    (void)printf(", %s of %s units, %s parameters\n",
                 text_counted(layers, info.num_layers, "layer"), text_count(n, info.hidden),
                 text_count(best, info.num_parameters));
    if (args_is(a->spec, "model", "auto"))
        (void)printf("  %-12s %s, because %s; --model takes another\n", "chosen", info.conv,
                     strcmp(info.conv, "gcn") != 0 ? "features have values other than 0 and 1"
                                                   : "all features are 0 or 1");
    (void)printf("  %-12s %s in %.2f s, loss %.4g", "epochs", text_count(n, r->epochs), r->seconds,
                 r->loss);
    if (r->num_val) /* without validation the last one is the best */
        (void)printf(", best %s", text_count(best, r->best_epoch));
    (void)printf("\n");
    if (r->num_standardised)
        (void)printf("  %-12s %s of %s, by the mean and deviation of training %s\n", "standardised",
                     text_count(n, r->num_standardised),
                     text_counted(rows, info.num_features, "feature"),
                     info.task == CBX_GRAPH ? "graphs' nodes" : "nodes");
    (void)printf("  %-12s train %.3f on %s", "accuracy", r->train_accuracy,
                 text_counted(rows, r->num_train, source_row(s)));
    if (r->num_val)
        (void)printf(", validation %.3f on %s", r->val_accuracy, text_count(n, r->num_val));
    if (r->num_test)
        (void)printf(", test %.3f on %s", r->test_accuracy, text_count(n, r->num_test));
    if (isfinite(r->test_auc))
        (void)printf("\n  %-12s test %.3f", "ROC AUC", r->test_auc);
    (void)printf("\n  %-12s ", "written to");
    text_put(stdout, a->output, 0);
    (void)printf("\n");
}

static void json_setting(json *j, const cbx_option *o, const void *values)
{
    const void *at = (const char *)values + o->offset;
    if (o->type == CBX_OPTION_INT)
        json_int(j, o->name, *(const int64_t *)at);
    else if (o->type == CBX_OPTION_REAL)
        json_double(j, o->name, *(const double *)at);
    else if (o->type == CBX_OPTION_CHOICE)
        json_text(j, o->name, o->choices[*(const int *)at]);
    else
        json_bool(j, o->name, *(const bool *)at);
}

static void print_json(const cbx_model *model, const train_args *a, const source *s,
                       const cbx_train_result *r)
{
    json              j = {.out = stdout};
    const cbx_option *o;
    const void       *values;
    const char       *key;
    json_open(&j, NULL, '{');
    json_text(&j, "model", cbx_model_describe(model).conv);
    json_open(&j, "settings", '{');
    for (size_t i = 0; (o = cbx_model_setting(model, i, &values, &key)); i++)
        json_setting(&j, o, values);
    json_close(&j, '}');
    json_text(&j, "data", s->name);
    json_int(&j, "epochs", r->epochs);
    json_int(&j, "best_epoch", r->best_epoch);
    json_double(&j, "loss", r->loss);
    json_double(&j, "train_accuracy", r->train_accuracy);
    json_double(&j, "val_accuracy", r->val_accuracy);
    json_double(&j, "test_accuracy", r->test_accuracy);
    json_double(&j, "test_auc", r->test_auc);
    json_int(&j, "num_train", r->num_train);
    json_int(&j, "num_val", r->num_val);
    json_int(&j, "num_test", r->num_test);
    json_int(&j, "standardised", r->num_standardised);
    json_double(&j, "seconds", r->seconds);
    json_int(&j, "parameters", cbx_model_describe(model).num_parameters);
    json_text(&j, "file", a->output);
    json_close(&j, '}');
    json_line(&j);
}

static int train_and_save(const train_args *a, const source *s, cbx_model *model)
{
    cbx_error        err;
    cbx_train_result result;
    progress         bar;

    progress_begin(&bar, "training", a->general.quiet);
    cbx_status status = cbx_train(model, s->graph, a->train, progress_update, &bar, &result, &err);
    progress_end(&bar);
    if (!status && source_unchanged(s))
        return EXIT_FAILED;
    if (!status)
        status = write_notes(model, s, a, &result, &err);
    if (!status)
        status = cbx_model_save(model, a->output, &err);
    if (status)
        return fail_with(&err);
    if (a->general.json)
        print_json(model, a, s, &result);
    else if (!a->general.quiet)
        print_text(model, a, s, &result);
    return EXIT_DONE;
}

/* An option about some kinds of models that was given for another. */
static int check_model_options(const cbx_options *spec)
{
    const cbx_option *o, *kind = cbx_option_at(cbx_model_table(), 0);
    char              model[64];
    (void)cbx_options_get(spec, kind->name, model, sizeof model);
    for (size_t i = 0; (o = cbx_option_at(cbx_model_table(), i)); i++) {
        if (cbx_model_takes(model, o->name) || !args_given(spec, o->name))
            continue;
        int takes = 0;
        while (!cbx_model_takes(kind->choices[takes], o->name))
            takes++;
        return usage_error("train", "--%s is for --model %s", o->name, kind->choices[takes]);
    }
    return EXIT_DONE;
}

/* What is said of one kind of task or split means nothing for another. */
static int check_options(const train_args *a, const source *s)
{
    const cbx_options *model = a->spec, *train = a->train;
    bool               graphs = s->view->task == CBX_GRAPH;
    const struct {
        const char        *option;
        const cbx_options *options;
        bool               applies;
        const char        *what;
    } checks[] = {
        {"pool", model, graphs, "data with a class for each graph"},
        {"batch", train, graphs, "data with a class for each graph"},
        {"train-share", train, args_is(train, "split", "random"), "--split random"},
        {"folds", train, args_is(train, "split", "kfold"), "--split kfold"},
        {"val-share", train, !args_is(train, "split", "public"), "splits that are drawn"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!checks[i].applies && args_given(checks[i].options, checks[i].option))
            return usage_error("train", "--%s is for %s", checks[i].option, checks[i].what);
    }
    return check_model_options(a->spec);
}

static int run(void *args)
{
    const train_args *a = args;
    source            s;
    cbx_model        *model = NULL;
    cbx_error         err;

    int status = output_check(a->output); /* now, not after an hour of training */
    if (status == EXIT_DONE)
        status = source_open(&s, a->data, a->read);
    if (status)
        return status;
    status = check_options(a, &s);
    if (status == EXIT_DONE)
        status = apart_check(&(named_file){"--output", a->output}, 1, NULL, 0, &s, 1);
    if (status == EXIT_DONE &&
        cbx_model_new(s.graph, a->spec, args_whole(a->train, "seed"), &model, &err))
        status = fail_with(&err);
    if (status == EXIT_DONE) {
        cbx_model_set_reproducible(model, a->reproducible);
        status = train_and_save(a, &s, model);
    }
    cbx_model_free(model);
    source_close(&s);
    return status;
}

const command command_train = {
    .name = "train",
    .summary = "train a model on a data set",
    .about = "Trains a graph neural network to tell the classes of a data set, and writes it to a "
             "file. The same seed gives the same file, whatever the number of threads, on the same "
             "kind of processor; with --reproducible, on all.",
    .args_size = sizeof(train_args),
    .operands =
        (const operand[]){{"DATA", OPERAND_DATA, offsetof(train_args, data), false, HELP_DATA},
                          {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = cbx_model_table, .by_name = true, .offset = offsetof(train_args, spec)},
            {.table = cbx_train_table, .by_name = true, .offset = offsetof(train_args, train)},
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(train_args, read)},
            {.table = output_table},
            {.table = NULL}},
    .extras = (const option_extra[]){{.name = "output", .required = true}, {.name = NULL}},
    .examples =
        (const example[]){
            {"the karate club, with the defaults",
             "combinex train karate -o karate.model.safetensors"},
            {"graph attention with eight heads",
             "combinex train karate --model gat --heads 8 -o gat.model.safetensors"},
            {"Chebyshev convolutions of order 3 on a file",
             "combinex train ./cora.safetensors --model cheb --order 3 -o cora.model.safetensors"},
            {.why = NULL}},
    .run = run,
};
