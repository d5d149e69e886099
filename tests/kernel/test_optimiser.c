/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers against their formulas in double, and the norm and scaling of
 * gradients. */
#include "kernel.h"

#include <math.h>

#include "../core/bag.h"
#include "test.h"
#include "reference.h"

typedef struct reference {
    double m, v, theta;
} reference;

/* Kingma and Ba's algorithm 1, line by line. */
static void reference_step(const cbx_adam *a, reference *t, double gradient)
{
    double g = gradient + a->weight_decay * t->theta;
    t->m = a->beta1 * t->m + (1 - a->beta1) * g;
    t->v = a->beta2 * t->v + (1 - a->beta2) * g * g;
    double m = t->m / (1 - pow(a->beta1, (double)a->step));
    double v = t->v / (1 - pow(a->beta2, (double)a->step));
    t->theta -= a->lr * m / (sqrt(v) + a->eps);
}

/* Gradients that shrink, grow and change sign; the largest difference from the
 * reference, relative to the learning rate and so to the length of one step. */
static double run(cbx_adam a, int64_t count, int steps)
{
    bag        b = {0};
    cbx_rng    rng = cbx_rng_stream(1, (uint64_t)count, (uint64_t)steps, 0);
    float     *theta = draws(&b, &rng, count), *grad = TAKE(&b, float, count);
    float     *m = filled(&b, count, 0), *v = filled(&b, count, 0);
    reference *t = TAKE(&b, reference, count);
    double    *expected = TAKE(&b, double, count);
    for (int64_t i = 0; i < count; i++)
        t[i] = (reference){0, 0, theta[i]};
    for (a.step = 1; a.step <= steps; a.step++) {
        for (int64_t i = 0; i < count; i++) {
            grad[i] = draw(&rng, -0.2, 1) * (i % 3 == 0 ? 1e-3f : 10.0f);
            reference_step(&a, &t[i], grad[i]);
        }
        cbx_adam_step(&a, count, grad, m, v, theta);
    }
    for (int64_t i = 0; i < count; i++)
        expected[i] = t[i].theta;
    double difference = worst(count, theta, expected) / a.lr;
    bag_free(&b);
    return difference;
}

TEST(the_first_step_of_adam_is_as_long_as_the_learning_rate)
{
    /* m/(1-b1) = g and v/(1-b2) = g^2, so the step is lr g/|g|, whatever g is.
     * One part in a million: 0.999 is not a float, and that must not be seen. */
    cbx_adam    a = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .step = 1};
    const float grad[] = {3, -0.002f, 5000};
    float       m[3] = {0}, v[3] = {0}, theta[3] = {0};
    cbx_adam_step(&a, 3, grad, m, v, theta);
    CHECK_NEAR(theta[0], -0.1, 1e-7);
    CHECK_NEAR(theta[1], 0.1, 6e-7); /* eps is 5e-6 of |g| */
    CHECK_NEAR(theta[2], -0.1, 1e-7);
}

TEST(adam_agrees_with_its_reference_over_many_steps)
{
    /* A float of size 1 is right to 1e-7, 1e-6 of a step of 0.1; each step may
     * add a rounding. */
    cbx_adam a = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    CHECK(run(a, 1, 1) < 2e-6);
    CHECK(run(a, 37, 5) < 1e-5);
    CHECK(run(a, 64, 300) < 5e-4);
    a.beta1 = 0.5;
    a.beta2 = 0.9;
    a.eps = 0.1;
    CHECK(run(a, 15, 20) < 2e-5);
}

TEST(weight_decay_pulls_on_the_gradient)
{
    cbx_adam a = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.5};
    CHECK(run(a, 33, 10) < 2e-5);
    /* With no gradient at all the decay is one: a first step towards 0. */
    a.step = 1;
    float grad = 0, m = 0, v = 0, theta = 2;
    cbx_adam_step(&a, 1, &grad, &m, &v, &theta);
    CHECK_NEAR(theta, 1.9, 1e-6);
}

TEST(a_parameter_without_gradient_stays)
{
    cbx_adam a = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .step = 1};
    float    grad = 0, m = 0, v = 0, theta = 2;
    cbx_adam_step(&a, 1, &grad, &m, &v, &theta);
    CHECK_NEAR(theta, 2, 0);
    cbx_adam_step(&a, 0, NULL, NULL, NULL, NULL);
}

TEST(momentum_looks_ahead)
{
    /* lr 0.1, momentum 0.5, gradients 2 then 4, from 10. First the velocity is the
     * gradient, 2: 10 - 0.1 (2 + 0.5*2) = 9.7. Then 0.5*2 + 4 = 5: 9.7 - 0.1 (4 +
     * 0.5*5) = 9.05. Whatever the velocity was before the first step is not read. */
    float grad = 2, velocity = NAN, theta = 10;
    cbx_sgd_step(0.1, 0.5, true, 1, &grad, &velocity, &theta);
    CHECK_NEAR(theta, 9.7, 1e-6);
    CHECK_NEAR(velocity, 2, 0);
    grad = 4;
    cbx_sgd_step(0.1, 0.5, false, 1, &grad, &velocity, &theta);
    CHECK_NEAR(theta, 9.05, 1e-6);
    CHECK_NEAR(velocity, 5, 0);
}

TEST(without_momentum_a_step_is_the_gradient)
{
    float grad[] = {2, -4, 0}, velocity[3] = {0}, theta[] = {1, 1, 1};
    cbx_sgd_step(0.25, 0, true, 3, grad, velocity, theta);
    cbx_sgd_step(0.25, 0, false, 3, grad, velocity, theta);
    CHECK(theta[0] == 0 && theta[1] == 3 && theta[2] == 1);
    cbx_sgd_step(0.25, 0, false, 0, NULL, NULL, NULL);
}

TEST(adadelta_agrees_with_its_reference)
{
    /* Zeiler's algorithm 1: rho 0.9, eps 1e-6. */
    enum { COUNT = 21, STEPS = 30 };
    bag     b = {0};
    cbx_rng rng = cbx_rng_stream(3, 0, 0, 0);
    float  *theta = draws(&b, &rng, COUNT);
    float  *squares = filled(&b, COUNT, 0), *steps = filled(&b, COUNT, 0);
    double  exact[COUNT], g2[COUNT] = {0}, d2[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        exact[i] = theta[i];
    for (int t = 0; t < STEPS; t++) {
        float *grad = draws(&b, &rng, COUNT);
        for (int i = 0; i < COUNT; i++) {
            g2[i] = 0.9 * g2[i] + 0.1 * grad[i] * grad[i];
            double d = sqrt(d2[i] + 1e-6) / sqrt(g2[i] + 1e-6) * grad[i];
            d2[i] = 0.9 * d2[i] + 0.1 * d * d;
            exact[i] -= 2 * d;
        }
        cbx_adadelta_step(2, COUNT, grad, squares, steps, theta);
    }
    CHECK(worst(COUNT, theta, exact) < 5e-6);
    CHECK(worst(COUNT, squares, g2) < 1e-6);
    cbx_adadelta_step(2, 0, NULL, NULL, NULL, NULL);
    bag_free(&b);
}

TEST(squares_are_summed_in_double)
{
    static const int64_t counts[] = {0, 1, 7, 8, 9, 16, 1003};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        bag     b = {0};
        cbx_rng rng = cbx_rng_stream(2, c, 0, 0);
        float  *v = draws(&b, &rng, counts[c]);
        double  sum = 0;
        for (int64_t i = 0; i < counts[c]; i++)
            sum += (double)v[i] * v[i];
        CHECK_NEAR(cbx_sum_squares(counts[c], v), sum, 1e-12 * (1 + sum));
        bag_free(&b);
    }
    /* (1e30)^2 is no float, and 1 + 1e-10 is none either. */
    const float large[] = {1e30f, 1e30f}, small[] = {1, 1e-5f};
    CHECK_NEAR(cbx_sum_squares(2, large) / 2e60, 1, 1e-6);
    CHECK_NEAR(cbx_sum_squares(2, small) - 1, 1e-10, 1e-15);
}

TEST(scaling_multiplies_every_entry)
{
    float v[] = {1, -2, 3};
    cbx_scale(0, 5, v);
    cbx_scale(2, -0.5f, v);
    CHECK(v[0] == -0.5f && v[1] == 1 && v[2] == 3);
}
