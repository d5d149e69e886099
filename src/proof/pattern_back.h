/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_back.h: what weights of a row's units come to at most, with a pattern: a step back
 * through its ReLUs and its sum, and then the same of each edge's other end, with the pattern of
 * its that is best for it. docs/bounds.md has the proof. */
#ifndef CBX_PATTERN_BACK_H
#define CBX_PATTERN_BACK_H

#include "pattern_rows.h"

typedef struct cbx_pattern_back {
    const cbx_pattern_question *q;
    cbx_patterns                all;
    cbx_pattern_row            *rows;
    double                     *head, *seen, *sizes; /* scratch, by unit */
    /* scratch, by layer: */
    double **line, **back; /* weights before the ReLU, and of what the layer multiplies */
    double **turned;       /* its weights, with rows and columns exchanged */
    double **boxed;        /* by pattern */
} cbx_pattern_back;

/* Finds all patterns and boxes. -1: no time, or no memory; either way all.arena is to be freed. */
int cbx_pattern_back_init(cbx_pattern_back *f, const cbx_pattern_question *q);

/* The most that weights of row i's units of layer l, behind their ReLUs, come to with a pattern. */
double cbx_pattern_eval(cbx_pattern_back *f, int32_t l, int32_t i, int64_t p, const double *weight);

/* What row i's k-th edge brings to layer l at most, with these weights of what it carries. */
double cbx_pattern_edge(cbx_pattern_back *f, int32_t l, int32_t i, int32_t k, const double *weight);

/* The lead of one class over another with a pattern of the first row. */
double cbx_pattern_lead_with(cbx_pattern_back *f, int64_t p, int32_t ahead, int32_t behind);

#endif
