/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: the data of the page of many targets; page/run.js shows it.
 *
 * Numbers that a result line has are taken from the line. A page stays small: of very many
 * targets some are listed, evenly spread, and of each answer its most influential edits;
 * the page says what it leaves out. What is counted is counted over all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "change.h"
#include "classes.h"
#include "error.h"
#include "graph.h"
#include "name_table.h"
#include "node_name.h"
#include "page.h"
#include "settings.h"
#include "version.h"

enum {
    ROWS_MOST = 5000,      /* targets in the table */
    EDITS_EACH = 12,       /* of a target, at most */
    EDITS_TOGETHER = 9000, /* of all targets */
    RECUR_MOST = 25        /* features, and edges, that are listed */
};

typedef struct reason {
    const char    *text;
    struct reason *next;
} reason;

typedef struct making {
    const cbx_report *report;
    cbx_arena         arena;
    cbx_json_writer   page;
    cbx_name_table    feature_names, node_names, group_names; /* of those shown */
    reason           *reasons;                                /* that were met, which are few */
    size_t            step;                                   /* every n-th target is listed */
    int64_t           edits;                                  /* of each are listed, at most */
    cbx_common_edits *common_edits;
} making;

/* ------------------------------------------------------------------- names */

static void name_node(making *m, int32_t node)
{
    const cbx_graph *g = m->report->source.graph;
    cbx_node_number  number;
    if (g && (g->data.node_names || g->data.task == CBX_GRAPH))
        cbx_name_table_add(&m->node_names, node, cbx_node_name(number, g, node));
}

/* The name of the feature of an edit is in its line. */
static const char *edit_name(const making *m, size_t line, int64_t edit)
{
    const cbx_json *edits = cbx_json_get(m->report->lines[line], "edits");
    const cbx_json *name = cbx_json_get(cbx_json_at(edits, (size_t)edit), "name");
    return name ? name->text : NULL;
}

/* The name of a feature is in the graph, or in the first edit of it. */
static const char *feature_name(const making *m, int32_t feature)
{
    const cbx_report *r = m->report;
    const cbx_graph  *g = r->source.graph;
    if (g)
        return g->data.feature_names ? g->data.feature_names[feature] : NULL;
    for (size_t i = 0; i < r->count; i++)
        for (int64_t k = 0; k < r->answers[i]->num_edits; k++) {
            const cbx_edit *e = &r->answers[i]->edits[k];
            if (e->op == CBX_SET_FEATURE && e->feature == feature)
                return edit_name(m, i, k);
        }
    return NULL;
}

static void name_feature(making *m, int32_t feature, const char *name)
{
    if (name)
        cbx_name_table_add(&m->feature_names, feature, name);
}

/* -------------------------------------------------------------------- rows */

/* Whether the line is the first of its target. */
static bool first_of(const cbx_report *r, size_t i)
{
    return !i || r->answers[i]->row != r->answers[i - 1]->row ||
           r->answers[i]->task != r->answers[i - 1]->task;
}

static void put_value(cbx_json_writer *w, double v)
{
    if (v == floor(v) && fabs(v) < 1e9)
        cbx_json_put_int(w, NULL, (int64_t)v);
    else
        cbx_json_put_real(w, NULL, v);
}

static void put_group(making *m, int32_t group)
{
    const cbx_graph *g = m->report->source.graph;
    cbx_json_put_int(&m->page, NULL, group);
    if (g && g->data.group_names && group < g->data.num_groups && g->data.group_names[group])
        cbx_name_table_add(&m->group_names, group, g->data.group_names[group]);
}

/* [node, feature, from, to], and the number of its one-hot group where it is of one;
 * [source, target, undirected] or that and "added" or [its new weight], or [value, attribute] as
 * cbx_edit has them;
 * [node] that goes; [copied, at] of one that comes */
static void put_edit(making *m, size_t line, int64_t k)
{
    const cbx_edit  *e = &m->report->answers[line]->edits[k];
    cbx_json_writer *w = &m->page;
    cbx_json_open(w, NULL, '[');
    switch (e->op) {
    case CBX_REMOVE_EDGE:
    case CBX_ADD_EDGE:
    case CBX_SET_EDGE:
        cbx_json_put_int(w, NULL, e->source);
        cbx_json_put_int(w, NULL, e->target);
        cbx_json_put_bool(w, NULL, e->undirected);
        if (e->op == CBX_ADD_EDGE)
            cbx_json_put_text(w, NULL, "added");
        if (e->op == CBX_SET_EDGE) {
            cbx_json_open(w, NULL, '[');
            put_value(w, (double)e->weight);
            if (e->attribute)
                cbx_json_put_int(w, NULL, e->attribute);
            cbx_json_close(w, ']');
        }
        name_node(m, e->source);
        name_node(m, e->target);
        break;
    case CBX_SET_FEATURE:
        cbx_json_put_int(w, NULL, e->node);
        cbx_json_put_int(w, NULL, e->feature);
        put_value(w, (double)e->from);
        put_value(w, (double)e->to);
        if (e->group > 0)
            put_group(m, e->group - 1);
        name_node(m, e->node);
        name_feature(m, e->feature, edit_name(m, line, k));
        break;
    case CBX_REMOVE_NODE:
        cbx_json_put_int(w, NULL, e->node);
        name_node(m, e->node);
        break;
    case CBX_ADD_NODE:
        cbx_json_put_int(w, NULL, e->source);
        cbx_json_put_int(w, NULL, e->target);
        name_node(m, e->source);
        name_node(m, e->target);
        break;
    }
    cbx_json_close(w, ']');
}

/* The reason's place among those met. */
static void put_reason(making *m, const cbx_json *line)
{
    const cbx_json *given = cbx_json_get(line, "reason");
    reason        **at = &m->reasons;
    int64_t         place = 0;
    if (!given || !given->text) {
        cbx_json_put_null(&m->page, NULL);
        return;
    }
    for (; *at && strcmp((*at)->text, given->text) != 0; at = &(*at)->next)
        place++;
    if (!*at) {
        *at = CBX_NEW0(&m->arena, reason, 1);
        if (*at)
            (*at)->text = given->text;
        else
            m->page.out.failed = true;
    }
    cbx_json_put_int(&m->page, NULL, place);
}

static void put_probability(making *m, const cbx_json *line, const char *side, int32_t class)
{
    const cbx_json *list = cbx_json_get(cbx_json_get(line, side), "probabilities");
    cbx_json_put(&m->page, NULL, class < 0 ? NULL : cbx_json_at(list, (size_t) class));
}

static int64_t count_said(const cbx_json *line, const char *what)
{
    const cbx_json *count = cbx_json_get(line, what);
    return count ? count->integer : 0;
}

/* Edges that go or come, and nodes; a line that has none of a further kind does not say so. */
static int64_t all_edges(const cbx_json *line)
{
    return count_said(line, "edges_removed") + count_said(line, "edges_added") +
           count_said(line, "nodes_removed") + count_said(line, "edges_reweighted") +
           count_said(line, "nodes_added");
}

/* Feature values and groups that change; NULL where the line does not say. */
static void put_features(cbx_json_writer *w, const cbx_counterfactual *c, const cbx_json *line)
{
    const cbx_json *said = cbx_json_get(line, "features_changed");
    if (said)
        cbx_json_put_int(w, NULL, said->integer - cbx_edits_that_follow(c));
    else
        cbx_json_put_null(w, NULL);
}

/* How many changes there are; the edits of the line may be cut. */
static int64_t all_changes(const cbx_counterfactual *c, const cbx_json *line)
{
    const cbx_json *features = cbx_json_get(line, "features_changed");
    const cbx_json *edges = cbx_json_get(line, "edges_removed");
    return (features && edges ? features->integer + all_edges(line) : c->num_edits) -
           cbx_edits_that_follow(c);
}

static const char *const columns[] = {
    "row",         "line",       "status",       "before",  "after",  "p",      "q",
    "p_after",     "q_after",    "features",     "edges",   "edits",  "margin", "seconds",
    "certificate", "robustness", "plausibility", "answers", "reason", "label",  "list"};

/* In the order of `columns`; of the edits the most influential, which come first. */
static void put_row(making *m, size_t i, int64_t answers)
{
    const cbx_counterfactual *c = m->report->answers[i];
    const cbx_json           *line = m->report->lines[i];
    const cbx_graph          *g = m->report->source.graph;
    cbx_json_writer          *w = &m->page;
    int32_t                   after = c->outcome == CBX_FOUND ? c->result : -1;
    cbx_json_open(w, NULL, '[');
    cbx_json_put_int(w, NULL, c->row);
    cbx_json_put_int(w, NULL, (int64_t)i + 1);
    cbx_json_put_int(w, NULL, c->outcome);
    cbx_json_put_int(w, NULL, c->prediction);
    cbx_json_put_int(w, NULL, after);
    put_probability(m, line, "before", c->prediction);
    put_probability(m, line, "before", after);
    put_probability(m, line, "after", c->prediction);
    put_probability(m, line, "after", after);
    put_features(w, c, line);
    if (cbx_json_get(line, "edges_removed"))
        cbx_json_put_int(w, NULL, all_edges(line));
    else
        cbx_json_put_null(w, NULL);
    cbx_json_put_int(w, NULL, all_changes(c, line));
    cbx_json_put(w, NULL, cbx_json_get(line, "margin"));
    cbx_json_put(w, NULL, cbx_json_get(line, "seconds"));
    cbx_json_put(w, NULL, cbx_json_get(line, "certificate"));
    cbx_json_put(w, NULL, cbx_json_get(line, "robustness"));
    cbx_json_put(w, NULL, cbx_json_get(line, "plausibility"));
    cbx_json_put_int(w, NULL, answers);
    put_reason(m, line);
    if (g && g->data.y && g->data.y[c->row] >= 0)
        cbx_json_put_int(w, NULL, g->data.y[c->row]);
    else
        cbx_json_put_null(w, NULL);
    cbx_json_open(w, NULL, '[');
    for (int64_t k = 0; k < c->num_edits && k < m->edits; k++)
        put_edit(m, i, k);
    cbx_json_close(w, ']');
    cbx_json_close(w, ']');
    if (c->task == CBX_NODE)
        name_node(m, c->row);
}

static void put_rows(making *m)
{
    const cbx_report *r = m->report;
    size_t            target = 0;
    cbx_json_open(&m->page, "rows", '[');
    for (size_t i = 0, end; i < r->count; i = end, target++) {
        for (end = i + 1; end < r->count && !first_of(r, end); end++)
            ;
        if (target % m->step == 0)
            put_row(m, i, (int64_t)(end - i));
    }
    cbx_json_close(&m->page, ']');
    cbx_json_open(&m->page, "columns", '[');
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        cbx_json_put_text(&m->page, NULL, columns[k]);
    cbx_json_close(&m->page, ']');
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

static void put_counts(making *m)
{
    const cbx_report *r = m->report;
    cbx_json_writer  *w = &m->page;
    int64_t           counts[CBX_NOT_FINISHED + 1] = {0};
    double            seconds = 0;
    for (size_t i = 0; i < r->count; i++) {
        const cbx_json *took = cbx_json_get(r->lines[i], "seconds");
        if (!first_of(r, i))
            continue;
        counts[r->answers[i]->outcome]++;
        seconds += took ? took->number : 0;
        cbx_common_edits_add(m->common_edits, r->answers[i]);
    }
    cbx_json_open(w, "counts", '{');
    for (int k = 0; k <= CBX_NOT_FINISHED; k++)
        cbx_json_put_int(w, cbx_outcome_name((cbx_outcome)k), counts[k]);
    cbx_json_close(w, '}');
    cbx_json_open(w, "outcomes", '[');
    for (int k = 0; k <= CBX_NOT_FINISHED; k++)
        cbx_json_put_text(w, NULL, cbx_outcome_name((cbx_outcome)k));
    cbx_json_close(w, ']');
    cbx_json_put_int(w, "targets", (int64_t)r->targets);
    cbx_json_put_int(w, "lines", (int64_t)r->count);
    cbx_json_put_real(w, "seconds", seconds);
    cbx_json_put_int(w, "edits_listed", m->edits);
}

/* [feature, flips, raised, lowered] */
static void put_common_feature(making *m, const cbx_common_feature *f)
{
    cbx_json_open(&m->page, NULL, '[');
    cbx_json_put_int(&m->page, NULL, f->feature);
    cbx_json_put_int(&m->page, NULL, f->flips);
    cbx_json_put_int(&m->page, NULL, f->raised);
    cbx_json_put_int(&m->page, NULL, f->lowered);
    cbx_json_close(&m->page, ']');
    name_feature(m, f->feature, feature_name(m, f->feature));
}

/* [source, target, undirected, flips, added, reweighted] */
static void put_common_edge(making *m, const cbx_common_edge *e)
{
    cbx_json_open(&m->page, NULL, '[');
    cbx_json_put_int(&m->page, NULL, e->source);
    cbx_json_put_int(&m->page, NULL, e->target);
    cbx_json_put_bool(&m->page, NULL, e->undirected);
    cbx_json_put_int(&m->page, NULL, e->flips);
    cbx_json_put_bool(&m->page, NULL, e->added);
    cbx_json_put_bool(&m->page, NULL, e->reweighted);
    cbx_json_close(&m->page, ']');
    name_node(m, e->source);
    name_node(m, e->target);
}

/* [node, flips] */
static void put_common_node(making *m, const cbx_common_node *n)
{
    cbx_json_open(&m->page, NULL, '[');
    cbx_json_put_int(&m->page, NULL, n->node);
    cbx_json_put_int(&m->page, NULL, n->flips);
    cbx_json_close(&m->page, ']');
    name_node(m, n->node);
}

/* [feature, flips] */
static void put_core(making *m, int32_t feature, int64_t flips)
{
    cbx_json_open(&m->page, NULL, '[');
    cbx_json_put_int(&m->page, NULL, feature);
    cbx_json_put_int(&m->page, NULL, flips);
    cbx_json_close(&m->page, ']');
    name_feature(m, feature, feature_name(m, feature));
}

static void put_common(making *m, const cbx_common *c)
{
    cbx_json_writer *w = &m->page;
    cbx_json_open(w, "common", '{');
    cbx_json_put_int(w, "flips", c->flips);
    cbx_json_open(w, "features", '[');
    for (int64_t k = 0; k < c->num_features && k < RECUR_MOST; k++)
        put_common_feature(m, &c->features[k]);
    cbx_json_close(w, ']');
    cbx_json_put_int(w, "all_features", c->num_features);
    cbx_json_open(w, "edges", '[');
    for (int64_t k = 0; k < c->num_edges && k < RECUR_MOST; k++)
        put_common_edge(m, &c->edges[k]);
    cbx_json_close(w, ']');
    cbx_json_put_int(w, "all_edges", c->num_edges);
    cbx_json_open(w, "nodes", '[');
    for (int64_t k = 0; k < c->num_nodes && k < RECUR_MOST; k++)
        put_common_node(m, &c->nodes[k]);
    cbx_json_close(w, ']');
    cbx_json_put_int(w, "all_nodes", c->num_nodes);
    cbx_json_open(w, "core", '[');
    for (int64_t k = 0; k < c->num_core && k < RECUR_MOST; k++)
        put_core(m, c->core[k], c->core_flips[k]);
    cbx_json_close(w, ']');
    cbx_json_put_int(w, "all_core", c->num_core);
    cbx_json_put_int(w, "covered", c->covered);
    cbx_json_put_bool(w, "core_known", c->core_known);
    cbx_json_close(w, '}');
}

static void put_source(making *m)
{
    const cbx_report_source *s = &m->report->source;
    const cbx_json          *line = m->report->lines[0];
    cbx_json_writer         *w = &m->page;
    bool                     graph = m->report->answers[0]->task == CBX_GRAPH;
    cbx_json_put_text(w, "task", graph ? "graph" : "node");
    cbx_classes_put(w, m->report);
    cbx_settings_put(w, line);
    cbx_settings_put_command(w, m->report, line, "TARGET");
    cbx_json_put_text(w, "version", CBX_VERSION_TEXT);
    if (s->graph && s->graph->data.name)
        cbx_json_put_text(w, "data", s->graph->data.name);
    if (s->model)
        cbx_json_put_text(w, "model", cbx_model_describe(s->model).conv);
}

static cbx_status make(making *m, cbx_error *err)
{
    const cbx_common *common;
    cbx_json_writer  *w = &m->page;
    cbx_status        status = cbx_common_edits_new(&m->common_edits, err);
    if (status)
        return status;
    set_limits(m);
    cbx_json_open(w, NULL, '{');
    put_source(m);
    put_rows(m);
    put_counts(m);
    status = cbx_common_edits_find(m->common_edits, &common, err);
    if (status)
        return status;
    put_common(m, m->report->source.common ? m->report->source.common : common);
    cbx_name_table_put(w, "feature_names", &m->feature_names);
    cbx_name_table_put(w, "node_names", &m->node_names);
    cbx_name_table_put(w, "group_names", &m->group_names);
    cbx_json_open(w, "reasons", '[');
    for (const reason *r = m->reasons; r; r = r->next)
        cbx_json_put_text(w, NULL, r->text);
    cbx_json_close(w, ']');
    cbx_json_close(w, '}');
    return CBX_OK;
}

cbx_status cbx_report_run(const cbx_report *report, const char *path, cbx_error *err)
{
    making m = {.report = report,
                .page.ascii = true,
                .feature_names.json.ascii = true,
                .node_names.json.ascii = true,
                .group_names.json.ascii = true};
    char   title[96];
    (void)snprintf(title, sizeof title, "What would change the class? %zu %ss", report->targets,
                   report->answers[0]->task == CBX_GRAPH ? "graph" : "node");
    cbx_status status = make(&m, err);
    if (!status)
        status = cbx_page_write(&(cbx_page){.kind = "run", .title = title, .data = &m.page.out},
                                path, err);
    cbx_common_edits_free(m.common_edits);
    cbx_name_table_free(&m.feature_names);
    cbx_name_table_free(&m.node_names);
    cbx_name_table_free(&m.group_names);
    cbx_buffer_free(&m.page.out);
    cbx_arena_free(&m.arena);
    return status;
}
