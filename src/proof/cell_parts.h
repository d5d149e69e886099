/* SPDX-License-Identifier: Apache-2.0 */
/* cell_parts.h: what the files of cells.h share: cells.c has the proof, and cell_slopes.c chooses
 * the lines that it goes by, of which none is wrong. */
#ifndef CBX_CELL_PARTS_H
#define CBX_CELL_PARTS_H

#include <math.h>

#include "cells.h"
#include "lines.h"

/* Points that lines are chosen by, and further ones at most. */
enum { CBX_CELL_POINTS = 160, CBX_CELL_MORE_POINTS = 400 };

/* The share of the lead that a unit which is not dead may be uncertain by; and the share of that
 * which rows next to it may add, and rows further away. */
static const double CBX_CELL_TOLERANCE = 0.5, CBX_CELL_LITTLE = 1e-3;

/* A layer's two products: of the row itself and of what it sends. */
enum { CBX_OWN, CBX_SENT, CBX_WAYS };

typedef struct cbx_cell {
    double  *corner; /* corners x dimensions: own features, then the sum of neighbours' */
    double  *before; /* corners x units of the first layer, before their ReLUs */
    double  *wrong;  /* by corner: all that rounding does to those units, and what they come to */
    double  *total;
    uint8_t *open; /* by unit of the third layer */
} cbx_cell;

typedef struct cbx_cells {
    cbx_boxes                *b;
    const cbx_cells_question *q;
    const cbx_net_layer      *first, *second, *third;
    int32_t                   dims, corners;
    double                   *low, *high;              /* of all rows: by dimension */
    double                    most_edges, rounding[3]; /* into a row; by layer, of a sum's size */
    double                   *largest[CBX_WAYS]; /* by unit of the second: its largest weight */
    /* of unit j of the third layer, by unit of the second: what is above it counts so much, and
     * what is below it takes off so much */
    double   *above[CBX_WAYS], *below[CBX_WAYS], *slope[CBX_WAYS];
    double   *line, *gap;                    /* scratch: corners x units of the first */
    double   *up[CBX_WAYS], *down[CBX_WAYS]; /* scratch: corners x units of the second */
    double   *allowed, *least;  /* by unit of the third: what it may be, and is at points */
    double   *most, *tolerance; /* likewise: what it is anywhere, and may be uncertain by */
    double   *points, *point_up[CBX_WAYS], *point_z[CBX_WAYS], *point_share;
    cbx_cell *stack;
    double    work;
    bool      given_up;
    int32_t   num_points;
    uint8_t  *again; /* by unit of the third: its lines are others now than in earlier cells */
    double   *slopes;
} cbx_cells;

static inline const double *cbx_cells_weights(const cbx_net_layer *l, int way)
{
    return way == CBX_OWN ? l->own : l->neighbour;
}

/* Units of the first layer before their ReLUs; what rounding does to all of them together, and what
 * they come to behind. */
void cbx_cells_before(const cbx_cells *c, const double *point, double *before, double *wrong,
                      double *total);

/* Adds x times the second layer's weights of a way, all of them, or those of one sign. */
void cbx_cells_add_product(const cbx_cells *c, int way, const double *x, int sign, double *to);

/* With slopes c->slope, from 0 to 1: what a unit of the third layer counts of what is above, and
 * takes off for what is below. */
void cbx_cells_take_slopes(cbx_cells *c, int32_t unit);

/* What a row adds to a unit of the third layer at most, at corner or point k: as the row itself, as
 * one that sends to it, and as one that sends to one that does. */
typedef struct cbx_adds {
    double self, next, far;
} cbx_adds;

static inline cbx_adds cbx_cells_adds(const cbx_cells *c, int32_t unit, int32_t k,
                                      double *const *up, double *const *down)
{
    int32_t n = c->second->n_out;
    int64_t at = (int64_t)k * n, of = (int64_t)unit * n;
    double  sum[CBX_WAYS][CBX_WAYS];
    for (int third = 0; third < CBX_WAYS; third++)
        for (int second = 0; second < CBX_WAYS; second++)
            sum[third][second] = cbx_lines_dot(n, up[second] + at, c->above[third] + of) -
                                 cbx_lines_dot(n, down[second] + at, c->below[third] + of);
    return (cbx_adds){sum[CBX_OWN][CBX_OWN], sum[CBX_OWN][CBX_SENT] + sum[CBX_SENT][CBX_OWN],
                      sum[CBX_SENT][CBX_SENT]};
}

/* What rows next to it may add to a unit, in case they add a little; further ones add up more
 * often. */
static inline double cbx_cells_little(const cbx_cells *c, int32_t unit)
{
    return CBX_CELL_LITTLE * c->tolerance[unit] / fmax(c->most_edges, 1);
}

/* Does no more come to the unit than is allowed: so much from the row itself, and a little from
 * others? */
static inline bool cbx_cells_enough(const cbx_cells *c, int32_t unit, const cbx_adds *a,
                                    double allowed)
{
    double little = cbx_cells_little(c, unit);
    return a->self + c->third->bias[unit] <= allowed && a->next <= little &&
           a->far <= little / fmax(c->most_edges, 1);
}

/* ---- cell_slopes.c */

/* Points of the space: the lowest corner, and many at all distances from it. */
void cbx_cells_draw_points(cbx_cells *c);

/* The second layer's terms of a row at that point, which becomes the i-th. */
void cbx_cells_take_point(cbx_cells *c, int32_t i, const double *point);

/* What lines are chosen for: a little less than what is allowed, as cells tell a little less than
 * their corners do. */
double cbx_cells_aim(const cbx_cells *c, int32_t unit);

/* What a row that no edge leads to makes of a unit, or more, at the points; a bound cannot be below
 * that. False: it is too much to be borne. */
bool cbx_cells_allow(cbx_cells *c, int32_t unit);

/* Chooses the lines below relu for one unit of the third layer. Any slopes from 0 to 1 are right;
 * these are good at the points. False: they are not. */
bool cbx_cells_choose_slopes(cbx_cells *c, int32_t unit);

#endif
