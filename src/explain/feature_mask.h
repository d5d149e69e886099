/* SPDX-License-Identifier: Apache-2.0 */
/* feature_mask.h: P, the perturbation of features, through the epochs of a search. */
#ifndef CBX_FEATURE_MASK_H
#define CBX_FEATURE_MASK_H

#include "descent.h"
#include "explainer.h"
#include "perturb.h"

typedef struct cbx_feature_mask {
    const cbx_search *s;
    int32_t           rows, f; /* rows of the view that are perturbed */
    cbx_feature_box   box;
    float            *x;      /* the original values, dense, rows x f */
    float            *P, *move, *xp, *firm, *grad, *kept; /* likewise */
    cbx_descent       descent;
    cbx_matrix        soft; /* xp */
    cbx_matrix        hard; /* firm: dense, or sparse where X is */
    /* sparse: where each row of the next `hard` is gathered */
    int64_t *offset;
    int32_t *column;
    float   *value;
    double   absolute_scale, squared_scale; /* 1 / (n f): L_X is a mean over the factual graph */
    double   loss;                          /* L_X */
    int64_t  changed;
} cbx_feature_mask;

cbx_status cbx_feature_mask_init(cbx_feature_mask *F, const cbx_search *s, int32_t rows,
                                 cbx_error *err);

/* soft, hard, loss and changed from P; true: hard is not what it was. */
bool cbx_feature_mask_evaluate(cbx_feature_mask *F);

/* P takes a step down grad (dL/dsoft; taken as 0 unless `pull`) plus α L_X's. */
void cbx_feature_mask_step(cbx_feature_mask *F, bool pull, double alpha, int64_t t);

/* Remembers `hard`; then how many entries of it differ from x, and which. */
void    cbx_feature_mask_keep(cbx_feature_mask *F);
int64_t cbx_feature_mask_count(const cbx_feature_mask *F);
int64_t cbx_feature_mask_edits(const cbx_feature_mask *F, cbx_edit *edits);

#endif
