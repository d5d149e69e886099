/* SPDX-License-Identifier: Apache-2.0 */
/* maxima.h: what choices do to a maximum over neighbours.
 *
 * The *leader* of a unit is the edge whose message is the largest now. With the choices that are
 * made, any that the budgets allow,
 *
 *     now + sum of their downs  <=  maximum  <=  now + sum of their ups
 *     lead - sum of their belows  <=  maximum  <=  lead + sum of their aboves
 *
 * where `now` is the maximum now and `lead` the leader's message: what it is with those choices,
 * whether its edge is left or not. The first is for going forward; the second hands a unit's weight
 * on to what the leader's source has of the layer before. docs/bounds.md has the proofs. */
#ifndef CBX_MAXIMA_H
#define CBX_MAXIMA_H

#include <stdint.h>

typedef struct cbx_max_move {
    int32_t choice, unit;
    double  up, down, above, below;
} cbx_max_move;

typedef struct cbx_maxima {
    double  *now;    /* rows x inputs of the layer */
    int64_t *leader; /* likewise: among the edges into the row; -1: it has none */
    /* likewise: is it told more closely by the leader's message? For weights above 0, and below */
    uint8_t      *passes_up, *passes_down;
    int64_t      *begin; /* by row, and one more */
    cbx_max_move *moves; /* those that are not all 0 */
    int64_t       room;
} cbx_maxima;

/* Bytes that a row is worked out in. */
typedef struct cbx_max_scratch {
    char   *bytes;
    int64_t room;
} cbx_max_scratch;

#endif
