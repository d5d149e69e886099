/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c: where the nodes of a scene go.
 *
 * Distances in the picture follow distances in the graph, by stress majorisation: Kamada and
 * Kawai's aim, reached by moving one node after the other to where the rest wants it. It starts
 * from rings around the target and draws no random number. The result is turned so that its longest
 * extent lies level, fitted to the frame, and nodes that touch are pushed apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "scene.h"

static const double PI = 3.14159265358979323846;

/* Rings by hop, in the order of the scene. */
static void rings(cbx_scene *s)
{
    for (int32_t i = 0; i < s->num_nodes; i++) {
        int32_t hop = s->task == CBX_NODE ? s->nodes[i].hop : 1, place = 0, all = 0;
        for (int32_t k = 0; k < s->num_nodes; k++) {
            bool same = (s->task == CBX_NODE ? s->nodes[k].hop : 1) == hop;
            place += same && k < i;
            all += same;
        }
        double angle = 2 * PI * (place + 0.37 * hop) / all;
        s->nodes[i].x = (float)(hop * cos(angle));
        s->nodes[i].y = (float)(hop * sin(angle));
    }
}

/* Steps between all nodes, `far` where there is no way. */
static void walk(const cbx_scene *s, int32_t *steps, int32_t far)
{
    int32_t n = s->num_nodes;
    for (int32_t i = 0; i < n * n; i++)
        steps[i] = i / n == i % n ? 0 : far;
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (int32_t e = 0; e < s->num_edges; e++)
            for (int32_t i = 0; i < n; i++) {
                int32_t *a = steps + i * n + s->edges[e].a, *b = steps + i * n + s->edges[e].b;
                shorter = shorter || *a > *b + 1 || *b > *a + 1;
                *a = *b + 1 < *a ? *b + 1 : *a;
                *b = *a + 1 < *b ? *a + 1 : *b;
            }
    }
}

/* Every node in turn goes to where the others, each at its distance, want it. */
static cbx_status arrange(cbx_scene *s, cbx_arena *arena, cbx_error *err)
{
    enum { ROUNDS = 300 };
    int32_t  n = s->num_nodes;
    int32_t *steps = CBX_NEW(arena, int32_t, n * n + 1);
    if (!steps)
        return cbx_fail_memory(err);
    walk(s, steps, (int32_t)sqrt(n) + 2);
    for (int round = 0; round < ROUNDS; round++)
        for (int32_t i = 0; i < n; i++) {
            double x = 0, y = 0, all = 0;
            for (int32_t k = 0; k < n; k++) {
                if (k == i)
                    continue;
                double d = steps[i * n + k], weight = 1 / (d * d);
                double dx = s->nodes[i].x - s->nodes[k].x, dy = s->nodes[i].y - s->nodes[k].y;
                double is = sqrt(dx * dx + dy * dy) + 1e-9;
                x += weight * (s->nodes[k].x + d * dx / is);
                y += weight * (s->nodes[k].y + d * dy / is);
                all += weight;
            }
            if (all > 0) {
                s->nodes[i].x = (float)(x / all);
                s->nodes[i].y = (float)(y / all);
            }
        }
    return CBX_OK;
}

/* ----------------------------------------------------------- to the frame */

/* The longest extent is made level. */
static void turn(cbx_scene *s)
{
    double n = s->num_nodes, mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (int32_t i = 0; i < s->num_nodes; i++) {
        mx += s->nodes[i].x / n;
        my += s->nodes[i].y / n;
    }
    for (int32_t i = 0; i < s->num_nodes; i++) {
        double x = s->nodes[i].x - mx, y = s->nodes[i].y - my;
        xx += x * x, xy += x * y, yy += y * y;
    }
    double angle = -0.5 * atan2(2 * xy, xx - yy), c = cos(angle), w = sin(angle);
    for (int32_t i = 0; i < s->num_nodes; i++) {
        double x = s->nodes[i].x - mx, y = s->nodes[i].y - my;
        s->nodes[i].x = (float)(c * x - w * y);
        s->nodes[i].y = (float)(w * x + c * y);
    }
}

/* As large as fits; the shorter side may be stretched by half. */
static void fit(cbx_scene *s)
{
    const double wide = CBX_SCENE_WIDTH - 2 * CBX_SCENE_MARGIN;
    const double high = CBX_SCENE_HEIGHT - 2 * CBX_SCENE_MARGIN;
    double       low[2] = {INFINITY, INFINITY}, top[2] = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < s->num_nodes; i++) {
        const double at[2] = {s->nodes[i].x, s->nodes[i].y};
        for (int k = 0; k < 2; k++) {
            low[k] = at[k] < low[k] ? at[k] : low[k];
            top[k] = at[k] > top[k] ? at[k] : top[k];
        }
    }
    double sx = wide / fmax(top[0] - low[0], 1e-6), sy = high / fmax(top[1] - low[1], 1e-6);
    double scale = fmin(fmin(sx, sy), 130); /* a few nodes need not fill the frame */
    sx = fmin(sx, scale * 1.5), sy = fmin(sy, scale * 1.5);
    for (int32_t i = 0; i < s->num_nodes; i++) {
        cbx_scene_node *node = &s->nodes[i];
        node->x = (float)(CBX_SCENE_WIDTH / 2.0 + sx * (node->x - (low[0] + top[0]) / 2));
        node->y = (float)(CBX_SCENE_HEIGHT / 2.0 + sy * (node->y - (low[1] + top[1]) / 2));
    }
}

static float within(double v, double most)
{
    return (float)fmin(fmax(v, CBX_SCENE_MARGIN), most - CBX_SCENE_MARGIN);
}

static void push_apart(cbx_scene *s)
{
    enum { ROUNDS = 80 };
    const double apart = 30;
    for (int round = 0; round < ROUNDS; round++)
        for (int32_t i = 0; i < s->num_nodes; i++)
            for (int32_t k = 0; k < i; k++) {
                cbx_scene_node *a = &s->nodes[i], *b = &s->nodes[k];
                double          dx = a->x - b->x, dy = a->y - b->y, is = sqrt(dx * dx + dy * dy);
                if (is >= apart)
                    continue;
                if (is < 1e-3) /* the same place: each pair has a direction of its own */
                    dx = cos(i + 7.0 * k), dy = sin(i + 7.0 * k), is = 1;
                double by = (apart - is) / 2 / is * 0.6;
                a->x = within(a->x + dx * by, CBX_SCENE_WIDTH);
                a->y = within(a->y + dy * by, CBX_SCENE_HEIGHT);
                b->x = within(b->x - dx * by, CBX_SCENE_WIDTH);
                b->y = within(b->y - dy * by, CBX_SCENE_HEIGHT);
            }
}

/* ------------------------------------------------------------------ labels */

typedef struct box {
    double left, top, right, bottom;
} box;

static int columns(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count < CBX_LABEL_MOST ? count : CBX_LABEL_MOST;
}

static box label_box(const cbx_scene_node *n, cbx_label_side side)
{
    const double w = 7 * columns(n->name) + 2, h = 14, gap = 13;
    double       x = n->x - w / 2, y = n->y - h / 2;
    x += side == CBX_RIGHT ? gap + w / 2 : side == CBX_LEFT ? -gap - w / 2 : 0;
    y += side == CBX_BELOW ? gap + h / 2 : side == CBX_ABOVE ? -gap - h / 2 : 0;
    return (box){x, y, x + w, y + h};
}

static double overlap(const box *a, const box *b)
{
    double w = fmin(a->right, b->right) - fmax(a->left, b->left);
    double h = fmin(a->bottom, b->bottom) - fmax(a->top, b->top);
    return w > 0 && h > 0 ? w * h : 0;
}

/* How much of an edge lies under the label, in samples. */
static double crossing(const cbx_scene *s, const cbx_scene_edge *e, const box *b)
{
    enum { SAMPLES = 32 };
    const cbx_scene_node *u = &s->nodes[e->a], *v = &s->nodes[e->b];
    int                   inside = 0;
    for (int k = 1; k < SAMPLES; k++) {
        double t = (double)k / SAMPLES, x = u->x + t * (v->x - u->x), y = u->y + t * (v->y - u->y);
        inside += x > b->left && x < b->right && y > b->top && y < b->bottom;
    }
    return inside;
}

static double cost(const cbx_scene *s, int32_t node, cbx_label_side side, const box *placed,
                   const bool *done)
{
    box    b = label_box(&s->nodes[node], side);
    box    frame = {2, 2, CBX_SCENE_WIDTH - 2, CBX_SCENE_HEIGHT - 2};
    double area = (b.right - b.left) * (b.bottom - b.top), sum = side * 2.0;
    sum += 20 * (area - overlap(&b, &frame));
    for (int32_t i = 0; i < s->num_nodes; i++) {
        const cbx_scene_node *n = &s->nodes[i];
        box                   disc = {n->x - 10, n->y - 10, n->x + 10, n->y + 10};
        sum += i == node ? 0 : 3 * overlap(&b, &disc);
        sum += done[i] ? 5 * overlap(&b, &placed[i]) : 0;
    }
    for (int32_t e = 0; e < s->num_edges; e++) /* edges that may go are to be seen whole */
        sum += (s->nodes[s->edges[e].a].edited && s->nodes[s->edges[e].b].edited ? 12 : 3) *
               crossing(s, &s->edges[e], &b);
    return sum;
}

/* Labels that always show choose first. */
static cbx_status place_labels(cbx_scene *s, cbx_arena *arena, cbx_error *err)
{
    box  *placed = CBX_NEW0(arena, box, s->num_nodes);
    bool *done = CBX_NEW0(arena, bool, s->num_nodes);
    if (!placed || !done)
        return cbx_fail_memory(err);
    for (int shown = 1; shown >= 0; shown--)
        for (int32_t i = 0; i < s->num_nodes; i++) {
            double least = INFINITY;
            if (cbx_scene_labelled(s, i) != (shown == 1))
                continue;
            for (int side = CBX_BELOW; side <= CBX_ABOVE; side++) {
                double c = cost(s, i, (cbx_label_side)side, placed, done);
                if (c < least) {
                    least = c;
                    s->nodes[i].side = (cbx_label_side)side;
                }
            }
            placed[i] = label_box(&s->nodes[i], s->nodes[i].side);
            done[i] = true;
        }
    return CBX_OK;
}

cbx_status cbx_scene_layout(cbx_scene *scene, cbx_arena *arena, cbx_error *err)
{
    rings(scene);
    cbx_status status = scene->num_nodes > 1 ? arrange(scene, arena, err) : CBX_OK;
    if (status || !scene->num_nodes)
        return status;
    turn(scene);
    fit(scene);
    push_apart(scene);
    return place_labels(scene, arena, err);
}
