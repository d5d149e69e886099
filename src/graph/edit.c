/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c: applying edits. Removed edges are really gone, not given weight 0: for
 * some layers (a self-loop of gcn, a mean over edges) that is not the same. */
#include "edit.h"

#include <string.h>

#include "deadline.h"
#include "edit_kind.h"
#include "error.h"

/* Multiplications in the time of an edit, and of an edge that is copied. */
static const double EDIT = 200, COPY = 16;

int cbx_places_init(cbx_places *places, const cbx_view *view)
{
    *places = (cbx_places){.view = view};
    if (!view->node || view->graph_ptr)
        return 0;
    for (int32_t i = 0; i < view->n; i++)
        if (cbx_out_of_time_at(i, EDIT) || cbx_node_map_add(&places->map, view->node[i]) < 0) {
            cbx_places_free(places);
            return -1;
        }
    return 0;
}

void cbx_places_free(cbx_places *places)
{
    cbx_node_map_free(&places->map);
}

int32_t cbx_places_find(const cbx_places *places, int32_t node)
{
    const cbx_view *view = places->view;
    if (places->map.count)
        return cbx_node_map_find(&places->map, node);
    int64_t i = view->node ? (int64_t)node - view->node[0] : node;
    bool    there = i >= 0 && i < view->n && (!view->node || view->node[i] == node);
    return there ? (int32_t)i : -1;
}

int64_t cbx_view_find_target(const cbx_view *v, int32_t source, int32_t target)
{
    int64_t low = v->out_offset[source], high = v->out_offset[source + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (v->out_target[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

cbx_status cbx_edits_mark(const cbx_graph *graph, const cbx_places *places, const cbx_edit *edits,
                          int64_t count, uint8_t *drop, cbx_error *err)
{
    memset(drop, 0, (size_t)places->view->m);
    for (int64_t k = 0; k < count; k++) {
        if (cbx_out_of_time_at(k, EDIT))
            return cbx_fail_late(err);
        cbx_status status = cbx_edit_kind_check(&edits[k], k, err);
        if (!status)
            status = cbx_edit_kind_of(&edits[k])->mark(&edits[k], k, graph, places, drop, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

cbx_status cbx_view_without(const cbx_view *view, const uint8_t *drop, cbx_arena *arena,
                            cbx_view *out, cbx_error *err)
{
    *out = *view;
    int64_t *offset = CBX_NEW(arena, int64_t, (size_t)view->n + 1);
    int32_t *source = CBX_NEW(arena, int32_t, view->m);
    int64_t *edge = CBX_NEW(arena, int64_t, view->m);
    float   *weight = view->weight ? CBX_NEW(arena, float, view->m) : NULL;
    if (!offset || !source || !edge || (view->weight && !weight))
        return cbx_fail_memory(err);
    int64_t at = 0;
    for (int32_t i = 0; i < view->n; i++) {
        offset[i] = at;
        for (int64_t e = view->offset[i]; e < view->offset[i + 1]; e++) {
            if (cbx_out_of_time_at(e, COPY))
                return cbx_fail_late(err);
            if (drop[e])
                continue;
            source[at] = view->source[e];
            edge[at] = view->edge ? view->edge[e] : e;
            if (weight)
                weight[at] = view->weight[e];
            at++;
        }
    }
    offset[view->n] = at;
    out->m = at;
    out->offset = offset;
    out->source = source;
    out->edge = edge;
    out->weight = weight;
    return cbx_view_group_by_source(out, arena, err);
}
