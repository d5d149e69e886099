/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h: what a model computes on a partial graph: as it is now, and how far choices move it.
 *
 * For each row and unit of a layer, before its ReLU: z now, and for each choice that reaches the
 * row two numbers, so that with the choices that are made, any that the budget allows,
 *
 *     z now + sum of their downs  <=  z  <=  z now + sum of their ups
 *
 * and so a box [low, high]. Behind the ReLU the same holds with three slopes: what rises by d
 * rises by `right` d at most, what falls by d falls by `left` d at least, and neither falls by more
 * than `under` d. docs/bounds.md has the proof. */
#ifndef CBX_SPREAD_H
#define CBX_SPREAD_H

#include "maxima.h"
#include "row_moves.h"
#include "scale.h"

typedef struct cbx_interval {
    double low, high;
} cbx_interval;

static inline cbx_interval cbx_interval_times(double factor, double low, double high)
{
    return factor < 0 ? (cbx_interval){factor * high, factor * low}
                      : (cbx_interval){factor * low, factor * high};
}

/* Of each of a row's units, what choices add: the largest that can be made together, and the same
 * with one fewer. */
typedef struct cbx_tops {
    double *all, *rest;
} cbx_tops;

/* What others than one that adds `own` add beside it, where the largest that can be made together
 * add `all`, and with one fewer `rest`. */
static inline double cbx_beside(double all, double rest, double own)
{
    return own > 0 && own >= all - rest ? all - own : rest;
}

typedef struct cbx_spread_layer {
    int32_t        rows_in, rows, in, width;
    int32_t        sent; /* numbers that go along an edge: products, or inputs for a maximum */
    double        *now, *low, *high;     /* rows x width, before the ReLU */
    double        *left, *right, *under; /* likewise: slopes */
    double        *message, *own;        /* of the input: rows_in x sent; products: rows x width */
    double        *message_low, *message_high; /* with all of the budget */
    double        *rest_low, *rest_high;       /* with all but one of it */
    cbx_reach_list list;
    double        *message_up, *message_down; /* by entry of the list of the layer before */
    double        *own_up, *own_down;
    double        *message_length, *own_length; /* by entry, of a row's features */
    int64_t        product_room;                /* entries */
    cbx_maxima     maxima;                      /* where the layer takes them */
} cbx_spread_layer;

typedef struct cbx_spread {
    const cbx_net           *net;
    const cbx_partial_graph *graph;
    cbx_spread_layer        *layers;
    cbx_node_scale          *scales[CBX_NORM_COUNT]; /* by node; NULL: no layer asks */
    cbx_arena               *arena;
    cbx_row_moves            moves;
    double                  *base, *base_own; /* what the features send, and their own products,
                                               * without any choices */
    int32_t *mark;               /* by choice, and by row behind: its entry of the row at hand */
    double  *input_size;         /* by row: sum of |x| + |mean|, each times its largest
                                  * weight */
    int32_t         most_inputs; /* that are not 0 in any row */
    double         *best, *hup, *hdown, *gain; /* scratch */
    double         *zeros;
    cbx_tops        tops[2]; /* scratch: of ups and of downs */
    double         *few;     /* scratch of them */
    cbx_max_scratch maximum;
    int64_t         features_made;  /* choices of features, as things are now */
    bool            last_is_linear; /* the head undoes the last ReLU: it has no list */
} cbx_spread;

/* Room for all; X are the features of the view's nodes. */
cbx_status cbx_spread_init(cbx_spread *s, const cbx_net *net, const cbx_partial_graph *graph,
                           const cbx_matrix *X, cbx_arena *arena, cbx_error *err);

/* Computes all of it for the graph as it is now. -1: no memory, or no time. */
int cbx_spread_compute(cbx_spread *s);

/* What row u of layer l's input counts in row v, by way of edges, as things are now. */
double cbx_spread_factor(const cbx_spread *s, int32_t l, int32_t u, int32_t v);

static inline double cbx_spread_relu(double z)
{
    return z > 0 ? z : 0;
}

/* The entry of a choice in a row of a list; -1: it does not reach it. */
static inline int64_t cbx_reach_find(const cbx_reach_list *list, int32_t row, int32_t choice)
{
    for (int64_t k = list->begin[row]; k < list->begin[row + 1]; k++)
        if (list->choice[k] == choice)
            return k;
    return -1;
}

/* The sum of the largest `count` of those values, none of them below 0. */
typedef struct cbx_largest {
    double *best; /* room for `count` */
    int64_t count, held;
} cbx_largest;

static inline void cbx_largest_take(cbx_largest *l, double value)
{
    if (!(value > 0) || l->count == 0 || (l->held == l->count && value <= l->best[l->held - 1]))
        return;
    int64_t k = l->held < l->count ? l->held++ : l->held - 1;
    for (; k > 0 && l->best[k - 1] < value; k--)
        l->best[k] = l->best[k - 1];
    l->best[k] = value;
}

static inline double cbx_largest_sum(const cbx_largest *l)
{
    double sum = 0;
    for (int64_t k = 0; k < l->held; k++)
        sum += l->best[k];
    return sum;
}

/* The sum of the largest but one fewer. */
static inline double cbx_largest_rest(const cbx_largest *l)
{
    double last = l->held > 0 && l->held == l->count ? l->best[l->held - 1] : 0;
    return cbx_largest_sum(l) - last;
}

#endif
