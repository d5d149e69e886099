/* SPDX-License-Identifier: Apache-2.0 */
/* walk_share.h: the most that a set of removals gains, by what each node and end of it gains.
 *
 * A removal is at two nodes, which agree about it in every set. Here each node takes the removals
 * that gain it most, whatever the other one takes, and pays for them: a price for each removal,
 * of which either end pays its part, and one more at the asked node. What it pays and what it
 * gains can be shifted from one end to the other. Whatever the prices, no set gains more than all
 * nodes together and what the budget is worth; they are sought for which that is least. */
#ifndef CBX_WALK_SHARE_H
#define CBX_WALK_SHARE_H

#include "walk_bends.h"
#include "walk_gains.h"

typedef struct cbx_walk_prices {
    double *shift; /* by end: what it has beside its own, and the other end has less */
    double  removal, at_root;
} cbx_walk_prices;

typedef struct cbx_walk_share {
    const cbx_walk_gains *gains;
    double               *at, *of; /* by node, by end: see walk_gains.h, for each case and k */
    const cbx_walk_bends *bends;   /* NULL: units do not cross 0 */
    double               *part;    /* by end: of a removal's price */
    uint8_t              *taken;   /* by end */
    double *with, *without; /* by end: what it changes that it has to be taken, or must not be */
    cbx_walk_prices now, kept;
    double          lead;  /* of what is made, with its bends */
    double          bound; /* of all sets, by the prices that are kept */
} cbx_walk_share;

cbx_status cbx_walk_share_init(cbx_walk_share *s, const cbx_walk_gains *gains,
                               const cbx_walk_bends *bends, cbx_arena *arena, cbx_error *err);

/* The lead of what is made, with what ReLUs add to it. */
double cbx_walk_share_made(const cbx_walk_share *s);

/* What is gained, as things are now. */
void cbx_walk_share_tell(cbx_walk_share *s);

/* Seeks prices in so many rounds, from those at hand on, or from none. Ends early where no set
 * comes up to `least`. */
void cbx_walk_share_seek(cbx_walk_share *s, bool anew, int rounds, double least);

/* No set with the choice, or without it, leads by more. */
double cbx_walk_share_with(const cbx_walk_share *s, int32_t choice);
double cbx_walk_share_without(const cbx_walk_share *s, int32_t choice);

#endif
