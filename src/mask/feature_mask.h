/* SPDX-License-Identifier: Apache-2.0 */
/* feature_mask.h: P, the perturbation of features, through the epochs of a search.
 *
 * Work is done on *live* entries only. An entry that has left its bounds has no
 * gradient; what momentum it has carries it further out. Once its thresholded
 * value has arrived at the bound too, nothing about it can change any more, and it
 * is struck off the list: of binary features, half after the first step. A column of
 * which no entry is left leaves `soft` as well (fold_columns.h). */
#ifndef CBX_FEATURE_MASK_H
#define CBX_FEATURE_MASK_H

#include "descent.h"
#include "explainer.h"
#include "fold_columns.h"
#include "perturb.h"

/* One array an attribute; row i has the entries begin[i] .. end[i]-1. From there to
 * begin[i+1] are entries that do nothing and never will, so that a row is whole vectors. */
typedef struct cbx_live {
    int64_t *begin, *end;
    int64_t  count;          /* of real ones */
    int32_t *column;         /* of `soft` */
    float   *x, *P, *move;   /* original value, parameter, tanh P or P */
    float   *a, *b;          /* the optimiser's */
    float   *lo, *hi, *span; /* cbx_entries's; NULL where the box is uniform */
} cbx_live;

typedef struct cbx_feature_mask {
    const cbx_search *s;
    int32_t           rows, f;   /* rows of the view that are perturbed */
    cbx_feature_box   box;       /* by column of `soft` … */
    float            *bounds[4]; /* … its arrays */
    cbx_live          live;
    float            *hard_values, *kept; /* dense, rows x f */
    float            *soft_values, *grad; /* dense, rows x columns of `soft` */
    /* what the rules make of hard_values, in whose place it is, and the features as they were;
     * dense, rows x f; NULL: there are no rules */
    float            *allowed, *original;
    cbx_fold_columns  narrow;     /* which these are, and the first layer for them */
    int32_t          *still_live; /* by column: narrow_columns's */
    bool              narrowed;   /* by the last step */
    cbx_descent       descent;
    cbx_matrix        soft; /* soft_values, once cbx_feature_mask_soften has made them */
    cbx_matrix        hard; /* hard_values, with its products cached */
    float            *soft_drift, *hard_drift; /* by row: every step's length is added; not NULL */
    cbx_product_cache cache;
    bool              outdated;     /* the cache: more changes than it has room for */
    int64_t           refreshed;    /* epoch of the last full product */
    int64_t           most_changes; /* that the cache has room for */
    int64_t          *since_kept;   /* places that have moved since the last keep … */
    int64_t           num_since_kept;
    bool              kept_all_stale; /* … or too many to list */
    double            scale;          /* 1 / (n f): L_X is a mean over the factual graph */
    double            gone_absolute, gone_squared; /* what struck entries add to L_X */
    double            loss;                        /* L_X */
    int64_t           changed;
    int64_t           idle;  /* live entries that have not moved yet */
    bool              moved; /* the last evaluation changed hard_values */
} cbx_feature_mask;

/* Also evaluates at P = 0. Faults are perturb.h's. */
cbx_status cbx_feature_mask_init(cbx_feature_mask *F, const cbx_search *s, int32_t rows,
                                 unsigned faults, cbx_error *err);

/* P takes a step down grad (dL/dsoft; taken as 0 unless `pull`) plus α L_X's; then
 * loss, changed and moved are those of the new P, and the values follow on request. -1: no memory.
 */
int cbx_feature_mask_step(cbx_feature_mask *F, bool pull, double alpha, int64_t t);

/* Makes `soft`; makes `hard`'s products. */
void cbx_feature_mask_soften(cbx_feature_mask *F);
void cbx_feature_mask_harden(cbx_feature_mask *F, int64_t t);

/* Remembers `hard`. */
void cbx_feature_mask_keep(cbx_feature_mask *F);

/* When all is over: how many entries of what is remembered are new, and then which; not all of
 * them if time runs out. */
int64_t cbx_feature_mask_count(cbx_feature_mask *F);
int64_t cbx_feature_mask_edits(cbx_feature_mask *F, cbx_edit *edits);

#endif
