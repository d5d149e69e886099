/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c: one face for dense and sparse inputs. */
#include "matrix.h"

#include <string.h>

#include "deadline.h"

int cbx_cache_init(cbx_product_cache *cache, int32_t count, int32_t rows, int32_t width,
                   int64_t changes, cbx_arena *arena)
{
    *cache = (cbx_product_cache){.count = count};
    cache->products = CBX_NEW0(arena, cbx_product, count);
    cache->changes = CBX_NEW(arena, cbx_change, changes);
    if (!cache->products || !cache->changes)
        return -1;
    for (int32_t i = 0; i < count; i++) {
        cache->products[i].H = CBX_NEW(arena, float, (size_t)rows *(size_t)width);
        if (!cache->products[i].H)
            return -1;
    }
    return 0;
}

static void multiply(const cbx_matrix *X, const cbx_product *p)
{
    if (X->dense)
        cbx_gemm_nn(p->rows, p->width, X->cols, X->dense, p->W, p->H, false, 1);
    else
        cbx_csr_times(&X->csr, p->rows, p->width, p->W, p->H, false, 1);
}

void cbx_cache_update(cbx_product_cache *cache, const cbx_matrix *X)
{
    for (int32_t i = 0; i < cache->count; i++) {
        cbx_product *p = &cache->products[i];
        if (!p->W)
            break;
        if (p->stale)
            multiply(X, p);
        else
            cbx_rows_add(cache->changes, cache->num_changes, p->rows, p->width, p->W, p->H);
        p->stale = false;
    }
    cache->num_changes = 0;
}

void cbx_cache_invalidate(cbx_product_cache *cache)
{
    for (int32_t i = 0; i < cache->count; i++)
        cache->products[i].stale = true;
    cache->num_changes = 0;
}

/* The product with W, multiplied now if it is asked for the first time; NULL: no
 * room for it. */
static const cbx_product *cached(const cbx_matrix *X, int32_t rows, int32_t width, const float *W)
{
    for (int32_t i = 0; i < X->cache->count; i++) {
        cbx_product *p = &X->cache->products[i];
        if (p->W == W && p->rows >= rows)
            return p;
        if (p->W)
            continue;
        p->W = W;
        p->rows = rows;
        p->width = width;
        p->stale = false;
        multiply(X, p);
        return p;
    }
    return NULL;
}

void cbx_matrix_times(const cbx_matrix *X, int32_t rows, int32_t width, const float *W, float *Y,
                      bool add, int threads)
{
    /* A sparse row is added up term by term: adding their sum would not give the same bits. */
    bool               may = X->cache && (X->dense || !add);
    const cbx_product *p = may ? cached(X, rows, width, W) : NULL;
    if (p)
        cbx_copy((int64_t)rows * width, p->H, Y, add);
    else if (X->dense)
        cbx_gemm_nn(rows, width, X->cols, X->dense, W, Y, add, threads);
    else
        cbx_csr_times(&X->csr, rows, width, W, Y, add, threads);
}

void cbx_matrix_t_times(const cbx_matrix *X, int32_t rows, int32_t width, const float *G, float *W,
                        int threads)
{
    if (X->dense)
        cbx_gemm_tn(X->cols, width, rows, X->dense, G, W, true, threads);
    else
        cbx_csr_times(&X->by_column, X->cols, width, G, W, true, threads);
}

void cbx_matrix_expand(const cbx_matrix *X, int32_t rows, float *dense)
{
    const double touch = 4; /* multiplications in the time of a number that is first written to */
    size_t       cols = (size_t)X->cols;
    for (int32_t i = 0; i < rows && !cbx_out_of_time(touch * (double)cols); i++) {
        float *row = dense + (size_t)i * cols;
        if (X->dense)
            memcpy(row, X->dense + (size_t)i * cols, cols * sizeof *row);
        else
            memset(row, 0, cols * sizeof *row);
        for (int64_t e = X->dense ? 0 : X->csr.offset[i]; !X->dense && e < X->csr.offset[i + 1];
             e++)
            row[X->csr.column[e]] = X->csr.value[e];
    }
}

int cbx_matrix_transpose(cbx_matrix *X, cbx_arena *arena)
{
    if (X->dense || X->by_column.offset)
        return 0;
    int64_t  base = X->csr.offset[0], nnz = X->csr.offset[X->rows] - base;
    int64_t *offset = CBX_NEW0(arena, int64_t, (size_t)X->cols + 2);
    int32_t *row = CBX_NEW(arena, int32_t, nnz);
    float   *value = CBX_NEW(arena, float, nnz);
    if (!offset || !row || !value)
        return -1;
    /* Counts go two places up, so that filling moves offset[j + 1] from the start
     * of column j to its end, which is where the start of j + 1 belongs. */
    for (int64_t e = 0; e < nnz; e++)
        offset[X->csr.column[base + e] + 2]++;
    for (int32_t j = 0; j < X->cols; j++)
        offset[j + 2] += offset[j + 1];
    for (int32_t i = 0; i < X->rows; i++)
        for (int64_t e = X->csr.offset[i]; e < X->csr.offset[i + 1]; e++) {
            int64_t at = offset[X->csr.column[e] + 1]++;
            row[at] = i;
            value[at] = X->csr.value[e];
        }
    X->by_column = (cbx_csr){offset, row, value};
    return 0;
}
