/* SPDX-License-Identifier: Apache-2.0 */
/* box.c: see box.h. */
#include "box.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "lines.h"
#include "rounding.h"
#include "spread.h"

static const double UNIT = CBX_ROUNDING_UNIT;

static double larger_size(double low, double high)
{
    return fmax(fabs(low), fabs(high));
}

/* ---- memory, and the features */

static int make_layer(cbx_boxes *b, int32_t l, cbx_arena *arena)
{
    const cbx_net  *net = b->q->net;
    const cbx_view *view = b->q->graph->view;
    cbx_box_layer  *y = &b->layers[l];
    y->rows_in = cbx_view_rows(view, cbx_net_hops(net, l - 1));
    y->rows = cbx_view_rows(view, cbx_net_hops(net, l));
    int64_t size = (int64_t)y->rows * net->layers[l].n_out;
    y->scales = CBX_NEW(arena, cbx_node_scale, y->rows_in);
    y->low = CBX_NEW(arena, double, size);
    y->high = CBX_NEW(arena, double, size);
    y->rounding = CBX_NEW(arena, double, size);
    if (!y->scales || !y->low || !y->high || !y->rounding)
        return -1;
    for (int32_t i = 0; i < y->rows_in; i++)
        y->scales[i] = cbx_scale_of(net->layers[l].norm, b->q->graph, i);
    return 0;
}

static int make_room(cbx_boxes *b, cbx_arena *arena)
{
    const cbx_net *net = b->q->net;
    int32_t        rows = cbx_view_rows(b->q->graph->view, cbx_net_hops(net, -1)), widest = 0;
    bool           maxima = net->max_pool;
    int64_t        features = (int64_t)rows * net->layers[0].n_in;
    double       **products[] = {&b->message_low, &b->message_high, &b->own_low,
                                 &b->own_high,    &b->message_size, &b->own_size};
    for (int32_t l = 0; l < net->num_layers; l++) {
        widest = net->layers[l].n_out > widest ? net->layers[l].n_out : widest;
        maxima = maxima || net->layers[l].maximum;
    }
    for (size_t k = 0; k < sizeof products / sizeof *products; k++)
        if (!(*products[k] = CBX_NEW(arena, double, (int64_t)rows *widest)))
            return -1;
    b->low = CBX_NEW(arena, double, features);
    b->high = CBX_NEW(arena, double, features);
    b->max_low = CBX_NEW(arena, double, maxima ? net->widest : 1);
    b->max_high = CBX_NEW(arena, double, maxima ? net->widest : 1);
    b->weights = CBX_NEW(arena, double, widest);
    b->sizes = CBX_NEW(arena, double, widest);
    b->layers = CBX_NEW(arena, cbx_box_layer, net->num_layers);
    if (!b->low || !b->high || !b->max_low || !b->max_high || !b->weights || !b->sizes ||
        !b->layers)
        return -1;
    for (int32_t l = 0; l < net->num_layers; l++)
        if (make_layer(b, l, arena))
            return -1;
    return 0;
}

/* False: some are without limits. */
static bool take_features(cbx_boxes *b)
{
    const float *mean = b->q->net->model->mean;
    int32_t      f = b->q->net->layers[0].n_in;
    bool         limited = true;
    for (int64_t at = 0; at < (int64_t)b->layers[0].rows_in * f; at++) {
        /* it is taken off their product, which is rounded as the two are large */
        double less = mean ? (double)mean[at % f] : 0;
        double wrong =
            mean ? 4 * UNIT * (fabs(less) + larger_size(b->q->low[at], b->q->high[at])) : 0;
        b->low[at] = b->q->low[at] - less - wrong * (f + 1);
        b->high[at] = b->q->high[at] - less + wrong * (f + 1);
        limited = limited && isfinite(b->low[at]) && isfinite(b->high[at]);
    }
    return limited;
}

cbx_status cbx_boxes_init(cbx_boxes *b, const cbx_box_question *q, cbx_arena *arena, bool *known,
                          cbx_error *err)
{
    *b = (cbx_boxes){.q = q};
    *known = true;
    for (int32_t l = 0; l < q->net->num_layers; l++)
        *known = *known && cbx_scale_is_known(q->net->layers[l].norm, q->graph);
    if (*known && make_room(b, arena))
        return cbx_fail_memory(err);
    *known = *known && take_features(b);
    return CBX_OK;
}

/* ---- a layer */

/* A row's product with W. */
static void multiply(const cbx_net_layer *net, const double *W, const double *low,
                     const double *high, bool relu, double *least, double *most, double *size)
{
    int32_t out = net->n_out;
    memset(least, 0, (size_t)out * sizeof *least);
    memset(most, 0, (size_t)out * sizeof *most);
    memset(size, 0, (size_t)out * sizeof *size);
    for (int32_t k = 0; k < net->n_in; k++) {
        double        a = relu ? fmax(low[k], 0) : low[k], c = relu ? fmax(high[k], 0) : high[k];
        const double *w = W + (int64_t)k * out;
        for (int32_t j = 0; j < out && (a != 0 || c != 0); j++) {
            least[j] += w[j] > 0 ? w[j] * a : w[j] * c;
            most[j] += w[j] > 0 ? w[j] * c : w[j] * a;
            size[j] += fabs(w[j]) * larger_size(a, c);
        }
    }
}

/* Input k of row v of a layer that takes a maximum: the largest of what its edges bring, of which
 * some may go; with all of them gone it is 0. */
static cbx_interval maximum_of(const cbx_boxes *b, int32_t l, int32_t v, int32_t k)
{
    const cbx_partial_graph *g = b->q->graph;
    const cbx_view          *view = g->view;
    int64_t                  in = b->q->net->layers[l].n_in;
    const double            *low = l ? b->layers[l - 1].low : b->low;
    const double            *high = l ? b->layers[l - 1].high : b->high;
    cbx_interval             stay = {-INFINITY, -INFINITY}, all = {0, 0};
    for (int64_t e = view->offset[v]; e < view->offset[v + 1]; e++) {
        int64_t      from = view->source[e] * in + k;
        double       w = view->weight ? (double)view->weight[e] : 1;
        cbx_interval one = l ? cbx_interval_times(w, fmax(low[from], 0), fmax(high[from], 0))
                             : cbx_interval_times(w, low[from], high[from]);
        if (g->choice_of[e] < 0)
            stay.low = fmax(stay.low, one.low);
        stay.high = fmax(stay.high, one.high);
        all.low = fmin(all.low, one.low);
        all.high = fmax(all.high, one.high);
    }
    return isfinite(stay.low) ? stay : all;
}

/* What row v has of its neighbours in layer l, times the layer's weights: where that takes a
 * maximum, as a message to itself; else what it sends. */
static void multiply_messages(cbx_boxes *b, int32_t l, int32_t v, const double *low,
                              const double *high)
{
    const cbx_net_layer *net = &b->q->net->layers[l];
    int64_t              at = (int64_t)v * net->n_out;
    if (net->maximum && v >= b->layers[l].rows)
        return;
    for (int32_t k = 0; net->maximum && k < net->n_in; k++) {
        cbx_interval m = maximum_of(b, l, v, k);
        b->max_low[k] = m.low;
        b->max_high[k] = m.high;
    }
    multiply(net, net->neighbour, net->maximum ? b->max_low : low,
             net->maximum ? b->max_high : high, l > 0 && !net->maximum, b->message_low + at,
             b->message_high + at, b->message_size + at);
}

bool cbx_boxes_multiply(cbx_boxes *b, int32_t l)
{
    const cbx_net_layer *net = &b->q->net->layers[l];
    const double        *low = l ? b->layers[l - 1].low : b->low;
    const double        *high = l ? b->layers[l - 1].high : b->high;
    int64_t              in = net->n_in, out = net->n_out;
    for (int32_t i = 0; i < b->layers[l].rows_in; i++) {
        if (cbx_out_of_time(4.0 * (double)(in * out)))
            return false;
        multiply_messages(b, l, i, low + i * in, high + i * in);
        multiply(net, net->own, low + i * in, high + i * in, l > 0, b->own_low + i * out,
                 b->own_high + i * out, b->own_size + i * out);
    }
    return true;
}

/* Adds a term, times a factor of its own, that may not be there. */
static void add_term(double least, double most, double low, double high, bool may_go,
                     double *to_low, double *to_high)
{
    double bottom = low < 0 ? most * low : least * low;
    double top = high > 0 ? most * high : least * high;
    *to_low += may_go && bottom > 0 ? 0 : bottom;
    *to_high += may_go && top < 0 ? 0 : top;
}

/* Unit j of row v. */
static void add_up(cbx_boxes *b, int32_t l, int32_t v, int64_t j)
{
    const cbx_net_layer     *net = &b->q->net->layers[l];
    const cbx_partial_graph *g = b->q->graph;
    const cbx_view          *view = g->view;
    const cbx_box_layer     *y = &b->layers[l];
    const cbx_node_scale    *to = &y->scales[v];
    int64_t                  n = net->n_out, at = v * n + j;
    int64_t                  degree = view->offset[v + 1] - view->offset[v];
    bool                     gcn = net->norm == CBX_NORM_GCN;
    double low = net->bias[j] + b->own_low[at], high = net->bias[j] + b->own_high[at];
    double size = net->bias_size[j] + b->own_size[at];
    bool   sums = net->reach > 0 && !net->maximum;
    for (int64_t e = view->offset[v]; e < view->offset[v + 1] && sums; e++) {
        int64_t from = view->source[e] * n + j;
        double  w = view->weight ? (double)view->weight[e] : 1;
        if (gcn && view->source[e] == v)
            continue;
        const cbx_factor *s = &y->scales[view->source[e]].source;
        double            a = w * b->message_low[from], c = w * b->message_high[from];
        add_term(s->least * to->target.least, s->most * to->target.most, fmin(a, c), fmax(a, c),
                 g->choice_of[e] >= 0, &low, &high);
        size += fabs(w) * s->most * to->target.most * b->message_size[from];
    }
    if (net->maximum) {
        low += b->message_low[at];
        high += b->message_high[at];
        size += b->message_size[at];
    }
    if (gcn) {
        add_term(to->loop.least, to->loop.most, b->message_low[at], b->message_high[at], false,
                 &low, &high);
        size += to->loop.most * b->message_size[at];
    }
    b->lost = b->lost || cbx_rounding_is_lost(size);
    y->rounding[at] = 1.01 * (2.0 * net->n_in + (double)degree + 16) * UNIT * size;
    y->low[at] = low - y->rounding[at];
    y->high[at] = high + y->rounding[at];
}

void cbx_boxes_add_up(cbx_boxes *b, int32_t l)
{
    for (int32_t v = 0; v < b->layers[l].rows; v++)
        for (int32_t j = 0; j < b->q->net->layers[l].n_out; j++)
            add_up(b, l, v, j);
}

/* ---- the head */

double cbx_boxes_share(const cbx_boxes *b, int32_t *rows)
{
    const cbx_model *m = b->q->net->model;
    *rows = m->task == CBX_GRAPH ? b->q->graph->view->n : 1;
    return m->task == CBX_GRAPH && m->pool == CBX_POOL_MEAN ? 1.0 / *rows : 1;
}

/* The boxes of layer l's units, each the largest over the nodes, in b->max_low and b->max_high. */
static void pool_maxima(const cbx_boxes *b, int32_t l, int32_t rows)
{
    int32_t              width = b->q->net->layers[l].n_out;
    const cbx_box_layer *y = &b->layers[l];
    for (int32_t j = 0; j < width; j++)
        b->max_low[j] = b->max_high[j] = -INFINITY;
    for (int64_t at = 0; at < (int64_t)rows * width; at++) {
        int32_t j = (int32_t)(at % width);
        b->max_low[j] = fmax(b->max_low[j], y->low[at]);
        b->max_high[j] = fmax(b->max_high[j], y->high[at]);
    }
}

/* What b->sizes times those come to at most. */
static double pooled_size(const cbx_boxes *b, int32_t l, int32_t rows)
{
    double sum = 0;
    pool_maxima(b, l, rows);
    for (int32_t j = 0; j < b->q->net->layers[l].n_out; j++)
        sum += b->sizes[j] * fmax(b->max_high[j], 0);
    return sum;
}

/* What scores of two classes are sums of, without signs. */
static double size_of_scores(const cbx_boxes *b, int32_t ahead, int32_t behind)
{
    double  size;
    int32_t rows;
    double  share = cbx_boxes_share(b, &rows);
    (void)cbx_net_head_bias(b->q->net, ahead, behind, &size);
    for (int32_t l = 0; l < b->q->net->num_layers; l++) {
        int32_t width = b->q->net->layers[l].n_out;
        bool    seen = cbx_net_head(b->q->net, l, ahead, behind, b->weights, b->sizes);
        if (seen && b->q->net->max_pool) {
            size += pooled_size(b, l, rows);
            continue;
        }
        for (int64_t at = 0; seen && at < (int64_t)rows * width; at++)
            size += share * b->sizes[at % width] * fmax(b->layers[l].high[at], 0);
    }
    return size;
}

void cbx_boxes_finish(cbx_boxes *b)
{
    b->largest = 0;
    for (int32_t c = 0; c < b->q->net->model->num_classes; c++)
        b->largest = fmax(b->largest, size_of_scores(b, c, c) / 2);
}

bool cbx_boxes_compute(cbx_boxes *b)
{
    for (int32_t l = 0; l < b->q->net->num_layers; l++) {
        if (!cbx_boxes_multiply(b, l))
            return false;
        cbx_boxes_add_up(b, l);
    }
    cbx_boxes_finish(b);
    return true;
}

double cbx_boxes_head_rounding(const cbx_boxes *b, int32_t ahead, int32_t behind)
{
    const cbx_model *m = b->q->net->model;
    double           terms = m->head_in + b->q->graph->view->n + 16;
    if (b->lost || cbx_rounding_is_lost(b->largest))
        return INFINITY;
    return 1.01 * terms * UNIT * size_of_scores(b, ahead, behind) +
           cbx_rounding_of_softmax(b->largest, m->num_classes);
}

double cbx_boxes_lead(const cbx_boxes *b, int32_t ahead, int32_t behind)
{
    const cbx_net *net = b->q->net;
    double         size, lead = cbx_net_head_bias(net, ahead, behind, &size);
    int32_t        rows;
    double         share = cbx_boxes_share(b, &rows);
    for (int32_t l = 0; l < net->num_layers; l++) {
        int64_t              width = net->layers[l].n_out;
        const cbx_box_layer *y = &b->layers[l];
        bool                 seen = cbx_net_head(net, l, ahead, behind, b->weights, b->sizes);
        if (seen && net->max_pool) {
            pool_maxima(b, l, rows);
            lead += cbx_lines_in_box((int32_t)width, b->weights, b->max_low, b->max_high);
            continue;
        }
        for (int32_t i = 0; seen && i < rows; i++)
            lead += share * cbx_lines_in_box((int32_t)width, b->weights, y->low + i * width,
                                             y->high + i * width);
    }
    return lead + cbx_boxes_head_rounding(b, ahead, behind);
}
