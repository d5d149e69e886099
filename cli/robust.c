/* SPDX-License-Identifier: Apache-2.0 */
/* robust.c: combinex robust. */
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

typedef struct robust_args {
    general_options general;
    const char     *data, *model, *output;
    cbx_options    *robust, *read, *open;
    const char     *node, *graph; /* the last one given; all of them: */
    text_list       nodes, graphs;
} robust_args;

/* Rows whose answers are written together. */
enum { BATCH = 64 };

typedef struct asked_rows {
    const robust_args *args;
    source             source;
    asked_model        asked;
    int32_t           *rows;
    int64_t            count;
    int64_t            robust, not_robust;
} asked_rows;

static const cbx_option_table *own_table(void)
{
    static const cbx_option options[] = {
        {"node", CBX_OPTION_TEXT, offsetof(robust_args, node), NULL, 0, 0, NULL,
         "only this node, by name or number"},
        {"graph", CBX_OPTION_TEXT, offsetof(robust_args, graph), NULL, 0, 0, NULL,
         "only this graph, by number"},
        {"output", CBX_OPTION_TEXT, offsetof(robust_args, output), NULL, 0, 0, NULL,
         "write to this file instead of standard output"},
    };
    static const cbx_option_table table = {"Rows", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

static int choose_rows(asked_rows *a)
{
    size_t count = 0;
    int    status = source_asked(&a->source, &a->args->nodes, &a->args->graphs, &a->rows, &count);
    if (status || count) {
        a->count = (int64_t)count;
        return status;
    }
    free(a->rows);
    a->count = source_rows(&a->source);
    a->rows = calloc((size_t)a->count + 1, sizeof *a->rows);
    if (!a->rows)
        return fail("out of memory for %lld rows", (long long)a->count);
    for (int32_t i = 0; i < a->count; i++)
        a->rows[i] = i;
    return EXIT_DONE;
}

/* The largest number of edits that changes nothing, where it is known; else -1. */
static int64_t radius_of(const cbx_radius *r)
{
    if (r->robust == 1)
        return r->budget;
    return r->flips_with > 0 && r->flips_with == r->lower_bound ? r->flips_with - 1 : -1;
}

static void write_json(const asked_rows *a, FILE *out, const cbx_radius *r)
{
    json    j = {.out = out};
    int64_t radius = radius_of(r);
    json_open(&j, NULL, '{');
    json_int(&j, source_row(&a->source), r->row);
    json_int(&j, "class", r->prediction);
    if (r->target >= 0)
        json_int(&j, "target", r->target);
    json_int(&j, "budget", r->budget);
    if (radius >= 0)
        json_int(&j, "radius", radius);
    else
        json_text(&j, "radius", NULL);
    if (r->robust >= 0)
        json_bool(&j, "robust", r->robust == 1);
    else
        json_text(&j, "robust", NULL);
    json_int(&j, "lower_bound", r->lower_bound);
    if (r->flips_with > 0)
        json_int(&j, "flips_with", r->flips_with);
    else
        json_text(&j, "flips_with", NULL);
    json_double(&j, "seconds", r->seconds);
    json_close(&j, '}');
    json_line(&j);
}

/* "C-8: ", or "node 8: " where it has no name. */
static void put_row(FILE *out, const source *s, const cbx_radius *r)
{
    const char *const *names = s->view->task == CBX_NODE ? s->view->node_names : NULL;
    if (names)
        text_put(out, names[r->row], 0);
    else
        (void)fprintf(out, "%s %d", source_row(s), (int)r->row);
    (void)fputs(": ", out);
}

static void write_text(const asked_rows *a, FILE *out, const cbx_radius *r)
{
    class_text buffer;
    count_text least, most;
    put_row(out, &a->source, r);
    text_put(out, source_class(&a->source, buffer, r->prediction), 0);
    (void)text_counted(least, r->lower_bound, "edit");
    (void)text_counted(most, r->flips_with, "edit");
    if (r->robust == 1)
        (void)fprintf(out, ", robust: up to %s cannot change it",
                      text_counted(most, r->budget, "edit"));
    else if (r->flips_with > 0 && r->flips_with == r->lower_bound)
        (void)fprintf(out, ", not robust: %s can change it, and no fewer", most);
    else if (r->flips_with > 0)
        (void)fprintf(out, ", %s: %s can change it, and no fewer than %lld",
                      r->robust == 0 ? "not robust" : "not known", most, (long long)r->lower_bound);
    else if (r->lower_bound > 1)
        (void)fprintf(out, ", not known: it takes at least %s to change it", least);
    else
        (void)fputs(", not known: nothing was found or proved in time", out);
    (void)fprintf(out, " (%.2f s)\n", r->seconds);
}

static int answer(asked_rows *a, FILE *out)
{
    cbx_radius radii[BATCH];
    cbx_error  err;
    for (int64_t at = 0; at < a->count; at += BATCH) {
        int64_t some = a->count - at < BATCH ? a->count - at : BATCH;
        if (cbx_robust(a->asked.model, a->source.graph, a->rows + at, some, a->args->robust, NULL,
                       NULL, radii, &err))
            return fail_with(&err);
        for (int64_t i = 0; i < some; i++) {
            a->robust += radii[i].robust == 1;
            a->not_robust += radii[i].robust == 0;
            if (a->args->general.json)
                write_json(a, out, &radii[i]);
            else
                write_text(a, out, &radii[i]);
        }
        (void)fflush(out);
    }
    return EXIT_DONE;
}

static int answer_all(asked_rows *a)
{
    output out;
    int    status = output_open(&out, a->args->output);
    if (status)
        return status;
    status = answer(a, out.file);
    if (status) {
        output_abandon(&out);
        return status;
    }
    status = output_commit(&out);
    if (status == EXIT_DONE && !a->args->general.json && !a->args->general.quiet)
        (void)printf("%lld robust, %lld not, %lld not known\n", (long long)a->robust,
                     (long long)a->not_robust, (long long)(a->count - a->robust - a->not_robust));
    return status;
}

static int run(void *args)
{
    robust_args *r = args;
    asked_rows   a = {.args = r};
    if (r->output && !strcmp(r->output, "-"))
        r->output = NULL;
    int status = output_check_open(r->output);
    if (status == EXIT_DONE)
        status = source_open(&a.source, r->data, r->read);
    if (status)
        return status;
    status = apart_check(&(named_file){"--output", r->output}, 1,
                         &(named_file){"the model", r->model}, 1, &a.source, 1);
    if (status == EXIT_DONE)
        status = choose_rows(&a);
    if (status == EXIT_DONE)
        status = model_open(&a.asked, r->model, r->open, &a.source, NULL);
    if (status == EXIT_DONE)
        status = source_unchanged(&a.source);
    if (status == EXIT_DONE)
        status = answer_all(&a);
    free(a.rows);
    model_close(&a.asked);
    source_close(&a.source);
    return status;
}

const command command_robust = {
    .name = "robust",
    .summary = "prove how many edits of edges it takes to change a class",
    .about =
        "For each node or graph: the largest number of edits of edges, of the allowed kinds and "
        "within the budgets, that never changes the class, by branch and bound with proofs. "
        "With --json, one object per line: node or graph, class, budget, radius (null: not "
        "known), robust within the budgets (null: not known), lower_bound, flips_with, "
        "seconds.",
    .args_size = sizeof(robust_args),
    .operands =
        (const operand[]){
            {"DATA", OPERAND_DATA, offsetof(robust_args, data), false, HELP_DATA},
            {"MODEL", OPERAND_MODEL, offsetof(robust_args, model), false, "a model file"},
            {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = own_table},
            {.table = cbx_robust_table, .by_name = true, .offset = offsetof(robust_args, robust)},
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(robust_args, read)},
            {.table = cbx_open_table, .by_name = true, .offset = offsetof(robust_args, open)},
            {.table = NULL}},
    .extras =
        (const option_extra[]){
            {.name = "node",
             .value = "NODE",
             .repeats = true,
             .list = offsetof(robust_args, nodes)},
            {.name = "graph", .value = "N", .repeats = true, .list = offsetof(robust_args, graphs)},
            {.name = NULL}},
    .examples = (const example[]){{"how many edges the class of a node stands without",
                                   "combinex robust karate karate.model.safetensors --node 0"},
                                  {.why = NULL}},
    .run = run,
};
