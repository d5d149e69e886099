/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c: the scene before and after the first answer, side by side, with a title and a
 * legend. */
#include <stdio.h>
#include <string.h>

#include "change.h"
#include "edge_columns.h"
#include "error.h"
#include "graph.h"
#include "panel.h"

enum { LINE = 22 }; /* of the legend */

/* ------------------------------------------------------------------ legend */

typedef struct legend {
    cbx_drawing *d;
    double       x, y;
    bool         draw; /* else only measures */
    cbx_status   status;
} legend;

/* Makes room for an entry of so many columns: where it begins. */
static double entry(legend *l, size_t columns, double *y)
{
    double wide = 32 + 6.6 * (double)columns + 14;
    if (l->x + wide > CBX_PICTURE_WIDTH - CBX_PICTURE_EDGE && l->x > CBX_PICTURE_EDGE) {
        l->x = CBX_PICTURE_EDGE;
        l->y += LINE;
    }
    double x = l->x;
    l->x += wide;
    *y = l->y;
    return x;
}

static void word(legend *l, double x, double y, const char *text)
{
    l->d->ops->text(l->d->canvas, x + 30, y + 4, text, &(cbx_lettering){.size = 12});
}

static bool is_shown(const cbx_drawing *d, int32_t class)
{
    cbx_drawing one = *d;
    if (d->scene->task == CBX_GRAPH)
        return false;
    for (int after = 0; after < 1 + (d->answer->after != NULL); after++) {
        one.after = after;
        for (int32_t i = 0; i < d->scene->num_nodes; i++)
            if (cbx_drawn_class(&one, i) == class)
                return true;
    }
    return false;
}

static void class_entries(legend *l, cbx_error *err)
{
    for (int32_t k = 0; k < l->d->answer->num_classes && !l->status; k++) {
        cbx_buffer name = {.text = NULL};
        double     y, x;
        if (!is_shown(l->d, k))
            continue;
        cbx_put_class(&name, l->d->report, k);
        if (name.failed)
            l->status = cbx_fail_memory(err);
        x = entry(l, name.size, &y);
        if (l->draw && !l->status) {
            cbx_draw_shape(l->d, k, x + 14, y, 6.5);
            word(l, x, y, name.text);
        }
        cbx_buffer_free(&name);
    }
}

static bool sets_attributes(const cbx_counterfactual *c)
{
    bool any = false;
    for (int64_t k = 0; k < c->num_edits; k++)
        any = any || (c->edits[k].op == CBX_SET_EDGE && c->edits[k].attribute);
    return any;
}

static void mark_entries(legend *l)
{
    const cbx_drawing *d = l->d;
    double             x, y;
    const struct {
        bool        there, line;
        cbx_ink     ink;
        const char *text;
    } marks[] = {
        {d->scene->task == CBX_NODE, false, {.stroke = cbx_dark, .width = 2.6}, "the target"},
        {d->answer->num_features_changed > 0,
         false,
         {.stroke = cbx_red, .width = 2.4},
         "features changed"},
        {d->answer->num_nodes_removed > 0,
         false,
         {.stroke = cbx_red, .width = 2, .dash = 5},
         "node removed"},
        {d->answer->num_edges_removed + d->answer->num_nodes_removed > 0,
         true,
         {.stroke = cbx_red, .width = 2.6},
         "to be removed"},
        {d->answer->num_edges_removed + d->answer->num_nodes_removed > 0,
         true,
         {.stroke = cbx_red, .width = 2, .dash = 5},
         "removed"},
        {d->answer->num_nodes_added > 0, false, {.stroke = cbx_green, .width = 2.6}, "node added"},
        {d->answer->num_edges_added + d->answer->num_nodes_added > 0,
         true,
         {.stroke = cbx_green, .width = 2, .dash = 5},
         "to be added"},
        {d->answer->num_edges_added + d->answer->num_nodes_added > 0,
         true,
         {.stroke = cbx_green, .width = 2.6},
         "added"},
        {d->answer->num_edges_reweighted > 0,
         true,
         {.stroke = cbx_orange, .width = 2.6},
         sets_attributes(d->answer) ? "other weight or attribute" : "other weight"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!marks[i].there)
            continue;
        x = entry(l, strlen(marks[i].text), &y);
        if (!l->draw)
            continue;
        if (marks[i].line)
            d->ops->line(d->canvas, x, y, x + 24, y, &marks[i].ink);
        else
            d->ops->circle(d->canvas, x + 14, y, 7, &marks[i].ink);
        word(l, x, y, marks[i].text);
    }
    if (d->scene->all_nodes > d->scene->num_nodes) {
        char note[80];
        (void)snprintf(note, sizeof note, "%d of %d nodes shown", d->scene->num_nodes,
                       d->scene->all_nodes);
        x = entry(l, strlen(note), &y);
        if (l->draw)
            word(l, x - 20, y, note);
    }
}

/* Returns where it ends. */
static double draw_legend(cbx_drawing *d, bool draw, cbx_status *status, cbx_error *err)
{
    legend l = {
        .d = d, .x = CBX_PICTURE_EDGE, .y = CBX_PICTURE_HEAD + CBX_SCENE_HEIGHT + 24, .draw = draw};
    class_entries(&l, err);
    mark_entries(&l);
    *status = l.status;
    return l.y + CBX_PICTURE_EDGE;
}

/* ------------------------------------------------------------------- words */

static void put_name(cbx_buffer *b, const cbx_drawing *d, int32_t node)
{
    int32_t at = cbx_scene_find(d->scene, node);
    if (at >= 0)
        cbx_buffer_utf8(b, d->scene->nodes[at].name, 40);
    else
        cbx_buffer_print(b, "%d", node);
}

static void put_title(cbx_buffer *b, const cbx_drawing *d)
{
    const cbx_counterfactual *c = d->answer;
    const cbx_graph          *g = d->report->source.graph;
    const char               *name =
        c->task == CBX_NODE && g && g->data.node_names ? g->data.node_names[c->row] : "";
    if (!name[strspn(name, "0123456789")])
        cbx_buffer_put(b, c->task == CBX_NODE ? "Node " : "Graph ");
    if (*name)
        put_name(b, d, c->row);
    else
        cbx_buffer_print(b, "%d", c->row);
    cbx_buffer_put(b, ": ");
    cbx_put_class(b, d->report, c->prediction);
    if (c->after) {
        cbx_buffer_put(b, ", would be ");
        cbx_put_class(b, d->report, c->result);
        int64_t changes = c->num_edits - cbx_edits_that_follow(c);
        cbx_buffer_print(b, " with %lld change%s", (long long)changes, changes == 1 ? "" : "s");
    }
}

static void put_feature(cbx_buffer *b, const cbx_drawing *d, int32_t feature)
{
    const cbx_graph *g = d->report->source.graph;
    if (g && g->data.feature_names) {
        cbx_buffer_put(b, " set ");
        cbx_buffer_utf8(b, g->data.feature_names[feature], 40);
        cbx_buffer_put(b, " of ");
    } else {
        cbx_buffer_print(b, " set feature %d of ", feature);
    }
}

static void put_edit(cbx_buffer *b, const cbx_drawing *d, const cbx_edit *e)
{
    switch (e->op) {
    case CBX_REMOVE_EDGE:
        cbx_buffer_put(b, " remove edge ");
        put_name(b, d, e->source);
        cbx_buffer_put(b, e->undirected ? " – " : " → ");
        put_name(b, d, e->target);
        break;
    case CBX_ADD_EDGE:
        cbx_buffer_put(b, " add edge ");
        put_name(b, d, e->source);
        cbx_buffer_put(b, e->undirected ? " – " : " → ");
        put_name(b, d, e->target);
        break;
    case CBX_SET_EDGE:
        if (e->attribute)
            cbx_buffer_print(b, " set attribute %d of edge ", cbx_edit_column(e));
        else
            cbx_buffer_put(b, " set weight of edge ");
        put_name(b, d, e->source);
        cbx_buffer_put(b, e->undirected ? " – " : " → ");
        put_name(b, d, e->target);
        cbx_buffer_print(b, " to %g", (double)e->weight);
        break;
    case CBX_REMOVE_NODE:
        cbx_buffer_put(b, " remove node ");
        put_name(b, d, e->node);
        break;
    case CBX_ADD_NODE:
        cbx_buffer_put(b, " add a copy of node ");
        put_name(b, d, e->source);
        cbx_buffer_put(b, " at ");
        put_name(b, d, e->target);
        break;
    case CBX_SET_FEATURE:
        put_feature(b, d, e->feature);
        put_name(b, d, e->node);
        cbx_buffer_print(b, " from %g to %g", (double)e->from, (double)e->to);
        break;
    }
}

static void put_about(cbx_buffer *b, const cbx_drawing *d)
{
    enum { MOST = 20 };
    const cbx_counterfactual *c = d->answer;
    cbx_buffer_put(b, "The graph around it before and after. Edits:");
    for (int64_t i = 0; i < c->num_edits && i < MOST; i++) {
        put_edit(b, d, &c->edits[i]);
        cbx_buffer_put(b, i + 1 < c->num_edits ? ";" : ".");
    }
    if (c->num_edits > MOST)
        cbx_buffer_print(b, " and %lld more.", (long long)(c->num_edits - MOST));
}

/* ------------------------------------------------------------------- whole */

static cbx_status draw(cbx_drawing *d, const char *path, cbx_error *err)
{
    cbx_buffer title = {.text = NULL}, about = {.text = NULL};
    cbx_status status;
    double     height = draw_legend(d, false, &status, err);
    put_title(&title, d);
    put_about(&about, d);
    if (!status && (title.failed || about.failed))
        status = cbx_fail_memory(err);
    if (!status)
        status = d->ops->open(&d->canvas, CBX_PICTURE_WIDTH, height, title.text, about.text, err);
    if (!status) {
        double fits =
            1.55 * CBX_PICTURE_WIDTH / (double)title.size; /* long names make small letters */
        d->ops->text(d->canvas, CBX_PICTURE_EDGE, 28, title.text,
                     &(cbx_lettering){.size = fits < 17 ? fits : 17, .bold = true});
        status = cbx_draw_panel(d, false, err);
        if (!status && d->answer->after)
            status = cbx_draw_panel(d, true, err);
        if (!status)
            (void)draw_legend(d, true, &status, err);
        if (status)
            (void)d->ops->close(d->canvas, NULL, NULL);
        else
            status = d->ops->close(d->canvas, path, err);
    }
    cbx_buffer_free(&title);
    cbx_buffer_free(&about);
    return status;
}

cbx_status cbx_picture_write(const char *results, const cbx_report_source *source,
                             const char *format, const char *path, cbx_error *err)
{
    cbx_report  report;
    cbx_scene   scene;
    cbx_classes classes;
    cbx_arena   arena = {0};
    cbx_drawing d = {.report = &report, .scene = &scene, .classes = &classes};
    d.ops = !strcmp(format, "svg") ? &cbx_canvas_svg : &cbx_canvas_png;
    if (strcmp(format, d.ops->name) != 0)
        return cbx_fail(err, CBX_INVALID, "pictures are svg or png, not '%.40s'", format);
    cbx_status status = cbx_report_open(&report, results, source, err);
    if (status)
        return status;
    d.answer = report.answers[0];
    if (report.targets > 1)
        status = cbx_fail(err, CBX_INVALID,
                          "a picture shows one target, and these results have %zu", report.targets);
    if (!status)
        status = cbx_scene_make(&report, &arena, &scene, err);
    if (!status)
        status = cbx_classes_ask(&report, &scene, &arena, &classes, err);
    if (!status)
        status = draw(&d, path, err);
    cbx_arena_free(&arena);
    cbx_report_close(&report);
    return status;
}
