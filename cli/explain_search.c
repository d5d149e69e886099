/* SPDX-License-Identifier: Apache-2.0 */
/* explain_search.c: runs the searches and writes each result as it comes, to standard output or
 * to a file. Files are there as a whole or not at all, and all of them or none; of many targets
 * each answer is kept beside the file until then. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "explain.h"
#include "progress.h"
#include "team.h"
#include "text.h"

typedef struct delivery {
    const explain_job *job;
    output             outs[EXPLAIN_OUTPUTS];
    progress           bar;
    explain_summary    summary;
    cbx_common_edits  *common_edits;
    explain_pictures   pictures;
    bool               no_memory;
} delivery;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_one(delivery *d, const cbx_counterfactual *c, int which, int answers)
{
    const explain_job  *job = d->job;
    const explain_args *a = job->args;
    if (a->general.json) {
        char *line = cbx_counterfactual_json(c, job->source.graph, a->options, job->graph_hash,
                                             job->model_hash);
        if (line)
            (void)fprintf(d->outs[OUT_RESULTS].file, "%s\n", line);
        else
            d->no_memory = true;
        free(line);
    } else {
        explain_print(d->outs[OUT_RESULTS].file, job, c, which, answers);
    }
}

/* Takes note of a target's answers, for what is told and shown at the end. */
static void count_result(delivery *d, const cbx_counterfactual *c)
{
    if (explain_pictures_wanted(d->job->args))
        explain_pictures_add(&d->pictures, d->job, c);
    explain_count(&d->summary, c);
    cbx_common_edits_add(d->common_edits, c);
}

/* With its further answers. False where it makes no sense to go on. */
static bool write_result(delivery *d, const cbx_counterfactual *c)
{
    bool fine = true;
    int  answers = 0, which = 0;
    for (const cbx_counterfactual *answer = c; answer; answer = answer->next)
        answers++;
    for (const cbx_counterfactual *answer = c; answer && fine; answer = answer->next) {
        write_one(d, answer, which++, answers);
        fine = output_fine(&d->outs[OUT_RESULTS]) && !d->no_memory;
    }
    count_result(d, c);
    return fine;
}

/* A cbx_on_result. */
static int deliver(void *user, int64_t i, const cbx_counterfactual *c)
{
    delivery  *d = user;
    count_text found;
    progress_hide(&d->bar); /* results may go to the same terminal */
    if (!write_result(d, c))
        return 1;
    (void)snprintf(found, sizeof found, "%lld found", (long long)d->summary.found);
    return progress_update(&d->bar, i + 1, d->job->count, found);
}

static int interrupted(const delivery *d)
{
    if (d->job->args->output)
        (void)fail("interrupted, nothing was written");
    else if (d->job->count == 1)
        (void)fail("interrupted");
    else
        (void)fail("interrupted after %lld of %lld targets", (long long)d->summary.done,
                   (long long)d->job->count);
    return EXIT_INTERRUPTED;
}

/* Completes everything that is written; `one` is the answer where there is one target. Then all
 * of it takes its place, or nothing does. */
static int finish(delivery *d, const cbx_counterfactual *one)
{
    const explain_job  *job = d->job;
    const explain_args *a = job->args;
    int status = d->no_memory ? fail("out of memory") : output_finish(&d->outs[OUT_RESULTS]);
    if (status == EXIT_DONE && a->trace && one)
        status = explain_write_trace(&d->outs[OUT_TRACE], job, one);
    if (status == EXIT_DONE)
        status = explain_pictures_write(&d->pictures, job, d->outs, one, d->common_edits);
    if (status == EXIT_DONE && a->summary)
        status = explain_write_summary(&d->outs[OUT_SUMMARY], a->summary, &d->summary,
                                       d->common_edits, &job->source);
    if (status == EXIT_DONE)
        status = source_unchanged(&job->source);
    if (status == EXIT_DONE)
        status = outputs_commit(d->outs, EXPLAIN_OUTPUTS);
    if (status == EXIT_DONE && !a->general.quiet && !a->general.json)
        explain_pictures_tell(a);
    return status;
}

/* One target: its own search can be watched, stopped and traced. */
static int explain_one(delivery *d)
{
    const explain_job  *job = d->job;
    const explain_args *a = job->args;
    cbx_counterfactual *c = NULL;
    cbx_error           err;
    progress_begin(&d->bar, "explaining", a->general.quiet);
    cbx_status answer = cbx_explain(job->model, job->source.graph, job->rows[0], a->options,
                                    progress_update, &d->bar, &c, &err);
    progress_end(&d->bar);
    if (answer && !c)
        return fail_with(&err);
    bool stopped = answer == CBX_CANCELLED;
    int  status =
        stopped && a->output ? EXIT_INTERRUPTED : output_open(&d->outs[OUT_RESULTS], a->output);
    if (status == EXIT_DONE)
        (void)write_result(d, c);
    if (status == EXIT_DONE && !stopped)
        status = finish(d, c);
    cbx_counterfactual_free(c);
    return stopped ? interrupted(d) : status;
}

/* ---- answers that are kept as they come */

/* Of many targets, where they go to a file that can be gone on with. */
static bool is_kept(const explain_job *job)
{
    struct stat info;
    const char *path = job->args->output;
    return job->count > 1 && path && (stat(path, &info) || S_ISREG(info.st_mode));
}

static int on_progress(void *user, int64_t done, int64_t total, const char *text)
{
    delivery *d = user;
    (void)text;
    team_serve(&d->job->team);
    return progress_update(&d->bar, done, total, "");
}

/* One target's answers, and the next begins. */
static bool take_result(delivery *d, cbx_counterfactual **first)
{
    bool fine = true;
    if (*first && d->job->args->general.json)
        count_result(d, *first); /* the lines are written as they are */
    else if (*first)
        fine = write_result(d, *first);
    cbx_counterfactual_free(*first);
    *first = NULL;
    return fine;
}

/* Fills outs[OUT_RESULTS] from the lines that were kept. */
static int take_lines(delivery *d, FILE *lines, const char *path)
{
    cbx_counterfactual *first = NULL, *last = NULL, *c;
    cbx_error           err;
    char               *line = NULL;
    size_t              room = 0;
    int                 status = EXIT_DONE;
    while (status == EXIT_DONE && getline(&line, &room, lines) > 0) {
        if (cbx_counterfactual_parse(line, &c, NULL, NULL, &err)) {
            status = fail("%s: %s", path, err.message);
            break;
        }
        if (d->job->args->general.json)
            (void)fputs(line, d->outs[OUT_RESULTS].file);
        if (first && first->row != c->row && !take_result(d, &first))
            status = EXIT_FAILED; /* which finishing tells */
        if (first)
            last->next = c;
        else
            first = c;
        last = c;
    }
    if (status == EXIT_DONE && ferror(lines))
        status = fail("%s: cannot read: %s", path, strerror(errno));
    (void)take_result(d, &first);
    free(line);
    return status;
}

static int finish_kept(delivery *d)
{
    const explain_args *a = d->job->args;
    cbx_error           err;
    size_t              size = strlen(a->output) + sizeof ".part";
    char               *path = malloc(size);
    if (!path)
        return fail("out of memory");
    (void)snprintf(path, size, "%s.part", a->output);
    FILE *lines = fopen(path, "r");
    int   status = lines ? output_open(&d->outs[OUT_RESULTS], a->output)
                         : fail("%s: cannot read: %s", path, strerror(errno));
    if (status == EXIT_DONE)
        status = take_lines(d, lines, path);
    if (status == EXIT_DONE)
        status = finish(d, NULL);
    if (lines)
        (void)fclose(lines);
    free(path);
    if (status == EXIT_DONE && cbx_explain_forget(a->output, &err))
        status = fail_with(&err);
    return status;
}

/* Answers to data that changed meanwhile are worth nothing, and nothing to go on with. */
static int check_source(const explain_job *job)
{
    cbx_error err;
    int       status = source_unchanged(&job->source);
    if (status != EXIT_DONE && job->team.rank == 0 && cbx_explain_forget(job->args->output, &err))
        (void)fail_with(&err);
    return status;
}

static int explain_kept(delivery *d)
{
    const explain_job    *job = d->job;
    const explain_args   *a = job->args;
    const cbx_bench_team *team = job->team.size > 1 ? &job->team : NULL;
    cbx_error             err;
    int64_t               found = 0;
    progress_begin(&d->bar, "explaining", a->general.quiet || job->team.rank > 0);
    cbx_status answer =
        cbx_explain_kept(job->model, job->source.graph, job->rows, job->count, a->options,
                         a->output, a->resume, team, on_progress, d, &found, &err);
    progress_end(&d->bar);
    if ((!answer || answer == CBX_CANCELLED) && check_source(job))
        return EXIT_FAILED;
    if (answer == CBX_CANCELLED) {
        (void)fail("interrupted; what is done is kept in %s.part, and --resume goes on with it",
                   a->output);
        return EXIT_INTERRUPTED;
    }
    if (answer)
        return fail_with(&err);
    if (found && !a->general.quiet && !a->general.json && job->team.rank == 0)
        (void)printf("%lld of %lld were there already\n", (long long)found, (long long)job->count);
    return job->team.rank == 0 ? finish_kept(d) : EXIT_DONE;
}

static int explain_many(delivery *d)
{
    const explain_job  *job = d->job;
    const explain_args *a = job->args;
    cbx_error           err;
    if (is_kept(job))
        return explain_kept(d);
    int status = output_open(&d->outs[OUT_RESULTS], a->output);
    if (status)
        return status;
    progress_begin(&d->bar, "explaining", a->general.quiet);
    cbx_status answer = cbx_explain_many(job->model, job->source.graph, job->rows, job->count,
                                         a->options, deliver, progress_stop, d, &err);
    progress_end(&d->bar);
    if (!answer || d->no_memory || ferror(d->outs[OUT_RESULTS].file)) /* the last two cancel, too */
        return finish(d, NULL);
    return answer == CBX_CANCELLED ? interrupted(d) : fail_with(&err);
}

int explain_search(const explain_job *job)
{
    const explain_args *a = job->args;
    delivery            d = {.job = job};
    count_text          rows;
    double              started = now();
    cbx_error           err;
    if (!is_kept(job) && a->resume)
        return usage_error("explain", "--resume goes on with the answers to many targets in a "
                                      "file: it needs --output FILE");
    if (!is_kept(job) && job->team.size > 1)
        return usage_error("explain", "processes share the answers to many targets in a file: "
                                      "mpirun needs --output FILE");
    if (cbx_common_edits_new(&d.common_edits, &err))
        return fail_with(&err);
    d.summary.changes = malloc(((size_t)job->count + 1) * sizeof *d.summary.changes);
    if (!d.summary.changes) {
        cbx_common_edits_free(d.common_edits);
        return fail("out of memory");
    }
    int status = job->count == 1 ? explain_one(&d) : explain_many(&d);
    outputs_abandon(d.outs, EXPLAIN_OUTPUTS); /* whatever has not taken its place */
    if (status == EXIT_DONE && !a->general.json && !a->general.quiet && job->team.rank == 0) {
        if (a->output) {
            (void)printf("%s written to ",
                         text_counted(rows, job->count, source_row(&job->source)));
            text_put(stdout, a->output, 0);
            (void)printf("\n");
        }
        if (job->count > 1) {
            explain_print_summary(stdout, &d.summary, now() - started);
            explain_print_common_edits(stdout, d.common_edits, &job->source);
        }
    }
    explain_pictures_free(&d.pictures);
    cbx_common_edits_free(d.common_edits);
    free(d.summary.changes);
    return status;
}
