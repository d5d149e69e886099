/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c: see spread.h. */
#include "spread.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "kernel.h"

/* ---- memory */

static int make_layer(cbx_spread *s, int32_t l, const cbx_view *view, int32_t hops)
{
    const cbx_net_layer *from = &s->net->layers[l];
    cbx_spread_layer    *y = &s->layers[l];
    y->rows = cbx_view_rows(view, hops);
    y->rows_in = cbx_view_rows(view, hops + 1);
    y->in = from->n_in;
    y->width = from->n_out;
    size_t size = (size_t)y->rows * (size_t)y->width,
           inputs = (size_t)y->rows_in * (size_t)y->width;
    double *of_rows = CBX_NEW(s->arena, double, 7 * size);
    double *of_inputs = CBX_NEW(s->arena, double, 5 * inputs);
    y->list.begin = CBX_NEW0(s->arena, int64_t, (size_t)y->rows + 1);
    if (!of_rows || !of_inputs || !y->list.begin)
        return -1;
    double **rows[] = {&y->now, &y->low, &y->high, &y->left, &y->right, &y->under, &y->own};
    double **of_input[] = {&y->message, &y->message_low, &y->message_high, &y->rest_low,
                           &y->rest_high};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        *rows[k] = of_rows + k * size;
    for (size_t k = 0; k < sizeof of_input / sizeof *of_input; k++)
        *of_input[k] = of_inputs + k * inputs;
    return 0;
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
    const float         *W = m->theta + m->output_offset + (int64_t)(m->head_in - last->n_out) * C;
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
    double              *message = y->message + (int64_t)row * y->width;
    double              *own = row < y->rows ? y->own + (int64_t)row * y->width : NULL;
    double              *total = s->input_size + row;
    int32_t              inputs = 0;
    memset(message, 0, (size_t)y->width * sizeof *message);
    if (own)
        memset(own, 0, (size_t)y->width * sizeof *own);
    for (int32_t k = 0; k < from->n_in; k++) {
        double        value = (double)x[k] - (mean ? (double)mean[k] : 0), most = 0;
        const double *neighbour = from->neighbour + (int64_t)k * y->width;
        const double *itself = from->own + (int64_t)k * y->width;
        double        size = fabs((double)x[k]) + (mean ? fabs((double)mean[k]) : 0);
        for (int32_t j = 0; j < y->width && size > 0; j++) {
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
    size_t            size = (size_t)rows * (size_t)y->width;
    float            *x = CBX_NEW(s->arena, float, (size_t)rows *(size_t)f);
    if (!x)
        return -1;
    cbx_matrix_expand(X, rows, x);
    for (int32_t i = 0; i < rows; i++) {
        if (cbx_out_of_time((double)f * s->layers[0].width))
            return -1;
        multiply_input(s, x + (int64_t)i * f, i);
    }
    if (!(s->base = CBX_NEW(s->arena, double, size)) ||
        !(s->base_own = CBX_NEW(s->arena, double, size)))
        return -1;
    memcpy(s->base, y->message, size * sizeof *s->base);
    memcpy(s->base_own, y->own, (size_t)y->rows * (size_t)y->width * sizeof *s->base);
    return 0;
}

/* The first layer's products, with the features as they are now. What may become of them counts for
 * choices of edges only: one of the budget is an edge then. */
static void renew_inputs(cbx_spread *s)
{
    cbx_spread_layer *y = &s->layers[0];
    size_t            size = (size_t)y->rows_in * (size_t)y->width * sizeof(double);
    double            features = (double)(s->graph->budget > 0 ? s->graph->budget - 1 : 0);
    memcpy(y->message, s->base, size);
    memcpy(y->own, s->base_own, (size_t)y->rows * (size_t)y->width * sizeof(double));
    s->features_made = cbx_row_moves_add_made(&s->moves, y->message, y->own, y->rows);
    memcpy(y->message_low, y->message, size);
    memcpy(y->message_high, y->message, size);
    for (int32_t i = 0; i < y->rows_in; i++)
        for (int64_t e = s->moves.list.begin[i]; e < s->moves.list.begin[i + 1]; e++)
            for (int32_t j = 0; j < y->width; j++) {
                y->message_low[(int64_t)i * y->width + j] +=
                    features * s->moves.list.down[e * y->width + j];
                y->message_high[(int64_t)i * y->width + j] +=
                    features * s->moves.list.up[e * y->width + j];
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
                      .last_is_linear = undoes_last_relu(net)};
    if (!s->layers || !s->mark || !s->best || !s->hup || !s->hdown || !s->gain || !s->zeros ||
        make_scales(s))
        return cbx_fail_memory(err);
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

/* What reaches the rows of layer l's input. */
static const cbx_reach_list *input_list(const cbx_spread *s, int32_t l)
{
    return l > 0 ? &s->layers[l - 1].list : &s->moves.list;
}

/* Room for so many numbers of `width` a piece in two arrays that keep what they have. */
static int grow(cbx_arena *arena, int64_t had, int64_t room, int64_t width, double **a, double **b)
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

/* Room for `more` entries behind the `had` that there are. */
static int grow_list(cbx_spread *s, cbx_reach_list *list, int64_t had, int64_t more, int32_t width)
{
    if (had + more <= list->room)
        return 0;
    int64_t  room = 2 * (had + more);
    int32_t *choice = CBX_NEW(s->arena, int32_t, room);
    double  *length = CBX_NEW(s->arena, double, room);
    double  *times = CBX_NEW(s->arena, double, room);
    if (!choice || !length || !times || grow(s->arena, had, room, width, &list->up, &list->down))
        return -1;
    if (had > 0) {
        memcpy(choice, list->choice, (size_t)had * sizeof *choice);
        memcpy(length, list->length, (size_t)had * sizeof *length);
        memcpy(times, list->times, (size_t)had * sizeof *times);
    }
    list->length = length;
    list->times = times;
    list->choice = choice;
    list->room = room;
    return 0;
}

/* ---- products of what the layer before left */

/* x times W, of numbers that are somewhere between `low` and `high`: adds the least and the most.
 */
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

static void clear(double *a, int64_t count)
{
    memset(a, 0, (size_t)count * sizeof *a);
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

/* What may be made at a row: so many choices, so many of features among them. */
typedef struct allowance {
    int64_t budget, features;
} allowance;

/* The largest that choices add to unit j of a row, where sign times `of` counts. */
static cbx_largest most_of(const cbx_spread *s, const cbx_reach_list *list, const double *of,
                           int32_t row, int32_t width, int32_t j, double sign, allowance may)
{
    int64_t     most = may.budget < s->graph->count ? may.budget : s->graph->count;
    cbx_largest largest = {.best = s->best, .count = most};
    for (int64_t k = list->begin[row]; k < list->begin[row + 1]; k++)
        for (int64_t r = cbx_row_moves_repeats(&s->moves, list->choice[k],
                                               most < may.features ? most : may.features);
             r > 0; r--)
            cbx_largest_take(&largest, sign * of[k * width + j]);
    return largest;
}

/* Choices that can be made and reach the rows of layer l at a node. */
static int64_t budget_at(const cbx_spread *s, int32_t l, int32_t v)
{
    const cbx_partial_graph *g = s->graph;
    /* where the first layer's messages do not change, only edges into the node count */
    bool only_here = l == 0 && s->net->layers[0].norm != CBX_NORM_GCN && s->moves.first == g->count;
    return only_here && g->local[v] < g->budget ? g->local[v] : g->budget;
}

static void multiply_now(cbx_spread *s, int32_t l, int32_t i)
{
    const cbx_net_layer    *net = &s->net->layers[l];
    const cbx_spread_layer *x = &s->layers[l - 1];
    cbx_spread_layer       *y = &s->layers[l];
    int64_t                 at = (int64_t)i * y->width;
    for (int32_t k = 0; k < x->width; k++)
        s->hup[k] = cbx_spread_relu(x->now[(int64_t)i * x->width + k]);
    clear(y->message + at, y->width);
    times(net->neighbour, x->width, y->width, s->hup, s->hup, s->gain, y->message + at);
    if (i >= y->rows)
        return;
    clear(y->own + at, y->width);
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

/* What features do to all units together bounds what they do to each, and the other way round.
 * Returns the length of the product. */
static double limit_by_length(double length, double stretch, const double *columns, int32_t width,
                              double *up, double *down)
{
    double squares = 0;
    for (int32_t j = 0; j < width; j++) {
        up[j] = fmin(up[j], length * columns[j]);
        down[j] = fmax(down[j], -length * columns[j]);
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
    y->message_length[entry] = limit_by_length(list->length[entry], by->neighbour, by->columns,
                                               y->width, y->message_up + to, y->message_down + to);
    if (i < y->rows && s->net->layers[l].has_own)
        y->own_length[entry] = limit_by_length(list->length[entry], by->own, by->own_columns,
                                               y->width, y->own_up + to, y->own_down + to);
}

static void multiply_entry(cbx_spread *s, int32_t l, int32_t i, int64_t entry)
{
    const cbx_net_layer    *net = &s->net->layers[l];
    const cbx_spread_layer *x = &s->layers[l - 1];
    cbx_spread_layer       *y = &s->layers[l];
    int64_t                 to = entry * y->width;
    behind_relu(s, x, i, entry);
    clear(y->message_up + to, y->width);
    clear(y->message_down + to, y->width);
    times(net->neighbour, x->width, y->width, s->hdown, s->hup, y->message_down + to,
          y->message_up + to);
    if (i < y->rows && net->has_own) {
        clear(y->own_up + to, y->width);
        clear(y->own_down + to, y->width);
        times(net->own, x->width, y->width, s->hdown, s->hup, y->own_down + to, y->own_up + to);
    }
    limit_entry(s, l, i, entry);
}

static int multiply(cbx_spread *s, int32_t l)
{
    const cbx_spread_layer *x = &s->layers[l - 1];
    cbx_spread_layer       *y = &s->layers[l];
    int64_t                 entries = x->list.begin[x->rows];
    if (entries > y->product_room) {
        y->product_room = 2 * entries;
        if (grow(s->arena, 0, y->product_room, y->width, &y->message_up, &y->message_down) ||
            grow(s->arena, 0, y->product_room, y->width, &y->own_up, &y->own_down) ||
            grow(s->arena, 0, y->product_room, 1, &y->message_length, &y->own_length))
            return -1;
    }
    for (int32_t i = 0; i < y->rows_in; i++) {
        int64_t at = (int64_t)i * y->width, begin = x->list.begin[i], end = x->list.begin[i + 1];
        int64_t budget = budget_at(s, l - 1, i);
        /* these are for choices of edges: one of the budget is an edge then */
        allowance may = {budget, s->graph->budget - 1};
        if (cbx_out_of_time((double)(4 * (end - begin + 1)) * x->width * y->width))
            return -1;
        multiply_now(s, l, i);
        for (int64_t k = begin; k < end; k++)
            multiply_entry(s, l, i, k);
        for (int32_t j = 0; j < y->width; j++) {
            cbx_largest up = most_of(s, &x->list, y->message_up, i, y->width, j, 1, may);
            y->message_high[at + j] = y->message[at + j] + cbx_largest_sum(&up);
            y->rest_high[at + j] = y->message[at + j] + cbx_largest_rest(&up);
            cbx_largest down = most_of(s, &x->list, y->message_down, i, y->width, j, -1, may);
            y->message_low[at + j] = y->message[at + j] - cbx_largest_sum(&down);
            y->rest_low[at + j] = y->message[at + j] - cbx_largest_rest(&down);
        }
    }
    return 0;
}

/* ---- one row of a layer */

typedef struct row {
    cbx_spread           *s;
    cbx_spread_layer     *y;
    const cbx_node_scale *scales;
    int32_t               l, v;
    int64_t               begin, end; /* entries */
    bool                  listed;
} row;

/* The row's entry of the choice: its ups, and the downs behind. */
static int64_t entry_of(row *r, int32_t choice)
{
    cbx_reach_list *list = &r->y->list;
    int32_t        *mark = &r->s->mark[choice];
    if (*mark < 0) {
        *mark = (int32_t)(r->end - r->begin);
        list->choice[r->end] = choice;
        list->length[r->end] = list->times[r->end] = 0;
        clear(list->up + r->end * r->y->width, r->y->width);
        clear(list->down + r->end * r->y->width, r->y->width);
        r->end++;
    }
    return (r->begin + *mark) * r->y->width;
}

/* Adds what the input's choices do to another row, `factor` times. */
CBX_HOT static void add_reached(row *r, int32_t from, double factor, const double *up,
                                const double *down, const double *length)
{
    const cbx_reach_list *list = input_list(r->s, r->l);
    int32_t               width = r->y->width;
    for (int64_t k = list->begin[from]; k < list->begin[from + 1]; k++) {
        int64_t to = entry_of(r, list->choice[k]);
        for (int32_t j = 0; j < width; j++) {
            r->y->list.up[to + j] += factor * up[k * width + j];
            r->y->list.down[to + j] += factor * down[k * width + j];
        }
        r->y->list.length[to / width] += fabs(factor) * length[k];
        r->y->list.times[to / width] += fabs(factor) * list->times[k];
    }
}

/* Adds to each open choice with an edge into node w what it gains there. `gain`: removals' ups,
 * removals' downs, additions' ups, additions' downs. */
static void add_scaled(row *r, int32_t w, const double *gain)
{
    const cbx_partial_graph *g = r->s->graph;
    int32_t                  width = r->y->width;
    for (int64_t k = g->at_begin[w]; k < g->at_begin[w + 1]; k++) {
        if (!cbx_choice_is_open(g, g->at[k]))
            continue;
        int64_t       to = entry_of(r, g->at[k]);
        const double *of = gain + (g->choices[g->at[k]].adds ? 2 * width : 0);
        for (int32_t j = 0; j < width; j++) {
            r->y->list.up[to + j] += of[j];
            r->y->list.down[to + j] += of[width + j];
        }
    }
}

/* What the choice itself does to a message: zeros where it does not reach it. */
static void own_message(const row *r, int32_t u, int32_t choice, const double **up,
                        const double **down)
{
    int64_t entry = cbx_reach_find(input_list(r->s, r->l), u, choice);
    *up = entry < 0 ? r->s->zeros : r->y->message_up + entry * r->y->width;
    *down = entry < 0 ? r->s->zeros : r->y->message_down + entry * r->y->width;
}

/* An edge that may go. What it brings is counted as it moves already; so what goes with it is what
 * it brings now, and whatever was counted. */
static void bound_going(row *r, int64_t e)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width, choice = g->choice_of[e];
    const cbx_node_scale    *from = &r->scales[u], *to = &r->scales[r->v];
    double                   w = g->view->weight ? (double)g->view->weight[e] : 1;
    int64_t                  entry = entry_of(r, choice);
    const double            *own_up, *own_down;
    own_message(r, u, choice, &own_up, &own_down);
    for (int32_t j = 0; j < width; j++) {
        int64_t       at = (int64_t)u * width + j;
        cbx_interval  all = cbx_interval_times(w, y->message_low[at], y->message_high[at]);
        cbx_interval  rest = cbx_interval_times(w, y->rest_low[at], y->rest_high[at]);
        cbx_interval  own = cbx_interval_times(w, own_down[j], own_up[j]);
        cbx_edge_gain up =
            cbx_scale_edge_gain(from, to, g->paired[e], g->budget, all.low, all.high);
        cbx_edge_gain down =
            cbx_scale_edge_gain(from, to, g->paired[e], g->budget, -all.high, -all.low);
        y->list.up[entry + j] +=
            cbx_scale_removal_gain(from, to, g->paired[e], &up, rest.low + own.high);
        y->list.down[entry + j] -=
            cbx_scale_removal_gain(from, to, g->paired[e], &down, -rest.high - own.low);
    }
}

/* What an edge is multiplied by can move. */
static void bound_scaled(row *r, int64_t e, double *at_source, double *at_target)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width;
    const cbx_node_scale    *from = &r->scales[u], *to = &r->scales[r->v];
    for (int32_t j = 0; j < width; j++) {
        double        low = y->message_low[(int64_t)u * width + j];
        double        high = y->message_high[(int64_t)u * width + j];
        cbx_edge_gain up = cbx_scale_edge_gain(from, to, g->paired[e], g->budget, low, high);
        cbx_edge_gain down = cbx_scale_edge_gain(from, to, g->paired[e], g->budget, -high, -low);
        at_source[j] = up.removal_source;
        at_source[width + j] = -down.removal_source;
        at_source[2 * width + j] = up.addition_source;
        at_source[3 * width + j] = -down.addition_source;
        at_target[j] += up.removal_target;
        at_target[width + j] -= down.removal_target;
        at_target[2 * width + j] += up.addition_target;
        at_target[3 * width + j] -= down.addition_target;
    }
}

static void bound_loop(row *r, double *at_target)
{
    cbx_spread_layer *y = r->y;
    int32_t           width = y->width;
    for (int32_t j = 0; j < width; j++) {
        double low = y->message_low[(int64_t)r->v * width + j];
        double high = y->message_high[(int64_t)r->v * width + j], removal, addition;
        cbx_scale_loop_gain(&r->scales[r->v], low, high, &removal, &addition);
        at_target[j] += removal;
        at_target[2 * width + j] += addition;
        cbx_scale_loop_gain(&r->scales[r->v], -high, -low, &removal, &addition);
        at_target[width + j] -= removal;
        at_target[3 * width + j] -= addition;
    }
}

/* An edge that may come. */
static void bound_coming(row *r, int64_t e)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width;
    const cbx_node_scale    *from = &r->scales[u], *to = &r->scales[r->v];
    int64_t                  entry = entry_of(r, g->choice_of[e]);
    const double            *own_up, *own_down;
    own_message(r, u, g->choice_of[e], &own_up, &own_down);
    for (int32_t j = 0; j < width; j++) {
        double low = y->rest_low[(int64_t)u * width + j] + own_down[j];
        double high = y->rest_high[(int64_t)u * width + j] + own_up[j];
        y->list.up[entry + j] += cbx_scale_addition_gain(from, to, high);
        y->list.down[entry + j] -= cbx_scale_addition_gain(from, to, -low);
    }
}

static void add_edge(row *r, int64_t e, double *at_source, double *at_target, bool scaled)
{
    const cbx_partial_graph *g = r->s->graph;
    cbx_spread_layer        *y = r->y;
    int32_t                  u = g->view->source[e], width = y->width;
    double w = (g->view->weight ? (double)g->view->weight[e] : 1) * r->scales[u].source.now *
               r->scales[r->v].target.now;
    double *now = y->now + (int64_t)r->v * width;
    for (int32_t j = 0; j < width; j++)
        now[j] += w * y->message[(int64_t)u * width + j];
    if (!r->listed)
        return;
    if (w >= 0)
        add_reached(r, u, w, y->message_up, y->message_down, y->message_length);
    else
        add_reached(r, u, w, y->message_down, y->message_up, y->message_length);
    if (g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]))
        bound_going(r, e);
    if (!scaled)
        return;
    bound_scaled(r, e, at_source, at_target);
    add_scaled(r, u, at_source);
}

static void add_loop(row *r, double *at_target)
{
    cbx_spread_layer *y = r->y;
    double            factor = r->scales[r->v].loop.now;
    for (int32_t j = 0; j < y->width; j++)
        y->now[(int64_t)r->v * y->width + j] += factor * y->message[(int64_t)r->v * y->width + j];
    if (!r->listed)
        return;
    add_reached(r, r->v, factor, y->message_up, y->message_down, y->message_length);
    bound_loop(r, at_target);
}

/* The most entries that a row can have. */
static int64_t most_entries(const row *r)
{
    const cbx_partial_graph *g = r->s->graph;
    const cbx_reach_list    *list = input_list(r->s, r->l);
    int64_t                  sum = g->at_begin[r->v + 1] - g->at_begin[r->v];
    int64_t                  all = (int64_t)g->count + g->view->n;
    sum += list->begin[r->v + 1] - list->begin[r->v];
    for (int64_t e = g->view->offset[r->v]; e < g->view->offset[r->v + 1]; e++) {
        int32_t u = g->view->source[e];
        sum += g->at_begin[u + 1] - g->at_begin[u];
        sum += list->begin[u + 1] - list->begin[u];
    }
    return sum < all ? sum : all;
}

/* From `now` and the list to the box and the slopes behind the ReLU. */
static void close_row(row *r)
{
    cbx_spread_layer *y = r->y;
    allowance         may = {budget_at(r->s, r->l, r->v), r->s->graph->budget};
    y->list.begin[r->v + 1] = r->end;
    for (int32_t j = 0; j < y->width; j++) {
        int64_t     at = (int64_t)r->v * y->width + j;
        double      now = y->now[at];
        cbx_largest up = most_of(r->s, &y->list, y->list.up, r->v, y->width, j, 1, may);
        y->high[at] = now + cbx_largest_sum(&up);
        cbx_largest down = most_of(r->s, &y->list, y->list.down, r->v, y->width, j, -1, may);
        y->low[at] = now - cbx_largest_sum(&down);
        double low = y->low[at], high = y->high[at];
        y->under[at] = now > 0 ? 1 : 0;
        y->right[at] = now > 0 ? 1 : high > 0 ? high / (high - now) : 0;
        y->left[at] = now <= 0 ? 0 : low < 0 ? now / (now - low) : 1;
    }
    for (int64_t k = r->begin; k < r->end; k++)
        r->s->mark[y->list.choice[k]] = -1;
}

static int compute_row(cbx_spread *s, int32_t l, int32_t v)
{
    const cbx_partial_graph *g = s->graph;
    const cbx_view          *view = g->view;
    cbx_spread_layer        *y = &s->layers[l];
    cbx_norm_kind            norm = s->net->layers[l].norm;
    bool                     gcn = norm == CBX_NORM_GCN, scaled = norm != CBX_NORM_NONE;
    double *at_target = s->gain, *at_source = at_target + 4 * (int64_t)s->net->widest;
    row     r = {.s = s, .y = y, .scales = s->scales[norm], .l = l, .v = v};
    r.begin = r.end = y->list.begin[v];
    r.listed = !(s->last_is_linear && l == s->net->num_layers - 1);
    if (r.listed && grow_list(s, &y->list, r.begin, most_entries(&r), y->width))
        return -1;
    clear(at_target, 4 * (int64_t)y->width);
    for (int32_t j = 0; j < y->width; j++)
        y->now[(int64_t)v * y->width + j] =
            s->net->layers[l].bias[j] + y->own[(int64_t)v * y->width + j];
    if (r.listed && s->net->layers[l].has_own)
        add_reached(&r, v, 1, y->own_up, y->own_down, y->own_length);
    for (int64_t e = view->offset[v]; e < view->offset[v + 1]; e++) {
        if (gcn && view->source[e] == v)
            continue;
        if (g->present[e])
            add_edge(&r, e, at_source, at_target, scaled);
        else if (r.listed && g->choice_of[e] >= 0 && cbx_choice_is_open(g, g->choice_of[e]))
            bound_coming(&r, e);
    }
    if (gcn)
        add_loop(&r, at_target);
    if (scaled && r.listed)
        add_scaled(&r, v, at_target);
    close_row(&r);
    return cbx_out_of_time((double)(r.end - r.begin + 8) * y->width * 8) ? -1 : 0;
}

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
        if (l > 0 && multiply(s, l))
            return -1;
        for (int32_t v = 0; v < s->layers[l].rows; v++)
            if (compute_row(s, l, v))
                return -1;
    }
    return 0;
}
