/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.c: see bounds.h. */
#include "bounds.h"

#include <math.h>

static bool is_whole(float x)
{
    return x == rintf(x);
}

/* Marks the features that have a value with a fraction somewhere. */
static void mark_fractions(const cbx_graph_data *d, uint8_t *has_fraction)
{
    int64_t      count = d->x ? (int64_t)d->num_nodes * d->num_features : d->x_indptr[d->num_nodes];
    const float *values = d->x ? d->x : d->x_values;
    for (int64_t k = 0; k < count; k++)
        if (!is_whole(values[k]))
            has_fraction[d->x ? k % d->num_features : d->x_indices[k]] = 1;
}

int cbx_bounds_round(const cbx_graph_data *d, const uint8_t *discrete, float *lo, float *hi,
                     cbx_arena *arena)
{
    uint8_t *has_fraction = NULL;
    for (int32_t j = 0; j < d->num_features; j++) {
        if (!discrete[j] || (is_whole(lo[j]) && is_whole(hi[j])))
            continue;
        if (!has_fraction) { /* all values are looked at only where that counts */
            has_fraction = CBX_NEW0(arena, uint8_t, d->num_features);
            if (!has_fraction)
                return -1;
            mark_fractions(d, has_fraction);
        }
        if (has_fraction[j])
            continue;
        lo[j] = ceilf(lo[j]);
        hi[j] = floorf(hi[j]);
    }
    return 0;
}
