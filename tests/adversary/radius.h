/* SPDX-License-Identifier: Apache-2.0 */
/* radius.h: a question to `combinex robust`, and whether its answer is true.
 *
 * lower_bound: no set of fewer edits within the budgets changes the class. flips_with: one of so
 * many does. robust: no set within the budgets does. All by trying sets of edges one by one, on
 * graphs that are really edited. */
#ifndef CBX_ADVERSARY_RADIUS_H
#define CBX_ADVERSARY_RADIUS_H

#include "ask.h"
#include "judge.h"

enum { EDITS_REMOVE, EDITS_ADD, EDITS_BOTH };

typedef struct radius_question {
    int    edits;
    bool   directed, decide;
    int    target;          /* TARGET_NEXT, TARGET_ANY */
    int    budget;          /* 0: none */
    double share;           /* per cent of the graph's edges; 0: none */
    int    local, strength; /* -1: none */
    int    threads;
} radius_question;

void draw_radius(const question *q, radius_question *r);

/* False: the library refused, which it says of models and graphs it has no bounds of. */
bool ask_radius(const radius_question *r, const question *q, asked *a, cbx_radius *out);

void judge_radius(const question *q, const radius_question *r, const cbx_radius *told, judged *out);

#endif
