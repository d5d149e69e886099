/* SPDX-License-Identifier: Apache-2.0 */
/* row_moves.c: see row_moves.h. */
#include "row_moves.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "kernel.h"

/* For what lengths lose by rounding. */
static const double MORE = 1.000001;

/* ---- the first layer */

/* What a choice does to products of which the columns are w, and those of the other column. */
CBX_HOT static void widen(const cbx_choice *c, int32_t width, const double *w, const double *other,
                          double *up, double *down)
{
    double low = (double)c->low, high = (double)c->high;
    for (int32_t j = 0; j < width; j++) {
        double a = low * w[j], b = high * w[j], back = other ? low * other[j] : 0;
        double least = (a < b ? a : b) - back, most = (a < b ? b : a) - back;
        up[j] = most > up[j] ? most : up[j];
        down[j] = least < down[j] ? least : down[j];
    }
}

/* The same of messages, which are the features themselves. */
static void widen_messages(const cbx_choice *c, double *up, double *down)
{
    double low = (double)c->low, high = (double)c->high;
    up[c->column] = fmax(up[c->column], high);
    down[c->column] = fmin(down[c->column], low);
    if (c->other < 0)
        return;
    up[c->other] = fmax(up[c->other], -low);
    down[c->other] = fmin(down[c->other], -high);
}

static const double *row_of(const double *W, int32_t k, int32_t width)
{
    return k < 0 ? NULL : W + (int64_t)k * width;
}

static double largest_of(const double *w, int64_t count)
{
    double most = 0;
    for (int64_t j = 0; j < count; j++)
        most = fmax(most, fabs(w[j]));
    return most;
}

static double largest(const cbx_net_layer *l, int32_t k)
{
    int64_t at = (int64_t)k * l->n_out;
    if (k < 0)
        return 0;
    return fmax(largest_of(l->neighbour + at, l->n_out), largest_of(l->own + at, l->n_out));
}

/* Of each row of W. */
static void measure_rows(const double *W, int32_t rows, int32_t cols, double *length)
{
    for (int32_t k = 0; k < rows; k++) {
        double sum = 0;
        for (int64_t at = (int64_t)k * cols; at < (int64_t)(k + 1) * cols; at++)
            sum += W[at] * W[at];
        length[k] = sqrt(sum) * MORE;
    }
}

/* Of each column. */
static void measure_columns(const double *W, int32_t rows, int32_t cols, double *length)
{
    memset(length, 0, (size_t)cols * sizeof *length);
    for (int64_t at = 0; at < (int64_t)rows * cols; at++)
        length[at % cols] += W[at] * W[at];
    for (int32_t j = 0; j < cols; j++)
        length[j] = sqrt(length[j]) * MORE;
}

static double stretch_of(const double *W, int32_t rows, int32_t cols, float *copy)
{
    int64_t size = (int64_t)rows * cols;
    for (int64_t k = 0; k < size; k++)
        copy[k] = (float)W[k];
    return (double)cbx_spectral_bound(rows, cols, copy, copy + size) * MORE;
}

/* Of the layers behind the first, which multiply what it leaves. */
static int measure(cbx_row_moves *m, cbx_arena *arena)
{
    const cbx_net       *net = m->net;
    const cbx_net_layer *first = &net->layers[0];
    m->stretch = CBX_NEW0(arena, cbx_stretch, net->num_layers);
    if (!m->stretch)
        return -1;
    measure_rows(first->neighbour, first->n_in, first->n_out, m->weight_length);
    measure_rows(first->own, first->n_in, first->n_out, m->own_weight_length);
    for (int32_t l = 1; l < net->num_layers; l++) {
        const cbx_net_layer *y = &net->layers[l];
        cbx_stretch         *s = &m->stretch[l];
        int64_t size = (int64_t)y->n_in * y->n_out + cbx_spectral_scratch(y->n_in, y->n_out);
        float  *copy = CBX_NEW(arena, float, size);
        s->columns = CBX_NEW(arena, double, y->n_out);
        s->own_columns = CBX_NEW(arena, double, y->n_out);
        if (!copy || !s->columns || !s->own_columns)
            return -1;
        s->neighbour = stretch_of(y->neighbour, y->n_in, y->n_out, copy);
        s->own = y->has_own ? stretch_of(y->own, y->n_in, y->n_out, copy) : 0;
        measure_columns(y->neighbour, y->n_in, y->n_out, s->columns);
        measure_columns(y->own, y->n_in, y->n_out, s->own_columns);
    }
    return 0;
}

static double length_of(const cbx_choice *c, const double *of)
{
    return of[c->column] + (c->other >= 0 ? of[c->other] : 0);
}

static void take(cbx_row_moves *m, const cbx_choice *c)
{
    const cbx_net_layer *l = &m->net->layers[0];
    int64_t              entry = m->list.begin[c->row], at = entry * l->n_out;
    double               by = fmax(fabs((double)c->low), fabs((double)c->high));
    if (l->maximum)
        widen_messages(c, m->list.up + entry * l->n_in, m->list.down + entry * l->n_in);
    else
        widen(c, l->n_out, l->neighbour + (int64_t)c->column * l->n_out,
              row_of(l->neighbour, c->other, l->n_out), m->list.up + at, m->list.down + at);
    if (c->other >= 0)
        m->columns[c->row] = 2;
    if (l->has_own)
        widen(c, l->n_out, l->own + (int64_t)c->column * l->n_out,
              row_of(l->own, c->other, l->n_out), m->own_up + at, m->own_down + at);
    double *length = &m->list.length[entry];
    double *own = &m->own_length[entry];
    *length = fmax(*length, by * length_of(c, m->weight_length));
    *own = fmax(*own, by * length_of(c, m->own_weight_length));
    m->size[c->row] = fmax(m->size[c->row], by * (largest(l, c->column) + largest(l, c->other)));
}

/* ---- the layers behind it */

/* What rises and falls through weights, of which each passes on between nothing and all: the sums
 * of the terms above 0 and of those below. */
CBX_HOT static void follow(const cbx_net_layer *l, const double *from_rise, const double *from_fall,
                           double *rise, double *fall)
{
    memset(rise, 0, (size_t)l->n_out * sizeof *rise);
    memset(fall, 0, (size_t)l->n_out * sizeof *fall);
    for (int32_t p = 0; p < l->n_in; p++) {
        const double *w = l->neighbour + (int64_t)p * l->n_out;
        double        up = from_rise[p], down = from_fall[p];
        for (int32_t j = 0; j < l->n_out; j++) {
            rise[j] += w[j] > 0 ? w[j] * up : w[j] * down;
            fall[j] += w[j] > 0 ? w[j] * down : w[j] * up;
        }
    }
}

/* Where everything goes by edges that turn no sign, and is added up, what a move does is known by
 * how often it counts. */
static bool has_words(const cbx_net *net, const cbx_view *view)
{
    for (int32_t l = 0; l < net->num_layers; l++)
        if (net->layers[l].has_own || net->layers[l].maximum)
            return false;
    for (int64_t e = 0; view->weight && e < view->m; e++)
        if (view->weight[e] < 0)
            return false;
    return true;
}

/* What feature k does to the first layer: it rises or it falls. `first`: twice as many as there are
 * units, scratch. */
static void follow_word(cbx_row_moves *m, int32_t k, double *first)
{
    const cbx_net *net = m->net;
    int32_t        width = net->layers[0].n_out;
    const double  *w = net->layers[0].neighbour + (int64_t)k * width;
    double        *rise = first, *fall = first + width;
    for (int32_t j = 0; j < width; j++) {
        rise[j] = w[j] > 0 ? w[j] : 0;
        fall[j] = w[j] > 0 ? 0 : w[j];
    }
    for (int32_t l = 1; l < net->num_layers; l++) {
        int64_t at = (int64_t)k * net->layers[l].n_out;
        follow(&net->layers[l], rise, fall, m->words[l].rise + at, m->words[l].fall + at);
        rise = m->words[l].rise + at;
        fall = m->words[l].fall + at;
    }
}

static int make_words(cbx_row_moves *m, int64_t entries, double *scratch, cbx_arena *arena)
{
    const cbx_net *net = m->net;
    int32_t        f = net->layers[0].n_in;
    uint8_t       *known = CBX_NEW0(arena, uint8_t, f);
    m->words = CBX_NEW0(arena, cbx_word_reach, net->num_layers);
    if (!known || !m->words)
        return -1;
    for (int32_t l = 1; l < net->num_layers; l++) {
        int64_t         width = net->layers[l].n_out;
        cbx_word_reach *w = &m->words[l];
        w->rise = CBX_NEW(arena, double, f *width);
        w->fall = CBX_NEW(arena, double, f *width);
        w->up = CBX_NEW0(arena, double, entries *width);
        w->down = CBX_NEW0(arena, double, entries *width);
        if (!w->rise || !w->fall || !w->up || !w->down)
            return -1;
    }
    for (int32_t c = m->first; c < m->graph->count; c++)
        for (int both = 0; both < 2; both++) {
            int32_t k = both ? m->graph->choices[c].other : m->graph->choices[c].column;
            if (k < 0 || known[k])
                continue;
            if (cbx_out_of_time(4.0 * net->num_layers * net->widest))
                return -1;
            follow_word(m, k, scratch);
            known[k] = 1;
        }
    return 0;
}

/* A move by d does d times `rise` at most where d > 0, and d times `fall` where d < 0. */
CBX_HOT static void widen_words(double low, double high, int32_t width, const double *rise,
                                const double *fall, double *up, double *down)
{
    for (int32_t j = 0; j < width; j++) {
        double a = high * rise[j], b = low * fall[j], c = high * fall[j], d = low * rise[j];
        up[j] += a > b ? a : b;
        down[j] += c < d ? c : d;
    }
}

/* `sum`: twice as many as there are units, scratch. */
static void take_words(cbx_row_moves *m, const cbx_choice *c, int32_t l, double *sum)
{
    const cbx_word_reach *w = &m->words[l];
    int64_t               width = m->net->layers[l].n_out;
    double *up = w->up + m->list.begin[c->row] * width, *down = w->down + (up - w->up);
    double  low = (double)c->low, high = (double)c->high;
    memset(sum, 0, 2 * (size_t)width * sizeof *sum);
    widen_words(low, high, (int32_t)width, w->rise + c->column * width, w->fall + c->column * width,
                sum, sum + width);
    if (c->other >= 0)
        widen_words(-high, -low, (int32_t)width, w->rise + c->other * width,
                    w->fall + c->other * width, sum, sum + width);
    for (int64_t j = 0; j < width; j++) {
        up[j] = sum[j] > up[j] ? sum[j] : up[j];
        down[j] = sum[width + j] < down[j] ? sum[width + j] : down[j];
    }
}

/* Of moving up by 1 and of moving down by 1. */
CBX_HOT static void word_gains(const double *rise, const double *fall, int32_t width,
                               const double *if_rises, const double *if_falls, double *up,
                               double *down)
{
    double a = 0, b = 0;
    for (int32_t j = 0; j < width; j++) {
        a += rise[j] * if_rises[j] + fall[j] * if_falls[j];
        b -= fall[j] * if_rises[j] + rise[j] * if_falls[j];
    }
    *up = a;
    *down = b;
}

double cbx_row_moves_word_gain(const cbx_row_moves *m, const cbx_choice *c, int32_t l,
                               const double *rise, const double *fall)
{
    const cbx_word_reach *w = &m->words[l];
    int32_t               width = m->net->layers[l].n_out;
    double                low = (double)c->low, high = (double)c->high, sum = 0;
    for (int both = 0; both < (c->other >= 0 ? 2 : 1); both++) {
        double  up, down, least = both ? -high : low, most = both ? -low : high;
        int64_t at = (int64_t)(both ? c->other : c->column) * width;
        word_gains(w->rise + at, w->fall + at, width, rise, fall, &up, &down);
        sum += fmax(most > 0 ? most * up : -most * down, least > 0 ? least * up : -least * down);
    }
    return sum;
}

/* ---- all of it */

/* An entry for each row that has a choice. */
static int64_t list_rows(cbx_row_moves *m, int32_t rows)
{
    const cbx_partial_graph *g = m->graph;
    for (int32_t c = m->first; c < g->count; c++)
        m->list.begin[g->choices[c].row + 1] = 1;
    for (int32_t i = 0; i < rows; i++) {
        if (m->list.begin[i + 1])
            m->list.choice[m->list.begin[i]] = g->count + i;
        m->list.begin[i + 1] += m->list.begin[i];
    }
    return m->list.begin[rows];
}

static int make_room(cbx_row_moves *m, int64_t entries, cbx_arena *arena)
{
    const cbx_net_layer *first = &m->net->layers[0];
    int64_t              size = entries * first->n_out;
    int64_t              sent = entries * (first->maximum ? first->n_in : first->n_out);
    double             **all[] = {&m->list.up, &m->list.down, &m->own_up, &m->own_down};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(*all[k] = CBX_NEW0(arena, double, k < 2 ? sent : size)))
            return -1;
    m->list.length = CBX_NEW0(arena, double, entries);
    m->own_length = CBX_NEW0(arena, double, entries);
    if (!m->list.length || !m->own_length)
        return -1;
    m->list.times = CBX_NEW(arena, double, entries);
    for (int64_t e = 0; m->list.times && e < entries; e++)
        m->list.times[e] = 1;
    return m->list.times ? 0 : -1;
}

cbx_status cbx_row_moves_init(cbx_row_moves *m, const cbx_net *net, const cbx_partial_graph *graph,
                              int32_t rows, cbx_arena *arena, cbx_error *err)
{
    double *sum = CBX_NEW(arena, double, 2 * (int64_t)net->widest);
    *m = (cbx_row_moves){.net = net, .graph = graph, .first = graph->count};
    while (m->first > 0 && graph->choices[m->first - 1].row >= 0)
        m->first--;
    m->list.begin = CBX_NEW0(arena, int64_t, (int64_t)rows + 1);
    m->list.choice = CBX_NEW(arena, int32_t, rows);
    m->size = CBX_NEW0(arena, double, rows);
    m->columns = CBX_NEW(arena, uint8_t, rows);
    m->weight_length = CBX_NEW(arena, double, net->layers[0].n_in);
    m->own_weight_length = CBX_NEW(arena, double, net->layers[0].n_in);
    if (!sum || !m->list.begin || !m->list.choice || !m->size || !m->columns || !m->weight_length ||
        !m->own_weight_length || make_room(m, list_rows(m, rows), arena) ||
        (m->first < graph->count && measure(m, arena)))
        return cbx_fail_memory(err);
    memset(m->columns, 1, (size_t)rows);
    if (has_words(net, graph->view) && m->first < graph->count &&
        make_words(m, m->list.begin[rows], sum, arena))
        return cbx_fail_late(err);
    for (int32_t c = m->first; c < graph->count; c++) {
        if (cbx_out_of_time(8.0 * net->layers[0].n_out))
            return cbx_fail_late(err);
        take(m, &graph->choices[c]);
        for (int32_t l = 1; m->words && l < net->num_layers; l++)
            take_words(m, &graph->choices[c], l, sum);
    }
    return CBX_OK;
}

/* ---- as things are */

static void add(const double *W, int32_t width, const cbx_choice *c, double *to)
{
    const double *w = W + (int64_t)c->column * width, *other = row_of(W, c->other, width);
    for (int32_t j = 0; j < width; j++)
        to[j] += (double)c->low * (w[j] - (other ? other[j] : 0));
}

static void add_to_messages(const cbx_choice *c, double *to)
{
    to[c->column] += (double)c->low;
    if (c->other >= 0)
        to[c->other] -= (double)c->low;
}

int64_t cbx_row_moves_add_made(const cbx_row_moves *m, double *message, double *own,
                               int32_t own_rows)
{
    const cbx_net_layer *l = &m->net->layers[0];
    int64_t              made = 0;
    for (int32_t k = m->first; k < m->graph->count; k++) {
        const cbx_choice *c = &m->graph->choices[k];
        if (m->graph->fate[k] != CBX_MADE)
            continue;
        made++;
        if (l->maximum)
            add_to_messages(c, message + (int64_t)c->row * l->n_in);
        else
            add(l->neighbour, l->n_out, c, message + (int64_t)c->row * l->n_out);
        if (c->row < own_rows)
            add(l->own, l->n_out, c, own + (int64_t)c->row * l->n_out);
    }
    return made;
}

/* Of moving up by 1 and of moving down by 1. */
CBX_HOT static void gains_of_one(const double *w, int32_t width, const double *rise,
                                 const double *fall, double *up, double *down)
{
    double a = 0, b = 0;
    for (int32_t j = 0; j < width; j++) {
        a += w[j] * (w[j] > 0 ? rise[j] : fall[j]);
        b -= w[j] * (w[j] > 0 ? fall[j] : rise[j]);
    }
    *up = a;
    *down = b;
}

double cbx_row_moves_gain(const cbx_choice *c, const double *weights, int32_t width,
                          const double *rise, const double *fall)
{
    double        up, down, low = (double)c->low, high = (double)c->high, sum = 0;
    const double *w = weights + (int64_t)c->column * width,
                 *other = row_of(weights, c->other, width);
    if (!other) { /* convex in how far it moves: it is most at an end */
        gains_of_one(w, width, rise, fall, &up, &down);
        double at_low = low < 0 ? -low * down : low * up;
        double at_high = high < 0 ? -high * down : high * up;
        return at_low > at_high ? at_low : at_high;
    }
    for (int32_t j = 0; j < width; j++) {
        double d = low * (w[j] - other[j]);
        sum += d * (d > 0 ? rise[j] : fall[j]);
    }
    return sum;
}
