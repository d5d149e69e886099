/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_bound.h: how far a class can lead with any edges gone, however many, for GCN.
 *
 * A *pattern* of a node is which of its edges are left; given it, its degree is known, and what its
 * row is a sum of. Rows take their patterns one by one, each for itself, though two of them may
 * not agree on an edge: that is what makes it a bound. docs/bounds.md has the proof. */
#ifndef CBX_PATTERN_BOUND_H
#define CBX_PATTERN_BOUND_H

#include "spread.h"

typedef struct cbx_pattern_question {
    const cbx_net           *net;
    const cbx_partial_graph *graph;
    const cbx_spread        *spread; /* of the graph: the first layer's products, and sizes */
    int                      most;   /* open edges at a node with all patterns; beyond, by number */
    double widest; /* then numbers of edges are told apart where degrees differ by this factor */
    bool (*stop)(void *user); /* NULL: never */
    void                     *user;
    struct cbx_pattern_cache *cache; /* of earlier questions about the same rows; NULL: none */
    /* by node: edges that are left of it, at least and at most; NULL: any number */
    const int32_t *fewest, *most_left;
} cbx_pattern_question;

/* Is it of this kind: GCN layers, one row that is asked about, edges that go and no other choices,
 * each with the one back? */
bool cbx_pattern_is_known(const cbx_net *net, const cbx_partial_graph *graph);

/* How far nodes are from the first one, by edges that are there; further than the layers reach:
 * INT32_MAX. */
void cbx_pattern_hops(const cbx_pattern_question *q, int32_t *hops);

typedef struct cbx_pattern_leads {
    int32_t        behind; /* a class, … */
    const uint8_t *asked;  /* … and those that might lead it: by class */
    double        *lead;   /* of each that is asked about: by how much it leads, at most */
    uint8_t *may; /* by pattern of the first row, 2^most of them or one more than its open edges:
                   * may any lead? */
    /* boxes of the last layer's units of the first row, where that has one pattern left; NULL:
     * nothing is known. Those of graphs that these are among, and then of these. */
    const double *known_low, *known_high;
    double       *low, *high;
    double narrow; /* leads up to so much are bounded more closely, which takes far longer … */
    double drop;   /* … and takes so much off the largest; 0: it was not done */
} cbx_pattern_leads;

/* By how much classes lead another in the first row, as the model computes it, at most: with any of
 * the open choices made, whatever the budget. False: no time, or no memory. */
bool cbx_pattern_find_leads(const cbx_pattern_question *q, cbx_pattern_leads *out);

#endif
