/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c: the scene before and after the first answer, side by side, with a legend.
 * Places, shapes and colours are those of the page. */
#include <math.h>
#include <string.h>

#include "buffer.h"
#include "canvas.h"
#include "classes.h"
#include "error.h"
#include "graph.h"
#include "palette.h"

enum {
    EDGE = 16,  /* around everything */
    GAP = 20,   /* between the panels */
    HEAD = 66,  /* title and captions above the panels */
    LINE = 22,  /* of the legend */
    RADIUS = 9, /* of nodes */
    WIDTH = 2 * EDGE + 2 * CBX_SCENE_WIDTH + GAP
};

static const char red[] = "#c62828", dark[] = "#1b1f24", grey[] = "#9aa4ae";

typedef struct drawing {
    const cbx_report         *report;
    const cbx_counterfactual *answer;
    const cbx_scene          *scene;
    const cbx_classes        *classes;
    const cbx_canvas_ops     *ops;
    cbx_canvas               *canvas;
    bool                      after;
    double                    dx, dy; /* of the panel */
} drawing;

static void put_class(cbx_buffer *b, const cbx_report *r, int32_t class)
{
    const char *name = cbx_class_name(r, class);
    if (name)
        cbx_buffer_utf8(b, name, 30);
    else
        cbx_buffer_print(b, "class %d", class);
}

/* As pages show it. */
static void put_probability(cbx_buffer *b, double p)
{
    if (p > 0 && p < 0.001)
        cbx_buffer_put(b, "<0.001");
    else if (p < 1 && p > 0.999)
        cbx_buffer_put(b, ">0.999");
    else
        cbx_buffer_print(b, "%.3f", p);
}

/* ------------------------------------------------------------------- panel */

static void draw_shape(const drawing *d, int32_t class, double x, double y, double r)
{
    cbx_look look = cbx_look_of(class);
    cbx_ink  ink = {.fill = look.colour, .stroke = dark, .width = 0.8};
    double   at[CBX_CORNERS_MOST][2];
    if (!look.shape->corners) {
        d->ops->circle(d->canvas, x, y, r, &ink);
        return;
    }
    for (int i = 0; i < look.shape->corners; i++) {
        at[i][0] = x + r * (double)look.shape->at[i][0];
        at[i][1] = y + r * (double)look.shape->at[i][1];
    }
    d->ops->polygon(d->canvas, (const double(*)[2])at, look.shape->corners, &ink);
}

/* Directions of the scene's edge that the answer removes: 1, a -> b; 2, b -> a. */
static int removed(const drawing *d, int32_t edge)
{
    const cbx_scene_edge *e = &d->scene->edges[edge];
    int32_t               a = d->scene->nodes[e->a].id, b = d->scene->nodes[e->b].id;
    int                   bits = 0, there = e->there[0] + 2 * e->there[1];
    for (int64_t i = 0; i < d->answer->num_edits; i++) {
        const cbx_edit *edit = &d->answer->edits[i];
        if (edit->op != CBX_REMOVE_EDGE)
            continue;
        bool along = edit->source == a && edit->target == b;
        bool against = edit->source == b && edit->target == a;
        if (along || against)
            bits |= edit->undirected ? 3 : along ? 1 : 2;
    }
    return bits & there;
}

static void draw_arrow(const drawing *d, double x1, double y1, double x2, double y2,
                       const char *colour)
{
    double       length = hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / length, uy = (y2 - y1) / length;
    double       tip = fmax(length - RADIUS - 3, length / 2), x = x1 + ux * tip, y = y1 + uy * tip;
    const double at[3][2] = {{x, y},
                             {x - 7 * ux - 3.5 * uy, y - 7 * uy + 3.5 * ux},
                             {x - 7 * ux + 3.5 * uy, y - 7 * uy - 3.5 * ux}};
    d->ops->polygon(d->canvas, at, 3, &(cbx_ink){.fill = colour});
}

/* `bits`: which directions; one alone has an arrow. */
static void draw_line(const drawing *d, int32_t edge, int bits, const cbx_ink *ink, double aside)
{
    const cbx_scene_node *a = &d->scene->nodes[d->scene->edges[edge].a];
    const cbx_scene_node *b = &d->scene->nodes[d->scene->edges[edge].b];
    double x1 = d->dx + a->x, y1 = d->dy + a->y, x2 = d->dx + b->x, y2 = d->dy + b->y;
    double length = hypot(x2 - x1, y2 - y1) + 1e-9, nx = -(y2 - y1) / length * aside,
           ny = (x2 - x1) / length * aside;
    x1 += nx, x2 += nx, y1 += ny, y2 += ny;
    d->ops->line(d->canvas, x1, y1, x2, y2, ink);
    if (bits == 1)
        draw_arrow(d, x1, y1, x2, y2, ink->stroke);
    else if (bits == 2)
        draw_arrow(d, x2, y2, x1, y1, ink->stroke);
}

static void draw_edges(const drawing *d)
{
    const cbx_ink plain = {.stroke = grey, .width = 1.3};
    const cbx_ink going = {.stroke = red, .width = 2.6},
                  gone = {.stroke = red, .width = 2, .dash = 5};
    for (int lost = 0; lost < 2; lost++) /* what is removed lies on top */
        for (int32_t i = 0; i < d->scene->num_edges; i++) {
            const cbx_scene_edge *e = &d->scene->edges[i];
            int bits = removed(d, i), left = (e->there[0] + 2 * e->there[1]) & ~bits;
            if (!lost && left)
                draw_line(d, i, left, &plain, bits ? 2 : 0);
            if (lost && bits)
                draw_line(d, i, bits, d->after ? &gone : &going, left ? -2 : 0);
        }
}

static bool changed(const drawing *d, int32_t id)
{
    for (int64_t i = 0; i < d->answer->num_edits; i++)
        if (d->answer->edits[i].op == CBX_SET_FEATURE && d->answer->edits[i].node == id)
            return true;
    return false;
}

static int32_t class_of(const drawing *d, int32_t node)
{
    const float *p = d->after ? d->classes->after[0] : d->classes->before;
    if (p)
        return cbx_classes_best(d->classes, p, node);
    if (d->scene->task == CBX_NODE && node == 0) /* without a model only this one is known */
        return d->after ? d->answer->result : d->answer->prediction;
    return -1;
}

static void draw_node(const drawing *d, int32_t i)
{
    const cbx_scene_node *n = &d->scene->nodes[i];
    bool                  target = d->scene->task == CBX_NODE && i == 0;
    double                x = d->dx + n->x, y = d->dy + n->y, r = target ? RADIUS + 3 : RADIUS;
    if (changed(d, n->id))
        d->ops->circle(d->canvas, x, y, r + (target ? 8 : 5),
                       &(cbx_ink){.stroke = red, .width = 2.4});
    if (target)
        d->ops->circle(d->canvas, x, y, r + 4.5,
                       &(cbx_ink){.fill = "#ffffff", .stroke = dark, .width = 2.6});
    draw_shape(d, class_of(d, i), x, y, r);
}

static cbx_status draw_label(const drawing *d, int32_t i, cbx_error *err)
{
    const cbx_scene_node *n = &d->scene->nodes[i];
    bool                  target = d->scene->task == CBX_NODE && i == 0;
    double                gap = RADIUS + (target              ? 10
                                          : changed(d, n->id) ? 8
                                                              : 4),
           x = d->dx + n->x, y = d->dy + n->y;
    cbx_buffer    name = {.text = NULL};
    cbx_lettering how = {.size = target ? 13 : 11.5, .bold = target, .halo = true};
    how.anchor = n->side == CBX_RIGHT ? CBX_START : n->side == CBX_LEFT ? CBX_END : CBX_MIDDLE;
    x += n->side == CBX_RIGHT ? gap : n->side == CBX_LEFT ? -gap : 0;
    y += n->side == CBX_BELOW ? gap + 10 : n->side == CBX_ABOVE ? -gap : 4;
    cbx_buffer_utf8(&name, n->name, CBX_LABEL_MOST);
    if (name.text && !name.failed)
        d->ops->text(d->canvas, x, y, name.text, &how);
    cbx_status status = name.failed ? cbx_fail_memory(err) : CBX_OK;
    cbx_buffer_free(&name);
    return status;
}

static cbx_status draw_panel(drawing *d, bool after, cbx_error *err)
{
    cbx_status   status = CBX_OK;
    cbx_buffer   caption = {.text = NULL};
    const float *p = after ? d->answer->after : d->answer->before;
    int32_t class = after ? d->answer->result : d->answer->prediction;
    d->after = after;
    d->dx = EDGE + (after ? CBX_SCENE_WIDTH + GAP : 0);
    d->dy = HEAD;
    const double frame[4][2] = {{d->dx, d->dy},
                                {d->dx + CBX_SCENE_WIDTH, d->dy},
                                {d->dx + CBX_SCENE_WIDTH, d->dy + CBX_SCENE_HEIGHT},
                                {d->dx, d->dy + CBX_SCENE_HEIGHT}};
    d->ops->polygon(d->canvas, frame, 4, &(cbx_ink){.stroke = "#d0d7de", .width = 1});
    cbx_buffer_put(&caption, after ? "After: " : "Before: ");
    put_class(&caption, d->report, class);
    cbx_buffer_put(&caption, ", probability ");
    put_probability(&caption, exp((double)p[class]));
    if (caption.failed)
        status = cbx_fail_memory(err);
    else
        d->ops->text(d->canvas, d->dx, d->dy - 10, caption.text, &(cbx_lettering){.size = 13});
    cbx_buffer_free(&caption);
    draw_edges(d);
    for (int32_t i = d->scene->num_nodes - 1; i >= 0; i--)
        draw_node(d, i);
    for (int32_t i = d->scene->num_nodes - 1; i >= 0 && !status; i--)
        if (cbx_scene_labelled(d->scene, i))
            status = draw_label(d, i, err);
    return status;
}

/* ------------------------------------------------------------------ legend */

typedef struct legend {
    drawing   *d;
    double     x, y;
    bool       draw; /* else only measures */
    cbx_status status;
} legend;

/* Makes room for an entry of so many columns: where it begins. */
static double entry(legend *l, size_t columns, double *y)
{
    double wide = 32 + 6.6 * (double)columns + 14;
    if (l->x + wide > WIDTH - EDGE && l->x > EDGE) {
        l->x = EDGE;
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

static bool is_shown(const drawing *d, int32_t class)
{
    drawing one = *d;
    if (d->scene->task == CBX_GRAPH)
        return false;
    for (int after = 0; after < 1 + (d->answer->after != NULL); after++) {
        one.after = after;
        for (int32_t i = 0; i < d->scene->num_nodes; i++)
            if (class_of(&one, i) == class)
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
        put_class(&name, l->d->report, k);
        if (name.failed)
            l->status = cbx_fail_memory(err);
        x = entry(l, name.size, &y);
        if (l->draw && !l->status) {
            draw_shape(l->d, k, x + 14, y, 6.5);
            word(l, x, y, name.text);
        }
        cbx_buffer_free(&name);
    }
}

static void mark_entries(legend *l)
{
    const drawing *d = l->d;
    double         x, y;
    const struct {
        bool        there, line;
        cbx_ink     ink;
        const char *text;
    } marks[] = {
        {d->scene->task == CBX_NODE, false, {.stroke = dark, .width = 2.6}, "the target"},
        {d->answer->num_features_changed > 0,
         false,
         {.stroke = red, .width = 2.4},
         "features changed"},
        {d->answer->num_edges_removed > 0, true, {.stroke = red, .width = 2.6}, "to be removed"},
        {d->answer->num_edges_removed > 0,
         true,
         {.stroke = red, .width = 2, .dash = 5},
         "removed"}};
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
static double draw_legend(drawing *d, bool draw, cbx_status *status, cbx_error *err)
{
    legend l = {.d = d, .x = EDGE, .y = HEAD + CBX_SCENE_HEIGHT + 24, .draw = draw};
    class_entries(&l, err);
    mark_entries(&l);
    *status = l.status;
    return l.y + EDGE;
}

/* ------------------------------------------------------------------- words */

static void put_name(cbx_buffer *b, const drawing *d, int32_t node)
{
    int32_t at = cbx_scene_find(d->scene, node);
    if (at >= 0)
        cbx_buffer_utf8(b, d->scene->nodes[at].name, 40);
    else
        cbx_buffer_print(b, "%d", node);
}

static void put_title(cbx_buffer *b, const drawing *d)
{
    const cbx_counterfactual *c = d->answer;
    bool                      node = c->task == CBX_NODE;
    cbx_buffer_print(b, "%s %d", node ? "Node" : "Graph", c->row);
    if (node && d->report->source.graph && d->report->source.graph->data.node_names) {
        cbx_buffer_put(b, " (");
        put_name(b, d, c->row);
        cbx_buffer_put(b, ")");
    }
    cbx_buffer_put(b, ": ");
    put_class(b, d->report, c->prediction);
    if (c->after) {
        cbx_buffer_put(b, ", would be ");
        put_class(b, d->report, c->result);
        cbx_buffer_print(b, " with %lld edit%s", (long long)c->num_edits,
                         c->num_edits == 1 ? "" : "s");
    }
}

static void put_about(cbx_buffer *b, const drawing *d)
{
    enum { MOST = 20 };
    const cbx_counterfactual *c = d->answer;
    cbx_buffer_put(b, "The graph around it before and after. Edits:");
    for (int64_t i = 0; i < c->num_edits && i < MOST; i++) {
        const cbx_edit *e = &c->edits[i];
        if (e->op == CBX_REMOVE_EDGE) {
            cbx_buffer_put(b, " remove edge ");
            put_name(b, d, e->source);
            cbx_buffer_put(b, e->undirected ? " – " : " → ");
            put_name(b, d, e->target);
        } else {
            cbx_buffer_print(b, " set feature %d of ", e->feature);
            put_name(b, d, e->node);
            cbx_buffer_print(b, " from %g to %g", (double)e->from, (double)e->to);
        }
        cbx_buffer_put(b, i + 1 < c->num_edits ? ";" : ".");
    }
    if (c->num_edits > MOST)
        cbx_buffer_print(b, " and %lld more.", (long long)(c->num_edits - MOST));
}

/* ------------------------------------------------------------------- whole */

static cbx_status draw(drawing *d, const char *path, cbx_error *err)
{
    cbx_buffer title = {.text = NULL}, about = {.text = NULL};
    cbx_status status;
    double     height = draw_legend(d, false, &status, err);
    put_title(&title, d);
    put_about(&about, d);
    if (!status && (title.failed || about.failed))
        status = cbx_fail_memory(err);
    if (!status)
        status = d->ops->open(&d->canvas, WIDTH, height, title.text, about.text, err);
    if (!status) {
        double fits = 1.55 * WIDTH / (double)title.size; /* long names make small letters */
        d->ops->text(d->canvas, EDGE, 28, title.text,
                     &(cbx_lettering){.size = fits < 17 ? fits : 17, .bold = true});
        status = draw_panel(d, false, err);
        if (!status && d->answer->after)
            status = draw_panel(d, true, err);
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
    drawing     d = {.report = &report, .scene = &scene, .classes = &classes};
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
