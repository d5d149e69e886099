/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h: what edges are multiplied by, and how far that can move.
 *
 * An edge u -> v counts s(u) t(v) times: 1 where there is no normalisation, t = 1 / degree for
 * means, s = t = 1 / sqrt(degree) for GCN, which has a loop of its own that counts t(v)^2 times. A
 * degree falls with each edge into the node that goes, and rises with each that comes. The bounds
 * here are linear in the number of those, so that each choice has its share of them; docs/bounds.md
 * has the proofs. */
#ifndef CBX_SCALE_H
#define CBX_SCALE_H

#include "norm.h"
#include "partial_graph.h"

/* How 1 / sqrt(degree), 1 / degree or 1 depends on choices at a node. */
typedef struct cbx_factor {
    double now;
    double rise;       /* for each edge that goes, or less: an upper bound of what it adds */
    double least_rise; /* the same as a lower bound, where none come */
    double fall;       /* for each edge that comes, or less: what it takes off */
    double most, least;
} cbx_factor;

typedef struct cbx_node_scale {
    cbx_factor target;              /* of an edge into the node that stays */
    cbx_factor source;              /* of one out of it */
    cbx_factor paired;              /* of one out of it, where one into it stays as well */
    cbx_factor loop;                /* of its own loop */
    cbx_factor coming;              /* of an edge into it that comes: the most and the least */
    double     degree;              /* of GCN, whose loop counts: as things are now */
    int64_t    removals, additions; /* open choices that take an edge into it, or add one */
    bool whole; /* what its degree does to edges into it is counted for all of them together, by
                 * whoever sums them: none comes */
} cbx_node_scale;

/* What a term t, somewhere in [low, high], gains at most by each choice, in a sum in which it is
 * multiplied by an edge's factors. */
typedef struct cbx_edge_gain {
    double removal_source, removal_target, addition_source, addition_target;
} cbx_edge_gain;

/* Can the normalisation be bounded on this graph? It takes edges without weights, no two of them
 * from one node to another, and no choices of loops. */
bool cbx_scale_is_known(cbx_norm_kind kind, const cbx_partial_graph *g);

/* Of node v as things are now. */
cbx_node_scale cbx_scale_of(cbx_norm_kind kind, const cbx_partial_graph *g, int32_t v);

/* The most that k l can be for each of k + l, where these are whole and b together at most. */
double cbx_scale_crossed(int64_t b);

/* GCN's factor of a node of that degree, after k of its edges went. */
double cbx_scale_gcn(double degree, int64_t k);

/* Edges into v that can go while one out of it stays; where that is `paired`, one back stays. */
int64_t cbx_scale_others(const cbx_node_scale *v, bool paired);

/* Of an edge u -> v that is there and stays. `paired`: it goes together with one v -> u, if at all.
 * Where v's edges are counted as a whole there are no gains at the target. */
cbx_edge_gain cbx_scale_edge_gain(const cbx_node_scale *u, const cbx_node_scale *v, bool paired,
                                  int64_t budget, double low, double high);

/* The same of the loop, for removals and additions at its node. */
void cbx_scale_loop_gain(const cbx_node_scale *v, double low, double high, double *removal,
                         double *addition);

/* What taking the edge away gains at most, beside what the choice was counted with already; with
 * what others were counted with too little, or without it. */
double cbx_scale_removal_gain(const cbx_node_scale *u, const cbx_node_scale *v, bool paired,
                              bool others, const cbx_edge_gain *gain, double low);

/* The sum of edges into a node, as its degree is now, can be no more than `high`, and a choice that
 * takes one of them away is among what is made: what that gains by the degree. */
static inline double cbx_scale_whole_gain(const cbx_node_scale *v, double high)
{
    return high * (high > 0 ? v->target.rise : v->target.least_rise) / v->target.now;
}

/* What an edge gains at most that comes. */
double cbx_scale_addition_gain(const cbx_node_scale *u, const cbx_node_scale *v, double high);

#endif
