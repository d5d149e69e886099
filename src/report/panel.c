/* SPDX-License-Identifier: Apache-2.0 */
/* panel.c: see panel.h. Places, shapes and colours are those of the page. */
#include "panel.h"

#include <math.h>

#include "error.h"
#include "palette.h"

enum { RADIUS = 9, WITH_LETTERS = 11 }; /* of nodes */

const char cbx_red[] = "#c62828", cbx_green[] = "#1b7f3b", cbx_dark[] = "#1b1f24",
           cbx_orange[] = "#b45f06";
static const char grey[] = "#9aa4ae", pale[] = "#ccd2d8";

void cbx_put_class(cbx_buffer *b, const cbx_report *r, int32_t class)
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

void cbx_draw_shape(const cbx_drawing *d, int32_t class, double x, double y, double r)
{
    cbx_look look = cbx_look_of(class);
    cbx_ink  ink = {.fill = look.colour, .stroke = cbx_dark, .width = 0.8};
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

static void draw_arrow(const cbx_drawing *d, double x1, double y1, double x2, double y2,
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
static void draw_line(const cbx_drawing *d, int32_t edge, int bits, const cbx_ink *ink,
                      double aside)
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

static void draw_edges(const cbx_drawing *d)
{
    const bool    dense = d->scene->num_edges > 200;
    const cbx_ink plain = {.stroke = dense ? pale : grey, .width = dense ? 0.9 : 1.3};
    const cbx_ink going = {.stroke = cbx_red, .width = 2.6},
                  gone = {.stroke = cbx_red, .width = 2, .dash = 5};
    const cbx_ink coming = {.stroke = cbx_green, .width = 2, .dash = 5},
                  come = {.stroke = cbx_green, .width = 2.6};
    const cbx_ink changed = {.stroke = cbx_orange, .width = 2.6};
    for (int lost = 0; lost < 2; lost++) /* what is edited lies on top */
        for (int32_t i = 0; i < d->scene->num_edges; i++) {
            const cbx_scene_edge *e = &d->scene->edges[i];
            int                   bits = cbx_scene_removed(d->scene, i, d->answer),
                left = (e->there[0] + 2 * e->there[1]) & ~bits;
            if (!lost && left)
                draw_line(d, i, left, &plain, bits ? 2 : 0);
            if (lost && bits)
                draw_line(d, i, bits, d->after ? &gone : &going, left ? -2 : 0);
            int other = cbx_scene_reweighted(d->scene, i, d->answer);
            if (lost && other)
                draw_line(d, i, other, &changed, 0);
            bits = cbx_scene_added(d->scene, i, d->answer);
            if (lost && bits)
                draw_line(d, i, bits, d->after ? &come : &coming, left ? -2 : 0);
        }
}

int32_t cbx_drawn_class(const cbx_drawing *d, int32_t node)
{
    const float *p = d->after ? d->classes->after[0] : d->classes->before;
    if (p)
        return cbx_classes_best(d->classes, p, node);
    if (d->scene->task == CBX_NODE && node == 0) /* without a model only this one is known */
        return d->after ? d->answer->result : d->answer->prediction;
    return -1;
}

static void draw_node(const cbx_drawing *d, int32_t i)
{
    const cbx_scene_node *n = &d->scene->nodes[i];
    const char *symbol = d->after ? cbx_scene_symbol_after(d->scene, i, d->answer) : n->symbol;
    bool        target = d->scene->task == CBX_NODE && i == 0;
    double      x = d->dx + n->x, y = d->dy + n->y;
    double      r = target ? RADIUS + 3 : symbol ? WITH_LETTERS : RADIUS;
    if (cbx_scene_changed(n->id, d->answer))
        d->ops->circle(d->canvas, x, y, r + (target ? 8 : 5),
                       &(cbx_ink){.stroke = cbx_red, .width = 2.4});
    if (n->comes)
        d->ops->circle(
            d->canvas, x, y, r + 5,
            &(cbx_ink){.stroke = cbx_green, .width = d->after ? 2.6 : 2, .dash = d->after ? 0 : 5});
    if (n->comes && !d->after)
        return;
    bool lost = cbx_scene_lost(n->id, d->answer);
    if (lost)
        d->ops->circle(d->canvas, x, y, r + 5,
                       &(cbx_ink){.stroke = cbx_red, .width = 2, .dash = 5});
    if (lost && d->after)
        return;
    if (target)
        d->ops->circle(d->canvas, x, y, r + 4.5,
                       &(cbx_ink){.fill = "#ffffff", .stroke = cbx_dark, .width = 2.6});
    cbx_draw_shape(d, cbx_drawn_class(d, i), x, y, r);
    if (symbol)
        d->ops->text(d->canvas, x, y + 4, symbol,
                     &(cbx_lettering){.size = 12, .bold = true, .anchor = CBX_MIDDLE});
}

static cbx_status draw_label(const cbx_drawing *d, int32_t i, cbx_error *err)
{
    const cbx_scene_node *n = &d->scene->nodes[i];
    bool                  target = d->scene->task == CBX_NODE && i == 0;
    double                gap = (n->symbol ? WITH_LETTERS : RADIUS) + (target ? 10
                                                                       : cbx_scene_changed(n->id, d->answer) ? 8
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

cbx_status cbx_draw_panel(cbx_drawing *d, bool after, cbx_error *err)
{
    cbx_status   status = CBX_OK;
    cbx_buffer   caption = {.text = NULL};
    const float *p = after ? d->answer->after : d->answer->before;
    int32_t class = after ? d->answer->result : d->answer->prediction;
    d->after = after;
    d->dx = CBX_PICTURE_EDGE + (after ? CBX_SCENE_WIDTH + CBX_PICTURE_GAP : 0);
    d->dy = CBX_PICTURE_HEAD;
    const double frame[4][2] = {{d->dx, d->dy},
                                {d->dx + CBX_SCENE_WIDTH, d->dy},
                                {d->dx + CBX_SCENE_WIDTH, d->dy + CBX_SCENE_HEIGHT},
                                {d->dx, d->dy + CBX_SCENE_HEIGHT}};
    d->ops->polygon(d->canvas, frame, 4, &(cbx_ink){.stroke = "#d0d7de", .width = 1});
    cbx_buffer_put(&caption, after ? "After: " : "Before: ");
    cbx_put_class(&caption, d->report, class);
    cbx_buffer_put(&caption, ", probability ");
    put_probability(&caption, exp((double)p[class]));
    if (caption.failed)
        status = cbx_fail_memory(err);
    else
        d->ops->text(d->canvas, d->dx, d->dy - 10, caption.text, &(cbx_lettering){.size = 13});
    cbx_buffer_free(&caption);
    draw_edges(d);
    for (int32_t i = d->scene->num_nodes - 1; i >= 0; i--)
        if (cbx_scene_shows(d->scene, i, d->answer))
            draw_node(d, i);
    for (int32_t i = d->scene->num_nodes - 1; i >= 0 && !status; i--)
        if (cbx_scene_labelled(d->scene, i) && cbx_scene_shows(d->scene, i, d->answer))
            status = draw_label(d, i, err);
    return status;
}
