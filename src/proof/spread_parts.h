/* SPDX-License-Identifier: Apache-2.0 */
/* spread_parts.h: what the files of spread.h share. A layer is computed in two steps: products of
 * all that the layer before left (spread_products.c), and then row by row (spread_row.c). */
#ifndef CBX_SPREAD_PARTS_H
#define CBX_SPREAD_PARTS_H

#include <string.h>

#include "spread.h"

/* What reaches the rows of layer l's input. */
static inline const cbx_reach_list *cbx_spread_input(const cbx_spread *s, int32_t l)
{
    return l > 0 ? &s->layers[l - 1].list : &s->moves.list;
}

static inline void cbx_clear(double *a, int64_t count)
{
    memset(a, 0, (size_t)count * sizeof *a);
}

/* What may be made at a row: so many choices, so many of features among them. */
typedef struct cbx_allowance {
    int64_t budget, features;
} cbx_allowance;

/* So many are kept of all units side by side; of more, unit by unit. */
enum { CBX_FEW = 8 };

/* What choices add to the units of a row, where sign times `of` counts; `same`, by entry: it adds
 * what the one before it adds (NULL: not told). */
void cbx_spread_tops(const cbx_spread *s, const cbx_reach_list *list, const double *of, int32_t row,
                     int32_t width, double sign, cbx_allowance may, const uint8_t *same,
                     cbx_tops *out);

/* Choices that can be made and reach the rows of layer l at a node. */
static inline int64_t cbx_spread_budget(const cbx_spread *s, int32_t l, int32_t v)
{
    const cbx_partial_graph *g = s->graph;
    /* where the first layer's messages do not change, only edges into the node count */
    bool only_here = l == 0 && s->net->layers[0].norm != CBX_NORM_GCN && s->moves.first == g->count;
    return only_here && g->local[v] < g->budget ? g->local[v] : g->budget;
}

/* Room for so many numbers of `width` a piece in two arrays that keep what they have. */
int cbx_spread_grow(cbx_arena *arena, int64_t had, int64_t room, int64_t width, double **a,
                    double **b);

/* x times W, of numbers that are somewhere between `low` and `high`: adds the least and the most.
 */
void cbx_spread_times(const double *W, int32_t rows, int32_t cols, const double *low,
                      const double *high, double *least, double *most);

/* What features do to all units together bounds what they do to each, and the other way round:
 * what is so long before weights that stretch it, and each unit's column (NULL: 1). Returns the
 * length behind them. */
double cbx_spread_limit(double length, double stretch, const double *columns, int32_t width,
                        double *up, double *down);

/* The products of layer l's input with its weights. -1: no memory, or no time. */
int cbx_spread_multiply(cbx_spread *s, int32_t l);

/* The maxima of a row's neighbours, where layer l takes them. -1: no memory. */
int cbx_spread_maxima(cbx_spread *s, int32_t l, int32_t v);

/* A row of layer l, of the layer's products. -1: no memory, or no time. */
int cbx_spread_row(cbx_spread *s, int32_t l, int32_t v);

#endif
