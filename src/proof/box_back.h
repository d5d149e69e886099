/* SPDX-License-Identifier: Apache-2.0 */
/* box_back.h: closer boxes, and a closer lead, by going back from a sum of units to the features.
 *
 * Boxes let every unit of a row be at whichever end is worse, unit by unit, though all of them
 * depend on the same few features. Here weights of a row's units are taken back through its ReLUs
 * by lines, and through its sum to the rows that it is of, each by itself, until they are weights
 * of features. docs/bounds.md has the proof. */
#ifndef CBX_BOX_BACK_H
#define CBX_BOX_BACK_H

#include "box.h"

typedef struct cbx_box_back {
    cbx_boxes *boxes;
    /* by layer: its weights, with rows and columns exchanged, and scratch: weights before its
     * ReLUs, and of its input as rows have it themselves and as they send it */
    double **turned_own, **turned_neighbour, **line, **own, **neighbour;
    double  *against;   /* scratch: weights with their signs changed */
    double   work;      /* multiplications that were done, or so; … */
    double   most_work; /* … beyond these, boxes are taken as they are */
    bool     late;      /* no time: what was computed is no bound */
} cbx_box_back;

/* Of boxes that are computed. *known false: weights of edges are below 0, a maximum is taken,
 * or there are too many, and nothing is told. */
cbx_status cbx_box_back_init(cbx_box_back *f, cbx_boxes *boxes, double most_work, cbx_arena *arena,
                             bool *known, cbx_error *err);

/* Makes them closer, layer by layer. False: no time. */
bool cbx_box_back_narrow(cbx_box_back *f);

/* The lead of class `ahead` over class `behind`, as the model computes it, at most; INFINITY where
 * there is no time. */
double cbx_box_back_lead(cbx_box_back *f, int32_t ahead, int32_t behind);

#endif
