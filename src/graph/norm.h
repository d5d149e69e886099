/* SPDX-License-Identifier: Apache-2.0 */
/* norm.h: from edge weights to the values a layer multiplies with, and the chain
 * rule back.
 *
 *   none  value = w
 *   gcn   self-loops of weight 1 where absent, d = (sum of w into i)^-1/2,
 *         value = d[s] w d[t], diag = loop d^2. An edge that is a loop has the
 *         value 0: its weight stands in diag (the last one's, if several; not one that
 *         the view marks as removed).
 *   cheb  loops dropped, d = (sum of w out of i)^-1/2, value = -d[s] w d[t]
 *   mean  value = w / number of edges into t
 *
 * A degree of 0 gives d = 0 and passes no gradient. */
#ifndef CBX_NORM_H
#define CBX_NORM_H

#include "view.h"

typedef enum cbx_norm_kind {
    CBX_NORM_NONE,
    CBX_NORM_GCN,
    CBX_NORM_CHEB,
    CBX_NORM_MEAN,
    CBX_NORM_COUNT
} cbx_norm_kind;

typedef struct cbx_norm {
    cbx_norm_kind   kind;
    const cbx_view *view;
    int32_t         rows;   /* values are needed for slots into the first `rows` nodes */
    int32_t         inputs; /* … whose sources are among the first `inputs` nodes */
    float          *value;  /* m */
    float          *diag;   /* n, gcn only */
    float          *loop;   /* n, gcn only: weight of the node's own loop */
    float          *root;   /* n: d */
    float          *dvalue; /* m, when gradients are wanted */
    float          *ddiag;  /* n */
    float          *droot;  /* n, scratch */
} cbx_norm;

/* Memory for one kind on one view; 0 on success. */
int cbx_norm_init(cbx_norm *norm, cbx_norm_kind kind, const cbx_view *view, int32_t rows,
                  int32_t inputs, bool gradient, cbx_arena *arena);

/* w: m weights by slot. For `none` the values are w itself. */
void cbx_norm_forward(cbx_norm *norm, const float *w);

/* Parts of a forward, after a few weights have changed: what node i's degree decides,
 * and, once all degrees are right, the values of the slots into i. */
void cbx_norm_update_degree(cbx_norm *norm, const float *w, int32_t i);
void cbx_norm_update_values(cbx_norm *norm, const float *w, int32_t i);

/* Clears dvalue and ddiag before a backward pass adds to them. */
void cbx_norm_clear(cbx_norm *norm);

/* adds dL/dw to dw (m), given dvalue and ddiag */
void cbx_norm_backward(cbx_norm *norm, const float *w, float *dw);

cbx_adjacency cbx_norm_adjacency(const cbx_norm *norm);

#endif
