/* SPDX-License-Identifier: Apache-2.0 */
/* setup.c: checking the options of a call against the graph and the model. */
#include "setup.h"

#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "bounds.h"
#include "combinex/extend.h"
#include "error.h"
#include "layer_inputs.h"
#include "read_additions.h"
#include "read_rules.h"
#include "receptive.h"
#include "threads.h"

static cbx_status unknown_target(const cbx_setup *s, const char *text, cbx_error *err)
{
    const cbx_graph_data *d = &s->graph->data;
    cbx_nearest           near;
    cbx_did_you_mean      suggestion;
    cbx_nearest_begin(&near, text);
    cbx_nearest_try(&near, "next");
    cbx_nearest_try(&near, "any");
    for (int32_t k = 0; d->class_names && k < d->num_classes; k++)
        cbx_nearest_try(&near, d->class_names[k]);
    return cbx_fail_option(err, "target", "'%s' is not next, any, or a class of this model%s", text,
                           cbx_suggest(suggestion, near.best));
}

static cbx_status find_target(cbx_setup *s, cbx_error *err)
{
    const char *text = s->options->target ? s->options->target : "any";
    int32_t     C = s->model->num_classes;
    if (!strcmp(text, "next") || !strcmp(text, "any")) {
        s->target = text[0] == 'n' ? CBX_TARGET_NEXT : CBX_TARGET_ANY;
        return CBX_OK;
    }
    if (!cbx_graph_find(s->graph, CBX_PART_CLASS, text, &s->target, NULL) && s->target < C)
        return CBX_OK;
    char *end;
    long  k = strtol(text, &end, 10); /* the model may know more classes than the data has */
    if (end == text || *end)
        return unknown_target(s, text, err);
    if (k < 0 || k >= C)
        return cbx_fail_option(err, "target", "class %s does not exist: classes are 0 to %d", text,
                               C - 1);
    s->target = (int32_t)k;
    return CBX_OK;
}

/* kinds auto: a feature is discrete if all its values are whole numbers. */
static cbx_status find_kinds(cbx_setup *s, cbx_error *err)
{
    const cbx_graph_data *d = &s->graph->data;
    s->discrete = d->discrete;
    if (s->options->kinds != CBX_KINDS_AUTO)
        return CBX_OK;
    uint8_t *discrete = cbx_bounds_fractions(d, &s->arena);
    if (!discrete)
        return cbx_fail_memory(err);
    for (int32_t j = 0; j < d->num_features; j++)
        discrete[j] = !discrete[j];
    s->discrete = discrete;
    return CBX_OK;
}

/* Outgoing edges, and the graph's shape, are looked up in the whole graph. */
static cbx_status make_whole(cbx_setup *s, cbx_error *err)
{
    bool outgoing = s->explainer->searches_all && cbx_receptive_needs_whole(s->model);
    bool distances = cbx_edits_add(&s->rules) && s->rules.add_within > 0;
    if (!outgoing && !distances && s->options->keep == CBX_KEEP_NOTHING)
        return CBX_OK;
    cbx_view *whole = CBX_NEW(&s->arena, cbx_view, 1);
    s->whole = whole;
    return whole ? cbx_view_whole(s->graph, &s->arena, whole, err) : cbx_fail_memory(err);
}

/* Where edges may come from so many nodes that a search is offered the most promising only. */
static cbx_status find_inputs(cbx_setup *s, cbx_error *err)
{
    const cbx_graph_data *d = &s->graph->data;
    if (!cbx_edits_add(&s->rules) || d->task == CBX_GRAPH || s->model->oracle ||
        d->num_nodes <= s->options->add_candidates)
        return CBX_OK;
    return cbx_layer_inputs_new(s->model, s->graph, cbx_threads(s->options->threads), &s->arena,
                                &s->inputs, err);
}

static cbx_status find_bounds(cbx_setup *s, cbx_error *err)
{
    const cbx_graph_data *d = &s->graph->data;
    size_t                f = (size_t)d->num_features;
    float                *lo = CBX_NEW(&s->arena, float, f), *hi = CBX_NEW(&s->arena, float, f);
    s->lo = lo;
    s->hi = hi;
    if (!lo || !hi)
        return cbx_fail_memory(err);
    if (f) {
        memcpy(lo, d->feat_min, f * sizeof *lo);
        memcpy(hi, d->feat_max, f * sizeof *hi);
    }
    return cbx_bounds_round(d, s->discrete, lo, hi, &s->arena) ? cbx_fail_memory(err) : CBX_OK;
}

cbx_status cbx_setup_init(cbx_setup *s, const cbx_model *model, const cbx_graph *graph,
                          const cbx_explain_options *options, cbx_error *err)
{
    *s = (cbx_setup){.model = model, .graph = graph, .named = graph};
    if (!options)
        cbx_fields_default(cbx_explain_table(), &s->fallback);
    s->options = options ? options : &s->fallback;
    cbx_status status = cbx_fields_check(cbx_explain_table(), s->options, err);
    if (!status)
        status = cbx_model_fits(model, graph, err);
    if (!status)
        status = cbx_used_find(model, graph, &s->arena, &s->used, err);
    if (!status && s->used) {
        s->graph = &s->used->graph;
        s->model = s->used->model;
    }
    if (!status)
        status = find_target(s, err);
    if (!status)
        status = find_kinds(s, err);
    if (!status)
        status = find_bounds(s, err);
    s->explainer = cbx_explainer_at(s->options->explainer);
    if (!status)
        s->settings = cbx_explainer_settings(s->explainer, s->options);
    if (!status)
        status = cbx_rules_init(&s->rules, s, &s->arena, err);
    if (!status)
        status = cbx_additions_check(s, err);
    if (!status && s->explainer->descends && model->oracle && model->oracle->estimates)
        status =
            cbx_fail(err, CBX_INVALID,
                     "the explainer '%s' follows gradients, and this model has none by features "
                     "and edge weights; 'minimal' does without",
                     s->explainer->name);
    if (!status && !cbx_explainer_explains(s->explainer, graph->data.task))
        status = cbx_fail_option(err, "explainer",
                                 "%s explains %s only, and this data set has a class for each %s",
                                 s->explainer->name, s->explainer->nodes_only ? "nodes" : "graphs",
                                 s->explainer->nodes_only ? "graph" : "node");
    if (!status && s->explainer->embeds && model->oracle)
        status = cbx_fail(err, CBX_INVALID,
                          "the explainer '%s' compares embeddings of layers, and a model of the "
                          "kind '%s' has none",
                          s->explainer->name, model->oracle->kind);
    if (!status)
        status = cbx_blas_begin(err);
    if (!status)
        status = make_whole(s, err);
    if (!status)
        status = find_inputs(s, err);
    if (!status && s->explainer->prepare)
        status = s->explainer->prepare(s, &s->arena, &s->shared, err);
    if (cbx_search_status(status))
        cbx_setup_free(s);
    return status;
}

cbx_status cbx_setup_for_rules(cbx_setup *s, const cbx_graph *graph,
                               const cbx_explain_options *options, cbx_error *err)
{
    *s = (cbx_setup){.graph = graph, .named = graph, .options = options};
    cbx_status status = find_kinds(s, err);
    return status ? status : find_bounds(s, err);
}

void cbx_setup_free(cbx_setup *setup)
{
    cbx_used_free(setup->used);
    cbx_arena_free(&setup->arena);
}
