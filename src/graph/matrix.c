/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c: one face for dense and sparse inputs. */
#include "matrix.h"

#include <string.h>

void cbx_matrix_times(const cbx_matrix *X, int32_t rows, int32_t width, const float *W, float *Y,
                      bool add, int threads)
{
    if (X->dense)
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
    size_t cols = (size_t)X->cols;
    if (X->dense) {
        memcpy(dense, X->dense, (size_t)rows * cols * sizeof *dense);
        return;
    }
    memset(dense, 0, (size_t)rows * cols * sizeof *dense);
    for (int32_t i = 0; i < rows; i++)
        for (int64_t e = X->csr.offset[i]; e < X->csr.offset[i + 1]; e++)
            dense[(size_t)i * cols + (size_t)X->csr.column[e]] = X->csr.value[e];
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
