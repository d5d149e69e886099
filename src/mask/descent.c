/* SPDX-License-Identifier: Apache-2.0 */
/* descent.c: see descent.h. */
#include "descent.h"

int cbx_descent_init(cbx_descent *d, const cbx_explain_options *options, int64_t count,
                     cbx_arena *arena)
{
    *d = (cbx_descent){.options = options};
    d->a = CBX_NEW0(arena, float, count);
    d->b = CBX_NEW0(arena, float, count);
    return d->a && d->b ? 0 : -1;
}

void cbx_descent_begin(cbx_descent *d, int64_t t)
{
    d->t = t;
    d->adam = cbx_adam_prepare(&(cbx_adam){
        .lr = d->options->learning_rate, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .step = t + 1});
}

void cbx_descent_run(cbx_descent *d, int64_t first, int64_t count, const float *grad, float *theta)
{
    double lr = d->options->learning_rate;
    float *a = d->a + first, *b = d->b + first;
    switch (d->options->optimiser) {
    case CBX_OPTIMISER_SGD:
        cbx_sgd_step(lr, d->options->momentum, d->t == 0, count, grad, a, theta);
        break;
    case CBX_OPTIMISER_ADADELTA:
        cbx_adadelta_step(lr, count, grad, a, b, theta);
        break;
    default:
        cbx_adam_apply(&d->adam, count, grad, a, b, theta);
    }
}

float cbx_descent_drift(const cbx_descent *d, int64_t k)
{
    switch (d->options->optimiser) {
    case CBX_OPTIMISER_SGD:
        return d->options->momentum > 0 ? -d->a[k] : 0;
    case CBX_OPTIMISER_ADADELTA:
        return 0;
    default:
        return -d->a[k];
    }
}
