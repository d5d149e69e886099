/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c: combinex predict. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "cli.h"
#include "help.h"
#include "json.h"
#include "model.h"
#include "output.h"
#include "source.h"
#include "text.h"

enum { ROWS_SHOWN = 20 };

typedef struct predict_args {
    general_options general;
    const char     *data, *model;
    const char     *output;
    bool            all, reproducible;
    int64_t         threads;
    cbx_options    *read;
    cbx_options    *open;
    const char     *node, *graph; /* the last one given; all of them: */
    text_list       nodes, graphs;
} predict_args;

/* The answer: log-probabilities of all rows, and the rows to show. */
typedef struct prediction {
    const predict_args *args;
    source              source;
    asked_model         asked;
    cbx_model          *model;       /* of `asked` */
    int32_t             num_classes; /* 1: it gives numbers */
    float              *log_probs;
    int32_t            *rows;     /* NULL: the first num_rows */
    int64_t             num_rows; /* to be written */
} prediction;

static const cbx_option_table *rows_table(void)
{
    static const cbx_option options[] = {
        {"node", CBX_OPTION_TEXT, offsetof(predict_args, node), NULL, 0, 0, NULL,
         "only this node, by name or number"},
        {"graph", CBX_OPTION_TEXT, offsetof(predict_args, graph), NULL, 0, 0, NULL,
         "only this graph, by number"},
        {"all", CBX_OPTION_BOOL, offsetof(predict_args, all), "false", 0, 0, NULL,
         "show every row, not the first 20 (files and JSON always have every row)"},
    };
    static const cbx_option_table table = {"Rows", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

static const cbx_option_table *run_table(void)
{
    static const cbx_option options[] = {
        {"threads", CBX_OPTION_INT, offsetof(predict_args, threads), "0", 0, 1024, NULL,
         "threads to use; 0: all cores"},
        {"output", CBX_OPTION_TEXT, offsetof(predict_args, output), NULL, 0, 0, NULL,
         "write to this file instead of standard output"},
        {"reproducible", CBX_OPTION_BOOL, offsetof(predict_args, reproducible), "false", 0, 0, NULL,
         HELP_REPRODUCIBLE},
    };
    static const cbx_option_table table = {"Run", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

static int64_t row_at(const prediction *p, int64_t i)
{
    return p->rows ? p->rows[i] : i;
}

static const float *log_probs_of(const prediction *p, int64_t row)
{
    return p->log_probs + (size_t)row * (size_t)p->num_classes;
}

static int32_t best_class(const prediction *p, int64_t row)
{
    const float *l = log_probs_of(p, row);
    int32_t      best = 0;
    for (int32_t c = 1; c < p->num_classes; c++) {
        if (l[c] > l[best])
            best = c;
    }
    return best;
}

static int64_t label_of(const prediction *p, int64_t row)
{
    return p->source.view->y && p->num_classes > 1 ? p->source.view->y[row] : -1;
}

/* Which rows to write: those asked for, after checking that they are there. */
static int choose_rows(prediction *p)
{
    size_t asked = 0;
    int    status = source_asked(&p->source, &p->args->nodes, &p->args->graphs, &p->rows, &asked);
    if (status)
        return status;
    if (!asked) {
        free(p->rows);
        p->rows = NULL;
    }
    p->num_rows = asked ? (int64_t)asked : source_rows(&p->source);
    return EXIT_DONE;
}

static int compute(prediction *p)
{
    cbx_error err;
    int       opened = model_open(&p->asked, p->args->model, p->args->open, &p->source, NULL);
    p->model = p->asked.model;
    if (opened)
        return opened;
    cbx_model_set_reproducible(p->model, p->args->reproducible);
    p->num_classes = cbx_model_describe(p->model).num_classes;
    size_t rows = (size_t)source_rows(&p->source), classes = (size_t)p->num_classes;
    p->log_probs = calloc(rows * classes + 1, sizeof *p->log_probs);
    if (!p->log_probs)
        return fail("out of memory for %zu x %zu predictions", rows, classes);
    if (cbx_predict(p->model, p->source.graph, p->args->threads, p->log_probs, &err))
        return fail_with(&err);
    return EXIT_DONE;
}

static void write_json(const prediction *p, FILE *out)
{
    for (int64_t i = 0; i < p->num_rows; i++) {
        int64_t      row = row_at(p, i);
        const float *l = log_probs_of(p, row);
        json         j = {.out = out};
        json_open(&j, NULL, '{');
        json_int(&j, source_row(&p->source), row);
        if (p->num_classes == 1) {
            json_float(&j, "number", l[0]);
        } else {
            json_int(&j, "class", best_class(p, row));
            json_open(&j, "log_probs", '[');
            for (int32_t c = 0; c < p->num_classes; c++)
                json_float(&j, NULL, l[c]);
            json_close(&j, ']');
        }
        if (label_of(p, row) >= 0)
            json_int(&j, "label", label_of(p, row));
        json_close(&j, '}');
        json_line(&j);
    }
}

/* Width of the class column: every class may turn up in it. */
static size_t class_width(const prediction *p)
{
    size_t     width = text_columns("class");
    class_text buffer;
    for (int32_t c = 0; c < p->num_classes; c++) {
        size_t columns = text_columns(source_class(&p->source, buffer, c));
        width = columns > width ? columns : width;
    }
    return width;
}

static void write_row(const prediction *p, FILE *out, int64_t row, size_t width, size_t named)
{
    int32_t    best = best_class(p, row);
    int64_t    label = label_of(p, row);
    class_text buffer;
    (void)fprintf(out, "%9lld  ", (long long)row);
    if (named) {
        text_put(out, p->source.view->node_names[row], named);
        (void)fputs("  ", out);
    }
    if (p->num_classes == 1) {
        (void)fprintf(out, "%g\n", (double)log_probs_of(p, row)[0]);
        return;
    }
    text_put(out, source_class(&p->source, buffer, best), width);
    (void)fprintf(out, "  %11.4f", exp((double)log_probs_of(p, row)[best]));
    if (label >= 0) {
        (void)fputs("  ", out);
        text_put(out, source_class(&p->source, buffer, label), width);
        (void)fputs(label == best ? "  right" : "  wrong", out);
    }
    (void)fputc('\n', out);
}

static void write_table(const prediction *p, FILE *out, int64_t shown)
{
    const cbx_graph_data *v = p->source.view;
    size_t                width = class_width(p), named = 0;
    for (int64_t i = 0; v->task == CBX_NODE && v->node_names && i < shown; i++) {
        size_t columns = text_columns(v->node_names[row_at(p, i)]);
        named = columns > named ? columns : named;
    }
    named = named && named < 4 ? 4 : named;
    bool numbers = p->num_classes == 1;
    (void)fprintf(out, "%9s  %s%*s%-*s%s%s\n", source_row(&p->source), named ? "name" : "",
                  named ? (int)named - 2 : 0, "", (int)width, numbers ? "number" : "class",
                  numbers ? "" : "  probability", v->y && !numbers ? "  label" : "");
    for (int64_t i = 0; i < shown; i++)
        write_row(p, out, row_at(p, i), width, named);
}

static void print_summary(const prediction *p, int64_t shown)
{
    int64_t     labelled = 0, right = 0;
    count_text  rows;
    number_text n;
    for (int64_t i = 0; i < p->num_rows; i++) {
        int64_t label = label_of(p, row_at(p, i));
        labelled += label >= 0;
        right += label >= 0 && label == best_class(p, row_at(p, i));
    }
    text_counted(rows, p->num_rows, source_row(&p->source));
    if (p->args->output) {
        (void)printf("%s written to ", rows);
        text_put(stdout, p->args->output, 0);
        (void)printf("\n");
    } else if (shown < p->num_rows) {
        (void)printf("the first %s of %s; --all shows the rest\n", text_count(n, shown), rows);
    }
    if (labelled) {
        (void)printf("accuracy %.4f on %s", (double)right / (double)labelled,
                     text_counted(rows, labelled, source_row(&p->source)));
        if (!p->rows) /* people compare this number with the test accuracy */
            (void)printf(", training %ss included", source_row(&p->source));
        (void)printf("\n");
    }
}

static int write_all(const prediction *p)
{
    const predict_args *a = p->args;
    output              out;
    int64_t             shown = p->num_rows;
    int                 status = output_open(&out, a->output);
    if (status)
        return status;
    if (a->general.json) {
        write_json(p, out.file);
    } else {
        if (!a->all && !a->output && !p->rows && shown > ROWS_SHOWN)
            shown = ROWS_SHOWN;
        write_table(p, out.file, shown);
    }
    status = output_commit(&out);
    if (status == EXIT_DONE && !a->general.json && !a->general.quiet)
        print_summary(p, shown);
    return status;
}

static int run(void *args)
{
    predict_args *a = args;
    prediction    p = {.args = a};
    if (a->output && !strcmp(a->output, "-"))
        a->output = NULL;
    int status = output_check_open(a->output);
    if (status == EXIT_DONE)
        status = source_open(&p.source, a->data, a->read);
    if (status)
        return status;
    status = apart_check(&(named_file){"--output", a->output}, 1,
                         &(named_file){"the model", a->model}, 1, &p.source, 1);
    if (status == EXIT_DONE)
        status = choose_rows(&p);
    if (status == EXIT_DONE)
        status = compute(&p);
    if (status == EXIT_DONE)
        status = source_unchanged(&p.source);
    if (status == EXIT_DONE)
        status = write_all(&p);
    free(p.log_probs);
    free(p.rows);
    model_close(&p.asked);
    source_close(&p.source);
    return status;
}

const command command_predict = {
    .name = "predict",
    .summary = "predict the classes of a data set with a model",
    .about = "Predicts the class of every node, or of every graph, with a trained model. With "
             "--json, one object per line: node or graph, class, log_probs, and label where it is "
             "known.",
    .args_size = sizeof(predict_args),
    .operands =
        (const operand[]){
            {"DATA", OPERAND_DATA, offsetof(predict_args, data), false, HELP_DATA},
            {"MODEL", OPERAND_MODEL, offsetof(predict_args, model), false, "a model file"},
            {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = rows_table},
            {.table = run_table},
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(predict_args, read)},
            {.table = cbx_open_table, .by_name = true, .offset = offsetof(predict_args, open)},
            {.table = NULL}},
    .extras = (const option_extra[]){{.name = "node",
                                      .value = "NODE",
                                      .repeats = true,
                                      .list = offsetof(predict_args, nodes)},
                                     {.name = "graph",
                                      .value = "N",
                                      .repeats = true,
                                      .list = offsetof(predict_args, graphs)},
                                     {.name = NULL}},
    .examples =
        (const example[]){
            {"the first rows, and how many are right",
             "combinex predict karate karate.model.safetensors"},
            {"two nodes, for a program",
             "combinex predict karate karate.model.safetensors --node 0 --node 33 --json"},
            {.why = NULL}},
    .run = run,
};
