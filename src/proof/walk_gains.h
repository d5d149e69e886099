/* SPDX-License-Identifier: Apache-2.0 */
/* walk_gains.h: what removals at a node bring to a lead that is a sum over walks.
 *
 * For any set of removals the lead changes by no more than the sum, over nodes with k of them, of
 * `at_node` (k) and, for each of the k, of `of_end` (k) of its end there; docs/bounds.md has the
 * proof. What a node's removals do by themselves is exact, whatever k; what they do beside those
 * at other nodes is told of the best others. */
#ifndef CBX_WALK_GAINS_H
#define CBX_WALK_GAINS_H

#include "walks.h"

/* Two ways to tell how others raise what comes to a row whose own factor rises: of all of them
 * together, or kid by kid, of those kids whose edges stay. Either holds of all of a node. */
enum { CBX_WALK_TOGETHER, CBX_WALK_APART, CBX_WALK_WAYS };

enum { CBX_WALK_STEPS = CBX_WALK_REMOVALS + 1 };

typedef struct cbx_walk_gains {
    const cbx_walks *walks;
    int32_t         *row_of; /* by node: its row, -1: none */
    int32_t *root_of;        /* by node: the end of the choice that takes its row away, there; -1 */
    /* by node: what its own factor counts, to the first power and on, where it is a kid and a leaf
     * of other rows and kids */
    double *kid[3], *leaf;
    double *rising;  /* by node: of leaves that bring more where rows and kids above them rise */
    double *refund;  /* by node, CBX_WALK_STEPS: what is counted of it as a leaf of kids whose edges
                      * may go: of so many of them the most */
    double *lowered; /* by node: likewise, of rows that may go */
    /* by end: */
    double  *cut;       /* where the node is a kid: what its edge brings to it, s^2 times */
    double  *with_leaf; /* what the node brings as a leaf of that edge, which goes with it */
    double  *with_kid;  /* CBX_WALK_STEPS: the same as a kid, with k removals at it */
    double  *with_rows; /* CBX_WALK_STEPS: the same by whole rows that go */
    double  *loop_leaf; /* what the edge brings to the row by its loop: the leaf's term */
    double  *piece;     /* scratch, by choice: what it adds to what is at hand */
    double  *apart;     /* by kid, CBX_WALK_STEPS: what so many others add to it at most */
    double  *together, *all_apart;  /* by row, likewise to all of its kids */
    double  *tops, *lost, *largest; /* scratch */
    int32_t *nodes;                 /* scratch */
    int32_t *touched;               /* scratch, by choice */
    int64_t *leaf_begin;            /* by node: leaves[leaf_begin[i]] and on are that node */
    int32_t *leaves, *kid_above;    /* by leaf: its kid */
    int32_t *kid_of; /* by end: the kid that its edge is into the row at the end's node; -1 */
} cbx_walk_gains;

cbx_status cbx_walk_gains_init(cbx_walk_gains *g, const cbx_walks *w, cbx_arena *arena,
                               cbx_error *err);

/* Of the walks as they are now. */
void cbx_walk_gains_compute(cbx_walk_gains *g);

/* k removals at a node, none of them of its row (`cut`: one is). */
double cbx_walk_gain_at(const cbx_walk_gains *g, int32_t node, int64_t k, bool cut, int way);

/* One of them. Of a choice that takes the row away it is of both of its ends. */
double cbx_walk_gain_of(const cbx_walk_gains *g, int32_t end, int64_t k, bool cut, int way);

#endif
