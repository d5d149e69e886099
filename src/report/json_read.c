/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.c: such a line again. It may come from anywhere, so every field is
 * checked for its type and range; whether it is true is for a replay to tell. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "combinex/kit.h"
#include "edit_kind.h"
#include "error.h"
#include "json_fields.h"
#include "result.h"

static cbx_status read_side(const cbx_json *o, const char *key, cbx_arena *arena, int32_t *class,
                            int32_t *count, const float **logp, cbx_error *err)
{
    const cbx_json *s = cbx_json_get(o, key), *p = cbx_json_get(s, "probabilities");
    if (!s)
        return CBX_OK;
    if (!p || p->kind != CBX_JSON_LIST || p->count < 1 || p->count > INT32_MAX ||
        (*count && (size_t)*count != p->count))
        return cbx_fail(err, CBX_INVALID, "'%s' has no list of as many probabilities as classes",
                        key);
    *count = (int32_t)p->count;
    float *values = CBX_NEW(arena, float, *count);
    if (!values)
        return cbx_fail_memory(err);
    int32_t k = 0;
    for (const cbx_json *v = p->first; v; v = v->next, k++) {
        if (!cbx_json_is_number(v) || !(v->number >= 0 && v->number <= 1.000001))
            return cbx_fail(err, CBX_INVALID, "'%s': probability %d is not a number from 0 to 1",
                            key, k);
        values[k] = (float)log(v->number);
    }
    int64_t    number;
    cbx_status status = cbx_json_whole(s, "class", *count - 1, CBX_JSON_REQUIRED, &number, err);
    *class = (int32_t)number;
    *logp = values;
    return status;
}

static cbx_status read_edit(const cbx_json *o, cbx_edit *e, cbx_error *err)
{
    *e = (cbx_edit){0};
    cbx_status status = cbx_edit_kind_named(cbx_json_text(o, "op"), &e->op, err);
    if (!status)
        status = cbx_edit_kind_of(e)->read(o, e, err);
    const cbx_json *influence = cbx_json_get(o, "influence"); /* null: it was no number */
    if (!status && influence && influence->kind != CBX_JSON_NULL)
        status = cbx_json_float(o, "influence", &e->influence, err);
    return status;
}

static cbx_status read_edits(const cbx_json *o, cbx_arena *arena, cbx_counterfactual *c,
                             cbx_error *err)
{
    const cbx_json *list = cbx_json_get(o, "edits");
    if (!list || list->kind != CBX_JSON_LIST)
        return cbx_fail(err, CBX_INVALID, "'edits' is not a list");
    c->num_edits = (int64_t)list->count;
    cbx_edit *edits = CBX_NEW(arena, cbx_edit, c->num_edits);
    if (!edits)
        return cbx_fail_memory(err);
    int64_t k = 0;
    for (const cbx_json *v = list->first; v; v = v->next, k++) {
        cbx_status status = read_edit(v, &edits[k], err);
        if (status) {
            char place[32];
            (void)snprintf(place, sizeof place, "edit %lld", (long long)k);
            cbx_error_prefix(err, place);
            return status;
        }
    }
    c->edits = edits;
    cbx_result_count_edits(c);
    return CBX_OK;
}

static cbx_status read_status(const cbx_json *o, cbx_counterfactual *c, cbx_error *err)
{
    const char *text = cbx_json_text(o, "status");
    for (int k = CBX_FOUND; text && k <= CBX_NOT_FINISHED; k++)
        if (!strcmp(text, cbx_outcome_name((cbx_outcome)k))) {
            c->outcome = (cbx_outcome)k;
            return CBX_OK;
        }
    return cbx_fail(err, CBX_INVALID,
                    "'status' is '%.40s', found, not_found, skipped or cancelled expected",
                    text ? text : "(not a text)");
}

static cbx_status read_certificate(const cbx_json *o, cbx_counterfactual *c, cbx_error *err)
{
    const cbx_json *at_least = cbx_json_get(o, "threshold");
    const char     *text = cbx_json_text(o, "certificate");
    if (at_least && (!cbx_json_is_number(at_least) || !(at_least->number >= 0)))
        return cbx_fail(err, CBX_INVALID, "'threshold' is not a probability");
    c->threshold = at_least ? at_least->number : 0;
    for (int k = CBX_NO_CERTIFICATE; text && k <= CBX_PROVED_NONE; k++)
        if (!strcmp(text, cbx_certificate_name((cbx_certificate)k))) {
            c->certificate = (cbx_certificate)k;
            return CBX_OK;
        }
    if (!cbx_json_get(o, "certificate"))
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID,
                    "'certificate' is '%.40s', irreducible, optimal, none_within_budget or "
                    "proved_none expected",
                    text ? text : "(not a text)");
}

static cbx_status read_fields(const cbx_json *o, cbx_arena *arena, cbx_counterfactual *c,
                              cbx_error *err)
{
    int64_t     row, target = -1;
    const char *wanted = cbx_json_text(o, "target");
    c->task = cbx_json_get(o, "graph") ? CBX_GRAPH : CBX_NODE;
    cbx_status status = cbx_json_whole(o, c->task == CBX_GRAPH ? "graph" : "node", INT32_MAX,
                                       CBX_JSON_REQUIRED, &row, err);
    if (!status)
        status = read_status(o, c, err);
    c->prediction = -1;
    if (!status)
        status = cbx_json_bool(o, "reproducible", &c->reproducible, err);
    if (!status)
        status = read_side(o, "before", arena, &c->prediction, &c->num_classes, &c->before, err);
    c->result = c->prediction;
    if (!status)
        status = read_side(o, "after", arena, &c->result, &c->num_classes, &c->after, err);
    bool searched = c->outcome == CBX_FOUND || c->outcome == CBX_NOT_FOUND;
    if (!status && ((searched && !c->before) || (c->outcome == CBX_FOUND && !c->after)))
        status = cbx_fail(err, CBX_INVALID, "'%s' is missing", c->before ? "after" : "before");
    if (!status && wanted && strcmp(wanted, "any") != 0)
        status = cbx_fail(err, CBX_INVALID, "'target' is '%.40s', a class or any expected", wanted);
    if (!status && !wanted)
        status = cbx_json_whole(o, "target", c->before ? c->num_classes - 1 : INT32_MAX,
                                CBX_JSON_REQUIRED, &target, err);
    if (!status)
        status = read_certificate(o, c, err);
    if (!status)
        status = read_edits(o, arena, c, err);
    if (!status)
        status = cbx_json_whole(o, "unusual_values", c->num_edits, 0, &c->num_unusual, err);
    c->row = (int32_t)row;
    c->target = (int32_t)target;
    return status;
}

/* Members that a line need not have: about the search, for people. */
static cbx_status read_about(const cbx_json *o, cbx_counterfactual *c, cbx_error *err)
{
    const struct {
        const char *key;
        double     *out;
        double      missing;
    } reals[] = {{"cost", &c->cost, 0},
                 {"margin", &c->margin, 0},
                 {"robustness", &c->robustness, -1},
                 {"best_lead", &c->best_lead, NAN},
                 {"lower_bound", &c->lower_bound, 0},
                 {"trained_seconds", &c->trained_seconds, 0},
                 {"l1_mad", &c->l1_mad, NAN},
                 {"plausibility", &c->plausibility, NAN},
                 {"seconds", &c->seconds, 0},
                 {"number_before", &c->number_before, 0},
                 {"number_after", &c->number_after, 0}};
    int64_t    nodes = 0, features = 0, left_out = 0;
    cbx_status status = cbx_json_whole(o, "nodes", INT32_MAX, 0, &nodes, err);
    if (!status)
        status = cbx_json_whole(o, "features", INT32_MAX, 0, &features, err);
    if (!status)
        status = cbx_json_whole(o, "left_out", INT32_MAX, 0, &left_out, err);
    if (!status)
        status = cbx_json_whole(o, "edges", INT64_MAX, 0, &c->num_edges, err);
    if (!status)
        status = cbx_json_whole(o, "removable", INT64_MAX, 0, &c->num_removable, err);
    if (!status)
        status = cbx_json_whole(o, "epochs", INT64_MAX, 0, &c->epochs, err);
    if (!status)
        status = cbx_json_whole(o, "trained_parameters", INT64_MAX, 0, &c->num_trained, err);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        const cbx_json *value = cbx_json_get(o, reals[i].key);
        *reals[i].out = cbx_json_is_number(value) ? value->number : reals[i].missing;
    }
    c->num_nodes = (int32_t)nodes;
    c->num_features = (int32_t)features;
    c->num_left_out = (int32_t)left_out;
    c->has_numbers = cbx_json_is_number(cbx_json_get(o, "number_before"));
    c->reason = cbx_json_text(o, "reason") ? cbx_json_text(o, "reason") : "";
    const char *scope = cbx_json_text(cbx_json_get(o, "proof"), "scope");
    c->scope = scope ? scope : "";
    c->kinds = cbx_json_text(o, "kinds") ? cbx_json_text(o, "kinds") : "";
    return status;
}

/* "" where there is none. */
static cbx_status read_hash(const cbx_json *o, const char *key, char hash[65], cbx_error *err)
{
    const cbx_json *v = cbx_json_get(o, key);
    const char     *text = v ? v->text : "";
    if (!text || (v && (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)))
        return cbx_fail(err, CBX_INVALID, "'%s' is not 64 hexadecimal digits", key);
    memcpy(hash, text, strlen(text) + 1);
    return CBX_OK;
}

cbx_status cbx_counterfactual_parse(const char *json, cbx_counterfactual **out, char graph_hash[65],
                                    char model_hash[65], cbx_error *err)
{
    cbx_counterfactual c = {.reason = "", .scope = "", .l1_mad = NAN, .plausibility = NAN};
    cbx_arena          arena = {0};
    const cbx_json    *o = NULL;
    cbx_json_error     why;
    char               hashes[2][65];
    *out = NULL;
    cbx_status status = cbx_json_parse(json, strlen(json), &arena, &o, &why);
    if (status == CBX_NO_MEMORY)
        status = cbx_fail_memory(err);
    else if (status)
        status = cbx_fail(err, CBX_INVALID, "not a JSON object: %s", why.text);
    else if (o->kind != CBX_JSON_OBJECT)
        status = cbx_fail(err, CBX_INVALID, "not a JSON object");
    if (!status)
        status = read_fields(o, &arena, &c, err);
    if (!status)
        status = read_about(o, &c, err);
    if (!status)
        status = read_hash(o, "data_sha256", hashes[0], err);
    if (!status)
        status = read_hash(o, "model_sha256", hashes[1], err);
    if (!status && !(*out = cbx_result_copy(&c)))
        status = cbx_fail_memory(err);
    if (!status && graph_hash)
        memcpy(graph_hash, hashes[0], sizeof hashes[0]);
    if (!status && model_hash)
        memcpy(model_hash, hashes[1], sizeof hashes[1]);
    cbx_arena_free(&arena);
    return status;
}
