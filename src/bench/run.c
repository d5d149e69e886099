/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: a benchmark from start to end.
 *
 * First all oracles are trained, then all questions asked. Both lists are cut into
 * units, which the processes of a team take one by one; a process alone takes them all.
 * An answer depends on the oracle, the method and the row, and not on who asks, so the
 * rows are the same for every team and after every interruption. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "folder.h"
#include "graph.h"
#include "mixed_targets.h"
#include "trained_oracle.h"
#include "peak.h"
#include "rows.h"
#include "same_rows.h"
#include "summary.h"
#include "threads.h"
#include "utf8.h"
#include "view.h"

enum { PHASE_TRAIN, PHASE_ASK, PHASES };
enum { ROWS_PER_THREAD = 4 }; /* in a unit of a team: few, so that all end together */

typedef struct unit {
    int32_t  data, model, fold, method;
    int32_t *rows;          /* not yet answered */
    int64_t  count, before; /* rows of the units before it */
} unit;

typedef struct run {
    cbx_bench_plan         plan;
    const char            *folder;
    const cbx_bench_team  *team;
    const cbx_bench_hooks *hooks;
    cbx_bench_result      *result;
    int64_t                taken[PHASES]; /* by a process alone */
    unit                  *units;
    int64_t                num_units, total;
    cbx_arena              arena;
    cbx_line_file          part;
    int                    lock; /* of the folder, held by the first process; -1: none */
    double                 began;
    bool                   noted; /* in the manifest, that it has */
    /* what the last unit was about, kept for the next */
    int32_t            data, model, fold;
    cbx_model         *oracle;
    cbx_dataset_means *means;
    double             accuracy;
    cbx_mixed_targets  mixed;
    /* the unit in work */
    const unit *now;
    int64_t     done; /* of its rows, before the search that is running */
    char        text[192];
    cbx_status  status; /* of a callback that stopped the search */
    cbx_error   err;
} run;

static int64_t take(run *r, int phase)
{
    return r->team->size > 1 ? r->team->take(r->team->user, phase) : r->taken[phase]++;
}

static void meet(const run *r)
{
    if (r->team->size > 1)
        r->team->meet(r->team->user);
}

static void say_where(run *r, const char *what, int32_t data, int32_t model, int32_t fold)
{
    char text[sizeof r->text];
    (void)snprintf(text, sizeof text, "%s %s fold %d/%d: %s", r->plan.data[data].name,
                   r->plan.models[model], fold + 1, r->plan.folds, what);
    (void)cbx_text_show(r->text, sizeof r->text, text);
}

static void failed(run *r, const cbx_error *err)
{
    char text[CBX_MESSAGE_SIZE + sizeof r->text + 8];
    r->result->failures++;
    (void)snprintf(text, sizeof text, "%s: %s", r->text, err->message);
    if (r->hooks->failed)
        r->hooks->failed(r->hooks->user, text);
}

static int report(const run *r, int64_t done)
{
    return r->hooks->progress ? r->hooks->progress(r->hooks->user, done, r->total, r->text) : 0;
}

/* -------------------------------------------------------------- the folder */

static cbx_status gather(run *r, cbx_error *err)
{
    cbx_bench_rows rows;
    cbx_status     status = cbx_bench_rows_load(&r->plan, r->folder, &rows, err);
    if (status)
        return status;
    r->result->answers = rows.count;
    status = cbx_bench_rows_gather(&r->plan, r->folder, &rows, err);
    cbx_bench_rows_free(&rows);
    return status;
}

static cbx_status note(const run *r, const char *what, cbx_error *err)
{
    cbx_bench_event event = {.what = what,
                             .processes = r->team->size,
                             .jobs = cbx_threads(r->plan.options->jobs),
                             .answers = r->result->answers,
                             .asked = r->result->asked,
                             .seconds = cbx_clock() - r->began};
    return cbx_bench_manifest_add(r->folder, &event, err);
}

static cbx_status open_folder(run *r, bool resume, cbx_error *err)
{
    const char *other = r->plan.options->rows_of;
    cbx_status  status = cbx_bench_folder_open(&r->plan, r->folder, resume, &r->lock, err);
    if (!status && other)
        status = cbx_bench_same_rows(&r->plan, other, r->folder, err);
    if (!status)
        status = gather(r, err);
    if (!status)
        status = note(r, "begun", err);
    r->noted = !status;
    return status;
}

/* ------------------------------------------------------------ the oracles */

static int training(void *user, int64_t done, int64_t total, const char *text)
{
    run *r = user;
    (void)text;
    (void)done;
    (void)total;
    return report(r, 0);
}

/* Is there a question for it? */
static bool is_needed(const run *r, int32_t data, int32_t model, int32_t fold)
{
    for (int64_t i = 0; i < r->num_units; i++)
        if (r->units[i].data == data && r->units[i].model == model && r->units[i].fold == fold)
            return true;
    return false;
}

static cbx_status train_all(run *r, cbx_error *err)
{
    const cbx_bench_plan *p = &r->plan;
    int64_t               count = (int64_t)p->num_data * p->num_models * p->folds;
    for (int64_t i = take(r, PHASE_TRAIN); i < count; i = take(r, PHASE_TRAIN)) {
        int32_t   fold = (int32_t)(i % p->folds), cell = (int32_t)(i / p->folds);
        int32_t   data = cell / p->num_models, model = cell % p->num_models;
        cbx_error why = {0};
        if (!is_needed(r, data, model, fold))
            continue;
        say_where(r, "training", data, model, fold);
        cbx_status status =
            cbx_bench_oracle_make(p, r->folder, data, model, fold, training, r, &why);
        if (status == CBX_CANCELLED || report(r, 0))
            return cbx_fail(err, CBX_CANCELLED, "cancelled while training");
        if (status == CBX_IO) { /* a full disk: tables of what little fits would mislead */
            if (err)
                *err = why;
            return CBX_IO;
        }
        if (status)
            failed(r, &why);
        else
            r->result->oracles++;
    }
    return CBX_OK;
}

/* -------------------------------------------------------------- the units */

/* Appends the questions of one cell, fold and method that have no answer. */
static cbx_status add_units(run *r, const cbx_bench_rows *rows, unit u, int64_t room,
                            cbx_error *err)
{
    const cbx_bench_plan *p = &r->plan;
    int32_t               at = u.data * p->folds + u.fold;
    u.rows = CBX_NEW(&r->arena, int32_t, p->num_targets[at]);
    if (!u.rows)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < p->num_targets[at]; i++) {
        cbx_bench_row key = {u.data, u.model, u.fold, u.method, .row = p->targets[at][i]};
        if (!cbx_bench_rows_find(rows, &key))
            u.rows[u.count++] = key.row;
    }
    for (int64_t left = u.count; left > 0; left -= u.count, u.rows += u.count) {
        u.count = left < room ? left : room;
        u.before = r->total;
        r->total += u.count;
        r->units[r->num_units++] = u;
    }
    return CBX_OK;
}

static cbx_status cut_units(run *r, cbx_error *err)
{
    const cbx_bench_plan *p = &r->plan;
    cbx_bench_rows        rows;
    int64_t               room = INT64_MAX, most = 0;
    if (r->team->size > 1)
        room = ROWS_PER_THREAD * (int64_t)cbx_threads(p->options->jobs);
    for (int32_t i = 0; i < p->num_data * p->folds; i++)
        most += (int64_t)p->num_models * p->num_methods * (p->num_targets[i] / room + 1);
    r->units = CBX_NEW(&r->arena, unit, most);
    if (!r->units)
        return cbx_fail_memory(err);
    cbx_status status = cbx_bench_rows_load(p, r->folder, &rows, err);
    for (int32_t d = 0; d < p->num_data; d++)
        for (int32_t m = 0; m < p->num_models; m++)
            for (int32_t f = 0; f < p->folds; f++)
                for (int32_t k = 0; k < p->num_methods && !status; k++)
                    if (cbx_bench_applies(p, d, k))
                        status = add_units(r, &rows,
                                           (unit){.data = d, .model = m, .fold = f, .method = k},
                                           room, err);
    r->result->answers = rows.count;
    cbx_bench_rows_free(&rows);
    return status;
}

/* ------------------------------------------------------------ the answers */

static void forget_oracle(run *r)
{
    cbx_mixed_targets_free(&r->mixed);
    cbx_dataset_means_free(r->means);
    cbx_model_free(r->oracle);
    r->means = NULL;
    r->oracle = NULL;
}

static cbx_status bring_oracle(run *r, const unit *u, cbx_error *err)
{
    if (r->oracle && r->data == u->data && r->model == u->model && r->fold == u->fold)
        return CBX_OK;
    forget_oracle(r);
    r->data = u->data;
    r->model = u->model;
    r->fold = u->fold;
    cbx_status status = cbx_bench_oracle_load(&r->plan, r->folder, u->data, u->model, u->fold,
                                              &r->oracle, &r->accuracy, err);
    if (!status)
        status = cbx_dataset_means_new(r->oracle, r->plan.data[u->data].graph,
                                       r->plan.options->jobs, &r->means, err);
    if (!status)
        status = cbx_mixed_targets_init(&r->mixed, &r->plan, u->data, u->fold, r->oracle, err);
    if (status)
        forget_oracle(r);
    return status;
}

/* A cbx_on_result: measures the answer and writes it down. */
static int keep_answer(void *user, int64_t i, const cbx_counterfactual *c)
{
    (void)i;
    run             *r = user;
    const unit      *u = r->now;
    const cbx_graph *graph = r->plan.data[u->data].graph;
    cbx_bench_row    row = {.data = u->data,
                            .model = u->model,
                            .fold = u->fold,
                            .method = u->method,
                            .row = c->row,
                            .outcome = c->outcome,
                            .label = graph->data.y ? graph->data.y[c->row] : -1,
                            .prediction = c->prediction,
                            .target = c->target,
                            .result = c->result,
                            .nodes = c->num_nodes,
                            .edges = c->num_edges,
                            .epoch = c->epoch,
                            .accuracy = r->accuracy,
                            .certificate = c->certificate,
                            .best_lead = c->best_lead,
                            .seconds = c->seconds,
                            .peak_mb = cbx_peak_mb()};
    r->status = cbx_measure(r->means, c, &row.measures, &r->err);
    if (!r->status)
        r->status = cbx_bench_part_add(&r->part, &r->plan, &row, &r->err);
    if (r->status)
        return 1;
    r->result->asked++;
    return 0;
}

static int asking(void *user, int64_t done, int64_t total, const char *text)
{
    run *r = user;
    (void)total;
    (void)text;
    return report(r, r->now->before + r->done + done);
}

static cbx_status explain(run *r, const unit *u, const int32_t *rows, int64_t count,
                          const cbx_explain_options *options, cbx_error *err)
{
    cbx_status status = cbx_explain_many_with(r->oracle, r->plan.data[u->data].graph, rows, count,
                                              options, keep_answer, asking, r, err);
    r->done += count;
    return status;
}

/* A graph that is of the class already that the published program asks it for. */
static cbx_status keep_unchanged(run *r, const unit *u, int32_t row, cbx_error *err)
{
    const cbx_graph *graph = r->plan.data[u->data].graph;
    cbx_arena        arena = {0};
    cbx_view         view;
    cbx_status       status = cbx_view_graphs(graph, &row, 1, &arena, &view, err);
    if (!status) {
        int32_t class = r->mixed.prediction[row];
        cbx_counterfactual c = {.task = CBX_GRAPH,
                                .row = row,
                                .outcome = CBX_FOUND,
                                .prediction = class,
                                .target = class,
                                .result = class,
                                .num_nodes = view.n,
                                .num_edges = view.m};
        (void)keep_answer(r, 0, &c);
        r->done++;
    }
    cbx_arena_free(&arena);
    return status ? status : r->status;
}

/* With targets that differ from row to row: those of a class together. */
static cbx_status explain_mixed(run *r, const unit *u, cbx_explain_options *options, cbx_error *err)
{
    int32_t    classes = cbx_model_describe(r->oracle).num_classes;
    int32_t   *rows = malloc((size_t)u->count * sizeof *rows);
    cbx_status status = rows ? CBX_OK : cbx_fail_memory(err);
    char       target[16];
    for (int32_t class = 0; class < classes && !status; class ++) {
        int64_t count = 0;
        for (int64_t i = 0; i < u->count && !status; i++) {
            int32_t row = u->rows[i];
            if (r->mixed.target[row] != class)
                continue;
            if (r->mixed.prediction[row] == class)
                status = keep_unchanged(r, u, row, err);
            else
                rows[count++] = row;
        }
        (void)snprintf(target, sizeof target, "%d", class);
        options->target = target;
        if (!status && count)
            status = explain(r, u, rows, count, options, err);
    }
    options->target = NULL; /* it was this function's own */
    free(rows);
    return status;
}

/* Failing to write is the end; failing to explain is the unit's own business. */
static cbx_status ask(run *r, const unit *u, cbx_error *err)
{
    cbx_explain_options options;
    cbx_error           why = {0};
    say_where(r, r->plan.methods[u->method]->name, u->data, u->model, u->fold);
    r->now = u;
    r->done = 0;
    r->status = CBX_OK;
    cbx_peak_reset();
    cbx_status status = bring_oracle(r, u, &why);
    if (!status)
        status = cbx_bench_search(&r->plan, u->method, &options, &why);
    bool mixed = r->mixed.target && !r->plan.methods[u->method]->target;
    if (!status)
        status = mixed ? explain_mixed(r, u, &options, &why)
                       : explain(r, u, u->rows, u->count, &options, &why);
    if (r->status == CBX_IO) {
        if (err)
            *err = r->err;
        return CBX_IO;
    }
    if (r->status)
        why = r->err;
    else if (status == CBX_CANCELLED)
        return cbx_fail(err, CBX_CANCELLED, "cancelled; the argument resume goes on from here");
    if (status)
        failed(r, &why);
    return cbx_line_file_sync(&r->part, err);
}

static cbx_status ask_all(run *r, cbx_error *err)
{
    cbx_status status = cbx_bench_part_open(&r->part, r->folder, r->team->rank, err);
    if (status)
        return status;
    for (int64_t i = take(r, PHASE_ASK); i < r->num_units && !status; i = take(r, PHASE_ASK))
        status = ask(r, &r->units[i], err);
    cbx_line_file_close(&r->part);
    return status;
}

/* --------------------------------------------------------------- together */

static void tell_winners(const run *r, const cbx_bench_summary *s)
{
    for (int32_t c = 0; c < s->num_cells && r->hooks->won; c++) {
        cbx_bench_winner w = cbx_bench_winner_of(s, &s->cells[c]);
        r->hooks->won(r->hooks->user, &w);
    }
}

static cbx_status finish(run *r, cbx_error *err)
{
    cbx_bench_rows    rows;
    cbx_bench_summary summary;
    cbx_status        status = gather(r, err);
    if (!status)
        status = cbx_bench_rows_load(&r->plan, r->folder, &rows, err);
    if (status)
        return status;
    r->result->answers = rows.count;
    status = cbx_bench_summary_init(&summary, &r->plan, &rows, err);
    cbx_bench_rows_free(&rows);
    if (status)
        return status;
    status = cbx_bench_summarise(&summary, r->folder, err);
    if (!status)
        tell_winners(r, &summary);
    cbx_bench_summary_free(&summary);
    return status;
}

static cbx_status work(run *r, bool resume, cbx_error *err)
{
    bool       first = r->team->rank == 0;
    cbx_status status = first ? open_folder(r, resume, err) : CBX_OK;
    if (status)
        return status;
    if (r->plan.options->tables_only)
        return first ? finish(r, err) : CBX_OK;
    meet(r);
    status = cut_units(r, err);
    if (!status)
        status = train_all(r, err);
    if (status)
        return status;
    meet(r); /* all have read the rows, and all oracles are there */
    status = ask_all(r, err);
    if (status == CBX_CANCELLED && r->team->size == 1)
        (void)gather(r, NULL);
    if (status)
        return status;
    meet(r);
    return first ? finish(r, err) : CBX_OK;
}

cbx_status cbx_bench_run_with(const cbx_bench_options *options, const cbx_bench_data *data,
                              size_t num_data, const char *folder, bool resume,
                              const cbx_bench_team *team, const cbx_bench_hooks *hooks,
                              cbx_bench_result *result, cbx_error *err)
{
    static const cbx_bench_team  alone = {.size = 1};
    static const cbx_bench_hooks silent = {0};
    cbx_bench_result             unwanted = {0};
    run                          r = {.folder = folder,
                                      .team = team ? team : &alone,
                                      .hooks = hooks ? hooks : &silent,
                                      .result = result ? result : &unwanted,
                                      .part = {.fd = -1},
                                      .lock = -1,
                                      .began = cbx_clock()};
    static const char *const     endings[] = {"ended", "cancelled", "failed"};
    *r.result = (cbx_bench_result){0};
    cbx_status status = cbx_bench_plan_init(&r.plan, options, data, num_data, err);
    if (status)
        return status;
    status = work(&r, resume, err);
    if (r.noted) {
        cbx_status noted = note(&r,
                                endings[status == CBX_CANCELLED ? 1
                                        : status                ? 2
                                                                : 0],
                                status ? NULL : err);
        status = status ? status : noted;
    }
    if (r.lock >= 0)
        (void)close(r.lock);
    forget_oracle(&r);
    cbx_arena_free(&r.arena);
    cbx_bench_plan_free(&r.plan);
    return status;
}

cbx_status cbx_bench_run(const cbx_options *options, const cbx_bench_data *data, size_t num_data,
                         const char *folder, bool resume, const cbx_bench_team *team,
                         const cbx_bench_hooks *hooks, cbx_bench_result *result, cbx_error *err)
{
    const void *fields;
    cbx_status  status = cbx_options_fields(options, cbx_bench_table(), &fields, err);
    return status ? status
                  : cbx_bench_run_with(fields, data, num_data, folder, resume, team, hooks, result,
                                       err);
}
