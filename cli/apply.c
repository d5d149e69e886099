/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c: combinex apply: a graph with the edits of a counterfactual. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "cli.h"
#include "export.h"
#include "help.h"
#include "json.h"
#include "source.h"
#include "text.h"

typedef struct apply_args {
    general_options general;
    const char     *data, *results;
    const char     *output;
    int64_t         line;
    int             to;
    cbx_options    *read;
    bool            force;
} apply_args;

static const cbx_option_table *apply_table(void)
{
    static const cbx_option options[] = {
        {"output", CBX_OPTION_TEXT, offsetof(apply_args, output), NULL, 0, 0, NULL,
         "the graph file to write"},
        {"line", CBX_OPTION_INT, offsetof(apply_args, line), "1", 1, 1e15, NULL,
         "the line of RESULTS with the edits"},
        {"force", CBX_OPTION_BOOL, offsetof(apply_args, force), "false", 0, 0, NULL,
         "even if the edits were found on other data"},
        {"to", CBX_OPTION_CHOICE, offsetof(apply_args, to), "auto", 0, 0, export_choices,
         "format of the file; auto: by its ending, else safetensors"},
    };
    static const cbx_option_table table = {"Run", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

/* The wanted line, to be freed. Returns an exit status. */
static int read_line(const apply_args *a, char **line)
{
    FILE   *file = fopen(a->results, "r");
    size_t  room = 0;
    int64_t number = 0;
    int     status = EXIT_DONE;
    *line = NULL;
    if (!file)
        return fail("%s: %s", a->results, strerror(errno));
    while (number < a->line && (errno = 0, getline(line, &room, file)) >= 0)
        number++;
    if (number < a->line) {
        if (ferror(file))
            status = fail("%s: %s", a->results, strerror(errno));
        else if (!feof(file))
            status = fail("out of memory");
        else
            status = fail("%s: there is no line %lld: it has %lld", a->results, (long long)a->line,
                          (long long)number);
        free(*line);
        *line = NULL;
    }
    (void)fclose(file);
    return status;
}

static int read_result(const apply_args *a, cbx_counterfactual **c, char hash[65])
{
    char     *line;
    cbx_error err;
    int       status = read_line(a, &line);
    if (status)
        return status;
    if (cbx_counterfactual_parse(line, c, hash, NULL, &err))
        status = fail("%s, line %lld: %s", a->results, (long long)a->line, err.message);
    free(line);
    return status;
}

/* Whether the edits are meant for this graph. */
static int check_result(const apply_args *a, const source *s, const cbx_counterfactual *c,
                        const char *hash)
{
    char        own[65], place[64];
    const char *row = c->task == CBX_NODE ? "node" : "graph";
    (void)snprintf(place, sizeof place, "line %lld (%s %d)", (long long)a->line, row, (int)c->row);
    if (c->outcome != CBX_FOUND)
        return fail("%s, %s: its status is %s, so there are no edits to apply", a->results, place,
                    cbx_outcome_name(c->outcome));
    if (c->task != s->view->task)
        return fail("%s, %s: %s has a class for each %s", a->results, place, s->name,
                    source_row(s));
    cbx_graph_hash(s->graph, own);
    if (!a->force && strcmp(hash, own) != 0)
        return fail("%s, %s: the edits were %s; --force applies them all the same", a->results,
                    place, hash[0] ? "found on other data" : "found on unknown data");
    return EXIT_DONE;
}

static void print_text(const apply_args *a, const source *s, const cbx_counterfactual *c)
{
    count_text edits, edges, values;
    text_put(stdout, s->name, 0);
    (void)printf(" with %s (%s removed, ", text_counted(edits, c->num_edits, "edit"),
                 text_counted(edges, c->num_edges_removed, "edge"));
    if (c->num_edges_added)
        (void)printf("%s added, ", text_counted(edges, c->num_edges_added, "edge"));
    if (c->num_nodes_removed)
        (void)printf("%s removed, ", text_counted(edges, c->num_nodes_removed, "node"));
    if (c->num_nodes_added)
        (void)printf("%s added, ", text_counted(edges, c->num_nodes_added, "node"));
    if (c->num_edges_reweighted)
        (void)printf("%s given another value, ", text_counted(edges, c->num_edges_reweighted, "edge"));
    (void)printf("%s changed) written to ",
                 text_counted(values, c->num_features_changed, "feature value"));
    text_put(stdout, a->output, 0);
    (void)printf("\n");
}

static void print_json(const apply_args *a, const source *s, const cbx_counterfactual *c)
{
    json j = {.out = stdout};
    json_open(&j, NULL, '{');
    json_text(&j, "data", s->name);
    json_int(&j, source_row(s), c->row);
    json_int(&j, "edits", c->num_edits);
    json_int(&j, "edges_removed", c->num_edges_removed);
    json_int(&j, "features_changed", c->num_features_changed);
    if (c->num_edges_added)
        json_int(&j, "edges_added", c->num_edges_added);
    if (c->num_nodes_removed)
        json_int(&j, "nodes_removed", c->num_nodes_removed);
    if (c->num_nodes_added)
        json_int(&j, "nodes_added", c->num_nodes_added);
    if (c->num_edges_reweighted)
        json_int(&j, "edges_reweighted", c->num_edges_reweighted);
    json_text(&j, "file", a->output);
    json_close(&j, '}');
    json_line(&j);
}

static int apply_and_save(const apply_args *a, const source *s, const cbx_counterfactual *c)
{
    cbx_error  err;
    cbx_status status = cbx_graph_export(s->graph, export_format(a->to, a->output), c->edits,
                                         c->num_edits, a->output, &err);
    if (status == CBX_INVALID)
        return fail("%s, line %lld: %s", a->results, (long long)a->line, err.message);
    if (status)
        return fail_with(&err);
    if (a->general.json)
        print_json(a, s, c);
    else if (!a->general.quiet)
        print_text(a, s, c);
    return EXIT_DONE;
}

static int run(void *args)
{
    const apply_args   *a = args;
    source              s;
    cbx_counterfactual *c = NULL;
    char                hash[65] = "";
    int                 status = export_check(a->to, a->output);
    if (status == EXIT_DONE)
        status = read_result(a, &c, hash);
    if (status)
        return status;
    status = source_open(&s, a->data, a->read);
    if (status == EXIT_DONE) {
        status = apart_check(&(named_file){"--output", a->output}, 1,
                             &(named_file){"RESULTS", a->results}, 1, &s, 1);
        if (status == EXIT_DONE)
            status = check_result(a, &s, c, hash);
        if (status == EXIT_DONE)
            status = apply_and_save(a, &s, c);
        source_close(&s);
    }
    cbx_counterfactual_free(c);
    return status;
}

const command command_apply = {
    .name = "apply",
    .summary = "write a graph with the edits of an explanation",
    .about = "Makes the edits of one line of RESULTS, which 'explain --json' wrote, and writes the "
             "edited graph to a file. In graphml, gexf, dot and csv, removed edges stay and are "
             "marked, and so are changed features.",
    .args_size = sizeof(apply_args),
    .operands =
        (const operand[]){{"DATA", OPERAND_DATA, offsetof(apply_args, data), false, HELP_DATA},
                          {"RESULTS", OPERAND_FILE, offsetof(apply_args, results), false,
                           "a file that 'combinex explain --json -o' wrote"},
                          {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = apply_table},
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(apply_args, read)},
            {.table = NULL}},
    .extras = (const option_extra[]){{.name = "output", .required = true}, {.name = NULL}},
    .examples =
        (const example[]){{"the graph with the edits of the first explanation",
                           "combinex apply karate karate.jsonl -o edited.safetensors"},
                          {"removed edges and changed features marked, for Graphviz",
                           "combinex apply karate karate.jsonl -o edited.dot"},
                          {"that of the third",
                           "combinex apply karate karate.jsonl --line 3 -o edited.safetensors"},
                          {.why = NULL}},
    .run = run,
};
