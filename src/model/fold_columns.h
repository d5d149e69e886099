/* SPDX-License-Identifier: Apache-2.0 */
/* fold_columns.h: a first layer for those columns of X that still change.
 *
 * Once every entry of a column is settled, so is the column's share of X W. It is taken out of
 * X and of W, and what it adds to row i becomes row i's own: a column that is 1 there and 0
 * elsewhere, with that sum for its row of W. So
 *
 *     X W = [X_left I] [W_left; X_settled W]
 *
 * with as many columns as are left and as X has rows, and a layer that needs nothing of X but such
 * products (CBX_ENTRY_PRODUCTS), whatever else it does, gives the same outputs. */
#ifndef CBX_FOLD_COLUMNS_H
#define CBX_FOLD_COLUMNS_H

#include "layer.h"

typedef struct cbx_fold_columns {
    const cbx_layer *wide;
    cbx_layer        layer; /* what to run in its place; `wide` itself at first */
    int32_t          rows, left;
    int32_t         *name;    /* by column that is left: its number in the wide layer */
    float           *beyond;  /* by row: the length of what was taken out of it, or more */
    float           *settled; /* by matrix that multiplies X: rows x its columns */
    float           *theta;   /* layer's */
} cbx_fold_columns;

/* Of an input of so many columns. `wide` declares CBX_ENTRY_PRODUCTS; if it does not, or is NULL,
 * cbx_fold_columns_to must not be called. 0 on success. */
int cbx_fold_columns_init(cbx_fold_columns *narrow, const cbx_layer *wide, int32_t columns,
                          int32_t rows, cbx_arena *arena);

/* Columns of X in the narrow layer. */
static inline int32_t cbx_fold_columns_left(const cbx_fold_columns *narrow)
{
    return narrow->layer.n_in;
}

/* Takes out the columns c that are left of which keep[c] is 0, and makes `layer`. X has a row of
 * cbx_fold_columns_left for each of `rows`, and is rewritten with the new number of columns, which
 * must not be larger. keep[c] becomes the new number of column c, or -1. On failure (no memory)
 * nothing has changed, and -1 is returned. */
int cbx_fold_columns_to(cbx_fold_columns *narrow, int32_t *keep, float *X, cbx_arena *arena);

#endif
