/* SPDX-License-Identifier: Apache-2.0 */
/* explain_replay.c: does what a file of results says still hold?
 *
 * Each line is read as data, its edits are made on the graph, and the model is
 * asked again: before, after, and whether the values that the edits replace are
 * the ones in the data, and whether they keep the rules that the line has. Nothing is taken from
 * the search that found them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "explain.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "text.h"

static const double TOLERANCE = 1e-4; /* of probabilities */

typedef char reason_text[CBX_MESSAGE_SIZE + 64];

typedef struct replay {
    const explain_job *job;
    FILE              *file;
    output             out;
    float             *before; /* log-probabilities of every row as the data is */
    float             *after;  /* of one row */
    int32_t            num_classes;
    const char        *text;                /* the line that is looked at */
    int64_t            line, checked, hold; /* lines read, those with a result, those that hold */
} replay;

static int32_t best_class(const float *log_probs, int32_t count)
{
    int32_t best = 0;
    for (int32_t k = 1; k < count; k++) {
        if (log_probs[k] > log_probs[best])
            best = k;
    }
    return best;
}

static float value_in_data(const cbx_graph_data *d, int32_t node, int32_t feature)
{
    if (d->x)
        return d->x[(int64_t)node * d->num_features + feature];
    for (int64_t k = d->x_indptr[node]; k < d->x_indptr[node + 1]; k++) {
        if (d->x_indices[k] == feature)
            return d->x_values[k];
    }
    return 0;
}

static bool values_hold(const replay *r, const cbx_counterfactual *c, reason_text why)
{
    const cbx_graph_data *d = r->job->source.view;
    for (int64_t i = 0; i < c->num_edits; i++) {
        const cbx_edit *e = &c->edits[i];
        if (e->op != CBX_SET_FEATURE || e->node < 0 || e->node >= d->num_nodes || e->feature < 0 ||
            e->feature >= d->num_features) /* these last are for the library to refuse */
            continue;
        float value = value_in_data(d, e->node, e->feature);
        if (value != e->from) {
            (void)snprintf(why, sizeof(reason_text),
                           "feature %d of node %d is %.9g in the data, not %.9g", (int)e->feature,
                           (int)e->node, (double)value, (double)e->from);
            return false;
        }
    }
    return true;
}

/* Class and probabilities as the model gives them, against what the line says. */
static bool answer_holds(const replay *r, const char *when, const float *now, const float *said,
                         int32_t class, reason_text why)
{
    class_text got, wanted;
    int32_t    best = best_class(now, r->num_classes);
    if (best != class) {
        (void)snprintf(why, sizeof(reason_text), "the class %s is %.100s, not %.100s", when,
                       source_class(&r->job->source, got, best),
                       source_class(&r->job->source, wanted, class));
        return false;
    }
    for (int32_t k = 0; k < r->num_classes; k++) {
        double p = exp((double)now[k]), q = exp((double)said[k]);
        if (!(fabs(p - q) <= TOLERANCE)) {
            (void)snprintf(why, sizeof(reason_text),
                           "the probability of %.100s %s is %.6f, not %.6f",
                           source_class(&r->job->source, got, k), when, p, q);
            return false;
        }
    }
    return true;
}

/* What can be told without asking the model. */
static bool fits(const replay *r, const cbx_counterfactual *c, const char *graph_hash,
                 const char *model_hash, reason_text why)
{
    const explain_job *job = r->job;
    const char        *reason = NULL;
    if (graph_hash[0] && strcmp(graph_hash, job->graph_hash) != 0)
        reason = "it was made with other data";
    else if (model_hash[0] && strcmp(model_hash, job->model_hash) != 0)
        reason = "it was made with another model";
    else if (c->task != job->source.view->task)
        reason = c->task == CBX_NODE ? "it is about a node, and the data has graphs"
                                     : "it is about a graph, and the data has nodes";
    else if (c->row >= source_rows(&job->source))
        reason = "the data has no such row";
    else if (c->prediction >= 0 && c->num_classes != r->num_classes)
        reason = "the model has another number of classes";
    else if (c->outcome == CBX_FOUND && c->result == c->prediction)
        reason = "it says found, and the class stays the same";
    else if (c->outcome == CBX_FOUND && c->target >= 0 && c->result != c->target)
        reason = "it says found, and the class is not the target";
    if (reason)
        (void)snprintf(why, sizeof(reason_text), "%s", reason);
    return !reason;
}

/* Does the edit undo with this one? The two edits of a one-hot group are one change. */
static bool is_one_change(const cbx_edit *e, const cbx_edit *with)
{
    return e == with || (e->op == CBX_SET_FEATURE && with->op == CBX_SET_FEATURE && e->group > 0 &&
                         e->group == with->group && e->node == with->node);
}

/* Do these edits, in place of the answer's, lose the flip, or break a rule, so that they count for
 * nothing? `what`: what was done to edit k. */
static bool loses_flip(const replay *r, const cbx_counterfactual *c, const cbx_edit *edits,
                       int64_t count, int64_t k, const char *what, reason_text why)
{
    cbx_error err;
    int32_t   result;
    if (cbx_check_edits(r->job->model, r->job->source.graph, c->row, edits, count, r->after,
                        &err)) {
        (void)snprintf(why, sizeof(reason_text), "%s", err.message);
        return false;
    }
    result = cbx_model_class_name(r->job->model, 0) ? -1 : best_class(r->after, r->num_classes);
    if (!cbx_is_flip(r->after, r->num_classes, c->prediction, c->target, c->threshold) ||
        cbx_edits_check_rules(r->text, r->job->source.graph, edits, count, result, &err) ==
            CBX_INVALID)
        return true;
    (void)snprintf(why, sizeof(reason_text), "it says %s, and edit %lld can %s",
                   cbx_certificate_name(c->certificate), (long long)k + 1, what);
    return false;
}

/* A step is a hundredth of what the data's values span, or 1 of whole numbers: one that is longer
 * promises less. */
static bool step_is_short(const replay *r, const cbx_edit *e, reason_text why)
{
    const cbx_graph_data *d = r->job->source.view;
    float                 lo = e->from, hi = e->from;
    bool                  whole = true;
    for (int32_t i = 0; i < d->num_nodes; i++) {
        float v = value_in_data(d, i, e->feature);
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
        whole = whole && v == rintf(v);
    }
    double longest = (double)(hi - lo) / 100;
    if (hi == lo || (double)e->step <= longest * (1 + 1e-6) || (whole && e->step <= 1))
        return true;
    (void)snprintf(why, sizeof(reason_text),
                   "the step of feature %d is %.9g, and a hundredth of its range is %.9g",
                   (int)e->feature, (double)e->step, longest);
    return false;
}

/* Alone, the value of edit k loses the flip a step, two, four, … back. `edits`: a copy of all. */
static bool stays(const replay *r, const cbx_counterfactual *c, int64_t k, cbx_edit *edits,
                  reason_text why)
{
    const cbx_edit *e = &c->edits[k];
    bool            holds = true;
    if (e->op != CBX_SET_FEATURE || !(e->step > 0))
        return true;
    if (!step_is_short(r, e, why))
        return false;
    memcpy(edits, c->edits, (size_t)c->num_edits * sizeof *edits);
    for (float way = e->step; holds && way < fabsf(e->to - e->from); way *= 2) {
        edits[k].to = e->to > e->from ? e->to - way : e->to + way;
        if (edits[k].to != e->to)
            holds = loses_flip(r, c, edits, c->num_edits, k, "be smaller", why);
    }
    return holds;
}

/* Irreducible: without any one of the changes, or a step of it, the class is not reached. That
 * nothing cheaper does cannot be checked again in a moment, and is not. */
static bool certificate_holds(const replay *r, const cbx_counterfactual *c, reason_text why)
{
    bool holds = true;
    if (c->certificate != CBX_IRREDUCIBLE && c->certificate != CBX_OPTIMAL)
        return true;
    cbx_edit *rest = malloc((size_t)(c->num_edits + 1) * sizeof *rest);
    if (!rest) {
        (void)snprintf(why, sizeof(reason_text), "out of memory");
        return false;
    }
    for (int64_t k = 0; k < c->num_edits && holds; k++) {
        int64_t left = 0;
        for (int64_t e = 0; e < c->num_edits; e++)
            if (!is_one_change(&c->edits[e], &c->edits[k]))
                rest[left++] = c->edits[e];
        holds = loses_flip(r, c, rest, left, k, "be left out", why) && stays(r, c, k, rest, why);
    }
    free(rest);
    return holds;
}

static bool result_holds(const replay *r, const cbx_counterfactual *c, reason_text why)
{
    const explain_job *job = r->job;
    const float       *before = r->before + (int64_t)c->row * r->num_classes;
    cbx_error          err;
    if (c->prediction < 0) /* says nothing that could be checked */
        return true;
    if (!answer_holds(r, "now", before, c->before, c->prediction, why))
        return false;
    if (c->outcome != CBX_FOUND)
        return true;
    if (!values_hold(r, c, why))
        return false;
    if (cbx_check_edits(job->model, job->source.graph, c->row, c->edits, c->num_edits, r->after,
                        &err) ||
        cbx_edits_check_rules(r->text, job->source.graph, c->edits, c->num_edits,
                              cbx_model_class_name(job->model, 0) ? -1 : c->result, &err)) {
        (void)snprintf(why, sizeof(reason_text), "%s", err.message);
        return false;
    }
    return answer_holds(r, "after the edits", r->after, c->after, c->result, why) &&
           certificate_holds(r, c, why);
}

static bool line_holds(const replay *r, reason_text why)
{
    cbx_counterfactual *c = NULL;
    char                graph_hash[65] = "", model_hash[65] = "";
    cbx_error           err;
    if (cbx_counterfactual_parse(r->text, &c, graph_hash, model_hash, &err)) {
        (void)snprintf(why, sizeof(reason_text), "%s", err.message);
        return false;
    }
    bool holds = fits(r, c, graph_hash, model_hash, why);
    if (holds && !(holds = result_holds(r, c, why))) {
        reason_text row;
        (void)snprintf(row, sizeof row, "%s %d: %.*s", source_row(&r->job->source), (int)c->row,
                       CBX_MESSAGE_SIZE, why);
        memcpy(why, row, sizeof row);
    }
    cbx_counterfactual_free(c);
    return holds;
}

static void report_broken(replay *r, const char *why)
{
    if (r->job->args->general.json) {
        json j = {.out = r->out.file};
        json_open(&j, NULL, '{');
        json_int(&j, "line", r->line);
        json_text(&j, "why", why);
        json_close(&j, '}');
        json_line(&j);
        return;
    }
    (void)fprintf(r->out.file, "line %lld: ", (long long)r->line);
    text_put(r->out.file, why, 0); /* it may quote the file */
    (void)fputc('\n', r->out.file);
}

/* Returns an exit status: that every line was looked at, not that all hold. */
static int check_lines(replay *r, progress *bar)
{
    char   *text = NULL;
    size_t  room = 0;
    ssize_t length;
    int64_t done = 0;
    int     status = EXIT_DONE;
    /* the size of a pipe is 0, and the bar then shows no share */
    struct stat info = {0};
    (void)fstat(fileno(r->file), &info);
    while (status == EXIT_DONE && (errno = 0, length = getline(&text, &room, r->file)) >= 0) {
        r->line++;
        done += length;
        if (text[strspn(text, " \t\r\n")]) {
            reason_text why = "";
            r->text = text;
            bool holds = line_holds(r, why);
            r->checked++;
            r->hold += holds;
            if (!holds) {
                progress_hide(bar);
                report_broken(r, why);
            }
        }
        if (progress_update(bar, done, info.st_size, "")) {
            (void)fail("interrupted after line %lld", (long long)r->line);
            status = EXIT_INTERRUPTED;
        }
    }
    if (status == EXIT_DONE && ferror(r->file))
        status = fail("%s: %s", r->job->args->replay, strerror(errno));
    else if (status == EXIT_DONE && !feof(r->file))
        status = fail("out of memory");
    free(text);
    return status;
}

static void print_sum(const replay *r)
{
    const general_options *general = &r->job->args->general;
    number_text            hold, all;
    json                   j = {.out = r->out.file};
    if (general->json) {
        json_open(&j, NULL, '{');
        json_int(&j, "lines", r->checked);
        json_int(&j, "hold", r->hold);
        json_close(&j, '}');
        json_line(&j);
    } else if (!general->quiet) {
        (void)fprintf(r->out.file, "%s of %s hold\n", text_count(hold, r->hold),
                      text_count(all, r->checked));
    }
}

static int run_replay(replay *r)
{
    const explain_args *a = r->job->args;
    progress            bar;
    int                 status = output_open(&r->out, a->output);
    if (status)
        return status;
    progress_begin(&bar, "checking", a->general.quiet);
    status = check_lines(r, &bar);
    progress_end(&bar);
    if (status == EXIT_DONE && !r->checked)
        status = fail("%s: there are no results in it", a->replay);
    if (status) {
        output_abandon(&r->out);
        return status;
    }
    print_sum(r);
    status = output_commit(&r->out);
    return status ? status : r->hold == r->checked ? EXIT_DONE : EXIT_FAILED;
}

int explain_replay(const explain_job *job)
{
    const explain_args *a = job->args;
    replay              r = {.job = job};
    cbx_error           err;
    int                 status;
    r.num_classes = cbx_model_describe(job->model).num_classes;
    size_t rows = (size_t)source_rows(&job->source), classes = (size_t)r.num_classes;
    r.file = fopen(a->replay, "r");
    if (!r.file)
        return fail("%s: %s", a->replay, strerror(errno));
    r.before = calloc(rows * classes + 1, sizeof *r.before);
    r.after = calloc(classes + 1, sizeof *r.after);
    if (!r.before || !r.after)
        status = fail("out of memory for %zu x %zu predictions", rows, classes);
    else if (cbx_predict(job->model, job->source.graph, args_whole(a->options, "threads"), r.before,
                         &err))
        status = fail_with(&err);
    else
        status = run_replay(&r);
    free(r.before);
    free(r.after);
    (void)fclose(r.file);
    return status;
}
