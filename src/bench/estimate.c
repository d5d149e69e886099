/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c: about how long a benchmark takes.
 *
 * For each cell a few epochs are trained and a few targets explained with few epochs, on
 * one thread, and the times scaled up. Oracles that know little are explained about as
 * fast as those that know much. */
#include <string.h>

#include "clock.h"
#include "error.h"
#include "plan.h"

enum { TRIAL_TRAIN = 2, TRIAL_EPOCHS = 8, TRIAL_ROWS = 3 };

static int forget_answer(void *user, int64_t i, const cbx_counterfactual *c)
{
    (void)user, (void)i, (void)c;
    return 0;
}

/* Seconds of one whole answer of the method. */
static cbx_status try_method(const cbx_bench_plan *p, const cbx_model *model, int32_t data,
                             int32_t method, double *seconds, cbx_error *err)
{
    cbx_explain_options options;
    int32_t             rows = p->num_targets[data * p->folds];
    cbx_status          status = cbx_bench_search(p, method, &options, err);
    if (status || !rows)
        return status;
    const char *name = p->methods[method]->explainer;
    bool        once = !strcmp(name, "ego") || !strcmp(name, "minimal"); /* they have no epochs */
    double  whole = !strcmp(name, "unr") ? (double)options.unr_rollouts : (double)options.epochs;
    int64_t trial = whole < TRIAL_EPOCHS ? (int64_t)whole : TRIAL_EPOCHS;
    options.threads = 1;
    options.epochs = trial;
    options.unr_rollouts = trial;
    rows = rows < TRIAL_ROWS ? rows : TRIAL_ROWS;
    double began = cbx_clock();
    status = cbx_explain_many(model, p->data[data].graph, p->targets[data * p->folds], rows,
                              &options, forget_answer, NULL, NULL, err);
    *seconds = (cbx_clock() - began) / rows * (once ? 1 : whole / (double)trial);
    return status;
}

static cbx_status estimate(const cbx_bench_plan *p, int32_t data, int32_t model,
                           cbx_bench_estimate *out, cbx_error *err)
{
    cbx_model_spec    spec;
    cbx_train_options train;
    cbx_train_result  result;
    cbx_model        *m = NULL;
    int64_t           targets = 0;
    *out = (cbx_bench_estimate){p->data[data].name, p->models[model], p->folds, 0, 0};
    cbx_status status = cbx_bench_training(p, model, 0, &spec, &train, err);
    double     share = (double)train.epochs;
    train.epochs = train.epochs < TRIAL_TRAIN ? train.epochs : TRIAL_TRAIN;
    share /= (double)train.epochs;
    train.threads = 1;
    if (!status)
        status = cbx_model_new(p->data[data].graph, &spec, 0, &m, err);
    if (!status)
        cbx_model_set_reproducible(m, p->options->reproducible);
    double began = cbx_clock();
    if (!status)
        status = cbx_train(m, p->data[data].graph, &train, NULL, NULL, &result, err);
    out->seconds = (cbx_clock() - began) * share * p->folds;
    for (int32_t f = 0; f < p->folds; f++)
        targets += p->num_targets[data * p->folds + f];
    for (int32_t k = 0; k < p->num_methods && !status; k++) {
        double seconds = 0;
        if (!cbx_bench_applies(p, data, k))
            continue;
        status = try_method(p, m, data, k, &seconds, err);
        out->answers += targets;
        out->seconds += seconds * (double)targets;
    }
    cbx_model_free(m);
    return status;
}

cbx_status cbx_bench_dry_run(const cbx_bench_options *options, const cbx_bench_data *data,
                             size_t num_data, cbx_on_estimate each, void *user, cbx_error *err)
{
    cbx_bench_plan plan;
    cbx_status     status = cbx_bench_plan_init(&plan, options, data, num_data, err);
    if (status)
        return status;
    for (int32_t c = 0; c < plan.num_data * plan.num_models && !status; c++) {
        cbx_bench_estimate cell;
        status = estimate(&plan, c / plan.num_models, c % plan.num_models, &cell, err);
        if (!status && each(user, &cell))
            status = cbx_fail(err, CBX_CANCELLED, "cancelled");
    }
    cbx_bench_plan_free(&plan);
    return status;
}
