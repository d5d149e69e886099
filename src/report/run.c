/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: the data of the page of many targets; page/run.js shows it.
 *
 * Numbers that a result line has are taken from the line. A page stays small: of very many
 * targets some are listed, evenly spread, and of each answer its most influential edits;
 * the page says what it leaves out. What is counted is counted over all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "classes.h"
#include "error.h"
#include "graph.h"
#include "page.h"
#include "settings.h"
#include "version.h"

enum {
    ROWS_MOST = 5000,      /* targets in the table */
    EDITS_EACH = 12,       /* of a target, at most */
    EDITS_TOGETHER = 9000, /* of all targets */
    RECUR_MOST = 25,       /* features, and edges, that are listed */
    NAME_MOST = 60         /* characters of a name */
};

typedef struct making {
    const cbx_report *report;
    json_t           *page;
    json_t           *feature_names, *node_names; /* by number, of those shown */
    json_t           *reasons;
    size_t            step;  /* every n-th target is listed */
    int64_t           edits; /* of each are listed, at most */
    cbx_recurring    *recurring;
} making;

/* ------------------------------------------------------------------- names */

static json_t *cut(const char *name)
{
    cbx_buffer text = {.text = NULL};
    cbx_buffer_utf8(&text, name, NAME_MOST);
    json_t *made = text.failed ? NULL : json_string(text.text ? text.text : "");
    cbx_buffer_free(&text);
    return made;
}

static int put_name(json_t *names, int32_t number, const char *name)
{
    char key[16];
    (void)snprintf(key, sizeof key, "%d", (int)number);
    return json_object_get(names, key) ? 0 : cbx_json_put(names, key, cut(name));
}

static int name_node(const making *m, int32_t node)
{
    const cbx_graph *g = m->report->source.graph;
    return g && g->data.node_names ? put_name(m->node_names, node, g->data.node_names[node]) : 0;
}

/* The name of the feature of an edit is in its line. */
static const char *edit_name(const making *m, size_t line, int64_t edit)
{
    const json_t *edits = json_object_get(json_array_get(m->report->lines, line), "edits");
    return json_string_value(json_object_get(json_array_get(edits, (size_t)edit), "name"));
}

static int name_feature(const making *m, int32_t feature)
{
    const cbx_report *r = m->report;
    const cbx_graph  *g = r->source.graph;
    if (g)
        return g->data.feature_names
                   ? put_name(m->feature_names, feature, g->data.feature_names[feature])
                   : 0;
    for (size_t i = 0; i < r->count; i++)
        for (int64_t k = 0; k < r->answers[i]->num_edits; k++) {
            const cbx_edit *e = &r->answers[i]->edits[k];
            if (e->op == CBX_SET_FEATURE && e->feature == feature) {
                const char *name = edit_name(m, i, k);
                return name ? put_name(m->feature_names, feature, name) : 0;
            }
        }
    return 0;
}

/* -------------------------------------------------------------------- rows */

/* Whether the line is the first of its target. */
static bool first_of(const cbx_report *r, size_t i)
{
    return !i || r->answers[i]->row != r->answers[i - 1]->row ||
           r->answers[i]->task != r->answers[i - 1]->task;
}

static json_t *value(double v)
{
    return v == floor(v) && fabs(v) < 1e9 ? json_integer((json_int_t)v) : cbx_json_number(v);
}

/* [node, feature, from, to] or [source, target, undirected], the most influential first. */
static json_t *edit_list(const making *m, size_t line)
{
    const cbx_counterfactual *c = m->report->answers[line];
    json_t                   *list = json_array();
    int                       failed = !list;
    for (int64_t k = 0; k < c->num_edits && k < m->edits && !failed; k++) {
        const cbx_edit *e = &c->edits[k];
        if (e->op == CBX_REMOVE_EDGE) {
            failed = json_array_append_new(list, json_pack("[i, i, b]", (int)e->source,
                                                           (int)e->target, (int)e->undirected)) ||
                     name_node(m, e->source) || name_node(m, e->target);
        } else {
            const char *name = edit_name(m, line, k);
            failed = json_array_append_new(list, json_pack("[i, i, o, o]", (int)e->node,
                                                           (int)e->feature, value((double)e->from),
                                                           value((double)e->to))) ||
                     name_node(m, e->node) ||
                     (name && put_name(m->feature_names, e->feature, name));
        }
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

/* The reason's place among those met, which are few. */
static json_t *reason(const making *m, const json_t *line)
{
    const json_t *text = json_object_get(line, "reason");
    size_t        i = 0;
    if (!json_is_string(text))
        return json_null();
    while (i < json_array_size(m->reasons) && !json_equal(json_array_get(m->reasons, i), text))
        i++;
    if (i == json_array_size(m->reasons) && json_array_append(m->reasons, (json_t *)text))
        return NULL;
    return json_integer((json_int_t)i);
}

static json_t *probability(const json_t *line, const char *side, int32_t class)
{
    const json_t *list = json_object_get(json_object_get(line, side), "probabilities");
    json_t       *p = class < 0 ? NULL : json_array_get(list, (size_t) class);
    return p ? json_incref(p) : json_null();
}

static json_t *number_of(const json_t *line, const char *key)
{
    json_t *found = json_object_get(line, key);
    return found ? json_incref(found) : json_null();
}

/* How many there are; those of the line may be cut. */
static json_int_t all_edits(const cbx_counterfactual *c, const json_t *line)
{
    const json_t *features = json_object_get(line, "features_changed");
    const json_t *edges = json_object_get(line, "edges_removed");
    if (!features || !edges)
        return (json_int_t)c->num_edits;
    return json_integer_value(features) + json_integer_value(edges);
}

/* In the order of `columns`. */
static const char *const columns[] = {"row",        "line",    "status",  "before",  "after",
                                      "p",          "q",       "p_after", "q_after", "features",
                                      "edges",      "edits",   "margin",  "seconds", "certificate",
                                      "robustness", "answers", "reason",  "label",   "list"};

static json_t *row(const making *m, size_t i, int64_t answers)
{
    const cbx_report         *r = m->report;
    const cbx_counterfactual *c = r->answers[i];
    const json_t             *line = json_array_get(r->lines, i);
    const cbx_graph          *g = r->source.graph;
    int32_t                   after = c->outcome == CBX_FOUND ? c->result : -1;
    int64_t                   label = g && g->data.y ? g->data.y[c->row] : -1;
    json_t                   *cells[] = {json_integer(c->row),
                                         json_integer((json_int_t)i + 1),
                                         json_integer(c->outcome),
                                         json_integer(c->prediction),
                                         json_integer(after),
                                         probability(line, "before", c->prediction),
                                         probability(line, "before", after),
                                         probability(line, "after", c->prediction),
                                         probability(line, "after", after),
                                         number_of(line, "features_changed"),
                                         number_of(line, "edges_removed"),
                                         json_integer(all_edits(c, line)),
                                         number_of(line, "margin"),
                                         number_of(line, "seconds"),
                                         number_of(line, "certificate"),
                                         number_of(line, "robustness"),
                                         json_integer((json_int_t)answers),
                                         reason(m, line),
                       label < 0 ? json_null() : json_integer((json_int_t)label),
                                         edit_list(m, i)};
    _Static_assert(sizeof cells / sizeof *cells == sizeof columns / sizeof *columns,
                   "a row has what its columns say");
    json_t *list = json_array();
    int     failed = !list;
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
        if (failed)
            json_decref(cells[k]);
        else
            failed = json_array_append_new(list, cells[k]); /* of NULL, too */
    }
    if (!failed && c->task == CBX_NODE)
        failed = name_node(m, c->row);
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static int add_rows(making *m)
{
    const cbx_report *r = m->report;
    json_t           *list = json_array(), *names = json_array();
    size_t            target = 0;
    int               failed = !list || !names;
    for (size_t k = 0; k < sizeof columns / sizeof *columns && !failed; k++)
        failed = json_array_append_new(names, json_string(columns[k]));
    for (size_t i = 0, end; i < r->count && !failed; i = end, target++) {
        for (end = i + 1; end < r->count && !first_of(r, end); end++)
            ;
        if (target % m->step == 0)
            failed = json_array_append_new(list, row(m, i, (int64_t)(end - i)));
    }
    failed = failed || json_object_set(m->page, "rows", list) ||
             json_object_set(m->page, "columns", names);
    json_decref(list);
    json_decref(names);
    return failed;
}

/* As many edits of each target as fit on the page together. */
static void set_limits(making *m)
{
    const cbx_report *r = m->report;
    int64_t           together;
    m->step = (r->targets + ROWS_MOST - 1) / ROWS_MOST;
    m->edits = EDITS_EACH + 1;
    do {
        m->edits--;
        together = 0;
        for (size_t i = 0; i < r->count; i++)
            if (first_of(r, i)) {
                int64_t n = r->answers[i]->num_edits;
                together += n < m->edits ? n : m->edits;
            }
    } while (m->edits > 1 && together > EDITS_TOGETHER * (int64_t)m->step);
}

/* -------------------------------------------------------------- over all */

static int add_counts(making *m)
{
    const cbx_report *r = m->report;
    json_int_t        counts[CBX_NOT_FINISHED + 1] = {0};
    json_t           *o = json_object(), *names = json_array();
    double            seconds = 0;
    int               failed = !o || !names;
    for (size_t i = 0; i < r->count; i++) {
        const json_t *took = json_object_get(json_array_get(r->lines, i), "seconds");
        if (!first_of(r, i))
            continue;
        counts[r->answers[i]->outcome]++;
        seconds += json_number_value(took);
        cbx_recurring_add(m->recurring, r->answers[i]);
    }
    for (int k = 0; k <= CBX_NOT_FINISHED && !failed; k++)
        failed = cbx_json_put(o, cbx_outcome_name((cbx_outcome)k), json_integer(counts[k])) ||
                 json_array_append_new(names, json_string(cbx_outcome_name((cbx_outcome)k)));
    failed = failed || json_object_set(m->page, "counts", o) ||
             json_object_set(m->page, "outcomes", names) ||
             cbx_json_put(m->page, "targets", json_integer((json_int_t)r->targets)) ||
             cbx_json_put(m->page, "lines", json_integer((json_int_t)r->count)) ||
             cbx_json_put(m->page, "seconds", json_real(seconds)) ||
             cbx_json_put(m->page, "edits_listed", json_integer((json_int_t)m->edits));
    json_decref(o);
    json_decref(names);
    return failed;
}

/* {"flips", "features": [[feature, flips, raised, lowered], …], "all_features", "edges":
 * [[source, target, undirected, flips], …], "all_edges", "core": [[feature, flips], …],
 * "covered", "core_known"} */
static int add_common(making *m, const cbx_common *c)
{
    json_t *features = json_array(), *edges = json_array(), *core = json_array();
    int     failed = !features || !edges || !core;
    for (int64_t k = 0; k < c->num_features && k < RECUR_MOST && !failed; k++) {
        const cbx_common_feature *f = &c->features[k];
        failed = name_feature(m, f->feature) ||
                 json_array_append_new(
                     features, json_pack("[i, I, I, I]", (int)f->feature, (json_int_t)f->flips,
                                         (json_int_t)f->raised, (json_int_t)f->lowered));
    }
    for (int64_t k = 0; k < c->num_edges && k < RECUR_MOST && !failed; k++) {
        const cbx_common_edge *e = &c->edges[k];
        failed =
            name_node(m, e->source) || name_node(m, e->target) ||
            json_array_append_new(edges, json_pack("[i, i, b, I]", (int)e->source, (int)e->target,
                                                   (int)e->undirected, (json_int_t)e->flips));
    }
    for (int64_t k = 0; k < c->num_core && k < RECUR_MOST && !failed; k++)
        failed = name_feature(m, c->core[k]) ||
                 json_array_append_new(
                     core, json_pack("[i, I]", (int)c->core[k], (json_int_t)c->core_flips[k]));
    json_t *o = json_pack(
        "{s:I, s:O?, s:I, s:O?, s:I, s:O?, s:I, s:I, s:b}", "flips", (json_int_t)c->flips,
        "features", features, "all_features", (json_int_t)c->num_features, "edges", edges,
        "all_edges", (json_int_t)c->num_edges, "core", core, "all_core", (json_int_t)c->num_core,
        "covered", (json_int_t)c->covered, "core_known", (int)c->core_known);
    json_decref(features);
    json_decref(edges);
    json_decref(core);
    failed = failed || !o || json_object_set(m->page, "common", o);
    json_decref(o);
    return failed;
}

static int add_source(making *m)
{
    const cbx_report_source *s = &m->report->source;
    const json_t            *line = json_array_get(m->report->lines, 0);
    bool                     graph = m->report->answers[0]->task == CBX_GRAPH;
    int                      failed =
        cbx_json_put(m->page, "task", json_string(graph ? "graph" : "node")) ||
        cbx_json_put(m->page, "classes", cbx_classes_json(m->report)) ||
        cbx_json_put(m->page, "settings", cbx_settings(line)) ||
        cbx_json_put(m->page, "command", cbx_settings_command(m->report, line, "TARGET")) ||
        cbx_json_put(m->page, "version", json_string(CBX_VERSION_TEXT));
    if (!failed && s->graph && s->graph->data.name)
        failed = cbx_json_put(m->page, "data", cbx_json_string(s->graph->data.name));
    if (!failed && s->model)
        failed = cbx_json_put(m->page, "model", json_string(cbx_model_describe(s->model).conv));
    return failed;
}

static cbx_status make(making *m, cbx_error *err)
{
    const cbx_common *common;
    cbx_status        status = cbx_recurring_new(&m->recurring, err);
    if (status)
        return status;
    set_limits(m);
    if (!m->page || !m->feature_names || !m->node_names || !m->reasons || add_source(m) ||
        add_rows(m) || add_counts(m))
        return cbx_fail_memory(err);
    status = cbx_recurring_find(m->recurring, &common, err);
    if (status)
        return status;
    if (m->report->source.common)
        common = m->report->source.common;
    if (add_common(m, common) || json_object_set(m->page, "feature_names", m->feature_names) ||
        json_object_set(m->page, "node_names", m->node_names) ||
        json_object_set(m->page, "reasons", m->reasons))
        return cbx_fail_memory(err);
    return CBX_OK;
}

cbx_status cbx_report_run(const cbx_report *report, const char *path, cbx_error *err)
{
    making m = {.report = report,
                .page = json_object(),
                .feature_names = json_object(),
                .node_names = json_object(),
                .reasons = json_array()};
    char   title[96];
    (void)snprintf(title, sizeof title, "What would change the class? %zu %ss", report->targets,
                   report->answers[0]->task == CBX_GRAPH ? "graph" : "node");
    cbx_status status = make(&m, err);
    if (!status)
        status =
            cbx_page_write(&(cbx_page){.kind = "run", .title = title, .data = m.page}, path, err);
    cbx_recurring_free(m.recurring);
    json_decref(m.page);
    json_decref(m.feature_names);
    json_decref(m.node_names);
    json_decref(m.reasons);
    return status;
}
