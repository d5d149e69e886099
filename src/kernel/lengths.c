/* SPDX-License-Identifier: Apache-2.0 */
/* lengths.c: Euclidean lengths, for bounds. */
#include "kernel.h"
#include "lanes.h"

#include <math.h>

CBX_HOT
static float square_sum(int64_t count, const float *restrict y)
{
    float sum;
    CBX_SUM(sum, k, count, y[k] * y[k]);
    return sum;
}

CBX_HOT
static float square_differences(int64_t count, const float *restrict y, const float *restrict z)
{
    float sum;
    CBX_SUM(sum, k, count, (y[k] - z[k]) * (y[k] - z[k]));
    return sum;
}

float cbx_length(int64_t count, const float *y)
{
    return sqrtf(square_sum(count, y));
}

float cbx_distance(int64_t count, const float *y, const float *z)
{
    return sqrtf(square_differences(count, y, z));
}
