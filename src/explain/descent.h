/* SPDX-License-Identifier: Apache-2.0 */
/* descent.h: the optimiser that the options name, for one block of parameters. */
#ifndef CBX_DESCENT_H
#define CBX_DESCENT_H

#include "explainer.h"

typedef struct cbx_descent {
    const cbx_explain_options *options;
    int64_t                    count;
    float                     *a, *b; /* whatever two arrays the optimiser keeps */
} cbx_descent;

/* 0 on success */
int cbx_descent_init(cbx_descent *d, const cbx_explain_options *options, int64_t count,
                     cbx_arena *arena);

/* t counts from 0. */
void cbx_descent_step(cbx_descent *d, int64_t t, const float *grad, float *theta);

#endif
