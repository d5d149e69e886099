/* SPDX-License-Identifier: Apache-2.0 */
/* rounding.c: see rounding.h. */
#include "rounding.h"

#include <float.h>
#include <math.h>

#include "error.h"
#include "order.h"

static const double UNIT = CBX_ROUNDING_UNIT;

cbx_status cbx_rounding_init(cbx_rounding *r, const cbx_spread *spread, cbx_arena *arena,
                             cbx_error *err)
{
    const cbx_net *net = spread->net;
    int64_t        scratch = (int64_t)spread->layers[0].rows_in * net->widest;
    *r = (cbx_rounding){.spread = spread,
                        .error = CBX_NEW(arena, double *, net->num_layers),
                        .size = CBX_NEW(arena, double *, net->num_layers),
                        .rows = CBX_NEW(arena, int32_t, net->num_layers),
                        .message_error = CBX_NEW(arena, double, scratch),
                        .message_size = CBX_NEW(arena, double, scratch),
                        .own_error = CBX_NEW(arena, double, scratch),
                        .own_size = CBX_NEW(arena, double, scratch),
                        .weights = CBX_NEW(arena, double, net->widest),
                        .sizes = CBX_NEW(arena, double, net->widest)};
    if (!r->error || !r->size || !r->rows || !r->message_error || !r->message_size ||
        !r->own_error || !r->own_size || !r->weights || !r->sizes)
        return cbx_fail_memory(err);
    for (int32_t l = 0; l < net->num_layers; l++) {
        r->rows[l] = net->model->task == CBX_GRAPH ? spread->layers[l].rows : 1;
        int64_t size = (int64_t)spread->layers[l].rows * spread->layers[l].width;
        r->error[l] = CBX_NEW(arena, double, size);
        r->size[l] = CBX_NEW(arena, double, size);
        if (!r->error[l] || !r->size[l])
            return cbx_fail_memory(err);
    }
    return CBX_OK;
}

/* Choices of features that are made, or may be. */
static double num_features(const cbx_spread *s)
{
    bool any = s->moves.first < s->graph->count;
    return (double)s->features_made + (any ? (double)s->graph->budget : 0);
}

/* What the first layer's products of a row are sums of, without signs. */
static double input_size(const cbx_spread *s, int32_t row)
{
    return s->input_size[row] + num_features(s) * s->moves.size[row];
}

/* Sizes and errors of a row's products with the layer's weights, as if they were exact. */
static void multiply(const cbx_rounding *r, int32_t l, int32_t i)
{
    const cbx_net_layer *net = &r->spread->net->layers[l];
    int64_t              at = (int64_t)i * net->n_out, from = (int64_t)i * net->n_in;
    for (int32_t j = 0; j < net->n_out; j++) {
        r->message_size[at + j] = l == 0 ? input_size(r->spread, i) : 0;
        r->own_size[at + j] = net->has_own ? r->message_size[at + j] : 0;
        r->message_error[at + j] = r->own_error[at + j] = 0;
    }
    for (int32_t k = 0; l > 0 && k < net->n_in; k++) {
        double        size = r->size[l - 1][from + k], error = r->error[l - 1][from + k];
        const double *neighbour = net->neighbour + (int64_t)k * net->n_out;
        const double *own = net->own + (int64_t)k * net->n_out;
        if (size == 0 && error == 0)
            continue;
        for (int32_t j = 0; j < net->n_out; j++) {
            double to_message = fabs(neighbour[j]), to_own = fabs(own[j]);
            r->message_size[at + j] += to_message * size;
            r->message_error[at + j] += to_message * error;
            r->own_size[at + j] += to_own * size;
            r->own_error[at + j] += to_own * error;
        }
    }
}

/* Of a slot whose edge is not there. */
static bool may_come(const cbx_partial_graph *g, int64_t slot)
{
    return g->choice_of[slot] >= 0 && cbx_choice_is_open(g, g->choice_of[slot]);
}

/* A feature that a maximum is of, with all that choices may make of it; each of them is a sum. */
static double feature_size(const cbx_spread *s, int32_t row, int32_t k)
{
    const cbx_reach_list *list = &s->moves.list;
    int64_t               in = s->net->layers[0].n_in, at = (int64_t)row * in + k;
    if (!s->base)
        return fabs(s->layers[0].message[at]);
    double size = fabs(s->base[at]);
    for (int64_t e = list->begin[row]; e < list->begin[row + 1]; e++)
        size += num_features(s) * fmax(list->up[e * in + k], -list->down[e * in + k]);
    return size;
}

/* The maxima of row v: each is as large as the largest message that can be there, and as wrong as
 * the most wrong of them. Leaves sizes and errors in r->sizes and r->weights, by input. */
static void find_maxima(const cbx_rounding *r, int32_t l, int32_t v)
{
    const cbx_spread        *s = r->spread;
    const cbx_partial_graph *g = s->graph;
    int32_t                  in = s->net->layers[l].n_in;
    for (int32_t k = 0; k < in; k++)
        r->sizes[k] = r->weights[k] = 0;
    for (int64_t e = g->view->offset[v]; e < g->view->offset[v + 1]; e++) {
        int64_t from = (int64_t)g->view->source[e] * in;
        double  w = g->view->weight ? fabs((double)g->view->weight[e]) : 1;
        if (!g->present[e] && !may_come(g, e))
            continue;
        for (int32_t k = 0; k < in; k++) {
            double size = l > 0 ? r->size[l - 1][from + k] : feature_size(s, g->view->source[e], k);
            double error = l > 0 ? r->error[l - 1][from + k] : 2 * num_features(s) * UNIT * size;
            error += g->view->weight ? UNIT * size : 0; /* it is multiplied by that */
            r->sizes[k] = fmax(r->sizes[k], w * size);
            r->weights[k] = fmax(r->weights[k], w * error);
        }
    }
}

/* Sizes and errors of their products with the layer's weights, as the row's messages. Returns how
 * many terms there are. */
static double multiply_maxima(const cbx_rounding *r, int32_t l, int32_t v)
{
    const cbx_net_layer *net = &r->spread->net->layers[l];
    int64_t              to = (int64_t)v * net->n_out;
    int32_t              terms = 0;
    find_maxima(r, l, v);
    for (int32_t j = 0; j < net->n_out; j++)
        r->message_size[to + j] = r->message_error[to + j] = 0;
    for (int32_t k = 0; k < net->n_in; k++) {
        if (r->sizes[k] == 0 && r->weights[k] == 0)
            continue;
        terms++;
        for (int32_t j = 0; j < net->n_out; j++) {
            double w = fabs(net->neighbour[(int64_t)k * net->n_out + j]);
            r->message_size[to + j] += w * r->sizes[k];
            r->message_error[to + j] += w * r->weights[k];
        }
    }
    return terms;
}

/* Unit j of row v: sizes or errors of what it is a sum of. */
static double add_up(const cbx_spread *s, int32_t l, int32_t v, int32_t j, const double *messages)
{
    const cbx_partial_graph *g = s->graph;
    const cbx_node_scale    *scales = s->scales[s->net->layers[l].norm];
    int64_t     n = s->net->layers[l].n_out, most = g->budget < g->count ? g->budget : g->count;
    cbx_largest coming = {.best = s->best, .count = most};
    if (s->net->layers[l].maximum)
        return messages[v * n + j];
    double sum = scales[v].loop.most * messages[v * n + j];
    for (int64_t e = g->view->offset[v]; e < g->view->offset[v + 1]; e++) {
        int32_t u = g->view->source[e];
        double  w = g->view->weight ? fabs((double)g->view->weight[e]) : 1;
        double  of = w * scales[u].source.most * messages[u * n + j];
        if (u == v && s->net->layers[l].norm == CBX_NORM_GCN)
            continue; /* the loop that every node has is counted already */
        if (g->present[e])
            sum += of * scales[v].target.most;
        else if (may_come(g, e))
            cbx_largest_take(&coming, of * scales[v].coming.most);
    }
    return sum + cbx_largest_sum(&coming);
}

/* Terms of the longest sum behind a unit of row v, and what normalising it takes. */
static double count_terms(const cbx_spread *s, int32_t l, int32_t v)
{
    const cbx_partial_graph *g = s->graph;
    double  inputs = l == 0 ? s->most_inputs + 2 * num_features(s) : s->net->layers[l].n_in;
    int64_t edges = 0, coming = 0;
    for (int64_t e = g->view->offset[v]; e < g->view->offset[v + 1]; e++) {
        edges += g->present[e];
        coming += !g->present[e] && may_come(g, e);
    }
    coming = coming < g->budget ? coming : g->budget;
    return 2 * inputs + (double)(edges + coming) + 16;
}

static void round_row(cbx_rounding *r, int32_t l, int32_t v)
{
    const cbx_spread       *s = r->spread;
    const cbx_spread_layer *y = &s->layers[l];
    double                  terms = count_terms(s, l, v);
    if (s->net->layers[l].maximum)
        terms += multiply_maxima(r, l, v);
    bool boxed = !(s->last_is_linear && l == s->net->num_layers - 1);
    for (int32_t j = 0; j < y->width; j++) {
        int64_t at = (int64_t)v * y->width + j;
        double  size = s->net->layers[l].bias_size[j] + r->own_size[at];
        size += add_up(s, l, v, j, r->message_size);
        double error = r->own_error[at] + terms * UNIT * size;
        r->lost = r->lost || cbx_rounding_is_lost(size);
        if (l > 0 || s->net->layers[l].maximum)
            error += add_up(s, l, v, j, r->message_error);
        r->error[l][at] = boxed && y->high[at] + error <= 0 ? 0 : error;
        r->size[l][at] =
            boxed && cbx_spread_relu(y->high[at]) < size ? cbx_spread_relu(y->high[at]) : size;
    }
}

void cbx_rounding_compute(cbx_rounding *r)
{
    const cbx_spread *s = r->spread;
    r->lost = false;
    for (int32_t l = 0; l < s->net->num_layers; l++) {
        for (int32_t i = 0; i < s->layers[l].rows_in; i++)
            multiply(r, l, i);
        for (int32_t v = 0; v < s->layers[l].rows; v++)
            round_row(r, l, v);
    }
}

/* What the head sees of unit j of layer l: sizes or errors of its rows. */
static double pooled(const cbx_rounded *of, int32_t l, int32_t j, const double *rows)
{
    const cbx_model *m = of->net->model;
    int32_t          width = of->net->layers[l].n_out, count = of->rows[l];
    double           sum = 0, most = 0;
    for (int32_t v = 0; v < count; v++) {
        double value = rows[(int64_t)v * width + j];
        sum += value;
        most = fmax(most, value);
    }
    if (of->net->max_pool)
        return most;
    return m->task == CBX_GRAPH && m->pool == CBX_POOL_MEAN ? sum / count : sum;
}

/* The size of a class's score at most, without signs. */
static double score_size(const cbx_rounded *of, int32_t class)
{
    double twice;
    (void)cbx_net_head_bias(of->net, class, class, &twice);
    for (int32_t l = 0; l < of->net->num_layers; l++) {
        int32_t width = of->net->layers[l].n_out;
        if (!cbx_net_head(of->net, l, class, class, of->weights, of->sizes))
            continue;
        for (int32_t j = 0; j < width; j++)
            twice += of->sizes[j] * pooled(of, l, j, of->size[l]);
    }
    return twice / 2;
}

double cbx_rounding_of_softmax(double score, int32_t num_classes)
{
    return 8 * UNIT * (2 * score + cbx_log(num_classes) + 1);
}

double cbx_rounding_of_head(const cbx_rounded *of, int32_t a, int32_t b)
{
    const cbx_model *m = of->net->model;
    double           size, error = 0, largest = 0;
    (void)cbx_net_head_bias(of->net, a, b, &size);
    double terms = m->head_in + 16;
    for (int32_t l = 0; l < of->net->num_layers; l++) {
        int32_t width = of->net->layers[l].n_out, rows = of->rows[l];
        if (!cbx_net_head(of->net, l, a, b, of->weights, of->sizes))
            continue;
        terms = fmax(terms, m->head_in + 16.0 + rows);
        for (int32_t j = 0; j < width; j++) {
            size += of->sizes[j] * pooled(of, l, j, of->size[l]);
            error += of->sizes[j] * pooled(of, l, j, of->error[l]);
        }
    }
    for (int32_t c = 0; c < m->num_classes; c++)
        largest = fmax(largest, score_size(of, c));
    if (of->lost || cbx_rounding_is_lost(largest))
        return INFINITY;
    error += cbx_rounding_of_softmax(largest, m->num_classes);
    /* and what is of second order, which 1 % is more than enough for */
    return 1.01 * (error + terms * UNIT * size);
}

double cbx_rounding_of(const cbx_rounding *r, int32_t a, int32_t b)
{
    cbx_rounded of = {r->spread->net, r->error, r->size, r->rows, r->weights, r->sizes, r->lost};
    return cbx_rounding_of_head(&of, a, b);
}
