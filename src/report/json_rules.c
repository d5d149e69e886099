/* SPDX-License-Identifier: Apache-2.0 */
/* json_rules.c: does a line of JSON keep the rules that it says were set? */
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "combinex/kit.h"
#include "error.h"
#include "json.h"
#include "number.h"
#include "read_rules.h"
#include "rule_options.h"

/* The option's value as text. NULL: it is of no kind that options are of. */
static const char *text_of(const cbx_json *value, char number[40])
{
    switch (value->kind) {
    case CBX_JSON_TEXT:
        return value->text;
    case CBX_JSON_BOOL:
        return value->integer ? "true" : "false";
    case CBX_JSON_INTEGER:
        (void)snprintf(number, 40, "%lld", (long long)value->integer);
        return number;
    case CBX_JSON_REAL:
        (void)cbx_print(number, 40, "%.17g", value->number);
        return number;
    default:
        return NULL;
    }
}

/* Rules; and which features are counted, which kinds of edit there may be, and what an added edge
 * weighs. */
static bool is_about_edits(const cbx_option *o)
{
    return cbx_option_is_rule(o) || !strcmp(o->name, "kinds") || !strcmp(o->name, "edits") ||
           !strcmp(o->name, "add-weight");
}

/* Those of the line. Texts are the JSON's own. */
static cbx_status read_options(const cbx_json *from, cbx_explain_options *options, cbx_error *err)
{
    const cbx_option_table *table = cbx_explain_table();
    const cbx_option       *o;
    const void             *of;
    cbx_fields_default(table, options);
    for (size_t i = 0; (o = cbx_fields_at(table, options, i, &of)); i++) {
        const cbx_json *value = cbx_json_get(from, o->name);
        char            number[40];
        if (!value || value->kind == CBX_JSON_NULL || !is_about_edits(o))
            continue;
        const char *text = text_of(value, number);
        if (!text)
            return cbx_fail(err, CBX_INVALID, "the option '%s' has no value", o->name);
        cbx_status status = cbx_fields_set(table, options, o->name, text, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

/* By the options of the line; `edits` NULL: those of the line. */
static cbx_status check(const char *json, const cbx_graph *graph, const cbx_edit *edits,
                        int64_t count, int32_t result, cbx_error *err)
{
    cbx_arena           arena = {0};
    const cbx_json     *line = NULL;
    cbx_json_error      why;
    cbx_counterfactual *c = NULL;
    cbx_explain_options options;
    char                graph_hash[65], model_hash[65];
    cbx_status          status = cbx_counterfactual_parse(json, &c, graph_hash, model_hash, err);
    if (!status && (status = cbx_json_parse(json, strlen(json), &arena, &line, &why)))
        status = cbx_fail(err, status, "%s", why.text);
    if (!status && !edits) {
        edits = c->edits;
        count = c->num_edits;
        result = c->has_numbers ? -1 : c->result;
    }
    const cbx_json *said = cbx_json_get(line, "options");
    if (!status && said && c->outcome == CBX_FOUND) {
        status = read_options(said, &options, err);
        if (!status)
            status = cbx_rules_check_options(graph, &options, c->row, result, edits, count, err);
    }
    cbx_counterfactual_free(c);
    cbx_arena_free(&arena);
    return status;
}

cbx_status cbx_counterfactual_check_rules(const char *json, const cbx_graph *graph, cbx_error *err)
{
    return check(json, graph, NULL, 0, -1, err);
}

cbx_status cbx_edits_check_rules(const char *json, const cbx_graph *graph, const cbx_edit *edits,
                                 int64_t count, int32_t result, cbx_error *err)
{
    return check(json, graph, edits, count, result, err);
}
