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
#include "edge_search.h"
#include "error.h"
#include "explainers.h"

enum { DISTANCE_SOFT, DISTANCE_HARD };
enum { PULL_TARGET, PULL_AWAY };

typedef struct settings {
    double beta;     /* price of a removed edge */
    double clip;     /* largest norm of a gradient; 0: no clipping */
    int    distance; /* weights lost, with a gradient, or edges removed */
    int    pull;     /* towards the target class, or only off the prediction */
} settings;

typedef struct state {
    cbx_search     *s;
    const settings *own;
    cbx_edge_mask   E;
    cbx_pass        soft, hard;
    float          *dlogp;
    cbx_epoch       now;
    int32_t         lead; /* the class whose log-probability the gradient moves … */
    float           sign; /* … up: -1, down: 1 */
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
    return st->own->distance == DISTANCE_HARD;
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
    bool              away = st->own->pull == PULL_AWAY;
    cbx_epoch        *e = &st->now;
    st->lead = away ? s->prediction : cbx_search_aim(s, soft);
    st->sign = away ? 1 : -1;
    e->ce = (double)st->sign * soft[st->lead];
    e->edge_loss = hard_distance(st) ? (double)pairs_cut(&st->E) : st->E.loss;
    e->eta = hard_class == s->prediction ? 1 : 0;
    e->hit = cbx_search_hits(s, hard_class);
    e->loss = e->eta * e->ce + st->own->beta * e->edge_loss;
    e->removed_edges = st->E.removed;
}

static const cbx_epoch *evaluate(void *method, bool first)
{
    state *st = method;
    if (cbx_edge_mask_evaluate(&st->E) || first)
        cbx_pass_forward(&st->hard, &st->s->X, st->E.hard, 0, 0);
    cbx_pass_forward(&st->soft, &st->s->X, st->E.soft, 0, 0);
    measure(st);
    return &st->now;
}

static void keep(void *method)
{
    cbx_edge_mask_keep(&((state *)method)->E);
}

/* PyTorch's rule. */
static void clip(int64_t count, double most, float *grad)
{
    double norm = sqrt(cbx_sum_squares(count, grad));
    if (most > 0 && norm + 1e-6 > most)
        cbx_scale(count, (float)(most / (norm + 1e-6)), grad);
}

static void step(void *method, int64_t t)
{
    state *st = method;
    bool   pull = st->now.eta != 0;
    if (pull) {
        st->dlogp[st->lead] = st->sign;
        cbx_pass_backward(&st->soft, st->dlogp, NULL, st->E.dw, NULL);
        st->dlogp[st->lead] = 0;
    }
    cbx_edge_mask_gradient(&st->E, pull, hard_distance(st) ? 0 : st->own->beta);
    clip(st->E.pairs, st->own->clip, st->E.grad);
    cbx_edge_mask_descend(&st->E, t);
}

static const cbx_edge_steps steps = {evaluate, keep, step};

static cbx_status search(cbx_search *s, cbx_error *err)
{
    state      st = {.s = s, .own = s->settings};
    cbx_status status = prepare(&st, err);
    return status ? status : cbx_edge_search(&st.E, s, &steps, &st, err);
}

static const char *const distances[] = {"soft", "hard", NULL};
static const char *const pulls[] = {"target", "away", NULL};

#define AT(field) offsetof(settings, field)
static const cbx_option own_options[] = {
    {"cf-gnn-beta", CBX_OPTION_REAL, AT(beta), "0.5", 0, 1e9, NULL,
     "cf-gnn: price of a removed edge"},
    {"cf-gnn-clip", CBX_OPTION_REAL, AT(clip), "2", 0, 1e9, NULL,
     "cf-gnn: largest norm of a gradient; 0: no clipping"},
    {"cf-gnn-distance", CBX_OPTION_CHOICE, AT(distance), "soft", 0, 0, distances,
     "cf-gnn: what has that price: the soft weights that edges have lost, or the number of removed "
     "edges, which has no gradient"},
    {"cf-gnn-pull", CBX_OPTION_CHOICE, AT(pull), "target", 0, 0, pulls,
     "cf-gnn: towards the target class, or only away from the prediction"},
};
#undef AT

static const cbx_option_table own_table = CBX_OPTION_TABLE("cf-gnn", own_options, settings);

const cbx_explainer cbx_explainer_cf_gnn = {.name = "cf-gnn",
                                            .search = search,
                                            .options = &own_table,
                                            .descends = true,
                                            .edges_only = true};
