/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h: the arithmetic, on raw row-major float arrays.
 *
 * No kernel allocates or fails. Unless it says "adds", a kernel overwrites its
 * output. Each row of an output is computed by one thread, in an order that
 * does not depend on `threads`. Outputs never alias inputs. What order that is, order.h says:
 * many of them are there twice (variant.h). */
#ifndef CBX_KERNEL_H
#define CBX_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef CBX_VARIANT
#include "variant.h"
#endif

/* Compiled for several instruction sets, chosen at run time. Sanitizers cannot
 * run the resolvers behind this, and other machines have no need of them. For
 * static functions only: not every compiler gives the plain name to others. */
#if defined(CBX_NO_CLONES) || !defined(__x86_64__) || !defined(__ELF__)
#define CBX_HOT
#elif !defined(__clang__) && __GNUC__ < 12 /* knows no levels of x86-64 */
#define CBX_HOT __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CBX_HOT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

/* ---- adjacency products.
 * Edges grouped by target: row i holds slots offset[i] .. offset[i+1]-1, each
 * with a source and a value; `diag`, where not NULL, is the value of i itself.
 * The transpose groups the same slots by source, targets ascending. */
typedef struct cbx_adjacency {
    const int64_t *offset;
    const int32_t *source;
    const float   *value;
    const float   *diag;
    const int64_t *out_offset;
    const int32_t *out_target;
    const int64_t *out_slot;
} cbx_adjacency;

/* Y[0..rows) = scale * A X, or adds it to Y */
void cbx_spmm(const cbx_adjacency *A, int32_t rows, int32_t width, float scale, const float *X,
              float *Y, bool add, int threads);

/* Y[0..rows_in) = scale * A' X, X having rows_out rows; or adds it to Y */
void cbx_spmm_t(const cbx_adjacency *A, int32_t rows_out, int32_t rows_in, int32_t width,
                float scale, const float *X, float *Y, bool add, int threads);

/* adds scale * <G[target], H[source]> to dvalue of every slot of the first rows,
 * and scale * <G[i], H[i]> to ddiag[i] where that is not NULL */
void cbx_sddmm(const cbx_adjacency *A, int32_t rows, int32_t width, float scale, const float *G,
               const float *H, float *dvalue, float *ddiag, int threads);

/* ---- dense products, C being m x n; `add` adds to C */
void cbx_gemm_nn(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads); /* A: m x k, B: k x n */
void cbx_gemm_nt(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads); /* A: m x k, B: n x k */
void cbx_gemm_tn(int32_t m, int32_t n, int32_t k, const float *A, const float *B, float *C,
                 bool add, int threads); /* A: k x m, B: k x n */

/* The same in double precision, on one thread; one of A and B may be read transposed. */
void cbx_dgemm(bool transpose_a, bool transpose_b, int32_t m, int32_t n, int32_t k, const double *A,
               const double *B, double *C, bool add);

/* ---- products with sparse features (CSR; columns ascending) */
typedef struct cbx_csr {
    const int64_t *offset;
    const int32_t *column;
    const float   *value;
} cbx_csr;

/* Y[0..rows) = X W, W having `width` columns; or adds it to Y */
void cbx_csr_times(const cbx_csr *X, int32_t rows, int32_t width, const float *W, float *Y,
                   bool add, int threads);

/* One entry of X that has changed, for bringing X W up to date. */
typedef struct cbx_change {
    int32_t row, column;
    float   delta;
} cbx_change;

/* adds delta * W[column] to Y[row] for every change whose row is below rows */
void cbx_rows_add(const cbx_change *changes, int64_t count, int32_t rows, int32_t width,
                  const float *W, float *Y);

/* ---- rows */
/* y = x, or y += x */
void cbx_copy(int64_t count, const float *x, float *y, bool add);
/* Y[i] += bias */
void cbx_add_bias(int32_t rows, int32_t width, const float *bias, float *Y, int threads);
/* adds the column sums of Y to sum */
void cbx_column_sums(int32_t rows, int32_t width, const float *Y, float *sum, int threads);
/* y = max(y, 0) */
void cbx_relu(int64_t count, float *y, int threads);
/* g = 0 where y <= 0, else g * scale */
void cbx_relu_backward(int64_t count, float scale, const float *y, float *g, int threads);
/* Euclidean lengths of a row and of a difference, to a thousandth; infinite where squares are */
float cbx_length(int64_t count, const float *y);
float cbx_distance(int64_t count, const float *y, const float *z);
/* Zeroes each entry with probability `rate` and scales the rest by 1/(1-rate).
 * Entry k of row i draws from (stream, i, k) whatever the number of threads. */
void cbx_dropout(int32_t rows, int32_t width, double rate, uint64_t stream, float *Y, int threads);
/* rows of scores become rows of log-probabilities, in place */
void cbx_log_softmax(int32_t rows, int32_t width, float *Y, int threads);
/* gradient with respect to the scores, given that with respect to the
 * log-probabilities: g - softmax * sum(g), in place */
void cbx_log_softmax_backward(int32_t rows, int32_t width, const float *logp, float *g,
                              int threads);

/* ---- optimiser */
typedef struct cbx_adam {
    double  lr, beta1, beta2, eps, weight_decay;
    int64_t step; /* 1 at the first */
} cbx_adam;

/* What is the same for all entries of a step. */
typedef struct cbx_adam_rates {
    float beta1, beta2, step, root, eps, decay;
} cbx_adam_rates;

cbx_adam_rates cbx_adam_prepare(const cbx_adam *adam);
void cbx_adam_apply(const cbx_adam_rates *rates, int64_t count, const float *grad, float *m,
                    float *v, float *theta);

/* PyTorch's Adam: theta -= lr * mhat / (sqrt(vhat) + eps) */
void cbx_adam_step(const cbx_adam *adam, int64_t count, const float *grad, float *m, float *v,
                   float *theta);

/* PyTorch's SGD with Nesterov momentum; momentum 0: plain gradient descent */
void cbx_sgd_step(double lr, double momentum, bool first, int64_t count, const float *grad,
                  float *velocity, float *theta);

/* PyTorch's Adadelta, rho 0.9, eps 1e-6 */
void cbx_adadelta_step(double lr, int64_t count, const float *grad, float *squares, float *steps,
                       float *theta);

/* ---- bounds */
enum { CBX_SPECTRAL_MOST = 256 }; /* smaller side up to which the bound is a tight one */

/* At least the largest singular value of W, rows x cols. */
float cbx_spectral_bound(int32_t rows, int32_t cols, const float *W, float *scratch);

static inline int64_t cbx_spectral_scratch(int32_t rows, int32_t cols) /* floats */
{
    int64_t n = rows < cols ? rows : cols;
    return n <= CBX_SPECTRAL_MOST ? 2 * n * n : cols;
}

/* sum of squares, in double */
double cbx_sum_squares(int64_t count, const float *v);
void   cbx_scale(int64_t count, float factor, float *v);

#endif
