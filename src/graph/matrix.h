/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h: the input of a layer, dense or sparse, and the products layers need. */
#ifndef CBX_MATRIX_H
#define CBX_MATRIX_H

#include "arena.h"
#include "kernel.h"

/* Products X W that are kept up to date while a few entries of X change: adding
 * the changes' rows of W is much less than multiplying again. */
typedef struct cbx_product {
    const float *W; /* whose product with X this is; NULL: free */
    float       *H;
    int32_t      rows, width;
    bool         stale; /* multiply again */
} cbx_product;

typedef struct cbx_product_cache {
    cbx_product *products;
    int32_t      count;
    cbx_change  *changes; /* since the products were brought up to date */
    int64_t      num_changes;
} cbx_product_cache;

typedef struct cbx_matrix {
    int32_t      rows, cols;
    const float *dense; /* rows * cols, or NULL and then: */
    cbx_csr      csr;
    cbx_csr      by_column;   /* the transpose, for gradients of weights; offset NULL: not built */
    cbx_product_cache *cache; /* NULL: none; of a sparse X, which must not change */
} cbx_matrix;

static inline cbx_matrix cbx_matrix_dense(int32_t rows, int32_t cols, const float *values)
{
    return (cbx_matrix){.rows = rows, .cols = cols, .dense = values};
}

/* Y[0..rows) = X W, W being cols x width; or adds it */
void cbx_matrix_times(const cbx_matrix *X, int32_t rows, int32_t width, const float *W, float *Y,
                      bool add, int threads);

/* adds X[0..rows)' G to W (cols x width); a sparse X must have by_column, which
 * holds for all of its rows: rows must be X->rows then */
void cbx_matrix_t_times(const cbx_matrix *X, int32_t rows, int32_t width, const float *G, float *W,
                        int threads);

/* Writes the first rows, dense; not all of them if time runs out. */
void cbx_matrix_expand(const cbx_matrix *X, int32_t rows, float *dense);

/* Builds by_column; 0 on success. Nothing to do for a dense matrix. */
int cbx_matrix_transpose(cbx_matrix *X, cbx_arena *arena);

/* Room for `count` products of up to rows x width and `changes` changes; 0 on
 * success. All products are stale. */
int cbx_cache_init(cbx_product_cache *cache, int32_t count, int32_t rows, int32_t width,
                   int64_t changes, cbx_arena *arena);

/* Brings every product up to date with the changes, or with X where it is stale,
 * and forgets the changes. Call it after X has changed and before it is used. */
void cbx_cache_update(cbx_product_cache *cache, const cbx_matrix *X);

/* X is not what the changes say: multiply again. */
void cbx_cache_invalidate(cbx_product_cache *cache);

#endif
