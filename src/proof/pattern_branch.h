/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_branch.h: is there no set of removals at all by which another class comes to lead, of
 * whatever size? By branch and bound over edges that stay or go, those nearest to the row first,
 * with bounds by patterns (pattern_bound.h). */
#ifndef CBX_PATTERN_BRANCH_H
#define CBX_PATTERN_BRANCH_H

#include "pattern_bound.h"

typedef struct cbx_pattern_branch {
    cbx_pattern_question question;
    cbx_partial_graph   *graph;  /* of the question; left as it was */
    int32_t              behind; /* a class, … */
    const uint8_t       *asked;  /* … and which might come to lead it: by class */
    /* Of a node with more open edges than have all patterns told apart, it is settled how many are
     * left, before which, while there are so many times as many at most as at least. */
    double  wide;
    int64_t bounds; /* how many were computed */
} cbx_pattern_branch;

/* True: there is none. False: it is not known. */
bool cbx_pattern_none(cbx_pattern_branch *b, cbx_arena *arena);

#endif
