/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: combinex report: pages and pictures of results that are there already. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "cli.h"
#include "help.h"
#include "model.h"
#include "output.h"
#include "source.h"
#include "text.h"

typedef struct report_args {
    general_options general;
    const char     *results, *data, *model;
    const char     *output;
    int64_t         line; /* 0: all */
    cbx_options    *read;
    const char     *target;
    cbx_options    *open;
} report_args;

static const cbx_option_table *report_table(void)
{
    static const cbx_option options[] = {
        {"output", CBX_OPTION_TEXT, offsetof(report_args, output), NULL, 0, 0, NULL,
         "the file to write: a page, or a picture where it ends in .svg or .png"},
        {"line", CBX_OPTION_INT, offsetof(report_args, line), "0", 0, 1e15, NULL,
         "only this line of RESULTS; 0: all"},
        {"target", CBX_OPTION_TEXT, offsetof(report_args, target), NULL, 0, 0, NULL,
         "of a model that gives numbers: the range that RESULTS are about"},
    };
    static const cbx_option_table table = {"Run", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

static int grow(char **text, size_t *room)
{
    size_t more = *room ? 2 * *room : 1 << 16;
    char  *grown = realloc(*text, more + 1);
    if (!grown)
        return fail("out of memory");
    *text = grown;
    *room = more;
    return EXIT_DONE;
}

/* The whole file, to be freed. Returns an exit status. */
static int read_all(const char *path, char **text)
{
    FILE  *file = fopen(path, "r");
    size_t size = 0, room = 0;
    int    status = EXIT_DONE;
    *text = NULL;
    if (!file)
        return fail("%s: %s", path, strerror(errno));
    do {
        if (size == room)
            status = grow(text, &room);
        if (status == EXIT_DONE)
            size += fread(*text + size, 1, room - size, file);
    } while (status == EXIT_DONE && size == room);
    if (status == EXIT_DONE && ferror(file))
        status = fail("%s: %s", path, strerror(errno));
    if (status == EXIT_DONE) {
        (*text)[size] = '\0';
        if (strlen(*text) != size)
            status = fail("%s: not a text: it has a byte 0", path);
    }
    (void)fclose(file);
    return status;
}

/* The lines that are asked for; what they hold stays in `text`. */
static int choose(const report_args *a, char *text, char **lines)
{
    *lines = text;
    if (!text)
        return fail("out of memory");
    for (int64_t number = 1; a->line && number < a->line; number++) {
        char *end = strchr(*lines, '\n');
        if (!end || !end[1])
            return fail("%s: there is no line %lld: it has %lld", a->results, (long long)a->line,
                        (long long)number);
        *lines = end + 1;
    }
    if (a->line)
        (*lines)[strcspn(*lines, "\n")] = '\0';
    return EXIT_DONE;
}

/* "html", "svg" or "png", by the ending of the file's name; NULL: none of them. */
static const char *format_of(const char *path)
{
    static const char *const formats[] = {"html", "htm", "svg", "png"};
    const char              *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(ending + 1, formats[i]))
            return i == 1 ? "html" : formats[i];
    return NULL;
}

static int write_it(const report_args *a, const char *lines, const cbx_report_source *shown)
{
    const char *format = format_of(a->output);
    cbx_error   err;
    if (!format) /* was asked before anything was read */
        return fail("%s: ends in none of .html, .svg and .png", a->output);
    cbx_status status = strcmp(format, "html")
                            ? cbx_picture_write(lines, shown, format, a->output, &err)
                            : cbx_report_write(lines, shown, a->output, &err);
    if (status == CBX_INVALID)
        return fail("%s: %s", a->results, err.message);
    if (status)
        return fail_with(&err);
    if (!a->general.quiet) {
        (void)printf("written: ");
        text_put(stdout, a->output, 0);
        (void)printf("\n");
    }
    return EXIT_DONE;
}

static int with_data(const report_args *a, const char *lines)
{
    cbx_report_source shown = {.data = a->data, .model_file = a->model, .read = a->read};
    const named_file  page = {"--output", a->output};
    const named_file  inputs[] = {{"RESULTS", a->results}, {"the model", a->model}};
    source            s = {0};
    asked_model       asked = {0};
    const char       *target = a->target;
    int               status = a->data ? source_open(&s, a->data, a->read) : EXIT_DONE;
    if (status == EXIT_DONE)
        status = apart_check(&page, 1, inputs, 2, &s, a->data ? 1 : 0);
    if (status == EXIT_DONE && a->data)
        status = model_open(&asked, a->model, a->open, &s, &target);
    shown.graph = s.graph;
    shown.model = asked.model;
    if (status == EXIT_DONE)
        status = write_it(a, lines, &shown);
    model_close(&asked);
    source_close(&s);
    return status;
}

static int run(void *args)
{
    const report_args *a = args;
    char              *text = NULL, *lines;
    const char        *option = args_first_given(cbx_read_table(), a->read, NULL);
    if (a->data && !a->model)
        return usage_error("report", "report takes DATA and MODEL, or neither");
    if (option && !a->data)
        return usage_error("report", "--%s: is about DATA, and there is none", option);
    if (!format_of(a->output))
        return usage_error("report", "%s: the file's name must end in .html, .svg or .png",
                           a->output);
    int status = output_check(a->output);
    if (status == EXIT_DONE)
        status = read_all(a->results, &text);
    if (status == EXIT_DONE)
        status = choose(a, text, &lines);
    if (status == EXIT_DONE)
        status = with_data(a, lines);
    free(text);
    return status;
}

const command command_report = {
    .name = "report",
    .summary = "make a page or a picture of results",
    .about = "Makes one HTML file of RESULTS, which 'explain --json' wrote, to look at in any "
             "browser; or, where the file's name ends in .svg or .png, a picture. With DATA and "
             "MODEL it shows the graph around the target and what undoing each edit would do; "
             "without, what the results themselves say. Of more than one target it shows a table "
             "and what the answers have in common.",
    .args_size = sizeof(report_args),
    .operands =
        (const operand[]){
            {"RESULTS", OPERAND_FILE, offsetof(report_args, results), false,
             "a file that 'combinex explain --json -o' wrote"},
            {"DATA", OPERAND_DATA, offsetof(report_args, data), true, HELP_DATA},
            {"MODEL", OPERAND_MODEL, offsetof(report_args, model), true, "a model file"},
            {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = report_table},
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(report_args, read)},
            {.table = cbx_open_table, .by_name = true, .offset = offsetof(report_args, open)},
            {.table = NULL}},
    .extras = (const option_extra[]){{.name = "output", .required = true},
                                     {.name = "line", .value = "N"},
                                     {.name = NULL}},
    .examples =
        (const example[]){
            {"a page of the explanation on line 9",
             "combinex report all.jsonl karate karate.model.safetensors --line 9 -o node-8.html"},
            {"the same as a picture for a paper",
             "combinex report all.jsonl karate karate.model.safetensors --line 9 -o node-8.svg"},
            {.why = NULL}},
    .run = run,
};
