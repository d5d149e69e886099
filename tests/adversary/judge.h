/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h: is what an answer claims true? By brute force, and by the documented words.
 *
 * found: the edits, made on the whole graph, lead to the class that was sought, obey every rule,
 * keep discrete values whole and one-hot groups one-hot; the numbers that come with the answer are
 * right.
 * irreducible: undoing any one change loses the flip, and so does taking one value back by a step,
 * two, four, … of a hundredth of its range, or of 1.
 * optimal: irreducible, and no cheaper set of edits within the rules flips.
 * lower bound: no set of edits within the rules that costs less flips.
 * proved_none: no set of edits within the rules flips.
 * skipped, for want of edges: no set of edits within the rules flips. */
#ifndef CBX_ADVERSARY_JUDGE_H
#define CBX_ADVERSARY_JUDGE_H

#include "brute_force.h"

typedef enum claim {
    CLAIM_FOUND,
    CLAIM_IRREDUCIBLE,
    CLAIM_OPTIMAL,
    CLAIM_LOWER_BOUND,
    CLAIM_PROVED_NONE,
    CLAIM_SKIPPED,
    CLAIM_RADIUS,     /* of `combinex robust`: radius.h */
    CLAIM_FLIPS_WITH, /* likewise */
    CLAIMS
} claim;

extern const char *const claim_names[CLAIMS];

typedef enum ruling {
    HOLDS,     /* everything was tried */
    NOT_MET,   /* there is too much to try all; what was tried is in its favour */
    UNDECIDED, /* by rounding */
    BROKEN
} ruling;

enum { RULINGS = BROKEN + 1, MAX_JUDGED = 64, MAX_WHY = 400 };

typedef struct judged {
    int count;
    struct {
        claim  claim;
        ruling ruling;
        char   why[MAX_WHY]; /* it is broken */
    } at[MAX_JUDGED];
    int64_t tried; /* sets of edits */
} judged;

/* For those who judge: one claim, and what came of it. */
void                                       judge_pass(judged *out, claim c, ruling r);
__attribute__((format(printf, 3, 4))) void judge_complain(judged *out, claim c, const char *format,
                                                          ...);

/* Judges every claim of an answer and of those that follow it. */
void judge(const question *q, const cbx_counterfactual *answer, judged *out);

#endif
