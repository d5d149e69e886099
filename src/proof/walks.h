/* SPDX-License-Identifier: Apache-2.0 */
/* walks.h: the lead of one class over another as a sum over walks that end at the asked node.
 *
 * With each ReLU fixed as it is when it is looked at, a GCN of up to three layers is a sum over
 * walks v <- u <- x <- y: each brings a number that edges do not change, times s_v s_u^2 s_x^2 s_y,
 * where s is 1 / sqrt(degree). All walks that begin alike are one tree: *rows* u are one step from
 * the asked node v, *kids* x two, *leaves* y three (with loops, by which a node is its own
 * neighbour). What ReLUs do beside that is told by walk_bends.h.
 *
 * An *end* of a choice is a node into which it removes an edge: 2 c and 2 c + 1 of choice c. */
#ifndef CBX_WALKS_H
#define CBX_WALKS_H

#include "spread.h"

/* Sets of more removals are not told. */
enum { CBX_WALK_REMOVALS = 12 };

/* s_y term */
typedef struct cbx_walk_leaf {
    int32_t node, end; /* the edge y -> x: the end at x of the choice that it goes with; -1: none */
    double  term;
} cbx_walk_leaf;

/* s_x term + s_x^2 (sum of leaves, of which one may be x itself) */
typedef struct cbx_walk_kid {
    int32_t node, end, begin, count; /* leaves */
    int32_t row;                     /* the row that it is a kid of */
    bool    gone;                    /* as things are now, like all that follows */
    double  term, sum, value;        /* the sum is without the loop */
    double  loop, back;              /* terms of the leaves that are the kid's node, the row's */
} cbx_walk_kid;

/* s_u term + s_u^2 (sum of kids, of which one is u itself); it counts s_v times. */
typedef struct cbx_walk_row {
    int32_t node, end, begin, count; /* kids */
    int32_t itself;                  /* the kid that is the row's node; -1: none */
    bool    gone;
    double  term, sum, value; /* the sum is without that kid */
} cbx_walk_row;

typedef struct cbx_walks {
    const cbx_spread        *spread;
    const cbx_partial_graph *graph;
    int32_t                  n;         /* nodes in reach: as the first layer's input has them */
    int32_t                 *at;        /* by end: the node, -1 where the choice has none */
    int32_t                 *other;     /* by end: where the edge comes from */
    int64_t                 *end_begin; /* by node: ends[end_begin[i]] and on are its own */
    int32_t                 *ends;
    double                  *degree; /* by node, with nothing removed */
    double       **now; /* by layer: rows x width, before the ReLUs, as they were when looked at */
    cbx_walk_row  *rows;
    cbx_walk_kid  *kids;
    cbx_walk_leaf *leaves;
    int32_t        num_rows, num_kids, num_leaves;
    double         constant; /* what no edge has a part in */
    double        *weights;  /* scratch: five times the widest layer's */
    /* as things are now */
    const uint8_t *fate; /* by choice */
    int64_t        left; /* removals to come, */
    int64_t  at_root;    /* so many of them at the asked node, whose degree counts as it will be */
    int32_t *made;       /* by node: removals that are made at it */
    int32_t *most;       /* by node: that can come to it */
    double  *scale;      /* by node, CBX_WALK_REMOVALS + 1: s with so many more gone */
    double   lead;       /* of what is made */
} cbx_walks;

/* Can a lead be told so? */
bool cbx_walks_are_known(const cbx_spread *s);

/* After cbx_spread_compute, of the graph before any choice. *known is false where there are too
 * many. */
cbx_status cbx_walks_init(cbx_walks *w, const cbx_spread *s, cbx_arena *arena, bool *known,
                          cbx_error *err);

/* From now on ReLUs are as they are with the choices made that `fate` tells; to be weighed anew. */
void cbx_walks_look(cbx_walks *w, const uint8_t *fate);

/* The walks of these two classes. */
void cbx_walks_weigh(cbx_walks *w, int32_t ahead, int32_t behind);

/* With these choices made, and `left` more to come, `at_root` of them at the asked node. */
void cbx_walks_settle(cbx_walks *w, const uint8_t *fate, int64_t left, int64_t at_root);

/* Edges into a node, its loop first: the source and the end of each. */
typedef struct cbx_walk_edges {
    const cbx_walks *w;
    int32_t          node;
    int64_t          slot; /* the next one; -1: the loop */
} cbx_walk_edges;

static inline cbx_walk_edges cbx_walks_into(const cbx_walks *w, int32_t node)
{
    return (cbx_walk_edges){w, node, -1};
}

bool cbx_walks_next(cbx_walk_edges *i, int32_t *source, int32_t *end);

/* Which of the node's edges the last one was; 0: its loop. */
static inline int64_t cbx_walks_place(const cbx_walk_edges *i)
{
    return i->slot - i->w->graph->view->offset[i->node];
}

static inline double cbx_walks_scale(const cbx_walks *w, int32_t node, int64_t removed)
{
    return w->scale[(int64_t)node * (CBX_WALK_REMOVALS + 1) + removed];
}

static inline bool cbx_walks_is_open(const cbx_walks *w, int32_t end)
{
    return end >= 0 && w->fate[end / 2] == CBX_FREE;
}

static inline bool cbx_walks_is_gone(const cbx_walks *w, int32_t end)
{
    return end >= 0 && w->fate[end / 2] == CBX_MADE;
}

/* Has the choice an end at the asked node? Which: -1: none. */
static inline int32_t cbx_walks_root_end(const cbx_walks *w, int32_t choice)
{
    return w->at[2 * choice] == 0 ? 2 * choice : w->at[2 * choice + 1] == 0 ? 2 * choice + 1 : -1;
}

#endif
