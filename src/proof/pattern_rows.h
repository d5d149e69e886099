/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_rows.h: the patterns of a graph's nodes, and what a model has at each node by pattern.
 *
 * A *pattern* of a node is which of its edges are left. Where too many may go, it is between how
 * many and how many of them are left. Forward, each unit of each layer gets a box for each pattern
 * of its row; nodes take their patterns each for itself. docs/bounds.md has the proof. */
#ifndef CBX_PATTERN_ROWS_H
#define CBX_PATTERN_ROWS_H

#include <math.h>

#include "pattern_bound.h"

/* Boxes of what a layer has at a row, by pattern: patterns x units. */
typedef struct cbx_pattern_boxes {
    double *low, *high; /* before the ReLU */
    /* what edges carry of it to the next layer, times the row's scale */
    double *send_low, *send_high;
    /* of the first layer, which is asked for most: relu(z) <= above z + rest and >= below z */
    double *above, *below, *rest;
} cbx_pattern_boxes;

typedef struct cbx_pattern_row {
    int32_t            open, fixed;              /* edges that may go, and that stay */
    int32_t           *from;                     /* open, then fixed: their other ends */
    double            *least_scale, *most_scale; /* by edge: of its other end, as it is there */
    double             degree;                   /* without the open ones */
    int32_t            fewest_left, most_left;   /* of the open ones */
    bool               by_number; /* patterns are numbers of open edges that are left: … */
    int32_t           *numbers;   /* … of pattern p from numbers[p] to numbers[p + 1] - 1 */
    double            *slope;     /* then, by unit of the first layer: relu(z) >= slope z */
    double            *sums;      /* then, scratch: one more than open edges */
    int64_t            patterns;
    cbx_pattern_boxes *of;           /* by layer */
    double            *least, *most; /* scratch, edges x units: what may come along them */
    double            *values;       /* scratch, layers x open edges */
    /* from the third layer on, by layer: edges x units of the layer before, around the boxes that
     * the other end's patterns have which the edge allows */
    double **around_low, **around_high;
    double  *brought; /* scratch, layers x edges */
} cbx_pattern_row;

typedef struct cbx_patterns {
    const cbx_pattern_question *q;
    cbx_pattern_row            *rows;
    int32_t                    *hops;
    cbx_arena                   arena;
    double                     *best;    /* scratch: by unit, or by edge of a node */
    double                     *unit[4]; /* scratch: by unit */
    int64_t                     steps;
    bool                        late;
    bool                        impossible; /* no graph has as many edges as are asked for */
} cbx_patterns;

/* Finds all nodes' patterns and boxes. -1: no time, or no memory. */
int  cbx_patterns_init(cbx_patterns *f, const cbx_pattern_question *q);
void cbx_patterns_free(cbx_patterns *f);

/* Is it time to stop, with so much work ahead? */
bool cbx_patterns_late(cbx_patterns *f, double work);

/* Is the k-th edge left? Of patterns that are not numbers. */
static inline bool cbx_pattern_has(const cbx_pattern_row *r, int64_t pattern, int32_t k)
{
    return k >= r->open || (pattern >> k & 1);
}

/* How many open edges are left, at least and at most: the same unless patterns are by number. Those
 * of the first row always leave just one number. */
void cbx_pattern_left(const cbx_pattern_row *r, int64_t pattern, int32_t *fewest, int32_t *most);

/* 1 / the root of the degree, with so many open edges left. */
static inline double cbx_pattern_scale_at(const cbx_pattern_row *r, int32_t left)
{
    return 1 / sqrt(r->degree + left);
}

/* The same of a pattern that leaves just one number. */
double cbx_pattern_scale(const cbx_pattern_row *r, int64_t pattern);

/* Can the pattern be, if the edge to `other` is there? */
bool cbx_pattern_allows(const cbx_pattern_row *r, int64_t pattern, int32_t other);

/* What the row's scale can be, if the edge to `other` is there. */
void cbx_pattern_scales(const cbx_pattern_row *r, int32_t other, double *least, double *most);

/* Of what may come along a row's open edges, edges x width, in place: the sums of the largest one,
 * two, three, …, or else of the least. */
void cbx_pattern_add_up(const cbx_pattern_row *r, double *of, int64_t width, bool largest);

/* For qsort: the largest number first. */
int cbx_by_size(const void *x, const void *y);

#endif
