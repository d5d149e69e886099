/* SPDX-License-Identifier: Apache-2.0 */
/* data_convert.c: combinex data convert. */
#include <stdio.h>
#include <string.h>

#include "apart.h"
#include "cli.h"
#include "export.h"
#include "help.h"
#include "json.h"
#include "source.h"
#include "text.h"

typedef struct convert_args {
    general_options general;
    const char     *data, *output;
    int             to;
    cbx_options    *read;
} convert_args;

static const cbx_option_table *to_table(void)
{
    static const cbx_option options[] = {
        {"to", CBX_OPTION_CHOICE, offsetof(convert_args, to), "auto", 0, 0, export_choices,
         "format of OUT; auto: by its ending, else safetensors"},
    };
    static const cbx_option_table table = {"Output", options, 1, 0, NULL};
    return &table;
}

static void count_problem(void *user, cbx_problem_kind kind, const char *message)
{
    int64_t *count = user;
    (void)kind;
    (void)message;
    ++*count;
}

/* Tables hold what was perhaps not meant, and this is where they are read first. */
static void report_warnings(const convert_args *a, const source *s)
{
    const char *format;
    int64_t     count = 0;
    count_text  warnings;
    cbx_error   err;
    if (!s->path || cbx_format_detect(s->path, &format, &err) || strcmp(format, "csv") != 0 ||
        cbx_graph_check(s->path, a->read, count_problem, &count, &err) || !count)
        return;
    (void)printf("  %s: 'combinex data check ", text_counted(warnings, count, "warning"));
    text_put(stdout, a->data, 0);
    (void)printf("' with the same options tells %s\n", count == 1 ? "it" : "them");
}

static void report(const convert_args *a, const source *s)
{
    const cbx_graph_data *v = s->view;
    const char           *format = export_format(a->to, a->output);
    if (a->general.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "name", s->name);
        json_int(&j, "nodes", v->num_nodes);
        json_int(&j, "edges", v->num_edges);
        json_int(&j, "features", v->num_features);
        json_int(&j, "classes", v->num_classes);
        json_text(&j, "format", format);
        json_text(&j, "file", a->output);
        json_close(&j, '}');
        json_line(&j);
    } else if (!a->general.quiet) {
        count_text  nodes, edges, features;
        number_text classes;
        text_put(stdout, s->name, 0);
        (void)printf(": %s, %s, %s, %s classes, written to ",
                     text_counted(nodes, v->num_nodes, "node"),
                     text_counted(edges, v->num_edges, "edge"),
                     text_counted(features, v->num_features, "feature"),
                     text_count(classes, v->num_classes));
        text_put(stdout, a->output, 0);
        (void)printf(" as %s\n", format);
        if (v->num_classes == 0)
            (void)printf("  there are no classes, and nothing to train on: tables have them in a "
                         "column called label, or in one that --label-column names\n");
        report_warnings(a, s);
    }
}

static int run(void *args)
{
    const convert_args *a = args;
    source              s;
    int                 status = export_check(a->to, a->output);
    if (status == EXIT_DONE)
        status = source_open(&s, a->data, a->read);
    if (status)
        return status;
    status = apart_check(&(named_file){"OUT", a->output}, 1, NULL, 0, &s, 1);
    if (status == EXIT_DONE)
        status = export_write(&s, a->to, NULL, 0, a->output);
    if (status == EXIT_DONE)
        report(a, &s);
    source_close(&s);
    return status;
}

const command command_data_convert = {
    .name = "data convert",
    .summary = "read a data set of any format and write it in another",
    .about = "Reads a data set of any known format and writes it in another: the native one, which "
             "opens at once, or one for other programs, such as Gephi, Cytoscape or Graphviz.",
    .args_size = sizeof(convert_args),
    .operands =
        (const operand[]){{"IN", OPERAND_DATA, offsetof(convert_args, data), false, HELP_DATA},
                          {"OUT", OPERAND_FILE, offsetof(convert_args, output), false,
                           "the file to write, or the folder for csv"},
                          {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(convert_args, read)},
            {.table = to_table},
            {.table = NULL}},
    .examples =
        (const example[]){{"tables of your own as one file, edges in both directions",
                           "combinex data convert friends/ friends.safetensors --symmetric"},
                          {"for Gephi", "combinex data convert karate karate.gexf"},
                          {.why = NULL}},
    .run = run,
};
