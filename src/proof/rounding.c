/* SPDX-License-Identifier: Apache-2.0 */
/* rounding.c: see rounding.h. */
#include "rounding.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "error.h"

/* The sums behind the numbers of layer l, one after the other. */
static double longest_sum(const cbx_spread *s, int32_t l)
{
    const int64_t *offset = s->graph->view->offset;
    double         most = 0, inputs = l == 0 ? s->most_inputs : s->net->layers[l].n_in;
    for (int32_t v = 0; v < s->layers[l].rows; v++)
        most = fmax(most, (double)(offset[v + 1] - offset[v]));
    return 2 * inputs + most + 16; /* and the normalisation */
}

/* Sizes of a row's products with the layer's weights. */
static void multiply(const cbx_spread *s, int32_t l, const double *in, int32_t row,
                     double *neighbour, double *own)
{
    const cbx_net_layer *net = &s->net->layers[l];
    for (int32_t j = 0; j < net->n_out; j++)
        neighbour[j] = own[j] = l == 0 ? s->input_size[row] : 0;
    for (int32_t k = 0; l > 0 && k < net->n_in; k++)
        for (int32_t j = 0; j < net->n_out; j++) {
            neighbour[j] += fabs(net->neighbour[(int64_t)k * net->n_out + j]) * in[k];
            own[j] += fabs(net->own[(int64_t)k * net->n_out + j]) * in[k];
        }
}

/* Row v of layer l, from the products of all rows. */
static void add_up(const cbx_spread *s, int32_t l, int32_t v, const double *neighbour,
                   const double *own, double *out)
{
    const cbx_partial_graph *g = s->graph;
    const cbx_net_layer     *net = &s->net->layers[l];
    const cbx_node_scale    *scales = s->scales[net->norm];
    int64_t                  n = net->n_out, most = g->budget < g->count ? g->budget : g->count;
    for (int32_t j = 0; j < n; j++) {
        cbx_largest coming = {.best = s->best, .count = most};
        double      sum = net->bias_size[j] + own[v * n + j];
        sum += scales[v].loop.most * neighbour[v * n + j];
        for (int64_t e = g->view->offset[v]; e < g->view->offset[v + 1]; e++) {
            int32_t u = g->view->source[e];
            double  w = g->view->weight ? fabs((double)g->view->weight[e]) : 1;
            double  of = w * scales[u].source.most * neighbour[u * n + j];
            if (g->present[e])
                sum += of * scales[v].target.most;
            else
                cbx_largest_take(&coming, of * scales[v].coming.most);
        }
        out[j] = sum + cbx_largest_sum(&coming);
    }
}

cbx_status cbx_rounding_init(cbx_rounding *r, const cbx_spread *s, cbx_arena *arena, cbx_error *err)
{
    const cbx_net *net = s->net;
    int64_t        rows = s->layers[0].rows_in, wide = net->widest;
    double        *in = CBX_NEW(arena, double, rows *wide);
    double        *neighbour = CBX_NEW(arena, double, rows *wide);
    double        *own = CBX_NEW(arena, double, rows *wide);
    *r = (cbx_rounding){.net = net,
                        .pooled = CBX_NEW(arena, double *, net->num_layers),
                        .weights = CBX_NEW(arena, double, wide),
                        .sizes = CBX_NEW(arena, double, wide)};
    if (!in || !neighbour || !own || !r->pooled || !r->weights || !r->sizes)
        return cbx_fail_memory(err);
    double terms = (double)rows + net->model->head_in + 16;
    bool   mean = net->model->task == CBX_GRAPH && net->model->pool == CBX_POOL_MEAN;
    for (int32_t l = 0; l < net->num_layers; l++) {
        const cbx_spread_layer *y = &s->layers[l];
        if (!(r->pooled[l] = CBX_NEW0(arena, double, y->width)))
            return cbx_fail_memory(err);
        terms += longest_sum(s, l);
        for (int32_t i = 0; i < y->rows_in; i++)
            multiply(s, l, in + i * (int64_t)y->in * (l > 0), i, neighbour + i * (int64_t)y->width,
                     own + i * (int64_t)y->width);
        int32_t label_rows = net->model->task == CBX_GRAPH ? y->rows : 1;
        for (int32_t v = 0; v < y->rows; v++) {
            add_up(s, l, v, neighbour, own, in + v * (int64_t)y->width);
            for (int32_t j = 0; j < y->width && v < label_rows; j++)
                r->pooled[l][j] += in[v * (int64_t)y->width + j] / (mean ? y->rows : 1);
        }
    }
    r->share = 1.5 * terms * FLT_EPSILON / 2;
    return CBX_OK;
}

double cbx_rounding_of(const cbx_rounding *r, int32_t a, int32_t b)
{
    double size;
    (void)cbx_net_head_bias(r->net, a, b, &size);
    for (int32_t l = 0; l < r->net->num_layers; l++)
        if (cbx_net_head(r->net, l, a, b, r->weights, r->sizes))
            for (int32_t j = 0; j < r->net->layers[l].n_out; j++)
                size += r->sizes[j] * r->pooled[l][j];
    return r->share * size;
}
