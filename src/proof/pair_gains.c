/* SPDX-License-Identifier: Apache-2.0 */
/* pair_gains.c: see pair_gains.h. */
#include "pair_gains.h"

#include <math.h>
#include <string.h>

#include "error.h"
#include "kernel.h"
#include "spread_parts.h"

/* Numbers that the tables may have: 64 MB, for each thread. */
static const double LARGEST_TABLES = 8e6;

/* ---- what it is known of */

/* Where an edge that the first layer sees goes, the one back goes with it. */
static bool goes_both_ways(const cbx_spread *s)
{
    const cbx_partial_graph *g = s->graph;
    for (int32_t c = 0; c < g->count; c++) {
        const cbx_choice *k = &g->choices[c];
        if (k->adds || k->row >= 0 || k->end - k->begin > 2)
            return false;
        for (int64_t i = k->begin; i < k->end; i++)
            if (!g->paired[g->slots[i]] && g->target_of[g->slots[i]] < s->layers[0].rows)
                return false;
    }
    return true;
}

bool cbx_pair_gains_are_known(const cbx_spread *s)
{
    double count = s->graph->count, nodes = s->graph->view->n;
    for (int32_t l = 0; l < s->net->num_layers; l++)
        if (s->net->layers[l].norm != CBX_NORM_GCN || s->net->layers[l].maximum)
            return false;
    return count * (count + nodes) < LARGEST_TABLES && s->graph->simple && goes_both_ways(s);
}

cbx_status cbx_pair_gains_init(cbx_pair_gains *p, const cbx_spread *s, cbx_arena *arena,
                               cbx_error *err)
{
    int64_t count = s->graph->count, nodes = s->graph->view->n;
    *p = (cbx_pair_gains){.s = s,
                          .open = CBX_NEW(arena, int32_t, count),
                          .place = CBX_NEW(arena, int32_t, count),
                          .at = CBX_NEW(arena, int32_t, 2 * count),
                          .term = CBX_NEW(arena, double, s->graph->view->m),
                          .loop = CBX_NEW(arena, double, nodes),
                          .beside = CBX_NEW(arena, double, nodes *count),
                          .is_beside = CBX_NEW(arena, uint8_t, nodes),
                          .alone = CBX_NEW(arena, double, count),
                          .both = CBX_NEW(arena, double, count *count),
                          .first = CBX_NEW(arena, double, nodes),
                          .curve = CBX_NEW(arena, double, nodes),
                          .some = CBX_NEW(arena, double, count),
                          .fewer = CBX_NEW(arena, double, count),
                          .best = CBX_NEW(arena, double, CBX_FEW),
                          .moves = CBX_NEW(arena, cbx_term_move, count)};
    bool whole = p->open && p->place && p->at && p->term && p->loop && p->beside && p->is_beside &&
                 p->alone && p->both && p->first && p->curve && p->some && p->fewer && p->best &&
                 p->moves;
    return whole ? CBX_OK : cbx_fail_memory(err);
}

/* ---- factors of nodes */

static const cbx_node_scale *scale_of(const cbx_pair_gains *p, int32_t v)
{
    return &p->s->scales[CBX_NORM_GCN][v];
}

/* By how much the factor rises with each of up to k edges that go: convex, so a chord is above. */
static double chord(double degree, int64_t from, int64_t to)
{
    return to > from
               ? (cbx_scale_gcn(degree, to) - cbx_scale_gcn(degree, from)) / (double)(to - from)
               : 0;
}

/* ---- edges */

static void list_open(cbx_pair_gains *p)
{
    const cbx_partial_graph *g = p->s->graph;
    p->count = 0;
    for (int32_t c = 0; c < g->count; c++) {
        p->place[c] = -1;
        if (!cbx_choice_is_open(g, c))
            continue;
        const cbx_choice *k = &g->choices[c];
        int32_t          *at = p->at + 2 * p->count;
        at[0] = g->target_of[g->slots[k->begin]];
        at[1] = k->end - k->begin > 1 ? g->target_of[g->slots[k->begin + 1]] : -1;
        p->open[p->count] = c;
        p->place[c] = p->count++;
    }
}

void cbx_pair_gains_begin(cbx_pair_gains *p)
{
    const cbx_partial_graph *g = p->s->graph;
    p->on = g->budget > 1 && g->budget <= CBX_FEW;
    p->num_moves = 0;
    if (!p->on)
        return;
    list_open(p);
    cbx_clear(p->term, g->view->m);
    cbx_clear(p->loop, g->view->n);
    cbx_clear(p->alone, p->count);
    cbx_clear(p->both, (int64_t)p->count * p->count);
    memset(p->is_beside, 0, (size_t)g->view->n);
}

/* The node's row of `beside`. */
static double *beside_of(cbx_pair_gains *p, int32_t v)
{
    double *row = p->beside + (int64_t)v * p->count;
    if (!p->is_beside[v])
        cbx_clear(row, p->count);
    p->is_beside[v] = 1;
    return row;
}

/* What both choices gain, the first one's place first. */
static double *both_of(cbx_pair_gains *p, int32_t a, int32_t b)
{
    return a == b ? &p->alone[a] : &p->both[(int64_t)a * p->count + b];
}

void cbx_pair_gains_add_edge(cbx_pair_gains *p, int64_t e, double term)
{
    const cbx_partial_graph *g = p->s->graph;
    int32_t                  u = g->view->source[e], v = g->target_of[e], choice = g->choice_of[e];
    int32_t                  own = choice >= 0 ? p->place[choice] : -1;
    double                   u_now = scale_of(p, u)->source.now, v_now = scale_of(p, v)->source.now;
    double                   u_rise =
        chord(scale_of(p, u)->degree, 0, cbx_scale_others(scale_of(p, u), g->paired[e]));
    double  v_rise = chord(scale_of(p, v)->degree, 0, cbx_scale_others(scale_of(p, v), true));
    double  cross = u_rise * v_rise * cbx_scale_crossed(g->budget);
    double *at_u = beside_of(p, u), *at_v = beside_of(p, v);
    p->term[e] += term;
    for (int64_t k = 0; k < p->num_moves; k++) {
        cbx_term_move m = p->moves[k];
        int32_t       other = p->place[m.choice];
        /* what falls with a degree is not counted: the edge may have gone */
        double by_u = m.rise > 0 ? m.rise * (u_rise * v_now + cross) : 0;
        double by_v = m.rise > 0 ? m.rise * (v_rise * u_now + cross) : 0;
        at_u[other] += by_u;
        at_v[other] += by_v;
        if (own >= 0)
            *both_of(p, own, other) -= u_now * v_now * m.fall + by_u + by_v;
    }
    p->num_moves = 0;
}

void cbx_pair_gains_add_loop(cbx_pair_gains *p, int32_t v, double term)
{
    const cbx_factor *of = &scale_of(p, v)->loop;
    double           *at_v = beside_of(p, v);
    p->loop[v] += term;
    for (int64_t k = 0; k < p->num_moves; k++) {
        cbx_term_move m = p->moves[k];
        at_v[p->place[m.choice]] += m.rise * (m.rise > 0 ? of->rise : of->least_rise);
    }
    p->num_moves = 0;
}

/* ---- what the terms as they are now gain by degrees and by edges that go */

/* What node v gains with k choices at it: f(k) <= k f(1) + k (k - 1) / 2 curve. */
static void bound_node(cbx_pair_gains *p, int32_t v, double sum)
{
    const cbx_node_scale *s = scale_of(p, v);
    double                now = cbx_scale_gcn(s->degree, 0), square = now * now;
    p->first[v] = p->curve[v] = 0;
    for (int64_t k = 1; k <= s->removals; k++) {
        double to = cbx_scale_gcn(s->degree, k);
        double gain = (to - now) * sum + (to * to - square) * p->loop[v];
        double more = gain - (double)k * p->first[v], pairs = (double)(k * (k - 1)) / 2;
        if (k == 1)
            p->first[v] = gain;
        else if (k == 2 || more / pairs > p->curve[v])
            p->curve[v] = more / pairs;
    }
}

/* Of all nodes, by what edges at them bring, whose other ends stay as they are. */
static void bound_nodes(cbx_pair_gains *p)
{
    const cbx_partial_graph *g = p->s->graph;
    const cbx_view          *view = g->view;
    double                  *sum = p->curve; /* until it is known */
    cbx_clear(sum, view->n);
    cbx_clear(p->first, view->n);
    for (int64_t e = 0; e < view->m; e++) {
        int32_t u = view->source[e], v = g->target_of[e];
        if (!g->present[e] || p->term[e] == 0)
            continue;
        sum[u] += p->term[e] * scale_of(p, v)->source.now;
        sum[v] += p->term[e] * scale_of(p, u)->source.now;
    }
    for (int32_t v = 0; v < p->s->layers[0].rows_in; v++) /* of others no layer sees the degree */
        bound_node(p, v, sum[v]);
}

/* What a term that goes gains with each further choice at node w, the other end's factor being
 * `other`: it was counted with what w's degree gives it. */
static double gain_going(const cbx_pair_gains *p, int32_t w, double other, double term)
{
    const cbx_node_scale *s = scale_of(p, w);
    if (s->removals < 2)
        return 0;
    return -term * other * chord(s->degree, 1, term < 0 ? s->removals : 2);
}

/* Adds to both choices' pair. */
static void add_both(cbx_pair_gains *p, int32_t a, int32_t b, double gain)
{
    p->both[(int64_t)a * p->count + b] += gain;
}

/* Adds to the pairs of a choice with each other one at node w. */
static void add_at(cbx_pair_gains *p, int32_t own, int32_t w, double gain)
{
    const cbx_partial_graph *g = p->s->graph;
    for (int64_t k = g->at_begin[w]; k < g->at_begin[w + 1]; k++) {
        int32_t other = p->place[g->at[k]];
        if (other >= 0 && other != own)
            add_both(p, own, other, gain);
    }
}

/* The edge goes with its choice, and has no part in what degrees at its ends gain. */
static void add_going(cbx_pair_gains *p, int64_t e, int32_t own)
{
    const cbx_partial_graph *g = p->s->graph;
    int32_t                  u = g->view->source[e], v = g->target_of[e];
    double                   term = p->term[e];
    double                   u_now = scale_of(p, u)->source.now, v_now = scale_of(p, v)->source.now;
    double                   u_rise = chord(scale_of(p, u)->degree, 0, 1);
    double                   v_rise = chord(scale_of(p, v)->degree, 0, 1);
    p->alone[own] -= term * (u_now * v_now + u_rise * v_now + v_rise * u_now);
    add_at(p, own, u, gain_going(p, u, v_now, term));
    add_at(p, own, v, gain_going(p, v, u_now, term));
}

/* Choices at both of its ends gain by both degrees at once. */
static void add_cross(cbx_pair_gains *p, int64_t e)
{
    const cbx_partial_graph *g = p->s->graph;
    int32_t                  u = g->view->source[e], v = g->target_of[e], choice = g->choice_of[e];
    int32_t                  own = choice >= 0 ? p->place[choice] : -1;
    double                   u_rise =
        chord(scale_of(p, u)->degree, 0, cbx_scale_others(scale_of(p, u), g->paired[e]));
    double v_rise = chord(scale_of(p, v)->degree, 0, cbx_scale_others(scale_of(p, v), true));
    double gain = p->term[e] * u_rise * v_rise, *at_u = beside_of(p, u);
    if (!(gain > 0)) /* what falls is not counted: the edge may have gone */
        return;
    for (int64_t k = g->at_begin[v]; k < g->at_begin[v + 1]; k++) {
        int32_t other = p->place[g->at[k]];
        if (other < 0 || other == own)
            continue;
        at_u[other] += gain;
        if (own >= 0) /* it is at u as well */
            add_both(p, own, other, -gain);
    }
}

static void add_terms(cbx_pair_gains *p)
{
    const cbx_partial_graph *g = p->s->graph;
    for (int64_t e = 0; e < g->view->m; e++) {
        int32_t choice = g->choice_of[e];
        if (!g->present[e] || p->term[e] == 0)
            continue;
        add_cross(p, e);
        if (choice >= 0 && p->place[choice] >= 0)
            add_going(p, e, p->place[choice]);
    }
}

/* ---- all of it */

CBX_HOT static void add_row(int32_t count, const double *restrict from, double *restrict to)
{
    for (int32_t k = 0; k < count; k++)
        to[k] += from[k];
}

/* What choices at nodes gain: by their degrees, and beside others. */
static void add_nodes(cbx_pair_gains *p)
{
    for (int32_t own = 0; own < p->count; own++)
        for (int k = 0; k < 2 && p->at[2 * own + k] >= 0; k++) {
            int32_t v = p->at[2 * own + k];
            p->alone[own] += p->first[v];
            if (p->curve[v] != 0) /* it is met both ways round */
                add_at(p, own, v, p->curve[v] / 2);
            if (!p->is_beside[v])
                continue;
            const double *row = p->beside + (int64_t)v * p->count;
            p->alone[own] += row[own];
            add_row(p->count, row, p->both + (int64_t)own * p->count);
        }
}

/* What was added of a pair either way round is the pair's. Tile by tile, as columns are far apart.
 */
enum { TILE = 8 };

/* x and y are tiles of which one is the other with rows and columns exchanged. */
CBX_HOT static void add_tiles(double *restrict x, double *restrict y, int64_t stride, int32_t rows,
                              int32_t columns)
{
    double sum[TILE * TILE];
    for (int32_t j = 0; j < columns; j++)
        for (int32_t i = 0; i < rows; i++)
            sum[i * TILE + j] = y[j * stride + i];
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            sum[i * TILE + j] += x[i * stride + j];
            x[i * stride + j] = sum[i * TILE + j];
        }
    for (int32_t j = 0; j < columns; j++)
        for (int32_t i = 0; i < rows; i++)
            y[j * stride + i] = sum[i * TILE + j];
}

static void add_tile_itself(double *x, int64_t stride, int32_t rows)
{
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < i; j++)
            x[i * stride + j] = x[j * stride + i] = x[i * stride + j] + x[j * stride + i];
        x[i * stride + i] = 0; /* it is no pair */
    }
}

static int32_t tile_size(int32_t from, int32_t count)
{
    return count - from < TILE ? count - from : TILE;
}

static void add_ways(cbx_pair_gains *p)
{
    const int64_t n = p->count;
    for (int32_t a = 0; a < n; a += TILE) {
        add_tile_itself(p->both + a * n + a, n, tile_size(a, p->count));
        for (int32_t b = a + TILE; b < n; b += TILE)
            add_tiles(p->both + a * n + b, p->both + b * n + a, n, TILE, tile_size(b, p->count));
    }
}

/* Numbers that are looked at together: mostly none of them is among the best. */
enum { AT_ONCE = 64 };

CBX_HOT static bool any_larger(int32_t count, const double *of, double least)
{
    int larger = 0;
    for (int32_t k = 0; k < count; k++)
        larger |= of[k] > least;
    return larger;
}

/* Half of what each gains with its best partners. */
static void add_halves(cbx_pair_gains *p)
{
    int64_t others = p->s->graph->budget - 1;
    for (int32_t own = 0; own < p->count; own++) {
        const double *row = p->both + (int64_t)own * p->count;
        cbx_largest   best = {.best = p->best, .count = others};
        for (int32_t from = 0; from < p->count; from += AT_ONCE) {
            int32_t size = p->count - from < AT_ONCE ? p->count - from : AT_ONCE;
            double  least = best.held == others ? best.best[others - 1] : 0;
            for (int32_t k = any_larger(size, row + from, least) ? 0 : size; k < size; k++)
                cbx_largest_take(&best, row[from + k]);
        }
        p->some[own] = cbx_largest_sum(&best) / 2;
        p->fewer[own] = cbx_largest_rest(&best) / 2;
    }
}

CBX_HOT static double largest_sum(int32_t count, const double *a, const double *b)
{
    double most = 0;
    for (int32_t k = 0; k < count; k++) {
        double sum = a[k] + b[k];
        most = sum > most ? sum : most;
    }
    return most;
}

double cbx_pair_gains_of_two(const cbx_pair_gains *p)
{
    double most = 0;
    for (int32_t own = 0; own < p->count; own++) {
        double best = largest_sum(p->count, p->alone, p->both + (int64_t)own * p->count);
        most = fmax(most, p->alone[own] + best);
    }
    return most;
}

void cbx_pair_gains_end(cbx_pair_gains *p, const double *gain)
{
    if (!p->on)
        return;
    for (int32_t own = 0; own < p->count; own++)
        p->alone[own] += gain[p->open[own]];
    bound_nodes(p);
    add_terms(p);
    add_nodes(p);
    add_ways(p);
    add_halves(p);
}

void cbx_pair_gains_halved(const cbx_pair_gains *p, double *gain)
{
    for (int32_t own = 0; own < p->count; own++)
        gain[p->open[own]] = p->alone[own] + p->some[own];
}

/* ---- partners */

/* Puts a place among the best so many, the best first; the least of them falls out. */
static void keep_best(cbx_partners *out, const cbx_pair_gains *p, const double *gain, int32_t own)
{
    int32_t k = out->count < CBX_PARTNERS ? out->count++ : CBX_PARTNERS;
    for (; k > 0 && gain[p->open[own]] > gain[p->open[out->choice[k - 1]]]; k--)
        if (k < CBX_PARTNERS)
            out->choice[k] = out->choice[k - 1];
    if (k < CBX_PARTNERS)
        out->choice[k] = own;
}

void cbx_pair_gains_partners(const cbx_pair_gains *p, const double *gain, cbx_partners *out)
{
    out->count = 0;
    for (int32_t own = 0; own < p->count; own++)
        keep_best(out, p, gain, own);
    for (int32_t k = 0; k < out->count; k++) {
        int32_t       own = out->choice[k];
        const double *row = p->both + (int64_t)own * p->count;
        double       *beside = out->beside + (int64_t)k * p->s->graph->count;
        cbx_clear(beside, p->s->graph->count);
        for (int32_t i = 0; i < p->count; i++)
            beside[p->open[i]] = p->alone[i] + row[i] + p->fewer[i];
        out->alone[k] = p->alone[own];
        out->choice[k] = p->open[own];
    }
}
