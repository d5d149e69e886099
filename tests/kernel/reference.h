/* SPDX-License-Identifier: Apache-2.0 */
/* reference.h: comparing a kernel's floats with its naive reference's doubles. */
#ifndef CBX_TEST_TWIN_H
#define CBX_TEST_TWIN_H

#include <math.h>
#include <stdint.h>

/* Largest |actual - expected|; infinite as soon as one is no number. */
static inline double worst(int64_t count, const float *actual, const double *expected)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)actual[i] - expected[i]);
        if (!(d <= INFINITY))
            return INFINITY;
        most = fmax(most, d);
    }
    return most;
}

static inline double worst_of_floats(int64_t count, const float *actual, const float *expected)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)actual[i] - expected[i]);
        if (!(d <= INFINITY))
            return INFINITY;
        most = fmax(most, d);
    }
    return most;
}

#endif
