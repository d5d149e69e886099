/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: a benchmark from start to end.
 *
 * First all oracles are trained, then all questions asked. Both lists are cut into
 * units, which the processes of a team take one by one; a process alone takes them all.
 * An answer depends on the oracle, the method and the row, and not on who asks, so the
 * rows are the same for every team and after every interruption. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "graph.h"
#include "oracle.h"
#include "peak.h"
#include "rows.h"
#include "summary.h"
#include "threads.h"
#include "utf8.h"

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
    cbx_bench_part         part;
    int                    lock; /* of the folder, held by the first process; -1: none */
    /* what the last unit was about, kept for the next */
    int32_t        data, model, fold;
    cbx_model     *oracle;
    cbx_yardstick *yardstick;
    double         accuracy;
    /* the unit in work */
    const unit *now;
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

static cbx_status make_folder(const char *path, cbx_error *err)
{
    struct stat info;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &info) && S_ISDIR(info.st_mode)))
        return CBX_OK;
    return cbx_fail_errno(err, path, "make the folder");
}

/* The first line that differs says most. */
static cbx_status compare_plans(const char *path, const char *old, const char *new, cbx_error *err)
{
    while (true) {
        size_t a = strcspn(old, "\n"), b = strcspn(new, "\n");
        if (a != b || strncmp(old, new, a) != 0)
            return cbx_fail(err, CBX_INVALID,
                            "%s: was begun with other settings: '%.*s', and not '%.*s'", path,
                            (int)a, old, (int)b, new);
        if (!old[a] || !new[b])
            return CBX_OK;
        old += a + 1;
        new += b + 1;
    }
}

static cbx_status check_plan(const run *r, bool resume, cbx_error *err)
{
    char *path = cbx_bench_path(r->folder, "plan.txt"), *old = NULL;
    if (!path)
        return cbx_fail_memory(err);
    cbx_status status = cbx_bench_read(path, &old, err);
    if (!status && old && !resume)
        status = cbx_fail(err, CBX_INVALID,
                          "%s: a benchmark was begun here; --resume goes on with it", r->folder);
    else if (!status && old)
        status = compare_plans(path, old, r->plan.text, err);
    else if (!status)
        status = cbx_bench_write(path, r->plan.text, strlen(r->plan.text), err);
    free(old);
    free(path);
    return status;
}

static cbx_status gather(const run *r, cbx_error *err)
{
    cbx_bench_rows rows;
    cbx_status     status = cbx_bench_rows_load(&r->plan, r->folder, &rows, err);
    if (status)
        return status;
    status = cbx_bench_rows_gather(&r->plan, r->folder, &rows, err);
    cbx_bench_rows_free(&rows);
    return status;
}

/* Two at once would write over each other's parts. The lock goes with the process, however
 * it ends. Where the file system knows no locks, there is none. */
static cbx_status lock_folder(run *r, cbx_error *err)
{
    char *path = cbx_bench_path(r->folder, "lock");
    if (!path)
        return cbx_fail_memory(err);
    r->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    cbx_status status = CBX_OK;
    if (r->lock < 0)
        status = cbx_fail_errno(err, path, "write");
    else if (flock(r->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        status = cbx_fail(err, CBX_INVALID, "%s: another benchmark is running in this folder",
                          r->folder);
    free(path);
    return status;
}

static cbx_status open_folder(run *r, bool resume, cbx_error *err)
{
    cbx_status status = make_folder(r->folder, err);
    char      *models = cbx_bench_path(r->folder, "models");
    if (!models)
        return cbx_fail_memory(err);
    if (!status)
        status = make_folder(models, err);
    if (!status)
        status = lock_folder(r, err);
    if (!status) { /* nobody else is writing here */
        cbx_bench_sweep(r->folder);
        cbx_bench_sweep(models);
    }
    free(models);
    if (!status)
        status = check_plan(r, resume, err);
    return status ? status : gather(r, err);
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

static cbx_status train_all(run *r, cbx_error *err)
{
    const cbx_bench_plan *p = &r->plan;
    int64_t               count = (int64_t)p->num_data * p->num_models * p->folds;
    for (int64_t i = take(r, PHASE_TRAIN); i < count; i = take(r, PHASE_TRAIN)) {
        int32_t   fold = (int32_t)(i % p->folds), cell = (int32_t)(i / p->folds);
        int32_t   data = cell / p->num_models, model = cell % p->num_models;
        cbx_error why = {0};
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
    cbx_yardstick_free(r->yardstick);
    cbx_model_free(r->oracle);
    r->yardstick = NULL;
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
        status = cbx_yardstick_new(r->oracle, r->plan.data[u->data].graph, r->plan.options->jobs,
                                   &r->yardstick, err);
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
                            .seconds = c->seconds,
                            .peak_mb = cbx_peak_mb()};
    r->status = cbx_measure(r->yardstick, c, &row.measures, &r->err);
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
    return report(r, r->now->before + done);
}

/* Failing to write is the end; failing to explain is the unit's own business. */
static cbx_status ask(run *r, const unit *u, cbx_error *err)
{
    cbx_explain_options options;
    cbx_error           why = {0};
    say_where(r, r->plan.methods[u->method]->name, u->data, u->model, u->fold);
    r->now = u;
    r->status = CBX_OK;
    cbx_peak_reset();
    cbx_status status = bring_oracle(r, u, &why);
    if (!status)
        status = cbx_bench_search(&r->plan, u->method, &options, &why);
    if (!status)
        status = cbx_explain_many(r->oracle, r->plan.data[u->data].graph, u->rows, u->count,
                                  &options, keep_answer, asking, r, &why);
    if (r->status == CBX_IO) {
        if (err)
            *err = r->err;
        return CBX_IO;
    }
    if (r->status)
        why = r->err;
    else if (status == CBX_CANCELLED)
        return cbx_fail(err, CBX_CANCELLED, "cancelled; --resume goes on from here");
    if (status)
        failed(r, &why);
    return cbx_bench_part_sync(&r->part, err);
}

static cbx_status ask_all(run *r, cbx_error *err)
{
    cbx_status status = cbx_bench_part_open(&r->part, r->folder, r->team->rank, err);
    if (status)
        return status;
    for (int64_t i = take(r, PHASE_ASK); i < r->num_units && !status; i = take(r, PHASE_ASK))
        status = ask(r, &r->units[i], err);
    cbx_bench_part_close(&r->part);
    return status;
}

/* --------------------------------------------------------------- together */

static cbx_status finish(run *r, cbx_error *err)
{
    cbx_bench_rows rows;
    cbx_status     status = gather(r, err);
    if (!status)
        status = cbx_bench_rows_load(&r->plan, r->folder, &rows, err);
    if (status)
        return status;
    r->result->answers = rows.count;
    status = cbx_bench_summarise(&r->plan, &rows, r->folder, err);
    cbx_bench_rows_free(&rows);
    return status;
}

static cbx_status work(run *r, bool resume, cbx_error *err)
{
    bool       first = r->team->rank == 0;
    cbx_status status = first ? open_folder(r, resume, err) : CBX_OK;
    if (status)
        return status;
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

cbx_status cbx_bench_run(const cbx_bench_options *options, const cbx_bench_data *data,
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
                                      .lock = -1};
    *r.result = (cbx_bench_result){0};
    cbx_status status = cbx_bench_plan_init(&r.plan, options, data, num_data, err);
    if (status)
        return status;
    status = work(&r, resume, err);
    if (r.lock >= 0)
        (void)close(r.lock);
    forget_oracle(&r);
    cbx_arena_free(&r.arena);
    cbx_bench_plan_free(&r.plan);
    return status;
}
