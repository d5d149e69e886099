/* SPDX-License-Identifier: Apache-2.0 */
/* explain_search.c: runs the searches and writes each result as it comes, to standard output or
 * to a file. Files are there as a whole or not at all, and all of them or none. */
#include <stdlib.h>
#include <time.h>

#include "explain.h"
#include "progress.h"
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
    if (explain_pictures_wanted(d->job->args))
        explain_pictures_add(&d->pictures, d->job, c);
    explain_count(&d->summary, c);
    cbx_common_edits_add(d->common_edits, c);
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

static int explain_many(delivery *d)
{
    const explain_job  *job = d->job;
    const explain_args *a = job->args;
    cbx_error           err;
    int                 status = output_open(&d->outs[OUT_RESULTS], a->output);
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
    if (cbx_common_edits_new(&d.common_edits, &err))
        return fail_with(&err);
    d.summary.edits = malloc(((size_t)job->count + 1) * sizeof *d.summary.edits);
    if (!d.summary.edits) {
        cbx_common_edits_free(d.common_edits);
        return fail("out of memory");
    }
    int status = job->count == 1 ? explain_one(&d) : explain_many(&d);
    outputs_abandon(d.outs, EXPLAIN_OUTPUTS); /* whatever has not taken its place */
    if (status == EXIT_DONE && !a->general.json && !a->general.quiet) {
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
    free(d.summary.edits);
    return status;
}
