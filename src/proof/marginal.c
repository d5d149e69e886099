/* SPDX-License-Identifier: Apache-2.0 */
/* marginal.c: see marginal.h. */
#include "marginal.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "kernel.h"
#include "pair_gains.h"
#include "spread_parts.h"

/* Numbers that the tables of one row may have. */
static const double LARGEST_TABLE = 4e6;

/* ---- what it is known of */

bool cbx_marginal_is_known(const cbx_spread *s)
{
    double table = (double)s->graph->count * s->net->widest * 2 * CBX_FEW;
    return !s->net->max_pool && !cbx_net_has_own(s->net) && table < LARGEST_TABLE &&
           cbx_pair_gains_are_known(s);
}

static int make_layers(cbx_marginal *m)
{
    m->layers = CBX_NEW0(m->arena, cbx_marginal_layer, m->s->net->num_layers);
    for (int32_t l = 0; m->layers && l < m->s->net->num_layers; l++)
        if (!(m->layers[l].begin = CBX_NEW0(m->arena, int64_t, m->s->layers[l].rows + 1)))
            return -1;
    return m->layers ? 0 : -1;
}

cbx_status cbx_marginal_init(cbx_marginal *m, const cbx_spread *s, cbx_arena *arena, cbx_error *err)
{
    int64_t count = s->graph->count, widest = s->net->widest, table = count * widest;
    *m = (cbx_marginal){.s = s,
                        .arena = arena,
                        .place = CBX_NEW(arena, int32_t, count),
                        .at_row = CBX_NEW(arena, int32_t, count),
                        .at_edge = CBX_NEW(arena, int32_t, count),
                        .edge_low = CBX_NEW(arena, double, table),
                        .edge_high = CBX_NEW(arena, double, table),
                        .touched = CBX_NEW(arena, int32_t, count),
                        .is_touched = CBX_NEW0(arena, uint8_t, count),
                        .gone_low = CBX_NEW(arena, double, CBX_FEW *table),
                        .gone_high = CBX_NEW(arena, double, CBX_FEW *table),
                        .low = CBX_NEW(arena, double, widest),
                        .high = CBX_NEW(arena, double, widest),
                        .step_low = CBX_NEW(arena, double, widest),
                        .step_high = CBX_NEW(arena, double, widest)};
    bool whole = m->place && m->at_row && m->at_edge && m->edge_low && m->edge_high && m->touched &&
                 m->is_touched && m->gone_low && m->gone_high && m->low && m->high && m->step_low &&
                 m->step_high;
    for (int64_t c = 0; whole && c < count; c++)
        m->place[c] = -1;
    return whole && !make_layers(m) ? CBX_OK : cbx_fail_memory(err);
}

/* Room for all choices behind the `had` entries. */
static int grow(cbx_marginal *m, cbx_marginal_layer *y, int64_t had, int32_t width)
{
    if (had + m->s->graph->count <= y->room)
        return 0;
    int64_t  room = 2 * (had + m->s->graph->count);
    int32_t *choice = CBX_NEW(m->arena, int32_t, room);
    uint8_t *same = CBX_NEW(m->arena, uint8_t, room);
    if (!choice || !same || cbx_spread_grow(m->arena, had, room, width, &y->low, &y->high))
        return -1;
    if (had > 0) {
        memcpy(choice, y->choice, (size_t)had * sizeof *choice);
        memcpy(same, y->same, (size_t)had * sizeof *same);
    }
    y->choice = choice;
    y->same = same;
    y->room = room;
    return 0;
}

/* ---- factors, between the least and the most */

static const cbx_node_scale *scale_of(const cbx_marginal *m, int32_t v)
{
    return &m->s->scales[CBX_NORM_GCN][v];
}

/* One end of an edge that stays. */
typedef struct edge_end {
    double  degree;
    int64_t open; /* choices at it that others may have made */
    int64_t most; /* edges there that can go, all together */
} edge_end;

static edge_end end_of(const cbx_marginal *m, int32_t v, bool paired)
{
    const cbx_node_scale *s = scale_of(m, v);
    return (edge_end){s->degree, s->removals, (int64_t)s->degree - (paired ? 2 : 1)};
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Its factor after k others at it, or as many as there can be … */
static double factor(edge_end of, int64_t k)
{
    return cbx_scale_gcn(of.degree, least(least(k, of.open), of.most));
}

/* … and the one more. */
static double factor_with(edge_end of, int64_t k)
{
    return cbx_scale_gcn(of.degree, least(least(k, of.open) + 1, of.most));
}

/* By how much that one moves it. */
static double factor_step(edge_end of, int64_t k)
{
    int64_t before = least(least(k, of.open), of.most - 1);
    return before < 0 ? 0 : cbx_scale_gcn(of.degree, before + 1) - cbx_scale_gcn(of.degree, before);
}

/* The largest factor of an edge that stays, with k others, and with one more at either end. */
static void find_largest(edge_end u, edge_end v, int64_t k, double *most, double *most_near)
{
    *most = *most_near = 0;
    for (int64_t at_u = 0; at_u <= k; at_u++) {
        double of_u = factor(u, at_u), of_v = factor(v, k - at_u);
        *most = fmax(*most, of_u * of_v);
        *most_near =
            fmax(*most_near, fmax(factor_with(u, at_u) * of_v, of_u * factor_with(v, k - at_u)));
    }
}

/* What one more at w adds to it, beside k others: between the two. */
static cbx_interval factor_steps(edge_end w, edge_end other, int64_t k)
{
    cbx_interval steps = {factor_step(w, 0) * factor(other, 0), 0};
    for (int64_t at_w = 0; at_w <= k; at_w++)
        steps.high = fmax(steps.high, factor_step(w, at_w) * factor(other, k - at_w));
    return steps;
}

/* The factor of a loop after k others at its node, and one more or none. */
static double loop_factor(const cbx_node_scale *v, int64_t k, bool more)
{
    int64_t gone = least(k, v->removals) + more;
    return 1 / (v->degree - (double)least(gone, (int64_t)v->degree - 1));
}

/* ---- intervals */

/* Adds what is somewhere between the two, times a factor that is between those two. */
CBX_HOT static void add_product(int32_t width, cbx_interval factor, const double *low,
                                const double *high, double *restrict to_low,
                                double *restrict to_high)
{
    for (int32_t j = 0; j < width; j++) {
        double a = factor.low * high[j], b = factor.high * high[j];
        double c = factor.low * low[j], d = factor.high * low[j];
        to_high[j] += a > b ? a : b;
        to_low[j] += c < d ? c : d;
    }
}

CBX_HOT static void add_interval(int32_t width, const double *low, const double *high,
                                 double *restrict to_low, double *restrict to_high)
{
    for (int32_t j = 0; j < width; j++) {
        to_low[j] += low[j];
        to_high[j] += high[j];
    }
}

/* What is wider by as much as that, to either side. */
CBX_HOT static void widen_both(int32_t width, const double *by_low, const double *by_high,
                               double *restrict to_low, double *restrict to_high)
{
    for (int32_t j = 0; j < width; j++) {
        to_low[j] -= by_low[j];
        to_high[j] += by_high[j];
    }
}

/* The same as adding, the other way round: what goes. */
CBX_HOT static void take_interval(int32_t width, const double *low, const double *high,
                                  double *restrict to_low, double *restrict to_high)
{
    for (int32_t j = 0; j < width; j++) {
        to_low[j] -= high[j];
        to_high[j] -= low[j];
    }
}

/* ---- a row */

typedef struct row {
    cbx_marginal           *m;
    cbx_marginal_layer     *y;
    const cbx_spread_layer *x;
    int32_t                 l, v, width;
    int64_t                 others; /* choices beside the one more */
    int64_t                 gone;   /* edges into the row that can have gone with these */
    int64_t                 begin, end;
} row;

/* Where the edge at hand has the choice. */
static int64_t touch(row *r, int32_t choice)
{
    cbx_marginal *m = r->m;
    if (m->place[choice] < 0) {
        m->place[choice] = (int32_t)(r->end - r->begin);
        r->y->choice[r->end] = choice;
        cbx_clear(r->y->low + r->end * r->width, r->width);
        cbx_clear(r->y->high + r->end * r->width, r->width);
        cbx_clear(m->gone_low + (r->end - r->begin) * CBX_FEW * r->width, r->gone * r->width);
        cbx_clear(m->gone_high + (r->end - r->begin) * CBX_FEW * r->width, r->gone * r->width);
        r->end++;
    }
    int64_t place = m->place[choice];
    if (!m->is_touched[place]) {
        m->is_touched[place] = 1;
        m->touched[m->num_touched++] = (int32_t)place;
        cbx_clear(m->edge_low + place * r->width, r->width);
        cbx_clear(m->edge_high + place * r->width, r->width);
    }
    return place * r->width;
}

/* What one more choice does to the message of node u goes on, times the edge's factor: of those
 * that are `near`, at one of its ends, that can be larger. */
static void add_moved(row *r, int32_t u, int32_t own, double now, double most, double most_near)
{
    cbx_marginal *m = r->m;
    if (r->l == 0)
        return; /* features do not move */
    const cbx_marginal_layer *x = &m->layers[r->l - 1];
    for (int64_t k = x->begin[u]; k < x->begin[u + 1]; k++) {
        int32_t c = x->choice[k];
        if (c == own)
            continue;
        bool    near = m->at_row[c] == r->v || m->at_edge[c] == u;
        int64_t to = touch(r, c);
        add_product(r->width, (cbx_interval){now, near ? most_near : most},
                    x->sent_low + k * r->width, x->sent_high + k * r->width, m->edge_low + to,
                    m->edge_high + to);
    }
}

/* One more choice at node w adds so much to the factor of what node u sends. */
static void add_step(row *r, int32_t w, int32_t u, int32_t own, cbx_interval step)
{
    cbx_marginal            *m = r->m;
    const cbx_partial_graph *g = m->s->graph;
    int64_t                  at = (int64_t)u * r->width;
    bool                     any = false;
    for (int64_t k = g->at_begin[w]; k < g->at_begin[w + 1]; k++) {
        if (g->at[k] == own || !m->more[g->at[k]])
            continue;
        if (!any) {
            cbx_clear(m->step_low, r->width);
            cbx_clear(m->step_high, r->width);
            add_product(r->width, step, r->x->rest_low + at, r->x->rest_high + at, m->step_low,
                        m->step_high);
        }
        any = true;
        int64_t to = touch(r, g->at[k]);
        add_interval(r->width, m->step_low, m->step_high, m->edge_low + to, m->edge_high + to);
    }
}

/* Keeps the largest so many of each unit: values of `sign` that are above 0. */
CBX_HOT static void keep_largest(int32_t width, int64_t count, double sign, const double *value,
                                 double *restrict kept)
{
    for (int32_t j = 0; j < width; j++) {
        double x = sign * value[j];
        for (int64_t k = 0; k < count; k++) {
            double was = kept[k * width + j], more = x > was ? x : was;
            x = x > was ? was : x;
            kept[k * width + j] = more;
        }
    }
}

/* The edge at hand is done. Where it may have gone with others, what it adds may be missed. */
static void end_edge(row *r, int32_t own, bool goes)
{
    cbx_marginal *m = r->m;
    for (int64_t k = 0; k < m->num_touched; k++) {
        int64_t at = m->touched[k], to = (r->begin + at) * r->width, few = at * CBX_FEW * r->width;
        const double *low = m->edge_low + at * r->width, *high = m->edge_high + at * r->width;
        add_interval(r->width, low, high, r->y->low + to, r->y->high + to);
        m->is_touched[at] = 0;
        if (!goes || r->y->choice[r->begin + at] == own)
            continue;
        keep_largest(r->width, r->gone, 1, low, m->gone_low + few);
        keep_largest(r->width, r->gone, -1, high, m->gone_high + few);
    }
    m->num_touched = 0;
}

static void mark_at(const cbx_partial_graph *g, int32_t v, int32_t *at)
{
    for (int64_t k = g->at_begin[v]; k < g->at_begin[v + 1]; k++)
        at[g->at[k]] = v;
}

static void add_edge(row *r, int64_t e)
{
    cbx_marginal            *m = r->m;
    const cbx_partial_graph *g = m->s->graph;
    int32_t                  u = g->view->source[e], choice = g->choice_of[e];
    int32_t                  own = choice >= 0 && m->more[choice] ? choice : -1;
    edge_end                 from = end_of(m, u, g->paired[e]), to = end_of(m, r->v, true);
    double                   now = factor(from, 0) * factor(to, 0), most, most_near;
    find_largest(from, to, r->others, &most, &most_near);
    mark_at(g, u, m->at_edge);
    add_moved(r, u, own, now, most, most_near);
    add_step(r, u, u, own, factor_steps(from, to, r->others));
    add_step(r, r->v, u, own, factor_steps(to, from, r->others));
    if (own >= 0) { /* it was there until now */
        int64_t at = (int64_t)u * r->width, place = touch(r, own);
        cbx_clear(m->step_low, r->width);
        cbx_clear(m->step_high, r->width);
        add_product(r->width, (cbx_interval){now, most}, r->x->rest_low + at, r->x->rest_high + at,
                    m->step_low, m->step_high);
        take_interval(r->width, m->step_low, m->step_high, m->edge_low + place,
                      m->edge_high + place);
    }
    end_edge(r, own, choice >= 0 && cbx_choice_is_open(g, choice));
}

static void add_loop(row *r)
{
    const cbx_node_scale *v = scale_of(r->m, r->v);
    double                now = loop_factor(v, 0, false);
    cbx_interval          step = {loop_factor(v, 0, true) - now, 0};
    for (int64_t k = 0; k <= r->others; k++)
        step.high = fmax(step.high, loop_factor(v, k, true) - loop_factor(v, k, false));
    mark_at(r->m->s->graph, r->v, r->m->at_edge);
    add_moved(r, r->v, -1, now, loop_factor(v, r->others, false), loop_factor(v, r->others, true));
    add_step(r, r->v, r->v, -1, step);
    end_edge(r, -1, false);
}

/* Choices at one node do the same to rows that see no more of them than its degree. */
static void find_same(row *r)
{
    cbx_marginal_layer *y = r->y;
    size_t              size = (size_t)r->width * sizeof(double);
    for (int64_t k = r->begin; k < r->end; k++)
        y->same[k] = k > r->begin &&
                     !memcmp(y->low + k * r->width, y->low + (k - 1) * r->width, size) &&
                     !memcmp(y->high + k * r->width, y->high + (k - 1) * r->width, size);
}

static void end_row(row *r)
{
    cbx_marginal *m = r->m;
    for (int64_t k = r->begin; k < r->end; k++) {
        int64_t few = (k - r->begin) * CBX_FEW * r->width;
        for (int64_t i = 0; i < r->gone; i++)
            widen_both(r->width, m->gone_low + few + i * r->width,
                       m->gone_high + few + i * r->width, r->y->low + k * r->width,
                       r->y->high + k * r->width);
        m->place[r->y->choice[k]] = -1;
    }
    find_same(r);
    r->y->begin[r->v + 1] = r->end;
}

static int compute_row(cbx_marginal *m, int32_t l, int32_t v)
{
    const cbx_partial_graph *g = m->s->graph;
    row                      r = {
                             .m = m, .y = &m->layers[l], .x = &m->s->layers[l], .l = l, .v = v, .others = g->budget - 1};
    int64_t removals = scale_of(m, v)->removals;
    r.width = r.x->width;
    r.gone = removals < r.others ? removals : r.others;
    r.begin = r.end = r.y->begin[v];
    if (grow(m, r.y, r.begin, r.width))
        return -1;
    mark_at(g, v, m->at_row);
    for (int64_t e = g->view->offset[v]; e < g->view->offset[v + 1]; e++)
        if (g->present[e] && g->view->source[e] != v)
            add_edge(&r, e);
    add_loop(&r);
    end_row(&r);
    double work = (double)(r.end - r.begin + 8) * r.width * (8 + 4 * (double)r.gone);
    return cbx_out_of_time(work) ? -1 : 0;
}

/* ---- behind a row's ReLUs */

static void behind_relu(cbx_marginal *m, int32_t l, int32_t v, int64_t entry, bool linear)
{
    const cbx_spread_layer *x = &m->s->layers[l];
    const double           *low = m->layers[l].low + entry * x->width,
                 *high = m->layers[l].high + entry * x->width;
    for (int32_t j = 0; j < x->width; j++) {
        int64_t at = (int64_t)v * x->width + j;
        double  falls = low[j] < 0 ? low[j] : 0, rises = high[j] > 0 ? high[j] : 0;
        bool    on = linear || x->low[at] + falls >= 0, off = !on && x->high[at] + rises <= 0;
        m->low[j] = on ? low[j] : off ? 0 : falls;
        m->high[j] = on ? high[j] : off ? 0 : rises;
    }
}

/* What a row's entries send to layer l. */
static int multiply(cbx_marginal *m, int32_t l)
{
    const cbx_net_layer    *net = &m->s->net->layers[l];
    const cbx_spread_layer *from = &m->s->layers[l - 1];
    cbx_marginal_layer     *x = &m->layers[l - 1];
    int64_t                 entries = x->begin[from->rows], width = net->n_out;
    if (entries > x->sent_room) {
        x->sent_room = 2 * entries;
        if (cbx_spread_grow(m->arena, 0, x->sent_room, width, &x->sent_low, &x->sent_high))
            return -1;
    }
    for (int32_t v = 0; v < from->rows; v++)
        for (int64_t k = x->begin[v]; k < x->begin[v + 1]; k++) {
            double *low = x->sent_low + k * width, *high = x->sent_high + k * width;
            if (x->same[k]) {
                memcpy(low, low - width, (size_t)width * sizeof *low);
                memcpy(high, high - width, (size_t)width * sizeof *high);
                continue;
            }
            if (cbx_out_of_time(4.0 * (double)width * from->width))
                return -1;
            cbx_clear(low, width);
            cbx_clear(high, width);
            behind_relu(m, l - 1, v, k, false);
            cbx_spread_times(net->neighbour, from->width, net->n_out, m->low, m->high, low, high);
        }
    return 0;
}

int cbx_marginal_compute(cbx_marginal *m, const uint8_t *more)
{
    m->more = more;
    for (int64_t c = 0; c < m->s->graph->count; c++)
        m->at_row[c] = m->at_edge[c] = -1;
    for (int32_t l = 0; l < m->s->net->num_layers; l++) {
        if (l > 0 && multiply(m, l))
            return -1;
        for (int32_t v = 0; v < m->s->layers[l].rows; v++)
            if (compute_row(m, l, v))
                return -1;
    }
    return 0;
}

/* ---- the lead */

/* What the entry adds to it, at most. Where the head undoes the layer's ReLU it sees a unit and its
 * negative alike, and both together are the unit. */
static double gain_of(cbx_marginal *m, int32_t l, int32_t v, int64_t entry, const double *weights)
{
    bool           linear = m->s->last_is_linear && l == m->s->net->num_layers - 1;
    const int32_t *twin = m->s->net->layers[l].twin;
    double         sum = 0;
    behind_relu(m, l, v, entry, linear);
    for (int32_t j = 0; j < m->s->layers[l].width; j++) {
        double a = weights[j] * m->low[j], b = weights[j] * m->high[j];
        if (!linear || twin[j] >= 0)
            sum += a > b ? a : b;
    }
    return sum;
}

void cbx_marginal_of(cbx_marginal *m, int32_t ahead, int32_t behind, double *gain)
{
    const cbx_net   *net = m->s->net;
    const cbx_model *model = net->model;
    double          *weights = m->step_low, *sizes = m->step_high;
    cbx_clear(gain, m->s->graph->count);
    for (int32_t l = 0; l < net->num_layers; l++) {
        const cbx_marginal_layer *y = &m->layers[l];
        int32_t                   rows = model->task == CBX_GRAPH ? m->s->layers[l].rows : 1;
        bool                      mean = model->task == CBX_GRAPH && model->pool == CBX_POOL_MEAN;
        if (!cbx_net_head(net, l, ahead, behind, weights, sizes))
            continue;
        for (int32_t v = 0; v < rows; v++)
            for (int64_t k = y->begin[v]; k < y->begin[v + 1]; k++)
                gain[y->choice[k]] += gain_of(m, l, v, k, weights) / (mean ? rows : 1);
    }
}
