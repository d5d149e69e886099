/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.c: a counterfactual as one line of JSON; docs/formats.md has the
 * schema. Everything needed to replay it is in it. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "report.h"
#include "rules.h"
#include "json.h"
#include "utf8.h"
#include "version.h"

/* JSON is UTF-8: a name that is not has no place in it. */
static int put_name(json_t *object, const char *name)
{
    return cbx_is_utf8(name) ? cbx_json_put(object, "name", json_string(name)) : 0;
}

static json_t *side(const float *logp, int32_t count, int32_t class, const cbx_graph_data *d)
{
    json_t *o = json_object(), *p = json_array();
    int     failed = !o || !p;
    for (int32_t k = 0; k < count && !failed; k++)
        failed = json_array_append_new(p, cbx_json_number(cbx_exp((double)logp[k])));
    failed = failed || cbx_json_put(o, "class", json_integer(class));
    if (!failed && d->class_names && class < d->num_classes)
        failed = put_name(o, d->class_names[class]);
    failed = failed || json_object_set(o, "probabilities", p);
    json_decref(p);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

json_t *cbx_json_option(const cbx_option *o, const void *at)
{
    const char *text = o->type == CBX_OPTION_TEXT ? *(const char *const *)at : NULL;
    switch (o->type) {
    case CBX_OPTION_INT:
        return json_integer((json_int_t) * (const int64_t *)at);
    case CBX_OPTION_REAL:
        return json_real(*(const double *)at);
    case CBX_OPTION_BOOL:
        return json_boolean(*(const bool *)at);
    case CBX_OPTION_CHOICE:
        return json_string(o->choices[*(const int *)at]);
    default:
        return text && cbx_is_utf8(text) ? json_string(text) : json_null();
    }
}

json_t *cbx_json_options(const cbx_explain_options *options)
{
    const cbx_option_table *table = cbx_explain_table();
    json_t                 *o = json_object();
    for (size_t i = 0; i < table->count && o; i++) {
        const cbx_option *option = &table->options[i];
        if (!strcmp(option->name, "threads")) /* changes no result */
            continue;
        if (cbx_json_put(o, option->name,
                         cbx_json_option(option, (const char *)options + option->offset))) {
            json_decref(o);
            return NULL;
        }
    }
    return o;
}

/* Among which edits there is none (cheaper): the kinds of edit and the rules. */
static json_t *proof(const cbx_counterfactual *c, const cbx_explain_options *options)
{
    const cbx_option_table *table = cbx_explain_table();
    json_t                 *o = json_object(), *edits = json_array(), *rules = json_object();
    const char             *vary = options->features_to_vary;
    int failed = !o || !edits || !rules || cbx_json_put(o, "scope", json_string(c->scope));
    if (!failed && !options->keep_edges)
        failed = json_array_append_new(edits, json_string("remove_edge"));
    if (!failed && (!vary || strcmp(vary, "none") != 0))
        failed = json_array_append_new(edits, json_string("set_feature"));
    for (size_t i = 0; i < table->count && !failed; i++)
        if (cbx_rule_in_force(&table->options[i], options))
            failed =
                cbx_json_put(rules, table->options[i].name,
                             cbx_json_option(&table->options[i],
                                             (const char *)options + table->options[i].offset));
    failed = failed || json_object_set(o, "kinds", edits) || json_object_set(o, "rules", rules);
    json_decref(edits);
    json_decref(rules);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

static int fill(json_t *o, const cbx_counterfactual *c, const cbx_graph_data *d)
{
    int failed = cbx_json_put(o, c->task == CBX_GRAPH ? "graph" : "node", json_integer(c->row)) ||
                 cbx_json_put(o, "status", json_string(cbx_outcome_name(c->outcome)));
    if (!failed && c->reason[0])
        failed = cbx_json_put(o, "reason", json_string(c->reason));
    failed = failed || cbx_json_put(o, "target",
                                    c->target < 0 ? json_string("any") : json_integer(c->target));
    if (!failed && c->prediction >= 0)
        failed = cbx_json_put(o, "before", side(c->before, c->num_classes, c->prediction, d));
    if (!failed && c->after)
        failed = cbx_json_put(o, "after", side(c->after, c->num_classes, c->result, d));
    failed =
        failed || cbx_json_put(o, "edits", json_array()) || /* with_edits fills it */
        cbx_json_put(o, "edges_removed", json_integer((json_int_t)c->num_edges_removed)) ||
        cbx_json_put(o, "features_changed", json_integer((json_int_t)c->num_features_changed)) ||
        cbx_json_put(o, "nodes", json_integer(c->num_nodes)) ||
        cbx_json_put(o, "edges", json_integer((json_int_t)c->num_edges)) ||
        cbx_json_put(o, "left_out", json_integer(c->num_left_out)) ||
        cbx_json_put(o, "removable", json_integer((json_int_t)c->num_removable)) ||
        cbx_json_put(o, "features", json_integer(c->num_features)) ||
        cbx_json_put(o, "epochs", json_integer((json_int_t)c->epochs));
    if (!failed && c->certificate != CBX_NO_CERTIFICATE)
        failed = cbx_json_put(o, "certificate", json_string(cbx_certificate_name(c->certificate)));
    if (!failed && c->threshold > 0)
        failed = cbx_json_put(o, "threshold", json_real(c->threshold));
    if (!failed && c->reproducible)
        failed = cbx_json_put(o, "reproducible", json_true());
    if (!failed && c->outcome == CBX_FOUND)
        failed =
            cbx_json_put(o, "margin", cbx_json_number(c->margin)) ||
            (c->cost > 0 && cbx_json_put(o, "cost", cbx_json_number(c->cost))) ||
            (c->robustness >= 0 && cbx_json_put(o, "robustness", cbx_json_number(c->robustness)));
    if (!failed && c->outcome == CBX_FOUND)
        failed = cbx_json_put(o, "epoch", json_integer((json_int_t)c->epoch)) ||
                 cbx_json_put(o, "loss", cbx_json_number(c->loss));
    return failed || cbx_json_put(o, "seconds", json_real(c->seconds));
}

/* The line with its edits. No quote in a text stands there as it is, so that the first place
 * that looks like the list is it. */
static char *with_edits(char *line, const cbx_counterfactual *c, const cbx_graph_data *d)
{
    static const char key[] = "\"edits\":";
    const char       *list = line ? strstr(line, "\"edits\":[]") : NULL;
    cbx_buffer        b = {.text = NULL};
    if (list) {
        cbx_buffer_add(&b, line, (size_t)(list - line) + strlen(key));
        cbx_json_edits(&b, c, d);
        cbx_buffer_put(&b, list + strlen(key) + strlen("[]"));
    }
    free(line);
    if (!b.failed)
        return b.text;
    cbx_buffer_free(&b);
    return NULL;
}

char *cbx_counterfactual_json(const cbx_counterfactual *counterfactual, const cbx_graph *graph,
                              const cbx_explain_options *options, const char *graph_hash,
                              const char *model_hash)
{
    json_t *o = json_object();
    char   *text = NULL;
    bool    before = cbx_order_fix(counterfactual->reproducible);
    int     failed = !o || fill(o, counterfactual, cbx_graph_view(graph));
    (void)cbx_order_fix(before);
    if (!failed && options && counterfactual->scope && counterfactual->scope[0])
        failed = cbx_json_put(o, "proof", proof(counterfactual, options));
    if (!failed && options)
        failed = cbx_json_put(o, "options", cbx_json_options(options));
    if (!failed && graph_hash)
        failed = cbx_json_put(o, "data_sha256", json_string(graph_hash));
    if (!failed && model_hash)
        failed = cbx_json_put(o, "model_sha256", json_string(model_hash));
    if (!failed && !cbx_json_put(o, "version", json_string(CBX_VERSION_TEXT)))
        text = with_edits(cbx_json_text(o, JSON_REAL_PRECISION(9), NULL), counterfactual,
                          cbx_graph_view(graph));
    json_decref(o);
    return text;
}
