/* SPDX-License-Identifier: Apache-2.0 */
/* branch.h: is there a set of choices that flips? By branch and bound.
 *
 * Sets are built up choice by choice, the one that gains most first; what a bound excludes is not
 * tried, and what is left is asked of the model itself. A choice that has been tried is barred from
 * the sets that follow, so that no set is met twice. */
#ifndef CBX_BRANCH_H
#define CBX_BRANCH_H

#include "lead_bound.h"

/* Who knows the model, and whether sets keep the rules. */
typedef struct cbx_branch_asked {
    void *user;
    /* May the choice be made as well? NULL: all may. What may not, may not with more made either.
     */
    bool (*may)(void *user, int32_t choice);
    void (*make)(void *user, int32_t choice, bool made);
    /* With those that are made: above 0, flipped. */
    double (*lead)(void *user);
    bool (*stop)(void *user); /* NULL: never */
} cbx_branch_asked;

typedef struct cbx_ranked {
    double  gain;
    int32_t choice;
} cbx_ranked;

typedef struct cbx_branch {
    cbx_partial_graph *graph;
    cbx_lead_bound    *bound;
    cbx_branch_asked   asked;
    int32_t            ahead, behind; /* classes: which one would have to lead which */
    cbx_arena         *arena;
    cbx_ranked        *ranked; /* scratch */
    int32_t           *barred; /* those that have been tried */
    int32_t            num_barred;
    int32_t           *since; /* by number of choices made: how many were barred before */
    int32_t           *made;
    int64_t            num_made, most; /* room for */
    int32_t           *flip;           /* a set that flips */
    int64_t            num_flip;       /* 0: none was met */
    bool               stopped, out_of_memory;
    int64_t            bounds, asks; /* how often */
    int64_t            limit;        /* of bounds, for what goes on now */
} cbx_branch;

/* For sets of up to `most` choices. */
cbx_status cbx_branch_init(cbx_branch *b, cbx_partial_graph *graph, cbx_lead_bound *bound,
                           const cbx_branch_asked *asked, int64_t most, cbx_arena *arena,
                           cbx_error *err);

/* By class: the largest size, up to the graph's budget, for which one bound excludes all sets by
 * which it would lead `behind`. Classes that are not asked about have a larger one already. */
void cbx_branch_root(cbx_branch *b, int32_t num_classes, int64_t *none);

/* Looks for a set of `size` choices by which `ahead` comes to lead, where no smaller one flips.
 * True: there is none. Else one was found, num_flip > 0, or it was stopped. */
bool cbx_branch_none_of(cbx_branch *b, int64_t size);

/* The same of all sizes up to the graph's budget at once, which takes one tree and not one for
 * each, with so many bounds at most. False: there is one, or it was stopped, or that was not
 * enough. */
bool cbx_branch_none_at_all(cbx_branch *b, int64_t bounds);

/* Makes the best choice again and again, up to the graph's budget: finds some set that flips, or
 * none. */
void cbx_branch_dive(cbx_branch *b);

#endif
