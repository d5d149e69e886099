/* SPDX-License-Identifier: Apache-2.0 */
/* phases.c: where the time of an explanation goes, and how far that is from what
 * this machine could do.
 *
 *     combinex_phases DATA MODEL ROW... [--epochs N] [--repeats N] [--budget N]
 *                     [--json] [--times]
 *
 * One thread, the published settings. Each target is explained `repeats` times
 * without any clock inside (the median counts) and once more with, for the shares.
 * --times: only those repeats, as JSON, and nothing that takes memory besides.
 *
 * The limit: what the method takes as it is written, without a value too many, at the
 * rates this machine reached in this run, one after the other. It is beaten where the
 * oracle's class is proved instead of computed (class_bound.h).
 *
 *   Products, at the rate of a large sgemm. Layer l reads rows_in rows and computes
 *   rows_out: those within as many hops as layers follow. It multiplies by W before
 *   or after adding up neighbours, whichever is less:
 *       2 in out rows_out + 2 in (edges + rows_out), or 2 in out rows_in + 2 out (edges + rows_out)
 *   and 2 in out rows_out for every further W that it has; all columns of the first
 *   layer's input count. Forward once an epoch; backward the same again, for steps at
 *   which the cross-entropy counts (eta = 1) only.
 *   Not counted: the thresholded pass, gradients of edge weights, reading W.
 *
 *   The step, at the rate of a large memcpy, whose bytes count twice: read and written.
 *   A live feature value has x, P, m, v read and P, m, v, soft written: 32 bytes, and
 *   4 more where there is a gradient to read. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/kit.h"
#include "blas.h"
#include "explain.h"
#include "explain_options.h"
#include "generate_options.h"
#include "kernel.h"

#define FORMULA                                                                            \
    "limit = products / sgemm + steps / copy. Products: each layer once an epoch, in the " \
    "cheaper order, and once more backward where the cross-entropy counts (eta = 1). "     \
    "Steps: 32 bytes a live feature value, 36 where eta = 1."

typedef struct job {
    cbx_graph          *graph;
    cbx_model          *model;
    cbx_explain_options options;
    cbx_setup           setup;
    int32_t            *rows;
    int                 count, repeats;
    bool                json, times;
} job;

typedef struct machine {
    double sgemm; /* floating-point operations a second */
    double copy;  /* bytes a second, read and written */
} machine;

typedef struct report {
    cbx_outcome outcome;
    int32_t     row, nodes, features, left_out; /* left_out: links beyond the budget */
    int64_t     edges, edits, epochs, pulls;    /* pulls: steps with eta = 1 */
    double      seconds;                        /* median, no clock inside */
    double      clocked;                        /* with the clock … */
    double      phases[CBX_PHASES];             /* … whose laps these are */
    double      flops, bytes, limit;            /* limit: seconds */
} report;

static const char *const phase_names[] = {"soft forward", "thresholded forward", "backward",
                                          "feature step", "edge step"};
enum { TIMED = sizeof phase_names / sizeof *phase_names };

static void stop(const char *what)
{
    fprintf(stderr, "combinex_phases: %s\n", what);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- the machine */

static double sgemm_rate(void)
{
    enum { N = 1536, TRIES = 8 };
    float *a = malloc(3 * sizeof *a * N * N), *b = a + N * N, *c = b + N * N;
    double best = 0;
    if (!a)
        stop("out of memory");
    for (int i = 0; i < 2 * N * N; i++)
        a[i] = (float)(i % 7) - 3;
    for (int i = 0; i < TRIES; i++) {
        double from = cbx_clock();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 0, c, N);
        double rate = 2.0 * N * N * N / (cbx_clock() - from);
        best = rate > best ? rate : best;
    }
    free(a);
    return best;
}

static double copy_rate(void)
{
    const size_t size = (size_t)256 << 20;
    enum { TRIES = 8 };
    char  *a = malloc(size), *b = malloc(size);
    double best = 0;
    if (!a || !b)
        stop("out of memory");
    memset(a, 1, size);
    memset(b, 2, size); /* so that every page is there before the clock runs */
    for (int i = 0; i < TRIES; i++) {
        double from = cbx_clock();
        memcpy(i % 2 ? a : b, i % 2 ? b : a, size);
        double rate = 2 * (double)size / (cbx_clock() - from);
        best = rate > best ? rate : best;
    }
    free(a);
    free(b);
    return best;
}

/* ---- what cannot be avoided */

static double layer_flops(const cbx_layer *l, const cbx_step *s, const cbx_view *view)
{
    double        in = l->n_in, out = l->n_out, before, after;
    double        messages = (double)view->offset[s->rows_out] + s->rows_out;
    int32_t       products = 0;
    cbx_parameter p;
    for (int32_t i = 0; l->ops->parameter(l, i, &p); i++)
        products += p.rows > 0;
    double further = 2 * in * out * s->rows_out * (products - 1);
    if (l->ops->reach(l) == 0)
        return further + 2 * in * out * s->rows_out;
    after = 2 * in * out * s->rows_out + 2 * in * messages;
    before = 2 * in * out * s->rows_in + 2 * out * messages;
    return further + (after < before ? after : before);
}

/* Of one forward pass on the factual graph of this row. */
static double forward_flops(const job *j, int32_t row)
{
    const cbx_model *m = j->model;
    cbx_arena        arena = {0};
    cbx_view         view;
    cbx_pass         pass;
    cbx_error        err;
    cbx_matrix       X = cbx_matrix_dense(0, m->num_features, (const float *)&arena); /* any */
    bool             graphs = m->task == CBX_GRAPH;
    double           flops = 2.0 * m->head_in * m->num_classes;
    int64_t          most = j->options.budget / m->num_features;
    most = most < INT32_MAX ? most : INT32_MAX;
    if (graphs ? cbx_view_graphs(j->graph, &row, 1, &arena, &view, &err)
               : cbx_view_nearest(j->graph, row, m->num_layers + 1, (int32_t)most, &arena, &view,
                                  &err))
        stop(err.message);
    X.rows = view.n;
    if (cbx_pass_init(&pass, m, &view, &X, false, 1, &arena, &err))
        stop(err.message);
    for (int32_t i = 0; i < m->num_layers; i++)
        flops += layer_flops(&m->layers[i], &pass.steps[i], &view);
    cbx_arena_free(&arena);
    return flops;
}

/* ---- measuring */

static cbx_counterfactual *explain(job *j, int32_t row, double *phases, bool trace,
                                   cbx_workspace *workspace)
{
    cbx_counterfactual *found;
    cbx_error           err;
    j->options.trace = trace;
    j->setup.phases = phases;
    if (cbx_explain_row(&j->setup, row, false, workspace, NULL, &found, &err))
        stop(err.message);
    return found;
}

static void describe(report *r, const cbx_counterfactual *c)
{
    r->outcome = c->outcome;
    r->nodes = c->num_nodes;
    r->features = c->num_features;
    r->edges = c->num_edges;
    r->edits = c->num_edits;
    r->left_out = c->num_left_out;
    r->epochs = c->epochs;
    for (int64_t t = 0; t + 1 < c->num_trace; t++)
        r->pulls += c->trace[t].eta > 0;
}

static void measure_times(job *j, report *r, cbx_workspace *workspace)
{
    double *seconds = malloc(sizeof *seconds * (size_t)j->repeats);
    if (!seconds)
        stop("out of memory");
    for (int i = 0; i < j->repeats; i++) {
        cbx_counterfactual *c = explain(j, r->row, NULL, false, workspace);
        seconds[i] = c->seconds;
        describe(r, c);
        cbx_counterfactual_free(c);
    }
    qsort(seconds, (size_t)j->repeats, sizeof *seconds, ascending);
    r->seconds = seconds[j->repeats / 2];
    free(seconds);
}

static void measure_phases(job *j, report *r, cbx_workspace *workspace)
{
    cbx_counterfactual *c = explain(j, r->row, r->phases, false, workspace);
    r->clocked = c->seconds;
    cbx_counterfactual_free(c);
}

static report measure(job *j, int32_t row, const machine *m, cbx_workspace *workspace)
{
    report r = {.row = row};
    if (j->times) {
        measure_times(j, &r, workspace);
        return r;
    }
    cbx_counterfactual *c = explain(j, row, NULL, true, workspace); /* also warms up */
    describe(&r, c);
    cbx_counterfactual_free(c);
    measure_times(j, &r, workspace);
    measure_phases(j, &r, workspace);
    r.flops = forward_flops(j, row) * (double)(r.epochs + r.pulls);
    r.bytes = 36 * r.phases[CBX_PULLED_VALUES] + 32 * r.phases[CBX_OTHER_VALUES];
    r.limit = r.flops / m->sgemm + r.bytes / m->copy;
    return r;
}

/* ---- saying it */

static double rest_of(const report *r)
{
    double rest = r->clocked;
    for (int i = 0; i < TIMED; i++)
        rest -= r->phases[i];
    return rest;
}

static void print_json(const report *r)
{
    printf("{\"row\": %d, \"status\": \"%s\", \"nodes\": %d, \"edges\": %lld, \"features\": %d, ",
           r->row, cbx_outcome_name(r->outcome), r->nodes, (long long)r->edges, r->features);
    printf("\"edits\": %lld, \"left_out\": %d, \"epochs\": %lld, \"seconds\": %.9g",
           (long long)r->edits, r->left_out, (long long)r->epochs, r->seconds);
    if (r->clocked == 0) { /* --times */
        printf("}\n");
        return;
    }
    printf(", \"pulls\": %lld, \"shares\": {", (long long)r->pulls);
    for (int i = 0; i < TIMED; i++)
        printf("\"%s\": %.6g, ", phase_names[i], r->phases[i] / r->clocked);
    printf("\"rest\": %.6g}, \"flops\": %.9g, \"bytes\": %.9g, \"limit\": %.9g}\n",
           rest_of(r) / r->clocked, r->flops, r->bytes, r->limit);
}

static void print_row(const report *r)
{
    printf("| %d | %d | %lld | %s | %.2f |", r->row, r->nodes, (long long)r->edges,
           cbx_outcome_name(r->outcome), r->seconds * 1e3);
    for (int i = 0; i < TIMED; i++)
        printf(" %.0f %% |", 100 * r->phases[i] / r->clocked);
    printf(" %.0f %% | %.3f | %.2f | %.1f |\n", 100 * rest_of(r) / r->clocked, r->flops / 1e9,
           r->limit * 1e3, r->seconds / r->limit);
}

static void print_head(const job *j, const machine *m)
{
    if (j->times)
        return;
    if (j->json) {
        printf("{\"sgemm\": %.6g, \"copy\": %.6g, \"formula\": \"%s\"}\n", m->sgemm, m->copy,
               FORMULA);
        return;
    }
    printf("This machine, one thread: sgemm %.1f GFLOP/s, copy %.1f GB/s.\n%s\n\n", m->sgemm / 1e9,
           m->copy / 1e9, FORMULA);
    printf("| target | nodes | edges | found | ms |");
    for (int i = 0; i < TIMED; i++)
        printf(" %s |", phase_names[i]);
    printf(" rest | GFLOP | limit ms | ms / limit |\n|");
    for (int i = 0; i < TIMED + 9; i++)
        printf("%s", i == 3 ? "---|" : "---:|");
    printf("\n");
}

/* ---- the command line */

static int64_t number(const char *text)
{
    char     *end;
    long long value = text ? strtoll(text, &end, 10) : -1;
    if (!text || end == text || *end || value < 0)
        stop("usage: combinex_phases DATA MODEL ROW... [--epochs N] [--repeats N] [--budget N] "
             "[--json] [--times]");
    return value;
}

static void read_flags(job *j, int argc, char **argv)
{
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            j->json = true;
        else if (!strcmp(argv[i], "--times"))
            j->times = j->json = true;
        else if (!strcmp(argv[i], "--epochs"))
            j->options.epochs = number(argv[++i]);
        else if (!strcmp(argv[i], "--budget"))
            j->options.budget = number(argv[++i]);
        else if (!strcmp(argv[i], "--repeats"))
            j->repeats = (int)number(argv[++i]);
        else
            j->rows[j->count++] = (int32_t)number(argv[i]);
    }
    if (!j->count || j->repeats < 1)
        (void)number(NULL);
}

static void open_files(job *j, const char *data, const char *model)
{
    cbx_error err;
    bool      builtin = cbx_builtin_about(data) != NULL;
    if (builtin ? cbx_graph_builtin_with(data, NULL, &j->graph, &err)
                : cbx_graph_load(data, &j->graph, &err))
        stop(err.message);
    if (cbx_model_load(model, &j->model, &err) ||
        cbx_setup_init(&j->setup, j->model, j->graph, &j->options, &err))
        stop(err.message);
}

int main(int argc, char **argv)
{
    job           j = {.repeats = 3};
    cbx_workspace workspace = {0};
    cbx_error     err;
    j.rows = calloc((size_t)argc + 1, sizeof *j.rows);
    cbx_fields_default(cbx_explain_table(), &j.options);
    (void)cbx_explain_preset_with(&j.options, "paper", NULL);
    if (!j.rows || cbx_explain_preset_with(&j.options, "paper", &err))
        stop("out of memory");
    if (argc < 4)
        (void)number(NULL);
    read_flags(&j, argc, argv);
    open_files(&j, argv[1], argv[2]);
    if (cbx_blas_begin(&err))
        stop(err.message);
    machine m = {0};
    if (!j.times)
        m = (machine){.sgemm = sgemm_rate(), .copy = copy_rate()};
    print_head(&j, &m);
    for (int i = 0; i < j.count; i++) {
        report r = measure(&j, j.rows[i], &m, &workspace);
        if (r.outcome == CBX_SKIPPED)
            fprintf(stderr, "combinex_phases: %d is a target that is skipped\n", r.row);
        else if (j.json)
            print_json(&r);
        else
            print_row(&r);
    }
    cbx_workspace_free(&workspace);
    cbx_setup_free(&j.setup);
    cbx_model_free(j.model);
    cbx_graph_free(j.graph);
    free(j.rows);
    return 0;
}
