/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: from lines of JSON to results that fit the graph and the model. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit_kind.h"
#include "error.h"

/* ----------------------------------------------------------------- reading */

static cbx_status check_edits(const cbx_counterfactual *c, const cbx_graph_data *d, cbx_error *err)
{
    for (int64_t i = 0; i < c->num_edits; i++) {
        cbx_status status = cbx_edit_kind_of(&c->edits[i])->fits(&c->edits[i], i, d, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

/* Does the result belong to this graph and model? Their hashes are taken once. */
static cbx_status check_fit(const cbx_report *r, const cbx_counterfactual *c, char said[2][65],
                            char is[2][65], cbx_error *err)
{
    const cbx_graph *g = r->source.graph;
    if (!g)
        return CBX_OK;
    if (!is[0][0]) {
        cbx_graph_hash(g, is[0]);
        cbx_model_hash(r->source.model, is[1]);
    }
    if (said[0][0] && strcmp(said[0], is[0]) != 0)
        return cbx_fail(err, CBX_INVALID, "the result was made with other data");
    if (said[1][0] && strcmp(said[1], is[1]) != 0)
        return cbx_fail(err, CBX_INVALID, "the result was made with another model");
    if (c->task != g->data.task || c->row >= cbx_graph_label_rows(g))
        return cbx_fail(err, CBX_INVALID, "the data has no %s %d",
                        c->task == CBX_GRAPH ? "graph" : "node", c->row);
    if (c->prediction >= 0 && c->num_classes != cbx_model_describe(r->source.model).num_classes)
        return cbx_fail(err, CBX_INVALID, "the model has %d classes, and the result %d",
                        cbx_model_describe(r->source.model).num_classes, c->num_classes);
    return check_edits(c, &g->data, err);
}

/* A copy of what was read, with the first CBX_EDITS_LISTED of the edits: there may be a million,
 * and no page lists more. NULL when memory runs out. */
static const cbx_json *keep(cbx_arena *arena, const cbx_json *value)
{
    cbx_json        *copy = CBX_NEW(arena, cbx_json, 1);
    const cbx_json **last = copy ? &copy->first : NULL;
    size_t           most = SIZE_MAX;
    if (!copy)
        return NULL;
    *copy = (cbx_json){.kind = value->kind, .integer = value->integer, .number = value->number};
    if ((value->key && !(copy->key = cbx_arena_strdup(arena, value->key))) ||
        (value->text && !(copy->text = cbx_arena_strdup(arena, value->text))))
        return NULL;
    if (value->key && !strcmp(value->key, "edits"))
        most = CBX_EDITS_LISTED;
    for (const cbx_json *v = value->first; v && copy->count < most; v = v->next) {
        if (!(*last = keep(arena, v)))
            return NULL;
        last = &((cbx_json *)*last)->next; /* ours until it is handed out */
        copy->count++;
    }
    return copy;
}

/* The line as a struct, which checks it, and as it is. */
static cbx_status parse_line(cbx_report *r, const char *line, char said[2][65], cbx_error *err)
{
    cbx_arena       arena = {0};
    const cbx_json *value;
    cbx_json_error  why;
    cbx_status      status =
        cbx_counterfactual_parse(line, &r->answers[r->count], said[0], said[1], err);
    if (!status && (cbx_json_parse(line, strlen(line), &arena, &value, &why) ||
                    !(r->lines[r->count] = keep(&r->arena, value))))
        status = cbx_fail_memory(err);
    cbx_arena_free(&arena);
    return status;
}

static cbx_status read_line(cbx_report *r, const char *text, size_t size, char hashes[2][65],
                            cbx_error *err)
{
    char       said[2][65];
    char      *line = strndup(text, size);
    cbx_status status = line ? parse_line(r, line, said, err) : cbx_fail_memory(err);
    free(line);
    if (!status)
        status = check_fit(r, r->answers[r->count], said, hashes, err);
    if (!status) {
        const cbx_counterfactual *c = r->answers[r->count];
        const cbx_counterfactual *last = r->count ? r->answers[r->count - 1] : NULL;
        r->targets += !last || last->row != c->row || last->task != c->task;
        r->count++;
    } else {
        cbx_counterfactual_free(r->answers[r->count]);
        r->answers[r->count] = NULL;
    }
    return status;
}

static cbx_status read_lines(cbx_report *r, const char *results, cbx_error *err)
{
    char       hashes[2][65] = {"", ""};
    size_t     room = 1, number = 0;
    cbx_status status = CBX_OK;
    for (const char *at = results; *at; at++)
        room += *at == '\n';
    r->answers = calloc(room, sizeof(cbx_counterfactual *));
    r->lines = calloc(room, sizeof(cbx_json *));
    if (!r->answers || !r->lines)
        return cbx_fail_memory(err);
    while (*results && !status) {
        size_t size = strcspn(results, "\n");
        number++;
        if (strspn(results, " \t\r") < size)
            status = read_line(r, results, size, hashes, err);
        results += size + (results[size] == '\n');
    }
    if (status) {
        char place[32];
        (void)snprintf(place, sizeof place, "line %zu", number);
        cbx_error_prefix(err, place);
    } else if (!r->count) {
        status = cbx_fail(err, CBX_INVALID, "there are no results in it");
    }
    return status;
}

cbx_status cbx_report_open(cbx_report *report, const char *results, const cbx_report_source *source,
                           cbx_error *err)
{
    *report = (cbx_report){.lines = NULL};
    if (source)
        report->source = *source;
    if (!report->source.model || !report->source.graph)
        report->source.model = NULL, report->source.graph = NULL;
    cbx_status status = CBX_OK;
    if (report->source.graph)
        status = cbx_model_fits(report->source.model, report->source.graph, err);
    if (!status)
        status = read_lines(report, results, err);
    if (status)
        cbx_report_close(report);
    return status;
}

void cbx_report_close(cbx_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        cbx_counterfactual_free(report->answers[i]);
    free((void *)report->answers);
    free((void *)report->lines);
    cbx_arena_free(&report->arena);
    *report = (cbx_report){.lines = NULL};
}

/* ------------------------------------------------------------------ public */

cbx_status cbx_report_write(const char *results, const cbx_report_source *source, const char *path,
                            cbx_error *err)
{
    cbx_report report;
    cbx_status status = cbx_report_open(&report, results, source, err);
    if (status)
        return status;
    status = report.targets == 1 ? cbx_report_explanation(&report, path, err)
                                 : cbx_report_run(&report, path, err);
    cbx_report_close(&report);
    return status;
}
