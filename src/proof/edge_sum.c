/* SPDX-License-Identifier: Apache-2.0 */
/* edge_sum.c: see edge_sum.h. */
#include "edge_sum.h"

int cbx_edge_sum_init(cbx_edge_sum *sum, int64_t count, cbx_arena *arena)
{
    *sum = (cbx_edge_sum){
        .add = CBX_NEW0(arena, double, count),
        .more = {CBX_NEW0(arena, double, count), CBX_NEW0(arena, double, count)},
        .list = CBX_NEW(arena, int32_t, count),
        .is_listed = CBX_NEW0(arena, uint8_t, count),
    };
    return sum->add && sum->more[0] && sum->more[1] && sum->list && sum->is_listed ? 0 : -1;
}

void cbx_edge_sum_begin(cbx_edge_sum *sum, const cbx_node_scale *scale)
{
    sum->kept = scale->whole && scale->removals > 0;
    sum->now = 0;
}

static void clear(cbx_edge_sum *sum)
{
    for (int64_t k = 0; k < sum->count; k++) {
        int32_t c = sum->list[k];
        sum->add[c] = sum->more[0][c] = sum->more[1][c] = 0;
        sum->is_listed[c] = 0;
    }
    sum->count = 0;
    sum->kept = false;
}

static void add_gains(const cbx_edge_sum *sum, const cbx_spread *s, const cbx_node_scale *scale,
                      int32_t v, const double *more, double *gain)
{
    const cbx_partial_graph *g = s->graph;
    int64_t                  most = g->budget < g->count ? g->budget : g->count;
    cbx_largest              largest = {.best = s->best, .count = most};
    for (int64_t k = 0; k < sum->count; k++) { /* one of the budget is an edge */
        int32_t c = sum->list[k];
        for (int64_t r = cbx_row_moves_repeats(&s->moves, c, most - 1); r > 0; r--)
            cbx_largest_take(&largest, sum->add[c] + more[c]);
    }
    double all = cbx_largest_sum(&largest), rest = cbx_largest_rest(&largest);
    for (int64_t k = g->at_begin[v]; k < g->at_begin[v + 1]; k++) {
        int32_t c = g->at[k];
        double  own = sum->add[c] + more[c];
        if (cbx_choice_is_open(g, c))
            gain[c] += cbx_scale_whole_gain(scale, sum->now + own + cbx_beside(all, rest, own));
    }
}

void cbx_edge_sum_end(cbx_edge_sum *sum, const cbx_spread *s, const cbx_node_scale *scale,
                      int32_t v, bool both, double *const gain[2])
{
    if (!sum->kept)
        return;
    for (int k = 0; k < 1 + both; k++)
        add_gains(sum, s, scale, v, sum->more[k], gain[k]);
    clear(sum);
}
