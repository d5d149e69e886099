/* SPDX-License-Identifier: Apache-2.0 */
/* robust.c: how many edits does it take to change a class? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "candidates.h"
#include "class_order.h"
#include "clock.h"
#include "deadline.h"
#include "error.h"
#include "combinex/extend.h"
#include "order.h"
#include "pass.h"
#include "radius.h"
#include "receptive.h"
#include "robust_options.h"
#include "threads.h"

enum { REMOVE, ADD, BOTH };
enum { TARGET_NEXT = -2, TARGET_ANY = -1 };
static const char *const edit_kinds[] = {"remove", "add", "both", NULL};
static const char *const edge_modes[] = {"directed", "undirected", NULL};

#define AT(field) offsetof(cbx_robust_options, field)
static const cbx_option own_options[] = {
    {"edits", CBX_OPTION_CHOICE, AT(edits), "remove", 0, 0, edit_kinds,
     "edges are removed, added, or both; add and both: graph tasks"},
    {"edges", CBX_OPTION_CHOICE, AT(edges), "undirected", 0, 0, edge_modes,
     "what one edit removes or adds: one direction or both"},
    {"target", CBX_OPTION_TEXT, AT(target), "any", 0, 0, NULL,
     "class that must not come to lead the prediction: any other, a class by name or number, or "
     "next (prediction + 1)"},
    {"budget", CBX_OPTION_INT, AT(budget), "0", 0, 1e9, NULL, "at most so many edits; 0: no limit"},
    {"share", CBX_OPTION_REAL, AT(share), "0", 0, 100, NULL,
     "per cent: at most this share of the row's directed edges, rounded up; 0: no limit"},
    {"local-budget", CBX_OPTION_INT, AT(local_budget), "-1", -1, 1e9, NULL,
     "at most so many edits at each node; -1: no limit"},
    {"local-strength", CBX_OPTION_INT, AT(local_strength), "-1", -1, 1e9, NULL,
     "at each node at most so many edits as this and its degree are more than the largest degree; "
     "-1: no limit"},
    {"decide", CBX_OPTION_BOOL, AT(decide), "false", 0, 0, NULL,
     "only whether the budget is enough, not how many edits it takes"},
    {"time-limit", CBX_OPTION_REAL, AT(time_limit), "60", 0, 1e9, NULL,
     "seconds per target; what is known then is the answer; 0: no limit"},
    {"threads", CBX_OPTION_INT, AT(threads), "0", 0, 1024, NULL,
     "targets at once, and where there are fewer, branches of one; 0: all cores"},
};
#undef AT
static const cbx_option_table robust_table =
    CBX_OPTION_TABLE("robust", own_options, cbx_robust_options);

const cbx_option_table *cbx_robust_table(void)
{
    return &robust_table;
}

/* ---- one row */

typedef struct asking {
    const cbx_model          *model;
    const cbx_graph          *data;
    const cbx_robust_options *options;
    const cbx_net            *net;
    int32_t                   asked_target;
    int                       threads; /* for one row */
    cbx_arena                *arena;
    /* of the row */
    int32_t           row, prediction, target;
    cbx_view          factual;
    cbx_candidates    all;
    cbx_matrix        X;
    cbx_partial_graph graph;
    cbx_view          view; /* as the model sees it: what is not there is marked */
    float            *w, *lost;
    uint8_t          *removed;
    cbx_pass          pass;
} asking;

static void make(void *user, int32_t choice, bool made)
{
    asking           *a = user;
    const cbx_choice *c = &a->graph.choices[choice];
    bool              there = made == c->adds;
    for (int64_t k = c->begin; k < c->end; k++) {
        int64_t e = a->graph.slots[k];
        a->w[e] = !there ? 0 : a->all.view.weight ? a->all.view.weight[e] : 1;
        a->removed[e] = !there;
        a->lost[a->graph.target_of[e]] += there ? 1 : -1;
    }
}

/* By how much what is sought leads the prediction. */
static double lead(void *user)
{
    asking *a = user;
    cbx_pass_forward(&a->pass, &a->X, a->w, 0, 0);
    const float *logp = a->pass.logp;
    int32_t      C = a->model->num_classes, best = cbx_best_class(logp, C, -1);
    int32_t      sought = a->target >= 0 ? a->target : cbx_best_class(logp, C, a->prediction);
    double       by = (double)logp[sought] - logp[a->prediction];
    return a->target < 0 && best == a->prediction ? fmin(by, 0) : by;
}

static cbx_status cut(asking *a, cbx_error *err)
{
    cbx_arena *arena = a->arena;
    cbx_view   whole = {0};
    cbx_status status = CBX_OK;
    if (a->data->data.task == CBX_GRAPH)
        return cbx_view_graphs(a->data, &a->row, 1, arena, &a->factual, err);
    if (cbx_receptive_needs_whole(a->model))
        status = cbx_view_whole(a->data, arena, &whole, err);
    if (!status)
        status = cbx_receptive_view(a->model, a->data, &whole, a->row, INT32_MAX, arena,
                                    &a->factual, err);
    return status;
}

/* Can the class depend on the slot? */
static bool matters(const asking *a, int64_t e)
{
    int32_t reach = cbx_model_reach(a->model);
    bool    degrees = cbx_model_sight(a->model) != CBX_SIGHT_MESSAGES;
    return a->data->data.task == CBX_GRAPH ||
           a->graph.target_of[e] < cbx_view_rows(&a->all.view, degrees ? reach : reach - 1);
}

static int64_t degree(const cbx_view *v, int32_t i)
{
    return v->offset[i + 1] - v->offset[i];
}

/* Edits that a node can take part in. */
static int64_t local_of(const asking *a, int32_t i, int64_t largest)
{
    const cbx_robust_options *o = a->options;
    int64_t                   local = o->local_budget >= 0 ? o->local_budget : INT64_MAX;
    if (o->local_strength >= 0) {
        int64_t by_degree = degree(&a->factual, i) - largest + o->local_strength;
        by_degree = by_degree > 0 ? by_degree : 0;
        local = by_degree < local ? by_degree : local;
    }
    return local;
}

static int64_t largest_degree(const cbx_view *v)
{
    int64_t most = 0;
    for (int32_t i = 0; i < v->n; i++)
        most = degree(v, i) > most ? degree(v, i) : most;
    return most;
}

static cbx_status find_candidates(asking *a, cbx_error *err)
{
    uint8_t *touched = CBX_NEW(a->arena, uint8_t, a->factual.n);
    int64_t  largest = largest_degree(&a->factual);
    if (!touched)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < a->factual.n; i++)
        touched[i] = local_of(a, i, largest) > 0;
    return cbx_candidates_find(&a->factual, a->options->edits != REMOVE, touched, a->arena, &a->all,
                               err);
}

/* The slots that go or come with this one: itself, and where edges have no direction all between
 * its two nodes. Returns how many, 0 where one of them has been met before. */
static int64_t together(const asking *a, int64_t e, int64_t *slots)
{
    const cbx_view *v = &a->all.view;
    int32_t         s = v->source[e], t = a->graph.target_of[e], ends[2][2] = {{s, t}, {t, s}};
    int64_t         count = 0;
    if (a->options->edges == 0) {
        slots[0] = e;
        return 1;
    }
    for (int way = 0; way < (s == t ? 1 : 2); way++)
        for (int64_t k = v->offset[ends[way][1]]; k < v->offset[ends[way][1] + 1]; k++)
            if (v->source[k] == ends[way][0]) {
                if (a->graph.choice_of[k] >= 0)
                    return 0;
                slots[count++] = k;
            }
    return count;
}

static void add_choices(asking *a, int64_t *slots)
{
    const cbx_view *v = &a->all.view;
    for (int64_t e = 0; e < v->m; e++) {
        bool absent = a->all.absent[e], any = false;
        if (a->graph.choice_of[e] >= 0 || (a->options->edits == ADD && !absent))
            continue;
        int32_t s = v->source[e], t = a->graph.target_of[e];
        int64_t count = together(a, e, slots);
        for (int64_t k = 0; k < count; k++)
            any = any || matters(a, slots[k]);
        /* GCN has a loop of its own, and one of weight 1 is the same */
        bool nothing = s == t && cbx_model_sight(a->model) == CBX_SIGHT_DEGREES;
        if (any && !nothing && a->graph.local[s] > 0 && a->graph.local[t] > 0)
            cbx_partial_graph_add(&a->graph, slots, count, s, t, absent);
    }
}

static cbx_status make_graph(asking *a, cbx_error *err)
{
    const cbx_robust_options *o = a->options;
    int64_t                   m = a->all.view.m, largest = largest_degree(&a->factual);
    int64_t                  *slots = CBX_NEW(a->arena, int64_t, m + 1);
    cbx_status                status =
        cbx_partial_graph_init(&a->graph, &a->all.view, a->all.absent, m, m, a->arena, err);
    if (status || !slots)
        return status ? status : cbx_fail_memory(err);
    for (int32_t i = 0; i < a->all.view.n; i++)
        a->graph.local[i] = local_of(a, i, largest);
    add_choices(a, slots);
    a->graph.budget = a->graph.count;
    if (o->budget > 0 && o->budget < a->graph.budget)
        a->graph.budget = o->budget;
    double part = ceil(o->share / 100 * (double)a->factual.m - 1e-9);
    if (o->share > 0 && part < (double)a->graph.budget)
        a->graph.budget = (int64_t)part;
    return cbx_partial_graph_ready(&a->graph, a->arena, err);
}

/* What asks the model: edges that are not there have weight 0 and are marked. */
static cbx_status make_pass(asking *a, cbx_error *err)
{
    const cbx_view *v = &a->all.view;
    a->view = *v;
    a->w = CBX_NEW(a->arena, float, v->m);
    a->removed = CBX_NEW(a->arena, uint8_t, v->m);
    a->lost = CBX_NEW(a->arena, float, v->n);
    if (!a->w || !a->removed || !a->lost)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < v->n; i++) {
        a->lost[i] = v->outside_count ? v->outside_count[i] : 0;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            a->removed[e] = a->all.absent[e];
            a->w[e] = a->all.absent[e] ? 0 : v->weight ? v->weight[e] : 1;
            a->lost[i] -= a->all.absent[e];
        }
    }
    a->view.outside_count = a->lost;
    a->view.removed = a->removed;
    cbx_status status = cbx_pass_init(&a->pass, a->model, &a->view, &a->X, false, 1, a->arena, err);
    if (!status)
        cbx_pass_forward(&a->pass, &a->X, a->w, 0, 0);
    if (!status && isnan(a->pass.logp[0]))
        return cbx_fail_overflow(a->data, a->row, err);
    return status;
}

static cbx_status prepare(asking *a, cbx_error *err)
{
    cbx_status status = cut(a, err);
    if (!status)
        status = find_candidates(a, err);
    if (!status)
        status = cbx_view_features(a->data, &a->all.view, a->arena, &a->X, err);
    if (!status)
        status = make_graph(a, err);
    if (!status)
        status = make_pass(a, err);
    if (status)
        return status;
    int32_t C = a->model->num_classes;
    a->prediction = cbx_best_class(a->pass.logp, C, -1);
    a->target = a->asked_target == TARGET_NEXT ? (a->prediction + 1) % C : a->asked_target;
    return CBX_OK;
}

static cbx_status answer(asking *a, cbx_radius *out, cbx_error *err)
{
    cbx_lead_bound    bound;
    cbx_radius_answer found = {.lower = 1};
    bool              known;
    cbx_status        status = prepare(a, err);
    if (!status)
        status = cbx_lead_bound_init(&bound, a->net, &a->graph, &a->X, a->arena, &known, err);
    if (status)
        return status;
    *out = (cbx_radius){.row = a->row, .prediction = a->prediction, .target = a->target};
    out->budget = a->graph.budget;
    if (!known)
        return cbx_fail(err, CBX_INVALID,
                        "%s %d: edges with weights, parallel edges or loops: of a normalised layer "
                        "on them no bound is known",
                        a->data->data.task == CBX_GRAPH ? "graph" : "node", a->row);
    if (a->target == a->prediction)
        return cbx_fail_option(err, "target", "%d is the prediction already", a->target);
    cbx_radius_question q = {
        .graph = &a->graph,
        .bound = &bound,
        .X = &a->X,
        .threads = a->threads,
        .asked = {.user = a, .make = make, .lead = lead, .alike = true, .leads_flip = true},
        .num_classes = a->model->num_classes,
        .prediction = a->prediction,
        .target = a->target,
        .dive = true,
        .decide = a->options->decide};
    status = cbx_radius_find(&q, a->arena, &found, err);
    out->lower_bound = found.lower;
    out->flips_with = found.upper;
    return status;
}

/* ---- many rows */

static cbx_status find_target(const cbx_model *model, const cbx_graph *graph, const char *text,
                              int32_t *target, cbx_error *err)
{
    char *end;
    *target = TARGET_ANY;
    if (!text || !strcmp(text, "any"))
        return CBX_OK;
    *target = TARGET_NEXT;
    if (!strcmp(text, "next"))
        return CBX_OK;
    if (!cbx_graph_find(graph, CBX_PART_CLASS, text, target, NULL) && *target < model->num_classes)
        return CBX_OK;
    long k = strtol(text, &end, 10);
    if (end == text || *end || k < 0 || k >= model->num_classes)
        return cbx_fail_option(err, "target", "'%s' is not next, any, or a class of this model",
                               text);
    *target = (int32_t)k;
    return CBX_OK;
}

static cbx_status check(const cbx_model *model, const cbx_graph *graph, const int32_t *rows,
                        int64_t count, const cbx_robust_options *o, cbx_error *err)
{
    int32_t    there = cbx_graph_label_rows(graph);
    cbx_status status = cbx_model_fits(model, graph, err);
    if (status)
        return status;
    if (o->edits != REMOVE && graph->data.task != CBX_GRAPH)
        return cbx_fail_option(err, "edits",
                               "%s is for graph tasks: a node's class can depend on an edge from "
                               "any other node",
                               edit_kinds[o->edits]);
    for (int64_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= there)
            return cbx_fail(err, CBX_INVALID, "%s %d does not exist: there are %d",
                            graph->data.task == CBX_GRAPH ? "graph" : "node", rows[i], there);
    return CBX_OK;
}

typedef struct batch {
    asking         about;
    const int32_t *rows;
    int64_t        count, done;
    cbx_progress   progress;
    void          *user;
    cbx_radius    *out;
    cbx_status     status;
    cbx_error      err;
} batch;

static int stop_asked(void *user, int64_t done, int64_t total, const char *text)
{
    batch *b = user;
    (void)done;
    (void)total;
    if (b->status)
        return 1;
    if (!b->progress || cbx_thread_number() != 0 || !b->progress(b->user, b->done, b->count, text))
        return 0;
#pragma omp critical(cbx_robust)
    b->status = cbx_fail(&b->err, CBX_CANCELLED, "cancelled after %lld of %lld targets",
                         (long long)b->done, (long long)b->count);
    return 1;
}

static void answer_one(batch *b, int64_t i, cbx_arena *arena)
{
    cbx_error    err = {0};
    cbx_deadline deadline;
    asking       a = b->about;
    double       began = cbx_clock();
    cbx_radius   one = {.row = b->rows[i], .lower_bound = 1};
    if (stop_asked(b, 0, 0, ""))
        return;
    a.row = b->rows[i];
    a.arena = arena;
    cbx_arena_reset(arena);
    cbx_deadline_begin(&deadline, a.options->time_limit, stop_asked, b);
    cbx_status status = answer(&a, &one, &err);
    bool       late = cbx_time_is_up() && !deadline.cancelled;
    cbx_deadline_end(&deadline);
    one.seconds = cbx_clock() - began;
    one.robust = one.flips_with > 0 ? 0 : !late && one.lower_bound > one.budget ? 1 : -1;
#pragma omp critical(cbx_robust)
    {
        if (status && !late && !b->status) {
            b->status = status;
            b->err = err;
        }
        b->out[i] = one;
        b->done++;
    }
}

static void run(batch *b, int threads)
{
    (void)threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        cbx_arena arena = {0};
        bool      before = cbx_order_fix(b->about.model->reproducible);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < b->count; i++)
            answer_one(b, i, &arena);
        (void)cbx_order_fix(before);
        cbx_arena_free(&arena);
    }
}

cbx_status cbx_robust(const cbx_model *model, const cbx_graph *graph, const int32_t *rows,
                      int64_t count, const cbx_options *options, cbx_progress progress, void *user,
                      cbx_radius *out, cbx_error *err)
{
    const void        *fields;
    cbx_robust_options fallback;
    cbx_net           *net = NULL;
    cbx_arena          arena = {0};
    cbx_status         status = cbx_options_fields(options, &robust_table, &fields, err);
    batch b = {.rows = rows, .count = count, .progress = progress, .user = user, .out = out};
    if (status)
        return status;
    cbx_fields_default(&robust_table, &fallback);
    b.about = (asking){.model = model, .data = graph, .options = fields ? fields : &fallback};
    status = check(model, graph, rows, count, b.about.options, err);
    if (!status)
        status = find_target(model, graph, b.about.options->target, &b.about.asked_target, err);
    if (!status)
        status = cbx_blas_begin(err);
    if (!status)
        status = cbx_net_of(model, &arena, &net, err);
    if (!status && !net)
        status = cbx_fail(err, CBX_INVALID,
                          "of this model no bounds are known: it takes layers gcn, graphconv, sage "
                          "or cheb of order 1, and a head of one layer");
    if (!status && cbx_model_reach(model) == 0)
        status = cbx_fail(err, CBX_INVALID,
                          "this model sees no edge (cheb of order 1): no edit of edges changes it");
    b.about.net = net;
    if (!status) {
        int threads = cbx_threads(b.about.options->threads);
        int rows_at_once = threads < count ? threads : (int)(count > 0 ? count : 1);
        b.about.threads = threads / rows_at_once;
        run(&b, rows_at_once);
        status = b.status;
        if (status && err)
            *err = b.err;
    }
    cbx_arena_free(&arena);
    return status;
}
