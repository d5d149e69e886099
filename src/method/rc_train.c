/* SPDX-License-Identifier: Apache-2.0 */
/* rc_train.c: see rc_train.h.
 *
 * M = σ((score + log u - log(1 - u)) / τ) is the mask of a row's edges, u drawn from (0, 1) and τ
 * falling from 5 to 0.5 over the epochs. The oracle sees the graph G' with weights 1 - M, and c is
 * the row's class, B_j(G) = log p(c) - log p(j) its side of the boundary towards j:
 *
 *     L = min over j of σ(B_j(G) B_j(G')) + β Σ M + μ mean of the entropies of M
 *
 * This is the paper's loss with λ = 0: what is kept of the graph need not have the class, what is
 * left without it must not. Adam goes down the mean of a batch. */
#include "rc_train.h"

#include <math.h>
#include <string.h>

#include "edge_mask.h"
#include "error.h"
#include "explain.h"
#include "order.h"
#include "rc_boundaries.h"
#include "rng.h"
#include "threads.h"
#include "train_rows.h"

static const double HOTTEST = 5, COLDEST = 0.5;

enum { STREAM_WALKS = CBX_STREAM_OWN, STREAM_NOISE };

typedef struct training {
    const cbx_setup       *setup;
    const cbx_rc_settings *own;
    cbx_rc_shared         *shared;
    float                 *logp; /* of every row */
    int32_t               *rows; /* drawn; in this epoch's order */
    int32_t *class;              /* by place in `rows` as they were drawn */
    int32_t           count;
    cbx_rc_boundaries boundaries;
    cbx_fit           fit;
    float            *best;
    cbx_arena         arena; /* of the training */
    cbx_arena         step;  /* of one row */
} training;

static const float *logp_of(const training *t, int32_t row)
{
    return t->logp + (int64_t)row * t->setup->model->num_classes;
}

static int32_t class_of(const training *t, int32_t row)
{
    const float *logp = logp_of(t, row);
    return isnan(logp[0]) ? -1 : cbx_best_class(logp, t->setup->model->num_classes, -1);
}

/* ---- what the oracle says of the data */

static cbx_status run_oracle(const cbx_setup *setup, cbx_arena *arena, cbx_rc_shared *shared,
                             float *logp, cbx_error *err)
{
    const cbx_model *model = setup->model;
    int32_t          last = model->num_layers - 1;
    cbx_arena        work = {0};
    cbx_view         view;
    cbx_matrix       X;
    cbx_pass         pass;
    int              threads = cbx_threads(setup->options->threads);
    size_t size = (size_t)setup->graph->data.num_nodes * (size_t)model->layers[last].n_out;
    shared->Z = CBX_NEW(arena, float, size);
    cbx_status status = shared->Z ? CBX_OK : cbx_fail_memory(err);
    if (!status)
        status = cbx_view_whole(setup->graph, &work, &view, err);
    if (!status)
        status = cbx_view_features(setup->graph, &view, &work, &X, err);
    if (!status)
        status = cbx_pass_init(&pass, model, &view, &X, false, threads, &work, err);
    if (!status) {
        cbx_pass_forward(&pass, &X, NULL, 0, 0);
        memcpy(shared->Z, pass.out[last], size * sizeof *shared->Z);
        memcpy(logp, pass.logp, (size_t)pass.rows_out * (size_t)model->num_classes * sizeof *logp);
    }
    cbx_arena_free(&work);
    return !status && cbx_time_is_up() ? cbx_fail_late(err) : status;
}

/* ---- the loss of a row */

/* The first term, and its gradient by the log-probabilities of G'. The class has a boundary. */
static double stay(const training *t, int32_t row, const float *after, float *dlogp)
{
    const float *before = logp_of(t, row);
    int32_t      c = class_of(t, row), nearest = -1;
    int64_t      begin, count = cbx_rc_boundaries_of(&t->boundaries, c, &begin);
    double       least = INFINITY;
    for (int64_t k = begin; k < begin + count; k++) {
        int32_t j = t->boundaries.list[k].other;
        double  side = (double)before[c] - (double)before[j];
        double  both = side * ((double)after[c] - (double)after[j]);
        if (both < least || nearest < 0) {
            least = both;
            nearest = j;
        }
    }
    double s = 1 / (1 + cbx_exp(-least));
    double slope = s * (1 - s) * ((double)before[c] - (double)before[nearest]);
    dlogp[c] = (float)slope;
    dlogp[nearest] = (float)-slope;
    return s;
}

/* A row that is being trained on, with its factual graph. */
typedef struct row_state {
    cbx_search  s;
    cbx_view    view;
    cbx_rc_mask mask;
    cbx_pass    pass;
    float      *at, *M, *dM;    /* by pair; M = σ(at) */
    float      *w, *dw, *dlogp; /* by slot; by class */
    double      temperature;
} row_state;

static cbx_status row_init(row_state *r, training *t, int32_t row, cbx_error *err)
{
    const cbx_setup *setup = t->setup;
    cbx_arena       *arena = &t->step;
    r->s = (cbx_search){.model = setup->model,
                        .graph = setup->graph,
                        .options = setup->options,
                        .row = row,
                        .view = &r->view,
                        .arena = arena,
                        .keep = arena};
    cbx_status status =
        cbx_factual_view(setup->model, setup->graph, setup->options, row, arena, &r->view, err);
    if (!status)
        status = cbx_view_features(setup->graph, &r->view, arena, &r->s.X, err);
    if (!status)
        status = cbx_rc_mask_init(&r->mask, &t->shared->net, &r->s, t->shared->Z, err);
    if (!status)
        status = cbx_pass_init(&r->pass, setup->model, &r->view, &r->s.X, true, 1, arena, err);
    if (status)
        return status;
    int64_t pairs = r->mask.pairs.count;
    r->at = CBX_NEW(arena, float, pairs);
    r->M = CBX_NEW(arena, float, pairs);
    r->dM = CBX_NEW(arena, float, pairs);
    r->w = CBX_NEW(arena, float, r->view.m);
    r->dw = CBX_NEW(arena, float, r->view.m);
    r->dlogp = CBX_NEW0(arena, float, setup->model->num_classes);
    return r->at && r->M && r->dM && r->w && r->dw && r->dlogp ? CBX_OK : cbx_fail_memory(err);
}

/* The mask with this epoch's noise, and the weights that are left. 0 on success. */
static int draw_mask(row_state *r, const training *t, int64_t epoch)
{
    cbx_edge_mask named = {
        .s = &r->s, .pairs = r->mask.pairs.count, .pair_of = r->mask.pairs.pair_of};
    const int64_t *ids = cbx_edge_mask_ids(&named);
    uint64_t       seed = (uint64_t)t->setup->options->seed + ((uint64_t)STREAM_NOISE << 56);
    const double   least = 1e-6;
    for (int64_t p = 0; ids && p < named.pairs; p++) {
        cbx_rng rng = cbx_rng_stream(seed, (uint64_t)epoch, (uint64_t)r->s.row, (uint64_t)ids[p]);
        double  u = least + (1 - 2 * least) * cbx_rng_uniform(&rng);
        double  at = ((double)r->mask.score[p] + cbx_log(u) - cbx_log(1 - u)) / r->temperature;
        r->at[p] = (float)at;
        r->M[p] = (float)(1 / (1 + cbx_exp(-at)));
    }
    for (int64_t e = 0; ids && e < r->view.m; e++)
        r->w[e] = (1 - r->M[r->mask.pairs.pair_of[e]]) * (r->view.weight ? r->view.weight[e] : 1);
    return ids ? 0 : -1;
}

/* log(1 + e^x) - x σ(x), the entropy of σ(x) */
static double entropy_at(double x, double sigma)
{
    return fmax(x, 0) + cbx_log(1 + cbx_exp(-fabs(x))) - x * sigma;
}

/* The two terms about the mask itself; dM, which has dL/dM of the first, becomes dL/dscore. */
static double price(row_state *r, const training *t)
{
    int64_t pairs = r->mask.pairs.count;
    double  size = 0, entropy = 0;
    for (int64_t p = 0; p < pairs; p++) {
        double M = (double)r->M[p], x = (double)r->at[p];
        double slope = (double)r->dM[p] + t->own->size - t->own->entropy * x / (double)pairs;
        size += M;
        entropy += entropy_at(x, M);
        r->dM[p] = (float)(slope * M * (1 - M) / r->temperature);
    }
    return t->own->size * size + t->own->entropy * entropy / (double)pairs;
}

/* Adds the row's gradient, and its loss; a row whose numbers are not finite is left out. */
static cbx_status train_on(void *user, int32_t row, int64_t epoch, double *loss, bool *counts,
                           cbx_error *err)
{
    training *t = user;
    row_state r = {.temperature = HOTTEST};
    int64_t   begin;
    int32_t   c = class_of(t, row);
    if (t->own->epochs > 1)
        r.temperature *=
            cbx_exp(cbx_log(COLDEST / HOTTEST) * (double)epoch / (double)(t->own->epochs - 1));
    cbx_arena_reset(&t->step);
    cbx_status status = row_init(&r, t, row, err);
    if (status || !r.view.m || !cbx_rc_boundaries_of(&t->boundaries, c, &begin))
        return status;
    cbx_rc_mask_forward(&r.mask, t->fit.theta);
    if (draw_mask(&r, t, epoch))
        return cbx_fail_memory(err);
    cbx_pass_forward(&r.pass, &r.s.X, r.w, 0, 0);
    double value = stay(t, row, r.pass.logp, r.dlogp);
    cbx_pass_backward(&r.pass, r.dlogp, NULL, r.dw, NULL);
    if (cbx_time_is_up())
        return cbx_fail_late(err);
    memset(r.dM, 0, (size_t)r.mask.pairs.count * sizeof *r.dM);
    for (int64_t e = 0; e < r.view.m; e++)
        r.dM[r.mask.pairs.pair_of[e]] -= r.dw[e] * (r.view.weight ? r.view.weight[e] : 1);
    value += price(&r, t);
    if (!isfinite(value) || !isfinite(cbx_sum_squares(r.mask.pairs.count, r.dM)))
        return CBX_OK;
    cbx_rc_mask_backward(&r.mask, t->fit.theta, r.dM, t->fit.grad);
    *loss = value;
    *counts = true;
    return CBX_OK;
}

static cbx_status train(void *user, float *theta, cbx_error *err)
{
    training *t = user;
    uint64_t  seed = (uint64_t)t->setup->options->seed;
    cbx_rc_net_draw(&t->shared->net, seed, theta);
    return cbx_train_rows(&(cbx_row_training){.epochs = t->own->epochs,
                                              .batch = t->own->batch,
                                              .patience = t->own->patience,
                                              .seed = seed,
                                              .lr = t->own->lr,
                                              .rows = t->rows,
                                              .count = t->count,
                                              .user = t,
                                              .add = train_on},
                          theta, t->shared->net.size, &t->fit, &t->arena, err);
}

/* ---- rows and boundaries */

/* As many rows as are asked for, drawn where there are more. 0 on success. */
static int draw_rows(training *t)
{
    int32_t all = cbx_graph_label_rows(t->setup->graph);
    t->rows = CBX_NEW(&t->arena, int32_t, all);
    for (int32_t i = 0; t->rows && i < all; i++)
        t->rows[i] = i;
    if (t->rows)
        t->count = cbx_draw_rows(t->rows, all, t->own->rows, (uint64_t)t->setup->options->seed);
    return t->rows ? 0 : -1;
}

static cbx_status find_boundaries(training *t, cbx_error *err)
{
    const float **logp = CBX_NEW(&t->arena, const float *, t->count);
    int32_t *class = CBX_NEW(&t->arena, int32_t, t->count);
    if (!logp || !class)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < t->count; i++) {
        logp[i] = logp_of(t, t->rows[i]);
        class[i] = class_of(t, t->rows[i]);
    }
    const cbx_rc_rows rows = {logp, class, t->count, t->setup->model->num_classes};
    cbx_rng           rng = cbx_rng_stream((uint64_t)t->setup->options->seed, STREAM_WALKS, 0, 0);
    return cbx_rc_boundaries_find(&rows, t->own->walks, rng.state, &t->arena, &t->boundaries, err);
}

cbx_status cbx_rc_train(const cbx_setup *setup, cbx_arena *arena, cbx_rc_shared *shared,
                        cbx_error *err)
{
    training t = {.setup = setup, .own = setup->settings, .shared = shared};
    int32_t  width = setup->model->layers[setup->model->num_layers - 1].n_out;
    size_t   rows = (size_t)cbx_graph_label_rows(setup->graph);
    shared->net = cbx_rc_net_make(width, setup->graph->data.task);
    t.logp = CBX_NEW(&t.arena, float, rows *(size_t)setup->model->num_classes);
    cbx_status status =
        t.logp ? run_oracle(setup, arena, shared, t.logp, err) : cbx_fail_memory(err);
    if (!status && draw_rows(&t))
        status = cbx_fail_memory(err);
    if (!status)
        status = find_boundaries(&t, err);
    if (!status)
        status = cbx_trained_get(setup, shared->net.size, train, &t, arena, &shared->trained, err);
    cbx_arena_free(&t.step);
    cbx_arena_free(&t.arena);
    return status;
}
