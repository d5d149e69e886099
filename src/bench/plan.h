/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: what a benchmark is to do.
 *
 * Everything is known by its number in the plan: data set, model, fold, method. Files
 * hold names. */
#ifndef CBX_BENCH_PLAN_H
#define CBX_BENCH_PLAN_H

#include "arena.h"
#include "bench_options.h"
#include "combinex/kit.h"
#include "explain_options.h"
#include "model_options.h"

/* A row of the tables. */
typedef struct cbx_bench_method {
    const char *name, *explainer;
    const char *policy;          /* NULL: it has none */
    const char *target;          /* NULL: the one that all are asked for */
    bool        features, edges; /* what it can change */
} cbx_bench_method;

/* Who is asked for another target answers another question, and is not compared. */
static inline bool cbx_bench_compared(const cbx_bench_method *m)
{
    return !m->target;
}

/* Faults of the published program (docs/reproduction.md), as bits. The first three are the
 * searches' own: CBX_FAULT_ROUNDING, _SHIFT and _LOSS of perturb.h. */
enum {
    CBX_BENCH_FAULT_SEARCH = 1 | 2 | 4,
    CBX_BENCH_FAULT_TARGETS = 8,
    CBX_BENCH_FAULT_ANY_CLASS = 16,
    CBX_BENCH_FAULT_COMPLEMENT = 32,
    CBX_BENCH_FAULT_SKIPS = 64
};

enum { CBX_PROTOCOL_PUBLISHED, CBX_PROTOCOL_MEANT };

typedef struct cbx_bench_plan {
    const cbx_bench_options *options;
    unsigned                 faults;
    const cbx_bench_data    *data;
    int32_t                  num_data, num_models, num_methods, folds;
    const char             **models;
    const cbx_bench_method **methods;
    int32_t                **targets; /* by data set and fold: rows, ascending */
    int32_t                 *num_targets;
    char                    *text; /* all that decides the results, a line a setting */
    cbx_arena                arena;
} cbx_bench_plan;

cbx_status cbx_bench_plan_init(cbx_bench_plan *plan, const cbx_bench_options *options,
                               const cbx_bench_data *data, size_t num_data, cbx_error *err);
void       cbx_bench_plan_free(cbx_bench_plan *plan);

/* Whether the method is asked about this data set at all. */
bool cbx_bench_applies(const cbx_bench_plan *plan, int32_t data, int32_t method);

/* How the fold's oracle is trained and how the method is called. */
cbx_status cbx_bench_training(const cbx_bench_plan *plan, int32_t model, int32_t fold,
                              cbx_model_spec *spec, cbx_train_options *train, cbx_error *err);
cbx_status cbx_bench_search(const cbx_bench_plan *plan, int32_t method,
                            cbx_explain_options *options, cbx_error *err);

#endif
