/* SPDX-License-Identifier: Apache-2.0 */
/* train_rows.h: epochs over rows in batches, for methods that train on the rows of a graph. */
#ifndef CBX_TRAIN_ROWS_H
#define CBX_TRAIN_ROWS_H

#include "combinex.h"
#include "dense.h"

/* Which stream of a seed is what; those above are the method's own. */
enum { CBX_STREAM_NETWORK, CBX_STREAM_ROWS, CBX_STREAM_ORDER, CBX_STREAM_OWN };

typedef struct cbx_row_training {
    int64_t  epochs, batch;
    int64_t  patience; /* epochs without a lower mean loss; the best is kept; -1: the last is */
    uint64_t seed;
    double   lr;   /* Adam's */
    int32_t *rows; /* their order changes from epoch to epoch */
    int32_t  count;
    void    *user;
    /* Adds the row's gradient to fit->grad; true in *counts: and its loss. */
    cbx_status (*add)(void *user, int32_t row, int64_t epoch, double *loss, bool *counts,
                      cbx_error *err);
} cbx_row_training;

/* Parameters at `theta`, so many, go down from what they are; `fit` is what `add` adds to. */
cbx_status cbx_train_rows(const cbx_row_training *how, float *theta, int64_t size, cbx_fit *fit,
                          cbx_arena *arena, cbx_error *err);

/* Of `count` rows some, drawn, as many as `most` at most: they come first. Returns how many. */
int32_t cbx_draw_rows(int32_t *rows, int32_t count, int64_t most, uint64_t seed);

#endif
