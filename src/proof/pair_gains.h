/* SPDX-License-Identifier: Apache-2.0 */
/* pair_gains.h: what removals gain alone, and what two of them gain together beside that.
 *
 * Gains choice by choice (lead_bound.h) have each choice with the worst of all partners at once,
 * in every row anew. Here the lead is written as
 *
 *     lead now + sum of `alone` over the set + sum of `both` over its pairs
 *
 * at most, so that a partner counts only where it is in the set. For layers with GCN's
 * normalisation, of which nothing changes but that edges go; docs/bounds.md has the proof. */
#ifndef CBX_PAIR_GAINS_H
#define CBX_PAIR_GAINS_H

#include "spread.h"

/* Choices of which a bound tells what others gain beside them, at most. */
enum { CBX_PARTNERS = 8 };

/* What a choice does to the term of the edge at hand. */
typedef struct cbx_term_move {
    int32_t choice;
    double  fall, rise;
} cbx_term_move;

typedef struct cbx_pair_gains {
    const cbx_spread *s;
    bool              on;           /* of the budget at hand there are pairs */
    int32_t           count;        /* open choices, as things are now */
    int32_t          *open, *place; /* which, and by choice: where among them */
    int32_t          *at; /* two by place: the nodes that it takes an edge from; -1: none */
    double           *term, *loop; /* by slot, by node: what it brings to the lead, all layers */
    double           *beside;      /* nodes x count: what a choice at the node gains by its
                                    * degree with what another choice moves */
    uint8_t *is_beside;            /* by node: is there any such row? */
    double  *alone, *both;         /* by place; by two places, both ways round */
    double  *first, *curve;        /* by node: what its degree gains by one choice at it, and by
                                    * each pair of them beside that at most */
    double        *some, *fewer;   /* by place: half of its best partners; and of one fewer */
    double        *best;           /* scratch */
    cbx_term_move *moves;          /* of the edge at hand */
    int64_t        num_moves;
} cbx_pair_gains;

/* What a bound tells of the best choices and their partners. */
typedef struct cbx_partners {
    int32_t count, choice[CBX_PARTNERS];
    double  alone[CBX_PARTNERS];
    double *beside; /* CBX_PARTNERS x choices: what one gains at most beside that one */
} cbx_partners;

/* Could there be pairs? They take layers and choices that they are known of, and memory. */
bool cbx_pair_gains_are_known(const cbx_spread *s);

cbx_status cbx_pair_gains_init(cbx_pair_gains *p, const cbx_spread *s, cbx_arena *arena,
                               cbx_error *err);

/* Begins anew, for the graph as it is now. */
void cbx_pair_gains_begin(cbx_pair_gains *p);

/* Of the edge or loop at hand: how far a choice moves its term. */
static inline void cbx_pair_gains_move(cbx_pair_gains *p, int32_t choice, double fall, double rise)
{
    if (p->on && (fall != 0 || rise != 0))
        p->moves[p->num_moves++] = (cbx_term_move){choice, fall, rise};
}

/* The edge in slot e, or the loop of node v, brings `term` now, each time that it counts. */
void cbx_pair_gains_add_edge(cbx_pair_gains *p, int64_t e, double term);
void cbx_pair_gains_add_loop(cbx_pair_gains *p, int32_t v, double term);

/* All edges are there: alone and both. `gain`: what choices gain otherwise, by themselves. */
void cbx_pair_gains_end(cbx_pair_gains *p, const double *gain);

/* What the best two gain together, or one, or none. */
double cbx_pair_gains_of_two(const cbx_pair_gains *p);

/* By choice, so that any set gains no more than the sum: half of each pair is either's. */
void cbx_pair_gains_halved(const cbx_pair_gains *p, double *gain);

/* What others gain beside each of the best choices, by these gains. */
void cbx_pair_gains_partners(const cbx_pair_gains *p, const double *gain, cbx_partners *out);

#endif
