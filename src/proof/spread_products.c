/* SPDX-License-Identifier: Apache-2.0 */
/* spread_products.c: see spread_parts.h. */
#include "spread_parts.h"

#include <math.h>

#include "deadline.h"
#include "kernel.h"

int cbx_spread_grow(cbx_arena *arena, int64_t had, int64_t room, int64_t width, double **a,
                    double **b)
{
    double *x = CBX_NEW(arena, double, room *width), *y = CBX_NEW(arena, double, room *width);
    if (!x || !y)
        return -1;
    if (had > 0) {
        memcpy(x, *a, (size_t)(had * width) * sizeof *x);
        memcpy(y, *b, (size_t)(had * width) * sizeof *y);
    }
    *a = x;
    *b = y;
    return 0;
}

CBX_HOT static void times(const double *W, int32_t rows, int32_t cols, const double *low,
                          const double *high, double *restrict least, double *restrict most)
{
    for (int32_t k = 0; k < rows; k++) {
        double        lo = low[k], hi = high[k];
        const double *w = W + (int64_t)k * cols;
        if (lo == 0 && hi == 0)
            continue;
        for (int32_t j = 0; j < cols; j++) {
            double a = w[j] * lo, b = w[j] * hi;
            least[j] += a < b ? a : b;
            most[j] += a < b ? b : a;
        }
    }
}

void cbx_spread_times(const double *W, int32_t rows, int32_t cols, const double *low,
                      const double *high, double *least, double *most)
{
    times(W, rows, cols, low, high, least, most);
}

/* What an entry's row has behind its ReLU. */
static void behind_relu(const cbx_spread *s, const cbx_spread_layer *x, int32_t row, int64_t entry)
{
    const double *up = x->list.up + entry * x->width, *down = x->list.down + entry * x->width;
    int64_t       at = (int64_t)row * x->width;
    for (int32_t k = 0; k < x->width; k++) {
        s->hup[k] = up[k] * (up[k] > 0 ? x->right[at + k] : x->left[at + k]);
        s->hdown[k] = down[k] * x->under[at + k];
    }
}

static void multiply_now(cbx_spread *s, int32_t l, int32_t i)
{
    const cbx_net_layer    *net = &s->net->layers[l];
    const cbx_spread_layer *x = &s->layers[l - 1];
    cbx_spread_layer       *y = &s->layers[l];
    int64_t                 at = (int64_t)i * y->width;
    for (int32_t k = 0; k < x->width; k++)
        s->hup[k] = cbx_spread_relu(x->now[(int64_t)i * x->width + k]);
    if (net->maximum) {
        memcpy(y->message + (int64_t)i * y->sent, s->hup, (size_t)y->sent * sizeof *s->hup);
    } else {
        cbx_clear(y->message + at, y->width);
        times(net->neighbour, x->width, y->width, s->hup, s->hup, s->gain, y->message + at);
    }
    if (i >= y->rows)
        return;
    cbx_clear(y->own + at, y->width);
    if (!net->has_own)
        return;
    times(net->own, x->width, y->width, s->hup, s->hup, s->gain, y->own + at);
}

double cbx_spread_factor(const cbx_spread *s, int32_t l, int32_t u, int32_t v)
{
    const cbx_partial_graph *g = s->graph;
    cbx_norm_kind            norm = s->net->layers[l].norm;
    const cbx_node_scale    *scales = s->scales[norm];
    double                   sum = 0;
    if (u == v && norm == CBX_NORM_GCN)
        return scales[v].loop.now;
    for (int64_t e = g->view->offset[v]; e < g->view->offset[v + 1]; e++)
        if (g->view->source[e] == u && g->present[e])
            sum += (g->view->weight ? (double)g->view->weight[e] : 1) * scales[u].source.now *
                   scales[v].target.now;
    return sum;
}

/* What features of a row do to the layer's products is known more closely: each by itself. */
static void narrow_entry(cbx_spread *s, int32_t l, int64_t entry)
{
    const cbx_reach_list *list = &s->layers[l - 1].list;
    cbx_spread_layer     *y = &s->layers[l];
    if (!s->moves.words)
        return;
    int32_t       row = list->choice[entry] - s->graph->count;
    int64_t       from = s->moves.list.begin[row] * y->width, to = entry * y->width;
    double        times = list->times[entry];
    const double *up = s->moves.words[l].up + from, *down = s->moves.words[l].down + from;
    for (int32_t j = 0; j < y->width; j++) {
        y->message_up[to + j] = fmin(y->message_up[to + j], times * up[j]);
        y->message_down[to + j] = fmax(y->message_down[to + j], times * down[j]);
    }
}

double cbx_spread_limit(double length, double stretch, const double *columns, int32_t width,
                        double *up, double *down)
{
    double squares = 0;
    for (int32_t j = 0; j < width; j++) {
        double most = columns ? length * columns[j] : length;
        up[j] = fmin(up[j], most);
        down[j] = fmax(down[j], -most);
        squares += fmax(up[j] * up[j], down[j] * down[j]);
    }
    return fmin(length * stretch, sqrt(squares) * 1.000001);
}

static void limit_entry(cbx_spread *s, int32_t l, int32_t i, int64_t entry)
{
    const cbx_reach_list *list = &s->layers[l - 1].list;
    cbx_spread_layer     *y = &s->layers[l];
    int64_t               to = entry * y->width;
    y->message_length[entry] = y->own_length[entry] = 0;
    if (!cbx_row_moves_is_row(&s->moves, list->choice[entry]))
        return;
    narrow_entry(s, l, entry);
    const cbx_stretch *by = &s->moves.stretch[l];
    if (s->net->layers[l].maximum)
        y->message_length[entry] =
            cbx_spread_limit(list->length[entry], 1, NULL, y->sent, y->message_up + entry * y->sent,
                             y->message_down + entry * y->sent);
    else
        y->message_length[entry] =
            cbx_spread_limit(list->length[entry], by->neighbour, by->columns, y->width,
                             y->message_up + to, y->message_down + to);
    if (i < y->rows && s->net->layers[l].has_own)
        y->own_length[entry] = cbx_spread_limit(list->length[entry], by->own, by->own_columns,
                                                y->width, y->own_up + to, y->own_down + to);
}

/* Of an entry that does what the one before it does. */
static void copy_entry(cbx_spread *s, int32_t l, int32_t i, int64_t entry)
{
    cbx_spread_layer *y = &s->layers[l];
    bool              own = i < y->rows && s->net->layers[l].has_own;
    double           *of[] = {y->message_up, y->message_down, own ? y->own_up : NULL,
                    own ? y->own_down : NULL};
    int32_t           width[] = {y->sent, y->sent, y->width, y->width};
    for (int k = 0; k < 4; k++)
        if (of[k])
            memcpy(of[k] + entry * width[k], of[k] + (entry - 1) * width[k],
                   (size_t)width[k] * sizeof(double));
    y->message_length[entry] = y->own_length[entry] = 0;
}

static void multiply_entry(cbx_spread *s, int32_t l, int32_t i, int64_t entry)
{
    const cbx_net_layer    *net = &s->net->layers[l];
    const cbx_spread_layer *x = &s->layers[l - 1];
    cbx_spread_layer       *y = &s->layers[l];
    int64_t                 to = entry * y->width;
    behind_relu(s, x, i, entry);
    if (net->maximum) {
        memcpy(y->message_up + entry * y->sent, s->hup, (size_t)y->sent * sizeof *s->hup);
        memcpy(y->message_down + entry * y->sent, s->hdown, (size_t)y->sent * sizeof *s->hdown);
    } else {
        cbx_clear(y->message_up + to, y->width);
        cbx_clear(y->message_down + to, y->width);
        times(net->neighbour, x->width, y->width, s->hdown, s->hup, y->message_down + to,
              y->message_up + to);
    }
    if (i < y->rows && net->has_own) {
        cbx_clear(y->own_up + to, y->width);
        cbx_clear(y->own_down + to, y->width);
        times(net->own, x->width, y->width, s->hdown, s->hup, y->own_down + to, y->own_up + to);
    }
    limit_entry(s, l, i, entry);
}

/* Where what a row sends can be. */
static void box_messages(cbx_spread *s, int32_t l, int32_t i)
{
    const cbx_reach_list *list = &s->layers[l - 1].list;
    cbx_spread_layer     *y = &s->layers[l];
    /* these are for choices of edges: one of the budget is an edge then */
    cbx_allowance may = {cbx_spread_budget(s, l - 1, i), s->graph->budget - 1};
    cbx_tops      up = s->tops[0], down = s->tops[1];
    cbx_spread_tops(s, list, y->message_up, i, y->sent, 1, may, list->same, &up);
    cbx_spread_tops(s, list, y->message_down, i, y->sent, -1, may, list->same, &down);
    for (int32_t j = 0; j < y->sent; j++) {
        int64_t at = (int64_t)i * y->sent + j;
        y->message_high[at] = y->message[at] + up.all[j];
        y->rest_high[at] = y->message[at] + up.rest[j];
        y->message_low[at] = y->message[at] - down.all[j];
        y->rest_low[at] = y->message[at] - down.rest[j];
        if (s->net->layers[l].maximum) { /* it is sent as it comes out of a ReLU */
            y->message_low[at] = cbx_spread_relu(y->message_low[at]);
            y->rest_low[at] = cbx_spread_relu(y->rest_low[at]);
        }
    }
}

int cbx_spread_multiply(cbx_spread *s, int32_t l)
{
    const cbx_spread_layer *x = &s->layers[l - 1];
    cbx_spread_layer       *y = &s->layers[l];
    int64_t                 entries = x->list.begin[x->rows];
    if (entries > y->product_room) {
        y->product_room = 2 * entries;
        if (cbx_spread_grow(s->arena, 0, y->product_room, y->sent, &y->message_up,
                            &y->message_down) ||
            cbx_spread_grow(s->arena, 0, y->product_room, y->width, &y->own_up, &y->own_down) ||
            cbx_spread_grow(s->arena, 0, y->product_room, 1, &y->message_length, &y->own_length))
            return -1;
    }
    for (int32_t i = 0; i < y->rows_in; i++) {
        int64_t begin = x->list.begin[i], end = x->list.begin[i + 1];
        if (cbx_out_of_time((double)(4 * (end - begin + 1)) * x->width * y->width))
            return -1;
        multiply_now(s, l, i);
        for (int64_t k = begin; k < end; k++)
            if (x->list.same[k])
                copy_entry(s, l, i, k);
            else
                multiply_entry(s, l, i, k);
        box_messages(s, l, i);
    }
    return 0;
}
