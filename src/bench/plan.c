/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: from options to cells, methods and targets. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "explainer.h"
#include "graph.h"
#include "layer.h"
#include "number.h"
#include "rng.h"
#include "standardise.h"

enum { TEST_PART = 2, STREAM_SAMPLES = 71 }; /* of cbx_split; a stream of its own */

/* In the order of the paper's tables, and then what is not in them; the last ones are only run by
 * name, so that what "all" means in a plan stays what it was. */
static const cbx_bench_method methods[] = {
    {"combinex-def", "combinex", "constant", NULL, true, true},
    {"combinex-feat", "combinex", "features", NULL, true, false},
    {"combinex-dyn", "combinex", "dynamic", NULL, true, true},
    {"combinex-exp", "combinex", "exponential", NULL, true, true},
    {"combinex-lin", "combinex", "linear", NULL, true, true},
    {"combinex-sin", "combinex", "sinusoidal", NULL, true, true},
    {"ego", "ego", NULL, NULL, false, true},
    {"random-edges", "random-edges", NULL, NULL, false, true},
    {"random-features", "random-features", NULL, NULL, true, false},
    {"cff", "cff", NULL, NULL, false, true},
    {"cf-gnn", "cf-gnn", NULL, NULL, false, true},
    {"unr", "unr", NULL, NULL, false, true},
    {"minimal", "minimal", NULL, NULL, true, true},
    {"minimal-any", "minimal", NULL, "any", true, true},
    {"moexp", "moexp", NULL, NULL, false, true},
    {"rcexplainer", "rcexplainer", NULL, NULL, false, true},
    {"clear", "clear", NULL, NULL, true, true},
    {"d4", "d4", NULL, NULL, false, true},
};
enum { METHODS = sizeof methods / sizeof *methods, BY_NAME_ONLY = 4, NAMES_MAX = 32 };

/* By bit of plan->faults. */
static const char *const fault_names[] = {"rounding",  "shift",      "loss",  "targets",
                                          "any-class", "complement", "skips", NULL};
enum { FAULTS = sizeof fault_names / sizeof *fault_names - 1 };

/* Fills in `chosen` with the positions that a list of names, or "all", means. */
static cbx_status choose(const char *option, const char *list, const char *const *names,
                         int32_t all, int32_t *chosen, int32_t *count, cbx_error *err)
{
    *count = 0;
    if (!strcmp(list, "all")) {
        for (; *count < all; (*count)++)
            chosen[*count] = *count;
        return CBX_OK;
    }
    while (true) {
        size_t  length = strcspn(list, ",");
        char    word[64];
        int32_t at = 0;
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), list);
        while (names[at] && strcmp(names[at], word) != 0)
            at++;
        cbx_did_you_mean suggestion;
        if (!names[at])
            return cbx_fail_option(err, option, "there is no '%s'%s", word,
                                   cbx_suggest(suggestion, cbx_nearest_of(word, names)));
        for (int32_t k = 0; k < *count; k++)
            if (chosen[k] == at)
                return cbx_fail_option(err, option, "'%s' is there twice", word);
        chosen[(*count)++] = at;
        if (!list[length])
            return CBX_OK;
        list += length + 1;
    }
}

bool cbx_bench_applies(const cbx_bench_plan *plan, int32_t data, int32_t method)
{
    int k = 0;
    while (strcmp(cbx_explainer_at(k)->name, plan->methods[method]->explainer) != 0)
        k++;
    return cbx_explainer_explains(cbx_explainer_at(k),
                                  cbx_graph_arrays(plan->data[data].graph)->task);
}

static cbx_status choose_all(cbx_bench_plan *p, cbx_error *err)
{
    const char *names[METHODS + 1] = {0};
    int32_t     chosen[NAMES_MAX], num_models = 0;
    for (int32_t i = 0; i < METHODS; i++)
        names[i] = methods[i].name;
    while (cbx_layer_names[num_models])
        num_models++;
    cbx_status status = choose("models", p->options->models, cbx_layer_names, num_models, chosen,
                               &p->num_models, err);
    if (status)
        return status;
    p->models = CBX_NEW(&p->arena, const char *, p->num_models);
    for (int32_t i = 0; p->models && i < p->num_models; i++)
        p->models[i] = cbx_layer_names[chosen[i]];
    status = choose("explainers", p->options->explainers, names, METHODS - BY_NAME_ONLY, chosen,
                    &p->num_methods, err);
    if (status)
        return status;
    p->methods = CBX_NEW(&p->arena, const cbx_bench_method *, p->num_methods);
    for (int32_t i = 0; p->methods && i < p->num_methods; i++)
        p->methods[i] = &methods[chosen[i]];
    return p->models && p->methods ? CBX_OK : cbx_fail_memory(err);
}

static cbx_status choose_faults(cbx_bench_plan *p, cbx_error *err)
{
    int32_t chosen[NAMES_MAX], count = 0;
    if (strcmp(p->options->published_faults, "none") != 0) {
        cbx_status status = choose("published-faults", p->options->published_faults, fault_names,
                                   FAULTS, chosen, &count, err);
        if (status)
            return status;
    }
    for (int32_t i = 0; i < count; i++)
        p->faults |= 1u << chosen[i];
    return CBX_OK;
}

static cbx_status check_names(const cbx_bench_plan *p, cbx_error *err)
{
    if (!p->num_data)
        return cbx_fail(err, CBX_INVALID, "a benchmark needs a data set");
    for (int32_t i = 0; i < p->num_data; i++) {
        const char *name = p->data[i].name;
        if (!*name || strlen(name) > 100 || strpbrk(name, ",\"\n\r/"))
            return cbx_fail(err, CBX_INVALID,
                            "'%.120s' cannot be the name of a data set in a table: up to 100 "
                            "characters, none of them a comma, a quote or a slash",
                            name);
        for (int32_t k = 0; k < i; k++)
            if (!strcmp(p->data[k].name, name))
                return cbx_fail_option(err, "data", "'%s' is there twice", name);
    }
    return CBX_OK;
}

static int ascending(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

cbx_status cbx_bench_training(const cbx_bench_plan *plan, int32_t model, int32_t fold,
                              cbx_model_spec *spec, cbx_train_options *train, cbx_error *err)
{
    cbx_fields_default(cbx_model_table(), spec);
    cbx_fields_default(cbx_train_table(), train);
    train->epochs = plan->options->train_epochs;
    train->seed = plan->options->seed;
    train->fold = fold; /* another shuffle */
    train->standardise =
        plan->options->protocol == CBX_PROTOCOL_MEANT ? CBX_STANDARDISE_AUTO : CBX_STANDARDISE_OFF;
    train->threads = plan->options->jobs;
    return cbx_fields_set(cbx_model_table(), spec, "model", plan->models[model], err);
}

static cbx_status set_int(cbx_explain_options *options, const char *name, int64_t value,
                          cbx_error *err)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    return cbx_fields_set(cbx_explain_table(), options, name, text, err);
}

/* Those that are a matter of how a method is called. */
static cbx_status add_faults(unsigned faults, const cbx_bench_method *m,
                             cbx_explain_options *options, cbx_error *err)
{
    if (!strcmp(m->explainer, "combinex"))
        return set_int(options, "faults", faults & CBX_BENCH_FAULT_SEARCH, err);
    if (faults & CBX_BENCH_FAULT_ANY_CLASS && !strcmp(m->explainer, "unr"))
        return cbx_fields_set(cbx_explain_table(), options, "target", "any", err);
    if (faults & CBX_BENCH_FAULT_COMPLEMENT && !strcmp(m->explainer, "cff"))
        return cbx_fields_set(cbx_explain_table(), options, "cff-complement", "whole", err);
    return CBX_OK;
}

cbx_status cbx_bench_search(const cbx_bench_plan *plan, int32_t method,
                            cbx_explain_options *options, cbx_error *err)
{
    const cbx_bench_method *m = plan->methods[method];
    cbx_status              status = CBX_OK;
    cbx_fields_default(cbx_explain_table(), options);
    if (plan->options->preset == 0)
        status = cbx_explain_preset_with(options, "paper", err);
    else /* whatever the preset, methods are compared on the same targets */
        status = cbx_fields_set(cbx_explain_table(), options, "target", "next", err);
    if (!status)
        status = cbx_fields_set(cbx_explain_table(), options, "explainer", m->explainer, err);
    if (!status && m->policy)
        status = cbx_fields_set(cbx_explain_table(), options, "policy", m->policy, err);
    if (!status && m->target)
        status = cbx_fields_set(cbx_explain_table(), options, "target", m->target, err);
    if (!status && plan->options->protocol == CBX_PROTOCOL_MEANT)
        status = cbx_fields_set(cbx_explain_table(), options, "kinds", "auto", err);
    if (!status)
        status = add_faults(plan->faults, m, options, err);
    if (!status)
        status = set_int(options, "unr-rollouts", plan->options->unr_rollouts, err);
    options->min_edges = 0; /* every row counts, those without an edge too */
    options->epochs = plan->options->epochs;
    options->time_limit = plan->options->time_limit;
    options->seed = plan->options->seed;
    options->threads = plan->options->jobs;
    return status;
}

/* The same rows for every model and method. */
static cbx_status draw_targets(cbx_bench_plan *p, int32_t data, int32_t fold, cbx_error *err)
{
    const cbx_graph  *graph = p->data[data].graph;
    int32_t           rows = cbx_graph_label_rows(graph), count = 0, at = data * p->folds + fold;
    int32_t          *list = CBX_NEW(&p->arena, int32_t, rows);
    uint8_t          *part = malloc((size_t)rows + 1);
    cbx_model_spec    spec;
    cbx_train_options train;
    if (!list || !part) {
        free(part);
        return cbx_fail_memory(err);
    }
    cbx_status status = cbx_bench_training(p, 0, fold, &spec, &train, err);
    if (!status)
        status = cbx_split_with(graph, &train, part, err);
    for (int32_t i = 0; !status && i < rows; i++)
        if (part[i] == TEST_PART)
            list[count++] = i;
    free(part);
    if (status) {
        cbx_error_prefix(err, p->data[data].name);
        return status;
    }
    cbx_rng rng =
        cbx_rng_stream((uint64_t)p->options->seed, STREAM_SAMPLES, (uint64_t)fold, (uint64_t)rows);
    cbx_rng_shuffle(&rng, list, count);
    if (count > p->options->samples)
        count = (int32_t)p->options->samples;
    if (count)
        qsort(list, (size_t)count, sizeof *list, ascending);
    p->targets[at] = list;
    p->num_targets[at] = count;
    return CBX_OK;
}

static cbx_status write_text(cbx_bench_plan *p, cbx_error *err)
{
    const cbx_bench_options *o = p->options;
    size_t                   size;
    FILE                    *out = open_memstream(&p->text, &size);
    if (!out)
        return cbx_fail_memory(err);
    (void)fprintf(out, "version %s\n", cbx_version());
    for (int32_t i = 0; i < p->num_data; i++) {
        char hash[65];
        cbx_graph_hash(p->data[i].graph, hash);
        (void)fprintf(out, "data %s %s\n", p->data[i].name, hash);
    }
    for (int32_t i = 0; i < p->num_models; i++)
        (void)fprintf(out, "model %s\n", p->models[i]);
    for (int32_t i = 0; i < p->num_methods; i++)
        (void)fprintf(out, "explainer %s\n", p->methods[i]->name);
    (void)cbx_fprint(out,
                     "folds %lld\nsamples %lld\nprotocol %s\npreset %s\nepochs %lld\ntrain-epochs "
                     "%lld\ntime-limit %.17g\nunr-rollouts %lld\nseed %lld\n",
                     (long long)o->folds, (long long)o->samples,
                     o->protocol ? "meant" : "published", o->preset ? "none" : "paper",
                     (long long)o->epochs, (long long)o->train_epochs, o->time_limit,
                     (long long)o->unr_rollouts, (long long)o->seed);
    if (o->reproducible)
        (void)fputs("reproducible\n", out);
    for (int32_t i = 0; i < FAULTS; i++)
        if (p->faults & 1u << i)
            (void)fprintf(out, "published-fault %s\n", fault_names[i]);
    return fclose(out) ? cbx_fail_memory(err) : CBX_OK;
}

static cbx_status fill(cbx_bench_plan *p, cbx_error *err)
{
    cbx_status status = cbx_fields_check(cbx_bench_table(), p->options, err);
    if (!status)
        status = check_names(p, err);
    if (!status)
        status = choose_all(p, err);
    if (!status)
        status = choose_faults(p, err);
    if (status)
        return status;
    p->folds = (int32_t)p->options->folds;
    p->targets = CBX_NEW0(&p->arena, int32_t *, p->num_data * p->folds);
    p->num_targets = CBX_NEW0(&p->arena, int32_t, p->num_data * p->folds);
    if (!p->targets || !p->num_targets)
        return cbx_fail_memory(err);
    for (int32_t d = 0; d < p->num_data && !status; d++)
        for (int32_t f = 0; f < p->folds && !status; f++)
            status = draw_targets(p, d, f, err);
    return status ? status : write_text(p, err);
}

cbx_status cbx_bench_plan_init(cbx_bench_plan *plan, const cbx_bench_options *options,
                               const cbx_bench_data *data, size_t num_data, cbx_error *err)
{
    *plan = (cbx_bench_plan){.options = options, .data = data, .num_data = (int32_t)num_data};
    cbx_status status = fill(plan, err);
    if (status)
        cbx_bench_plan_free(plan);
    return status;
}

void cbx_bench_plan_free(cbx_bench_plan *plan)
{
    free(plan->text);
    plan->text = NULL;
    cbx_arena_free(&plan->arena);
}
