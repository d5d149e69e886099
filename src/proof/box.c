/* SPDX-License-Identifier: Apache-2.0 */
/* box.c: see box.h. */
#include "box.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "rounding.h"

static const double UNIT = FLT_EPSILON / 2;

typedef struct boxes {
    const cbx_box_question *q;
    cbx_node_scale         *scales;
    double                 *low, *high; /* of the layer's input: rows x units */
    double                 *message_low, *message_high, *own_low, *own_high; /* its products */
    double                 *message_size, *own_size;                         /* without signs */
    double                 *next_low, *next_high;
    double                 *max_low, *max_high; /* of one row's neighbours, scratch */
} boxes;

static double larger_size(double low, double high)
{
    return fmax(fabs(low), fabs(high));
}

/* A row's product with W. */
static void multiply(const double *W, int32_t in, int32_t out, const double *low,
                     const double *high, double *least, double *most, double *size)
{
    memset(least, 0, (size_t)out * sizeof *least);
    memset(most, 0, (size_t)out * sizeof *most);
    memset(size, 0, (size_t)out * sizeof *size);
    for (int32_t k = 0; k < in; k++)
        for (int32_t j = 0; j < out && (low[k] != 0 || high[k] != 0); j++) {
            double w = W[(int64_t)k * out + j];
            least[j] += w > 0 ? w * low[k] : w * high[k];
            most[j] += w > 0 ? w * high[k] : w * low[k];
            size[j] += fabs(w) * larger_size(low[k], high[k]);
        }
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

/* Input k of row v: the largest of what its edges bring, of which some may go; with all of them
 * gone it is 0. */
static cbx_interval maximum_of(const boxes *b, int32_t l, int32_t v, int32_t k)
{
    const cbx_partial_graph *g = b->q->graph;
    const cbx_view          *view = g->view;
    int64_t                  in = b->q->net->layers[l].n_in;
    cbx_interval             stay = {-INFINITY, -INFINITY}, all = {0, 0};
    for (int64_t e = view->offset[v]; e < view->offset[v + 1]; e++) {
        int64_t      from = view->source[e] * in + k;
        double       w = view->weight ? (double)view->weight[e] : 1;
        cbx_interval one = cbx_interval_times(w, b->low[from], b->high[from]);
        if (g->choice_of[e] < 0)
            stay.low = fmax(stay.low, one.low);
        stay.high = fmax(stay.high, one.high);
        all.low = fmin(all.low, one.low);
        all.high = fmax(all.high, one.high);
    }
    return isfinite(stay.low) ? stay : all;
}

/* Row v's maxima times the layer's weights: its messages to itself. */
static void multiply_maxima(boxes *b, int32_t l, int32_t v)
{
    const cbx_net_layer *net = &b->q->net->layers[l];
    int64_t              to = (int64_t)v * net->n_out;
    for (int32_t k = 0; k < net->n_in; k++) {
        cbx_interval m = maximum_of(b, l, v, k);
        b->max_low[k] = m.low;
        b->max_high[k] = m.high;
    }
    multiply(net->neighbour, net->n_in, net->n_out, b->max_low, b->max_high, b->message_low + to,
             b->message_high + to, b->message_size + to);
}

static void add_up(boxes *b, int32_t l, int32_t v, double inputs)
{
    const cbx_net_layer     *net = &b->q->net->layers[l];
    const cbx_partial_graph *g = b->q->graph;
    const cbx_view          *view = g->view;
    int64_t                  n = net->n_out, degree = view->offset[v + 1] - view->offset[v];
    bool                     gcn = net->norm == CBX_NORM_GCN;
    const cbx_node_scale    *to = &b->scales[v];
    for (int64_t j = 0; j < n; j++) {
        int64_t at = v * n + j;
        double  low = net->bias[j] + b->own_low[at], high = net->bias[j] + b->own_high[at];
        double  size = net->bias_size[j] + b->own_size[at];
        for (int64_t e = view->offset[v]; e < view->offset[v + 1] && !net->maximum; e++) {
            int64_t from = view->source[e] * n + j;
            double  w = view->weight ? (double)view->weight[e] : 1;
            if (gcn && view->source[e] == v)
                continue;
            const cbx_factor *s = &b->scales[view->source[e]].source;
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
        double rounding = 1.01 * (2 * inputs + (double)degree + 16) * UNIT * size;
        b->next_low[at] = fmax(low - rounding, 0);
        b->next_high[at] = fmax(high + rounding, 0);
    }
}

/* What the head sees of layer l, whose outputs are the next inputs now. */
static void see(const boxes *b, int32_t l, int32_t ahead, int32_t behind, double *weights,
                double *lead, double *size)
{
    const cbx_model *m = b->q->net->model;
    int32_t          width = b->q->net->layers[l].n_out;
    double          *sizes = weights + width;
    if (!cbx_net_head(b->q->net, l, ahead, behind, weights, sizes))
        return;
    bool    graphs = m->task == CBX_GRAPH;
    int32_t rows = graphs ? b->q->graph->view->n : 1;
    double  share = graphs && m->pool == CBX_POOL_MEAN ? 1.0 / rows : 1;
    for (int64_t at = 0; at < (int64_t)rows * width; at++) {
        double w = share * weights[at % width];
        *lead += w > 0 ? w * b->next_high[at] : w * b->next_low[at];
        *size += share * sizes[at % width] * b->next_high[at];
    }
}

/* What the layer adds to the score of any class at most, without signs, and the biases. */
static double largest_score(const boxes *b, int32_t l, double *weights)
{
    int32_t C = b->q->net->model->num_classes;
    double  largest = 0;
    for (int32_t c = 0; c < C; c++) {
        double lead = 0, twice;
        (void)cbx_net_head_bias(b->q->net, c, c, &twice);
        see(b, l, c, c, weights, &lead, &twice);
        largest = fmax(largest, twice / 2);
    }
    return largest;
}

static int make_room(boxes *b, cbx_arena *arena)
{
    const cbx_net *net = b->q->net;
    int64_t        size = (int64_t)b->q->graph->view->n * net->widest;
    double       **all[] = {&b->low,      &b->high,      &b->message_low,  &b->message_high,
                            &b->own_low,  &b->own_high,  &b->message_size, &b->own_size,
                            &b->next_low, &b->next_high, &b->max_low,      &b->max_high};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(*all[k] = CBX_NEW(arena, double, size)))
            return -1;
    b->scales = CBX_NEW(arena, cbx_node_scale, b->q->graph->view->n);
    return b->scales ? 0 : -1;
}

static void take_features(boxes *b, int32_t rows)
{
    const float *mean = b->q->net->model->mean;
    int32_t      f = b->q->net->layers[0].n_in;
    for (int64_t at = 0; at < (int64_t)rows * f; at++) {
        /* it is taken off their product, which is rounded as the two are large */
        double less = mean ? (double)mean[at % f] : 0;
        double wrong =
            mean ? 4 * UNIT * (fabs(less) + larger_size(b->q->low[at], b->q->high[at])) : 0;
        b->low[at] = b->q->low[at] - less - wrong * (f + 1);
        b->high[at] = b->q->high[at] - less + wrong * (f + 1);
    }
}

/* A layer; true: there is time for it. */
static bool pass_layer(boxes *b, int32_t l, int32_t rows_in, int32_t rows)
{
    const cbx_net_layer *net = &b->q->net->layers[l];
    int64_t              in = net->n_in, out = net->n_out;
    for (int32_t i = 0; i < rows_in; i++) {
        if (cbx_out_of_time(4.0 * (double)(in * out)))
            return false;
        b->scales[i] = cbx_scale_of(net->norm, b->q->graph, i);
        if (!net->maximum)
            multiply(net->neighbour, net->n_in, net->n_out, b->low + i * in, b->high + i * in,
                     b->message_low + i * out, b->message_high + i * out,
                     b->message_size + i * out);
        multiply(net->own, net->n_in, net->n_out, b->low + i * in, b->high + i * in,
                 b->own_low + i * out, b->own_high + i * out, b->own_size + i * out);
    }
    for (int32_t v = 0; v < rows; v++) {
        if (net->maximum)
            multiply_maxima(b, l, v);
        add_up(b, l, v, net->n_in);
    }
    return true;
}

cbx_status cbx_box_lead(const cbx_box_question *q, int32_t ahead, int32_t behind, cbx_arena *arena,
                        double *lead, cbx_error *err)
{
    const cbx_net  *net = q->net;
    const cbx_view *view = q->graph->view;
    boxes           b = {.q = q};
    double          size, largest = 0, *weights = CBX_NEW(arena, double, 2 * (int64_t)net->widest);
    *lead = INFINITY;
    for (int32_t l = 0; l < net->num_layers; l++)
        if (!cbx_scale_is_known(net->layers[l].norm, q->graph))
            return CBX_OK;
    if (!weights || make_room(&b, arena))
        return cbx_fail_memory(err);
    double most = cbx_net_head_bias(net, ahead, behind, &size);
    take_features(&b, cbx_view_rows(view, net->num_layers));
    for (int32_t l = 0; l < net->num_layers; l++) {
        int32_t hops = net->num_layers - 1 - l;
        if (!pass_layer(&b, l, cbx_view_rows(view, hops + 1), cbx_view_rows(view, hops)))
            return cbx_fail_late(err);
        see(&b, l, ahead, behind, weights, &most, &size);
        largest += largest_score(&b, l, weights);
        double *low = b.low, *high = b.high;
        b.low = b.next_low;
        b.high = b.next_high;
        b.next_low = low;
        b.next_high = high;
    }
    *lead = most + 1.01 * (net->model->head_in + view->n + 16) * UNIT * size +
            cbx_rounding_of_softmax(largest, net->model->num_classes);
    return CBX_OK;
}
