/* SPDX-License-Identifier: Apache-2.0 */
/* settable.c: see settable.h. */
#include "settable.h"

#include <string.h>

float *cbx_view_settable_weights(cbx_view *view, cbx_arena *arena)
{
    float *weight = CBX_NEW(arena, float, view->m);
    for (int64_t e = 0; weight && e < view->m; e++)
        weight[e] = cbx_view_weight(view, e);
    view->set_weight = weight;
    return weight;
}

float *cbx_view_settable_attrs(cbx_view *view, cbx_arena *arena)
{
    size_t wide = (size_t)view->edge_dim;
    float *attr = CBX_NEW(arena, float, (size_t)view->m *wide);
    for (int64_t e = 0; attr && e < view->m; e++)
        memcpy(attr + (size_t)e * wide, cbx_view_attr(view, e), wide * sizeof *attr);
    view->set_attr = attr;
    return attr;
}
