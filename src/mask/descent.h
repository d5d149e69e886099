/* SPDX-License-Identifier: Apache-2.0 */
/* descent.h: the optimiser that the options name, for one block of parameters. */
#ifndef CBX_DESCENT_H
#define CBX_DESCENT_H

#include "explainer.h"
#include "kernel.h"

typedef struct cbx_descent {
    const cbx_explain_options *options;
    float                     *a, *b; /* whatever two numbers a parameter the optimiser keeps */
    int64_t                    t;     /* this step, from 0 */
    cbx_adam_rates             adam;
} cbx_descent;

/* 0 on success */
int cbx_descent_init(cbx_descent *d, const cbx_explain_options *options, int64_t count,
                     cbx_arena *arena);

/* A step begins; then any runs of parameters take it, `first` being the position
 * of grad[0] and theta[0] in a and b. */
void cbx_descent_begin(cbx_descent *d, int64_t t);
void cbx_descent_run(cbx_descent *d, int64_t first, int64_t count, const float *grad, float *theta);

/* Which way parameter k goes on by itself when its gradient is 0: the sign counts. */
float cbx_descent_drift(const cbx_descent *d, int64_t k);

#endif
