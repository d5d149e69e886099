/* SPDX-License-Identifier: Apache-2.0 */
/* addable.h: a walk over all edges that may be added.
 *
 * Those that the rules allow: at the explained node, to any other; and, unless a rule says
 * otherwise, between two nodes of its factual graph; in graph tasks, between any two of the graph.
 */
#ifndef CBX_ADDABLE_H
#define CBX_ADDABLE_H

#include "explainer.h"
#include "rules.h"

typedef struct cbx_addable {
    const cbx_search *s;
    const cbx_rules  *rules;
    bool              graphs, directed;
    int32_t           from;          /* node that is looked at, and what is known of it: */
    int32_t          *linked, *near; /* by node, `stamp`: an edge leads to `from`; not too far */
    int32_t          *queue, stamp;
    int32_t           row;  /* of the view: `from`; -1: none yet */
    int64_t           to;   /* next partner: a node, or a row of the view */
    cbx_edit          back; /* the other direction, which comes next */
    bool              has_back;
} cbx_addable;

/* Memory of `arena`; 0 on success. */
int cbx_addable_start(cbx_addable *walk, const cbx_search *s, const cbx_rules *rules,
                      cbx_arena *arena);

/* False: there are no more, or no time. */
bool cbx_addable_next(cbx_addable *walk, cbx_edit *e);

/* The same in parts. From now on partners of this row of the view are asked for; in order of
 * rows. */
void cbx_addable_look_at(cbx_addable *walk, int32_t row);

/* The edits that join the node that is looked at and this one: none, one, or one for each
 * direction, the one that leads to the node that is looked at first. */
int64_t cbx_addable_join(const cbx_addable *walk, int32_t node, cbx_edit to[2]);

/* Rows of the view at which edges may be added. */
int32_t cbx_addable_rows(const cbx_addable *walk);

#endif
