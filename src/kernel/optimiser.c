/* SPDX-License-Identifier: Apache-2.0 */
/* optimiser.c: steps over a flat block of parameters. */
#include "adam.h"
#include "functions.h"

CBX_HOT
static void adam_run(int64_t count, const cbx_adam_rates *rates, const float *restrict grad,
                     float *restrict m, float *restrict v, float *restrict theta)
{
    const cbx_adam_rates r = *rates;
    for (int64_t i = 0; i < count; i++) {
        float g = grad[i] + r.decay * theta[i];
        m[i] = cbx_adam_mean(r, g, m[i]);
        v[i] = cbx_adam_square(r, g, v[i]);
        theta[i] -= cbx_adam_fall(r, m[i], v[i]);
    }
}

cbx_adam_rates cbx_adam_prepare(const cbx_adam *a)
{
    /* The corrections belong to the rounded betas: 1 - 0.999f is 1e-5 less than 0.001. */
    float  beta1 = (float)a->beta1, beta2 = (float)a->beta2;
    double fix1 = 1 - CBX_POWER(beta1, a->step), fix2 = 1 - CBX_POWER(beta2, a->step);
    return (cbx_adam_rates){beta1,
                            beta2,
                            (float)(a->lr / fix1),
                            (float)(1 / sqrt(fix2)),
                            (float)a->eps,
                            (float)a->weight_decay};
}

void cbx_adam_apply(const cbx_adam_rates *r, int64_t count, const float *grad, float *m, float *v,
                    float *theta)
{
    adam_run(count, r, grad, m, v, theta);
}

void cbx_adam_step(const cbx_adam *a, int64_t count, const float *grad, float *m, float *v,
                   float *theta)
{
    cbx_adam_rates rates = cbx_adam_prepare(a);
    cbx_adam_apply(&rates, count, grad, m, v, theta);
}

CBX_HOT
static void sgd_run(int64_t count, float lr, float momentum, bool first, const float *restrict grad,
                    float *restrict velocity, float *restrict theta)
{
    for (int64_t i = 0; i < count; i++) {
        velocity[i] = first ? grad[i] : momentum * velocity[i] + grad[i];
        theta[i] -= lr * (grad[i] + momentum * velocity[i]);
    }
}

void cbx_sgd_step(double lr, double momentum, bool first, int64_t count, const float *grad,
                  float *velocity, float *theta)
{
    sgd_run(count, (float)lr, (float)momentum, first, grad, velocity, theta);
}

CBX_HOT
static void adadelta_run(int64_t count, float lr, const float *restrict grad,
                         float *restrict squares, float *restrict steps, float *restrict theta)
{
    const float rho = 0.9f, eps = 1e-6f;
    for (int64_t i = 0; i < count; i++) {
        float g = grad[i];
        squares[i] = rho * squares[i] + (1 - rho) * g * g;
        float step = sqrtf(steps[i] + eps) / sqrtf(squares[i] + eps) * g;
        steps[i] = rho * steps[i] + (1 - rho) * step * step;
        theta[i] -= lr * step;
    }
}

void cbx_adadelta_step(double lr, int64_t count, const float *grad, float *squares, float *steps,
                       float *theta)
{
    adadelta_run(count, (float)lr, grad, squares, steps, theta);
}

double cbx_sum_squares(int64_t count, const float *v)
{
    double  lane[8] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += (double)v[i + l] * v[i + l];
    for (; i < count; i++)
        sum += (double)v[i] * v[i];
    for (int l = 0; l < 8; l++)
        sum += lane[l];
    return sum;
}
