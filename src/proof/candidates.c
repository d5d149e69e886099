/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c: see candidates.h. */
#include "candidates.h"

#include <string.h>

#include "deadline.h"
#include "error.h"

typedef struct filling {
    const cbx_view *from;
    const uint8_t  *touched;
    uint8_t        *linked; /* by pair of nodes, either way */
    int64_t        *offset;
    int32_t        *source;
    int64_t        *edge;
    float          *weight;
    uint8_t        *absent;
    int64_t         count;
} filling;

static void add(filling *f, bool writing, int32_t source, int64_t edge, float weight, bool absent)
{
    if (writing) {
        f->source[f->count] = source;
        f->edge[f->count] = edge;
        f->absent[f->count] = absent;
        if (f->weight)
            f->weight[f->count] = weight;
    }
    f->count++;
}

static void fill(filling *f, bool writing)
{
    const cbx_view *v = f->from;
    f->count = 0;
    for (int32_t i = 0; i < v->n; i++) {
        f->offset[i] = f->count;
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            add(f, writing, v->source[e], v->edge ? v->edge[e] : e, v->weight ? v->weight[e] : 1,
                false);
        for (int32_t u = 0; u < v->n && (!f->touched || f->touched[i]); u++)
            if (u != i && (!f->touched || f->touched[u]) && !f->linked[(int64_t)i * v->n + u])
                add(f, writing, u, -1, 1, true);
    }
    f->offset[v->n] = f->count;
}

static cbx_status build(filling *f, cbx_arena *arena, cbx_candidates *out, cbx_error *err)
{
    const cbx_view *v = f->from;
    int64_t         n = v->n;
    f->linked = CBX_NEW0(arena, uint8_t, n * n);
    f->offset = CBX_NEW(arena, int64_t, n + 1);
    if (!f->linked || !f->offset)
        return cbx_fail_memory(err);
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            f->linked[i * n + v->source[e]] = f->linked[v->source[e] * n + i] = 1;
    fill(f, false);
    f->source = CBX_NEW(arena, int32_t, f->count);
    f->edge = CBX_NEW(arena, int64_t, f->count);
    f->absent = CBX_NEW(arena, uint8_t, f->count);
    f->weight = v->weight ? CBX_NEW(arena, float, f->count) : NULL;
    if (!f->source || !f->edge || !f->absent || (v->weight && !f->weight))
        return cbx_fail_memory(err);
    fill(f, true);
    out->view.offset = f->offset;
    out->view.source = f->source;
    out->view.edge = f->edge;
    out->view.weight = f->weight;
    out->view.m = f->count;
    out->absent = f->absent;
    return cbx_view_group_by_source(&out->view, arena, err);
}

cbx_status cbx_candidates_find(const cbx_view *from, bool adds, const uint8_t *touched,
                               cbx_arena *arena, cbx_candidates *out, cbx_error *err)
{
    filling f = {.from = from, .touched = touched};
    *out = (cbx_candidates){.view = *from};
    if (adds)
        return build(&f, arena, out, err);
    out->absent = CBX_NEW0(arena, uint8_t, from->m);
    return out->absent ? CBX_OK : cbx_fail_memory(err);
}
