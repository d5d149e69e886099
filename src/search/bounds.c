/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.c: see bounds.h. */
#include "bounds.h"

#include <math.h>

static bool is_whole(float x)
{
    return x == rintf(x);
}

uint8_t *cbx_bounds_fractions(const cbx_graph_data *d, cbx_arena *arena)
{
    uint8_t     *has_fraction = CBX_NEW0(arena, uint8_t, d->num_features);
    int64_t      count = d->x ? (int64_t)d->num_nodes * d->num_features : d->x_indptr[d->num_nodes];
    const float *values = d->x ? d->x : d->x_values;
    for (int64_t k = 0; k < count && has_fraction; k++)
        if (!is_whole(values[k]))
            has_fraction[d->x ? k % d->num_features : d->x_indices[k]] = 1;
    return has_fraction;
}

int cbx_bounds_round(const cbx_graph_data *d, const uint8_t *discrete, float *lo, float *hi,
                     cbx_arena *arena)
{
    uint8_t *has_fraction = NULL;
    for (int32_t j = 0; j < d->num_features; j++) {
        if (!discrete[j] || (is_whole(lo[j]) && is_whole(hi[j])))
            continue;
        if (!has_fraction) /* all values are looked at only where that counts */
            has_fraction = cbx_bounds_fractions(d, arena);
        if (!has_fraction)
            return -1;
        if (has_fraction[j])
            continue;
        lo[j] = ceilf(lo[j]);
        hi[j] = floorf(hi[j]);
    }
    return 0;
}
