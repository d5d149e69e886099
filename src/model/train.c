/* SPDX-License-Identifier: Apache-2.0 */
/* train.c: Adam on the mean negative log-likelihood of the training rows.
 *
 * Node tasks: one full-batch step an epoch. Graph tasks: shuffled batches. Both
 * run the same step on a view; what differs is which view, and which of its rows
 * carry a loss. */
#include "train.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "auc.h"
#include "blas.h"
#include "clock.h"
#include "column_names.h"
#include "error.h"
#include "model_options.h"
#include "number.h"
#include "order.h"
#include "pass.h"
#include "rng.h"
#include "standardise.h"
#include "threads.h"

static const char *const splits[] = {"random", "kfold", "public", NULL};
static const char *const standardise[] = {"auto", "on", "off", NULL};

#define AT(field) offsetof(cbx_train_options, field)
static const cbx_option train_options[] = {
    {"epochs", CBX_OPTION_INT, AT(epochs), "500", 1, 1e9, NULL, "passes over the training rows"},
    {"learning-rate", CBX_OPTION_REAL, AT(learning_rate), "0.001", 1e-12, 1e3, NULL,
     "Adam's step size"},
    {"weight-decay", CBX_OPTION_REAL, AT(weight_decay), "0", 0, 1e3, NULL, "L2 penalty"},
    {"clip", CBX_OPTION_REAL, AT(clip), "2", 0, 1e9, NULL,
     "largest norm of a gradient; 0: no clipping"},
    {"batch", CBX_OPTION_INT, AT(batch), "256", 1, 1e9, NULL, "graph tasks: graphs per step"},
    {"split", CBX_OPTION_CHOICE, AT(split), "random", 0, 0, splits,
     "how rows are divided: at random, one of --folds, or as published with the data"},
    {"train-share", CBX_OPTION_REAL, AT(train_share), "0.8", 0, 1, NULL,
     "random split: share of rows not tested on"},
    {"val-share", CBX_OPTION_REAL, AT(val_share), "0", 0, 0.9, NULL,
     "share of rows, taken from training, to validate with"},
    {"folds", CBX_OPTION_INT, AT(folds), "4", 2, 1e6, NULL, "kfold split: number of parts"},
    {"fold", CBX_OPTION_INT, AT(fold), "0", 0, 1e6, NULL,
     "which fold, which random shuffle, or which published split"},
    {"patience", CBX_OPTION_INT, AT(patience), "0", 0, 1e9, NULL,
     "stop after so many epochs without a lower validation loss, and keep the best; 0: never"},
    {"standardise", CBX_OPTION_CHOICE, AT(standardise), "auto", 0, 0, standardise,
     "train on features of mean 0 and deviation 1, as the training rows have them; the model still "
     "takes the data as it is. auto: those that are not 0 or 1 throughout; on: these, too"},
    {"seed", CBX_OPTION_INT, AT(seed), "0", 0, 9007199254740992.0, NULL,
     "of weights, split, dropout and batches"},
    {"threads", CBX_OPTION_INT, AT(threads), "0", 0, 1024, NULL, "0: all cores"},
};
#undef AT

static const cbx_option_table train_table =
    CBX_OPTION_TABLE("Training", train_options, cbx_train_options);

const cbx_option_table *cbx_train_table(void)
{
    return &train_table;
}

/* Everything a run carries from epoch to epoch. */
typedef struct run {
    cbx_model               *model;
    const cbx_graph         *graph;
    const cbx_train_options *o;
    int                      threads;
    uint8_t                 *part;
    int32_t                 *rows; /* training graphs, in this epoch's order */
    int32_t                  num_train;
    float                   *grad, *m, *v, *before, *best;
    int64_t                  step;
    cbx_arena                arena; /* of the run */
    cbx_arena                batch; /* of one batch, graph tasks */
    cbx_view                 view;  /* node tasks: the whole graph */
    cbx_matrix               X;     /* its features */
    cbx_pass                 pass;
    float                   *dlogp;
} run;

static cbx_status start(run *r, cbx_error *err)
{
    int64_t size = r->model->size;
    int32_t labels = cbx_graph_label_rows(r->graph), validate = 0;
    r->before = CBX_NEW(&r->arena, float, size);
    if (!r->before)
        return cbx_fail_memory(err);
    memcpy(r->before, r->model->theta, (size_t)size * sizeof *r->before);
    r->part = CBX_NEW(&r->arena, uint8_t, labels);
    r->rows = CBX_NEW(&r->arena, int32_t, labels);
    r->grad = CBX_NEW(&r->arena, float, size);
    r->m = CBX_NEW0(&r->arena, float, size);
    r->v = CBX_NEW0(&r->arena, float, size);
    r->best = r->o->patience ? CBX_NEW(&r->arena, float, size) : NULL;
    if (!r->part || !r->rows || !r->grad || !r->m || !r->v || (r->o->patience && !r->best))
        return cbx_fail_memory(err);
    cbx_status status = cbx_split_with(r->graph, r->o, r->part, err);
    if (status)
        return status;
    for (int32_t i = 0; i < labels; i++) {
        validate += r->part[i] == 1;
        if (r->part[i] == 0)
            r->rows[r->num_train++] = i;
    }
    if (r->o->patience && !validate)
        return cbx_fail_option(err, "patience", "needs validation rows, and the split has none");
    if (r->model->task == CBX_GRAPH)
        return CBX_OK;
    status = cbx_view_whole(r->graph, &r->arena, &r->view, err);
    if (!status)
        status = cbx_view_features(r->graph, &r->view, &r->arena, &r->X, err);
    if (!status && cbx_matrix_transpose(&r->X, &r->arena))
        status = cbx_fail_memory(err);
    if (!status)
        status =
            cbx_pass_init(&r->pass, r->model, &r->view, &r->X, true, r->threads, &r->arena, err);
    r->dlogp = CBX_NEW(&r->arena, float, (size_t)labels *(size_t)r->model->num_classes);
    return status ? status : r->dlogp ? CBX_OK : cbx_fail_memory(err);
}

/* Sum of -log p[label] over the rows that carry a loss, and its gradient scaled
 * by 1/count. ids[i], or i, is the label row behind row i of the pass. */
static double loss_of(run *r, const cbx_pass *p, const int32_t *ids, int64_t count, uint8_t part,
                      float *dlogp)
{
    int32_t C = r->model->num_classes;
    double  sum = 0;
    if (dlogp)
        memset(dlogp, 0, (size_t)p->rows_out * (size_t)C * sizeof *dlogp);
    for (int32_t i = 0; i < p->rows_out; i++) {
        int32_t id = ids ? ids[i] : i;
        if (r->part[id] != part)
            continue;
        int64_t at = (int64_t)i * C + r->graph->data.y[id];
        sum -= p->logp[at];
        if (dlogp)
            dlogp[at] = -1.0f / (float)count;
    }
    return sum;
}

/* Adam's step for all that is sought, in as few pieces as lie together. */
static void step(run *r, const cbx_adam *adam)
{
    const cbx_model *m = r->model;
    int64_t          begin = 0;
    for (int32_t i = 0; i <= m->num_parameters; i++) {
        bool    end = i == m->num_parameters;
        int64_t at = end ? m->size : m->parameters[i].offset;
        if (!end && !m->parameters[i].shape.observed)
            continue;
        cbx_adam_step(adam, at - begin, r->grad + begin, r->m + begin, r->v + begin,
                      m->theta + begin);
        begin = end ? at : at + cbx_parameter_size(&m->parameters[i].shape);
    }
}

/* Forward, backward, clip, Adam. Returns the summed loss. */
static double optimise(run *r, cbx_pass *p, const cbx_matrix *X, const int32_t *ids, int64_t count,
                       float *dlogp)
{
    cbx_model *m = r->model;
    uint64_t   stream = cbx_rng_stream((uint64_t)r->o->seed, 3, (uint64_t)r->step, 0).state;
    p->training = true;
    cbx_pass_forward(p, X, NULL, m->dropout, stream);
    cbx_pass_observe(p, m->theta);
    double loss = loss_of(r, p, ids, count, 0, dlogp);
    memset(r->grad, 0, (size_t)m->size * sizeof *r->grad);
    cbx_pass_backward(p, dlogp, NULL, NULL, r->grad);
    if (r->o->clip > 0) {
        double norm = sqrt(cbx_sum_squares(m->size, r->grad));
        if (norm > r->o->clip)
            cbx_scale(m->size, (float)(r->o->clip / (norm + 1e-6)), r->grad);
    }
    cbx_adam adam = {.lr = r->o->learning_rate,
                     .beta1 = 0.9,
                     .beta2 = 0.999,
                     .eps = 1e-8,
                     .weight_decay = r->o->weight_decay,
                     .step = ++r->step};
    step(r, &adam);
    return loss;
}

static cbx_status epoch_of_batches(run *r, int64_t epoch, double *loss, cbx_error *err)
{
    cbx_rng rng = cbx_rng_stream((uint64_t)r->o->seed, 4, (uint64_t)epoch, 0);
    cbx_rng_shuffle(&rng, r->rows, r->num_train);
    *loss = 0;
    for (int64_t at = 0; at < r->num_train; at += r->o->batch) {
        int32_t count =
            (int32_t)(r->num_train - at < r->o->batch ? r->num_train - at : r->o->batch);
        cbx_view   view;
        cbx_matrix X;
        cbx_pass   pass;
        cbx_arena_reset(&r->batch);
        cbx_status status = cbx_view_graphs(r->graph, r->rows + at, count, &r->batch, &view, err);
        if (!status)
            status = cbx_view_features(r->graph, &view, &r->batch, &X, err);
        if (!status && cbx_matrix_transpose(&X, &r->batch))
            status = cbx_fail_memory(err);
        if (!status)
            status = cbx_pass_init(&pass, r->model, &view, &X, true, r->threads, &r->batch, err);
        if (status)
            return status;
        float *dlogp = CBX_NEW(&r->batch, float, (size_t)count *(size_t)r->model->num_classes);
        if (!dlogp)
            return cbx_fail_memory(err);
        *loss += optimise(r, &pass, &X, r->rows + at, count, dlogp);
    }
    return CBX_OK;
}

/* Log-probabilities of all label rows; then the loss of one part and accuracy of each. */
static cbx_status evaluate(run *r, float *logp, double *val_loss, double accuracy[3],
                           cbx_error *err)
{
    cbx_status status = cbx_predict_unchecked(r->model, r->graph, r->threads, logp, err);
    if (status)
        return status;
    int32_t C = r->model->num_classes, labels = cbx_graph_label_rows(r->graph);
    int64_t right[3] = {0}, count[3] = {0};
    *val_loss = 0;
    for (int32_t i = 0; i < labels; i++) {
        const float *row = logp + (int64_t)i * C;
        int32_t      best = 0;
        if (r->part[i] > 2)
            continue;
        for (int32_t k = 0; k < C; k++) {
            if (!isfinite(row[k]))
                return cbx_fail(err, CBX_INVALID,
                                "training diverged: a log-probability is %g; try a smaller "
                                "learning_rate",
                                (double)row[k]);
            best = row[k] > row[best] ? k : best;
        }
        count[r->part[i]]++;
        right[r->part[i]] += best == r->graph->data.y[i];
        *val_loss -= r->part[i] == 1 ? row[r->graph->data.y[i]] : 0;
    }
    for (int k = 0; k < 3; k++)
        accuracy[k] = count[k] ? (double)right[k] / (double)count[k] : NAN;
    return CBX_OK;
}

/* Of test rows, where there are two classes. -1: no memory. */
static int measure_auc(run *r, const float *logp, double *auc)
{
    int32_t labels = cbx_graph_label_rows(r->graph);
    int64_t count = 0;
    *auc = NAN;
    if (r->model->num_classes != 2)
        return 0;
    cbx_scored *scored = CBX_NEW(&r->arena, cbx_scored, labels);
    if (!scored)
        return -1;
    for (int32_t i = 0; i < labels; i++)
        if (r->part[i] == 2)
            scored[count++] =
                (cbx_scored){(double)logp[2 * (int64_t)i + 1] - (double)logp[2 * (int64_t)i],
                             r->graph->data.y[i] == 1};
    *auc = cbx_auc(scored, count);
    return 0;
}

static cbx_status epochs(run *r, float *logp, cbx_progress progress, void *user,
                         cbx_train_result *result, cbx_error *err)
{
    double best_loss = INFINITY, accuracy[3], val_loss;
    for (int64_t t = 0; t < r->o->epochs; t++) {
        double     loss;
        cbx_status status = CBX_OK;
        if (r->model->task == CBX_GRAPH)
            status = epoch_of_batches(r, t, &loss, err);
        else
            loss = optimise(r, &r->pass, &r->X, NULL, r->num_train, r->dlogp);
        if (status)
            return status;
        result->epochs = t + 1;
        result->loss = loss / r->num_train;
        if (!isfinite(result->loss))
            return cbx_fail(
                err, CBX_INVALID,
                "training diverged: the loss of epoch %lld is %g; try a smaller learning_rate",
                (long long)t, result->loss);
        char text[64];
        (void)cbx_print(text, sizeof text, "loss %.4f", result->loss);
        if (progress && progress(user, t + 1, r->o->epochs, text))
            return cbx_fail(err, CBX_CANCELLED, "cancelled after %lld of %lld epochs",
                            (long long)t + 1, (long long)r->o->epochs);
        if (!r->o->patience) {
            result->best_epoch = t;
            continue;
        }
        status = evaluate(r, logp, &val_loss, accuracy, err);
        if (status)
            return status;
        if (val_loss < best_loss) {
            best_loss = val_loss;
            result->best_epoch = t;
            memcpy(r->best, r->model->theta, (size_t)r->model->size * sizeof *r->best);
        } else if (t - result->best_epoch >= r->o->patience) {
            break;
        }
    }
    if (r->o->patience)
        memcpy(r->model->theta, r->best, (size_t)r->model->size * sizeof *r->best);
    return CBX_OK;
}

static cbx_status check(const cbx_model *model, const cbx_graph *graph,
                        const cbx_train_options *options, cbx_error *err)
{
    cbx_status status = cbx_fields_check(&train_table, options, err);
    if (!status && model->oracle)
        status = cbx_fail(err, CBX_INVALID, "a model of the kind '%s' cannot be trained here",
                          model->oracle->kind);
    if (!status)
        status = cbx_model_fits(model, graph, err);
    if (!status && model->mean)
        status = cbx_fail(err, CBX_INVALID,
                          "the model was trained on standardised features, and is not trained on: "
                          "make a new one");
    if (!status && options->patience && options->val_share == 0 &&
        !(options->split == CBX_SPLIT_PUBLIC && graph->data.val_mask))
        status = cbx_fail_option(err, "patience",
                                 "needs validation rows: give val_share, or split public where the "
                                 "data has a validation mask");
    return status;
}

static cbx_status train(cbx_model *model, const cbx_graph *graph, const cbx_train_options *options,
                        cbx_progress progress, void *user, cbx_train_result *result, cbx_error *err)
{
    run r = {
        .model = model, .graph = graph, .o = options, .threads = cbx_threads(options->threads)};
    cbx_status status = start(&r, err);
    double     began = cbx_clock(), val_loss, accuracy[3];
    float     *logp =
        CBX_NEW(&r.arena, float, (size_t)cbx_graph_label_rows(graph) * (size_t)model->num_classes);
    if (!status && !logp)
        status = cbx_fail_memory(err);
    if (!status)
        status = epochs(&r, logp, progress, user, result, err);
    result->seconds = cbx_clock() - began;
    if (!status)
        status = evaluate(&r, logp, &val_loss, accuracy, err);
    if (!status && measure_auc(&r, logp, &result->test_auc))
        status = cbx_fail_memory(err);
    if (!status) {
        result->train_accuracy = accuracy[0];
        result->val_accuracy = accuracy[1];
        result->test_accuracy = accuracy[2];
        for (int32_t i = 0; i < cbx_graph_label_rows(graph); i++) {
            result->num_train += r.part[i] == 0;
            result->num_val += r.part[i] == 1;
            result->num_test += r.part[i] == 2;
        }
    } else if (r.before) {
        memcpy(model->theta, r.before, (size_t)model->size * sizeof *r.before);
    }
    cbx_arena_free(&r.batch);
    cbx_arena_free(&r.arena);
    return status;
}

/* On standardised features, and then rewritten for those that the data has. */
static cbx_status train_standardised(const cbx_standard *standard, cbx_arena *arena,
                                     cbx_model *model, const cbx_graph *graph,
                                     const cbx_train_options *options, cbx_progress progress,
                                     void *user, cbx_train_result *result, cbx_error *err)
{
    cbx_graph *standardised = NULL;
    float     *before = CBX_NEW(arena, float, model->size);
    if (!before)
        return cbx_fail_memory(err);
    memcpy(before, model->theta, (size_t)model->size * sizeof *before);
    cbx_status status = cbx_standard_graph(standard, graph, arena, &standardised, err);
    if (!status)
        status = train(model, standardised, options, progress, user, result, err);
    cbx_graph_free(standardised);
    if (!status)
        status = cbx_standard_fold(standard, model, err);
    if (status)
        memcpy(model->theta, before, (size_t)model->size * sizeof *before);
    result->num_standardised = status ? 0 : standard->count;
    return status;
}

/* What the training rows' features are to be less and divided by. */
static cbx_status find_standard(const cbx_model *model, const cbx_graph *graph,
                                const cbx_train_options *options, cbx_arena *arena,
                                cbx_standard *standard, cbx_error *err)
{
    *standard = (cbx_standard){0};
    if (options->standardise == CBX_STANDARDISE_OFF)
        return CBX_OK;
    uint8_t *part = CBX_NEW(arena, uint8_t, cbx_graph_label_rows(graph));
    if (!part)
        return cbx_fail_memory(err);
    cbx_status status = cbx_split_with(graph, options, part, err);
    return status ? status
                  : cbx_standard_find(standard, graph, part, options->standardise,
                                      &model->layers[0], arena, err);
}

static cbx_status train_checked(cbx_model *model, const cbx_graph *graph,
                                const cbx_train_options *options, cbx_progress progress, void *user,
                                cbx_train_result *result, cbx_error *err)
{
    cbx_train_options fallback;
    cbx_train_result  mine = {0};
    cbx_standard      standard = {0};
    cbx_arena         arena = {0};
    if (!options) {
        cbx_fields_default(&train_table, &fallback);
        options = &fallback;
    }
    result = result ? result : &mine;
    *result = (cbx_train_result){0};
    cbx_status status = check(model, graph, options, err);
    if (!status)
        status = cbx_blas_begin(err);
    if (!status)
        status = find_standard(model, graph, options, &arena, &standard, err);
    if (!status) /* before parameters change: there may be no memory for it */
        status = cbx_model_keep_names(model, graph, err);
    if (!status && standard.count)
        status = train_standardised(&standard, &arena, model, graph, options, progress, user,
                                    result, err);
    else if (!status)
        status = train(model, graph, options, progress, user, result, err);
    cbx_arena_free(&arena);
    return status;
}

cbx_status cbx_train_with(cbx_model *model, const cbx_graph *graph,
                          const cbx_train_options *options, cbx_progress progress, void *user,
                          cbx_train_result *result, cbx_error *err)
{
    bool       before = cbx_order_fix(model->reproducible);
    cbx_status status = train_checked(model, graph, options, progress, user, result, err);
    (void)cbx_order_fix(before);
    return status;
}
