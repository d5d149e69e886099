/* SPDX-License-Identifier: Apache-2.0 */
/* lead_bound.c: see lead_bound.h. */
#include "lead_back.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "pool_max.h"

/* ---- memory */

/* Where a maximum is taken there is a table of each row's edges by the choices at it. */
static const double LARGEST_TABLE = 3e7;

static bool tables_fit(const cbx_partial_graph *g)
{
    for (int32_t v = 0; v < g->view->n; v++)
        if ((double)(g->view->offset[v + 1] - g->view->offset[v]) *
                (double)(g->at_begin[v + 1] - g->at_begin[v]) >
            LARGEST_TABLE)
            return false;
    return true;
}

static bool is_known(const cbx_net *net, const cbx_partial_graph *graph)
{
    for (int32_t l = 0; net && l < net->num_layers; l++)
        if (!cbx_scale_is_known(net->layers[l].norm, graph) ||
            (net->layers[l].maximum && !tables_fit(graph)))
            return false;
    return net != NULL;
}

static int make_weights(cbx_lead_bound *b, cbx_arena *arena)
{
    const cbx_net *net = b->spread.net;
    b->weight = CBX_NEW(arena, double *, net->num_layers);
    for (int32_t l = 0; b->weight && l < net->num_layers; l++) {
        const cbx_spread_layer *y = &b->spread.layers[l];
        if (!(b->weight[l] = CBX_NEW(arena, double, (size_t)y->rows *(size_t)y->width)))
            return -1;
    }
    return b->weight ? 0 : -1;
}

static int make_slopes(cbx_lead_bound *b, cbx_arena *arena)
{
    const cbx_spread_layer *y = &b->spread.layers[0];
    size_t                  size = (size_t)y->rows_in * (size_t)y->width;
    double **all[] = {&b->message.rise, &b->message.fall, &b->own.rise, &b->own.fall};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(*all[k] = CBX_NEW(arena, double, size)))
            return -1;
    if (b->spread.net->layers[0].maximum && cbx_lead_has_features(b)) {
        size = (size_t)y->rows * (size_t)y->in;
        b->maximum.rise = CBX_NEW(arena, double, size);
        b->maximum.fall = CBX_NEW(arena, double, size);
        if (!b->maximum.rise || !b->maximum.fall)
            return -1;
    }
    int32_t layers = b->spread.net->num_layers;
    b->at_row = CBX_NEW0(arena, double *, layers);
    b->word = CBX_NEW0(arena, cbx_slopes, layers);
    b->at_maxima = CBX_NEW(arena, double, y->rows_in);
    for (int32_t l = 1; cbx_lead_has_features(b) && b->at_row && b->word && l < layers; l++) {
        int64_t of_words = (int64_t)y->rows_in * b->spread.layers[l].width;
        b->at_row[l] = CBX_NEW(arena, double, y->rows_in);
        b->word[l].rise = CBX_NEW(arena, double, of_words);
        b->word[l].fall = CBX_NEW(arena, double, of_words);
        if (!b->at_row[l] || !b->word[l].rise || !b->word[l].fall)
            return -1;
    }
    return b->at_row && b->word && b->at_maxima ? 0 : -1;
}

/* Choices by the two nodes whose budgets they take from, where there are such budgets. */
static int list_by_node(cbx_lead_bound *b, cbx_arena *arena)
{
    const cbx_partial_graph *g = b->spread.graph;
    bool                     any = false;
    for (int32_t v = 0; v < g->view->n; v++)
        any = any || g->local[v] < g->budget;
    for (int32_t c = 0; c < g->count && any; c++)
        any = g->choices[c].ends[0] != g->choices[c].ends[1];
    if (!any)
        return 0;
    b->end_begin = CBX_NEW0(arena, int64_t, g->view->n + 2);
    b->by_node = CBX_NEW(arena, int32_t, 2 * (int64_t)g->count);
    if (!b->end_begin || !b->by_node)
        return -1;
    for (int32_t c = 0; c < g->count; c++)
        for (int k = 0; k < 2; k++)
            b->end_begin[g->choices[c].ends[k] + 2]++;
    for (int32_t v = 0; v <= g->view->n; v++)
        b->end_begin[v + 1] += b->end_begin[v];
    for (int32_t c = 0; c < g->count; c++)
        for (int k = 0; k < 2; k++)
            b->by_node[b->end_begin[g->choices[c].ends[k] + 1]++] = c;
    return 0;
}

cbx_status cbx_lead_bound_init(cbx_lead_bound *b, const cbx_net *net,
                               const cbx_partial_graph *graph, const cbx_matrix *X,
                               cbx_arena *arena, bool *known, cbx_error *err)
{
    *known = is_known(net, graph);
    if (!*known)
        return CBX_OK;
    *b = (cbx_lead_bound){.gain = CBX_NEW(arena, double, graph->count),
                          .at_removal = CBX_NEW(arena, double, graph->view->n),
                          .at_addition = CBX_NEW(arena, double, graph->view->n),
                          .before = CBX_NEW(arena, double, net->widest),
                          .input = CBX_NEW(arena, double, net->widest),
                          .bend = CBX_NEW(arena, double, net->widest),
                          .best = CBX_NEW(arena, double, 2 * (int64_t)graph->count + 1),
                          .falls = CBX_NEW(arena, double, graph->count),
                          .promise = CBX_NEW(arena, double, graph->count)};
    if (!b->falls || !b->promise || cbx_gains_init(&b->gains, graph->count, arena) || !b->gain ||
        !b->at_removal || !b->at_addition || !b->before || !b->input || !b->bend || !b->best)
        return cbx_fail_memory(err);
    cbx_status status = cbx_spread_init(&b->spread, net, graph, X, arena, err);
    if (status)
        return status;
    if (make_weights(b, arena) || make_slopes(b, arena) ||
        cbx_edge_sum_init(&b->sum, (int64_t)graph->count + graph->view->n, arena) ||
        cbx_undone_init(&b->undone, b->spread.moves.first, arena))
        return cbx_fail_memory(err);
    if (list_by_node(b, arena))
        return cbx_fail_memory(err);
    status = cbx_pool_max_init(b, arena, err);
    if (status)
        return status;
    return cbx_rounding_init(&b->sizes, &b->spread, arena, err);
}

/* ---- the best that the budgets allow */

/* What choices with an edge into a node gain there. */
static void add_node_gains(cbx_lead_bound *b)
{
    const cbx_partial_graph *g = b->spread.graph;
    for (int32_t c = 0; c < g->count; c++)
        for (int64_t k = g->choices[c].begin; k < g->choices[c].end; k++) {
            int32_t v = g->target_of[g->slots[k]];
            b->gain[c] += g->choices[c].adds ? b->at_addition[v] : b->at_removal[v];
        }
}

/* What a choice of the row's features gains behind the first layer and by maxima; NULL: any. */
static double later_gain(const cbx_lead_bound *b, const cbx_choice *c, int32_t row)
{
    double sum = b->at_maxima[row];
    for (int32_t l = 1; l < b->spread.net->num_layers; l++) {
        double  gain = b->at_row[l][row];
        int64_t at = (int64_t)row * b->spread.layers[l].width;
        if (c && gain > 0 && b->spread.moves.words)
            gain = fmin(gain, cbx_row_moves_word_gain(&b->spread.moves, c, l, b->word[l].rise + at,
                                                      b->word[l].fall + at));
        sum += gain;
    }
    return sum;
}

/* Of any feature of a row that moves by 1 through weights of length 1, at most. */
static double longest_slope(const cbx_lead_bound *b, int32_t row)
{
    int32_t width = b->spread.layers[0].width;
    double  sum = 0;
    for (int64_t at = (int64_t)row * width; at < (int64_t)(row + 1) * width; at++) {
        double most = fmax(fabs(b->message.rise[at]), fabs(b->message.fall[at]));
        sum += most * most;
    }
    return sqrt(sum) * 1.000001;
}

/* What the choice gains by lengths alone. */
static double gain_by_length(const cbx_lead_bound *b, const cbx_choice *c, double slope,
                             double at_row)
{
    const double *length = b->spread.moves.weight_length;
    double        by = fmax(fabs((double)c->low), fabs((double)c->high));
    return at_row + slope * by * (length[c->column] + (c->other >= 0 ? length[c->other] : 0));
}

/* What each choice of features gains. Of those that could gain too little to matter, whichever they
 * are, it is enough to know that. False: no time. */
static bool add_feature_gains(cbx_lead_bound *b)
{
    const cbx_spread        *s = &b->spread;
    const cbx_partial_graph *g = s->graph;
    const cbx_net_layer     *net = &s->net->layers[0];
    double                   slope = 0, at_row = 0;
    double  little = -(b->now + b->rounding) / (2 * (double)(g->budget > 0 ? g->budget : 1));
    int32_t row = -1;
    for (int32_t k = s->moves.first; k < g->count; k++) {
        const cbx_choice *c = &g->choices[k];
        int64_t           at = (int64_t)c->row * net->n_out;
        if (cbx_out_of_time(2.0 * net->n_out))
            return false;
        if (!cbx_choice_is_open(g, k))
            continue;
        slope = c->row == row ? slope : longest_slope(b, c->row);
        at_row = c->row == row ? at_row : later_gain(b, NULL, c->row);
        row = c->row;
        b->gain[k] = gain_by_length(b, c, slope, at_row);
        if (b->gain[k] < little && !net->has_own && !net->maximum)
            continue;
        b->gain[k] = later_gain(b, c, c->row);
        if (net->maximum)
            b->gain[k] += cbx_lead_max_gain(b, c);
        else
            b->gain[k] += cbx_row_moves_gain(c, net->neighbour, net->n_out, b->message.rise + at,
                                             b->message.fall + at);
        if (net->has_own)
            b->gain[k] +=
                cbx_row_moves_gain(c, net->own, net->n_out, b->own.rise + at, b->own.fall + at);
    }
    return true;
}

static void clear_slopes(cbx_lead_bound *b)
{
    const cbx_spread_layer *y = &b->spread.layers[0];
    size_t                  size = (size_t)y->rows_in * (size_t)y->width * sizeof(double);
    memset(b->message.rise, 0, size);
    memset(b->message.fall, 0, size);
    memset(b->own.rise, 0, size);
    memset(b->own.fall, 0, size);
    memset(b->at_maxima, 0, (size_t)y->rows_in * sizeof(double));
    for (int32_t l = 1; cbx_lead_has_features(b) && l < b->spread.net->num_layers; l++) {
        size = (size_t)y->rows_in * (size_t)b->spread.layers[l].width * sizeof(double);
        memset(b->at_row[l], 0, (size_t)y->rows_in * sizeof(double));
        memset(b->word[l].rise, 0, size);
        memset(b->word[l].fall, 0, size);
    }
}

/* The best of all; and, as every choice is at two nodes, half of the best at each node, of which
 * there are no more than two for each that can be made. */
static double best_gains(cbx_lead_bound *b)
{
    const cbx_partial_graph *g = b->spread.graph;
    int64_t                  most = g->budget < g->count ? g->budget : g->count;
    cbx_largest              largest = {.best = b->best, .count = most};
    for (int32_t c = 0; c < g->count; c++)
        if (cbx_choice_is_open(g, c))
            cbx_largest_take(&largest, b->gain[c]);
    double all = cbx_largest_sum(&largest), halves = 0;
    b->rest = cbx_largest_rest(&largest);
    if (!b->by_node)
        return all;
    largest = (cbx_largest){.best = b->best, .count = 2 * most};
    for (int32_t v = 0; v < g->view->n; v++) {
        int64_t     local = g->local[v] < most ? g->local[v] : most;
        cbx_largest here = {.best = b->spread.best, .count = local > 0 ? local : 0};
        for (int64_t k = b->end_begin[v]; k < b->end_begin[v + 1]; k++)
            if (cbx_choice_is_open(g, b->by_node[k]))
                cbx_largest_take(&here, b->gain[b->by_node[k]]);
        for (int64_t k = 0; k < here.held; k++)
            cbx_largest_take(&largest, here.best[k]);
    }
    halves = cbx_largest_sum(&largest) / 2;
    return halves < all ? halves : all;
}

cbx_status cbx_lead_bound_use_pairs(cbx_lead_bound *b, cbx_arena *arena, cbx_error *err)
{
    if (b->pairs || !cbx_pair_gains_are_known(&b->spread))
        return CBX_OK;
    if (!(b->pairs = CBX_NEW(arena, cbx_pair_gains, 1)))
        return cbx_fail_memory(err);
    return cbx_pair_gains_init(b->pairs, &b->spread, arena, err);
}

int cbx_lead_bound_update(cbx_lead_bound *b)
{
    if (cbx_spread_compute(&b->spread))
        return -1;
    cbx_rounding_compute(&b->sizes);
    return cbx_pool_max_compute(b);
}

/* Of two ways to charge what is undone, of some between them, and of pairs, the one with the
 * smallest bound. */
static double charge_best(cbx_lead_bound *b)
{
    const int64_t count = b->spread.graph->count;
    double        best = INFINITY;
    int           share = 0;
    memcpy(b->gains.common, b->gain, (size_t)count * sizeof *b->gain);
    for (int k = 0; cbx_gains_of(&b->gains, count, k, b->gain); k++) {
        double sum = best_gains(b);
        share = sum < best ? k : share;
        best = sum < best ? sum : best;
    }
    (void)cbx_gains_of(&b->gains, count, share, b->gain);
    if (b->gains.are_paired)
        memcpy(b->promise, b->gains.paired, (size_t)count * sizeof *b->gain);
    else
        (void)cbx_gains_of(&b->gains, count, b->gains.both ? CBX_SHARES / 2 : 0, b->promise);
    return best_gains(b);
}

/* What choices gain by pairs; so far they have what bends gain them and no more. False: no time. */
static bool end_pairs(cbx_lead_bound *b)
{
    if (!b->pairs || !b->pairs->on)
        return true;
    if (cbx_out_of_time(4.0 * b->pairs->count * b->pairs->count))
        return false;
    cbx_pair_gains_end(b->pairs, b->gain);
    memset(b->gains.paired, 0, (size_t)b->spread.graph->count * sizeof *b->gains.paired);
    cbx_pair_gains_halved(b->pairs, b->gains.paired);
    b->gains.are_paired = true;
    return true;
}

double cbx_lead_bound_of(cbx_lead_bound *b, int32_t ahead, int32_t behind)
{
    cbx_spread  *s = &b->spread;
    const size_t choices = (size_t)s->graph->count * sizeof *b->gain;
    memset(b->gain, 0, choices);
    memset(b->gains.charged[0], 0, choices);
    memset(b->gains.charged[1], 0, choices);
    memset(b->at_removal, 0, (size_t)s->graph->view->n * sizeof *b->at_removal);
    memset(b->at_addition, 0, (size_t)s->graph->view->n * sizeof *b->at_addition);
    clear_slopes(b);
    b->gains.both = s->graph->budget > 1;
    b->gains.are_paired = false;
    if (b->pairs)
        cbx_pair_gains_begin(b->pairs);
    cbx_lead_start(b, ahead, behind);
    for (int32_t l = s->net->num_layers - 1; l >= 0; l--)
        for (int32_t v = 0; v < s->layers[l].rows; v++) {
            if (cbx_out_of_time((double)s->layers[l].width * (2 * s->layers[l].in + 16)))
                return INFINITY;
            cbx_lead_pass(b, l, v);
        }
    if (!end_pairs(b))
        return INFINITY;
    add_node_gains(b);
    b->rounding = cbx_rounding_of(&b->sizes, ahead, behind);
    if (!add_feature_gains(b))
        return INFINITY;
    double gain = charge_best(b);
    if (b->gains.are_paired && s->graph->budget == 2)
        gain = fmin(gain, cbx_pair_gains_of_two(b->pairs));
    return b->now + b->rounding + gain;
}
