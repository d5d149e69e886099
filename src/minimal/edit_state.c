/* SPDX-License-Identifier: Apache-2.0 */
/* edit_state.c: see edit_state.h. */
#include "edit_state.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ask_few.h"
#include "deadline.h"
#include "error.h"
#include "move.h"
#include "order.h"
#include "pairs.h"
#include "settable.h"
#include "verify.h"
#include "widen.h"

/* Changes after which products are multiplied anew. */
enum { REFRESH = 2000 };

/* ---- memory */

static int make_features(cbx_edit_state *W, cbx_arena *arena)
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

static int make_pairs(cbx_edit_state *W, cbx_arena *arena)
{
    const cbx_view *v = W->s->view;
    cbx_pairs       pairs;
    W->target_of = cbx_pairs_targets(v, arena);
    if (!W->target_of || cbx_pairs_removed_at_once(W->s, &pairs) ||
        cbx_pairs_group(&pairs, v->m, arena, &W->slots_begin, &W->slots))
        return -1;
    W->pairs = pairs.count;
    W->pair_of = pairs.pair_of;
    W->slot_of = pairs.slot_of;
    W->gone = CBX_NEW0(arena, uint8_t, W->pairs);
    for (int64_t e = 0; W->gone && W->s->offered && e < v->m; e++)
        W->gone[W->pair_of[e]] |= W->s->offered[e];
    return W->gone ? 0 : -1;
}

/* Weights, and degrees that are less by what is gone: a mean divides by their number. */
static int make_view(cbx_edit_state *W, cbx_arena *arena)
{
    cbx_hiding hiding;
    W->dw = CBX_NEW(arena, float, W->s->view->m);
    if (!W->dw || cbx_hiding_init(&hiding, W->s, arena))
        return -1;
    W->absent = hiding.absent;
    W->own = cbx_search_own_nodes(W->s);
    if (W->s->newcomers || (W->s->further & CBX_EDITS_REMOVE_NODES)) {
        if (!W->absent)
            W->absent = CBX_NEW0(arena, uint8_t, W->s->view->n);
        W->leaving = CBX_NEW0(arena, float, W->s->view->n);
        if (!W->absent || !W->leaving)
            return -1;
        hiding.view.absent = W->absent;
    }
    W->by_weight = W->dw; /* to layers an edge that is gone is one without weight */
    if ((W->s->further & CBX_EDITS_WEIGHTS) && W->s->model->oracle) {
        W->set_weight = cbx_view_settable_weights(&hiding.view, arena);
        if (W->s->model->oracle->backward_edges)
            W->by_weight = CBX_NEW0(arena, float, W->s->view->m);
        if (!W->set_weight || !W->by_weight)
            return -1;
    }
    if ((W->s->further & CBX_EDITS_ATTRIBUTES) && W->rules->attributes) {
        W->set_attr = cbx_view_settable_attrs(&hiding.view, arena);
        W->by_attr = CBX_NEW0(arena, float, (size_t)W->s->view->m *(size_t)hiding.view.edge_dim);
        if (!W->set_attr || !W->by_attr)
            return -1;
    }
    W->view = hiding.view;
    W->w = hiding.w;
    W->lost = hiding.lost;
    W->removed = hiding.removed;
    return 0;
}

/* Rows whose features may change. */
static int find_rows(cbx_edit_state *W, cbx_arena *arena)
{
    W->allowed_row = CBX_NEW(arena, uint8_t, W->rows);
    for (int32_t i = 0; W->allowed_row && i < W->rows; i++)
        W->allowed_row[i] =
            i < W->own && cbx_rules_node(W->rules, W->s->row, cbx_edit_state_node(W, i));
    return W->allowed_row ? 0 : -1;
}

void cbx_edit_state_stay_usual(cbx_edit_state *W, bool usual)
{
    const cbx_rules *r = W->rules;
    for (int32_t j = 0; j < W->f; j++) {
        const cbx_column *column = usual && r->columns ? &r->columns->of[j] : NULL;
        W->lo[j] = r->lo[j];
        W->hi[j] = r->hi[j];
        if (column && column->step > 0) {
            W->lo[j] = fmaxf(r->lo[j], fminf(r->hi[j], column->lo));
            W->hi[j] = fmaxf(r->lo[j], fminf(r->hi[j], column->hi));
        }
        if (column && r->step[j] > 0) { /* inwards to its multiples */
            float lo = cbx_rules_multiple_from(r->step[j], W->lo[j]);
            float hi = cbx_rules_multiple_to(r->step[j], W->hi[j]);
            W->lo[j] = lo <= hi ? lo : r->lo[j];
            W->hi[j] = lo <= hi ? hi : r->hi[j];
        }
    }
}

cbx_status cbx_edit_state_init(cbx_edit_state *W, cbx_search *s, const cbx_rules *rules,
                               cbx_error *err)
{
    *W = (cbx_edit_state){.s = s,
                          .rules = rules,
                          .f = s->X.cols,
                          .reach = INFINITY,
                          .exact = s->complete && cbx_model_removes_marked_slots(s->model)};
    if (make_view(W, s->arena) || make_pairs(W, s->arena))
        return cbx_fail_late(err);
    cbx_matrix any = cbx_matrix_dense(s->X.rows, s->X.cols, W->w); /* the kind counts */
    cbx_status status =
        cbx_pass_init(&W->gradient, s->model, &W->view, &any, true, 1, s->arena, err);
    if (status)
        return status;
    W->gradient.leaving = W->leaving;
    W->gradient.by_attr = W->by_attr;
    W->gradient.by_weight = W->by_weight != W->dw ? W->by_weight : NULL;
    W->rows = cbx_pass_input_rows(&W->gradient);
    W->dlogp = CBX_NEW0(s->arena, float, s->model->num_classes);
    W->lo = CBX_NEW(s->arena, float, W->f);
    W->hi = CBX_NEW(s->arena, float, W->f);
    if (!W->dlogp || !W->lo || !W->hi || make_features(W, s->arena) || find_rows(W, s->arena) ||
        cbx_moves_prepare(W, s->arena))
        return cbx_fail_late(err);
    cbx_edit_state_stay_usual(W, false);
    return cbx_pass_init(&W->pass, s->model, &W->view, &W->X, false, 1, s->arena, err);
}

/* ---- edits */

void cbx_edit_state_set_feature(cbx_edit_state *W, int32_t row, int32_t column, float to)
{
    float *x = &W->x[(int64_t)row * W->f + column];
    if (W->X.cache) {
        if (W->cache.num_changes == W->most_changes)
            cbx_cache_update(&W->cache, &W->X);
        W->cache.changes[W->cache.num_changes++] = (cbx_change){row, column, to - *x};
    }
    *x = to;
}

/* An edge is gone if it was taken away, or one of its nodes was: whichever comes first or last. */
static void settle_slot(cbx_edit_state *W, int64_t e)
{
    const cbx_view *v = W->s->view;
    int32_t         target = W->target_of[e];
    bool            gone = W->gone[W->pair_of[e]] || !cbx_edit_state_has_node(W, v->source[e]) ||
                !cbx_edit_state_has_node(W, target);
    float own = v->weight ? v->weight[e] : 1;
    if (W->weight && !isnan(W->weight[W->pair_of[e]]))
        own = W->weight[W->pair_of[e]];
    W->w[e] = gone ? 0 : own;
    if (W->set_weight)
        W->set_weight[e] = own;
    if (gone == (bool)W->removed[e])
        return;
    W->removed[e] = gone;
    W->lost[target] += gone ? -1 : 1;
}

void cbx_edit_state_set_pair(cbx_edit_state *W, int64_t pair, bool gone)
{
    W->gone[pair] = gone;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++)
        settle_slot(W, W->slots[k]);
}

void cbx_edit_state_set_weight(cbx_edit_state *W, int64_t pair, float weight)
{
    W->weight[pair] = weight;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++)
        settle_slot(W, W->slots[k]);
}

void cbx_edit_state_set_attr(cbx_edit_state *W, int64_t pair, int32_t column, float value)
{
    int64_t wide = W->view.edge_dim;
    W->attr[pair * wide + column] = value;
    for (int64_t k = W->slots_begin[pair]; k < W->slots_begin[pair + 1]; k++) {
        int64_t slot = W->slots[k];
        W->set_attr[slot * wide + column] =
            isnan(value) ? cbx_view_attr(W->s->view, slot)[column] : value;
    }
}

void cbx_edit_state_set_node(cbx_edit_state *W, int32_t node, bool gone)
{
    const cbx_view *v = W->s->view;
    bool            own = node < W->own;
    W->num_absent += own ? gone - W->absent[node] : 0;
    W->absent[node] = gone;
    if (W->links && own)
        W->links->absent[cbx_edit_state_node(W, node)] = gone;
    for (int64_t e = v->offset[node]; e < v->offset[node + 1]; e++)
        settle_slot(W, e);
    for (int64_t o = v->out_offset[node]; o < v->out_offset[node + 1]; o++)
        settle_slot(W, v->out_slot[o]);
}

/* ---- asking */

/* The class that the one that is sought has to overtake. */
static int32_t rival_of(const cbx_search *s, const float *logp, int32_t aim)
{
    return s->target >= 0 ? cbx_best_class(logp, s->model->num_classes, aim) : s->prediction;
}

double cbx_edit_state_score(const cbx_edit_state *W, const float *logp)
{
    const cbx_search *s = W->s;
    int32_t           C = s->model->num_classes, aim = cbx_search_aim(s, logp);
    double            lead = (double)logp[aim] - logp[rival_of(s, logp, aim)];
    double            threshold = s->options->stopping_threshold;
    if (threshold > 0)
        lead = fmin(lead, logp[aim] - cbx_log(threshold));
    if (isnan(lead)) /* numbers that overflow lead nowhere */
        return -INFINITY;
    /* Of equal scores the first class wins; what flips is what verifying takes for a flip. */
    if (cbx_is_flip(logp, C, s->prediction, s->target, threshold))
        return fmax(lead, DBL_MIN);
    return fmin(lead, 0);
}

/* By how much some row is more unusual than the rules allow, below 0; or 0. */
static double excess(const cbx_edit_state *W, int32_t class)
{
    const cbx_rules *r = W->rules;
    size_t           size = (size_t)W->f * sizeof *W->x;
    double           most = r->most_unusual;
    for (int32_t i = 0; i < W->rows; i++) {
        const float *x = W->x + (int64_t)i * W->f;
        double       unusual = 0;
        if (!memcmp(x, W->x0 + (int64_t)i * W->f, size))
            continue;
        if (cbx_plausible_row(r->plausible, cbx_edit_state_node(W, i), class, x, &unusual, NULL))
            return -INFINITY;
        most = fmax(most, unusual);
    }
    return r->most_unusual - most;
}

/* Do the nodes that are gone leave what must be left? The way there may not. */
static bool is_broken(const cbx_edit_state *W)
{
    bool broken = false;
    for (int32_t i = 0; W->links && W->num_absent && i < W->own && !broken; i++)
        broken = W->absent[i] && cbx_links_lost(W->links, cbx_edit_state_node(W, i),
                                                cbx_keeps_one_piece(W->s->options->keep));
    return broken;
}

/* What the graph's score counts for, by the rules that edits keep together only. */
static double granted(const cbx_edit_state *W, const float *logp)
{
    double score = cbx_edit_state_score(W, logp);
    for (int64_t k = 0; k < W->rules->num_relations; k++)
        for (int32_t i = 0; i < W->rows && score > 0; i++)
            if (cbx_edit_state_lacks(W, i, &W->rules->relations[k]))
                score = 0;
    if (score > 0 && is_broken(W))
        score = 0;
    if (score > 0 && W->rules->most_unusual > 0) {
        double over = excess(W, cbx_search_peers(W->s, logp));
        score = over < 0 ? over : score;
    }
    return score;
}

double cbx_edit_state_ask(cbx_edit_state *W)
{
    W->asked++;
    if (cbx_ask_few_pays(W))
        return cbx_ask_few(W, W->pass.logp) ? granted(W, W->pass.logp) : -INFINITY;
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
    return cbx_time_is_up() ? -INFINITY : granted(W, W->pass.logp);
}

double cbx_edit_state_slopes(cbx_edit_state *W)
{
    cbx_matrix X = cbx_matrix_dense(W->rows, W->f, W->x);
    cbx_pass_forward(&W->gradient, &X, W->w, 0, 0);
    const float *logp = W->gradient.logp;
    int32_t      aim = cbx_search_aim(W->s, logp), rival = rival_of(W->s, logp, aim);
    double       score = granted(W, logp); /* a backward may overwrite them */
    W->dlogp[aim] = 1;
    W->dlogp[rival] = -1;
    cbx_pass_backward(&W->gradient, W->dlogp, W->dX, W->dw, NULL);
    W->dlogp[aim] = W->dlogp[rival] = 0;
    return cbx_time_is_up() ? -INFINITY : score;
}

cbx_status cbx_edit_state_verify(const cbx_edit_state *W, const cbx_move *moves, int64_t count,
                                 double *score, cbx_error *err)
{
    const cbx_search *s = W->s;
    cbx_edit         *edits = CBX_NEW(s->arena, cbx_edit, CBX_MOVE_EDITS * count);
    float            *logp = CBX_NEW(s->arena, float, s->model->num_classes);
    if (!edits || !logp)
        return cbx_fail_memory(err);
    int64_t    n = cbx_moves_edits(W, moves, count, edits);
    cbx_status status = cbx_verify_edits(s->model, s->graph, s->row, edits, n, logp, err);
    *score = status ? -INFINITY : cbx_edit_state_score(W, logp);
    return cbx_search_status(status);
}
