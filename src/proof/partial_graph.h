/* SPDX-License-Identifier: Apache-2.0 */
/* partial_graph.h: all graphs that some changes of one can make of it.
 *
 * A *choice* is a change that is made or not: some edges go, some come, or a feature of a row takes
 * another value, or two of a one-hot group do. Choices are free to begin with; whoever branches
 * makes some and bars others. What is left are the graphs that at most `budget` of the free ones
 * make of the graph as it is now, and at each node no more than its own budget. */
#ifndef CBX_PARTIAL_GRAPH_H
#define CBX_PARTIAL_GRAPH_H

#include "view.h"

typedef enum cbx_fate { CBX_FREE, CBX_MADE, CBX_BARRED } cbx_fate;

typedef struct cbx_choice {
    int64_t begin, end; /* its edges: slots[begin] to slots[end - 1] */
    int32_t ends[2];    /* nodes whose budgets it takes from, twice the same: of one */
    bool    adds;       /* its edges come; else they go */
    /* Of features; -1: of edges. The row's feature `column` moves by `low` to `high`; `other`,
     * where it is not -1, by as much the other way. One that can be made has low == high. */
    int32_t row, column, other;
    float   low, high;
} cbx_choice;

typedef struct cbx_partial_graph {
    const cbx_view *view;      /* with a slot for each edge that is there or may come */
    int32_t        *target_of; /* by slot */
    uint8_t        *present;   /* by slot: is it there as things are now? */
    int32_t        *choice_of; /* by slot, or -1: it stays as it is */
    uint8_t        *paired;    /* by slot: one back goes or comes with it, or both stay */
    cbx_choice     *choices;
    int32_t         count;
    int64_t        *slots;
    uint8_t        *fate;     /* by choice: cbx_fate */
    int64_t         budget;   /* choices that may still be made */
    int64_t        *local;    /* by node: likewise, at it */
    int64_t        *at_begin; /* choices that have a slot into node v: at[at_begin[v]] and on */
    int32_t        *at;
    bool            simple; /* no two edges lead from one node to the same other one */
} cbx_partial_graph;

/* Of this view, in which `absent` (by slot; NULL: none) tells the edges that may come, with room
 * for so many choices and their slots. */
cbx_status cbx_partial_graph_init(cbx_partial_graph *g, const cbx_view *view, const uint8_t *absent,
                                  int64_t choices, int64_t slots, cbx_arena *arena, cbx_error *err);

/* A further choice of these slots. */
void cbx_partial_graph_add(cbx_partial_graph *g, const int64_t *slots, int64_t count, int32_t end_a,
                           int32_t end_b, bool adds);

/* A further choice: of features. All of these come behind those of edges. */
void cbx_partial_graph_add_feature(cbx_partial_graph *g, int32_t row, int32_t column, int32_t other,
                                   float low, float high);

/* All choices are there: finds those at each node. */
cbx_status cbx_partial_graph_ready(cbx_partial_graph *g, cbx_arena *arena, cbx_error *err);

/* The same graphs, to be settled on their own: what does not change is shared. */
cbx_status cbx_partial_graph_copy(cbx_partial_graph *to, const cbx_partial_graph *from,
                                  cbx_arena *arena, cbx_error *err);

/* Makes a choice, or takes it back; the budgets follow. */
void cbx_partial_graph_make(cbx_partial_graph *g, int32_t choice);
void cbx_partial_graph_unmake(cbx_partial_graph *g, int32_t choice);

/* Settles all choices as `fate` has them, by choice. */
void cbx_partial_graph_settle(cbx_partial_graph *g, const uint8_t *fate);

/* Are any of the choices of features? */
static inline bool cbx_partial_graph_has_features(const cbx_partial_graph *g)
{
    return g->count > 0 && g->choices[g->count - 1].row >= 0;
}

/* Could it be made now? */
static inline bool cbx_choice_is_open(const cbx_partial_graph *g, int32_t c)
{
    const cbx_choice *k = &g->choices[c];
    return g->fate[c] == CBX_FREE && g->budget > 0 && g->local[k->ends[0]] > 0 &&
           g->local[k->ends[1]] > 0;
}

#endif
