/* SPDX-License-Identifier: Apache-2.0 */
/* walk_bends.h: what ReLUs add to a lead that is a sum over walks.
 *
 * Such a sum has each unit on or off as it is now. A unit that crosses 0 brings more than that, by
 * how far it goes beyond: told here as a share for each removal at each of its ends, before any is
 * made, for all sets of so many. */
#ifndef CBX_WALK_BENDS_H
#define CBX_WALK_BENDS_H

#include "walks.h"

enum { CBX_BEND_STEPS = CBX_WALK_REMOVALS + 1 };

/* How far one unit may go beyond 0, in shares: of all removals at a node, where there are k of
 * them, or of one end beside that. */
typedef struct cbx_bend {
    int32_t of; /* a node, or an end */
    bool    is_end;
    double  share[CBX_BEND_STEPS];
} cbx_bend;

typedef struct cbx_bend_list {
    int64_t begin, count;
} cbx_bend_list;

typedef struct cbx_walk_bends {
    const cbx_walks *walks;
    double          *of;    /* by end and k: what it adds to the lead at most, with k at its node */
    double          *at;    /* by node and k: the part of it that is the same for all of its ends */
    double          *scale; /* by node and k: its factor with so many removals */
    int32_t         *most;  /* by node: removals that can come to it */
    int32_t         *made;  /* by node: those that had been made at it */
    double          *units, *counts, *values; /* scratch */
    uint8_t         *near;                    /* scratch, by node */
    uint8_t         *hits;                    /* scratch, by node */
    double          *through;                 /* scratch, by row and unit */
    /* scratch, for all units of a layer at once: what each edge brings to the first layer's rows
     * behind weights, and their biases; and weights and biases of rows of the second layer */
    double        *terms, *biases, *row_weights, *row_biases;
    int32_t       *on;        /* scratch: units */
    uint8_t       *weighed;   /* scratch, by node */
    uint8_t       *bent[2];   /* by layer and node: is anything listed? */
    int64_t       *kid_begin; /* by node: kids[kid_begin[i]] and on are that node */
    int32_t       *kids;
    cbx_bend_list *list[2]; /* by node and unit, of the first two layers */
    cbx_bend      *bends;   /* those that there are */
    int64_t        num_bends, room;
    cbx_arena     *arena;
    /* scratch: of the unit at hand, how far each removal moves it towards 0 at most */
    double  *leaf;         /* by node: for each way up of its factor */
    double  *node, *end;   /* by node, by end, and k */
    int32_t *nodes, *ends; /* which have any */
    uint8_t *node_has, *end_has;
    int64_t  num_nodes, num_ends;
    double   towards; /* -1: it is on, and falls; 1: it is off, and rises */
    int64_t  removals;
} cbx_walk_bends;

cbx_status cbx_walk_bends_init(cbx_walk_bends *b, const cbx_walks *w, cbx_arena *arena,
                               cbx_error *err);

/* After cbx_walks_look, of sets of up to so many further removals that are open then, of the lead
 * of these two classes. -1: no memory, or no time. */
int cbx_walk_bends_tell(cbx_walk_bends *b, int64_t removals, int32_t ahead, int32_t behind);

static inline double cbx_walk_bend(const cbx_walk_bends *b, int32_t end, int64_t k)
{
    return b->of[(int64_t)end * CBX_BEND_STEPS + k];
}

#endif
