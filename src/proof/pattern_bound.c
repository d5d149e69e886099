/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_bound.c: see pattern_bound.h. */
#include "pattern_back.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pattern_rounding.h"

/* Layers at most: what a layer's row gains is asked of the layer before, call by call. */
enum { DEEPEST = 16 };

/* Units whose boxes are narrowed before the lead is asked for again; then twice as many. */
enum { FIRST_UNITS = 16 };

bool cbx_pattern_is_known(const cbx_net *net, const cbx_partial_graph *g)
{
    const cbx_view *v = g->view;
    if (!net || net->num_layers > DEEPEST || net->model->task != CBX_NODE || !g->simple ||
        cbx_net_has_own(net))
        return false;
    for (int32_t l = 0; l < net->num_layers; l++)
        if (net->layers[l].norm != CBX_NORM_GCN)
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

/* ---- the first row's boxes */

typedef struct ranked {
    double  gain;
    int32_t unit;
} ranked;

typedef struct finding {
    cbx_pattern_back back;
    ranked          *order;         /* scratch: by unit */
    double          *values, *most; /* scratch: by edge of the first row, by pattern */
    double          *now;           /* scratch: by class */
    double          *excluded;      /* by class: with patterns of the first row that are */
} finding;

/* What unit `j` of layer l has in the first row at most, by pattern, if sign is 1; or where it is
 * -1 at least, with the sign turned. By a step back, as for the lead, in place of intervals. */
static void step_back(finding *f, int32_t l, int32_t j, double sign, const uint8_t *may,
                      double *most)
{
    const cbx_net_layer   *y = &f->back.q->net->layers[l];
    const cbx_pattern_row *r = &f->back.rows[0];
    double                *value = f->values, fixed = 0;
    for (int32_t k = 0; k < y->n_in; k++)
        f->back.head[k] = sign * y->neighbour[(int64_t)k * y->n_out + j];
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        value[k] = cbx_pattern_edge(&f->back, l, 0, k, f->back.head);
        fixed += k < r->open ? 0 : value[k];
    }
    if (r->by_number)
        qsort(value, (size_t)r->open, sizeof *value, cbx_by_size);
    for (int64_t p = 0; p < r->patterns; p++) {
        double s = cbx_pattern_scale(r, p), sum = fixed;
        if (!may[p])
            continue;
        for (int32_t k = 0; k < r->open; k++)
            sum += (r->by_number ? k < r->numbers[p] : cbx_pattern_has(r, p, k)) ? value[k] : 0;
        most[p] = sign * y->bias[j] +
                  s * (sum + s * cbx_pattern_eval(&f->back, l - 1, 0, p, f->back.head));
    }
}

/* How far the line through the ends of unit j's box is above relu, in patterns that may lead: 0
 * where the unit is on one side of 0. */
static double widest_bend(const finding *f, int32_t l, int32_t j, const uint8_t *may)
{
    const cbx_pattern_boxes *b = &f->back.rows[0].of[l];
    int32_t                  width = f->back.q->net->layers[l].n_out;
    double                   most = 0;
    for (int64_t p = 0; p < f->back.rows[0].patterns; p++) {
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
    int32_t width = f->back.q->net->layers[l].n_out, count = 0;
    for (int32_t j = 0; j < width; j++)
        f->order[j] = (ranked){0, j};
    for (int32_t c = 0; c < f->back.q->net->model->num_classes; c++) {
        bool seen = out->asked[c] &&
                    cbx_net_head(f->back.q->net, l, c, out->behind, f->back.seen, f->back.sizes);
        for (int32_t j = 0; j < width && out->asked[c]; j++)
            f->order[j].gain = fmax(f->order[j].gain, seen ? fmax(f->back.seen[j], 0) : 1);
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
    const cbx_pattern_row *r = &f->back.rows[0];
    cbx_pattern_boxes     *b = &r->of[l];
    int32_t                width = f->back.q->net->layers[l].n_out;
    step_back(f, l, j, 1, may, f->most);
    for (int64_t p = 0; p < r->patterns; p++)
        if (may[p])
            b->high[p * width + j] = fmin(b->high[p * width + j], f->most[p]);
    step_back(f, l, j, -1, may, f->most);
    for (int64_t p = 0; p < r->patterns; p++)
        if (may[p])
            b->low[p * width + j] = fmax(b->low[p * width + j], -f->most[p]);
}

/* ---- all of it */

/* By how much a class leads with a pattern of the first row. Where numbers may be too large for the
 * model or for these, nothing is known. */
static double lead_with(finding *f, int64_t p, int32_t class, int32_t behind,
                        const cbx_pattern_rounding *rounding)
{
    double off = cbx_pattern_rounding_of(rounding, class, behind);
    double lead = cbx_pattern_lead_with(&f->back, p, class, behind) + off;
    return isfinite(off) && !isnan(lead) ? lead : INFINITY;
}

/* Of all classes that are asked about, whether they may lead, and with which patterns of the first
 * row. Those that are excluded count as they were. */
static void find_leads(finding *f, cbx_pattern_leads *out, const cbx_pattern_rounding *rounding)
{
    int32_t classes = f->back.q->net->model->num_classes;
    memcpy(out->lead, f->excluded, (size_t)classes * sizeof *out->lead);
    for (int64_t p = 0; p < f->back.rows[0].patterns && !f->back.all.late; p++) {
        bool any = false;
        for (int32_t c = 0; c < classes && out->may[p]; c++) {
            f->now[c] = out->asked[c] ? lead_with(f, p, c, out->behind, rounding) : -INFINITY;
            out->lead[c] = fmax(out->lead[c], f->now[c]);
            any = any || !(f->now[c] < 0); /* of two that are equal, either may lead */
        }
        for (int32_t c = 0; c < classes && out->may[p] && !any; c++)
            f->excluded[c] = fmax(f->excluded[c], f->now[c]);
        out->may[p] = any;
    }
}

static double largest(const finding *f, const cbx_pattern_leads *out)
{
    double most = -INFINITY;
    for (int32_t c = 0; c < f->back.q->net->model->num_classes; c++)
        most = fmax(most, out->lead[c]);
    return most;
}

/* Units by and by, until no class leads or all have been looked at. */
static void narrow_layer(finding *f, int32_t l, cbx_pattern_leads *out,
                         const cbx_pattern_rounding *rounding)
{
    int32_t count = rank_units(f, l, out), next = FIRST_UNITS;
    for (int32_t k = 0; k < count && !f->back.all.late; k++) {
        narrow(f, l, f->order[k].unit, out->may);
        if (k + 1 < next && k + 1 < count)
            continue;
        find_leads(f, out, rounding);
        if (largest(f, out) < 0)
            return;
        next *= 2;
    }
}

/* Graphs that are among others have their units where those have them. Of one layer nothing is
 * closer than what is there, which may be a cache's. */
static void take_boxes(finding *f, const cbx_pattern_leads *out)
{
    int32_t            last = f->back.q->net->num_layers - 1;
    cbx_pattern_boxes *b = &f->back.rows[0].of[last];
    for (int32_t j = 0; last > 0 && out->known_low && j < f->back.q->net->layers[last].n_out; j++) {
        b->low[j] = fmax(b->low[j], out->known_low[j]);
        b->high[j] = fmin(b->high[j], out->known_high[j]);
    }
}

static void leave_boxes(const finding *f, cbx_pattern_leads *out)
{
    int32_t                  last = f->back.q->net->num_layers - 1;
    const cbx_pattern_boxes *b = &f->back.rows[0].of[last];
    size_t                   size = (size_t)f->back.q->net->layers[last].n_out * sizeof *b->low;
    if (!out->low)
        return;
    memcpy(out->low, b->low, size);
    memcpy(out->high, b->high, size);
}

static int find(finding *f, cbx_pattern_leads *out)
{
    cbx_pattern_rounding   rounding;
    cbx_pattern_back      *back = &f->back;
    const cbx_net         *net = back->q->net;
    const cbx_pattern_row *r = &back->rows[0];
    f->order = CBX_NEW(&back->all.arena, ranked, net->widest);
    f->values = CBX_NEW(&back->all.arena, double, r->open + r->fixed);
    f->most = CBX_NEW(&back->all.arena, double, r->patterns);
    f->now = CBX_NEW(&back->all.arena, double, net->model->num_classes);
    f->excluded = CBX_NEW(&back->all.arena, double, net->model->num_classes);
    if (!f->order || !f->values || !f->most || !f->now || !f->excluded ||
        cbx_pattern_round(&back->all, &rounding))
        return -1;
    for (int32_t c = 0; c < net->model->num_classes; c++)
        f->excluded[c] = -INFINITY;
    out->drop = 0;
    if (r->patterns == 1)
        take_boxes(f, out);
    for (int64_t p = 0; p < r->patterns; p++)
        out->may[p] = cbx_pattern_allows(r, p, 0);
    find_leads(f, out, &rounding);
    double most = largest(f, out);
    if (net->num_layers > 2 && !(most < 0) && most <= out->narrow) {
        for (int32_t l = 2; l < net->num_layers; l++)
            narrow_layer(f, l, out, &rounding);
        out->drop = fmin(most - largest(f, out), 2 * most + 1);
    }
    if (r->patterns == 1)
        leave_boxes(f, out);
    return back->all.late ? -1 : 0;
}

/* Nothing leads where there is no graph. */
static int find_none(const finding *f, cbx_pattern_leads *out)
{
    for (int32_t c = 0; c < f->back.q->net->model->num_classes; c++)
        out->lead[c] = -INFINITY;
    memset(out->may, 0, (size_t)f->back.rows[0].patterns);
    out->drop = 0;
    return 0;
}

bool cbx_pattern_find_leads(const cbx_pattern_question *q, cbx_pattern_leads *out)
{
    finding f;
    bool    known = !cbx_pattern_back_init(&f.back, q) &&
                 !(f.back.all.impossible ? find_none(&f, out) : find(&f, out));
    cbx_patterns_free(&f.back.all);
    return known;
}
