/* SPDX-License-Identifier: Apache-2.0 */
/* brute_force.h: every set of edits, one after the other, on a graph that is really edited. */
#ifndef CBX_ADVERSARY_BRUTE_FORCE_H
#define CBX_ADVERSARY_BRUTE_FORCE_H

#include "space.h"

/* Leads of less than this, for scores of size 1, are not decided: single precision and double
 * may differ. */
#define ROUNDING 1e-5

/* What the edited graph says. */
typedef struct outcome {
    double log_probs[MAX_CLASSES];
    int    best;
    double lead; /* of what is sought; above 0: it is reached */
    double blur; /* leads smaller than this are rounding */
} outcome;

/* A graph, edited. */
typedef struct edited {
    uint8_t gone[MAX_EDGES]; /* edges; of those that are offered: there */
    uint8_t lost[MAX_NODES], came[MAX_NEW];
    float   weight[MAX_EDGES], x[MAX_NODES * MAX_FEATURES];
} edited;

/* As it is. */
void edit_nothing(const question *q, edited *out);

void build_graph(const question *q, const edited *e, naive_graph *out);

/* `prediction` and `target` (-1: any other) say what is sought. */
outcome ask_naive(const question *q, const naive_graph *graph, int prediction, int target);

/* Is what the rules want kept still there, on the whole graph? */
bool keeps(const question *q, const uint8_t *gone, const uint8_t *lost, const uint8_t *came);

/* Is a node of the row's left, and no edge added to one that is not? */
bool is_possible(const question *q, const uint8_t *gone, const uint8_t *lost, const uint8_t *came);

typedef struct found_set {
    int     choice[MAX_PLACES]; /* by place */
    outcome outcome;
    double  cost;
    int64_t tried; /* sets, in all */
} found_set;

typedef enum verdict {
    VERDICT_NONE,   /* there is no such set: all were tried */
    VERDICT_SOME,   /* none was met, but there are more than were tried */
    VERDICT_UNSURE, /* one that may be one, but for rounding */
    VERDICT_FOUND   /* there is one */
} verdict;

/* Is there a set within the rules that costs less than `below` and gets there? Tries all, or
 * where there are more than `most`, that many. Of those the smallest goes to `set`. */
verdict find_set(const question *q, const space *s, int prediction, int target, double below,
                 double most, dice *d, found_set *set);

/* How far the target leads at most, by how many places are otherwise, from 0 to `sizes`: of all
 * sets within the rules. -INFINITY: there is none. */
void find_furthest(const question *q, const space *s, int prediction, int target, int sizes,
                   double *most);

#endif
