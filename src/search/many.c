/* SPDX-License-Identifier: Apache-2.0 */
/* many.c: many targets, one a thread at a time.
 *
 * Targets are independent and each thread has its own memory, so a result does
 * not depend on who computed it. Results are handed over in the order of rows. */
#include <stdatomic.h>
#include <stdlib.h>

#include "error.h"
#include "explain.h"
#include "order.h"
#include "threads.h"

typedef struct batch {
    const cbx_setup     *setup;
    const int32_t       *rows;
    int64_t              count;
    cbx_on_result        on_result;
    cbx_progress         progress;
    void                *user;
    cbx_counterfactual **ready; /* finished, waiting for earlier ones */
    atomic_llong         next;  /* the next to hand over */
    atomic_int           status;
    cbx_error            err;
} batch;

/* Runs under the lock. */
static void cancel(batch *b, int64_t done)
{
    b->status = cbx_fail(&b->err, CBX_CANCELLED, "cancelled after %lld of %lld targets",
                         (long long)done, (long long)b->count);
}

/* Runs under the lock. */
static void hand_over(batch *b, int64_t i, cbx_counterfactual *r)
{
    b->ready[i] = r;
    for (int64_t k = b->next; k < b->count && b->ready[k] && !b->status; k = ++b->next) {
        if (b->on_result(b->user, k, b->ready[k]))
            cancel(b, k + 1);
        cbx_counterfactual_free(b->ready[k]);
        b->ready[k] = NULL;
    }
}

/* Called by every thread in every epoch. The caller's function is asked by one of
 * them only, so it need not be prepared for several at once. */
static int stop_asked(void *user, int64_t done, int64_t total, const char *text)
{
    batch *b = user;
    (void)done;
    (void)total;
    if (b->status)
        return 1;
    if (!b->progress || cbx_thread_number() != 0 || !b->progress(b->user, b->next, b->count, text))
        return 0;
#pragma omp critical(cbx_explain_many)
    if (!b->status)
        cancel(b, b->next);
    return 1;
}

static void explain_one(batch *b, int64_t i, cbx_workspace *workspace)
{
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_deadline        deadline;
    if (stop_asked(b, 0, 0, ""))
        return;
    cbx_deadline_begin(&deadline, b->setup->options->time_limit, stop_asked, b);
    cbx_status status =
        cbx_explain_row(b->setup, b->rows[i], b->count == 1, workspace, &deadline, &r, &err);
    cbx_deadline_end(&deadline);
#pragma omp critical(cbx_explain_many)
    if (status && !b->status) {
        b->err = err;
        b->status = (int)status;
    } else if (deadline.cancelled && !b->status) { /* by the model: a callback that failed */
        cancel(b, b->next);
    } else if (r && r->outcome != CBX_NOT_FINISHED) {
        hand_over(b, i, r);
        r = NULL;
    }
    cbx_counterfactual_free(r);
}

static void run(batch *b, int threads)
{
    (void)threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        cbx_workspace workspace = {0};
        bool          before = cbx_order_fix(b->setup->model->reproducible);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < b->count; i++)
            explain_one(b, i, &workspace);
        (void)cbx_order_fix(before);
        cbx_workspace_free(&workspace);
    }
}

cbx_status cbx_explain_many_with(const cbx_model *model, const cbx_graph *graph,
                                 const int32_t *rows, int64_t count,
                                 const cbx_explain_options *options, cbx_on_result on_result,
                                 cbx_progress progress, void *user, cbx_error *err)
{
    cbx_setup    setup;
    cbx_deadline preparing; /* has no limit: those that options give are the targets' */
    batch        b = {.setup = &setup,
                      .rows = rows,
                      .count = count,
                      .on_result = on_result,
                      .progress = progress,
                      .user = user};
    cbx_deadline_begin(&preparing, 0, stop_asked, &b);
    bool       before = cbx_order_fix(model->reproducible);
    cbx_status status = cbx_setup_init(&setup, model, graph, options, err);
    (void)cbx_order_fix(before); /* every thread has its own */
    cbx_deadline_end(&preparing);
    if (status && b.status && err)
        *err = b.err;
    if (status && !cbx_search_status(status)) /* it was late, and is ours still */
        cbx_setup_free(&setup);
    if (status)
        return status;
    b.ready = calloc((size_t)(count > 0 ? count : 1), sizeof *b.ready);
    if (!b.ready) {
        cbx_setup_free(&setup);
        return cbx_fail_memory(err);
    }
    int threads = cbx_threads(setup.options->threads);
    int targets_at_once = threads < count ? threads : (int)(count > 0 ? count : 1);
    setup.threads = threads / targets_at_once;
    run(&b, targets_at_once);
    for (int64_t i = 0; i < count; i++)
        cbx_counterfactual_free(b.ready[i]);
    free(b.ready);
    cbx_setup_free(&setup);
    if (b.status && err)
        *err = b.err;
    return (cbx_status)b.status;
}
