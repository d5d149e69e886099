/* SPDX-License-Identifier: Apache-2.0 */
/* radius.h: how few choices change the class of one row, as an interval that any stop leaves. */
#ifndef CBX_RADIUS_H
#define CBX_RADIUS_H

#include "branch.h"

typedef struct cbx_radius_question {
    cbx_partial_graph *graph; /* its budget: sets larger than that are not asked about */
    cbx_lead_bound    *bound;
    const cbx_matrix  *X;       /* features of its view */
    int                threads; /* that compute bounds; the answer is the same with any */
    cbx_branch_asked   asked;
    int32_t            num_classes, prediction;
    int32_t            target; /* a class, or -1: any other */
    int64_t            known;  /* sets of fewer choices are known not to flip; 1: nothing is */
    int64_t            flips;  /* a set of so many is known to flip; 0: none is */
    bool               dive;   /* looks for a set that flips first … */
    bool               decide; /* … and for no smaller one */
    int64_t            gap;    /* it is enough to know the number to within so many */
    double             until;  /* on cbx_clock, when `asked` will stop; 0: it is not known */
    int64_t most_bounds; /* no branches, and no more bounds than this; 0: as many as it takes */
} cbx_radius_question;

typedef struct cbx_radius_answer {
    int64_t  lower; /* proved: whatever flips has so many choices at least */
    int64_t  upper; /* so many flip; 0: none is known to */
    int32_t *flip;  /* those of `upper`, where they were found here */
    int64_t  bounds, asks;
} cbx_radius_answer;

cbx_status cbx_radius_find(const cbx_radius_question *q, cbx_arena *arena, cbx_radius_answer *out,
                           cbx_error *err);

#endif
