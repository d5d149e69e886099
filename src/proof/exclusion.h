/* SPDX-License-Identifier: Apache-2.0 */
/* exclusion.h: sizes of sets excluded one after the other, by class.
 *
 * Of each size it is kept how near its sets come to a lead. A choice that never adds as much as
 * is missing (marginal.h) is in no set of the next size, and is barred before any branch. So a size
 * is excluded with some distance where a larger one will be asked about. */
#ifndef CBX_EXCLUSION_H
#define CBX_EXCLUSION_H

#include "branch.h"
#include "marginal.h"

typedef struct cbx_exclusion {
    cbx_branch   *b;
    int32_t       num_classes;
    int64_t      *none;        /* by class: no set of so many or fewer makes it lead */
    double       *nearest;     /* by class: how far those of just so many lead at most */
    cbx_marginal *marginal;    /* of b->bound; NULL: not known */
    int64_t       size;        /* of these sets it is told, of all choices: */
    double       *gain;        /* by class and choice: what one more adds */
    double       *rounding;    /* by class */
    double       *now;         /* scratch, by choice: the same of those that are not barred */
    uint8_t      *more;        /* scratch, by choice */
    int32_t      *leading;     /* a set that leads far … */
    int64_t       num_leading; /* … and how many it has */
} cbx_exclusion;

/* Classes that are not asked about have none = INT64_MAX, which the caller sets. `branches`: more
 * will be asked than the root. */
cbx_status cbx_exclusion_init(cbx_exclusion *x, cbx_branch *b, int32_t num_classes, bool branches,
                              cbx_arena *arena, cbx_error *err);

/* By one bound for all sizes. True: there is no class left. */
bool cbx_exclusion_root(cbx_exclusion *x);

/* By one bound each: the first sizes. */
void cbx_exclusion_first_sizes(cbx_exclusion *x);

/* No set of `size` makes the class lead, where none of fewer does; false: one does, or it is not
 * known. `more`: a larger size will be asked about. */
bool cbx_exclusion_of(cbx_exclusion *x, int32_t class, int64_t size, bool more);

#endif
