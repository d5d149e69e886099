/* SPDX-License-Identifier: Apache-2.0 */
/* move_set.h: sets of moves, with what they cost and what they reach. */
#ifndef CBX_MOVE_SET_H
#define CBX_MOVE_SET_H

#include "move.h"

typedef struct cbx_move_set {
    cbx_move *moves;
    int64_t   count;
    double    cost;
    double    score; /* cbx_edit_state_ask's */
} cbx_move_set;

bool cbx_move_same(const cbx_move *a, const cbx_move *b);
bool cbx_move_set_has(const cbx_move_set *set, const cbx_move *move);
bool cbx_move_set_same(const cbx_move_set *a, const cbx_move_set *b);

/* Cheaper, or as cheap and further beyond the border. */
bool cbx_move_set_better(const cbx_move_set *a, const cbx_move_set *b);

/* Into memory that `to` has. */
void cbx_move_set_copy(cbx_move_set *to, const cbx_move_set *from);
void cbx_move_set_add(cbx_move_set *set, const cbx_move *move);
void cbx_move_set_take_out(cbx_move_set *set, int64_t k);
void cbx_move_set_take_out_range(cbx_move_set *set, int64_t begin, int64_t end);

/* Keeps the `most` sets of best score, best first, if this one is new and among them. */
void cbx_move_set_shortlist(cbx_move_set *sets, int64_t *count, int64_t most,
                            const cbx_move_set *set);

#endif
