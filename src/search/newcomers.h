/* SPDX-License-Identifier: Apache-2.0 */
/* newcomers.h: nodes that may be added to a graph that has a class.
 *
 * A *newcomer* is a node of the view like any other, behind those of the factual graph, that begins
 * as absent: it is pooled nowhere, and its edges are removed. Adding it is letting it be there. It
 * has the features of a node of the graph, of those that are alike the first, and an edge to one.
 * So each kind of row is offered at each node once. */
#ifndef CBX_NEWCOMERS_H
#define CBX_NEWCOMERS_H

#include "rules.h"
#include "widen.h"
#include "with_nodes.h"

typedef struct cbx_newcomers {
    int32_t       first, count; /* the view's number of the first; all from there on are some */
    cbx_new_node *nodes;        /* `at` is the view's number; by it, and by whom they copy */
    int32_t      *begin;        /* by node before the first: those at it; first + 1 */
    bool          all;          /* the rules allow no others */
} cbx_newcomers;

/* All that the rules allow, where these are no more than `most`; of more, those whose derivatives
 * promise most. Of very many not all are looked at. Memory of s->arena. */
cbx_status cbx_newcomers_choose(const cbx_search *s, const cbx_rules *rules, int64_t most,
                                cbx_newcomers *out, cbx_error *err);

/* Those of these edits that add nodes, as newcomers. */
cbx_status cbx_newcomers_of_edits(const cbx_search *s, const cbx_edit *edits, int64_t count,
                                  cbx_newcomers *out, cbx_error *err);

/* The same search with these on its factual graph, which may have edges offered already. */
cbx_status cbx_newcomers_widen(const cbx_search *s, const cbx_newcomers *newcomers,
                               cbx_search *wide, cbx_error *err);

/* The one with these features at this node, by the view's and the graph's numbers; -1: none. */
int32_t cbx_newcomers_find(const cbx_newcomers *newcomers, int32_t copied, int32_t at);

/* What its coming would do, to first order: its edge, and its part in the pooling. */
double cbx_newcomers_gain(const cbx_newcomers *newcomers, int32_t k, const cbx_hiding *hiding,
                          const cbx_derivatives *slopes);

/* Is a node of the view one? */
static inline bool cbx_is_newcomer(const cbx_search *s, int32_t node)
{
    return s->newcomers && node >= s->newcomers->first;
}

/* How many nodes of the view are there to begin with: the first ones. */
static inline int32_t cbx_search_own_nodes(const cbx_search *s)
{
    return s->newcomers ? s->newcomers->first : s->view->n;
}

#endif
