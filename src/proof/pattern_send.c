/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_send.c: see pattern_send.h. */
#include "pattern_send.h"

#include <math.h>
#include <string.h>

#include "kernel.h"
#include "lines.h"

/* Of patterns that are numbers of edges, lines are told while patterns times edges are no more than
 * this: parts are the same for all of them, and take far less. No part of a proof. */
enum { MOST_LINES = 16384 };

/* What a row's sums are made of, one vector at a time: lows and highs of its product with the
 * second layer's weights, of which those above 0 take `up` for the highs and `down` for the lows,
 * and those below 0 the other one. */
typedef struct sending {
    cbx_patterns          *f;
    const cbx_pattern_row *r;
    int32_t                i;
    int64_t                width, next;          /* of the first layer and of the second */
    const double          *above, *below, *rest; /* by unit: lines of the pattern at hand */
    double                *up, *down;            /* by unit */
    double                *own_low, *own_high;   /* by output: the row's own share, and the bias */
    double                *stay_low, *stay_high; /* by output: of edges that stay */
    double                *all_low, *all_high;   /* by output: whatever is left */
    double                *edge_low, *edge_high; /* by edge and output */
} sending;

static int make(sending *t, cbx_patterns *f, int32_t i)
{
    const cbx_net *net = f->q->net;
    int64_t        width = net->layers[0].n_out, next = net->layers[1].n_out;
    int64_t        edges = f->rows[i].open + f->rows[i].fixed;
    double        *units = CBX_NEW(&f->arena, double, 2 * width);
    double        *outputs = CBX_NEW(&f->arena, double, 6 * next);
    double        *by_edge = CBX_NEW(&f->arena, double, 2 * edges * next);
    if (!units || !outputs || !by_edge)
        return -1;
    *t = (sending){.f = f,
                   .r = &f->rows[i],
                   .i = i,
                   .width = width,
                   .next = next,
                   .up = units,
                   .down = units + width,
                   .own_low = outputs,
                   .own_high = outputs + next,
                   .stay_low = outputs + 2 * next,
                   .stay_high = outputs + 3 * next,
                   .all_low = outputs + 4 * next,
                   .all_high = outputs + 5 * next,
                   .edge_low = by_edge,
                   .edge_high = by_edge + edges * next};
    return 0;
}

/* `up` and `down`, multiplied: with the mean of both and half of what they differ by, which is 0 of
 * units that their box has on one side of 0. */
CBX_HOT static void multiply_lines(const double *W, int64_t in, int64_t out, const double *up,
                                   const double *down, double *restrict low, double *restrict high)
{
    memset(low, 0, (size_t)out * sizeof *low);
    memset(high, 0, (size_t)out * sizeof *high);
    for (int64_t k = 0; k < in; k++) {
        double        mean = (up[k] + down[k]) / 2, half = (up[k] - down[k]) / 2;
        const double *w = W + k * out;
        for (int64_t j = 0; j < out && mean != 0; j++)
            low[j] += mean * w[j];
        for (int64_t j = 0; j < out && half != 0; j++)
            high[j] += half * fabs(w[j]);
    }
    for (int64_t j = 0; j < out; j++) {
        double mean = low[j], half = high[j];
        low[j] = mean - half;
        high[j] = mean + half;
    }
}

static void send(const sending *t, double *low, double *high)
{
    multiply_lines(t->f->q->net->layers[1].neighbour, t->width, t->next, t->up, t->down, low, high);
}

static const double *features_of(const sending *t, int32_t node)
{
    return t->f->q->spread->base + node * t->width;
}

/* Those of a pattern. */
static void take_lines(sending *t, int64_t p)
{
    const cbx_pattern_boxes *b = &t->r->of[0];
    t->above = b->above + p * t->width;
    t->below = b->below + p * t->width;
    t->rest = b->rest + p * t->width;
}

/* What edge k brings, with any scale that its other end can have. */
static void scale_edge(const sending *t, int32_t k)
{
    double *low = t->edge_low + k * t->next, *high = t->edge_high + k * t->next;
    double  least = t->r->least_scale[k], most = t->r->most_scale[k];
    for (int64_t j = 0; j < t->next; j++) {
        low[j] = fmin(low[j] * least, low[j] * most);
        high[j] = fmax(high[j] * least, high[j] * most);
    }
}

/* By lines: what edge k brings. */
static void send_edge(sending *t, int32_t k)
{
    const double *m = features_of(t, t->r->from[k]);
    for (int64_t n = 0; n < t->width; n++) {
        t->up[n] = t->above[n] * m[n];
        t->down[n] = t->below[n] * m[n];
    }
    send(t, t->edge_low + k * t->next, t->edge_high + k * t->next);
    scale_edge(t, k);
}

/* By lines: the row's own share, with a scale, and the bias. */
static void send_own(sending *t, double s)
{
    const double *m = features_of(t, t->i), *bias = t->f->q->net->layers[0].bias;
    for (int64_t n = 0; n < t->width; n++) {
        double own = s * s * m[n] + bias[n];
        t->up[n] = t->above[n] * own + t->rest[n];
        t->down[n] = t->below[n] * own;
    }
    send(t, t->own_low, t->own_high);
}

/* Where that is closer than what is there. */
static void take(const sending *t, int64_t p, const double *low, const double *high)
{
    double *send_low = t->r->of[0].send_low + p * t->next;
    double *send_high = t->r->of[0].send_high + p * t->next;
    for (int64_t j = 0; j < t->next; j++) {
        send_low[j] = fmax(send_low[j], low[j]);
        send_high[j] = fmin(send_high[j], high[j]);
    }
}

static void add(int64_t count, double *to, const double *more, double times)
{
    for (int64_t j = 0; j < count; j++)
        to[j] += times * more[j];
}

/* Of a pattern that is a set of edges. */
static void send_set(sending *t, int64_t p)
{
    double s = cbx_pattern_scale(t->r, p);
    take_lines(t, p);
    send_own(t, s);
    for (int32_t k = 0; k < t->r->open + t->r->fixed; k++) {
        if (!cbx_pattern_has(t->r, p, k))
            continue;
        send_edge(t, k);
        add(t->next, t->own_low, t->edge_low + k * t->next, s);
        add(t->next, t->own_high, t->edge_high + k * t->next, s);
    }
    for (int64_t j = 0; j < t->next; j++) {
        t->own_low[j] *= s;
        t->own_high[j] *= s;
    }
    take(t, p, t->own_low, t->own_high);
}

/* ---- patterns that are numbers of edges */

/* By relu(a + b) <= relu(a) + relu(b): what edge k brings. Below, a unit's ReLU has the row's
 * slope.
 */
static void split_edge(sending *t, int32_t k)
{
    const double *m = features_of(t, t->r->from[k]);
    for (int64_t n = 0; n < t->width; n++) {
        t->up[n] = fmax(m[n], 0);
        t->down[n] = t->r->slope[n] * m[n];
    }
    send(t, t->edge_low + k * t->next, t->edge_high + k * t->next);
    scale_edge(t, k);
}

/* Likewise: the row's own share, and the bias. */
static void split_own(sending *t, double s)
{
    const double *m = features_of(t, t->i), *bias = t->f->q->net->layers[0].bias;
    for (int64_t n = 0; n < t->width; n++) {
        double own = s * s * m[n] + bias[n];
        t->up[n] = fmax(own, 0);
        t->down[n] = t->r->slope[n] * own;
    }
    send(t, t->own_low, t->own_high);
}

/* Either of the two ways. */
typedef struct way {
    void (*edge)(sending *t, int32_t k);
    void (*own)(sending *t, double s);
} way;

/* What stays, and of open edges the sums of the least one, two, three, …, and of the largest. */
static void add_up_edges(sending *t, const way *by)
{
    memset(t->stay_low, 0, (size_t)t->next * sizeof *t->stay_low);
    memset(t->stay_high, 0, (size_t)t->next * sizeof *t->stay_high);
    for (int32_t k = 0; k < t->r->open + t->r->fixed; k++) {
        by->edge(t, k);
        if (k < t->r->open)
            continue;
        add(t->next, t->stay_low, t->edge_low + k * t->next, 1);
        add(t->next, t->stay_high, t->edge_high + k * t->next, 1);
    }
    cbx_pattern_add_up(t->r, t->edge_low, t->next, false);
    cbx_pattern_add_up(t->r, t->edge_high, t->next, true);
}

/* With so many open edges left; all_low and all_high become as wide as that takes. */
static void widen(sending *t, const way *by, int32_t left, bool first)
{
    double s = cbx_pattern_scale_at(t->r, left);
    by->own(t, s);
    add(t->next, t->own_low, t->stay_low, s);
    add(t->next, t->own_high, t->stay_high, s);
    if (left > 0) {
        add(t->next, t->own_low, t->edge_low + (left - 1) * t->next, s);
        add(t->next, t->own_high, t->edge_high + (left - 1) * t->next, s);
    }
    for (int64_t j = 0; j < t->next; j++) {
        t->all_low[j] = fmin(first ? INFINITY : t->all_low[j], s * t->own_low[j]);
        t->all_high[j] = fmax(first ? -INFINITY : t->all_high[j], s * t->own_high[j]);
    }
}

/* Of one pattern, where edges are added up. */
static void send_numbers(sending *t, const way *by, int64_t p)
{
    int32_t fewest, most;
    cbx_pattern_left(t->r, p, &fewest, &most);
    for (int32_t left = fewest; left <= most; left++)
        widen(t, by, left, left == fewest);
    take(t, p, t->all_low, t->all_high);
}

/* ---- all of it */

int cbx_pattern_send(cbx_patterns *f, int32_t i)
{
    static const way lines = {send_edge, send_own}, split = {split_edge, split_own};
    sending          t;
    if (make(&t, f, i))
        return -1;
    double work = 2.0 * (double)t.width * (double)t.next;
    if (t.r->by_number && cbx_patterns_late(f, 2 * work * (1 + t.r->open + t.r->fixed)))
        return -1;
    if (t.r->by_number) {
        add_up_edges(&t, &split);
        for (int64_t p = 0; p < t.r->patterns; p++)
            send_numbers(&t, &split, p);
    }
    if (t.r->by_number && t.r->patterns * (t.r->open + t.r->fixed) > MOST_LINES)
        return 0;
    for (int64_t p = 0; p < t.r->patterns; p++) {
        if (cbx_patterns_late(f, work * (1 + t.r->open + t.r->fixed)))
            return -1;
        if (!t.r->by_number) {
            send_set(&t, p);
            continue;
        }
        take_lines(&t, p);
        add_up_edges(&t, &lines);
        send_numbers(&t, &lines, p);
    }
    return 0;
}
