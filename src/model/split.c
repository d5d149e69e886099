/* SPDX-License-Identifier: Apache-2.0 */
/* split.c: which rows train, validate and test. */
#include <stddef.h>
#include <string.h>

#include "error.h"
#include "graph.h"
#include "model_options.h"
#include "rng.h"
#include "train.h"

enum { TRAIN, VAL, TEST, UNUSED };

/* Shuffled labelled rows; the shuffle depends on the seed and, for random
 * splits, on the fold, so that every fold of a k-fold sees the same order. */
static int32_t *shuffled(const cbx_graph *g, const cbx_train_options *o, cbx_arena *arena,
                         int32_t *count)
{
    int32_t  rows = cbx_graph_label_rows(g);
    int32_t *order = CBX_NEW(arena, int32_t, rows);
    if (!order)
        return NULL;
    *count = 0;
    for (int32_t i = 0; i < rows; i++)
        if (g->data.y[i] >= 0)
            order[(*count)++] = i;
    uint64_t fold = o->split == CBX_SPLIT_RANDOM ? (uint64_t)o->fold : 0;
    cbx_rng  rng = cbx_rng_stream((uint64_t)o->seed, 2, fold, 0);
    cbx_rng_shuffle(&rng, order, *count);
    return order;
}

static void assign(const int32_t *order, int32_t begin, int32_t end, uint8_t what, uint8_t *part)
{
    for (int32_t i = begin; i < end; i++)
        part[order[i]] = what;
}

static cbx_status split_drawn(const cbx_graph *g, const cbx_train_options *o, uint8_t *part,
                              cbx_error *err)
{
    cbx_arena arena = {0};
    int32_t   count = 0;
    int32_t  *order = shuffled(g, o, &arena, &count);
    if (!order)
        return cbx_fail_memory(err);
    int32_t val = (int32_t)(o->val_share * count), begin, end; /* test: [begin, end) */
    if (o->split == CBX_SPLIT_KFOLD) {
        begin = (int32_t)((int64_t)count * o->fold / o->folds);
        end = (int32_t)((int64_t)count * (o->fold + 1) / o->folds);
    } else {
        begin = (int32_t)(o->train_share * count);
        end = count;
    }
    assign(order, 0, count, TRAIN, part);
    assign(order, begin, end, TEST, part);
    for (int32_t i = 0; i < count && val > 0; i++)
        if (part[order[i]] == TRAIN) {
            part[order[i]] = VAL;
            val--;
        }
    cbx_arena_free(&arena);
    return CBX_OK;
}

/* The masks of the file. Without a test mask, what is neither trained on nor
 * validated with is the test set. */
static cbx_status split_public(const cbx_graph *g, const cbx_train_options *o, uint8_t *part,
                               cbx_error *err)
{
    const cbx_graph_data *d = &g->data;
    int32_t               S = d->num_splits, rows = cbx_graph_label_rows(g);
    if (!d->train_mask)
        return cbx_fail_option(err, "split", "public: the data has no published split");
    if (o->fold >= S)
        return cbx_fail_option(err, "fold", "%lld: the data has %d published split%s",
                               (long long)o->fold, S, S == 1 ? "" : "s");
    for (int32_t i = 0; i < rows; i++) {
        int64_t at = (int64_t)i * S + o->fold;
        if (d->y[i] < 0)
            continue;
        if (d->train_mask[at])
            part[i] = TRAIN;
        else if (d->val_mask && d->val_mask[at])
            part[i] = VAL;
        else if (!d->test_mask || d->test_mask[at])
            part[i] = TEST;
    }
    return CBX_OK;
}

cbx_status cbx_split_with(const cbx_graph *graph, const cbx_train_options *options, uint8_t *part,
                          cbx_error *err)
{
    cbx_train_options fallback;
    if (!graph->data.y)
        return cbx_fail(err, CBX_INVALID, "the data has no labels to train on");
    if (!options) {
        cbx_fields_default(cbx_train_table(), &fallback);
        options = &fallback;
    }
    cbx_status status = cbx_fields_check(cbx_train_table(), options, err);
    if (status)
        return status;
    if (options->split == CBX_SPLIT_KFOLD && options->fold >= options->folds)
        return cbx_fail_option(err, "fold", "%lld of %lld: folds count from 0",
                               (long long)options->fold, (long long)options->folds);
    int32_t rows = cbx_graph_label_rows(graph);
    memset(part, UNUSED, (size_t)rows);
    status = options->split == CBX_SPLIT_PUBLIC ? split_public(graph, options, part, err)
                                                : split_drawn(graph, options, part, err);
    if (status)
        return status;
    for (int32_t i = 0; i < rows; i++)
        if (part[i] == TRAIN)
            return CBX_OK;
    return cbx_fail_option(err, "train-share", "no row is left to train on: %d rows, a share of %g",
                           rows, options->train_share);
}
