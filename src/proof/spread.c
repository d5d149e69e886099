/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c: see spread.h. */
#include "spread_parts.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "kernel.h"

/* ---- memory */

static int make_maxima(cbx_spread *s, cbx_spread_layer *y)
{
    int64_t size = (int64_t)y->rows * y->in;
    y->maxima = (cbx_maxima){.now = CBX_NEW(s->arena, double, size),
                             .leader = CBX_NEW(s->arena, int64_t, size),
                             .passes_up = CBX_NEW(s->arena, uint8_t, size),
                             .passes_down = CBX_NEW(s->arena, uint8_t, size),
                             .begin = CBX_NEW0(s->arena, int64_t, (int64_t)y->rows + 1)};
    const cbx_maxima *m = &y->maxima;
    return m->now && m->leader && m->passes_up && m->passes_down && m->begin ? 0 : -1;
}

/* Are the first layer's messages features, which nothing changes? */
static bool messages_are_given(const cbx_spread *s)
{
    return s->net->layers[0].maximum && !cbx_partial_graph_has_features(s->graph);
}

static int make_layer(cbx_spread *s, int32_t l, const cbx_view *view, int32_t hops)
{
    const cbx_net_layer *from = &s->net->layers[l];
    cbx_spread_layer    *y = &s->layers[l];
    y->rows = cbx_view_rows(view, hops);
    y->rows_in = cbx_view_rows(view, hops + 1);
    y->in = from->n_in;
    y->width = from->n_out;
    y->sent = from->maximum ? y->in : y->width;
    bool   given = l == 0 && messages_are_given(s);
    size_t size = (size_t)y->rows * (size_t)y->width, inputs = (size_t)y->rows_in * (size_t)y->sent;
    double *of_rows = CBX_NEW(s->arena, double, 7 * size);
    double *of_inputs = CBX_NEW(s->arena, double, given ? inputs : 5 * inputs);
    y->list.begin = CBX_NEW0(s->arena, int64_t, (size_t)y->rows + 1);
    if (!of_rows || !of_inputs || !y->list.begin)
        return -1;
    double **rows[] = {&y->now, &y->low, &y->high, &y->left, &y->right, &y->under, &y->own};
    double **of_input[] = {&y->message, &y->message_low, &y->message_high, &y->rest_low,
                           &y->rest_high};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        *rows[k] = of_rows + k * size;
    for (size_t k = 0; k < sizeof of_input / sizeof *of_input; k++)
        *of_input[k] = of_inputs + (given ? 0 : k * inputs);
    return from->maximum ? make_maxima(s, y) : 0;
}

static int make_scales(cbx_spread *s)
{
    for (int32_t l = 0; l < s->net->num_layers; l++) {
        cbx_node_scale **of = &s->scales[s->net->layers[l].norm];
        if (!*of && !(*of = CBX_NEW(s->arena, cbx_node_scale, s->graph->view->n)))
            return -1;
    }
    return 0;
}

/* Does the head see both of all twins of the last layer, each as much as the other with the sign
 * turned? */
static bool undoes_last_relu(const cbx_net *net)
{
    const cbx_net_layer *last = &net->layers[net->num_layers - 1];
    const cbx_model     *m = net->model;
    int32_t              C = m->num_classes, paired = 0;
    if (net->max_pool)
        return false; /* of a unit and its negative, the largest are of different nodes */
    const float *W = m->theta + m->output_offset + (int64_t)(m->head_in - last->n_out) * C;
    for (int32_t j = 0; j < last->n_out; j++)
        for (int32_t c = 0; c < C && last->twin[j] >= 0; c++) {
            paired += c == 0 ? 2 : 0;
            if (W[(int64_t)j * C + c] != -W[(int64_t)last->twin[j] * C + c])
                return false;
        }
    return paired == last->n_out;
}

/* What the first layer multiplies does not change with edges. */
static void multiply_input(cbx_spread *s, const float *x, int32_t row)
{
    const cbx_net_layer *from = &s->net->layers[0];
    cbx_spread_layer    *y = &s->layers[0];
    const float         *mean = s->net->model->mean;
    double              *message = y->message + (int64_t)row * y->sent;
    double              *own = row < y->rows ? y->own + (int64_t)row * y->width : NULL;
    double              *total = s->input_size + row;
    int32_t              inputs = 0;
    memset(message, 0, (size_t)y->sent * sizeof *message);
    if (own)
        memset(own, 0, (size_t)y->width * sizeof *own);
    for (int32_t k = 0; k < from->n_in; k++) {
        double        value = (double)x[k] - (mean ? (double)mean[k] : 0), most = 0;
        const double *neighbour = from->neighbour + (int64_t)k * y->width;
        const double *itself = from->own + (int64_t)k * y->width;
        double        size = fabs((double)x[k]) + (mean ? fabs((double)mean[k]) : 0);
        if (from->maximum)
            message[k] = value;
        for (int32_t j = 0; j < y->width && size > 0; j++) {
            if (!from->maximum)
                message[j] += value * neighbour[j];
            most = fmax(most, fmax(fabs(neighbour[j]), fabs(itself[j])));
            if (own)
                own[j] += value * itself[j];
        }
        *total += size * most;
        inputs += size > 0;
    }
    s->most_inputs = inputs > s->most_inputs ? inputs : s->most_inputs;
}

static int multiply_inputs(cbx_spread *s, const cbx_matrix *X)
{
    cbx_spread_layer *y = &s->layers[0];
    int32_t           rows = y->rows_in, f = s->net->layers[0].n_in;
    size_t            size = (size_t)rows * (size_t)y->sent;
    float            *x = CBX_NEW(s->arena, float, (size_t)rows *(size_t)f);
    if (!x)
        return -1;
    cbx_matrix_expand(X, rows, x);
    for (int32_t i = 0; i < rows; i++) {
        if (cbx_out_of_time((double)f * s->layers[0].width))
            return -1;
        multiply_input(s, x + (int64_t)i * f, i);
    }
    if (messages_are_given(s))
        return 0;
    size_t own = (size_t)y->rows * (size_t)y->width;
    if (!(s->base = CBX_NEW(s->arena, double, size)) ||
        !(s->base_own = CBX_NEW(s->arena, double, own)))
        return -1;
    memcpy(s->base, y->message, size * sizeof *s->base);
    memcpy(s->base_own, y->own, own * sizeof *s->base_own);
    return 0;
}

/* The first layer's products, with the features as they are now. What may become of them counts for
 * choices of edges only: one of the budget is an edge then. */
static void renew_inputs(cbx_spread *s)
{
    cbx_spread_layer *y = &s->layers[0];
    size_t            size = (size_t)y->rows_in * (size_t)y->sent * sizeof(double);
    double            features = (double)(s->graph->budget > 0 ? s->graph->budget - 1 : 0);
    if (messages_are_given(s))
        return;
    memcpy(y->message, s->base, size);
    memcpy(y->own, s->base_own, (size_t)y->rows * (size_t)y->width * sizeof(double));
    s->features_made = cbx_row_moves_add_made(&s->moves, y->message, y->own, y->rows);
    memcpy(y->message_low, y->message, size);
    memcpy(y->message_high, y->message, size);
    for (int32_t i = 0; i < y->rows_in; i++)
        for (int64_t e = s->moves.list.begin[i]; e < s->moves.list.begin[i + 1]; e++)
            for (int32_t j = 0; j < y->sent; j++) {
                y->message_low[(int64_t)i * y->sent + j] +=
                    features * s->moves.list.down[e * y->sent + j];
                y->message_high[(int64_t)i * y->sent + j] +=
                    features * s->moves.list.up[e * y->sent + j];
            }
    memcpy(y->rest_low, y->message_low, size);
    memcpy(y->rest_high, y->message_high, size);
}

cbx_status cbx_spread_init(cbx_spread *s, const cbx_net *net, const cbx_partial_graph *graph,
                           const cbx_matrix *X, cbx_arena *arena, cbx_error *err)
{
    *s = (cbx_spread){.net = net,
                      .graph = graph,
                      .arena = arena,
                      .layers = CBX_NEW0(arena, cbx_spread_layer, net->num_layers),
                      .mark = CBX_NEW(arena, int32_t, (int64_t)graph->count + graph->view->n),
                      .best = CBX_NEW(arena, double, graph->count + 64),
                      .hup = CBX_NEW(arena, double, net->widest),
                      .hdown = CBX_NEW(arena, double, net->widest),
                      .gain = CBX_NEW(arena, double, 8 * net->widest),
                      .zeros = CBX_NEW0(arena, double, net->widest),
                      .few = CBX_NEW(arena, double, (CBX_FEW + 5) * (int64_t)net->widest),
                      .last_is_linear = undoes_last_relu(net)};
    if (!s->layers || !s->mark || !s->best || !s->hup || !s->hdown || !s->gain || !s->zeros ||
        !s->few || make_scales(s))
        return cbx_fail_memory(err);
    for (int k = 0; k < 2; k++) {
        double *room = s->few + (CBX_FEW + 1 + 2 * k) * (int64_t)net->widest;
        s->tops[k] = (cbx_tops){room, room + net->widest};
    }
    for (int64_t c = 0; c < (int64_t)graph->count + graph->view->n; c++)
        s->mark[c] = -1;
    for (int32_t l = 0; l < net->num_layers; l++)
        if (make_layer(s, l, graph->view, net->num_layers - 1 - l))
            return cbx_fail_memory(err);
    s->input_size = CBX_NEW0(arena, double, s->layers[0].rows_in);
    if (!s->input_size || multiply_inputs(s, X))
        return cbx_fail_late(err);
    cbx_spread_layer *first = &s->layers[0];
    cbx_status status = cbx_row_moves_init(&s->moves, net, graph, first->rows_in, arena, err);
    first->message_up = s->moves.list.up;
    first->message_down = s->moves.list.down;
    first->own_up = s->moves.own_up;
    first->own_down = s->moves.own_down;
    first->message_length = s->moves.list.length;
    first->own_length = s->moves.own_length;
    return status;
}

/* ---- the layers */

static void compute_scales(cbx_spread *s)
{
    for (int k = 0; k < CBX_NORM_COUNT; k++)
        for (int32_t v = 0; s->scales[k] && v < s->layers[0].rows_in; v++)
            s->scales[k][v] = cbx_scale_of((cbx_norm_kind)k, s->graph, v);
}

int cbx_spread_compute(cbx_spread *s)
{
    const cbx_net *net = s->net;
    compute_scales(s);
    renew_inputs(s);
    for (int32_t l = 0; l < net->num_layers; l++) {
        if (l > 0 && cbx_spread_multiply(s, l))
            return -1;
        for (int32_t v = 0; v < s->layers[l].rows; v++)
            if (cbx_spread_row(s, l, v))
                return -1;
    }
    return 0;
}
