/* SPDX-License-Identifier: Apache-2.0 */
/* edge_sum.h: the sum of a row's edges in the lead, as its node's degree is now, and what choices
 * add to it at most.
 *
 * When an edge into the node goes, those that are left are scaled by another degree: their sum is,
 * and not each of them at its best. docs/bounds.md has the proof. */
#ifndef CBX_EDGE_SUM_H
#define CBX_EDGE_SUM_H

#include "spread.h"

typedef struct cbx_edge_sum {
    bool     kept; /* for the row at hand */
    double   now;
    double  *add;       /* by choice, and by row of features behind them: 0 where not listed */
    double  *more[2];   /* likewise, beside it: as what is undone is charged (undone.h) */
    int32_t *list;      /* each once */
    uint8_t *is_listed; /* likewise by choice and row */
    int64_t  count;
} cbx_edge_sum;

/* For so many choices and rows. -1: no memory. */
int cbx_edge_sum_init(cbx_edge_sum *sum, int64_t count, cbx_arena *arena);

/* Of edges into a node of this scale. */
void cbx_edge_sum_begin(cbx_edge_sum *sum, const cbx_node_scale *scale);

/* The choice adds so much to the sum. */
static inline void cbx_edge_sum_add(cbx_edge_sum *sum, int32_t choice, double gain)
{
    if (!sum->is_listed[choice]) {
        sum->is_listed[choice] = 1;
        sum->list[sum->count++] = choice;
    }
    sum->add[choice] += gain;
}

/* Adds to gain[0] and gain[1], by choice, what each that takes an edge away from node v gains by
 * the degree; the second where `both` count. */
void cbx_edge_sum_end(cbx_edge_sum *sum, const cbx_spread *s, const cbx_node_scale *scale,
                      int32_t v, bool both, double *const gain[2]);

#endif
