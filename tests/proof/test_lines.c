/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of ReLUs, of every width, so that what is done in vectors and what is left over both are:
 * against the ReLU itself, between the ends of each box. */
#include "lines.h"

#include <math.h>

#include "rng.h"
#include "test.h"

enum { MOST = 37 };

typedef struct drawn {
    double weight[MOST], low[MOST], high[MOST], z[MOST], slope[MOST];
} drawn;

static double relu(double z)
{
    return z > 0 ? z : 0;
}

/* Boxes on either side of 0 and around it, some of them a point; z is within. */
static void draw(cbx_rng *rng, drawn *d)
{
    for (int k = 0; k < MOST; k++) {
        double a = 2 * cbx_rng_uniform(rng) - 1, b = 2 * cbx_rng_uniform(rng) - 1;
        b = cbx_rng_next(rng) % 5 ? b : a;
        d->weight[k] = cbx_rng_next(rng) % 7 ? 2 * cbx_rng_uniform(rng) - 1 : 0;
        d->low[k] = fmin(a, b);
        d->high[k] = fmax(a, b);
        d->z[k] = d->low[k] + cbx_rng_uniform(rng) * (d->high[k] - d->low[k]);
        d->slope[k] = (double)(cbx_rng_next(rng) % 2);
    }
}

/* What the weights come to behind ReLUs. */
static double true_sum(const drawn *d, int32_t width, const double *z)
{
    double sum = 0;
    for (int32_t k = 0; k < width; k++)
        sum += d->weight[k] * relu(z[k]);
    return sum;
}

static double plain_dot(const double *a, const double *b, int32_t width)
{
    double sum = 0;
    for (int32_t k = 0; k < width; k++)
        sum += a[k] * b[k];
    return sum;
}

static void check_lines(const drawn *d, int32_t width)
{
    double line[MOST], again[MOST], above[MOST], below[MOST], rest[MOST], exact = 0;
    double beside = cbx_lines_of_relu(d->weight, d->low, d->high, width, line);
    CHECK(beside + plain_dot(line, d->z, width) >= true_sum(d, width, d->z) - 1e-12);
    /* where a weight is above 0 the line goes through the box's lower end */
    for (int32_t k = 0; k < width; k++)
        exact += d->weight[k] > 0 ? d->weight[k] * relu(d->low[k]) - line[k] * d->low[k] : 0;
    CHECK_NEAR(beside, exact, 1e-12);
    cbx_lines_find(width, d->low, d->high, above, below, rest);
    CHECK_NEAR(cbx_lines_take(width, d->weight, above, below, rest, again), beside, 1e-12);
    for (int32_t k = 0; k < width; k++)
        CHECK_NEAR(again[k], line[k], 1e-12);
}

static void check_box(const drawn *d, int32_t width)
{
    double most = 0;
    for (int32_t k = 0; k < width; k++)
        most += d->weight[k] * relu(d->weight[k] > 0 ? d->high[k] : d->low[k]);
    CHECK_NEAR(cbx_lines_in_box(width, d->weight, d->low, d->high), most, 1e-12);
    CHECK_NEAR(cbx_lines_dot(width, d->weight, d->z), plain_dot(d->weight, d->z, width), 1e-12);
}

/* Two parts of a sum, each by itself, come to no less than the sum. */
static void check_split(const drawn *d, int32_t width)
{
    double sum[MOST], alone = 0;
    for (int32_t k = 0; k < width; k++) {
        sum[k] = d->z[k] + d->low[k];
        alone +=
            d->weight[k] > 0 ? d->weight[k] * relu(d->z[k]) : d->weight[k] * d->slope[k] * d->z[k];
    }
    double first = cbx_lines_split(width, d->weight, d->slope, d->z);
    CHECK_NEAR(first, alone, 1e-12);
    CHECK(first + cbx_lines_split(width, d->weight, d->slope, d->low) >=
          true_sum(d, width, sum) - 1e-12);
}

TEST(lines_hold_between_the_ends_of_boxes)
{
    cbx_rng rng = cbx_rng_stream(6, 0, 0, 0);
    drawn   d;
    for (int round = 0; round < 200; round++) {
        draw(&rng, &d);
        for (int32_t width = 0; width <= MOST; width++) {
            check_lines(&d, width);
            check_box(&d, width);
            check_split(&d, width);
        }
    }
}
