/* SPDX-License-Identifier: Apache-2.0 */
/* marginal.h: what one more removal adds to a lead at most, whatever was removed before it.
 *
 * A set of b choices that leads is one of b - 1 and one more choice: where no set of b - 1 comes
 * nearer than some distance, a choice that never adds as much is in no set of b that leads. So of
 * a thousand edges some dozens are left to be branched on. docs/bounds.md has the proof.
 *
 * For GCN, where edges go one way and back and nothing else changes: see pair_gains.h. */
#ifndef CBX_MARGINAL_H
#define CBX_MARGINAL_H

#include "spread.h"

/* Choices that reach a layer's rows, and between what one more of them moves the row's units. */
typedef struct cbx_marginal_layer {
    int64_t *begin;                /* by row, and one more */
    int32_t *choice;               /* by entry */
    uint8_t *same;                 /* by entry: does it what the one before it does? */
    double  *low, *high;           /* by entry, before the ReLU: as many as there are units */
    double  *sent_low, *sent_high; /* by entry: the same of what the row sends to the next layer */
    int64_t  room, sent_room;      /* entries */
} cbx_marginal_layer;

typedef struct cbx_marginal {
    const cbx_spread   *s;
    cbx_arena          *arena;
    cbx_marginal_layer *layers;
    const uint8_t      *more;  /* by choice: may it be the one more? */
    int32_t            *place; /* by choice: its entry of the row at hand, -1: it has none */
    int32_t            *at_row, *at_edge; /* by choice: the last row, the last edge it was at */
    /* of the edge at hand, by entry of the row */
    double  *edge_low, *edge_high;
    int32_t *touched; /* which the edge has */
    uint8_t *is_touched;
    int64_t  num_touched;
    double  *gone_low, *gone_high; /* by entry of the row, CBX_FEW of each unit: the most that is
                                    * missed where edges have gone */
    double *low, *high, *step_low, *step_high; /* scratch, by unit */
} cbx_marginal;

/* Are they known of these layers, these choices and this budget? */
bool cbx_marginal_is_known(const cbx_spread *s);

cbx_status cbx_marginal_init(cbx_marginal *m, const cbx_spread *s, cbx_arena *arena,
                             cbx_error *err);

/* After cbx_spread_compute, with its budget, of which the one more is one: what was removed before
 * are open choices, the one more is any that `more` has, by choice, all open ones among them. -1:
 * no memory, or no time. */
int cbx_marginal_compute(cbx_marginal *m, const uint8_t *more);

/* By choice: what it adds at most to the lead of one class over the other. Of the formulas, not
 * of the model's rounding. */
void cbx_marginal_of(cbx_marginal *m, int32_t ahead, int32_t behind, double *gain);

#endif
