/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c: about how long a benchmark takes.
 *
 * For each cell a few epochs are trained and a few targets explained, on one thread, and the
 * times scaled up. A search that is not done soon is stopped, and its other epochs are taken to
 * last as long as those it did. Oracles that know little are explained about as fast as those that
 * know much. Times are the processor's, so that other work on the machine does not count. */
#include <time.h>

#include "error.h"
#include "explainer.h"
#include "plan.h"

enum { TRIAL_TRAIN = 2, TRIAL_ROWS = 3 };
static const double TRIAL_SECONDS = 0.5; /* a target … */
static const double WHOLE_SECONDS = 5;   /* … of a method that has no epochs to count */

static double processor_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct trial {
    double limit;  /* of a target */
    double epochs; /* of a whole search; 0: it is not counted in epochs */
    double last;   /* when the answer before came */
    double once;   /* seconds before the first target */
    double each;   /* seconds of all targets */
} trial;

/* A cbx_on_result. */
static int weigh(void *user, int64_t i, const cbx_counterfactual *c)
{
    trial *t = user;
    double now = processor_seconds(), spent = now - t->last;
    double mine = c->seconds < spent ? c->seconds : spent; /* the rest was spent on all */
    t->last = now;
    t->once += i == 0 ? spent - mine : 0;
    if (c->seconds >= t->limit && c->epochs > 0 && (double)c->epochs < t->epochs)
        mine *= t->epochs / (double)c->epochs;
    t->each += mine;
    return 0;
}

/* Adds the seconds that the method takes for all targets of the cell. */
static cbx_status try_method(const cbx_bench_plan *p, const cbx_model *model, int32_t data,
                             int32_t method, int64_t targets, double *seconds, cbx_error *err)
{
    cbx_explain_options options;
    int32_t             rows = p->num_targets[data * p->folds];
    cbx_status          status = cbx_bench_search(p, method, &options, err);
    if (status || !rows)
        return status;
    const cbx_explainer *explainer = cbx_explainer_at(options.explainer);
    trial                t = {.limit = explainer->uncounted ? WHOLE_SECONDS : TRIAL_SECONDS,
                              .last = processor_seconds()};
    if (!explainer->uncounted)
        t.epochs = (double)cbx_explainer_steps(explainer, &options);
    options.threads = 1;
    if (options.time_limit == 0 || options.time_limit > t.limit)
        options.time_limit = t.limit;
    rows = rows < TRIAL_ROWS ? rows : TRIAL_ROWS;
    status = cbx_explain_many_with(model, p->data[data].graph, p->targets[data * p->folds], rows,
                                   &options, weigh, NULL, &t, err);
    *seconds += t.once * p->folds + t.each / rows * (double)targets;
    return status;
}

static cbx_status try_training(const cbx_bench_plan *p, int32_t data, int32_t model,
                               cbx_model **out, double *seconds, cbx_error *err)
{
    cbx_model_spec    spec;
    cbx_train_options train;
    cbx_train_result  result;
    *out = NULL;
    cbx_status status = cbx_bench_training(p, model, 0, &spec, &train, err);
    double     share = (double)train.epochs;
    train.epochs = train.epochs < TRIAL_TRAIN ? train.epochs : TRIAL_TRAIN;
    share /= (double)train.epochs;
    train.threads = 1;
    if (!status)
        status = cbx_model_new_with(p->data[data].graph, &spec, 0, out, err);
    if (!status)
        cbx_model_set_reproducible(*out, p->options->reproducible);
    double began = processor_seconds();
    if (!status)
        status = cbx_train_with(*out, p->data[data].graph, &train, NULL, NULL, &result, err);
    *seconds = (processor_seconds() - began) * share * p->folds;
    return status;
}

static cbx_status estimate(const cbx_bench_plan *p, int32_t data, int32_t model,
                           cbx_bench_estimate *out, cbx_error *err)
{
    cbx_model *m;
    int64_t    targets = 0;
    *out = (cbx_bench_estimate){p->data[data].name, p->models[model], p->folds, 0, 0, 0};
    for (int32_t f = 0; f < p->folds; f++)
        targets += p->num_targets[data * p->folds + f];
    cbx_status status = try_training(p, data, model, &m, &out->training, err);
    out->seconds = out->training;
    for (int32_t k = 0; k < p->num_methods && !status; k++)
        if (cbx_bench_applies(p, data, k)) {
            status = try_method(p, m, data, k, targets, &out->seconds, err);
            out->answers += targets;
        }
    cbx_model_free(m);
    return status;
}

cbx_status cbx_bench_dry_run_with(const cbx_bench_options *options, const cbx_bench_data *data,
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

cbx_status cbx_bench_dry_run(const cbx_options *options, const cbx_bench_data *data,
                             size_t num_data, cbx_on_estimate each, void *user, cbx_error *err)
{
    const void *fields;
    cbx_status  status = cbx_options_fields(options, cbx_bench_table(), &fields, err);
    return status ? status : cbx_bench_dry_run_with(fields, data, num_data, each, user, err);
}
