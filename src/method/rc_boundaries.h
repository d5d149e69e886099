/* SPDX-License-Identifier: Apache-2.0 */
/* rc_boundaries.h: where RCExplainer takes a class to end.
 *
 * Its boundaries are linear in the embedding that the oracle's last, dense part sees. Here that
 * part is one linear layer, so the boundary of class c towards class j is where their scores are
 * equal, and a row's side of it is the sign of log p(c) - log p(j). Which of them matter is found
 * as the paper does: by walking from rows of the class to rows of others, and by choosing, one
 * after the other, those that shut most of the other rows out. */
#ifndef CBX_RC_BOUNDARIES_H
#define CBX_RC_BOUNDARIES_H

#include <stdint.h>

#include "arena.h"
#include "combinex.h"

/* Rows that boundaries are found with: log-probabilities and classes by place. */
typedef struct cbx_rc_rows {
    const float  **logp;
    const int32_t *class_of; /* -1: not finite, and then it counts nowhere */
    int32_t        count, num_classes;
} cbx_rc_rows;

/* Of class `own` towards class `other`. */
typedef struct cbx_rc_boundary {
    int32_t own, other;
} cbx_rc_boundary;

typedef struct cbx_rc_boundaries {
    cbx_rc_boundary *list; /* by class; of one class as they were chosen */
    int64_t          count;
} cbx_rc_boundaries;

/* The class that a walk from the row at place `from` towards that at `to` first comes to: a tenth
 * of the way that is left, again and again. -1: it stays where it is. */
int32_t cbx_rc_walk(const cbx_rc_rows *rows, int32_t from, int32_t to);

/* `walks`: how many a row takes, each to a row that is drawn. */
cbx_status cbx_rc_boundaries_find(const cbx_rc_rows *rows, int64_t walks, uint64_t seed,
                                  cbx_arena *arena, cbx_rc_boundaries *out, cbx_error *err);

/* The boundaries of a class: how many, and the first of them in *begin. */
int64_t cbx_rc_boundaries_of(const cbx_rc_boundaries *all, int32_t own, int64_t *begin);

#endif
