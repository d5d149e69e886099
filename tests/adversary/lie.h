/* SPDX-License-Identifier: Apache-2.0 */
/* lie.h: claims that are false, to see that they are found out. */
#ifndef CBX_ADVERSARY_LIE_H
#define CBX_ADVERSARY_LIE_H

#include "question.h"

typedef enum lie {
    LIE_NONE,        /* the library's own words */
    LIE_FOUND,       /* an edit of the answer is missing */
    LIE_IRREDUCIBLE, /* an edit that is not needed is in the answer */
    LIE_STEP,        /* a value goes further than it has to */
    LIE_OPTIMAL,     /* all of several answers are called optimal */
    LIE_LOWER_BOUND, /* nothing does that costs as little as the answer */
    LIE_PROVED_NONE, /* whatever a poor search does not find is proved not to be */
    LIE_WAY,         /* values go half as far */
    LIE_COST,        /* how far they go counts once more */
    LIE_RADIUS,      /* a class stands one edit more than it does */
    LIE_ROBUST,      /* what flips is robust */
    LIE_FLIPS_WITH,  /* what is robust flips with all of the budget */
    LIE_NODE,        /* a node that the answer removes is another one */
    LIE_WEIGHT,      /* an edge gets more weight than any has, in place of going */
    LIE_NEWCOMER,    /* a node that the answer adds is a copy of another one */
    LIES
} lie;

/* "none", "found", "irreducible", "step", "optimal", "lower_bound", "proved_none", "way", "cost",
 * "radius", "robust", "flips_with", "node", "weight" */
bool lie_named(const char *name, lie *out);

/* Makes the search what the lie needs. */
void lie_before(lie kind, question *q);

/* Makes the answer claim it. The edits of a changed one are there until the next call. */
void lie_after(lie kind, const question *q, cbx_counterfactual *answer);

/* The same of how robust a class is. */
void lie_of_radius(lie kind, cbx_radius *told);

#endif
