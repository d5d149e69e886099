/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h: the library that multiplies dense matrices, and its manners. */
#ifndef CBX_BLAS_H
#define CBX_BLAS_H

#include <cblas.h>
#include <stdbool.h>
#include <stdint.h>

#include "combinex.h"
#include "internal.h"

/* Before the first product of a call. Asks the BLAS, where it is one that has threads of its
 * own, to leave them: here threads take rows or targets, which is faster and gives the same
 * bits at any number of them. Fails where memory is limited and too little is left for it. */
CBX_INTERNAL cbx_status cbx_blas_begin(cbx_error *err);

/* cblas_sgemm of rows: C = A B, or adds it. */
void cbx_sgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int32_t m, int32_t n, int32_t k,
               const float *A, int32_t lda, const float *B, int32_t ldb, bool add, float *C,
               int32_t ldc);

#endif
