/* SPDX-License-Identifier: Apache-2.0 */
/* combinex.c: joint perturbation of edges and features by gradient descent.
 *
 * Two parameter arrays, EP (one per removable edge, starts at 1) and P (one per
 * feature value, starts at 0). Each epoch evaluates the oracle twice, on soft
 * values that have a gradient and on thresholded ones that decide:
 *
 *     L = η CE(soft, target) + (1-α) Σ|σ(EP)-1| + α L_X
 *
 * Where edges may be added (--edits), some that are not there have a parameter as well, the other
 * way round (edge_mask.h).
 *
 * If the thresholded graph has the target class and L is the least so far, its
 * edits are kept. perturb.h has the formulas for features, edge_mask.h those for
 * edges, policy.h α.
 *
 * Only rows of P that the first layer reads are held: the others have no gradient
 * and stay 0. The thresholded features are sparse where X is. A pass whose class is
 * proved by the one before it (class_bound.h) is not run, nor is that of the thresholded graph
 * while neither a feature nor an edge has crossed its threshold. */
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "edge_mask.h"
#include "error.h"
#include "explainers.h"
#include "feature_mask.h"
#include "class_bound.h"
#include "offers.h"
#include "order.h"
#include "combinex_options.h"
#include "setup.h"

typedef struct state {
    cbx_search                 *s;
    const cbx_combinex_options *own;
    bool                        features, edges; /* which are free */
    cbx_feature_mask            F;
    cbx_edge_mask               E;
    cbx_pass                    soft, hard;
    cbx_class_bound             soft_margin, hard_margin;
    float                      *dlogp; /* num_classes */
    cbx_epoch                   now;   /* of the current epoch */
    int32_t                     soft_class, hard_class;
    double                      soft_lead; /* over the next class, when it was last computed */
    int32_t                     aim;       /* class the gradient leads to */
    bool pulls; /* the cross-entropy has a gradient, and the soft pass has run */
    /* the best so far */
    double  best, fewest;
    int64_t version, best_version; /* of the thresholded graph */
} state;

static cbx_status prepare(state *st, cbx_error *err)
{
    cbx_search      *s = st->s;
    const cbx_model *m = s->model;
    int              policy = st->own->policy.shape;
    st->features = policy != CBX_POLICY_EDGES;
    st->edges = policy != CBX_POLICY_FEATURES;
    st->best = st->fewest = INFINITY;
    st->best_version = -1;
    st->soft_class = st->hard_class = s->prediction;
    cbx_matrix soft = s->X;
    cbx_status status = st->edges ? cbx_edge_mask_init(&st->E, s, err) : CBX_OK;
    if (status)
        return status;
    const cbx_view *soft_view = st->edges ? st->E.soft_view : s->view;
    const cbx_view *hard_view = st->edges ? st->E.hard_view : s->view;
    if (st->features) /* soft features have no zeros to skip; any pointer says "dense" here */
        soft = cbx_matrix_dense(s->X.rows, s->X.cols, s->before);
    status = cbx_pass_init(&st->soft, m, soft_view, &soft, true, 1, s->arena, err);
    if (!status && st->features)
        status = cbx_feature_mask_init(&st->F, s, cbx_pass_input_rows(&st->soft),
                                       (unsigned)st->own->faults, err);
    if (!status)
        status = cbx_pass_init(&st->hard, m, hard_view, st->features ? &st->F.hard : &s->X, false,
                               1, s->arena, err);
    if (status)
        return status;
    if (cbx_class_bound_init(&st->soft_margin, &st->soft, &s->X, s->shared, s->arena) ||
        cbx_class_bound_init(&st->hard_margin, &st->hard, &s->X, s->shared, s->arena))
        return cbx_fail_memory(err);
    st->F.soft_drift = cbx_class_bound_moved(&st->soft_margin);
    st->F.hard_drift = cbx_class_bound_moved(&st->hard_margin);
    if (st->features)
        st->soft_margin.beyond = st->F.narrow.beyond;
    st->dlogp = CBX_NEW0(s->arena, float, m->num_classes);
    return st->dlogp ? CBX_OK : cbx_fail_memory(err);
}

/* Adds the time since `from` to a phase. Returns now: the next one's `from`. */
static double lap(const cbx_search *s, int phase, double from)
{
    double now = s->phases ? cbx_clock() : 0;
    if (s->phases && from > 0)
        s->phases[phase] += now - from;
    return now;
}

/* Is every pass run? A trace shows them all; what is proved of them does not hold of the
 * published program's faults, nor of values that rules move, nor of edges that come, and says
 * nothing of probabilities. */
static bool runs_all(const state *st)
{
    return st->s->trace || st->F.box.faults || st->F.allowed || st->s->offered ||
           st->s->options->stopping_threshold > 0;
}

/* The thresholded graph's class. */
static void evaluate_hard(state *st, const float *w, int64_t t)
{
    const cbx_matrix *X = st->features ? &st->F.hard : &st->s->X;
    double            enough = runs_all(st) ? INFINITY : 0;
    st->version++;
    cbx_class_bound_start(&st->hard_margin, X, w);
    if (!runs_all(st) && cbx_class_bound_lower(&st->hard_margin) > enough)
        return;
    if (st->features)
        cbx_feature_mask_harden(&st->F, t);
    if (cbx_class_bound_run_until_proved(&st->hard_margin, enough))
        st->hard_class = cbx_search_class(st->s, st->hard.logp);
}

/* A lead of the soft class beyond which the cross-entropy may as well be 0: the
 * probability of every other class, and with it the gradient, is so small that all
 * epochs together could not move a parameter by more than 1e-9. (Adam divides by 1e-8
 * at least; the other optimisers do less.) But a parameter at exactly 0 feels no
 * penalty, and the slightest move would wake it: then only a probability that a
 * float cannot hold will do. */
static double enough_lead(state *st)
{
    const cbx_explain_options *o = st->s->options;
    const double               underflow = 110, effect = 1e-9, least_divisor = 1e-8;
    if (st->features && st->F.idle)
        return underflow;
    double slope = cbx_class_bound_slope(&st->soft_margin) * (st->s->model->num_classes - 1);
    if (o->edges == CBX_EDGES_UNDIRECTED)
        slope *= (double)st->s->view->m; /* a pair has at most so many */
    double gradient = effect * least_divisor / (o->learning_rate * (double)o->epochs);
    double enough = cbx_log(slope / gradient);
    return enough < underflow ? fmax(enough, 0) : underflow;
}

/* Can a lead of the soft class be such that nothing else about it matters? */
static bool lead_may_do(const state *st)
{
    const double worth_asking = 30; /* of the last time that it was known */
    return !runs_all(st) && cbx_search_hits(st->s, st->soft_class) &&
           (cbx_search_hits(st->s, st->hard_class) || st->soft_lead > worth_asking);
}

static void evaluate_soft(state *st, const float *w)
{
    const cbx_search *s = st->s;
    int32_t           C = s->model->num_classes;
    double            lead = -1, enough = INFINITY;
    cbx_class_bound_start(&st->soft_margin, st->features ? &st->F.soft : &s->X, w);
    if (lead_may_do(st)) {
        lead = cbx_class_bound_lower(&st->soft_margin);
        enough = cbx_search_hits(s, st->hard_class) ? 0 : enough_lead(st);
    }
    st->now.ce = 0;
    st->pulls = false;
    if (lead > enough)
        return;
    if (st->features)
        cbx_feature_mask_soften(&st->F);
    if (!cbx_class_bound_run_until_proved(&st->soft_margin, enough))
        return;
    const float *logp = st->soft.logp;
    st->soft_class = cbx_best_class(logp, C, -1);
    st->aim = cbx_search_aim(s, logp);
    st->now.ce = -(double)logp[st->aim];
    st->soft_lead =
        C > 1 ? logp[st->soft_class] - logp[cbx_best_class(logp, C, st->soft_class)] : 0;
    st->pulls = st->aim != st->soft_class || st->soft_lead <= enough;
}

/* The oracle on both columns of values at the current parameters. */
static void evaluate(state *st, int64_t t)
{
    bool   moved = t == 0 || (st->features && st->F.moved);
    double from = lap(st->s, 0, 0);
    if (st->edges)
        moved |= cbx_edge_mask_evaluate(&st->E);
    from = lap(st->s, CBX_PHASE_EDGES, from);
    if (moved)
        evaluate_hard(st, st->edges ? st->E.hard : NULL, t);
    from = lap(st->s, CBX_PHASE_HARD, from);
    evaluate_soft(st, st->edges ? st->E.soft : NULL);
    (void)lap(st->s, CBX_PHASE_SOFT, from);
}

static void measure(state *st, int64_t t)
{
    const cbx_search *s = st->s;
    cbx_epoch        *e = &st->now;
    e->edge_loss = st->edges ? st->E.loss : 0;
    e->feature_loss = st->features ? st->F.loss : 0;
    e->alpha =
        cbx_policy_alpha(&st->own->policy, t, s->options->epochs, e->edge_loss, e->feature_loss);
    e->hit = cbx_search_hits(s, st->hard_class);
    e->eta = e->hit && cbx_search_hits(s, st->soft_class) ? 0 : 1;
    e->loss = e->eta * e->ce + (1 - e->alpha) * e->edge_loss + e->alpha * e->feature_loss;
    e->changed_features = st->features ? st->F.changed : 0;
    e->removed_edges = st->edges ? st->E.removed : 0;
}

/* Keeping is cheap when the thresholded graph is the one kept already. */
static void keep(state *st, int64_t t)
{
    cbx_search *s = st->s;
    /* what wins: the least loss, or the fewest edits with the loss as tie-break */
    double edits = st->own->select == CBX_SELECT_EDITS
                       ? (double)(st->now.changed_features + st->now.removed_edges)
                       : 0;
    if (!st->now.hit || edits > st->fewest || (edits == st->fewest && !(st->now.loss < st->best)))
        return;
    st->best = st->now.loss;
    st->fewest = edits;
    s->found = true;
    s->epoch = t;
    s->loss = st->now.loss;
    cbx_search_reserve(s, st->now.changed_features + st->now.removed_edges);
    if (st->version == st->best_version)
        return;
    st->best_version = st->version;
    if (st->features)
        cbx_feature_mask_keep(&st->F);
    if (st->edges)
        cbx_edge_mask_keep(&st->E);
}

static cbx_status step(state *st, int64_t t, cbx_error *err)
{
    const cbx_epoch *e = &st->now;
    bool             pull = e->eta != 0 && st->pulls;
    double           from = lap(st->s, 0, 0);
    if (st->s->phases && st->features)
        st->s->phases[pull ? CBX_PULLED_VALUES : CBX_OTHER_VALUES] += (double)st->F.live.count;
    if (pull) {
        st->dlogp[st->aim] = -1;
        cbx_pass_backward(&st->soft, st->dlogp, st->features ? st->F.grad : NULL,
                          st->edges ? st->E.dw : NULL, NULL);
        st->dlogp[st->aim] = 0;
    }
    from = lap(st->s, CBX_PHASE_BACKWARD, from);
    if (st->features && cbx_feature_mask_step(&st->F, pull, e->alpha, t))
        return cbx_fail_memory(err);
    from = lap(st->s, CBX_PHASE_FEATURES, from);
    if (st->edges)
        cbx_edge_mask_step(&st->E, pull, 1 - e->alpha, t);
    (void)lap(st->s, CBX_PHASE_EDGES, from);
    if (st->features && st->F.narrowed &&
        cbx_pass_replace_first(&st->soft, &st->F.narrow.layer, st->s->arena))
        return cbx_fail_memory(err);
    return CBX_OK;
}

static cbx_status collect(state *st, cbx_error *err)
{
    cbx_search *s = st->s;
    int64_t     count = (st->features ? cbx_feature_mask_count(&st->F) : 0) +
                    (st->edges ? cbx_edge_mask_count(&st->E) : 0);
    cbx_status status = cbx_search_make_edits(s, count, err);
    if (status)
        return status;
    if (st->edges)
        s->num_edits += cbx_edge_mask_edits(&st->E, s->edits);
    if (st->features)
        s->num_edits += cbx_feature_mask_edits(&st->F, s->edits + s->num_edits);
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}

static cbx_status descend(cbx_search *s, cbx_error *err)
{
    state      st = {.s = s, .own = s->settings};
    int64_t    T = s->options->epochs;
    cbx_status status = prepare(&st, err);
    for (int64_t t = 0; t < T && !status; t++) {
        evaluate(&st, t);
        if (cbx_time_is_up())
            break;
        measure(&st, t);
        if (cbx_search_diverged(s, st.now.loss))
            break;
        if (s->trace)
            s->trace[s->num_trace++] = st.now;
        keep(&st, t);
        s->epochs = t + 1;
        if (cbx_search_should_stop(s, t + 1, T) || cbx_search_gives_up(s, t))
            break;
        if (t + 1 < T)
            status = step(&st, t, err);
    }
    if (status || !s->found)
        return status;
    cbx_search_end(s);
    return collect(&st, err);
}

static cbx_status search(cbx_search *s, cbx_error *err)
{
    const cbx_combinex_options *own = s->settings;
    cbx_search                  wide;
    if (own->policy.shape == CBX_POLICY_FEATURES)
        return descend(s, err);
    cbx_status status = cbx_offers_widen(s, &wide, err);
    if (!status)
        status = descend(&wide, err);
    cbx_widen_hand_back(s, &wide);
    return status;
}

/* How far the model's matrices stretch a vector is the same for all targets. */
static cbx_status prepare_all(const cbx_setup *setup, cbx_arena *arena, const void **shared,
                              cbx_error *err)
{
    *shared = cbx_model_spectral_norms(setup->model, arena);
    return *shared ? CBX_OK : cbx_fail_memory(err);
}

static const char *const policies[] = {"linear",   "exponential", "sinusoidal", "dynamic",
                                       "constant", "features",    "edges",      NULL};
static const char *const selections[] = {"loss", "edits", NULL};

#define AT(field) offsetof(cbx_combinex_options, field)
static const cbx_option own_options[] = {
    {"policy", CBX_OPTION_CHOICE, AT(policy.shape), "linear", 0, 0, policies,
     "combinex: how the price moves from features to edges as epochs go by"},
    {"alpha", CBX_OPTION_REAL, AT(policy.alpha), "1", 0, 1, NULL,
     "policy constant: the price of features; that of edges is 1 - alpha"},
    {"decay", CBX_OPTION_REAL, AT(policy.decay), "0.1", 1e-9, 1e9, NULL,
     "policy exponential: epochs in which alpha falls by e"},
    {"select", CBX_OPTION_CHOICE, AT(select), "loss", 0, 0, selections,
     "combinex: which epoch wins: that of least loss, or of fewest edits"},
    {"faults", CBX_OPTION_INT, AT(faults), "0", 0, 7, NULL, NULL},
};
#undef AT

static const cbx_option_table own_table =
    CBX_OPTION_TABLE("combinex", own_options, cbx_combinex_options);

const cbx_explainer cbx_explainer_combinex = {.name = "combinex",
                                              .search = search,
                                              .options = &own_table,
                                              .descends = true,
                                              .adds_edges = true,
                                              .prepare = prepare_all};
