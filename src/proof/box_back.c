/* SPDX-License-Identifier: Apache-2.0 */
/* box_back.c: see box_back.h. */
#include "box_back.h"

#include <math.h>

#include "deadline.h"
#include "error.h"
#include "lines.h"

/* ---- memory */

static int make_layer(cbx_box_back *f, int32_t l, cbx_arena *arena)
{
    const cbx_net_layer *net = &f->boxes->q->net->layers[l];
    f->turned_own[l] = cbx_lines_turn(net, net->own, arena);
    f->turned_neighbour[l] = cbx_lines_turn(net, net->neighbour, arena);
    f->line[l] = CBX_NEW(arena, double, net->n_out);
    f->own[l] = CBX_NEW(arena, double, net->n_in);
    f->neighbour[l] = CBX_NEW(arena, double, net->n_in);
    return f->turned_own[l] && f->turned_neighbour[l] && f->line[l] && f->own[l] && f->neighbour[l]
               ? 0
               : -1;
}

/* Layers at most: what a layer's row has is asked of the layer before, call by call. */
enum { DEEPEST = 16 };

/* Are rows sums of products, with no weight below 0? */
static bool is_of_sums(const cbx_box_question *q)
{
    const cbx_view *view = q->graph->view;
    if (q->net->num_layers > DEEPEST || q->net->max_pool)
        return false;
    for (int32_t l = 0; l < q->net->num_layers; l++)
        if (q->net->layers[l].maximum)
            return false;
    for (int64_t e = 0; view->weight && e < view->m; e++)
        if (!(view->weight[e] >= 0))
            return false;
    return true;
}

cbx_status cbx_box_back_init(cbx_box_back *f, cbx_boxes *boxes, double most_work, cbx_arena *arena,
                             bool *known, cbx_error *err)
{
    const cbx_net *net = boxes->q->net;
    double      ***all[] = {&f->turned_own, &f->turned_neighbour, &f->line, &f->own, &f->neighbour};
    *f = (cbx_box_back){.boxes = boxes, .most_work = most_work};
    *known = is_of_sums(boxes->q);
    if (!*known)
        return CBX_OK;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(*all[k] = CBX_NEW(arena, double *, net->num_layers)))
            return cbx_fail_memory(err);
    for (int32_t l = 0; l < net->num_layers; l++)
        if (make_layer(f, l, arena))
            return cbx_fail_memory(err);
    f->against = CBX_NEW(arena, double, net->widest);
    return f->against ? CBX_OK : cbx_fail_memory(err);
}

/* ---- a step back */

/* Is there time for a step of row i? If there is none, or work enough was done, boxes have to do.
 */
static bool may_step(cbx_box_back *f, int32_t l, int32_t i)
{
    const cbx_net_layer *net = &f->boxes->q->net->layers[l];
    const cbx_view      *view = f->boxes->q->graph->view;
    double               edges = (double)(view->offset[i + 1] - view->offset[i]);
    double work = ((net->has_own ? 2.0 : 1.0) * net->n_out + (net->reach ? edges : 0)) * net->n_in;
    if (f->work > f->most_work || f->late)
        return false;
    f->work += work;
    f->late = cbx_out_of_time(work);
    return !f->late;
}

/* Weights of a row's features. */
static double value_in_ranges(const cbx_box_back *f, int32_t i, const double *weight)
{
    int32_t       width = f->boxes->q->net->layers[0].n_in;
    const double *low = f->boxes->low + (int64_t)i * width;
    const double *high = f->boxes->high + (int64_t)i * width;
    double        sum = 0;
    for (int32_t k = 0; k < width; k++)
        sum += weight[k] * (weight[k] > 0 ? high[k] : low[k]);
    return sum;
}

/* Weights of what row i has behind the ReLUs of layer l, or of its features before the first: what
 * they come to at most. Who has no use for less than `enough` may get a bound that is no closer. */
static double value(cbx_box_back *f, int32_t l, int32_t i, const double *weight, double enough);

/* What is somewhere up to `most`, times a factor. */
static double scaled(const cbx_factor *source, const cbx_factor *target, double most)
{
    return most > 0 ? source->most * target->most * most : source->least * target->least * most;
}

/* What comes to row i of layer l along edges, with f->neighbour[l] as weights of it. */
static double value_of_edges(cbx_box_back *f, int32_t l, int32_t i)
{
    static const cbx_factor  one = {.most = 1, .least = 1};
    const cbx_partial_graph *g = f->boxes->q->graph;
    const cbx_view          *view = g->view;
    const cbx_node_scale    *scales = f->boxes->layers[l].scales;
    bool                     gcn = f->boxes->q->net->layers[l].norm == CBX_NORM_GCN;
    double                   sum = 0;
    bool                     sees_edges = f->boxes->q->net->layers[l].reach > 0;
    for (int64_t e = view->offset[i]; e < view->offset[i + 1] && sees_edges; e++) {
        int32_t u = view->source[e];
        bool    may_go = g->choice_of[e] >= 0;
        if (gcn && u == i)
            continue; /* the loop that every row has is the one below */
        double most = value(f, l - 1, u, f->neighbour[l], may_go ? 0 : -INFINITY);
        double term = scaled(&scales[u].source, &scales[i].target, most);
        term *= view->weight ? (double)view->weight[e] : 1;
        sum += may_go && term < 0 ? 0 : term;
    }
    if (gcn)
        sum += scaled(&scales[i].loop, &one, value(f, l - 1, i, f->neighbour[l], -INFINITY));
    return sum;
}

static double value(cbx_box_back *f, int32_t l, int32_t i, const double *weight, double enough)
{
    if (l < 0)
        return value_in_ranges(f, i, weight);
    const cbx_net_layer *net = &f->boxes->q->net->layers[l];
    const cbx_box_layer *y = &f->boxes->layers[l];
    int64_t              at = (int64_t)i * net->n_out;
    double               boxed = cbx_lines_in_box(net->n_out, weight, y->low + at, y->high + at);
    if (boxed <= enough || !may_step(f, l, i))
        return boxed;
    double *line = f->line[l];
    double  sum = cbx_lines_of_relu(weight, y->low + at, y->high + at, net->n_out, line);
    sum += cbx_lines_dot(net->n_out, line, net->bias);
    for (int32_t j = 0; j < net->n_out; j++)
        sum += fabs(line[j]) * y->rounding[at + j];
    cbx_lines_multiply(net, f->turned_neighbour[l], line, f->neighbour[l]);
    if (net->has_own) {
        cbx_lines_multiply(net, f->turned_own[l], line, f->own[l]);
        sum += value(f, l - 1, i, f->own[l], -INFINITY);
    }
    sum += value_of_edges(f, l, i);
    return fmin(sum, boxed);
}

/* ---- closer boxes */

/* May unit j be on either side of 0, in any row? Else a ReLU does nothing to it that a line would
 * not say, or leaves nothing of it. */
static bool is_open(const cbx_box_back *f, int32_t l, int32_t j)
{
    const cbx_box_layer *y = &f->boxes->layers[l];
    int64_t              n = f->boxes->q->net->layers[l].n_out;
    for (int64_t at = j; at < y->rows * n; at += n)
        if (y->low[at] < 0 && y->high[at] > 0)
            return true;
    return false;
}

/* Weights of layer l - 1 that a product of layer l has: the most, and the least if `below`. */
static void narrow_product(cbx_box_back *f, int32_t l, int32_t i, const double *weight, bool below,
                           double *low, double *high)
{
    int32_t width = f->boxes->q->net->layers[l].n_in;
    if (!below) {
        *high = fmin(*high, value(f, l - 1, i, weight, -INFINITY));
        return;
    }
    for (int32_t k = 0; k < width; k++)
        f->against[k] = -weight[k];
    *low = fmax(*low, -value(f, l - 1, i, f->against, -INFINITY));
}

/* The products of units that may be on either side of 0; from below only where the first pass, from
 * above, has left some. */
static void narrow_products(cbx_box_back *f, int32_t l, bool below)
{
    cbx_boxes           *b = f->boxes;
    const cbx_net_layer *net = &b->q->net->layers[l];
    for (int32_t j = 0; j < net->n_out && !f->late; j++) {
        const double *neighbour = f->turned_neighbour[l] + (int64_t)j * net->n_in;
        const double *own = f->turned_own[l] + (int64_t)j * net->n_in;
        bool          open = is_open(f, l, j);
        for (int32_t i = 0; open && i < b->layers[l].rows_in && f->work <= f->most_work; i++) {
            int64_t at = (int64_t)i * net->n_out + j;
            narrow_product(f, l, i, neighbour, below, &b->message_low[at], &b->message_high[at]);
            if (net->has_own && i < b->layers[l].rows)
                narrow_product(f, l, i, own, below, &b->own_low[at], &b->own_high[at]);
        }
    }
    cbx_boxes_add_up(b, l);
}

bool cbx_box_back_narrow(cbx_box_back *f)
{
    /* the first layer's are exact as they are: its rows' features are independent */
    for (int32_t l = 1; l < f->boxes->q->net->num_layers && !f->late; l++) {
        if (!cbx_boxes_multiply(f->boxes, l))
            f->late = true;
        cbx_boxes_add_up(f->boxes, l);
        narrow_products(f, l, false);
        narrow_products(f, l, true);
    }
    cbx_boxes_finish(f->boxes);
    return !f->late;
}

/* ---- the lead */

double cbx_box_back_lead(cbx_box_back *f, int32_t ahead, int32_t behind)
{
    const cbx_boxes *b = f->boxes;
    const cbx_net   *net = b->q->net;
    double           size, lead = cbx_net_head_bias(net, ahead, behind, &size);
    int32_t          rows;
    double           share = cbx_boxes_share(b, &rows);
    for (int32_t l = 0; l < net->num_layers; l++) {
        bool seen = cbx_net_head(net, l, ahead, behind, b->weights, b->sizes);
        for (int32_t i = 0; seen && i < rows; i++)
            lead += share * value(f, l, i, b->weights, -INFINITY);
    }
    return f->late ? INFINITY : lead + cbx_boxes_head_rounding(b, ahead, behind);
}
