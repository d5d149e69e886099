/* SPDX-License-Identifier: Apache-2.0 */
/* walk_search.h: sets of removals excluded by sums over walks, all sizes up to one at once.
 *
 * Sets are told apart by how many removals they have at the asked node: those are the parts
 * (walk_part.h) of a search. Threads take parts, one after the other. The first part that has a set
 * which flips tells the answer, whichever was searched first: it is the same with any number of
 * threads. */
#ifndef CBX_WALK_SEARCH_H
#define CBX_WALK_SEARCH_H

#include "branch.h"
#include "walk_part.h"

typedef struct cbx_walk_search {
    cbx_branch    *b;
    cbx_walk_part *parts; /* at hand: one for each thread */
    int            num_parts;
    int32_t       *flip; /* a set that flips, of the first part that has any */
    int64_t        num_flip;
    double         until;       /* on cbx_clock, it ends; INFINITY: when the branch does */
    double         alone;       /* seconds before further threads take part */
    double         hopeless;    /* see walk_part.h … */
    bool           is_hopeless; /* … and the last search was that */
    double         furthest;    /* that sets lead by which it excluded or asked about */
    int64_t        bounds;      /* how often, in the last search */
} cbx_walk_search;

/* *known is false where there is nothing to search by; b->bound is of the graph before any choice.
 */
cbx_status cbx_walk_search_init(cbx_walk_search *s, cbx_branch *b, bool *known, cbx_error *err);
void       cbx_walk_search_free(cbx_walk_search *s);

/* No set of up to `size` choices makes the class lead. False: one does, and the branch has it, or
 * that took more than so many bounds (INT64_MAX: as many as it takes), which may be told from the
 * first, or there is no time. */
bool cbx_walk_search_none(cbx_walk_search *s, int32_t class, int64_t size, int64_t bounds);

/* And where there is none: no set of them leads by more. */
double cbx_walk_search_furthest(const cbx_walk_search *s);

#endif
