/* SPDX-License-Identifier: Apache-2.0 */
/* rc_mask.h: the network of RCExplainer that says of an edge how much it matters.
 *
 * Of each edge it sees the embeddings of both ends, and in a node task that of the explained node
 * too: 2d or 3d -> 64 -> 1. What goes with one removal, an edge or all between two nodes, has the
 * mean of its edges. */
#ifndef CBX_RC_MASK_H
#define CBX_RC_MASK_H

#include "dense.h"
#include "pairs.h"

typedef struct cbx_rc_net {
    cbx_dense hidden, out;
    int32_t   width; /* of an embedding */
    int32_t   parts; /* embeddings that it sees */
    int64_t   size;  /* parameters */
} cbx_rc_net;

cbx_rc_net cbx_rc_net_make(int32_t width, cbx_task task);
void       cbx_rc_net_draw(const cbx_rc_net *net, uint64_t seed, float *theta);

/* The edges of one view. */
typedef struct cbx_rc_mask {
    const cbx_rc_net *net;
    cbx_pairs         pairs;
    int32_t           slots;
    int32_t          *share;            /* by pair: its slots */
    float            *input, *hidden;   /* by slot */
    float            *dhidden, *output; /* likewise; output: scores, then their gradient */
    float            *score;            /* by pair: the larger, the more it matters */
} cbx_rc_mask;

/* Z: embeddings of the graph's nodes, of which the search's view has some. */
cbx_status cbx_rc_mask_init(cbx_rc_mask *mask, const cbx_rc_net *net, const cbx_search *s,
                            const float *Z, cbx_error *err);

void cbx_rc_mask_forward(cbx_rc_mask *mask, const float *theta);

/* After a forward: from dL/dscore to the gradient, which is added to. */
void cbx_rc_mask_backward(cbx_rc_mask *mask, const float *theta, const float *dscore, float *grad);

#endif
