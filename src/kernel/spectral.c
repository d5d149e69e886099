/* SPDX-License-Identifier: Apache-2.0 */
/* spectral.c: how much a matrix can stretch a vector, from above.
 *
 * With G = W'W (or WW', the smaller) the square of the largest singular value is
 * the largest eigenvalue of G, and the Frobenius norm of G^p is at most n^(1/2)
 * times its p-th power: for p = 16 and n = 128 the bound is less than a tenth too
 * large. Wide matrices get a coarser bound that takes one pass. */
#include "kernel.h"

#include "functions.h"

enum { SQUARINGS = 4 };

/* The geometric mean of the largest sum of a row and that of a column. */
static double sums_bound(int32_t rows, int32_t cols, const float *W, float *column)
{
    double widest = 0, tallest = 0;
    for (int32_t j = 0; j < cols; j++)
        column[j] = 0;
    for (int32_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int32_t j = 0; j < cols; j++) {
            float v = fabsf(W[(int64_t)i * cols + j]);
            sum += v;
            column[j] += v;
        }
        widest = sum > widest ? sum : widest;
    }
    for (int32_t j = 0; j < cols; j++)
        tallest = column[j] > tallest ? column[j] : tallest;
    return sqrt(widest * tallest);
}

float cbx_spectral_bound(int32_t rows, int32_t cols, const float *W, float *scratch)
{
    const double rounding = 1.001;
    int32_t      n = rows < cols ? rows : cols;
    if (n > CBX_SPECTRAL_MOST)
        return (float)(sums_bound(rows, cols, W, scratch) * rounding);
    int64_t size = (int64_t)n * n;
    float  *G = scratch, *square = scratch + size;
    if (rows < cols)
        cbx_gemm_nt(n, n, cols, W, W, G, false, 1);
    else
        cbx_gemm_tn(n, n, rows, W, W, G, false, 1);
    double log_eigenvalue = 0, weight = 1;
    for (int s = 0;; s++, weight /= 2) {
        double norm = sqrt(cbx_sum_squares(size, G));
        if (!(norm > 0))
            return norm == 0 ? 0 : INFINITY;
        log_eigenvalue += weight * CBX_LOG(norm);
        if (s == SQUARINGS)
            break;
        cbx_scale(size, (float)(1 / norm), G);
        cbx_gemm_nn(n, n, n, G, G, square, false, 1);
        float *other = G;
        G = square;
        square = other;
    }
    return (float)(CBX_EXP(log_eigenvalue / 2) * rounding);
}
