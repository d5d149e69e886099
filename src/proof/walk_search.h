/* SPDX-License-Identifier: Apache-2.0 */
/* walk_search.h: sets of removals excluded by sums over walks, all sizes up to one at once.
 *
 * Sets are told apart by how many removals they have at the asked node, whose factor is a part of
 * every walk, and then by whether they have some choice or not. What a bound excludes is not split
 * further; what is left in the end is asked of the model. */
#ifndef CBX_WALK_SEARCH_H
#define CBX_WALK_SEARCH_H

#include "branch.h"
#include "walk_share.h"

/* ReLUs are as they are in some branch, and how they bend is told from there. Where what is made
 * since then bends them much, all is told anew for what is left of it, so many times within each
 * other. */
enum { CBX_WALK_LEVELS = 4 };

typedef struct cbx_walk_level {
    cbx_walks      walks;
    cbx_walk_gains gains;
    cbx_walk_bends bends;
    cbx_walk_share share;
    uint8_t       *fate; /* by choice: where it begins */
} cbx_walk_level;

typedef struct cbx_walk_branch {
    uint8_t *fate;          /* by choice */
    int64_t  made, at_root; /* choices that are made, and of those at the asked node */
    int      level;
    bool     asked; /* was it about just those that are made? */
} cbx_walk_branch;

typedef struct cbx_walk_search {
    cbx_branch      *b;
    cbx_walk_level   level[CBX_WALK_LEVELS];
    int              levels; /* that there is memory for, so far */
    cbx_arena       *arena;
    cbx_walk_branch *open; /* the next one last */
    int64_t          num_open, room;
    int32_t         *set;            /* scratch */
    double          *with;           /* scratch, by choice */
    double           rounding, lead; /* of the class, and its lead now */
    double           until;          /* on cbx_clock, it ends; INFINITY: when the branch does */
    double  hopeless;    /* a first bound above 0 by so many times the lead that is missing … */
    bool    is_hopeless; /* … was met */
    int64_t bounds;      /* how often */
} cbx_walk_search;

/* *known is false where there is nothing to search by; b->bound is of the graph before any choice.
 */
cbx_status cbx_walk_search_init(cbx_walk_search *s, cbx_branch *b, cbx_arena *arena, bool *known,
                                cbx_error *err);

/* No set of up to `size` choices makes the class lead. False: one does, and the branch has it, or
 * that took more than so many bounds, which may be told from the first, or there is no
 * time. */
bool cbx_walk_search_none(cbx_walk_search *s, int32_t class, int64_t size, int64_t bounds);

#endif
