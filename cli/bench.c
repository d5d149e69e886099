/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c: combinex bench. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "source.h"
#include "team.h"
#include "text.h"

typedef struct bench_args {
    general_options general;
    const char     *data;
    const char     *out;
    const char     *html;
    bool            resume;
    bool            dry_run;
    cbx_options    *options;
    cbx_options    *read;
} bench_args;

typedef struct bench_job {
    const bench_args *args;
    cbx_bench_team    team;
    source           *sources;
    cbx_bench_data   *data;
    char            **names; /* in the tables */
    size_t            count;
    size_t            missing; /* of "all" */
    bool              files;   /* not all of it is built in */
    bool              ended;   /* together with the others, whatever came of it */
    progress          bar;
    cbx_bench_winner *winners; /* of the cells */
    size_t            num_winners;
} bench_job;

static const cbx_option_table *run_table(void)
{
    static const cbx_option options[] = {
        {"data", CBX_OPTION_TEXT, offsetof(bench_args, data), NULL, 0, 0, NULL,
         "data sets, separated by commas, as other commands take them; all: those of the paper"},
        {"out", CBX_OPTION_TEXT, offsetof(bench_args, out), NULL, 0, 0, NULL,
         "the folder for oracles, rows and tables"},
        {"html", CBX_OPTION_TEXT, offsetof(bench_args, html), NULL, 0, 0, NULL,
         "also write the page of the results, report.html of that folder, to this file"},
        {"resume", CBX_OPTION_BOOL, offsetof(bench_args, resume), "false", 0, 0, NULL,
         "go on with the benchmark that was begun in that folder with the same options"},
        {"dry-run", CBX_OPTION_BOOL, offsetof(bench_args, dry_run), "false", 0, 0, NULL,
         "only show what would be done and about how long it takes"},
    };
    static const cbx_option_table table = {"Run", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

/* --------------------------------------------------------------- the data */

/* "some/cora.safetensors" -> "cora" */
static char *table_name(const char *data)
{
    static const char ending[] = ".safetensors";
    const char       *slash = strrchr(data, '/');
    char             *name = strdup(slash ? slash + 1 : data);
    size_t            length = name ? strlen(name) : 0;
    if (length >= sizeof ending && !strcmp(name + length - (sizeof ending - 1), ending))
        name[length - (sizeof ending - 1)] = '\0';
    return name;
}

static int add_data(bench_job *job, const char *data)
{
    size_t  at = job->count;
    source *sources = realloc(job->sources, (at + 1) * sizeof *sources);
    if (sources)
        job->sources = sources;
    cbx_bench_data *list = realloc(job->data, (at + 1) * sizeof *list);
    if (list)
        job->data = list;
    char **names = realloc(job->names, (at + 1) * sizeof *names);
    if (names)
        job->names = names;
    char *name = table_name(data);
    if (!sources || !list || !names || !name) {
        free(name);
        return fail("out of memory");
    }
    /* what is said of files is meant for those that are */
    bool exempt = job->files && source_is_builtin(data);
    int  status = source_open(&job->sources[at], data, exempt ? NULL : job->args->read);
    if (status) {
        free(name);
        return status;
    }
    job->names[at] = name;
    job->data[at] = (cbx_bench_data){name, job->sources[at].graph};
    job->count++;
    return EXIT_DONE;
}

/* Calls `each` for every data set of a list, until it fails. */
static int each_data(bench_job *job, const char *list,
                     int (*each)(bench_job *job, const char *data))
{
    while (true) {
        size_t length = strcspn(list, ",");
        char  *one = strndup(list, length);
        int    status = one ? each(job, one) : fail("out of memory");
        free(one);
        if (status || !list[length])
            return status;
        list += length + 1;
    }
}

static int look_for_files(bench_job *job, const char *data)
{
    job->files = job->files || !source_is_builtin(data);
    return EXIT_DONE;
}

static int open_data(bench_job *job)
{
    const char *list = job->args->data;
    if (!strcmp(list, "all")) { /* what is missing costs its cells, not the others */
        for (size_t i = 0; cbx_bench_paper_data(i); i++)
            job->missing += add_data(job, cbx_bench_paper_data(i)) != EXIT_DONE;
        return job->count ? EXIT_DONE : EXIT_FAILED;
    }
    int status = each_data(job, list, look_for_files);
    return status ? status : each_data(job, list, add_data);
}

static void close_data(bench_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        source_close(&job->sources[i]);
        free(job->names[i]);
    }
    free(job->sources);
    free(job->data);
    free(job->names);
    free(job->winners);
}

/* ------------------------------------------------------------ the dry run */

typedef struct estimates {
    const bench_args *args;
    int64_t           oracles, answers;
    double            seconds, training;
} estimates;

static void put_time(double seconds)
{
    if (seconds < 100)
        (void)printf("%10.1f s", seconds);
    else if (seconds < 6000)
        (void)printf("%8.1f min", seconds / 60);
    else
        (void)printf("%10.1f h", seconds / 3600);
}

static void put_seconds(double seconds, double training)
{
    put_time(seconds);
    (void)printf(", training");
    put_time(training);
    (void)printf("\n");
}

static int put_estimate(void *user, const cbx_bench_estimate *e)
{
    estimates  *sum = user;
    number_text answers;
    sum->oracles += e->oracles;
    sum->answers += e->answers;
    sum->seconds += e->seconds;
    sum->training += e->training;
    if (sum->args->general.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "data", e->data);
        json_text(&j, "model", e->model);
        json_int(&j, "oracles", e->oracles);
        json_int(&j, "answers", e->answers);
        json_double(&j, "seconds", e->seconds);
        json_double(&j, "training_seconds", e->training);
        json_close(&j, '}');
        json_line(&j);
    } else {
        text_put(stdout, e->data, 22);
        (void)printf(" %-10s %3lld oracles %10s answers ", e->model, (long long)e->oracles,
                     text_count(answers, e->answers));
        put_seconds(e->seconds, e->training);
    }
    (void)fflush(stdout);
    return 0;
}

static int dry_run(const bench_job *job)
{
    estimates   sum = {.args = job->args};
    cbx_error   err;
    number_text answers;
    if (cbx_bench_dry_run(job->args->options, job->data, job->count, put_estimate, &sum, &err))
        return fail_with(&err);
    if (!job->args->general.json) {
        (void)printf("%-22s %-10s %3lld oracles %10s answers ", "together", "",
                     (long long)sum.oracles, text_count(answers, sum.answers));
        put_seconds(sum.seconds, sum.training);
        (void)printf("Times are for one thread, from a few short trials. Nothing was written.\n");
    }
    return EXIT_DONE;
}

/* ---------------------------------------------------------------- the run */

static int on_progress(void *user, int64_t done, int64_t total, const char *text)
{
    bench_job *job = user;
    team_serve(&job->team);
    return progress_update(&job->bar, done, total, text);
}

static void on_failure(void *user, const char *message)
{
    bench_job *job = user;
    progress_hide(&job->bar);
    (void)fail("%s", message);
}

/* What does not fit in memory is in the tables all the same. */
static void on_winner(void *user, const cbx_bench_winner *cell)
{
    bench_job        *job = user;
    cbx_bench_winner *more = realloc(job->winners, (job->num_winners + 1) * sizeof *job->winners);
    if (!more)
        return;
    job->winners = more;
    job->winners[job->num_winners++] = *cell;
}

static void put_winners_json(json *j, const bench_job *job)
{
    json_open(j, "winners", '[');
    for (size_t i = 0; i < job->num_winners; i++) {
        const cbx_bench_winner *w = &job->winners[i];
        json_open(j, NULL, '{');
        json_text(j, "data", w->data);
        json_text(j, "model", w->model);
        json_text(j, "winner", w->method);
        json_double(j, "validity", w->method ? w->validity : NAN);
        json_double(j, "edits", w->method ? w->edits : NAN);
        json_text(j, "second", w->second);
        json_double(j, "second_validity", w->second ? w->second_validity : NAN);
        json_double(j, "second_edits", w->second ? w->second_edits : NAN);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_one(const char *method, double validity, double edits, const char *end)
{
    if (method)
        (void)printf("  %-15s %5.3f %9.1f%s", method, validity, edits, end);
    else
        (void)printf("  %-15s %5s %9s%s", "nobody", "", "", end);
}

/* The highest validity, and among equals the fewest edits. */
static void put_winners(const bench_job *job)
{
    size_t width = 12;
    for (size_t i = 0; i < job->num_winners; i++) {
        size_t mine = text_columns(job->winners[i].data);
        width = mine > width ? mine : width;
    }
    text_put(stdout, "data set", width);
    (void)printf(" %-10s  %-15s %5s %9s  %-15s %5s %9s\n", "model", "winner", "valid", "edits",
                 "second", "valid", "edits");
    for (size_t i = 0; i < job->num_winners; i++) {
        const cbx_bench_winner *w = &job->winners[i];
        text_put(stdout, w->data, width);
        (void)printf(" %-10s", w->model);
        put_one(w->method, w->validity, w->edits, "");
        put_one(w->second, w->second_validity, w->second_edits, "\n");
    }
}

static void put_result(const bench_job *job, const cbx_bench_result *r)
{
    count_text  answers;
    number_text asked;
    if (job->args->general.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "folder", job->args->out);
        json_int(&j, "answers", r->answers);
        json_int(&j, "asked", r->asked);
        json_int(&j, "failures", r->failures);
        put_winners_json(&j, job);
        json_close(&j, '}');
        json_line(&j);
    } else if (!job->args->general.quiet) {
        (void)printf("%s, %s of them new; tables in ", text_counted(answers, r->answers, "answer"),
                     text_count(asked, r->asked));
        text_put(stdout, job->args->out, 0);
        (void)printf(": report.html, summary.md, .csv, .json, .tex, ranks.svg, timing.csv\n");
        put_winners(job);
    }
}

/* The page is one file: a copy of it is as good. */
static int copy_page(const bench_args *a)
{
    static const char name[] = "/report.html";
    size_t            size = strlen(a->out) + sizeof name, got;
    char             *path = malloc(size), block[1 << 14];
    output            out;
    if (!path)
        return fail("out of memory");
    (void)snprintf(path, size, "%s%s", a->out, name);
    FILE *page = fopen(path, "rb");
    int   status = page ? output_open(&out, a->html) : fail("%s: %s", path, strerror(errno));
    if (status == EXIT_DONE) {
        while ((got = fread(block, 1, sizeof block, page)) > 0)
            (void)fwrite(block, 1, got, out.file); /* output_commit tells */
        if (ferror(page)) {
            output_abandon(&out);
            status = fail("%s: %s", path, strerror(errno));
        } else {
            status = output_commit(&out);
        }
    }
    if (page)
        (void)fclose(page);
    free(path);
    return status;
}

static int bench(bench_job *job)
{
    const bench_args *a = job->args;
    cbx_bench_result  result;
    cbx_error         err = {0};
    cbx_bench_hooks   hooks = {on_progress, on_failure, on_winner, job};
    progress_begin(&job->bar, "bench", a->general.quiet || job->team.rank > 0);
    cbx_status status = cbx_bench_run(a->options, job->data, job->count, a->out, a->resume,
                                      &job->team, &hooks, &result, &err);
    progress_end(&job->bar);
    if (status == CBX_CANCELLED) {
        (void)fail("interrupted; what is done stays in %s, and --resume goes on with it", a->out);
        return EXIT_INTERRUPTED;
    }
    if (status)
        return fail_with(&err);
    job->ended = true;
    result.failures = team_sum(&job->team, result.failures);
    result.asked = team_sum(&job->team, result.asked);
    if (job->team.rank > 0)
        return EXIT_DONE;
    put_result(job, &result);
    for (size_t i = 0; i < job->count; i++) /* the rows are there, but of what? */
        if (source_unchanged(&job->sources[i]))
            return EXIT_FAILED;
    if (a->html && copy_page(a))
        return EXIT_FAILED;
    if (job->missing)
        (void)fail("%zu of the paper's data sets were not found", job->missing);
    if (result.failures)
        return fail("%lld oracles or methods failed; the rest is in %s", (long long)result.failures,
                    a->out);
    return job->missing ? EXIT_FAILED : EXIT_DONE;
}

static int run(void *args)
{
    const bench_args *a = args;
    bench_job         job = {.args = a};
    if (!a->out && !a->dry_run)
        return usage_error("bench", "bench needs a folder: --out DIR");
    if (a->html && a->dry_run)
        return usage_error("bench", "--html shows results, and --dry-run has none");
    if (a->html && output_check(a->html))
        return EXIT_FAILED;
    if (a->html && apart_holds(a->out, a->html))
        return usage_error("bench",
                           "--html %s: is in the folder of --out, whose page is "
                           "report.html; choose a place outside",
                           a->html);
    int status = team_begin(&job.team);
    if (status)
        return status;
    status = open_data(&job);
    if (status == EXIT_DONE)
        status = apart_check(&(named_file){"--html", a->html}, 1, NULL, 0, job.sources, job.count);
    if (status == EXIT_DONE)
        status = a->dry_run ? (job.team.rank == 0 ? dry_run(&job) : EXIT_DONE) : bench(&job);
    close_data(&job);
    return team_end(&job.team, job.ended || a->dry_run, status);
}

const command command_bench = {
    .name = "bench",
    .summary = "compare explainers on data sets and models, in tables",
    .about = "Trains oracles on the folds of data sets, explains the same test rows with every "
             "method, measures, and writes tables with the published figures beside. At the end "
             "it names the winner of each cell: the highest validity, and among equals the "
             "fewest edits. Targets that are skipped count as not valid. An "
             "interrupted benchmark goes on with --resume to the same tables. Under mpirun, "
             "processes share the work.",
    .args_size = sizeof(bench_args),
    .groups =
        (const option_group[]){
            {.table = run_table},
            {.table = cbx_bench_table, .by_name = true, .offset = offsetof(bench_args, options)},
            {.table = cbx_read_table, .by_name = true, .offset = offsetof(bench_args, read)},
            {.table = NULL}},
    .extras = (const option_extra[]){{.name = "data", .value = "LIST", .required = true},
                                     {.name = "out", .value = "DIR"},
                                     {.name = "html", .value = "FILE"},
                                     {.name = "models", .value = "LIST"},
                                     {.name = "explainers", .value = "LIST"},
                                     {.name = NULL}},
    .examples =
        (const example[]){
            {"what a small benchmark would take",
             "combinex bench --data karate --folds 2 --samples 5 --dry-run"},
            {"run it", "combinex bench --data karate --folds 2 --samples 5 --out karate-bench"},
            {"go on after an interruption",
             "combinex bench --data karate --folds 2 --samples 5 --out karate-bench --resume"},
            {.why = NULL}},
    .run = run,
};
