/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_bound.c: see pattern_bound.h. */
#include "pattern_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "pattern_rounding.h"

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

/* ---- backward */

typedef struct finding {
    const cbx_pattern_question *q;
    cbx_patterns                all;
    cbx_pattern_row            *rows;
    double                     *head, *seen, *sizes;
    double                    **line, **back; /* by layer: scratch */
} finding;

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
    int32_t          from = f->rows[i].from[k];
    cbx_pattern_row *u = &f->rows[from];
    double           most = -INFINITY;
    if (l == 0) {
        int32_t width = f->q->net->layers[0].n_out;
        double least, scale, value = dot(width, weight, f->q->spread->base + (int64_t)from * width);
        cbx_pattern_scales(u, i, &least, &scale);
        return value * (value > 0 ? scale : least);
    }
    for (int64_t p = 0; p < u->patterns; p++)
        if (cbx_pattern_allows(u, p, i))
            most = fmax(most, cbx_pattern_scale(u, p) * eval(f, l - 1, from, p, weight));
    return most;
}

/* The same of all of a pattern's edges. */
static double edge_values(finding *f, int32_t l, int32_t i, int64_t p, const double *weight)
{
    const cbx_pattern_row *r = &f->rows[i];
    double                 sum = 0, *values = r->values + (int64_t)l * r->open;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        if (r->by_number && k < r->open)
            values[k] = edge_value(f, l, i, k, weight);
        else if (cbx_pattern_has(r, p, k))
            sum += edge_value(f, l, i, k, weight);
    }
    if (!r->by_number)
        return sum;
    qsort(values, (size_t)r->open, sizeof *values, cbx_by_size);
    for (int64_t k = 0; k < p; k++)
        sum += values[k];
    return sum;
}

/* Weights of layer l's units behind their ReLUs: by intervals alone. */
static double value_in_box(const cbx_pattern_boxes *b, int64_t at, int32_t width,
                           const double *weight)
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
    const cbx_net_layer     *net = &f->q->net->layers[l];
    const cbx_pattern_row   *r = &f->rows[i];
    const cbx_pattern_boxes *b = &r->of[l];
    int64_t                  at = p * net->n_out;
    double boxed = value_in_box(b, at, net->n_out, weight), s = cbx_pattern_scale(r, p);
    if (l == 0 && !r->by_number)
        return boxed;
    if (cbx_patterns_late(&f->all, 2.0 * net->n_in * net->n_out))
        return INFINITY;
    double *line = f->line[l], *back = l ? f->back[l] : line;
    double  sum = pass_relu(weight, b->low + at, b->high + at, net->n_out, line);
    sum += dot(net->n_out, line, net->bias);
    if (l == 0)
        sum += s * s * dot(net->n_out, line, f->q->spread->base + (int64_t)i * net->n_out);
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
    const cbx_net         *net = f->q->net;
    const cbx_pattern_row *r = &f->rows[0];
    double size, s = cbx_pattern_scale(r, p), sum = cbx_net_head_bias(net, ahead, behind, &size);
    memset(f->head, 0, (size_t)net->widest * sizeof *f->head);
    /* f->head: what comes back of the layer behind, then what the head sees of this one as well */
    for (int32_t l = net->num_layers - 1; l >= 0; l--) {
        const cbx_net_layer     *y = &net->layers[l];
        const cbx_pattern_boxes *b = &r->of[l];
        int64_t                  at = p * y->n_out;
        double                  *line = f->line[l], *back = f->back[l];
        if (cbx_net_head(net, l, ahead, behind, f->seen, f->sizes))
            for (int32_t j = 0; j < y->n_out; j++)
                f->head[j] += f->seen[j];
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
    cbx_arena     *arena = &f->all.arena;
    f->head = CBX_NEW(arena, double, net->widest);
    f->seen = CBX_NEW(arena, double, net->widest);
    f->sizes = CBX_NEW(arena, double, net->widest);
    f->line = CBX_NEW(arena, double *, net->num_layers);
    f->back = CBX_NEW(arena, double *, net->num_layers);
    if (!f->head || !f->seen || !f->sizes || !f->line || !f->back)
        return -1;
    for (int32_t l = 0; l < net->num_layers; l++) {
        f->line[l] = CBX_NEW(arena, double, net->layers[l].n_out);
        f->back[l] = CBX_NEW(arena, double, net->layers[l].n_in);
        if (!f->line[l] || !f->back[l])
            return -1;
    }
    return 0;
}

double cbx_pattern_lead(const cbx_pattern_question *q, int32_t ahead, int32_t behind)
{
    finding f = {.q = q};
    double  most = INFINITY;
    if (!cbx_patterns_init(&f.all, q) && !make_scratch(&f)) {
        f.rows = f.all.rows;
        most = -INFINITY;
        for (int64_t p = 0; p < f.rows[0].patterns && !f.all.late; p++)
            most = fmax(most, lead_with(&f, p, ahead, behind));
        most += cbx_pattern_rounding(&f.all, ahead, behind);
    }
    most = f.all.late ? INFINITY : most;
    cbx_patterns_free(&f.all);
    return most;
}
