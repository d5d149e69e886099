/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.c: see neighbours.h. */
#include "neighbours.h"

#include "deadline.h"
#include "error.h"
#include "order.h"

CBX_HOT
static float square_distance(int32_t width, const float *restrict a, const float *restrict b)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int32_t k = 0; k < width; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Or anything that grows with it: the distance itself is there in a fixed order, too. */
static float distance(int32_t width, const float *a, const float *b)
{
    return cbx_order_is_fixed() ? cbx_distance(width, a, b) : square_distance(width, a, b);
}

/* The nearest of all nodes, Euclid's way; of two at the same distance the first. */
static void find_nearest(const cbx_neighbours *N, int32_t *nearest)
{
    const cbx_patch *P = &N->patch;
    const float     *own = cbx_patch_row(P, N->node);
    int32_t          found = 0, n = P->E->view.n;
    const double     step = 20; /* multiplications in the time of the rest */
    for (int32_t i = 0; i < n; i++) {
        if (cbx_out_of_time(P->E->width + step))
            return;
        if (i == N->node)
            continue;
        float   d = distance(P->E->width, own, cbx_patch_row(P, i));
        int32_t at = found;
        if (found == N->count && !(d < N->distance[found - 1]))
            continue;
        for (at -= found == N->count; at > 0 && d < N->distance[at - 1]; at--) {
            N->distance[at] = N->distance[at - 1];
            nearest[at] = nearest[at - 1];
        }
        N->distance[at] = d;
        nearest[at] = i;
        found += found < N->count;
    }
}

cbx_status cbx_neighbours_init(cbx_neighbours *N, const cbx_embedding *E, int32_t node,
                               int64_t count, cbx_arena *arena, cbx_error *err)
{
    int32_t others = E->view.n - 1;
    *N = (cbx_neighbours){.node = node, .count = count < others ? (int32_t)count : others};
    cbx_status status = cbx_patch_init(&N->patch, E, arena, err);
    if (status)
        return status;
    N->before = CBX_NEW(arena, int32_t, N->count);
    N->after = CBX_NEW(arena, int32_t, N->count);
    N->distance = CBX_NEW(arena, float, N->count);
    if (!N->before || !N->after || !N->distance)
        return cbx_fail_memory(err);
    find_nearest(N, N->before);
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}

cbx_status cbx_neighbours_importance(cbx_neighbours *N, const cbx_lost_edge *edges, int64_t count,
                                     double *importance, cbx_error *err)
{
    int32_t    same = 0;
    cbx_status status = cbx_patch_remove(&N->patch, edges, count, err);
    if (status)
        return status;
    find_nearest(N, N->after);
    for (int32_t i = 0; i < N->count && !cbx_out_of_time(N->count); i++)
        for (int32_t k = 0; k < N->count; k++)
            same += N->before[i] == N->after[k];
    *importance = N->count ? 1 - (double)same / N->count : 0;
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}
