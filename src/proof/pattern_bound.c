/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_bound.c: see pattern_bound.h. */
#include "pattern_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "deadline.h"
#include "kernel.h"

/* Boxes of what a layer has at a row, by pattern: patterns x units. */
typedef struct boxes {
    double *low, *high; /* before the ReLU */
    /* what edges carry of it to the next layer, times the row's scale */
    double *send_low, *send_high;
} boxes;

typedef struct row {
    int32_t  open, fixed; /* edges that may go, and that stay */
    int32_t *from;        /* open, then fixed: their other ends */
    double   degree;      /* without the open ones */
    bool     by_number;   /* patterns are the numbers of open edges that are left */
    int64_t  patterns;
    boxes   *of;           /* by layer */
    double  *least, *most; /* scratch, edges x units: what may come along them */
    double  *values;       /* scratch, layers x open edges */
} row;

typedef struct finding {
    const cbx_pattern_question *q;
    row                        *rows;
    int32_t                    *hops;
    cbx_arena                   arena;
    double                     *head, *sizes;
    double                    **line, **back; /* by layer: scratch */
    double                     *best;         /* scratch */
    int64_t                     steps;
    bool                        late;
} finding;

/* Layers at most: what a layer's row gains is asked of the layer before, call by call. */
enum { DEEPEST = 16 };

bool cbx_pattern_is_known(const cbx_net *net, const cbx_partial_graph *g)
{
    const cbx_view *v = g->view;
    if (!net || net->num_layers > DEEPEST || net->model->task != CBX_NODE || !g->simple)
        return false;
    for (int32_t l = 0; l < net->num_layers; l++)
        if (net->layers[l].norm != CBX_NORM_GCN || net->layers[l].has_own)
            return false;
    for (int32_t c = 0; c < g->count; c++)
        if (g->choices[c].adds || g->choices[c].row >= 0)
            return false;
    for (int64_t e = 0; e < v->m; e++)
        if ((v->weight && v->weight[e] != 1) ||
            (g->choice_of[e] >= 0 && (!g->paired[e] || v->source[e] == g->target_of[e])))
            return false;
    return true;
}

/* ---- rows and their patterns */

static bool has(const row *r, int64_t pattern, int32_t k)
{
    return k >= r->open || (pattern >> k & 1);
}

static int64_t number_left(const row *r, int64_t pattern)
{
    int64_t left = 0;
    if (r->by_number)
        return pattern;
    for (int32_t k = 0; k < r->open; k++)
        left += pattern >> k & 1;
    return left;
}

static double scale_of(const row *r, int64_t pattern)
{
    return 1 / sqrt(r->degree + (double)number_left(r, pattern));
}

/* Can the pattern be, if the edge to `other` is there? */
static bool allows(const row *r, int64_t pattern, int32_t other)
{
    for (int32_t k = 0; k < r->open; k++)
        if (r->from[k] == other)
            return r->by_number ? pattern > 0 : has(r, pattern, k);
    return true;
}

/* What the row's scale can be, if the edge to `other` is there. */
static void scale_range(const row *r, int32_t other, double *least, double *most)
{
    double fewest = 0;
    for (int32_t k = 0; k < r->open; k++)
        fewest = r->from[k] == other ? 1 : fewest;
    *least = 1 / sqrt(r->degree + r->open);
    *most = 1 / sqrt(r->degree + fewest);
}

void cbx_pattern_hops(const cbx_pattern_question *q, int32_t *hops)
{
    const cbx_partial_graph *g = q->graph;
    const cbx_view          *v = g->view;
    for (int32_t i = 0; i < v->n; i++)
        hops[i] = i ? INT32_MAX : 0;
    for (int32_t hop = 0; hop < q->net->num_layers; hop++)
        for (int64_t e = 0; e < v->m; e++)
            if (g->present[e] && hops[g->target_of[e]] == hop && hops[v->source[e]] > hop)
                hops[v->source[e]] = hop + 1;
}

static int make_row(finding *f, int32_t i)
{
    const cbx_partial_graph *g = f->q->graph;
    const cbx_view          *v = g->view;
    row                     *r = &f->rows[i];
    r->from = CBX_NEW(&f->arena, int32_t, v->offset[i + 1] - v->offset[i]);
    r->of = CBX_NEW0(&f->arena, boxes, f->q->net->num_layers);
    if (!r->from || !r->of)
        return -1;
    for (int fixed = 0; fixed < 2; fixed++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            bool open = g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]);
            if (!g->present[e] || v->source[e] == i || open == fixed)
                continue;
            r->from[r->open + r->fixed] = v->source[e];
            r->open += open;
            r->fixed += !open;
        }
    r->degree = 1 + r->fixed + (v->outside_weight ? (double)v->outside_weight[i] : 0);
    r->by_number = r->open > f->q->most;
    r->patterns = r->by_number ? r->open + 1 : (int64_t)1 << r->open;
    r->values = CBX_NEW(&f->arena, double, (int64_t)f->q->net->num_layers * r->open);
    return r->values ? 0 : -1;
}

/* ---- forward */

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* Of what may come along open edges, in place: the sums of the largest one, two, three, …, or where
 * sign is -1 of the least. */
static void add_up_largest(finding *f, const row *r, double *of, int64_t width, double sign)
{
    for (int64_t j = 0; j < width; j++) {
        double sum = 0;
        for (int32_t k = 0; k < r->open; k++)
            f->best[k] = sign * of[k * width + j];
        qsort(f->best, (size_t)r->open, sizeof *f->best, by_size);
        for (int32_t k = 0; k < r->open; k++) {
            sum += f->best[k];
            of[k * width + j] = sign * sum;
        }
    }
}

/* What a pattern's edges bring, at least and at most. */
static void add_edges(const row *r, int64_t p, int64_t width, double *low, double *high)
{
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        bool counts = r->by_number && k < r->open ? k == p - 1 : has(r, p, k);
        for (int64_t j = 0; j < width && counts; j++) {
            low[j] += r->least[k * width + j];
            high[j] += r->most[k * width + j];
        }
    }
}

/* Is it time to stop? */
static bool is_late(finding *f, double work)
{
    enum { STEPS = 64 };
    f->late = f->late || cbx_out_of_time(work) ||
              (++f->steps % STEPS == 0 && f->q->stop && f->q->stop(f->q->user));
    return f->late;
}

/* Of the first layer: messages are known, but for their scale. */
static void bring_first(finding *f, int32_t i)
{
    row    *r = &f->rows[i];
    int64_t width = f->q->net->layers[0].n_out;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        double least, most;
        scale_range(&f->rows[r->from[k]], i, &least, &most);
        for (int64_t j = 0; j < width; j++) {
            double m = f->q->message[r->from[k] * width + j];
            r->least[k * width + j] = m > 0 ? least * m : most * m;
            r->most[k * width + j] = m > 0 ? most * m : least * m;
        }
    }
}

/* Of later layers: whatever the other end's patterns send. */
static void bring(finding *f, int32_t i, int32_t l)
{
    row    *r = &f->rows[i];
    int64_t width = f->q->net->layers[l].n_out;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        const row   *u = &f->rows[r->from[k]];
        const boxes *of = &u->of[l - 1];
        for (int64_t j = 0; j < width; j++) {
            r->least[k * width + j] = INFINITY;
            r->most[k * width + j] = -INFINITY;
        }
        for (int64_t p = 0; p < u->patterns; p++)
            for (int64_t j = 0; j < width && allows(u, p, i); j++) {
                double low = of->send_low[p * width + j], high = of->send_high[p * width + j];
                r->least[k * width + j] = fmin(r->least[k * width + j], low);
                r->most[k * width + j] = fmax(r->most[k * width + j], high);
            }
    }
}

/* x times W, of what is between low and high and at least 0. */
CBX_HOT static void multiply(const double *W, int32_t in, int32_t out, double scale,
                             const double *low, const double *high, double *least, double *most)
{
    memset(least, 0, (size_t)out * sizeof *least);
    memset(most, 0, (size_t)out * sizeof *most);
    for (int32_t k = 0; k < in; k++) {
        double        lo = low[k] > 0 ? scale * low[k] : 0, hi = high[k] > 0 ? scale * high[k] : 0;
        const double *w = W + (int64_t)k * out;
        for (int32_t j = 0; j < out && hi > 0; j++) {
            least[j] += w[j] * (w[j] > 0 ? lo : hi);
            most[j] += w[j] * (w[j] > 0 ? hi : lo);
        }
    }
}

static int make_boxes(finding *f, int32_t i, int32_t l)
{
    const cbx_net *net = f->q->net;
    row           *r = &f->rows[i];
    int64_t        width = net->layers[l].n_out;
    bool           sends = l + 1 < net->num_layers;
    int64_t        next = sends ? net->layers[l + 1].n_out : 0;
    boxes         *b = &r->of[l];
    double         work = (double)r->patterns * (double)(next + r->open + r->fixed + 1);
    b->low = CBX_NEW(&f->arena, double, r->patterns *width);
    b->high = CBX_NEW(&f->arena, double, r->patterns *width);
    b->send_low = CBX_NEW(&f->arena, double, r->patterns *next);
    b->send_high = CBX_NEW(&f->arena, double, r->patterns *next);
    r->least = CBX_NEW(&f->arena, double, (r->open + r->fixed) * width);
    r->most = CBX_NEW(&f->arena, double, (r->open + r->fixed) * width);
    if (!b->low || !b->high || !b->send_low || !b->send_high || !r->least || !r->most ||
        is_late(f, 2 * work * (double)width))
        return -1;
    if (l == 0)
        bring_first(f, i);
    else
        bring(f, i, l);
    if (r->by_number) {
        add_up_largest(f, r, r->least, width, -1);
        add_up_largest(f, r, r->most, width, 1);
    }
    for (int64_t p = 0; p < r->patterns; p++) {
        double *low = b->low + p * width, *high = b->high + p * width, s = scale_of(r, p);
        for (int64_t j = 0; j < width; j++) {
            low[j] = l ? r->of[l - 1].send_low[p * width + j] : s * f->q->message[i * width + j];
            high[j] = l ? r->of[l - 1].send_high[p * width + j] : low[j];
        }
        add_edges(r, p, width, low, high);
        for (int64_t j = 0; j < width; j++) {
            low[j] = s * low[j] + net->layers[l].bias[j];
            high[j] = s * high[j] + net->layers[l].bias[j];
        }
        if (sends)
            multiply(net->layers[l + 1].neighbour, (int32_t)width, (int32_t)next, s, low, high,
                     b->send_low + p * next, b->send_high + p * next);
    }
    return 0;
}

/* ---- backward */

/* From weights behind a ReLU to weights before it: a line above, through the ends where the weight
 * is positive, else relu's own value at one of them. Returns what the line has beside. */
static double pass_relu(const double *weight, const double *low, const double *high, int32_t width,
                        double *before)
{
    double rest = 0;
    for (int32_t j = 0; j < width; j++) {
        double slope = high[j] <= 0 ? 0 : 1;
        if (low[j] < 0 && high[j] > 0) {
            slope = weight[j] > 0 ? high[j] / (high[j] - low[j]) : high[j] > -low[j];
            rest -= weight[j] > 0 ? weight[j] * slope * low[j] : 0;
        }
        before[j] = weight[j] * slope;
    }
    return rest;
}

static double dot(int32_t count, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t k = 0; k < count; k++)
        sum += a[k] * b[k];
    return sum;
}

static double eval(finding *f, int32_t l, int32_t i, int64_t p, const double *weight);

/* What the edge from the k-th other end brings at most, with these weights of what it carries. */
static double edge_value(finding *f, int32_t l, int32_t i, int32_t k, const double *weight)
{
    int32_t from = f->rows[i].from[k];
    row    *u = &f->rows[from];
    double  most = -INFINITY;
    if (l == 0) {
        int32_t width = f->q->net->layers[0].n_out;
        double  least, scale, value = dot(width, weight, f->q->message + (int64_t)from * width);
        scale_range(u, i, &least, &scale);
        return value * (value > 0 ? scale : least);
    }
    for (int64_t p = 0; p < u->patterns; p++)
        if (allows(u, p, i))
            most = fmax(most, scale_of(u, p) * eval(f, l - 1, from, p, weight));
    return most;
}

/* The same of all of a pattern's edges. */
static double edge_values(finding *f, int32_t l, int32_t i, int64_t p, const double *weight)
{
    const row *r = &f->rows[i];
    double     sum = 0, *values = r->values + (int64_t)l * r->open;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        if (r->by_number && k < r->open)
            values[k] = edge_value(f, l, i, k, weight);
        else if (has(r, p, k))
            sum += edge_value(f, l, i, k, weight);
    }
    if (!r->by_number)
        return sum;
    qsort(values, (size_t)r->open, sizeof *values, by_size);
    for (int64_t k = 0; k < p; k++)
        sum += values[k];
    return sum;
}

/* Weights of layer l's units behind their ReLUs: by intervals alone. */
static double value_in_box(const boxes *b, int64_t at, int32_t width, const double *weight)
{
    double sum = 0;
    for (int32_t j = 0; j < width; j++) {
        double z = weight[j] > 0 ? b->high[at + j] : b->low[at + j];
        sum += z > 0 ? weight[j] * z : 0;
    }
    return sum;
}

/* W times weights before the ReLU: those of what the layer multiplies. */
CBX_HOT static void multiply_back(const cbx_net_layer *l, const double *line, double *back)
{
    for (int32_t k = 0; k < l->n_in; k++)
        back[k] = dot(l->n_out, l->neighbour + (int64_t)k * l->n_out, line);
}

/* The most that weights of row i's units of layer l, behind their ReLUs, come to with this pattern.
 */
static double eval(finding *f, int32_t l, int32_t i, int64_t p, const double *weight)
{
    const cbx_net_layer *net = &f->q->net->layers[l];
    const row           *r = &f->rows[i];
    const boxes         *b = &r->of[l];
    int64_t              at = p * net->n_out;
    double               boxed = value_in_box(b, at, net->n_out, weight), s = scale_of(r, p);
    if (l == 0 && !r->by_number)
        return boxed;
    if (is_late(f, 2.0 * net->n_in * net->n_out))
        return INFINITY;
    double *line = f->line[l], *back = l ? f->back[l] : line;
    double  sum = pass_relu(weight, b->low + at, b->high + at, net->n_out, line);
    sum += dot(net->n_out, line, net->bias);
    if (l == 0)
        sum += s * s * dot(net->n_out, line, f->q->message + (int64_t)i * net->n_out);
    else
        multiply_back(net, line, back);
    if (l > 0)
        sum += s * s * eval(f, l - 1, i, p, back);
    sum += s * edge_values(f, l, i, p, back);
    return fmin(sum, boxed);
}

/* The lead with a pattern of the first row. */
static double lead_with(finding *f, int64_t p, int32_t ahead, int32_t behind)
{
    const cbx_net *net = f->q->net;
    const row     *r = &f->rows[0];
    double         size, s = scale_of(r, p), sum = cbx_net_head_bias(net, ahead, behind, &size);
    memset(f->head, 0, (size_t)net->widest * sizeof *f->head);
    /* f->head: what comes back of the layer behind, then what the head sees of this one as well */
    for (int32_t l = net->num_layers - 1; l >= 0; l--) {
        const cbx_net_layer *y = &net->layers[l];
        const boxes         *b = &r->of[l];
        int64_t              at = p * y->n_out;
        double              *line = f->line[l], *back = f->back[l];
        if (cbx_net_head(net, l, ahead, behind, f->best, f->sizes))
            for (int32_t j = 0; j < y->n_out; j++)
                f->head[j] += f->best[j];
        if (l == 0)
            return sum + eval(f, 0, 0, p, f->head);
        sum += pass_relu(f->head, b->low + at, b->high + at, y->n_out, line);
        sum += dot(y->n_out, line, y->bias);
        multiply_back(y, line, back);
        sum += s * edge_values(f, l, 0, p, back);
        for (int32_t k = 0; k < y->n_in; k++)
            f->head[k] = s * s * back[k];
    }
    return sum;
}

/* ---- all of it */

static int make_scratch(finding *f)
{
    const cbx_net *net = f->q->net;
    int64_t        widest = net->widest > f->q->graph->view->n ? net->widest : f->q->graph->view->n;
    f->rows = CBX_NEW0(&f->arena, row, f->q->graph->view->n);
    f->head = CBX_NEW(&f->arena, double, net->widest);
    f->sizes = CBX_NEW(&f->arena, double, net->widest);
    f->best = CBX_NEW(&f->arena, double, widest);
    f->line = CBX_NEW(&f->arena, double *, net->num_layers);
    f->back = CBX_NEW(&f->arena, double *, net->num_layers);
    f->hops = CBX_NEW(&f->arena, int32_t, f->q->graph->view->n);
    if (!f->rows || !f->head || !f->sizes || !f->best || !f->line || !f->back || !f->hops)
        return -1;
    cbx_pattern_hops(f->q, f->hops);
    for (int32_t l = 0; l < net->num_layers; l++) {
        f->line[l] = CBX_NEW(&f->arena, double, net->layers[l].n_out);
        f->back[l] = CBX_NEW(&f->arena, double, net->layers[l].n_in);
        if (!f->line[l] || !f->back[l])
            return -1;
    }
    return 0;
}

static int forward(finding *f)
{
    const cbx_net *net = f->q->net;
    int32_t        n = f->q->graph->view->n;
    for (int32_t i = 0; i < n; i++)
        if (f->hops[i] <= net->num_layers && make_row(f, i))
            return -1;
    for (int32_t l = 0; l < net->num_layers; l++)
        for (int32_t i = 0; i < n; i++)
            if (f->hops[i] < net->num_layers - l && make_boxes(f, i, l))
                return -1;
    return 0;
}

double cbx_pattern_lead(const cbx_pattern_question *q, int32_t ahead, int32_t behind)
{
    finding f = {.q = q};
    double  most = INFINITY;
    if (!make_scratch(&f) && !forward(&f)) {
        most = -INFINITY;
        for (int64_t p = 0; p < f.rows[0].patterns && !f.late; p++)
            most = fmax(most, lead_with(&f, p, ahead, behind));
    }
    most = f.late ? INFINITY : most;
    cbx_arena_free(&f.arena);
    return most;
}
