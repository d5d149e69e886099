/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_targets.c: see mixed_targets.h. */
#include "mixed_targets.h"

#include <stdlib.h>

#include "error.h"
#include "graph.h"
#include "class_order.h"

enum { BATCH = 8 };

int32_t cbx_mixed_up(int32_t at, int32_t count)
{
    int32_t batches = (count + BATCH - 1) / BATCH, last = count - (batches - 1) * BATCH;
    if (at < last)
        return (batches - 1) * BATCH + at;
    at -= last;
    return (batches - 2 - at / BATCH) * BATCH + at % BATCH;
}

static cbx_status fill(cbx_mixed_targets *t, const cbx_bench_plan *plan, int32_t data, int32_t fold,
                       const cbx_model *oracle, cbx_error *err)
{
    const cbx_graph *graph = plan->data[data].graph;
    int32_t          graphs = graph->data.num_graphs, at = data * plan->folds + fold;
    int32_t          classes = cbx_model_describe(oracle).num_classes;
    float           *logp = malloc((size_t)graphs * (size_t)classes * sizeof *logp);
    t->prediction = malloc((size_t)graphs * sizeof *t->prediction);
    t->target = malloc((size_t)graphs * sizeof *t->target);
    if (!logp || !t->prediction || !t->target) {
        free(logp);
        return cbx_fail_memory(err);
    }
    cbx_status status = cbx_predict(oracle, graph, plan->options->jobs, logp, err);
    for (int32_t g = 0; g < graphs && !status; g++) {
        t->prediction[g] = cbx_best_class(logp + (int64_t)g * classes, classes, -1);
        t->target[g] = -1;
    }
    for (int32_t k = 0; k < plan->num_targets[at] && !status; k++) {
        int32_t from = cbx_mixed_up((k + 1) % graphs, graphs);
        t->target[plan->targets[at][k]] = (t->prediction[from] + 1) % classes;
    }
    free(logp);
    return status;
}

cbx_status cbx_mixed_targets_init(cbx_mixed_targets *t, const cbx_bench_plan *plan, int32_t data,
                                  int32_t fold, const cbx_model *oracle, cbx_error *err)
{
    *t = (cbx_mixed_targets){0};
    if (!(plan->faults & CBX_BENCH_FAULT_TARGETS) || plan->data[data].graph->data.task != CBX_GRAPH)
        return CBX_OK;
    cbx_status status = fill(t, plan, data, fold, oracle, err);
    if (status)
        cbx_mixed_targets_free(t);
    return status;
}

void cbx_mixed_targets_free(cbx_mixed_targets *t)
{
    free(t->prediction);
    free(t->target);
    *t = (cbx_mixed_targets){0};
}
