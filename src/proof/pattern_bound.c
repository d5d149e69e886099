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

/* Units whose boxes are narrowed before the lead is asked for again; then twice as many. */
enum { FIRST_UNITS = 16 };

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

typedef struct ranked {
    double  gain;
    int32_t unit;
} ranked;

typedef struct finding {
    const cbx_pattern_question *q;
    cbx_patterns                all;
    cbx_pattern_row            *rows;
    double                     *head, *seen, *sizes;
    double                    **line, **back; /* by layer: scratch */
    double                    **turned; /* by layer: its weights, with rows and columns exchanged */
    double                    **boxed;  /* by layer: scratch, by pattern */
    ranked                     *order;  /* scratch: by unit */
    double                     *values, *most; /* scratch: by edge of the first row, by pattern */
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

/* Sums in so many parts, which processors add at once. */
enum { PARTS = 8 };

static double sum_of(const double *part)
{
    double sum = 0;
    for (int k = 0; k < PARTS; k++)
        sum += part[k];
    return sum;
}

CBX_HOT static double dot(int32_t count, const double *a, const double *b)
{
    double  part[PARTS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + PARTS <= count; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++)
            part[n] += a[k + n] * b[k + n];
    for (; k < count; k++)
        rest += a[k] * b[k];
    return sum_of(part) + rest;
}

static double eval(finding *f, int32_t l, int32_t i, int64_t p, const double *weight);

/* Weights of units behind their ReLUs, which are in [low, high] before them: by intervals alone. */
CBX_HOT static double value_in_box(int32_t width, const double *weight, const double *low,
                                   const double *high)
{
    double  part[PARTS] = {0}, rest = 0;
    int32_t k = 0;
    for (; k + PARTS <= width; k += PARTS)
        for (int32_t n = 0; n < PARTS; n++) {
            double z = weight[k + n] > 0 ? high[k + n] : low[k + n];
            part[n] += z > 0 ? weight[k + n] * z : 0;
        }
    for (; k < width; k++) {
        double z = weight[k] > 0 ? high[k] : low[k];
        rest += z > 0 ? weight[k] * z : 0;
    }
    return sum_of(part) + rest;
}

/* The same of a row with a pattern, times its scale. */
static double value_in_boxes(const finding *f, int32_t l, int32_t i, int64_t p,
                             const double *weight)
{
    const cbx_pattern_row *r = &f->rows[i];
    int32_t                width = f->q->net->layers[l].n_out;
    int64_t                at = p * width;
    return cbx_pattern_scale(r, p) *
           value_in_box(width, weight, r->of[l].low + at, r->of[l].high + at);
}

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
    double *boxed = f->boxed[l];
    for (int64_t p = 0; p < u->patterns; p++)
        boxed[p] =
            cbx_pattern_allows(u, p, i) ? value_in_boxes(f, l - 1, from, p, weight) : -INFINITY;
    for (;;) { /* the one that may be largest next, until none may be larger than what was found */
        int64_t next = 0;
        for (int64_t p = 1; p < u->patterns; p++)
            next = boxed[p] > boxed[next] ? p : next;
        if (!(boxed[next] > most))
            return most;
        most = fmax(most, cbx_pattern_scale(u, next) * eval(f, l - 1, from, next, weight));
        boxed[next] = -INFINITY;
    }
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

/* W times weights before the ReLU, of which many are 0: those of what the layer multiplies. */
CBX_HOT static void multiply_back(const cbx_net_layer *l, const double *turned, const double *line,
                                  double *restrict back)
{
    memset(back, 0, (size_t)l->n_in * sizeof *back);
    for (int32_t j = 0; j < l->n_out; j++) {
        const double *w = turned + (int64_t)j * l->n_in;
        double        by = line[j];
        for (int32_t k = 0; k < l->n_in && by != 0; k++)
            back[k] += by * w[k];
    }
}

/* The most that weights of row i's units of layer l, behind their ReLUs, come to with this pattern.
 */
static double eval(finding *f, int32_t l, int32_t i, int64_t p, const double *weight)
{
    const cbx_net_layer     *net = &f->q->net->layers[l];
    const cbx_pattern_row   *r = &f->rows[i];
    const cbx_pattern_boxes *b = &r->of[l];
    int64_t                  at = p * net->n_out;
    double                   boxed = value_in_box(net->n_out, weight, b->low + at, b->high + at),
           s = cbx_pattern_scale(r, p);
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
        multiply_back(net, f->turned[l], line, back);
    if (l > 0)
        sum += s * s * eval(f, l - 1, i, p, back);
    sum += s * edge_values(f, l, i, p, back);
    return fmin(sum, boxed);
}

/* ---- the first row's boxes */

/* What unit `j` of layer l has in the first row at most, by pattern, if sign is 1; or where it is
 * -1 at least, with the sign turned. By a step back, as for the lead, in place of intervals. */
static void step_back(finding *f, int32_t l, int32_t j, double sign, const uint8_t *may,
                      double *most)
{
    const cbx_net_layer   *y = &f->q->net->layers[l];
    const cbx_pattern_row *r = &f->rows[0];
    double                *value = f->values, fixed = 0;
    for (int32_t k = 0; k < y->n_in; k++)
        f->head[k] = sign * y->neighbour[(int64_t)k * y->n_out + j];
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        value[k] = edge_value(f, l, 0, k, f->head);
        fixed += k < r->open ? 0 : value[k];
    }
    if (r->by_number)
        qsort(value, (size_t)r->open, sizeof *value, cbx_by_size);
    for (int64_t p = 0; p < r->patterns; p++) {
        double s = cbx_pattern_scale(r, p), sum = fixed;
        if (!may[p])
            continue;
        for (int32_t k = 0; k < r->open; k++)
            sum += (r->by_number ? k < p : cbx_pattern_has(r, p, k)) ? value[k] : 0;
        most[p] = sign * y->bias[j] + s * (sum + s * eval(f, l - 1, 0, p, f->head));
    }
}

/* How far the line through the ends of unit j's box is above relu, in patterns that may lead: 0
 * where the unit is on one side of 0. */
static double widest_bend(const finding *f, int32_t l, int32_t j, const uint8_t *may)
{
    const cbx_pattern_boxes *b = &f->rows[0].of[l];
    int32_t                  width = f->q->net->layers[l].n_out;
    double                   most = 0;
    for (int64_t p = 0; p < f->rows[0].patterns; p++) {
        double low = b->low[p * width + j], high = b->high[p * width + j];
        if (may[p] && low < 0 && high > 0)
            most = fmax(most, -low * high / (high - low));
    }
    return most;
}

static int by_gain(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->gain != b->gain)
        return a->gain < b->gain ? 1 : -1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

/* Units by what narrower boxes of them may take off the lead; returns how many there are. */
static int32_t rank_units(finding *f, int32_t l, const cbx_pattern_leads *out)
{
    int32_t width = f->q->net->layers[l].n_out, count = 0;
    for (int32_t j = 0; j < width; j++)
        f->order[j] = (ranked){0, j};
    for (int32_t c = 0; c < f->q->net->model->num_classes; c++) {
        bool seen = out->asked[c] && cbx_net_head(f->q->net, l, c, out->behind, f->seen, f->sizes);
        for (int32_t j = 0; j < width && out->asked[c]; j++)
            f->order[j].gain = fmax(f->order[j].gain, seen ? fabs(f->seen[j]) : 1);
    }
    for (int32_t j = 0; j < width; j++)
        f->order[j].gain *= widest_bend(f, l, j, out->may);
    qsort(f->order, (size_t)width, sizeof *f->order, by_gain);
    while (count < width && f->order[count].gain > 0)
        count++;
    return count;
}

/* Narrows the box of a unit of the first row, with the patterns that may lead: from the third layer
 * on intervals of products are wide, as units of the layer before are not all at their ends at
 * once. */
static void narrow(finding *f, int32_t l, int32_t j, const uint8_t *may)
{
    const cbx_pattern_row *r = &f->rows[0];
    cbx_pattern_boxes     *b = &r->of[l];
    int32_t                width = f->q->net->layers[l].n_out;
    step_back(f, l, j, 1, may, f->most);
    for (int64_t p = 0; p < r->patterns; p++)
        if (may[p])
            b->high[p * width + j] = fmin(b->high[p * width + j], f->most[p]);
    step_back(f, l, j, -1, may, f->most);
    for (int64_t p = 0; p < r->patterns; p++)
        if (may[p])
            b->low[p * width + j] = fmax(b->low[p * width + j], -f->most[p]);
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
        multiply_back(y, f->turned[l], line, back);
        sum += s * edge_values(f, l, 0, p, back);
        for (int32_t k = 0; k < y->n_in; k++)
            f->head[k] = s * s * back[k];
    }
    return sum;
}

/* ---- all of it */

/* Of the first layer no weights are asked for. */
static int turn(finding *f, int32_t l)
{
    const cbx_net_layer *y = &f->q->net->layers[l];
    if (l == 0)
        return 0;
    if (!(f->turned[l] = CBX_NEW(&f->all.arena, double, (int64_t)y->n_in * y->n_out)))
        return -1;
    for (int32_t k = 0; k < y->n_in; k++)
        for (int32_t j = 0; j < y->n_out; j++)
            f->turned[l][(int64_t)j * y->n_in + k] = y->neighbour[(int64_t)k * y->n_out + j];
    return 0;
}

static int make_scratch(finding *f)
{
    const cbx_net *net = f->q->net;
    cbx_arena     *arena = &f->all.arena;
    int64_t        patterns = 0;
    for (int32_t i = 0; i < f->q->graph->view->n; i++)
        patterns = f->rows[i].patterns > patterns ? f->rows[i].patterns : patterns;
    f->head = CBX_NEW(arena, double, net->widest);
    f->seen = CBX_NEW(arena, double, net->widest);
    f->sizes = CBX_NEW(arena, double, net->widest);
    f->values = CBX_NEW(arena, double, f->rows[0].open + f->rows[0].fixed);
    f->most = CBX_NEW(arena, double, f->rows[0].patterns);
    f->line = CBX_NEW(arena, double *, net->num_layers);
    f->boxed = CBX_NEW(arena, double *, net->num_layers);
    f->turned = CBX_NEW(arena, double *, net->num_layers);
    f->order = CBX_NEW(arena, ranked, net->widest);
    f->back = CBX_NEW(arena, double *, net->num_layers);
    if (!f->head || !f->seen || !f->sizes || !f->values || !f->most || !f->line || !f->back)
        return -1;
    for (int32_t l = 0; l < net->num_layers; l++) {
        f->line[l] = CBX_NEW(arena, double, net->layers[l].n_out);
        f->back[l] = CBX_NEW(arena, double, net->layers[l].n_in);
        f->boxed[l] = CBX_NEW(arena, double, patterns);
        if (!f->line[l] || !f->back[l] || !f->boxed[l] || turn(f, l))
            return -1;
    }
    return 0;
}

/* Of all classes that are asked about, whether they may lead, and with which patterns of the first
 * row. */
static void find_leads(finding *f, cbx_pattern_leads *out, const cbx_pattern_rounding *rounding)
{
    for (int32_t c = 0; c < f->q->net->model->num_classes; c++)
        out->lead[c] = -INFINITY;
    for (int64_t p = 0; p < f->rows[0].patterns && !f->all.late; p++) {
        bool any = false;
        for (int32_t c = 0; c < f->q->net->model->num_classes && out->may[p]; c++) {
            if (!out->asked[c])
                continue;
            double lead =
                lead_with(f, p, c, out->behind) + cbx_pattern_rounding_of(rounding, c, out->behind);
            out->lead[c] = fmax(out->lead[c], lead);
            any = any || !(lead < 0); /* of two that are equal, either may lead */
        }
        out->may[p] = any;
    }
}

static double largest(const finding *f, const cbx_pattern_leads *out)
{
    double most = -INFINITY;
    for (int32_t c = 0; c < f->q->net->model->num_classes; c++)
        most = fmax(most, out->lead[c]);
    return most;
}

/* Units by and by, until no class leads or all have been looked at. */
static void narrow_layer(finding *f, int32_t l, cbx_pattern_leads *out,
                         const cbx_pattern_rounding *rounding)
{
    int32_t count = rank_units(f, l, out), next = FIRST_UNITS;
    for (int32_t k = 0; k < count && !f->all.late; k++) {
        narrow(f, l, f->order[k].unit, out->may);
        if (k + 1 < next && k + 1 < count)
            continue;
        find_leads(f, out, rounding);
        if (largest(f, out) < 0)
            return;
        next *= 2;
    }
}

static int find(finding *f, cbx_pattern_leads *out)
{
    cbx_pattern_rounding rounding;
    f->rows = f->all.rows;
    out->drop = 0;
    if (make_scratch(f) || cbx_pattern_round(&f->all, &rounding))
        return -1;
    memset(out->may, 1, (size_t)f->rows[0].patterns);
    find_leads(f, out, &rounding);
    double most = largest(f, out);
    if (f->q->net->num_layers > 2 && !(most < 0) && most <= out->narrow) {
        for (int32_t l = 2; l < f->q->net->num_layers; l++)
            narrow_layer(f, l, out, &rounding);
        out->drop = fmin(most - largest(f, out), most + 1);
    }
    return f->all.late ? -1 : 0;
}

bool cbx_pattern_find_leads(const cbx_pattern_question *q, cbx_pattern_leads *out)
{
    finding f = {.q = q};
    bool    known = !cbx_patterns_init(&f.all, q) && !find(&f, out);
    cbx_patterns_free(&f.all);
    return known;
}
