/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c: combinex explain. */
#include "explain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart.h"
#include "help.h"
#include "team.h"

static const cbx_option_table *targets_table(void)
{
    static const cbx_option options[] = {
        {"node", CBX_OPTION_TEXT, offsetof(explain_args, node), NULL, 0, 0, NULL,
         "explain this node: its name in the data, or its number from 0 on; @8: the number, where "
         "names are numbers"},
        {"graph", CBX_OPTION_TEXT, offsetof(explain_args, graph), NULL, 0, 0, NULL,
         "explain this graph, by its number"},
        {"all", CBX_OPTION_BOOL, offsetof(explain_args, all), "false", 0, 0, NULL,
         "explain every node, or every graph"},
        {"test-set", CBX_OPTION_BOOL, offsetof(explain_args, test_set), "false", 0, 0, NULL,
         "explain those that the model was tested on"},
        {"limit", CBX_OPTION_INT, offsetof(explain_args, limit), "0", 0, INT32_MAX, NULL,
         "only the first N of them; 0: no limit"},
    };
    static const cbx_option_table table = {"Targets", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

static const cbx_option_table *output_table(void)
{
    enum { PRESETS_MAX = 30 };
    static const char      *presets[PRESETS_MAX + 2] = {"none"};
    static const cbx_option options[] = {
        {"preset", CBX_OPTION_CHOICE, offsetof(explain_args, preset), "none", 0, 0, presets,
         "search options by one name, which those given one by one override; paper: the "
         "published settings of combinex; minimal: the default; the others: of cf-gnn on their "
         "data"},
        {"output", CBX_OPTION_TEXT, offsetof(explain_args, output), NULL, 0, 0, NULL,
         "write to this file instead of standard output"},
        {"resume", CBX_OPTION_BOOL, offsetof(explain_args, resume), "false", 0, 0, NULL,
         "go on with what an interrupted run left beside --output"},
        {"summary", CBX_OPTION_TEXT, offsetof(explain_args, summary), NULL, 0, 0, NULL,
         "also write to this file, as JSON, what the flips have in common"},
        {"trace", CBX_OPTION_TEXT, offsetof(explain_args, trace), NULL, 0, 0, NULL,
         "also write the search of one target to this file, epoch by epoch, as JSON"},
        {"html", CBX_OPTION_TEXT, offsetof(explain_args, html), NULL, 0, 0, NULL,
         "also write a page to look at: one file that opens in any browser"},
        {"svg", CBX_OPTION_TEXT, offsetof(explain_args, svg), NULL, 0, 0, NULL,
         "also draw the answer to one target, before and after"},
        {"png", CBX_OPTION_TEXT, offsetof(explain_args, png), NULL, 0, 0, NULL,
         "the same as pixels"},
        {"details", CBX_OPTION_BOOL, offsetof(explain_args, details), "false", 0, 0, NULL,
         "say more of each answer: exact values, log-odds, margin, robustness, cost, time"},
        {"reproducible", CBX_OPTION_BOOL, offsetof(explain_args, reproducible), "false", 0, 0, NULL,
         HELP_REPRODUCIBLE},
        {"replay", CBX_OPTION_TEXT, offsetof(explain_args, replay), NULL, 0, 0, NULL,
         "explain nothing: check every line of this file, which --json wrote, against DATA and "
         "MODEL"},
    };
    static const cbx_option_table table = {"Run", options, sizeof options / sizeof *options, 0,
                                           NULL};
    for (size_t i = 0; i < PRESETS_MAX && cbx_explain_preset_name(i); i++)
        presets[i + 1] = cbx_explain_preset_name(i);
    return &table;
}

static int apply_preset(void *args)
{
    explain_args *a = args;
    cbx_error     err;
    if (!a->preset)
        return EXIT_DONE;
    if (cbx_explain_preset(a->options, cbx_explain_preset_name((size_t)a->preset - 1), &err))
        return fail_with(&err);
    return EXIT_DONE;
}

/* What some methods do, and nobody should believe of another's answers. */
static int check_promises(const explain_args *a)
{
    static const char only_minimal[] = "only the explainer minimal does that";
    static const struct {
        const char *option, *methods[2], *who;
    } promises[] = {
        {"total-cfs", {"minimal", "moexp"}, "only the explainers minimal and moexp do that"},
        {"diverse", {"minimal"}, only_minimal},
        {"prove", {"minimal"}, only_minimal},
        {"prove-gap", {"minimal"}, only_minimal}};
    char method[64] = "";
    (void)cbx_options_get(a->options, "explainer", method, sizeof method);
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        bool kept = false;
        for (int k = 0; k < 2 && promises[i].methods[k]; k++)
            kept |= !strcmp(promises[i].methods[k], method);
        if (!kept && args_given(a->options, promises[i].option))
            return usage_error("explain", "--%s: %s, not %s", promises[i].option, promises[i].who,
                               method);
    }
    return EXIT_DONE;
}

/* Options that would be ignored. Those that tune one method, and say so in their names, may stand
 * in a command that is run with every method. */
static int check_search(const explain_args *a)
{
    static const char *const replayed[] = {"threads", "target", NULL};
    const cbx_option_table  *table = cbx_explain_table();
    const char *option = a->replay ? args_first_given(table, a->options, replayed) : NULL;
    if (option)
        return usage_error("explain", "--%s: is about searching, and --replay searches nothing",
                           a->preset ? "preset" : option);
    return check_promises(a);
}

/* Mistakes that show in the flags alone. */
static int check_flags(const explain_args *a)
{
    const char *name = "explain";
    int given = (a->nodes.count || a->graphs.count) + a->all + a->test_set + (a->replay != NULL);
    if (!given)
        return usage_error(name, "explain needs targets: --node N, --graph N, --all or --test-set");
    if (given > 1)
        return usage_error(name, "--node or --graph, --all, --test-set, --replay: choose one");
    if (a->replay &&
        (a->trace || a->limit || a->summary || a->resume || explain_pictures_wanted(a)))
        return usage_error(name, "--replay goes with none of --trace, --limit, --summary, "
                                 "--resume, --html, --svg, --png");
    if (a->trace && args_is(a->options, "explainer", "minimal"))
        return usage_error(name, "--trace: the explainer minimal adds edit to edit and has no "
                                 "epochs to trace; combinex (--preset paper) has");
    return check_search(a);
}

/* May files be made there? One that is marked as read-only is left alone, also by those whom
 * marks do not stop. */
static bool folder_takes_files(const char *folder)
{
    struct stat is;
    return !stat(folder, &is) && (is.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) &&
           !access(folder, W_OK);
}

/* What a method trains is kept beside the model that it was trained for, unless it is told
 * otherwise or cannot be. */
static int keep_trained_beside(explain_args *a)
{
    const char *slash = strrchr(a->model, '/');
    size_t      length = slash ? (size_t)(slash - a->model) + 1 : 0;
    char       *folder = malloc(length + 2);
    cbx_error   err = {0};
    if (!folder)
        return fail("out of memory");
    memcpy(folder, slash ? a->model : ".", slash ? length : 1);
    folder[slash ? length : 1] = 0;
    cbx_status status = CBX_OK;
    if (!args_given(a->options, "trained") && folder_takes_files(folder))
        status = cbx_options_set(a->options, "trained", folder, &err);
    free(folder);
    return status ? fail_with(&err) : EXIT_DONE;
}

static int prepare(explain_job *job, explain_args *a)
{
    char        target[512];
    cbx_error   err;
    const char *sought =
        cbx_options_get(a->options, "target", target, sizeof target) ? target : NULL;
    int opened = model_open(&job->asked, a->model, a->open, &job->source, &sought);
    job->model = job->asked.model;
    if (opened)
        return opened;
    if (sought && sought != target && cbx_options_set(a->options, "target", sought, &err))
        return fail_with(&err);
    cbx_model_set_reproducible(job->model, a->reproducible);
    if (a->general.json || a->replay || explain_pictures_wanted(a)) {
        cbx_graph_hash(job->source.graph, job->graph_hash);
        cbx_model_hash(job->model, job->model_hash);
    }
    if (a->replay)
        return EXIT_DONE;
    int status = keep_trained_beside(a);
    if (status == EXIT_DONE)
        status = explain_choose_rows(job);
    if (status == EXIT_DONE && a->trace && job->count != 1)
        return usage_error("explain", "--trace is for one target, and there are %lld",
                           (long long)job->count);
    if (status == EXIT_DONE && (a->svg || a->png) && job->count != 1)
        return usage_error("explain", "--%s is for one target, and there are %lld",
                           a->svg ? "svg" : "png", (long long)job->count);
    return status;
}

/* Everything that is to be written, asked before the search, not after it. */
static int check_files(const explain_args *a)
{
    const struct {
        const char *option, *path;
    } pictures[] = {{"html", a->html}, {"svg", a->svg}, {"png", a->png}};
    int status = output_check_open(a->output);
    if (status == EXIT_DONE)
        status = output_check_open(a->trace);
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures && status == EXIT_DONE; i++) {
        if (pictures[i].path && !strcmp(pictures[i].path, "-"))
            return usage_error("explain", "--%s goes to a file", pictures[i].option);
        if (pictures[i].path)
            status = output_check(pictures[i].path);
    }
    return status;
}

static int check_apart(const explain_args *a, const source *s)
{
    const named_file outputs[] = {{"--output", a->output}, {"--trace", a->trace},
                                  {"--html", a->html},     {"--svg", a->svg},
                                  {"--png", a->png},       {"--summary", a->summary}};
    const named_file inputs[] = {{"the model", a->model}, {"--replay", a->replay}};
    return apart_check(outputs, sizeof outputs / sizeof *outputs, inputs,
                       sizeof inputs / sizeof *inputs, s, 1);
}

static int set_trace(cbx_options *options, bool traced)
{
    cbx_error err;
    return cbx_options_set(options, "trace", traced ? "true" : "false", &err) ? fail_with(&err)
                                                                              : EXIT_DONE;
}

static int explain(explain_job *job, bool traced)
{
    explain_args *a = (explain_args *)job->args;
    int           status = source_open(&job->source, a->data, a->read);
    if (status)
        return status;
    cbx_error err;
    status = check_apart(a, &job->source);
    if (status == EXIT_DONE && cbx_atoms_new(job->source.graph, a->options, &job->atoms, &err))
        status = fail_with(&err);
    if (status == EXIT_DONE)
        status = prepare(job, a);
    if (status == EXIT_DONE)
        status = set_trace(a->options, traced && job->count == 1);
    if (status == EXIT_DONE)
        status = a->replay ? explain_replay(job) : explain_search(job);
    free(job->rows);
    cbx_atoms_free(job->atoms);
    model_close(&job->asked);
    source_close(&job->source);
    return status;
}

static int run(void *args)
{
    enum { TRACED_EPOCHS = 100000 };
    explain_args *a = args;
    explain_job   job = {.args = a};
    if (a->output && !strcmp(a->output, "-"))
        a->output = NULL;
    /* a page shows the curves, where they are not too long to keep */
    bool traced = a->trace || (a->html && args_whole(a->options, "epochs") <= TRACED_EPOCHS);
    int  status = check_flags(a);
    if (status == EXIT_DONE)
        status = check_files(a);
    if (status == EXIT_DONE)
        status = output_check_open(a->summary);
    if (status == EXIT_DONE)
        status = team_begin(&job.team);
    if (status)
        return status;
    status = explain(&job, traced);
    return team_end(&job.team, status == EXIT_DONE, status);
}

const command command_explain = {
    .name = "explain",
    .summary = "find what would change a model's predictions",
    .about =
        "Why this class, and what would change it? Finds edges to remove and features to "
        "change that make the model predict another class, and checks each answer on the "
        "whole edited graph. With --json, one object per line, which 'explain --replay' checks "
        "again and 'apply' turns into a graph. Many targets with --output: each answer is kept as "
        "it comes, and --resume goes on after an interruption; under mpirun, processes share the "
        "work.",
    .args_size = sizeof(explain_args),
    .basics = (const char *const[]){"node",
                                    "graph",
                                    "all",
                                    "test-set",
                                    "target",
                                    "prove",
                                    "max-edits",
                                    "total-cfs",
                                    "features-to-vary",
                                    "immutable-features",
                                    "as",
                                    "own-features",
                                    "keep-edges",
                                    "protected-edges",
                                    "keep",
                                    "explainer",
                                    "preset",
                                    "details",
                                    "html",
                                    "json",
                                    "output",
                                    "resume",
                                    "time-limit",
                                    "threads",
                                    NULL},
    .operands =
        (const operand[]){
            {"DATA", OPERAND_DATA, offsetof(explain_args, data), false, HELP_DATA},
            {"MODEL", OPERAND_MODEL, offsetof(explain_args, model), false, "a model file"},
            {.name = NULL}},
    .groups =
        (const option_group[]){
            {.table = targets_table},
            {.table = cbx_explain_table,
             .by_name = true,
             .offset = offsetof(explain_args, options)},
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(explain_args, read)},
            {.table = cbx_open_table, .by_name = true, .offset = offsetof(explain_args, open)},
            {.table = output_table},
            {.table = NULL}},
    .extras = (const option_extra[]){{.name = "node",
                                      .value = "NODE",
                                      .repeats = true,
                                      .list = offsetof(explain_args, nodes)},
                                     {.name = "graph",
                                      .value = "N",
                                      .repeats = true,
                                      .list = offsetof(explain_args, graphs)},
                                     {.name = "trace", .value = "FILE"},
                                     {.name = "summary", .value = "FILE"},
                                     {.name = "html", .value = "FILE"},
                                     {.name = "svg", .value = "FILE"},
                                     {.name = "png", .value = "FILE"},
                                     {.name = "replay", .value = "FILE"},
                                     {.name = "target", .value = "CLASS"},
                                     {.name = NULL}},
    .examples =
        (const example[]){
            {"what would make the model see node 8 elsewhere",
             "combinex explain karate karate.model.safetensors --node 8 --target any"},
            {"every test node with the published settings, for a program",
             "combinex explain karate karate.model.safetensors --test-set --preset paper --json "
             "-o karate.jsonl"},
            {"the same as a page to look at",
             "combinex explain karate karate.model.safetensors --node 8 --target any --html "
             "node-8.html"},
            {"every node, and on after an interruption",
             "combinex explain karate karate.model.safetensors --all --json -o all.jsonl --resume"},
            {"whether those answers still hold",
             "combinex explain karate karate.model.safetensors --replay karate.jsonl"},
            {.why = NULL}},
    .preset = apply_preset,
    .run = run,
};
