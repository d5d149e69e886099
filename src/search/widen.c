/* SPDX-License-Identifier: Apache-2.0 */
/* widen.c: see widen.h. */
#include "widen.h"

#include "added.h"
#include "error.h"
#include "explain.h"
#include "newcomers.h"

cbx_status cbx_widen(const cbx_search *s, const cbx_edit *offers, int64_t count, cbx_search *wide,
                     cbx_error *err)
{
    cbx_graph *with = CBX_NEW(s->arena, cbx_graph, 1);
    cbx_view  *view = CBX_NEW(s->arena, cbx_view, 1);
    *wide = *s;
    wide->keep = s->arena;
    if (!with || !view)
        return cbx_fail_memory(err);
    cbx_status status = cbx_graph_with_edges(s->graph, offers, count, s->arena, with, err);
    bool       everything = cbx_explainer_at(s->options->explainer)->searches_all;
    if (!status)
        status = cbx_search_cut(wide, with, everything, view, err);
    if (!status)
        status = cbx_search_count_removable(wide, err);
    if (status)
        return status;
    uint8_t *offered = CBX_NEW(s->arena, uint8_t, view->m);
    wide->offered = offered;
    wide->narrow = s->view;
    if (!offered)
        return cbx_fail_memory(err);
    for (int64_t e = 0; e < view->m; e++)
        offered[e] = (view->edge ? view->edge[e] : e) >= s->graph->data.num_edges;
    return CBX_OK;
}

static void hide_slot(cbx_hiding *h, int32_t target, int64_t slot)
{
    h->w[slot] = 0;
    h->removed[slot] = 1;
    h->lost[target] -= 1;
}

static int hide_newcomers(cbx_hiding *h, const cbx_search *s, cbx_arena *arena)
{
    const cbx_view *v = s->view;
    h->absent = CBX_NEW0(arena, uint8_t, v->n);
    for (int32_t i = 0; h->absent && i < v->n; i++) {
        h->absent[i] = cbx_is_newcomer(s, i);
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            if (h->absent[i] || cbx_is_newcomer(s, v->source[e]))
                hide_slot(h, i, e);
    }
    h->view.absent = h->absent;
    return h->absent ? 0 : -1;
}

int cbx_hiding_init(cbx_hiding *h, const cbx_search *s, cbx_arena *arena)
{
    const cbx_view *v = s->view;
    *h = (cbx_hiding){.view = *v,
                      .w = CBX_NEW(arena, float, v->m),
                      .lost = CBX_NEW(arena, float, v->n),
                      .removed = CBX_NEW0(arena, uint8_t, v->m)};
    if (!h->w || !h->lost || !h->removed)
        return -1;
    for (int64_t e = 0; e < v->m; e++)
        h->w[e] = v->weight ? v->weight[e] : 1;
    for (int32_t i = 0; i < v->n; i++) {
        h->lost[i] = v->outside_count ? v->outside_count[i] : 0;
        for (int64_t e = v->offset[i]; s->offered && e < v->offset[i + 1]; e++)
            if (s->offered[e])
                hide_slot(h, i, e);
    }
    h->view.outside_count = h->lost;
    h->view.removed = h->removed;
    return s->newcomers ? hide_newcomers(h, s, arena) : 0;
}

/* What a mean over its edges loses when there is one more of them, for each edge into node i. */
static double diluted(const cbx_hiding *h, const float *dw, int32_t i, double gain)
{
    double sum = 0, count = (double)h->lost[i];
    for (int64_t e = h->view.offset[i]; e < h->view.offset[i + 1]; e++) {
        sum += (double)dw[e] * h->w[e];
        count += 1;
    }
    return count > 0 ? (count * gain - sum) / (count + 1) : gain;
}

double cbx_hiding_gain(const cbx_hiding *h, const float *dw, bool mean, int32_t target,
                       int64_t slot)
{
    double gain = (double)dw[slot] * (h->view.weight ? h->view.weight[slot] : 1);
    return mean ? diluted(h, dw, target, gain) : gain;
}

cbx_status cbx_hiding_slopes(const cbx_search *wide, cbx_hiding *hiding, cbx_derivatives *out,
                             cbx_error *err)
{
    const cbx_search *s = wide;
    int32_t           C = s->model->num_classes;
    float            *dlogp = CBX_NEW0(s->arena, float, C);
    cbx_pass          pass;
    *out = (cbx_derivatives){.dw = CBX_NEW(s->arena, float, s->view->m),
                        .pooling = s->newcomers ? CBX_NEW0(s->arena, float, s->view->n) : NULL};
    if (!dlogp || !out->dw || (s->newcomers && !out->pooling) ||
        cbx_hiding_init(hiding, wide, s->arena))
        return cbx_fail_memory(err);
    cbx_status status =
        cbx_pass_init(&pass, s->model, &hiding->view, &s->X, true, 1, s->arena, err);
    if (status)
        return status;
    pass.leaving = out->pooling;
    cbx_pass_forward(&pass, &s->X, hiding->w, 0, 0);
    int32_t aim = cbx_search_aim(s, pass.logp);
    dlogp[s->target >= 0 ? cbx_best_class(pass.logp, C, aim) : s->prediction] = -1;
    dlogp[aim] = 1;
    cbx_pass_backward(&pass, dlogp, NULL, out->dw, NULL);
    out->mean = pass.uses[CBX_NORM_MEAN];
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}

void cbx_widen_hand_back(cbx_search *s, const cbx_search *wide)
{
    cbx_search given = *s;
    *s = *wide;
    s->view = given.view;
    s->complete = given.complete;
    s->X = given.X;
    s->num_removable = given.num_removable;
    s->pair_of = given.pair_of;
    s->slot_of = given.slot_of;
    s->offered = given.offered;
    s->narrow = given.narrow;
    s->offers_all = given.offers_all;
    s->keep = given.keep;
}
