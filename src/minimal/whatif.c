/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.c: see whatif.h. */
#include "whatif.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "order.h"
#include "verify.h"

/* Changes after which products are multiplied anew. */
enum { REFRESH = 2000 };

/* Multiplications in the time of looking at an edge, and at a feature. */
static const double EDGE = 30, ENTRY = 3;

/* ---- memory */

static int make_features(cbx_whatif *W, cbx_arena *arena)
{
    size_t  size = (size_t)W->rows * (size_t)W->f;
    int32_t widest, products = cbx_model_products(W->s->model, &widest);
    W->x0 = CBX_NEW(arena, float, size);
    W->x = CBX_NEW(arena, float, size);
    W->dX = CBX_NEW(arena, float, size);
    if (!W->x0 || !W->x || !W->dX)
        return -1;
    cbx_matrix_expand(&W->s->X, W->rows, W->x0);
    memcpy(W->x, W->x0, size * sizeof *W->x);
    W->X = cbx_matrix_dense(W->rows, W->f, W->x);
    if (!products)
        return 0;
    W->most_changes = 256;
    if (cbx_cache_init(&W->cache, products, W->rows, widest, W->most_changes, arena))
        return -1;
    W->X.cache = &W->cache;
    return 0;
}

/* Which slots go together: the search's own numbers, where it has some. */
static int number_pairs(cbx_whatif *W, cbx_arena *arena)
{
    const cbx_search *s = W->s;
    int64_t           m = s->view->m;
    bool              undirected = s->options->edges == CBX_EDGES_UNDIRECTED;
    W->pairs = s->num_removable;
    W->pair_of = s->pair_of;
    W->slot_of = s->slot_of;
    if (undirected && W->pair_of)
        return 0;
    int64_t *pair_of = CBX_NEW(arena, int64_t, m), *slot_of = CBX_NEW(arena, int64_t, m);
    if (!pair_of || !slot_of)
        return -1;
    for (int64_t e = 0; e < m; e++)
        pair_of[e] = slot_of[e] = e;
    W->pairs = undirected ? cbx_number_pairs(s->view, pair_of, slot_of) : m;
    W->pair_of = pair_of;
    W->slot_of = slot_of;
    return W->pairs < 0 ? -1 : 0;
}

static int make_pairs(cbx_whatif *W, cbx_arena *arena)
{
    const cbx_view *v = W->s->view;
    W->slots = CBX_NEW(arena, int64_t, v->m);
    W->target_of = CBX_NEW(arena, int32_t, v->m);
    if (!W->slots || !W->target_of || number_pairs(W, arena))
        return -1;
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            W->target_of[e] = i;
    W->slots_begin = CBX_NEW0(arena, int64_t, W->pairs + 2);
    W->gone = CBX_NEW0(arena, uint8_t, W->pairs);
    if (!W->slots_begin || !W->gone)
        return -1;
    /* counts two places up, so that filling leaves every begin where it belongs */
    for (int64_t e = 0; e < v->m; e++) {
        if (cbx_out_of_time_at(e, EDGE))
            return -1;
        W->slots_begin[W->pair_of[e] + 2]++;
    }
    for (int64_t p = 0; p < W->pairs; p++)
        W->slots_begin[p + 2] += W->slots_begin[p + 1];
    if (cbx_out_of_time((double)v->m * EDGE))
        return -1;
    for (int64_t e = 0; e < v->m; e++)
        W->slots[W->slots_begin[W->pair_of[e] + 1]++] = e;
    return 0;
}

/* Weights, and degrees that are less by what is gone: a mean divides by their number. */
static int make_view(cbx_whatif *W, cbx_arena *arena)
{
    const cbx_view *v = W->s->view;
    W->view = *v;
    W->w = CBX_NEW(arena, float, v->m);
    W->dw = CBX_NEW(arena, float, v->m);
    W->lost = CBX_NEW(arena, float, v->n);
    W->removed = CBX_NEW0(arena, uint8_t, v->m);
    if (!W->w || !W->dw || !W->lost || !W->removed)
        return -1;
    for (int64_t e = 0; e < v->m; e++)
        W->w[e] = v->weight ? v->weight[e] : 1;
    for (int32_t i = 0; i < v->n; i++)
        W->lost[i] = v->outside_count ? v->outside_count[i] : 0;
    W->view.outside_count = W->lost;
    W->view.removed = W->removed;
    return 0;
}

static int32_t name_of(const cbx_search *s, int32_t i)
{
    return s->view->node ? s->view->node[i] : i;
}

/* How many values a feature can take: all whole numbers within its bounds, where it is
 * discrete and every node's value is one; otherwise 0, they cannot be counted. */
static int32_t count_values(const cbx_whatif *W, int32_t j)
{
    enum { MOST = 64 };
    float lo = W->rules->lo[j], hi = W->rules->hi[j];
    if (!W->rules->fractions || W->rules->fractions[j] || !W->s->discrete[j] || lo != rintf(lo) ||
        hi != rintf(hi) || hi - lo > MOST)
        return 0;
    return (int32_t)(hi - lo) + 1;
}

/* Does a loop count? Chebyshev layers drop it, and GCN puts one of weight 1 in its place. */
static bool loop_matters(const cbx_whatif *W, int32_t node)
{
    const cbx_view *v = W->s->view;
    if (W->s->model->oracle || W->gradient.uses[CBX_NORM_NONE] || W->gradient.uses[CBX_NORM_MEAN])
        return true;
    for (int64_t e = v->offset[node]; e < v->offset[node + 1]; e++)
        if (v->source[e] == node && v->weight && v->weight[e] != 1)
            return W->gradient.uses[CBX_NORM_GCN];
    return false;
}

/* Can the class depend on this edge? Only what layers declare rules it out. */
static bool slot_matters(const cbx_whatif *W, int64_t e)
{
    const cbx_view *v = W->s->view;
    int32_t         reach = cbx_model_reach(W->s->model), u = v->source[e], t = W->target_of[e];
    int32_t         near = reach > 0 ? cbx_view_rows(v, reach - 1) : 0;
    int32_t         within = cbx_view_rows(v, reach);
    if (u == t && !loop_matters(W, t))
        return false;
    switch (cbx_model_sight(W->s->model)) {
    case CBX_SIGHT_MESSAGES:
        return t < near;
    case CBX_SIGHT_DEGREES:
        return t < within;
    case CBX_SIGHT_BOTH_WAYS:
        return t < within || u < within;
    default:
        return true;
    }
}

/* By row and group: is it one-hot there? */
static int find_one_hot(cbx_whatif *W, cbx_arena *arena)
{
    const cbx_rules *r = W->rules;
    int32_t         *on = CBX_NEW(arena, int32_t, r->groups);
    W->one_hot = CBX_NEW(arena, uint8_t, (size_t)W->rows * (size_t)r->groups);
    if (!on || !W->one_hot)
        return -1;
    for (int32_t i = 0; i < W->rows; i++) {
        const float *x = W->x0 + (int64_t)i * W->f;
        for (int32_t g = 0; g < r->groups; g++)
            on[g] = 0;
        for (int32_t j = 0; j < W->f; j++)
            if (r->group[j] >= 0 && x[j] != CBX_GROUP_OFF)
                on[r->group[j]] += x[j] == CBX_GROUP_ON ? 1 : 2;
        for (int32_t g = 0; g < r->groups; g++)
            W->one_hot[(int64_t)i * r->groups + g] = on[g] == 1;
    }
    return 0;
}

static int find_allowed(cbx_whatif *W, cbx_arena *arena)
{
    const cbx_search *s = W->s;
    W->values = CBX_NEW(arena, int32_t, W->f);
    if (!W->values)
        return -1;
    for (int32_t j = 0; j < W->f; j++) {
        if (cbx_out_of_time(ENTRY * W->rows))
            return -1;
        W->values[j] = count_values(W, j);
    }
    W->allowed_row = CBX_NEW0(arena, uint8_t, W->rows);
    W->allowed_pair = CBX_NEW0(arena, uint8_t, W->pairs);
    W->matters = CBX_NEW0(arena, uint8_t, W->pairs);
    if (!W->allowed_row || !W->allowed_pair || !W->matters)
        return -1;
    if (find_one_hot(W, arena))
        return -1;
    for (int32_t i = 0; i < W->rows; i++)
        W->allowed_row[i] = cbx_rules_node(W->rules, s, name_of(s, i));
    for (int64_t p = 0; p < W->pairs; p++) {
        if (cbx_out_of_time_at(p, EDGE))
            return -1;
        int64_t e = W->slot_of[p];
        int32_t u = s->view->source[e], v = W->target_of[e];
        W->allowed_pair[p] = cbx_rules_pair(W->rules, s, name_of(s, u), name_of(s, v));
        for (int64_t k = W->slots_begin[p]; k < W->slots_begin[p + 1]; k++)
            W->matters[p] = W->matters[p] || slot_matters(W, W->slots[k]);
    }
    if (s->options->keep == CBX_KEEP_NOTHING)
        return 0;
    W->links = CBX_NEW(arena, cbx_links, 1);
    return W->links ? cbx_links_init(W->links, s->whole, arena) : -1;
}

cbx_status cbx_whatif_init(cbx_whatif *W, cbx_search *s, const cbx_rules *rules, cbx_error *err)
{
    *W = (cbx_whatif){.s = s,
                      .rules = rules,
                      .f = s->X.cols,
                      .exact = s->complete && cbx_model_removes_marked_slots(s->model)};
    if (make_view(W, s->arena) || make_pairs(W, s->arena))
        return cbx_fail_late(err);
    cbx_matrix any = cbx_matrix_dense(s->X.rows, s->X.cols, W->w); /* the kind counts */
    cbx_status status =
        cbx_pass_init(&W->gradient, s->model, &W->view, &any, true, 1, s->arena, err);
    if (status)
        return status;
    W->rows = cbx_pass_input_rows(&W->gradient);
    W->dlogp = CBX_NEW0(s->arena, float, s->model->num_classes);
    if (!W->dlogp || make_features(W, s->arena) || find_allowed(W, s->arena))
        return cbx_fail_late(err);
    return cbx_pass_init(&W->pass, s->model, &W->view, &W->X, false, 1, s->arena, err);
}

/* ---- moves */

static void set_feature(cbx_whatif *W, int32_t row, int32_t column, float to)
{
    float *x = &W->x[(int64_t)row * W->f + column];
    if (W->X.cache) {
        if (W->cache.num_changes == W->most_changes)
            cbx_cache_update(&W->cache, &W->X);
        W->cache.changes[W->cache.num_changes++] = (cbx_change){row, column, to - *x};
    }
    *x = to;
}

/* The whole graph's edges of a pair. */
static void set_links(const cbx_whatif *W, int64_t pair, bool gone)
{
    const cbx_view *v = W->s->view;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++)
        W->links->gone[v->edge ? v->edge[W->slots[k]] : W->slots[k]] = gone;
}

static void set_pair(cbx_whatif *W, int64_t pair, bool gone)
{
    const cbx_view *v = W->s->view;
    W->gone[pair] = gone;
    if (W->links)
        set_links(W, pair, gone);
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++) {
        int64_t e = W->slots[k];
        W->w[e] = gone ? 0 : v->weight ? v->weight[e] : 1;
        W->removed[e] = gone;
        W->lost[W->target_of[e]] += gone ? -1 : 1;
    }
}

static float original(const cbx_whatif *W, int32_t row, int32_t column)
{
    return W->x0[(int64_t)row * W->f + column];
}

void cbx_whatif_do(cbx_whatif *W, const cbx_move *m)
{
    if (m->kind == CBX_MOVE_PAIR) {
        set_pair(W, m->pair, true);
    } else if (m->kind == CBX_MOVE_GROUP) {
        set_feature(W, m->row, m->column, CBX_GROUP_OFF);
        set_feature(W, m->row, m->other, CBX_GROUP_ON);
    } else {
        set_feature(W, m->row, m->column, m->to);
    }
}

void cbx_whatif_undo(cbx_whatif *W, const cbx_move *m)
{
    if (m->kind == CBX_MOVE_PAIR) {
        set_pair(W, m->pair, false);
        return;
    }
    set_feature(W, m->row, m->column, original(W, m->row, m->column));
    if (m->kind == CBX_MOVE_GROUP)
        set_feature(W, m->row, m->other, original(W, m->row, m->other));
}

/* ---- asking */

double cbx_whatif_score(const cbx_whatif *W, const float *logp)
{
    const cbx_search *s = W->s;
    int32_t           C = s->model->num_classes;
    int32_t           aim = s->target >= 0 ? s->target : cbx_best_class(logp, C, s->prediction);
    int32_t           rival = s->target >= 0 ? cbx_best_class(logp, C, aim) : s->prediction;
    double            lead = (double)logp[aim] - logp[rival];
    double            threshold = s->options->stopping_threshold;
    if (threshold > 0)
        lead = fmin(lead, logp[aim] - cbx_log(threshold));
    if (isnan(lead)) /* numbers that overflow lead nowhere */
        return -INFINITY;
    /* Of equal scores the first class wins; what flips is what verifying takes for a flip. */
    if (cbx_reaches(logp, C, s->prediction, s->target, threshold))
        return fmax(lead, DBL_MIN);
    return fmin(lead, 0);
}

double cbx_whatif_ask(cbx_whatif *W)
{
    W->asked++;
    if (W->X.cache) {
        /* making and undoing moves leaves rounding errors behind */
        W->changes += W->cache.num_changes;
        if (W->changes > REFRESH) {
            cbx_cache_invalidate(&W->cache);
            W->changes = 0;
        }
        cbx_cache_update(&W->cache, &W->X);
    }
    cbx_pass_forward(&W->pass, &W->X, W->w, 0, 0);
    return cbx_time_is_up() ? -INFINITY : cbx_whatif_score(W, W->pass.logp);
}

double cbx_whatif_slopes(cbx_whatif *W)
{
    const cbx_search *s = W->s;
    int32_t           C = s->model->num_classes;
    cbx_matrix        X = cbx_matrix_dense(W->rows, W->f, W->x);
    cbx_pass_forward(&W->gradient, &X, W->w, 0, 0);
    const float *logp = W->gradient.logp;
    int32_t      aim = s->target >= 0 ? s->target : cbx_best_class(logp, C, s->prediction);
    int32_t      rival = s->target >= 0 ? cbx_best_class(logp, C, aim) : s->prediction;
    W->dlogp[aim] = 1;
    W->dlogp[rival] = -1;
    cbx_pass_backward(&W->gradient, W->dlogp, W->dX, W->dw, NULL);
    W->dlogp[aim] = W->dlogp[rival] = 0;
    return cbx_time_is_up() ? -INFINITY : cbx_whatif_score(W, logp);
}

/* ---- which moves there are */

/* The value of a feature that a move would give it; its own: there is no such move. */
static float best_value(const cbx_whatif *W, int32_t column, float x, float slope)
{
    float lo = W->rules->lo[column], hi = W->rules->hi[column];
    bool  up = slope > 0;
    if (x < lo || x > hi) /* bounds of the user's that the data breaks: back inside only */
        return x < lo ? (up ? hi : x) : (up ? x : lo);
    return up ? hi : lo;
}

/* Does taking this pair away leave a node without any, or what was one piece in two? */
static bool breaks_apart(const cbx_whatif *W, int64_t pair);

static bool permits(const cbx_rules *r, int32_t feature, float value)
{
    return value >= r->lo[feature] && value <= r->hi[feature];
}

bool cbx_whatif_may(const cbx_whatif *W, const cbx_move *m)
{
    const cbx_rules *r = W->rules;
    if (m->kind == CBX_MOVE_PAIR)
        return W->allowed_pair[m->pair] && !W->gone[m->pair] &&
               (!W->links || !breaks_apart(W, m->pair));
    const float *x = W->x + (int64_t)m->row * W->f, *x0 = W->x0 + (int64_t)m->row * W->f;
    if (!W->allowed_row[m->row] || r->fixed[m->column] || x[m->column] != x0[m->column])
        return false;
    if (m->kind == CBX_MOVE_FEATURE)
        return r->group[m->column] < 0 && m->to != x[m->column] && permits(r, m->column, m->to);
    return !r->fixed[m->other] && x[m->other] == x0[m->other] && m->other != m->column &&
           r->group[m->other] == r->group[m->column] &&
           W->one_hot[(int64_t)m->row * r->groups + r->group[m->column]] &&
           x[m->column] == CBX_GROUP_ON && permits(r, m->column, CBX_GROUP_OFF) &&
           permits(r, m->other, CBX_GROUP_ON);
}

static bool breaks_apart(const cbx_whatif *W, int64_t pair)
{
    int64_t e = W->slot_of[pair];
    int32_t u = name_of(W->s, W->s->view->source[e]), v = name_of(W->s, W->target_of[e]);
    if (u == v)
        return false;
    set_links(W, pair, true);
    bool broken = W->s->options->keep == CBX_KEEP_CONNECTED
                      ? cbx_links_apart(W->links, u, v)
                      : cbx_links_none_at(W->links, u) || cbx_links_none_at(W->links, v);
    set_links(W, pair, false);
    return broken;
}

/* A list of the best so far, best first. */
static void insert(cbx_move *moves, int64_t *count, int64_t most, const cbx_move *m)
{
    double  worth = m->gain / m->cost;
    int64_t at = *count;
    if (at == most && !(worth > moves[most - 1].gain / moves[most - 1].cost))
        return;
    at = at < most ? at : most - 1;
    for (; at > 0 && moves[at - 1].gain / moves[at - 1].cost < worth; at--)
        moves[at] = moves[at - 1];
    moves[at] = *m;
    *count += *count < most;
}

/* Worse than this is not looked at twice: no gain, or the list is full of better. */
static double least_worth(const cbx_move *moves, int64_t count, int64_t most)
{
    return count < most ? 0 : moves[most - 1].gain / moves[most - 1].cost;
}

static void offer_features(const cbx_whatif *W, int32_t i, cbx_move *moves, int64_t *count,
                           int64_t most)
{
    const float *x = W->x + (int64_t)i * W->f, *d = W->dX + (int64_t)i * W->f;
    double       cost = W->s->options->feature_cost, least = least_worth(moves, *count, most);
    for (int32_t j = 0; j < W->f; j++) {
        /* the widest move there can be: most entries end here */
        float reach = W->rules->hi[j] - W->rules->lo[j];
        if (!(fabsf(d[j]) * reach > least * cost) || W->rules->group[j] >= 0)
            continue;
        float    to = best_value(W, j, x[j], d[j]);
        cbx_move m = {CBX_MOVE_FEATURE, i, j, -1, -1, to, cost, (double)d[j] * (to - x[j])};
        if (!(m.gain > least * cost) || !cbx_whatif_may(W, &m))
            continue;
        insert(moves, count, most, &m);
        least = least_worth(moves, *count, most);
    }
}

static void offer_groups(const cbx_whatif *W, int32_t i, cbx_move *moves, int64_t *count,
                         int64_t most)
{
    const float *x = W->x + (int64_t)i * W->f, *d = W->dX + (int64_t)i * W->f;
    double       cost = W->s->options->feature_cost;
    for (int32_t a = 0; a < W->f; a++) {
        if (W->rules->group[a] < 0 || x[a] != CBX_GROUP_ON)
            continue;
        for (int32_t b = 0; b < W->f; b++) {
            if (W->rules->group[b] != W->rules->group[a] || a == b)
                continue;
            double gain =
                (double)d[a] * (CBX_GROUP_OFF - x[a]) + (double)d[b] * (CBX_GROUP_ON - x[b]);
            cbx_move m = {CBX_MOVE_GROUP, i, a, b, -1, 0, cost, gain};
            if (gain > 0 && cbx_whatif_may(W, &m))
                insert(moves, count, most, &m);
        }
    }
}

/* What comes in the place of a loop that goes: for GCN, another loop of the node's or one of
 * weight 1. To first order, what that adds to the score. */
static double replaced_loop(const cbx_whatif *W, int64_t pair)
{
    const cbx_view *v = W->s->view;
    int32_t         i = W->target_of[W->slot_of[pair]];
    int64_t         own = -1;
    float           next = 1;
    if (v->source[W->slot_of[pair]] != i || !W->gradient.uses[CBX_NORM_GCN])
        return 0;
    for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
        if (v->source[e] == i && !W->removed[e]) {
            own = e;
            next = W->pair_of[e] != pair ? W->w[e] : next;
        }
    return W->pair_of[own] == pair ? (double)W->dw[own] * next : 0;
}

int64_t cbx_whatif_promising(const cbx_whatif *W, cbx_move *moves, int64_t most)
{
    int64_t count = 0;
    for (int64_t p = 0; p < W->pairs; p++) {
        if (cbx_out_of_time_at(p, EDGE))
            return 0;
        if (!W->allowed_pair[p] || W->gone[p])
            continue;
        double gain = replaced_loop(W, p);
        for (int64_t k = W->slots_begin[p]; k < W->slots_begin[p + 1]; k++)
            gain -= (double)W->dw[W->slots[k]] * W->w[W->slots[k]];
        cbx_move m = {CBX_MOVE_PAIR, 0, 0, 0, p, 0, W->s->options->edge_cost, gain};
        if (gain > 0 && cbx_whatif_may(W, &m))
            insert(moves, &count, most, &m);
    }
    for (int32_t i = 0; i < W->rows; i++)
        if (W->allowed_row[i]) {
            if (cbx_out_of_time(ENTRY * W->f))
                return 0;
            offer_features(W, i, moves, &count, most);
            if (W->rules->groups)
                offer_groups(W, i, moves, &count, most);
        }
    return count;
}

bool cbx_whatif_walk(const cbx_whatif *W, cbx_move_walk *at, cbx_move *m)
{
    const cbx_rules *r = W->rules;
    for (; at->pair < W->pairs; at->pair++) {
        *m = (cbx_move){CBX_MOVE_PAIR, 0, 0, 0, at->pair, 0, W->s->options->edge_cost, 0};
        if (cbx_out_of_time_at(at->pair, EDGE))
            return false;
        if (W->matters[at->pair] && cbx_whatif_may(W, m)) {
            at->pair++;
            return true;
        }
    }
    /* a feature can go to each of its values, or where they cannot be counted to its two
     * bounds; a group from a feature to another */
    for (; at->row < W->rows; at->row++, at->column = 0)
        for (; at->column < W->f; at->column++, at->stage = at->other = 0) {
            int32_t i = at->row, j = at->column, values = W->values[j];
            if (cbx_out_of_time_at(j, EDGE))
                return false;
            while (r->group[j] < 0 && at->stage < (values ? values : 2)) {
                float to = values ? r->lo[j] + (float)at->stage : at->stage ? r->hi[j] : r->lo[j];
                at->stage++;
                *m = (cbx_move){CBX_MOVE_FEATURE, i, j, -1, -1, to, W->s->options->feature_cost, 0};
                if (cbx_whatif_may(W, m))
                    return true;
            }
            while (r->group[j] >= 0 && at->other < W->f) {
                *m = (cbx_move){
                    CBX_MOVE_GROUP, i, j, at->other++, -1, 0, W->s->options->feature_cost, 0};
                if (m->other != j && cbx_whatif_may(W, m))
                    return true;
            }
        }
    return false;
}

/* ---- what they come to */

static cbx_edit feature_edit(const cbx_whatif *W, int32_t row, int32_t column, float to)
{
    /* of a group's feature there is no move but with the group */
    return (cbx_edit){.op = CBX_SET_FEATURE,
                      .edge = -1,
                      .node = name_of(W->s, row),
                      .feature = column,
                      .from = original(W, row, column),
                      .to = to,
                      .group = W->rules->group[column] + 1};
}

int64_t cbx_whatif_edits(const cbx_whatif *W, const cbx_move *moves, int64_t count, cbx_edit *edits)
{
    int64_t n = 0;
    for (int64_t k = 0; k < count; k++) {
        const cbx_move *m = &moves[k];
        if (m->kind == CBX_MOVE_PAIR) {
            int64_t e = W->slot_of[m->pair];
            edits[n++] = cbx_edit_of_slot(W->s, W->target_of[e], e,
                                          W->s->options->edges == CBX_EDGES_UNDIRECTED);
        } else if (m->kind == CBX_MOVE_GROUP) {
            edits[n++] = feature_edit(W, m->row, m->column, CBX_GROUP_OFF);
            edits[n++] = feature_edit(W, m->row, m->other, CBX_GROUP_ON);
        } else {
            edits[n++] = feature_edit(W, m->row, m->column, m->to);
        }
    }
    return n;
}

cbx_status cbx_whatif_verify(const cbx_whatif *W, const cbx_move *moves, int64_t count,
                             double *score, cbx_error *err)
{
    const cbx_search *s = W->s;
    cbx_edit         *edits = CBX_NEW(s->arena, cbx_edit, 2 * count);
    float            *logp = CBX_NEW(s->arena, float, s->model->num_classes);
    if (!edits || !logp)
        return cbx_fail_memory(err);
    int64_t    n = cbx_whatif_edits(W, moves, count, edits);
    cbx_status status = cbx_try_edits(s->model, s->graph, s->row, edits, n, logp, err);
    *score = status ? -INFINITY : cbx_whatif_score(W, logp);
    return cbx_search_status(status);
}
