/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h: which units of a third layer are dead, whatever the few features are and whichever edges
 * are left.
 *
 * What a row has behind the first ReLUs depends on little: its own features and the sum of its
 * neighbours'. Cells of that space, simplices, are halved until each tells by its corners that what
 * a row adds to a unit of the third layer is not above 0. Units that go from 0 to thousands with
 * the features are told from each other so, where intervals and lines through their ends see the
 * thousands alone. docs/bounds.md has the proof. */
#ifndef CBX_CELLS_H
#define CBX_CELLS_H

#include "box.h"

typedef struct cbx_cells_question {
    const uint8_t *sought; /* by class: may it be ahead of … */
    int32_t        behind; /* … this one? */
    double         most_work;
    double         spent; /* of that; filled in */
} cbx_cells_question;

/* Lowers the tops of the third, and last, layer's boxes, which are computed. *narrowed false: there
 * is nothing that it could prove this way, or it takes more work. */
cbx_status cbx_cells_narrow(cbx_boxes *boxes, cbx_cells_question *q, cbx_arena *arena,
                            bool *narrowed, cbx_error *err);

#endif
