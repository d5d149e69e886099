/* SPDX-License-Identifier: Apache-2.0 */
/* lead_bound.h: how far a class can come to lead another on any graph of a partial graph.
 *
 * From the head back to the features the lead is written as what it is now, and for each choice
 * what it adds at most. Of those the best that the budgets allow are summed. */
#ifndef CBX_LEAD_BOUND_H
#define CBX_LEAD_BOUND_H

#include "pair_gains.h"
#include "rounding.h"
#include "undone.h"

/* What a unit counts if it rises, and if it falls; rows x units. */
typedef struct cbx_slopes {
    double *rise, *fall;
} cbx_slopes;

typedef struct cbx_lead_bound {
    cbx_spread   spread;
    cbx_rounding sizes;
    double     **weight; /* by layer: what a unit of a row counts behind its ReLU */
    double      *gain;   /* by choice: what it adds to the lead at most */
    double      *at_removal, *at_addition; /* by node: what each choice with an edge into it adds */
    double     **at_row;         /* by layer and row: what each choice of its features adds there */
    double      *at_maxima;      /* by row: likewise, by maxima of any layer or over the nodes */
    cbx_slopes   message, own;   /* of the first layer's products */
    cbx_slopes   maximum;        /* of the maxima that it takes, by row and input, if it does */
    cbx_slopes  *word;           /* by layer, of those behind it; NULL: not known */
    double      *before, *input; /* scratch: a row's weights before its ReLU, and of inputs */
    double      *bend;           /* scratch: by unit, what its slope behind the ReLU changes by
                                  * where it rises; below 0: where it falls */
    double         *best, *falls; /* scratch, by choice */
    cbx_gains       gains;        /* of which `gain` is the share with the smallest bound */
    double         *promise;      /* by choice: the larger, the more is known once it is settled */
    cbx_edge_sum    sum;          /* scratch: of the row at hand */
    cbx_undone      undone;       /* scratch: of the row and the edge at hand */
    cbx_pair_gains *pairs;        /* NULL: not asked for, or not known */
    cbx_maxima     *pooled;       /* by layer, over the graph's nodes; NULL: it does not count */
    int32_t        *reaching;     /* scratch, by choice and row */
    int64_t        *end_begin; /* choices whose budgets node v has: by_node[end_begin[v]] and on */
    int32_t        *by_node;   /* NULL: no node has a budget of its own */
    bool            scaled;    /* scratch: is the layer at hand normalised? */
    double          rest;      /* what all but one of the choices that can be made add at most */
    double          now;       /* the lead of the graph as it is */
    double          rounding;  /* by which the model may say otherwise */
} cbx_lead_bound;

/* *known is false where nothing is known of the model, or of these choices, or where a maximum is
 * taken of so many edges that it would take gigabytes. */
cbx_status cbx_lead_bound_init(cbx_lead_bound *b, const cbx_net *net,
                               const cbx_partial_graph *graph, const cbx_matrix *X,
                               cbx_arena *arena, bool *known, cbx_error *err);

/* From now on pairs of choices are told (pair_gains.h), where they can be: that takes as much time
 * again, and is worth it where branches follow. */
cbx_status cbx_lead_bound_use_pairs(cbx_lead_bound *b, cbx_arena *arena, cbx_error *err);

/* Works out what all classes share, for the graph as it is now. -1: no memory, or no time. */
int cbx_lead_bound_update(cbx_lead_bound *b);

/* The lead of class `ahead` over class `behind`, as the model computes it, at most; INFINITY where
 * there is no time. Leaves `now` and `gain`: with the choices that are made, any that
 * the budgets allow, the lead is not more than now + rounding + the sum of their gains. */
double cbx_lead_bound_of(cbx_lead_bound *b, int32_t ahead, int32_t behind);

/* After it: the same of sets that this choice, which is open, is one of. */
static inline double cbx_lead_bound_with(const cbx_lead_bound *b, int32_t choice)
{
    return b->now + b->rounding + b->gain[choice] + b->rest;
}

#endif
