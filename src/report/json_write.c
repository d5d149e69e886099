/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.c: a counterfactual as one line of JSON; docs/formats.md has the
 * schema. Everything needed to replay it is in it. */
#include <math.h>
#include <string.h>

#include "edit_kind.h"
#include "order.h"
#include "report.h"
#include "rule_options.h"
#include "utf8.h"
#include "version.h"

void cbx_json_put_name(cbx_json_writer *w, const char *name)
{
    if (cbx_is_utf8(name))
        cbx_json_put_text(w, "name", name);
}

static void put_side(cbx_json_writer *w, const char *key, const float *logp, int32_t count,
                     int32_t class, const cbx_graph_data *d)
{
    cbx_json_open(w, key, '{');
    cbx_json_put_int(w, "class", class);
    if (d->class_names && class < d->num_classes)
        cbx_json_put_name(w, d->class_names[class]);
    cbx_json_open(w, "probabilities", '[');
    for (int32_t k = 0; k < count; k++)
        cbx_json_put_real(w, NULL, cbx_exp((double)logp[k]));
    cbx_json_close(w, ']');
    cbx_json_close(w, '}');
}

static void put_option(cbx_json_writer *w, const cbx_option *o, const void *fields)
{
    cbx_json value = cbx_json_option(o, fields);
    cbx_json_put(w, o->name, &value);
}

/* Where things are, and how fast, but not what comes out. */
static bool is_about_the_machine(const char *name)
{
    return !strcmp(name, "threads") || !strcmp(name, "trained");
}

/* All options that can change a result. */
static void put_options(cbx_json_writer *w, const cbx_explain_options *options)
{
    const cbx_option *o;
    const void       *of;
    cbx_json_open(w, "options", '{');
    for (size_t i = 0; (o = cbx_fields_at(cbx_explain_table(), options, i, &of)); i++)
        if (!is_about_the_machine(o->name) && o->help)
            put_option(w, o, of);
    cbx_json_close(w, '}');
}

/* Among which edits there is none (cheaper): the kinds of edit and the rules. */
static void put_proof(cbx_json_writer *w, const cbx_counterfactual *c,
                      const cbx_explain_options *options)
{
    const cbx_option *o;
    const void       *of;
    const char       *vary = options->features_to_vary;
    const char       *edits = c->kinds && *c->kinds ? c->kinds : options->edits;
    cbx_json_open(w, "proof", '{');
    cbx_json_put_text(w, "scope", c->scope);
    cbx_json_open(w, "kinds", '[');
    if (!options->keep_edges && cbx_edits_allow(edits, CBX_REMOVE_EDGE))
        cbx_json_put_text(w, NULL, cbx_edit_kinds[CBX_REMOVE_EDGE]->name);
    if ((!vary || strcmp(vary, "none") != 0) && cbx_edits_allow(edits, CBX_SET_FEATURE))
        cbx_json_put_text(w, NULL, cbx_edit_kinds[CBX_SET_FEATURE]->name);
    if (cbx_edits_allow(edits, CBX_ADD_EDGE))
        cbx_json_put_text(w, NULL, cbx_edit_kinds[CBX_ADD_EDGE]->name);
    if (cbx_edits_allow(edits, CBX_REMOVE_NODE))
        cbx_json_put_text(w, NULL, cbx_edit_kinds[CBX_REMOVE_NODE]->name);
    if (cbx_edits_allow(edits, CBX_SET_EDGE))
        cbx_json_put_text(w, NULL, cbx_edit_kinds[CBX_SET_EDGE]->name);
    if (c->task == CBX_GRAPH && cbx_edits_allow(edits, CBX_ADD_NODE))
        cbx_json_put_text(w, NULL, cbx_edit_kinds[CBX_ADD_NODE]->name);
    cbx_json_close(w, ']');
    cbx_json_open(w, "rules", '{');
    for (size_t i = 0; (o = cbx_fields_at(cbx_explain_table(), options, i, &of)); i++)
        if (cbx_rule_is_given(o, of))
            put_option(w, o, of);
    cbx_json_close(w, '}');
    cbx_json_close(w, '}');
}

static void put_answer(cbx_json_writer *w, const cbx_counterfactual *c, const cbx_graph_data *d)
{
    cbx_json_put_int(w, c->task == CBX_GRAPH ? "graph" : "node", c->row);
    cbx_json_put_text(w, "status", cbx_outcome_name(c->outcome));
    if (c->reason[0])
        cbx_json_put_text(w, "reason", c->reason);
    if (c->target < 0)
        cbx_json_put_text(w, "target", "any");
    else
        cbx_json_put_int(w, "target", c->target);
    if (c->prediction >= 0)
        put_side(w, "before", c->before, c->num_classes, c->prediction, d);
    if (c->after)
        put_side(w, "after", c->after, c->num_classes, c->result, d);
    if (c->has_numbers) {
        cbx_json_put_real(w, "number_before", c->number_before);
        cbx_json_put_real(w, "number_after", c->number_after);
    }
    cbx_json_put_edits(w, c, d);
    cbx_json_put_int(w, "edges_removed", c->num_edges_removed);
    cbx_json_put_int(w, "features_changed", c->num_features_changed);
    if (c->num_edges_added > 0)
        cbx_json_put_int(w, "edges_added", c->num_edges_added);
    if (c->num_nodes_removed > 0)
        cbx_json_put_int(w, "nodes_removed", c->num_nodes_removed);
    if (c->num_edges_reweighted > 0)
        cbx_json_put_int(w, "edges_reweighted", c->num_edges_reweighted);
    if (c->num_nodes_added > 0)
        cbx_json_put_int(w, "nodes_added", c->num_nodes_added);
    cbx_json_put_int(w, "nodes", c->num_nodes);
    cbx_json_put_int(w, "edges", c->num_edges);
    cbx_json_put_int(w, "left_out", c->num_left_out);
    cbx_json_put_int(w, "removable", c->num_removable);
    cbx_json_put_int(w, "features", c->num_features);
    cbx_json_put_int(w, "epochs", c->epochs);
    if (c->certificate != CBX_NO_CERTIFICATE)
        cbx_json_put_text(w, "certificate", cbx_certificate_name(c->certificate));
    if (c->threshold > 0)
        cbx_json_put_real(w, "threshold", c->threshold);
    if (c->reproducible)
        cbx_json_put_bool(w, "reproducible", true);
    if (c->lower_bound > 0)
        cbx_json_put_real(w, "lower_bound", c->lower_bound);
    if (isfinite(c->best_lead))
        cbx_json_put_real(w, "best_lead", c->best_lead);
    if (c->outcome == CBX_FOUND) {
        cbx_json_put_real(w, "margin", c->margin);
        if (c->cost > 0)
            cbx_json_put_real(w, "cost", c->cost);
        if (c->l1_mad > 0)
            cbx_json_put_real(w, "l1_mad", c->l1_mad);
        if (c->num_unusual > 0)
            cbx_json_put_int(w, "unusual_values", c->num_unusual);
        if (c->num_features_changed > 0 && c->plausibility >= 0)
            cbx_json_put_real(w, "plausibility", c->plausibility);
        if (c->robustness >= 0)
            cbx_json_put_real(w, "robustness", c->robustness);
        cbx_json_put_int(w, "epoch", c->epoch);
        cbx_json_put_real(w, "loss", c->loss);
    }
    if (c->num_trained > 0) {
        cbx_json_put_int(w, "trained_parameters", c->num_trained);
        cbx_json_put_real(w, "trained_seconds", c->trained_seconds);
    }
    cbx_json_put_real(w, "seconds", c->seconds);
}

char *cbx_counterfactual_json_with(const cbx_counterfactual *counterfactual, const cbx_graph *graph,
                                   const cbx_explain_options *options, const char *graph_hash,
                                   const char *model_hash)
{
    cbx_json_writer w = {.digits = 0};
    bool            before = cbx_order_fix(counterfactual->reproducible);
    cbx_json_open(&w, NULL, '{');
    put_answer(&w, counterfactual, cbx_graph_arrays(graph));
    (void)cbx_order_fix(before);
    if (options && cbx_edits_are_all(options->edits) && counterfactual->kinds)
        cbx_json_put_text(&w, "kinds", counterfactual->kinds);
    if (options && counterfactual->scope && counterfactual->scope[0])
        put_proof(&w, counterfactual, options);
    if (options)
        put_options(&w, options);
    if (graph_hash)
        cbx_json_put_text(&w, "data_sha256", graph_hash);
    if (model_hash)
        cbx_json_put_text(&w, "model_sha256", model_hash);
    cbx_json_put_text(&w, "version", CBX_VERSION_TEXT);
    cbx_json_close(&w, '}');
    return cbx_json_take(&w);
}

char *cbx_counterfactual_json(const cbx_counterfactual *counterfactual, const cbx_graph *graph,
                              const cbx_options *options, const char *graph_hash,
                              const char *model_hash)
{
    const void *fields;
    return cbx_options_fields(options, cbx_explain_table(), &fields, NULL)
               ? NULL
               : cbx_counterfactual_json_with(counterfactual, graph, fields, graph_hash,
                                              model_hash);
}
