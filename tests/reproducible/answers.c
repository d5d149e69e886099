/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c: trains, predicts and explains reproducibly, and prints every bit of it.
 *
 * answers [THREADS] [fast]: what it prints is the same on every processor, or with `fast`, the
 * usual order, it need not be. run.sh holds it against tests/golden/reproducible.sha256. It uses
 * nothing but the public headers, and what it uses of the library takes nothing but the C library,
 * OpenMP and a BLAS, so that it can be linked and emulated where there is nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combinex/kit.h"

static int  threads = 1;
static bool fixed = true;

static void stop(const char *what, const cbx_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

static cbx_options *options_of(const cbx_option_table *table)
{
    cbx_options *options;
    cbx_error    err;
    if (cbx_options_new(table, &options, &err))
        stop("options", &err);
    return options;
}

static void set(cbx_options *options, const char *name, const char *value)
{
    cbx_error err;
    if (cbx_options_set(options, name, value, &err))
        stop(name, &err);
}

static void set_number(cbx_options *options, const char *name, int value)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d", value);
    set(options, name, text);
}

static void put_floats(const char *name, size_t count, const float *values)
{
    (void)printf("%s", name);
    for (size_t i = 0; i < count; i++)
        (void)printf(" %a", (double)values[i]);
    (void)printf("\n");
}

/* ---- graphs */

static cbx_graph *builtin(const char *name)
{
    cbx_options *o = options_of(cbx_generate_table());
    cbx_graph   *g;
    cbx_error    err;
    set(o, "seed", "5");
    if (!strcmp(name, "erdos-renyi")) {
        set(o, "nodes", "60");
        set(o, "degree", "5");
        set(o, "features", "37");
        set(o, "classes", "3");
    }
    if (cbx_graph_builtin(name, o, &g, &err))
        stop(name, &err);
    cbx_options_free(o);
    return g;
}

enum { GRAPHS = 12, NODES = 7, FEATURES = 5 };

/* Rings of different features, a class for each. */
static cbx_graph *rings(void)
{
    static int64_t source[2 * GRAPHS * NODES], target[2 * GRAPHS * NODES], ptr[GRAPHS + 1];
    static int64_t y[GRAPHS];
    static float   x[GRAPHS * NODES * FEATURES];
    int64_t        m = 0;
    uint32_t       state = 7;
    cbx_graph     *g;
    cbx_error      err;
    for (int64_t k = 0; k < GRAPHS; k++) {
        ptr[k + 1] = (k + 1) * NODES;
        y[k] = k % 2;
        for (int64_t i = 0; i < NODES; i++, m += 2) {
            source[m] = target[m + 1] = k * NODES + i;
            target[m] = source[m + 1] = k * NODES + (i + 1) % NODES;
            for (int64_t j = 0; j < FEATURES; j++) {
                state = state * 1664525u + 1013904223u;
                x[(k * NODES + i) * FEATURES + j] = (float)(state >> 8) / 8388608.0f + (float)y[k];
            }
        }
    }
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = GRAPHS * NODES,
                        .num_features = FEATURES,
                        .num_graphs = GRAPHS,
                        .num_edges = m,
                        .edge_source = source,
                        .edge_target = target,
                        .x = x,
                        .y = y,
                        .graph_ptr = ptr};
    if (cbx_graph_new(&d, &g, &err))
        stop("rings", &err);
    return g;
}

/* ---- models */

static cbx_model *trained(const cbx_graph *graph, const char *conv, const char *aggregation,
                          const char *hidden)
{
    cbx_options *spec = options_of(cbx_model_table()), *options = options_of(cbx_train_table());
    cbx_model   *model;
    cbx_error    err;
    set(spec, "model", conv);
    set(spec, "aggregation", aggregation);
    set(spec, "hidden", hidden);
    set(spec, "layers", "2");
    set(spec, "order", "3");
    set(options, "epochs", "40");
    set(options, "learning-rate", "0.01");
    set_number(options, "threads", threads);
    if (cbx_model_new(graph, spec, 3, &model, &err))
        stop(conv, &err);
    cbx_model_set_reproducible(model, fixed);
    if (cbx_train(model, graph, options, NULL, NULL, NULL, &err))
        stop(conv, &err);
    cbx_options_free(spec);
    cbx_options_free(options);
    return model;
}

static void put_model(const cbx_model *model, const cbx_graph *graph, size_t rows)
{
    const char *name;
    int32_t     down, across;
    cbx_error   err;
    for (size_t i = 0; cbx_model_parameter(model, i, &name, &down, &across); i++) {
        float *values = malloc((size_t)down * (size_t)across * sizeof *values);
        if (cbx_model_get(model, i, values, (int64_t)down * across, &err))
            stop(name, &err);
        put_floats(name, (size_t)down * (size_t)across, values);
        free(values);
    }
    size_t classes = (size_t)cbx_model_describe(model).num_classes;
    float *logp = malloc(rows * classes * sizeof *logp);
    if (cbx_predict(model, graph, threads, logp, &err))
        stop("predict", &err);
    put_floats("predictions", rows * classes, logp);
    free(logp);
}

/* ---- answers */

static int put_answer(void *user, int64_t i, const cbx_counterfactual *c)
{
    (void)user;
    for (; c; c = c->next) {
        (void)printf(
            "row %d %lld %s %d -> %d, epoch %lld loss %a cost %a margin %a robustness %a\n", c->row,
            (long long)i, cbx_outcome_name(c->outcome), c->prediction, c->result,
            (long long)c->epoch, c->loss, c->cost, c->margin, c->robustness);
        put_floats("before", (size_t)c->num_classes, c->before);
        if (c->after)
            put_floats("after", (size_t)c->num_classes, c->after);
        for (int64_t k = 0; k < c->num_edits; k++) {
            const cbx_edit *e = &c->edits[k];
            if (e->op == CBX_REMOVE_EDGE)
                (void)printf("remove %d %d %a\n", e->source, e->target, (double)e->influence);
            else
                (void)printf("set %d %d %a %a %a\n", e->node, e->feature, (double)e->from,
                             (double)e->to, (double)e->influence);
        }
    }
    return 0;
}

/* "name=value" one after the other, separated by blanks. */
static void explain(const cbx_model *model, const cbx_graph *graph, const char *how, int faults)
{
    static const int32_t rows[] = {1, 4, 6, 9};
    cbx_options         *options = options_of(cbx_explain_table());
    cbx_error            err;
    char                 text[256], *at = text;
    (void)printf("== %s\n", how);
    (void)snprintf(text, sizeof text, "%s", how);
    set_number(options, "threads", threads);
    set(options, "epochs", "40");
    set(options, "unr-rollouts", "30");
    set_number(options, "faults", faults);
    set(options, "target", "any");
    while (*at) {
        char *end = at + strcspn(at, " "), *equals = strchr(at, '=');
        char *next = *end ? end + 1 : end;
        *end = *equals = '\0';
        set(options, at, equals + 1);
        at = next;
    }
    if (cbx_explain_many(model, graph, rows, 4, options, put_answer, NULL, NULL, &err))
        stop(how, &err);
    cbx_options_free(options);
}

static void explain_all(const cbx_model *model, const cbx_graph *graph, bool nodes)
{
    static const char *const ways[] = {
        "explainer=minimal total-cfs=2",
        "explainer=combinex",
        "explainer=combinex policy=exponential decay=9 optimiser=sgd",
        "explainer=combinex policy=sinusoidal optimiser=adadelta edges=undirected",
        "explainer=cf-gnn",
        "explainer=cff cff-scores=probability",
        "explainer=ego",
        "explainer=random-features",
        "explainer=random-edges",
    };
    const int all_faults = 7; /* of the published program */
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        explain(model, graph, ways[i], 0);
    explain(model, graph, "explainer=combinex", all_faults);
    if (nodes)
        explain(model, graph, "explainer=unr", 0);
}

static void all_of(cbx_graph *graph, const char *name, const char *conv, const char *aggregation,
                   const char *hidden)
{
    const cbx_graph_data *d = cbx_graph_arrays(graph);
    bool                  nodes = d->task == CBX_NODE;
    cbx_model            *model = trained(graph, conv, aggregation, hidden);
    (void)printf("==== %s %s %s %s\n", name, conv, aggregation, hidden);
    put_model(model, graph, (size_t)(nodes ? d->num_nodes : d->num_graphs));
    explain_all(model, graph, nodes);
    cbx_model_free(model);
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 1;
    fixed = argc < 3 || strcmp(argv[2], "fast") != 0;
    cbx_graph *karate = builtin("karate"), *random = builtin("erdos-renyi"), *many = rings();
    all_of(karate, "karate", "gcn", "add", "40"); /* sizes that fill no vector */
    all_of(karate, "karate", "cheb", "add", "24");
    all_of(random, "erdos-renyi", "gcn", "add", "33");
    all_of(random, "erdos-renyi", "graphconv", "mean", "16");
    all_of(random, "erdos-renyi", "graphconv", "max", "12");
    all_of(many, "rings", "gcn", "add", "18");
    cbx_graph_free(karate);
    cbx_graph_free(random);
    cbx_graph_free(many);
    return 0;
}
