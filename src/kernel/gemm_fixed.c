/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_fixed.c: dense products in a fixed order.
 *
 * Every entry of the output is a sum along k from the first product to the last, whatever the
 * shape, the block it is in or the processor: vectors take neighbouring columns, which are
 * different sums. A tile of the output stays in registers while k runs. B is read as it is where
 * it has whole tiles of columns, and through a small copy where it has not, or is transposed. */
#include "kernel.h"
#include "threads.h"

#include <string.h>

/* The tile, and the depth of the copy. None of them changes a bit. */
enum { ROWS = 4, COLUMNS = 32, DEPTH = 128, BLOCK = 64 };

/* A matrix by its steps: entry (i, j) is at[i * down + j * right]. */
typedef struct steps {
    const float *at;
    int64_t      down, right;
} steps;

/* C[rows x COLUMNS] += A[rows x k] B[k x COLUMNS] */
static inline __attribute__((always_inline)) void tile(int32_t rows, int32_t k, steps A,
                                                       const float *restrict B, int64_t below,
                                                       float *restrict C, int64_t       width)
{
    float sum[ROWS][COLUMNS];
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < COLUMNS; c++)
            sum[r][c] = C[r * width + c];
    for (int32_t p = 0; p < k; p++)
        for (int32_t r = 0; r < rows; r++) {
            float a = A.at[r * A.down + p * A.right];
            for (int32_t c = 0; c < COLUMNS; c++)
                sum[r][c] += a * B[p * below + c];
        }
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < COLUMNS; c++)
            C[r * width + c] = sum[r][c];
}

/* COLUMNS columns of the output, all rows. */
CBX_HOT
static void whole_tiles(int32_t m, int32_t k, steps A, const float *B, int64_t below, float *C,
                        int64_t width)
{
    int32_t i = 0;
    for (; i + ROWS <= m; i += ROWS) {
        tile(ROWS, k, A, B, below, C + i * width, width);
        A.at += ROWS * A.down;
    }
    for (; i < m; i++) {
        tile(1, k, A, B, below, C + i * width, width);
        A.at += A.down;
    }
}

/* Some columns of B, part by part, with zeros to fill up the tile. */
static void copy_part(int32_t columns, int32_t from, int32_t depth, steps B,
                      float copy[DEPTH][COLUMNS])
{
    for (int32_t p = 0; p < depth; p++) {
        const float *row = B.at + (from + p) * B.down;
        memset(copy[p], 0, sizeof copy[p]);
        if (B.right == 1)
            memcpy(copy[p], row, (size_t)columns * sizeof *row);
        for (int32_t c = 0; c < columns && B.right != 1; c++)
            copy[p][c] = row[c * B.right];
    }
}

/* `columns` of the output, at most COLUMNS, through a copy of B. */
static void copied_tiles(int32_t m, int32_t columns, int32_t k, steps A, steps B, float *C,
                         int64_t width)
{
    float copy[DEPTH][COLUMNS], out[ROWS][COLUMNS];
    for (int32_t from = 0; from < k; from += DEPTH) {
        int32_t depth = k - from < DEPTH ? k - from : DEPTH;
        copy_part(columns, from, depth, B, copy);
        for (int32_t i = 0; i < m; i += ROWS) {
            int32_t rows = m - i < ROWS ? m - i : ROWS;
            steps   part = {A.at + i * A.down + from * A.right, A.down, A.right};
            if (columns == COLUMNS) {
                whole_tiles(rows, depth, part, copy[0], COLUMNS, C + i * width, width);
                continue;
            }
            for (int32_t r = 0; r < rows; r++)
                memcpy(out[r], C + (i + r) * width, (size_t)columns * sizeof **out);
            whole_tiles(rows, depth, part, copy[0], COLUMNS, out[0], COLUMNS);
            for (int32_t r = 0; r < rows; r++)
                memcpy(C + (i + r) * width, out[r], (size_t)columns * sizeof **out);
        }
    }
}

/* So few rows that a copy would take longer. */
static void few_rows(int32_t m, int32_t columns, int32_t k, steps A, steps B, float *C,
                     int64_t width)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t p = 0; p < k; p++) {
            float a = A.at[i * A.down + p * A.right];
            for (int32_t c = 0; c < columns; c++)
                C[i * width + c] += a * B.at[p * B.down + c * B.right];
        }
}

static void block(int32_t m, int32_t n, int32_t k, steps A, steps B, float *C)
{
    for (int32_t j = 0; j < n; j += COLUMNS) {
        int32_t columns = n - j < COLUMNS ? n - j : COLUMNS;
        steps   part = {B.at + j * B.right, B.down, B.right};
        if (columns == COLUMNS && B.right == 1)
            whole_tiles(m, k, A, part.at, B.down, C + j, n);
        else if (m < ROWS)
            few_rows(m, columns, k, A, part, C + j, n);
        else
            copied_tiles(m, columns, k, A, part, C + j, n);
    }
}

static void gemm(int32_t m, int32_t n, int32_t k, steps A, steps B, float *C, bool add, int threads)
{
    if (m <= 0 || n <= 0)
        return;
    int team = m > BLOCK ? threads : 1; /* one block is one thread's */
    CBX_PARALLEL_FOR(team, (double)m * n * k, at, m, BLOCK, {
        int32_t rows = m - (int32_t)at < BLOCK ? m - (int32_t)at : BLOCK;
        steps   part = {A.at + at * A.down, A.down, A.right};
        if (!add)
            memset(C + at * n, 0, (size_t)rows * (size_t)n * sizeof *C);
        block(rows, n, k, part, B, C + at * n);
    });
}

void cbx_gemm_nn(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads)
{
    gemm(m, n, k, (steps){A, k, 1}, (steps){B, n, 1}, C, add, threads);
}

void cbx_gemm_nt(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads)
{
    gemm(m, n, k, (steps){A, k, 1}, (steps){B, 1, k}, C, add, threads);
}

void cbx_gemm_tn(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads)
{
    gemm(m, n, k, (steps){A, 1, m}, (steps){B, n, 1}, C, add, threads);
}
