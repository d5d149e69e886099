/* SPDX-License-Identifier: Apache-2.0 */
/* descent.c: see descent.h. */
#include "descent.h"

#include "kernel.h"

int cbx_descent_init(cbx_descent *d, const cbx_explain_options *options, int64_t count,
                     cbx_arena *arena)
{
    d->options = options;
    d->count = count;
    d->a = CBX_NEW0(arena, float, count);
    d->b = CBX_NEW0(arena, float, count);
    return d->a && d->b ? 0 : -1;
}

void cbx_descent_step(cbx_descent *d, int64_t t, const float *grad, float *theta)
{
    double lr = d->options->learning_rate;
    switch (d->options->optimiser) {
    case CBX_OPTIMISER_SGD:
        cbx_sgd_step(lr, d->options->momentum, t == 0, d->count, grad, d->a, theta);
        break;
    case CBX_OPTIMISER_ADADELTA:
        cbx_adadelta_step(lr, d->count, grad, d->a, d->b, theta);
        break;
    default:
        cbx_adam_step(&(cbx_adam){.lr = lr, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .step = t + 1},
                      d->count, grad, d->a, d->b, theta);
    }
}
