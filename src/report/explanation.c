/* SPDX-License-Identifier: Apache-2.0 */
/* explanation.c: the data of an explanation's page; page/explanation.js shows it.
 *
 * Numbers that a result line has are taken from the line, digit by digit. What a page can
 * show beyond, the model is asked for here: the classes of the nodes around, and the
 * probabilities with edits undone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "classes.h"
#include "edit_kind.h"
#include "error.h"
#include "class_order.h"
#include "node_name.h"
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
    cbx_json_writer   page;
    cbx_error        *err;
} making;

/* ------------------------------------------------------------------- nodes */

/* [[class, probability], …], likely ones first, as many as are worth showing. */
static void put_likely(making *m, const float *log_probs, int32_t node)
{
    cbx_json_writer *w = &m->page;
    const float     *p = log_probs + (int64_t)node * m->classes.num_classes;
    int32_t          last = -1;
    cbx_json_open(w, "likely", '[');
    for (int k = 0; k < CLASSES_MOST && k < m->classes.num_classes; k++) {
        last = cbx_next_class(p, m->classes.num_classes, last);
        if (last < 0)
            break;
        cbx_json_open(w, NULL, '[');
        cbx_json_put_int(w, NULL, last);
        cbx_json_put_real(w, NULL, exp((double)p[last]));
        cbx_json_close(w, ']');
    }
    cbx_json_close(w, ']');
}

/* [name, value] */
static void put_feature(cbx_json_writer *w, const cbx_graph_data *d, int32_t feature, float value)
{
    char number[32];
    (void)snprintf(number, sizeof number, "feature %d", feature);
    cbx_json_open(w, NULL, '[');
    cbx_json_put_text(w, NULL, d->feature_names ? d->feature_names[feature] : number);
    cbx_json_put_real(w, NULL, (double)value);
    cbx_json_close(w, ']');
}

/* "features": [[name, value], …], "more": n: those that are not 0, in the data's order. */
static void put_features(making *m, int32_t node)
{
    const cbx_graph_data *d = &m->report->source.graph->data;
    int64_t               from = d->x ? 0 : d->x_indptr[node], count = 0;
    int64_t               to = d->x ? d->num_features : d->x_indptr[node + 1];
    cbx_json_open(&m->page, "features", '[');
    for (int64_t k = from; k < to; k++) {
        int32_t f = d->x ? (int32_t)k : d->x_indices[k];
        float   value = d->x ? d->x[(int64_t)node * d->num_features + k] : d->x_values[k];
        if (value != 0 && count++ < FEATURES_MOST)
            put_feature(&m->page, d, f, value);
    }
    cbx_json_close(&m->page, ']');
    cbx_json_put_int(&m->page, "more", count > FEATURES_MOST ? count - FEATURES_MOST : 0);
}

static void put_node(making *m, int32_t i)
{
    const cbx_scene_node *n = &m->scene.nodes[i];
    const cbx_graph      *g = m->report->source.graph;
    cbx_json_writer      *w = &m->page;
    cbx_json_open(w, NULL, '{');
    cbx_json_put_int(w, "id", n->id);
    cbx_json_put_text(w, "name", n->name);
    if (n->symbol)
        cbx_json_put_text(w, "symbol", n->symbol);
    cbx_json_put_int(w, "hop", n->hop);
    cbx_json_put_real(w, "x", round((double)n->x * 10) / 10);
    cbx_json_put_real(w, "y", round((double)n->y * 10) / 10);
    cbx_json_put_int(w, "side", n->side);
    cbx_json_put_bool(w, "labelled", cbx_scene_labelled(&m->scene, i));
    if (m->classes.before) {
        cbx_json_put_int(w, "class", cbx_classes_best(&m->classes, m->classes.before, i));
        put_likely(m, m->classes.before, i);
    }
    if (g && g->data.task == CBX_NODE && g->data.y && g->data.y[n->id] >= 0)
        cbx_json_put_int(w, "label", g->data.y[n->id]);
    if (n->comes)
        cbx_json_put_bool(w, "comes", true);
    if (g)
        put_features(m, cbx_scene_like(n));
    cbx_json_close(w, '}');
}

static void put_scene(making *m)
{
    const cbx_scene *s = &m->scene;
    cbx_json_writer *w = &m->page;
    cbx_json_open(w, "nodes", '[');
    for (int32_t i = 0; i < s->num_nodes; i++)
        put_node(m, i);
    cbx_json_close(w, ']');
    cbx_json_open(w, "edges", '[');
    for (int32_t i = 0; i < s->num_edges; i++) {
        cbx_json_open(w, NULL, '[');
        cbx_json_put_int(w, NULL, s->edges[i].a);
        cbx_json_put_int(w, NULL, s->edges[i].b);
        cbx_json_put_int(w, NULL, s->edges[i].there[0] + 2 * s->edges[i].there[1]);
        cbx_json_close(w, ']');
    }
    cbx_json_close(w, ']');
    cbx_json_put_bool(w, "undirected", s->undirected);
    cbx_json_put_int(w, "all_nodes", s->all_nodes);
    cbx_json_open(w, "size", '[');
    cbx_json_put_int(w, NULL, CBX_SCENE_WIDTH);
    cbx_json_put_int(w, NULL, CBX_SCENE_HEIGHT);
    cbx_json_close(w, ']');
}

/* ----------------------------------------------------------------- answers */

/* Members of an object, but those that the page has itself, "" behind the last. */
static void put_others(cbx_json_writer *w, const cbx_json *object, const char *const *own)
{
    for (const cbx_json *member = object->first; member; member = member->next) {
        const char *const *at = own;
        while (**at && strcmp(*at, member->key) != 0)
            at++;
        if (!**at)
            cbx_json_put(w, member->key, member);
    }
}

static const char *group_name(const cbx_graph_data *d, int32_t group)
{
    const char *name = d->group_names && group < d->num_groups ? d->group_names[group] : NULL;
    return name ? name : "";
}

/* The line's edit, with where it is in the picture. */
static void put_edit(making *m, const cbx_json *said, const cbx_edit *e)
{
    static const char *const own[] = {"drawn",   "group", "group_number", "symbol", "from_name",
                                      "to_name", ""};
    const cbx_graph         *g = m->report->source.graph;
    cbx_json_writer         *w = &m->page;
    int32_t                  ends[2];
    cbx_edit_kind_of(e)->nodes(e, ends);
    cbx_json_open(w, NULL, '{');
    put_others(w, said, own);
    cbx_json_put_int(w, "drawn", cbx_scene_place_of(&m->scene, e));
    if (e->op == CBX_SET_FEATURE &&
        e->group > 0) /* what one-hot features are of, if it has a name */
        cbx_json_put_text(w, "group", g ? group_name(&g->data, e->group - 1) : "");
    if (e->op == CBX_SET_FEATURE && e->group > 0)
        cbx_json_put_int(w, "group_number", e->group);
    if (e->op == CBX_SET_FEATURE && m->scene.symbols && m->scene.symbols[e->feature] && e->to != 0)
        cbx_json_put_text(w, "symbol", m->scene.symbols[e->feature]);
    if (g) {
        cbx_node_number number;
        cbx_json_put_text(w, "from_name", cbx_node_name(number, g, ends[0]));
        cbx_json_put_text(w, "to_name", cbx_node_name(number, g, ends[1]));
    }
    cbx_json_close(w, '}');
}

static void put_nodes_after(making *m, const float *log_probs)
{
    cbx_json_open(&m->page, "nodes", '[');
    for (int32_t i = 0; i < m->scene.num_nodes; i++) {
        cbx_json_open(&m->page, NULL, '{');
        cbx_json_put_int(&m->page, "class", cbx_classes_best(&m->classes, log_probs, i));
        put_likely(m, log_probs, i);
        cbx_json_close(&m->page, '}');
    }
    cbx_json_close(&m->page, ']');
}

/* The line without its edits, which come as a list of their own. */
static cbx_status put_answer(making *m, size_t which)
{
    static const char *const  own[] = {"edits", ""};
    const cbx_report         *r = m->report;
    const cbx_counterfactual *c = r->answers[which];
    const cbx_json           *edit = cbx_json_at(cbx_json_get(r->lines[which], "edits"), 0);
    cbx_json_writer          *w = &m->page;
    int64_t                   shown = 0;
    cbx_status                status = CBX_OK;
    cbx_json_open(w, NULL, '{');
    cbx_json_open(w, "result", '{');
    put_others(w, r->lines[which], own);
    cbx_json_close(w, '}');
    cbx_json_open(w, "edits", '[');
    for (; edit; edit = edit->next)
        put_edit(m, edit, &c->edits[shown++]);
    cbx_json_close(w, ']');
    cbx_json_put_int(w, "all_edits", c->num_edits);
    if (m->classes.after[which])
        put_nodes_after(m, m->classes.after[which]);
    if (r->source.graph && c->outcome == CBX_FOUND && c->num_edits)
        status = cbx_undo_put(w, r, which, shown, m->err);
    cbx_json_close(w, '}');
    return status;
}

static cbx_status put_answers(making *m)
{
    cbx_status status = CBX_OK;
    cbx_json_open(&m->page, "answers", '[');
    for (size_t i = 0; i < m->report->count && !status; i++)
        status = put_answer(m, i);
    cbx_json_close(&m->page, ']');
    return status;
}

/* ------------------------------------------------------------- the rest */

static void put_target(making *m)
{
    const cbx_counterfactual *c = m->report->answers[0];
    const cbx_graph          *g = m->report->source.graph;
    cbx_json_writer          *w = &m->page;
    cbx_json_open(w, "target", '{');
    cbx_json_put_text(w, "task", c->task == CBX_GRAPH ? "graph" : "node");
    cbx_json_put_int(w, "row", c->row);
    if (g && c->task == CBX_NODE && g->data.node_names)
        cbx_json_put_text(w, "name", g->data.node_names[c->row]);
    if (g && g->data.y && g->data.y[c->row] >= 0)
        cbx_json_put_int(w, "label", g->data.y[c->row]);
    if (g && g->data.name)
        cbx_json_put_text(w, "data", g->data.name);
    if (m->report->source.model)
        cbx_json_put_text(w, "model", cbx_model_describe(m->report->source.model).conv);
    cbx_json_close(w, '}');
}

/* [epoch, loss, its parts, alpha, whether it flips, edits] */
static void put_epoch(cbx_json_writer *w, int64_t i, const cbx_epoch *e)
{
    cbx_json_open(w, NULL, '[');
    cbx_json_put_int(w, NULL, i);
    cbx_json_put_real(w, NULL, e->loss);
    cbx_json_put_real(w, NULL, e->ce);
    cbx_json_put_real(w, NULL, e->edge_loss);
    cbx_json_put_real(w, NULL, e->feature_loss);
    cbx_json_put_real(w, NULL, e->alpha);
    cbx_json_put_bool(w, NULL, e->hit);
    cbx_json_put_int(w, NULL, (int64_t)e->changed_features + (int64_t)e->removed_edges);
    cbx_json_close(w, ']');
}

/* Of long searches every n-th epoch and the last. */
static void put_trace(making *m)
{
    const cbx_report_source *s = &m->report->source;
    int64_t                  step = s->num_trace / EPOCHS_MOST + 1;
    cbx_json_open(&m->page, "trace", '[');
    for (int64_t i = 0; i < s->num_trace; i++)
        if (i % step == 0 || i == s->num_trace - 1)
            put_epoch(&m->page, i, &s->trace[i]);
    cbx_json_close(&m->page, ']');
}

static cbx_status make(making *m)
{
    const cbx_report *r = m->report;
    cbx_json_writer  *w = &m->page;
    cbx_status        status = cbx_scene_make(r, &m->arena, &m->scene, m->err);
    if (!status)
        status = cbx_classes_ask(r, &m->scene, &m->arena, &m->classes, m->err);
    if (status)
        return status;
    cbx_json_open(w, NULL, '{');
    put_scene(m);
    cbx_classes_put(w, r);
    put_target(m);
    if (r->source.trace && r->source.num_trace > 1)
        put_trace(m);
    cbx_settings_put(w, r->lines[0]);
    cbx_settings_put_command(w, r, r->lines[0], NULL);
    cbx_json_put_text(w, "version", CBX_VERSION_TEXT);
    status = put_answers(m);
    cbx_json_close(w, '}');
    return status;
}

cbx_status cbx_report_explanation(const cbx_report *report, const char *path, cbx_error *err)
{
    const cbx_counterfactual *c = report->answers[0];
    making                    m = {.report = report, .page.ascii = true, .err = err};
    char                      title[64];
    (void)snprintf(title, sizeof title, "Why this class? %s %d",
                   c->task == CBX_GRAPH ? "Graph" : "Node", c->row);
    cbx_status status = make(&m);
    if (!status)
        status = cbx_page_write(
            &(cbx_page){.kind = "explanation", .title = title, .data = &m.page.out}, path, err);
    cbx_buffer_free(&m.page.out);
    cbx_arena_free(&m.arena);
    return status;
}
