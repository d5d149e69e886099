/* SPDX-License-Identifier: Apache-2.0 */
/* edge_columns.c: see edge_columns.h. */
#include "edge_columns.h"

#include <math.h>

int32_t cbx_edge_row_kind(const float *row, int32_t count)
{
    int32_t on = -1;
    for (int32_t j = 0; j < count; j++) {
        if (row[j] == 0)
            continue;
        if (row[j] != 1 || on >= 0)
            return -1;
        on = j;
    }
    return on;
}

const cbx_edge_columns *cbx_edge_columns_find(const cbx_graph_data *d, cbx_arena *arena)
{
    cbx_edge_columns *c = CBX_NEW(arena, cbx_edge_columns, 1);
    size_t            wide = (size_t)d->edge_dim;
    if (!c)
        return NULL;
    *c = (cbx_edge_columns){.count = d->edge_dim,
                            .one_hot = d->edge_dim > 1,
                            .lo = CBX_NEW0(arena, float, wide),
                            .hi = CBX_NEW0(arena, float, wide),
                            .whole = CBX_NEW(arena, uint8_t, wide)};
    if (!c->lo || !c->hi || !c->whole)
        return NULL;
    for (size_t j = 0; j < wide; j++)
        c->whole[j] = 1;
    for (int64_t e = 0; e < d->num_edges; e++) {
        const float *row = d->edge_attr + (size_t)e * wide;
        c->one_hot = c->one_hot && cbx_edge_row_kind(row, d->edge_dim) >= 0;
        for (size_t j = 0; j < wide; j++) {
            c->lo[j] = e ? fminf(c->lo[j], row[j]) : row[j];
            c->hi[j] = e ? fmaxf(c->hi[j], row[j]) : row[j];
            c->whole[j] = c->whole[j] && row[j] == rintf(row[j]);
        }
    }
    return c;
}

int64_t cbx_edge_column_values(const cbx_edge_columns *c, int32_t j, bool *all)
{
    double span = (double)c->hi[j] - c->lo[j];
    *all = c->one_hot || (c->whole[j] && span < CBX_EDGE_VALUES) || span == 0;
    if (c->one_hot)
        return c->hi[j] == 1 ? 1 : 0; /* a kind that no edge has is none */
    return *all ? (int64_t)span + 1 : 2;
}

float cbx_edge_column_value(const cbx_edge_columns *c, int32_t j, int64_t k)
{
    bool all;
    (void)cbx_edge_column_values(c, j, &all);
    if (c->one_hot)
        return 1;
    return all ? c->lo[j] + (float)k : k ? c->hi[j] : c->lo[j];
}

bool cbx_edge_column_takes(const cbx_edge_columns *c, int32_t j, float value)
{
    return j >= 0 && j < c->count && value >= c->lo[j] && value <= c->hi[j] &&
           (!c->whole[j] || value == rintf(value)) && (!c->one_hot || value == 1);
}

float cbx_edit_attribute_before(const cbx_edit *e, const cbx_graph_data *d)
{
    int64_t wide = d->edge_dim, j = cbx_edit_column(e);
    for (int64_t k = 0; d->edge_attr && j >= 0 && j < wide && k < d->num_edges; k++) {
        bool forth = d->edge_source[k] == e->source && d->edge_target[k] == e->target;
        bool back = d->edge_source[k] == e->target && d->edge_target[k] == e->source;
        if (e->undirected ? forth || back : forth && (e->edge < 0 || e->edge == k))
            return d->edge_attr[k * wide + j];
    }
    return NAN;
}
