/* SPDX-License-Identifier: Apache-2.0 */
/* walk_part.h: sets with just so many removals at the asked node, excluded by sums over walks.
 *
 * That number is a part of every walk, so sets are told apart by it first, and then by whether they
 * have some choice or not. What a bound excludes is not split further. A part is searched by one
 * thread, for a while at a time; it asks no model: sets that no bound excludes are listed for who
 * can. */
#ifndef CBX_WALK_PART_H
#define CBX_WALK_PART_H

#include "walk_share.h"

/* ReLUs are as they are in some branch, and how they bend is told from there. Where what is made
 * since then bends them much, all is told anew for what is left of it, so many times within each
 * other. */
enum { CBX_WALK_LEVELS = 4 };

/* Sets that are listed before it goes on. */
enum { CBX_WALK_ASKS = 64 };

/* Is there a set of up to `size` of the choices that `fate` has open by which `ahead` comes to lead
 * `behind`? */
typedef struct cbx_walk_question {
    const cbx_spread *spread;
    const uint8_t    *fate;
    int32_t           ahead, behind;
    int64_t           size;
    double            rounding; /* of that lead, as the model computes it */
    double hopeless; /* a first bound above 0 by so many times the lead that is missing: give up */
} cbx_walk_question;

typedef struct cbx_walk_level {
    cbx_walks      walks;
    cbx_walk_gains gains;
    cbx_walk_bends bends;
    cbx_walk_share share;
    uint8_t       *fate; /* by choice: where it begins */
} cbx_walk_level;

typedef struct cbx_walk_branch {
    uint8_t *fate;          /* by choice */
    int64_t  made, at_root; /* choices that are made, and of those at the asked node */
    int      level;
    bool     asked; /* was it about just those that are made? */
} cbx_walk_branch;

typedef struct cbx_walk_part {
    const cbx_walk_question *q;
    int64_t                  at_root;
    cbx_arena                arena;
    cbx_walk_level           level[CBX_WALK_LEVELS];
    int                      levels;      /* that there is memory for, so far */
    int32_t                  begun_ahead; /* that the first level is of; -1: none so far */
    int64_t                  begun_size;
    double                   lead; /* now */
    cbx_walk_branch         *open; /* the next one last */
    int64_t                  num_open, room;
    cbx_walk_branch          taken;         /* the one at hand */
    double                  *with;          /* scratch, by choice */
    int64_t                  bounds, limit; /* how often, and how often at most */
    bool                     is_hopeless, is_late, out_of_memory;     /* it ended by that */
    int32_t                  asked[CBX_WALK_ASKS][CBX_WALK_REMOVALS]; /* to be asked about: sets, */
    int64_t                  num_made[CBX_WALK_ASKS];                 /* how large they are, */
    double                   lead_of[CBX_WALK_ASKS]; /* how far they lead at most */
    int                      num_asked;
} cbx_walk_part;

/* For questions of this spread, of the graph before any choice. *known is false where there is
 * nothing to search by. */
cbx_status cbx_walk_part_init(cbx_walk_part *p, const cbx_spread *spread, bool *known,
                              cbx_error *err);
void       cbx_walk_part_free(cbx_walk_part *p);

/* A new search, by no more than `limit` bounds. */
void cbx_walk_part_begin(cbx_walk_part *p, const cbx_walk_question *q, int64_t at_root,
                         int64_t limit);

/* Looks at the next branch. False: there is none, or it is over, or there are too many sets to be
 * asked about: num_asked is for the caller to clear. */
bool cbx_walk_part_step(cbx_walk_part *p);

/* Has it ended before it was through? */
bool cbx_walk_part_is_over(const cbx_walk_part *p);

/* No other set than those that were listed makes the class lead. */
bool cbx_walk_part_is_through(const cbx_walk_part *p);

#endif
