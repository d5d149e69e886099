/* SPDX-License-Identifier: Apache-2.0 */
/* cf_gnn.c: CF-GNNExplainer (Lucic et al. 2022): edges are removed by gradient descent.
 *
 * One parameter a removable edge, EP, starting at 1. Each epoch evaluates the oracle on
 * the soft weights σ(EP) and on those thresholded at one half:
 *
 *     L = [thresholded class is still the prediction] CE(soft, target) + β Σ|σ(EP)-1|
 *
 * If the thresholded graph has the target class and L is the least so far, its edits are
 * kept. The gradient's norm is clipped before the step.
 *
 * The authors' program differs in two points, which options offer. With --cf-gnn-pull
 * away, CE is replaced by log p(prediction): off the prediction, wherever that leads. With
 * --cf-gnn-distance hard, Σ|σ(EP)-1| is replaced by the number of removed edges, which has
 * no gradient: nothing brings an edge back. */
#include <math.h>

#include "deadline.h"
#include "edge_mask.h"
#include "error.h"
#include "explainers.h"

typedef struct state {
    cbx_search   *s;
    cbx_edge_mask E;
    cbx_pass      soft, hard;
    float        *dlogp;
    cbx_epoch     now;
    int32_t       lead; /* the class whose log-probability the gradient moves … */
    float         sign; /* … up: -1, down: 1 */
} state;

static cbx_status prepare(state *st, cbx_error *err)
{
    cbx_search *s = st->s;
    cbx_status  status = cbx_edge_mask_init(&st->E, s, err);
    if (!status)
        status = cbx_pass_init(&st->soft, s->model, s->view, &s->X, true, 1, s->arena, err);
    if (!status)
        status = cbx_pass_init(&st->hard, s->model, s->view, &s->X, false, 1, s->arena, err);
    if (status)
        return status;
    st->dlogp = CBX_NEW0(s->arena, float, s->model->num_classes);
    return st->dlogp ? CBX_OK : cbx_fail_memory(err);
}

static bool hard_distance(const state *st)
{
    return st->s->options->cf_gnn_distance == CBX_DISTANCE_HARD;
}

static int64_t pairs_cut(const cbx_edge_mask *E)
{
    int64_t count = 0;
    for (int64_t p = 0; p < E->pairs; p++)
        count += E->cut[p];
    return count;
}

static void measure(state *st)
{
    const cbx_search *s = st->s;
    const float      *soft = st->soft.logp;
    int32_t           hard_class = cbx_search_class(s, st->hard.logp);
    bool              away = s->options->cf_gnn_pull == CBX_PULL_AWAY;
    cbx_epoch        *e = &st->now;
    st->lead = away ? s->prediction : cbx_search_aim(s, soft);
    st->sign = away ? 1 : -1;
    e->ce = (double)st->sign * soft[st->lead];
    e->edge_loss = hard_distance(st) ? (double)pairs_cut(&st->E) : st->E.loss;
    e->eta = hard_class == s->prediction ? 1 : 0;
    e->hit = cbx_search_hits(s, hard_class);
    e->loss = e->eta * e->ce + s->options->cf_gnn_beta * e->edge_loss;
    e->removed_edges = st->E.removed;
}

/* PyTorch's rule. */
static void clip(int64_t count, double most, float *grad)
{
    double norm = sqrt(cbx_sum_squares(count, grad));
    if (most > 0 && norm + 1e-6 > most)
        cbx_scale(count, (float)(most / (norm + 1e-6)), grad);
}

static void step(state *st, int64_t t)
{
    const cbx_explain_options *o = st->s->options;
    bool                       pull = st->now.eta != 0;
    if (pull) {
        st->dlogp[st->lead] = st->sign;
        cbx_pass_backward(&st->soft, st->dlogp, NULL, st->E.dw, NULL);
        st->dlogp[st->lead] = 0;
    }
    cbx_edge_mask_gradient(&st->E, pull, hard_distance(st) ? 0 : o->cf_gnn_beta);
    clip(st->E.pairs, o->cf_gnn_clip, st->E.grad);
    cbx_edge_mask_descend(&st->E, t);
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    state      st = {.s = s};
    int64_t    T = s->options->epochs;
    cbx_status status = prepare(&st, err);
    if (status)
        return status;
    for (int64_t t = 0; t < T; t++) {
        if (cbx_edge_mask_evaluate(&st.E) || t == 0)
            cbx_pass_forward(&st.hard, &s->X, st.E.hard, 0, 0);
        cbx_pass_forward(&st.soft, &s->X, st.E.soft, 0, 0);
        measure(&st);
        if (cbx_time_is_up() || cbx_search_diverged(s, st.now.loss))
            break;
        if (cbx_search_record(s, &st.now))
            cbx_edge_mask_keep(&st.E);
        if (cbx_search_should_stop(s, t + 1, T) || cbx_search_gives_up(s, t))
            break;
        if (t + 1 < T)
            step(&st, t);
    }
    return cbx_edge_mask_collect(&st.E, s, err);
}

const cbx_explainer cbx_explainer_cf_gnn = {
    .name = "cf-gnn", .search = search, .descends = true, .edges_only = true};
