/* SPDX-License-Identifier: Apache-2.0 */
/* explanation.c: the data of an explanation's page; page/explanation.js shows it.
 *
 * Numbers that a result line has are taken from the line, digit by digit. What a page can
 * show beyond, the model is asked for here: the classes of the nodes around, and the
 * probabilities with edits undone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classes.h"
#include "error.h"
#include "graph.h"
#include "likely.h"
#include "page.h"
#include "settings.h"
#include "undo.h"
#include "version.h"

enum {
    FEATURES_MOST = 8, /* of a node, shown where it is pointed at */
    CLASSES_MOST = 5,  /* likewise */
    EPOCHS_MOST = 400  /* points of a curve */
};

typedef struct making {
    const cbx_report *report;
    cbx_arena         arena;
    cbx_scene         scene;
    cbx_classes       classes;
    json_t           *page;
    cbx_error        *err;
} making;

static int append(json_t *list, json_t *value)
{
    return json_array_append_new(list, value);
}

/* ------------------------------------------------------------------- nodes */

/* [[class, probability], …], likely ones first, as many as are worth showing. */
static json_t *likely(const making *m, const float *log_probs, int32_t node)
{
    const float *p = log_probs + (int64_t)node * m->classes.num_classes;
    json_t      *list = json_array();
    int32_t      last = -1, failed = !list;
    for (int k = 0; k < CLASSES_MOST && k < m->classes.num_classes && !failed; k++) {
        last = cbx_next_class(p, m->classes.num_classes, last);
        if (last < 0)
            break;
        failed = append(list, json_pack("[i, f]", (int)last, exp((double)p[last])));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *feature_name(const cbx_graph_data *d, int32_t feature)
{
    char number[32];
    if (d->feature_names)
        return cbx_json_string(d->feature_names[feature]);
    (void)snprintf(number, sizeof number, "feature %d", feature);
    return json_string(number);
}

/* {"features": [[name, value], …], "more": n}: those that are not 0, in the data's order. */
static int add_features(const making *m, json_t *o, int32_t node)
{
    const cbx_graph_data *d = &m->report->source.graph->data;
    json_t               *list = json_array();
    int64_t               from = d->x ? 0 : d->x_indptr[node], more = 0;
    int64_t               to = d->x ? d->num_features : d->x_indptr[node + 1];
    int                   failed = !list;
    for (int64_t k = from; k < to && !failed; k++) {
        int32_t f = d->x ? (int32_t)k : d->x_indices[k];
        float   value = d->x ? d->x[(int64_t)node * d->num_features + k] : d->x_values[k];
        if (value == 0)
            continue;
        if (json_array_size(list) >= FEATURES_MOST)
            more++;
        else
            failed = append(
                list, json_pack("[o, o]", feature_name(d, f), cbx_json_number((double)value)));
    }
    failed = failed || json_object_set(o, "features", list) ||
             cbx_json_put(o, "more", json_integer((json_int_t)more));
    json_decref(list);
    return failed;
}

static json_t *node_object(const making *m, int32_t i)
{
    const cbx_scene_node *n = &m->scene.nodes[i];
    const cbx_graph      *g = m->report->source.graph;
    json_t *o = json_pack("{s:i, s:o, s:i, s:f, s:f, s:i, s:b}", "id", (int)n->id, "name",
                          cbx_json_string(n->name), "hop", (int)n->hop, "x",
                          round((double)n->x * 10) / 10, "y", round((double)n->y * 10) / 10, "side",
                          (int)n->side, "labelled", (int)cbx_scene_labelled(&m->scene, i));
    int     failed = !o;
    if (!failed && m->classes.before) {
        failed = cbx_json_put(o, "class",
                              json_integer(cbx_classes_best(&m->classes, m->classes.before, i))) ||
                 cbx_json_put(o, "likely", likely(m, m->classes.before, i));
    }
    if (!failed && g && g->data.task == CBX_NODE && g->data.y && g->data.y[n->id] >= 0)
        failed = cbx_json_put(o, "label", json_integer((json_int_t)g->data.y[n->id]));
    if (!failed && g)
        failed = add_features(m, o, n->id);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

static int add_scene(making *m)
{
    const cbx_scene *s = &m->scene;
    json_t          *nodes = json_array(), *edges = json_array();
    int              failed = !nodes || !edges;
    for (int32_t i = 0; i < s->num_nodes && !failed; i++)
        failed = append(nodes, node_object(m, i));
    for (int32_t i = 0; i < s->num_edges && !failed; i++)
        failed = append(edges, json_pack("[i, i, i]", (int)s->edges[i].a, (int)s->edges[i].b,
                                         s->edges[i].there[0] + 2 * s->edges[i].there[1]));
    failed = failed || json_object_set(m->page, "nodes", nodes) ||
             json_object_set(m->page, "edges", edges) ||
             cbx_json_put(m->page, "undirected", json_boolean(s->undirected)) ||
             cbx_json_put(m->page, "all_nodes", json_integer(s->all_nodes)) ||
             cbx_json_put(m->page, "size", json_pack("[i, i]", CBX_SCENE_WIDTH, CBX_SCENE_HEIGHT));
    json_decref(nodes);
    json_decref(edges);
    return failed;
}

/* ----------------------------------------------------------------- answers */

/* An object with the same values. json_copy leaves out what finds no memory. */
static json_t *copy_object(json_t *from)
{
    json_t *copy = json_copy(from);
    if (copy && json_object_size(copy) == json_object_size(from))
        return copy;
    json_decref(copy);
    return NULL;
}

/* The line's edits that the table shows, with where they are in the picture. */
static json_t *edit_list(const making *m, size_t which)
{
    const cbx_counterfactual *c = m->report->answers[which];
    const cbx_graph          *g = m->report->source.graph;
    const json_t *from = json_object_get(json_array_get(m->report->lines, which), "edits");
    json_t       *list = json_array();
    int           failed = !list;
    for (int64_t i = 0; i < c->num_edits && i < CBX_EDITS_LISTED && !failed; i++) {
        const cbx_edit *e = &c->edits[i];
        json_t         *o = copy_object(json_array_get(from, (size_t)i));
        failed = !o || append(list, o);
        if (failed)
            break;
        if (e->op == CBX_REMOVE_EDGE)
            failed = cbx_json_put(
                o, "drawn", json_integer(cbx_scene_edge_find(&m->scene, e->source, e->target)));
        else
            failed = cbx_json_put(o, "drawn", json_integer(cbx_scene_find(&m->scene, e->node)));
        if (!failed && g && g->data.node_names) {
            const char *const *names = g->data.node_names;
            bool               edge = e->op == CBX_REMOVE_EDGE;
            failed =
                cbx_json_put(o, "from_name", cbx_json_string(names[edge ? e->source : e->node])) ||
                cbx_json_put(o, "to_name", cbx_json_string(names[edge ? e->target : e->node]));
        }
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *nodes_after(const making *m, size_t which)
{
    const float *p = m->classes.after[which];
    json_t      *list = json_array();
    for (int32_t i = 0; i < m->scene.num_nodes && list; i++)
        if (append(list, json_pack("{s:i, s:o}", "class", (int)cbx_classes_best(&m->classes, p, i),
                                   "likely", likely(m, p, i)))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* The line without its edits, which come as a list of their own. */
static json_t *answer_object(making *m, size_t which, cbx_status *status)
{
    const cbx_report         *r = m->report;
    const cbx_counterfactual *c = r->answers[which];
    int64_t shown = c->num_edits < CBX_EDITS_LISTED ? c->num_edits : CBX_EDITS_LISTED;
    json_t *line = copy_object(json_array_get(r->lines, which)), *undo = NULL;
    json_t *o = json_object();
    int     failed = !line || !o || json_object_del(line, "edits");
    failed = failed || json_object_set(o, "result", line) ||
             cbx_json_put(o, "edits", edit_list(m, which)) ||
             cbx_json_put(o, "all_edits", json_integer((json_int_t)c->num_edits));
    json_decref(line);
    if (!failed && m->classes.after[which])
        failed = cbx_json_put(o, "nodes", nodes_after(m, which));
    if (!failed && r->source.graph && c->outcome == CBX_FOUND && c->num_edits) {
        *status = cbx_undo_all(r, which, shown, &undo, m->err);
        failed = *status || cbx_json_put(o, "undo", undo);
    }
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

static cbx_status add_answers(making *m)
{
    json_t    *list = json_array();
    cbx_status status = CBX_OK;
    int        failed = !list;
    for (size_t i = 0; i < m->report->count && !failed; i++)
        failed = append(list, answer_object(m, i, &status));
    failed = failed || json_object_set(m->page, "answers", list);
    json_decref(list);
    return failed && !status ? cbx_fail_memory(m->err) : status;
}

/* ------------------------------------------------------------- the rest */

static int add_target(making *m)
{
    const cbx_counterfactual *c = m->report->answers[0];
    const cbx_graph          *g = m->report->source.graph;
    json_t *o = json_pack("{s:s, s:i}", "task", c->task == CBX_GRAPH ? "graph" : "node", "row",
                          (int)c->row);
    int     failed = !o;
    if (!failed && g && c->task == CBX_NODE && g->data.node_names)
        failed = cbx_json_put(o, "name", cbx_json_string(g->data.node_names[c->row]));
    if (!failed && g && g->data.y && g->data.y[c->row] >= 0)
        failed = cbx_json_put(o, "label", json_integer((json_int_t)g->data.y[c->row]));
    if (!failed && g && g->data.name)
        failed = cbx_json_put(o, "data", cbx_json_string(g->data.name));
    if (!failed && m->report->source.model)
        failed =
            cbx_json_put(o, "model", json_string(cbx_model_describe(m->report->source.model).conv));
    failed = failed || json_object_set(m->page, "target", o);
    json_decref(o);
    return failed;
}

/* Columns of numbers; of long searches every n-th epoch and the last. */
static int add_trace(making *m)
{
    const cbx_report_source *s = &m->report->source;
    int64_t                  step = s->num_trace / EPOCHS_MOST + 1;
    json_t                  *list = json_array();
    int                      failed = !list;
    for (int64_t i = 0; i < s->num_trace && !failed; i++) {
        const cbx_epoch *e = &s->trace[i];
        if (i % step && i != s->num_trace - 1)
            continue;
        failed =
            append(list, json_pack("[I, o, o, o, o, o, b, I]", (json_int_t)i,
                                   cbx_json_number(e->loss), cbx_json_number(e->ce),
                                   cbx_json_number(e->edge_loss), cbx_json_number(e->feature_loss),
                                   cbx_json_number(e->alpha), (int)e->hit,
                                   (json_int_t)e->changed_features + (json_int_t)e->removed_edges));
    }
    failed = failed || json_object_set(m->page, "trace", list);
    json_decref(list);
    return failed;
}

static cbx_status make(making *m)
{
    const json_t *line = json_array_get(m->report->lines, 0);
    cbx_status    status = cbx_scene_make(m->report, &m->arena, &m->scene, m->err);
    if (!status)
        status = cbx_classes_ask(m->report, &m->scene, &m->arena, &m->classes, m->err);
    if (status)
        return status;
    if (!m->page || add_scene(m) || cbx_json_put(m->page, "classes", cbx_classes_json(m->report)) ||
        add_target(m) ||
        (m->report->source.trace && m->report->source.num_trace > 1 && add_trace(m)) ||
        cbx_json_put(m->page, "settings", cbx_settings(line)) ||
        cbx_json_put(m->page, "command", cbx_settings_command(m->report, line, NULL)) ||
        cbx_json_put(m->page, "version", json_string(CBX_VERSION_TEXT)))
        return cbx_fail_memory(m->err);
    return add_answers(m);
}

cbx_status cbx_report_explanation(const cbx_report *report, const char *path, cbx_error *err)
{
    const cbx_counterfactual *c = report->answers[0];
    making                    m = {.report = report, .page = json_object(), .err = err};
    char                      title[64];
    (void)snprintf(title, sizeof title, "Why this class? %s %d",
                   c->task == CBX_GRAPH ? "Graph" : "Node", c->row);
    cbx_status status = make(&m);
    if (!status)
        status = cbx_page_write(&(cbx_page){.kind = "explanation", .title = title, .data = m.page},
                                path, err);
    json_decref(m.page);
    cbx_arena_free(&m.arena);
    return status;
}
