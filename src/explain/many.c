/* SPDX-License-Identifier: Apache-2.0 */
/* many.c: many targets, one a thread at a time.
 *
 * Targets are independent and each thread has its own memory, so a result does
 * not depend on who computed it. Results are handed over in the order of rows. */
#include <stdlib.h>

#include "error.h"
#include "setup.h"
#include "threads.h"

typedef struct batch {
    const cbx_setup     *setup;
    const int32_t       *rows;
    int64_t              count;
    cbx_on_result        on_result;
    void                *user;
    cbx_counterfactual **ready; /* finished, waiting for earlier ones */
    int64_t              next;  /* the next to hand over */
    cbx_status           status;
    cbx_error            err;
} batch;

/* Runs under the lock. */
static void hand_over(batch *b, int64_t i, cbx_counterfactual *r)
{
    b->ready[i] = r;
    while (b->next < b->count && b->ready[b->next] && !b->status) {
        if (b->on_result(b->user, b->next, b->ready[b->next]))
            b->status = cbx_fail(&b->err, CBX_CANCELLED, "cancelled after %lld of %lld targets",
                                 (long long)b->next + 1, (long long)b->count);
        cbx_counterfactual_free(b->ready[b->next]);
        b->ready[b->next++] = NULL;
    }
}

static int stop_asked(void *user, int64_t done, int64_t total, const char *text)
{
    const batch *b = user;
    cbx_status   status;
    (void)done;
    (void)total;
    (void)text;
#pragma omp atomic read
    status = b->status;
    return status != CBX_OK;
}

static void explain_one(batch *b, int64_t i, cbx_arena *arena)
{
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    if (stop_asked(b, 0, 0, NULL))
        return;
    cbx_arena_reset(arena);
    cbx_status status = cbx_explain_row(b->setup, b->rows[i], b->count == 1, arena, stop_asked, b,
                                        &r, &err);
#pragma omp critical(cbx_explain_many)
    {
        if (status && !b->status) {
            b->err = err;
#pragma omp atomic write
            b->status = status;
        }
        if (!status)
            hand_over(b, i, r);
    }
}

static void run(batch *b, int threads)
{
    (void)threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        cbx_arena arena = {0};
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < b->count; i++)
            explain_one(b, i, &arena);
        cbx_arena_free(&arena);
    }
}

cbx_status cbx_explain_many(const cbx_model *model, const cbx_graph *graph, const int32_t *rows,
                            int64_t count, const cbx_explain_options *options,
                            cbx_on_result on_result, void *user, cbx_error *err)
{
    cbx_setup  setup;
    cbx_status status = cbx_setup_init(&setup, model, graph, options, err);
    if (status)
        return status;
    batch b = {.setup = &setup, .rows = rows, .count = count, .on_result = on_result, .user = user};
    b.ready = calloc((size_t)(count > 0 ? count : 1), sizeof *b.ready);
    if (!b.ready) {
        cbx_setup_free(&setup);
        return cbx_fail_memory(err);
    }
    int threads = cbx_threads(setup.options->threads);
    run(&b, threads < count ? threads : (int)(count > 0 ? count : 1));
    for (int64_t i = 0; i < count; i++)
        cbx_counterfactual_free(b.ready[i]);
    free(b.ready);
    cbx_setup_free(&setup);
    if (b.status && err)
        *err = b.err;
    return b.status;
}
