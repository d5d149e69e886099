/* SPDX-License-Identifier: Apache-2.0 */
/* cff.c: CF² (Tan et al. 2022): a subgraph that is enough and without which it is not.
 *
 * One mask parameter a removable edge, drawn from N(0, 1); its weight is w = σ(mask). The
 * oracle sees the masked graph (weights w: factual) and its complement (1 - w:
 * counterfactual). S_f and S_c are the two rows of scores, y the prediction, and *second*
 * the best other class of the row:
 *
 *     L = Σ w + λ [ α relu(γ + S_f[second] - S_f[y]) + (1-α) relu(γ + S_c[y] - S_c[second]) ]
 *
 * Adam descends. The mask thresholded at one half is the explanation, and the graph
 * without it is the candidate: that of least loss with the target class is kept.
 *
 * In the record of an epoch, edge_loss is Σ w, ce what λ multiplies, alpha α. */
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "edge_search.h"
#include "error.h"
#include "explainers.h"
#include "order.h"
#include "rng.h"

enum { COMPLEMENT_MASKED, COMPLEMENT_WHOLE };
enum { SCORES_LOG, SCORES_PROBABILITY };

typedef struct settings {
    double lr, lambda, alpha, gamma;
    int    complement; /* what the counterfactual term sees */
    int    scores;     /* what a margin is taken of */
} settings;

typedef struct state {
    cbx_search         *s;
    const settings     *own;
    cbx_explain_options adam; /* the common options with Adam and its learning rate */
    cbx_edge_mask       E;    /* its `cut` edges are the ones that stay */
    cbx_pass            soft, hard;
    float              *rest;       /* by slot: weights of the complement */
    float              *without;    /* by slot: what is left when the explanation is cut */
    float              *dlogp, *dw; /* num_classes; by slot */
    double              whole;      /* the counterfactual margin of the whole graph */
    double              margins;    /* of this epoch, weighted */
    cbx_epoch           now;
} state;

static bool complement_is_masked(const state *st)
{
    return st->own->complement == COMPLEMENT_MASKED;
}

/* relu(γ + S[up] - S[down]), where one of the two is y and the other the second; adds
 * its gradient times `weight` by the log-probabilities to dlogp. */
static double margin(const state *st, const float *logp, bool factual, double weight, float *dlogp)
{
    const cbx_search *s = st->s;
    int32_t           y = s->prediction, second = cbx_best_class(logp, s->model->num_classes, y);
    int32_t           up = factual ? second : y, down = factual ? y : second;
    bool              log = st->own->scores == SCORES_LOG;
    double            S_up = log ? (double)logp[up] : cbx_exp((double)logp[up]);
    double            S_down = log ? (double)logp[down] : cbx_exp((double)logp[down]);
    double            value = st->own->gamma + S_up - S_down;
    if (!(value > 0))
        return 0;
    if (dlogp) { /* dp = p dlogp */
        dlogp[up] += (float)(weight * (log ? 1 : S_up));
        dlogp[down] -= (float)(weight * (log ? 1 : S_down));
    }
    return value;
}

static cbx_status prepare(state *st, cbx_error *err)
{
    cbx_search     *s = st->s;
    const cbx_view *v = s->view;
    cbx_status      status = cbx_edge_mask_init(&st->E, s, err);
    if (!status)
        status = cbx_pass_init(&st->soft, s->model, v, &s->X, true, 1, s->arena, err);
    if (!status)
        status = cbx_pass_init(&st->hard, s->model, v, &s->X, false, 1, s->arena, err);
    if (status)
        return status;
    st->dlogp = CBX_NEW(s->arena, float, s->model->num_classes);
    st->rest = CBX_NEW(s->arena, float, v->m);
    st->without = CBX_NEW(s->arena, float, v->m);
    st->dw = CBX_NEW(s->arena, float, v->m);
    const int64_t *ids = cbx_edge_mask_ids(&st->E);
    if (!st->dlogp || !st->rest || !st->without || !st->dw || !ids)
        return cbx_fail_memory(err);
    st->E.inverted = true;
    for (int64_t p = 0; p < st->E.pairs; p++) {
        cbx_rng rng =
            cbx_rng_stream((uint64_t)s->options->seed, (uint64_t)s->row, 0, (uint64_t)ids[p]);
        st->E.EP[p] = (float)cbx_rng_normal(&rng);
    }
    st->adam = *s->options;
    st->adam.learning_rate = st->own->lr;
    st->adam.optimiser = CBX_OPTIMISER_ADAM;
    st->E.descent.options = &st->adam;
    st->whole = margin(st, s->before, false, 0, NULL);
    return CBX_OK;
}

/* Runs the oracle on one side; its margin, and into `dw` the gradient by its weights. */
static double run_side(state *st, bool factual, double weight, float *dw)
{
    const cbx_search *s = st->s;
    cbx_pass_forward(&st->soft, &s->X, factual ? st->E.soft : st->rest, 0, 0);
    memset(st->dlogp, 0, (size_t)s->model->num_classes * sizeof *st->dlogp);
    double value = margin(st, st->soft.logp, factual, weight, st->dlogp);
    if (value > 0 && weight > 0)
        cbx_pass_backward(&st->soft, st->dlogp, NULL, dw, NULL);
    else
        memset(dw, 0, (size_t)s->view->m * sizeof *dw);
    return value;
}

/* Both margins; E.dw becomes the gradient by the factual weights. */
static void run_sides(state *st)
{
    int64_t m = st->s->view->m;
    double  a = st->own->alpha, lambda = st->own->lambda;
    double  factual = run_side(st, true, lambda * a, st->E.dw);
    double  counter = st->whole;
    if (complement_is_masked(st)) {
        counter = run_side(st, false, lambda * (1 - a), st->dw);
        for (int64_t e = 0; e < m; e++)
            st->E.dw[e] -= st->dw[e]; /* a weight of the rest falls where the mask's rises */
    }
    st->margins = a * factual + (1 - a) * counter;
}

static const cbx_epoch *evaluate(void *method, bool first)
{
    state            *st = method;
    const cbx_search *s = st->s;
    const cbx_view   *v = s->view;
    cbx_edge_mask    *E = &st->E;
    bool              moved = cbx_edge_mask_evaluate(E);
    const double      slot = 5; /* multiplications in the time of one */
    for (int64_t e = 0; e < v->m && !cbx_out_of_time_at(e, slot); e++) {
        float own = v->weight ? v->weight[e] : 1;
        st->rest[e] = own - E->soft[e];
        if (moved || first)
            st->without[e] = own - E->hard[e];
    }
    if (moved || first)
        cbx_pass_forward(&st->hard, &s->X, st->without, 0, 0);
    run_sides(st);
    st->now = (cbx_epoch){.ce = st->margins,
                          .edge_loss = (double)E->pairs - E->loss,
                          .alpha = st->own->alpha,
                          .eta = 1,
                          .removed_edges = v->m - E->removed};
    st->now.loss = st->now.edge_loss + st->own->lambda * st->margins;
    st->now.hit = cbx_search_hits(s, cbx_search_class(s, st->hard.logp));
    return &st->now;
}

static void keep(void *method)
{
    cbx_edge_mask *E = &((state *)method)->E;
    for (int64_t p = 0; p < E->pairs; p++)
        E->kept[p] = !E->cut[p];
}

static void step(void *method, int64_t t)
{
    /* |w - 1| at the price -1 is w, but for a constant */
    cbx_edge_mask_step(&((state *)method)->E, true, -1, t);
}

static const cbx_edge_steps steps = {evaluate, keep, step};

static cbx_status search(cbx_search *s, cbx_error *err)
{
    state      st = {.s = s, .own = s->settings};
    cbx_status status = prepare(&st, err);
    return status ? status : cbx_edge_search(&st.E, s, &steps, &st, err);
}

static const char *const complements[] = {"masked", "whole", NULL};
static const char *const scores[] = {"log", "probability", NULL};

#define AT(field) offsetof(settings, field)
static const cbx_option own_options[] = {
    {"cff-lr", CBX_OPTION_REAL, AT(lr), "0.05", 1e-12, 1e6, NULL, "cff: Adam's learning rate"},
    {"cff-lambda", CBX_OPTION_REAL, AT(lambda), "0.5", 0, 1e9, NULL,
     "cff: weight of the two margins against the mask's size"},
    {"cff-alpha", CBX_OPTION_REAL, AT(alpha), "0.5", 0, 1, NULL,
     "cff: weight of the factual margin; that of the counterfactual one is 1 - alpha"},
    {"cff-gamma", CBX_OPTION_REAL, AT(gamma), "0.5", 0, 1e9, NULL, "cff: width of the margins"},
    {"cff-complement", CBX_OPTION_CHOICE, AT(complement), "masked", 0, 0, complements,
     "cff: the counterfactual margin is that of the graph without the masked edges, or of the "
     "whole graph, where it has no gradient"},
    {"cff-scores", CBX_OPTION_CHOICE, AT(scores), "log", 0, 0, scores,
     "cff: margins of log-probabilities or of probabilities"},
};
#undef AT

static const cbx_option_table own_table = CBX_OPTION_TABLE("cff", own_options, settings);

const cbx_explainer cbx_explainer_cff = {
    .name = "cff", .search = search, .options = &own_table, .descends = true, .edges_only = true};
