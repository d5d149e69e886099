/* SPDX-License-Identifier: Apache-2.0 */
/* receptive.c: see receptive.h. */
#include "receptive.h"

bool cbx_receptive_needs_whole(const cbx_model *model)
{
    return model->task == CBX_NODE && cbx_model_sight(model) == CBX_SIGHT_BOTH_WAYS;
}

bool cbx_receptive_is_known(const cbx_model *model)
{
    return cbx_model_sight(model) != CBX_SIGHT_UNKNOWN;
}

cbx_status cbx_receptive_view(const cbx_model *model, const cbx_graph *graph, const cbx_view *whole,
                              int32_t node, int32_t most, cbx_arena *arena, cbx_view *view,
                              cbx_error *err)
{
    int32_t reach = cbx_model_reach(model) + 1, factual = cbx_model_factual_hops(model);
    return cbx_view_both_ways(graph, cbx_receptive_needs_whole(model) ? whole : NULL, node,
                              reach > factual ? reach : factual, most, arena, view, err);
}
