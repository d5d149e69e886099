/* SPDX-License-Identifier: Apache-2.0 */
/* attention.h: sums over a node's edges whose shares a softmax decides, head by head.
 *
 *     score[e] = leaky(<source, H[u]> + <target, H[i]>)      e: u -> i
 *     share[e] = exp(score[e]) / sum over edges f into i of w[f] exp(score[f])
 *     Y[i]     = sum over edges e into i of w[e] share[e] H[u]
 *
 * H[u] is row u's part of the head; heads give columns side by side, or their mean is taken. An
 * edge's weight multiplies its summand above and below, so weight 0 is the sum without the edge, to
 * the last bit; there are no negative shares, and a weight below 0 counts as 0. A node that has no
 * edge of positive weight gets 0. */
#ifndef CBX_ATTENTION_H
#define CBX_ATTENTION_H

#include "kernel.h"

typedef struct cbx_attention {
    const cbx_adjacency *A;       /* its values are w */
    const uint8_t       *removed; /* by slot: not there, whatever w is; NULL: none */
    int32_t              rows_out, rows_in;
    int32_t              heads, width; /* columns of a head */
    bool                 mean;         /* of the heads */
    bool         own;   /* edges from a node to itself are put out, and one of weight 1 is put in */
    float        slope; /* of leaky, below 0 */
    const float *H;     /* rows_in x heads * width */
    const float *source, *target; /* heads * width */
    float       *from, *to;       /* rows_in and rows_out x heads: products with those */
    float       *share;           /* slots of the first rows_out rows x heads */
    float       *own_share;       /* rows_out x heads */
} cbx_attention;

/* From H: `from` and `to`, the shares, and Y of rows_out rows. */
void cbx_attention_forward(const cbx_attention *a, float *Y, int threads);

typedef struct cbx_attention_grad {
    const float *dY;
    float       *dvalue;     /* by slot, added to; NULL: not wanted */
    float       *dscore;     /* as share; all that follow are overwritten */
    float       *own_dscore; /* as own_share */
    float       *dfrom, *dto;
    float       *dH;
} cbx_attention_grad;

/* After a forward. Without dH what it alone needs is left out. */
void cbx_attention_backward(const cbx_attention *a, const cbx_attention_grad *g, int threads);

#endif
