/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h: which edges of the factual graph go together.
 *
 * A *pair* is two nodes with an edge between them, whichever way it points: where edges are taken
 * as undirected, all edges of a pair go at once. */
#ifndef CBX_PAIRS_H
#define CBX_PAIRS_H

#include "explainer.h"

typedef struct cbx_pairs {
    int64_t        count;
    const int64_t *pair_of; /* by slot of the view */
    const int64_t *slot_of; /* a slot of each pair */
} cbx_pairs;

/* Numbers them: pair_of[slot] and slot_of[pair], both of view->m entries. Returns how many there
 * are, or -1 when memory or time runs out. */
int64_t cbx_pairs_number(const cbx_view *view, int64_t *pair_of, int64_t *slot_of);

/* The pairs of a search: its own numbers where it has some, else new ones. 0 on success. */
int cbx_pairs_of(const cbx_search *s, cbx_pairs *out);

/* What one removal takes: a pair, or, where edges are taken one by one, a slot. */
int cbx_pairs_removed_at_once(const cbx_search *s, cbx_pairs *out);

/* The slots of pair p are slots[begin[p]] to slots[begin[p + 1] - 1], in order. 0 on success. */
int cbx_pairs_group(const cbx_pairs *pairs, int64_t num_slots, cbx_arena *arena, int64_t **begin,
                    int64_t **slots);

/* By slot: the row that it leads to. NULL: no memory. */
int32_t *cbx_pairs_targets(const cbx_view *view, cbx_arena *arena);

#endif
