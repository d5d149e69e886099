/* SPDX-License-Identifier: Apache-2.0 */
/* edge_mask.h: EP, the perturbation of edges, through the epochs of a search.
 *
 * A *pair* is what one parameter rules: an edge, or in undirected mode all edges
 * between two nodes. Its weight is σ(EP), thresholded to 1 above one half and to
 * 0 otherwise; the weights that the graph has multiply.
 *
 * A pair that is offered (widen.h) is the mirror image: EP starts below 0, its part of the loss is
 * |σ(EP)|, it weighs nothing up to one half, and above that it is an edge that is added. */
#ifndef CBX_EDGE_MASK_H
#define CBX_EDGE_MASK_H

#include "descent.h"
#include "explainer.h"
#include "project.h"
#include "widen.h"

typedef struct cbx_edge_mask {
    const cbx_search *s;
    int64_t           pairs;
    const int64_t    *pair_of;               /* by slot; NULL: a slot is its own pair */
    const int64_t    *slot_of;               /* a slot of each pair; NULL: likewise */
    int32_t          *target_of;             /* by slot: its row */
    float            *EP, *weight, *grad;    /* by pair; weight: σ(EP) */
    uint8_t          *cut, *kept;            /* by pair: thresholded away; as remembered */
    uint8_t          *offered;               /* by pair: not there yet. NULL: none is */
    const cbx_view   *soft_view, *hard_view; /* the search's; what is offered does not count there
                                              * as an edge, but in hard_view where it is added */
    cbx_hiding  adding;                      /* what hard_view is made of, where some are offered */
    uint8_t    *coming;                      /* by pair, for working */
    int64_t    *room;             /* by node of the view: edges that may come; NULL: no limit */
    uint8_t    *fixed, *wish;     /* by pair: must stay; for working. NULL: no rules */
    cbx_shape  *shape;            /* NULL: any will do */
    bool        inverted;         /* what is cut stays, and what is not goes: cff's */
    float      *soft, *hard, *dw; /* by slot */
    cbx_descent descent;
    double      loss;    /* Σ|σ(EP) - 1|, or of what is offered Σ|σ(EP)| */
    int64_t     removed; /* slots that go, or that are added */
} cbx_edge_mask;

cbx_status cbx_edge_mask_init(cbx_edge_mask *E, const cbx_search *s, cbx_error *err);

/* soft, hard, loss and removed from EP; true: hard is not what it was. */
bool cbx_edge_mask_evaluate(cbx_edge_mask *E);

/* EP takes a step down dw (dL/dsoft; taken as 0 unless `pull`) plus price * loss's. */
void cbx_edge_mask_step(cbx_edge_mask *E, bool pull, double price, int64_t t);

/* The same in two: `grad` may be changed in between. */
void cbx_edge_mask_gradient(cbx_edge_mask *E, bool pull, double price);
void cbx_edge_mask_descend(cbx_edge_mask *E, int64_t t);

/* For methods without EP: hard, loss and removed from `cut`, which the caller wrote. */
void cbx_edge_mask_apply(cbx_edge_mask *E);

/* A number for every pair that depends on neither the view's order nor the edge mode's
 * (the least edge id of the pair), for drawing at random; NULL: no memory. */
int64_t *cbx_edge_mask_ids(const cbx_edge_mask *E);

void    cbx_edge_mask_keep(cbx_edge_mask *E);
int64_t cbx_edge_mask_count(const cbx_edge_mask *E);
int64_t cbx_edge_mask_edits(const cbx_edge_mask *E, cbx_edit *edits);

/* The edits of a search that changes edges only. */
cbx_status cbx_edge_mask_collect(const cbx_edge_mask *E, cbx_search *s, cbx_error *err);

#endif
