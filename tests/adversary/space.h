/* SPDX-License-Identifier: Apache-2.0 */
/* space.h: all that may be edited: what "no edits within the rules" speaks of. */
#ifndef CBX_ADVERSARY_SPACE_H
#define CBX_ADVERSARY_SPACE_H

#include "question.h"

enum { MAX_PLACES = 256, MAX_VALUES = 16 };

typedef enum place_kind {
    PLACE_EDGE,
    PLACE_NODE,
    PLACE_NEWCOMER, /* by its number, as `node` */
    PLACE_WEIGHT,
    PLACE_FEATURE,
    PLACE_GROUP
} place_kind;

/* One thing that can be otherwise. Choice 0 is as it is. */
typedef struct place {
    place_kind kind;
    int        choices;
    int        edits; /* that a choice other than 0 is */
    double     cost;
    int        u, v, edge;           /* edge -1: all between the two, both ways */
    bool       comes;                /* an edge that is not there */
    int        node, feature;        /* group: the one that is on */
    float      values[MAX_VALUES];   /* feature or weight, by choice - 1 */
    int        features[MAX_VALUES]; /* group: turned on instead */
} place;

typedef struct space {
    int   count;
    place places[MAX_PLACES];
    bool  whole; /* false: some values are continuous, and only a few of them are here */
} space;

/* What can have an influence on the row and is within the rules, as far as single edits go. `d`
 * draws values of continuous features. */
void find_space(const question *q, dice *d, space *s);

/* How many sets of at most so many edits (0: of any number) there are, the empty one too. */
double count_sets(const space *s, int most_edits);

/* Can a change at this node, by the edges as they are, reach the row? Can this edge count? */
void find_influence(const question *q, bool *nodes);
bool edge_counts(const question *q, const bool *influence, int edge);

#endif
