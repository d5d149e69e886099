/* SPDX-License-Identifier: Apache-2.0 */
/* fewest.h: a search for few moves that flip; fewest.c builds sets of them up, polish.c
 * makes what flips smaller. */
#ifndef CBX_FEWEST_H
#define CBX_FEWEST_H

#include "minimal.h"
#include "move_set.h"

/* Answers of more moves than LARGE are worth more work; see polish.c. */
enum { CBX_FEWEST_WIDTH = 64, CBX_FEWEST_MOVES = 400, CBX_FEWEST_LARGE = 6 };

/* A lead that rounding could not take away. */
#define CBX_FEWEST_SURE 1e-4

typedef struct cbx_fewest {
    cbx_search               *s;
    cbx_whatif               *W;
    cbx_move_set              here; /* the moves that are made now */
    cbx_move_set              sets[2][CBX_FEWEST_WIDTH + 1];
    int64_t                   num_sets[2];
    cbx_move_set              best; /* flips; cost INFINITY: none yet */
    cbx_move_set              work;
    cbx_move                 *promising;
    double                    cheapest; /* cost of a move */
    const cbx_minimal_shared *shared;
    const cbx_forbidden      *forbidden;
} cbx_fewest;

/* Makes the graph what the set says. */
void cbx_fewest_go_to(cbx_fewest *F, const cbx_move_set *to);

/* Does a set with this score flip? Where asking the factual graph is not asking the
 * whole graph, that is done. */
cbx_status cbx_fewest_flips(cbx_fewest *F, const cbx_move_set *set, bool *out, cbx_error *err);

/* Would the move keep the set within the number of edits that is allowed? */
bool cbx_fewest_has_room(const cbx_fewest *F, const cbx_move_set *set, const cbx_move *move);

/* Tries the promising moves from a set: the cheapest that flips becomes the best, those
 * that do not are shortlisted in `next` (NULL: not). */
cbx_status cbx_fewest_expand(cbx_fewest *F, const cbx_move_set *from, int64_t tried,
                             cbx_move_set *next, int64_t *num_next, int64_t width, cbx_error *err);

bool cbx_fewest_out_of_time(cbx_fewest *F, int64_t step);

/* Makes the best smaller, until nothing that is tried does. */
cbx_status cbx_fewest_polish(cbx_fewest *F, cbx_error *err);

/* Takes moves that are not needed out of the best, by the whole graph, until none is: true then,
 * false where time ended it. Makes and asks nothing in F->W. */
cbx_status cbx_fewest_certify(cbx_fewest *F, bool *irreducible, cbx_error *err);

/* Takes back moves that are not needed, the last first, until none is. */
cbx_status cbx_fewest_reduce(cbx_fewest *F, cbx_move_set *set, cbx_error *err);

#endif
