/* SPDX-License-Identifier: Apache-2.0 */
/* lead_max.c: the steps of lead_back.h where a layer takes a maximum over neighbours. */
#include "lead_back.h"

#include <math.h>

#include "kernel.h"

/* Of a maximum a weight goes on to the leader's source, where that tells more, and to what choices
 * do beside it; else all of it to what they do. */
void cbx_lead_pass_maxima(cbx_lead_bound *b, int32_t l, int32_t v)
{
    const cbx_maxima *m = &b->spread.layers[l].maxima;
    const cbx_view   *view = b->spread.graph->view;
    int32_t           units = b->spread.layers[l].in;
    int64_t           row = (int64_t)v * units;
    for (int32_t k = 0; k < units; k++) {
        double weight = b->input[k];
        if (!(weight > 0 ? m->passes_up[row + k] : m->passes_down[row + k]))
            continue;
        int64_t e = view->offset[v] + m->leader[row + k];
        double  w = view->weight ? (double)view->weight[e] : 1;
        b->weight[l - 1][(int64_t)view->source[e] * units + k] += weight * w;
    }
    for (int64_t e = m->begin[v]; e < m->begin[v + 1]; e++) {
        const cbx_max_move *move = &m->moves[e];
        double              weight = b->input[move->unit];
        double              up = m->passes_up[row + move->unit] ? move->above : move->up;
        double              down = m->passes_down[row + move->unit] ? -move->below : move->down;
        double              gain = weight * (weight > 0 ? up : down);
        if (!cbx_row_moves_is_row(&b->spread.moves, move->choice))
            b->gain[move->choice] += gain;
        else if (l > 0) /* of the first layer features are told one by one */
            b->at_maxima[move->choice - b->spread.graph->count] += gain;
    }
}

/* What a maximum counts that has these weights, if it rises by 1 and if it falls by 1. */
CBX_HOT static void slopes_of(const double *w, int32_t width, const double *before,
                              const double *bend, double *rise, double *fall)
{
    double straight = 0, up = 0, down = 0;
    for (int32_t j = 0; j < width; j++) {
        double bent = bend[j] * w[j];
        straight += before[j] * w[j];
        up += bent > 0 ? bent : 0;
        down += bent < 0 ? bent : 0;
    }
    *rise = straight + up;
    *fall = straight + down;
}

void cbx_lead_tell_maxima(cbx_lead_bound *b, int32_t v)
{
    const cbx_net_layer *net = &b->spread.net->layers[0];
    for (int32_t k = 0; k < net->n_in; k++) {
        int64_t at = (int64_t)v * net->n_in + k;
        slopes_of(net->neighbour + (int64_t)k * net->n_out, net->n_out, b->before, b->bend,
                  &b->maximum.rise[at], &b->maximum.fall[at]);
    }
}

/* By how much a feature that moves by `low` to `high` moves the maximum that the edge's target has
 * of it. */
static cbx_interval move_of(const cbx_spread *s, int64_t e, int32_t k, double low, double high)
{
    const cbx_spread_layer  *y = &s->layers[0];
    const cbx_partial_graph *g = s->graph;
    int32_t                  v = g->target_of[e], u = g->view->source[e];
    int64_t                  at = (int64_t)v * y->in + k;
    double                   w = g->view->weight ? (double)g->view->weight[e] : 1;
    cbx_interval             by = cbx_interval_times(w, low, high);
    int64_t                  budget = g->budget > 0 ? g->budget : 1;
    if (y->maxima.leader[at] == e - g->view->offset[v]) {
        bool stays = g->choice_of[e] < 0 || !cbx_choice_is_open(g, g->choice_of[e]);
        return (cbx_interval){stays ? by.low : fmin(by.low, 0), fmax(by.high, 0)};
    }
    double gap = y->maxima.now[at] - w * y->message[(int64_t)u * y->in + k];
    return (cbx_interval){0, fmax(by.high - gap / (double)budget, 0)};
}

static double gain_of(double by, double rise, double fall)
{
    return by * (by > 0 ? rise : fall);
}

/* Of one feature: what it counts is convex in how far a maximum moves, so it is most at an end. */
static double column_gain(const cbx_lead_bound *b, int32_t row, int32_t k, double low, double high)
{
    const cbx_spread *s = &b->spread;
    const cbx_view   *view = s->graph->view;
    double            sum = 0;
    for (int64_t o = view->out_offset[row]; o < view->out_offset[row + 1]; o++) {
        int32_t v = view->out_target[o];
        int64_t at = (int64_t)v * s->layers[0].in + k;
        if (v >= s->layers[0].rows || !s->graph->present[view->out_slot[o]])
            continue;
        cbx_interval by = move_of(s, view->out_slot[o], k, low, high);
        double       rise = b->maximum.rise[at], fall = b->maximum.fall[at];
        sum += fmax(gain_of(by.low, rise, fall), gain_of(by.high, rise, fall));
    }
    return sum;
}

double cbx_lead_max_gain(const cbx_lead_bound *b, const cbx_choice *c)
{
    double low = (double)c->low, high = (double)c->high;
    double gain = column_gain(b, c->row, c->column, low, high);
    return c->other < 0 ? gain : gain + column_gain(b, c->row, c->other, -high, -low);
}
