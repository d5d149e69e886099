/* SPDX-License-Identifier: Apache-2.0 */
/* data_generate.c: combinex data generate. */
#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "output.h"
#include "source.h"
#include "text.h"

typedef struct generate_args {
    general_options general;
    const char     *name;
    const char     *output;
    cbx_options    *generate;
} generate_args;

static const cbx_option_table *output_table(void)
{
    static const cbx_option options[] = {
        {"output", CBX_OPTION_TEXT, offsetof(generate_args, output), NULL, 0, 0, NULL,
         "the graph file to write"},
    };
    static const cbx_option_table table = {"Output", options, 1, 0, NULL};
    return &table;
}

static void report(const generate_args *a, const cbx_graph_data *v)
{
    if (a->general.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "name", a->name);
        json_int(&j, "nodes", v->num_nodes);
        json_int(&j, "edges", v->num_edges);
        json_int(&j, "features", v->num_features);
        json_int(&j, "classes", v->num_classes);
        json_text(&j, "file", a->output);
        json_close(&j, '}');
        json_line(&j);
    } else if (!a->general.quiet) {
        count_text  nodes, edges, features;
        number_text classes;
        (void)printf("%s: %s, %s, %s, %s classes, written to ", a->name,
                     text_counted(nodes, v->num_nodes, "node"),
                     text_counted(edges, v->num_edges, "edge"),
                     text_counted(features, v->num_features, "feature"),
                     text_count(classes, v->num_classes));
        text_put(stdout, a->output, 0);
        (void)printf("\n");
    }
}

static int run(void *args)
{
    const generate_args *a = args;
    cbx_error            err;
    cbx_graph           *graph = NULL;

    int status = output_check(a->output);
    if (status)
        return status;
    if (!cbx_builtin_about(a->name)) {
        cbx_nearest near;
        cbx_nearest_begin(&near, a->name);
        source_try_builtins(&near);
        return fail("no built-in data set '%s'%s%s%s ('combinex data list' shows them)", a->name,
                    near.best[0] ? "; did you mean '" : "", near.best, near.best[0] ? "'?" : "");
    }
    if (cbx_graph_builtin(a->name, a->generate, &graph, &err) ||
        cbx_graph_save(graph, a->output, &err))
        status = fail_with(&err);
    else
        report(a, cbx_graph_arrays(graph));
    cbx_graph_free(graph);
    return status;
}

const command command_data_generate = {
    .name = "data generate",
    .summary = "write a built-in or random data set to a file",
    .about = "Writes a built-in data set, made with options of your choice, to a graph file. The "
             "same options give the same file on every machine.",
    .args_size = sizeof(generate_args),
    .operands = (const operand[]){{"NAME", OPERAND_BUILTIN, offsetof(generate_args, name), false,
                                   "a built-in data set; 'combinex data list' shows them"},
                                  {.name = NULL}},
    .groups = (const option_group[]){{.table = cbx_generate_table,
                                      .by_name = true,
                                      .offset = offsetof(generate_args, generate)},
                                     {.table = output_table},
                                     {.table = NULL}},
    .extras = (const option_extra[]){{.name = "output", .required = true}, {.name = NULL}},
    .examples =
        (const example[]){{"the BA-Shapes of another seed",
                           "combinex data generate ba-shapes --seed 7 -o shapes.safetensors"},
                          {"a large random graph", "combinex data generate barabasi-albert "
                                                   "--nodes 1000000 -o large.safetensors"},
                          {.why = NULL}},
    .run = run,
};
