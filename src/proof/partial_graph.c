/* SPDX-License-Identifier: Apache-2.0 */
/* partial_graph.c: see partial_graph.h. */
#include "partial_graph.h"

#include <string.h>

#include "error.h"

cbx_status cbx_partial_graph_init(cbx_partial_graph *g, const cbx_view *view, const uint8_t *absent,
                                  int64_t choices, int64_t slots, cbx_arena *arena, cbx_error *err)
{
    *g = (cbx_partial_graph){.view = view};
    g->target_of = CBX_NEW(arena, int32_t, view->m);
    g->present = CBX_NEW(arena, uint8_t, view->m);
    g->choice_of = CBX_NEW(arena, int32_t, view->m);
    g->paired = CBX_NEW0(arena, uint8_t, view->m);
    g->choices = CBX_NEW(arena, cbx_choice, choices);
    g->fate = CBX_NEW0(arena, uint8_t, choices);
    g->slots = CBX_NEW(arena, int64_t, slots);
    g->local = CBX_NEW(arena, int64_t, view->n);
    if (!g->target_of || !g->present || !g->choice_of || !g->paired || !g->choices || !g->fate ||
        !g->slots || !g->local)
        return cbx_fail_memory(err);
    for (int32_t v = 0; v < view->n; v++) {
        g->local[v] = INT64_MAX;
        for (int64_t e = view->offset[v]; e < view->offset[v + 1]; e++) {
            g->target_of[e] = v;
            g->present[e] = !absent || !absent[e];
            g->choice_of[e] = -1;
        }
    }
    return CBX_OK;
}

void cbx_partial_graph_add(cbx_partial_graph *g, const int64_t *slots, int64_t count, int32_t end_a,
                           int32_t end_b, bool adds)
{
    int64_t begin = g->count ? g->choices[g->count - 1].end : 0;
    memcpy(g->slots + begin, slots, (size_t)count * sizeof *slots);
    for (int64_t k = 0; k < count; k++)
        g->choice_of[slots[k]] = g->count;
    g->choices[g->count++] = (cbx_choice){.begin = begin,
                                          .end = begin + count,
                                          .ends = {end_a, end_b},
                                          .adds = adds,
                                          .row = -1,
                                          .column = -1,
                                          .other = -1};
}

void cbx_partial_graph_add_feature(cbx_partial_graph *g, int32_t row, int32_t column, int32_t other,
                                   float low, float high)
{
    int64_t begin = g->count ? g->choices[g->count - 1].end : 0;
    g->choices[g->count++] = (cbx_choice){.begin = begin,
                                          .end = begin,
                                          .ends = {row, row},
                                          .row = row,
                                          .column = column,
                                          .other = other,
                                          .low = low,
                                          .high = high};
}

static void find_pairs(cbx_partial_graph *g)
{
    const cbx_view *v = g->view;
    for (int64_t e = 0; e < v->m; e++) {
        int32_t from = v->source[e], to = g->target_of[e];
        for (int64_t k = v->offset[from]; k < v->offset[from + 1]; k++)
            if (v->source[k] == to && g->choice_of[k] == g->choice_of[e] &&
                g->present[k] == g->present[e])
                g->paired[e] = true;
    }
}

/* `last`: by node, scratch. */
static bool is_simple(const cbx_partial_graph *g, int32_t *last)
{
    const cbx_view *v = g->view;
    for (int32_t i = 0; i < v->n; i++)
        last[i] = -1;
    for (int64_t e = 0; e < v->m; e++) {
        if (last[v->source[e]] == g->target_of[e])
            return false;
        last[v->source[e]] = g->target_of[e];
    }
    return true;
}

cbx_status cbx_partial_graph_ready(cbx_partial_graph *g, cbx_arena *arena, cbx_error *err)
{
    int64_t total = g->count ? g->choices[g->count - 1].end : 0;
    g->at_begin = CBX_NEW0(arena, int64_t, g->view->n + 1);
    g->at = CBX_NEW(arena, int32_t, total);
    if (!g->at_begin || !g->at)
        return cbx_fail_memory(err);
    int32_t *last = CBX_NEW(arena, int32_t, g->view->n);
    if (!last)
        return cbx_fail_memory(err);
    find_pairs(g);
    g->simple = is_simple(g, last);
    for (int64_t k = 0; k < total; k++)
        g->at_begin[g->target_of[g->slots[k]] + 1]++;
    for (int32_t v = 0; v < g->view->n; v++)
        g->at_begin[v + 1] += g->at_begin[v];
    for (int32_t c = g->count - 1; c >= 0; c--) /* backwards, as places are filled from behind */
        for (int64_t k = g->choices[c].begin; k < g->choices[c].end; k++)
            g->at[--g->at_begin[g->target_of[g->slots[k]] + 1]] = c;
    /* what began at v + 1 now begins there less its count, which is where v's begin */
    memmove(g->at_begin, g->at_begin + 1, (size_t)g->view->n * sizeof *g->at_begin);
    g->at_begin[g->view->n] = total;
    return CBX_OK;
}

cbx_status cbx_partial_graph_copy(cbx_partial_graph *to, const cbx_partial_graph *from,
                                  cbx_arena *arena, cbx_error *err)
{
    *to = *from;
    to->present = CBX_NEW(arena, uint8_t, from->view->m);
    to->fate = CBX_NEW(arena, uint8_t, from->count);
    to->local = CBX_NEW(arena, int64_t, from->view->n);
    if (!to->present || !to->fate || !to->local)
        return cbx_fail_memory(err);
    memcpy(to->present, from->present, (size_t)from->view->m * sizeof *to->present);
    memcpy(to->fate, from->fate, (size_t)from->count * sizeof *to->fate);
    memcpy(to->local, from->local, (size_t)from->view->n * sizeof *to->local);
    return CBX_OK;
}

static void set(cbx_partial_graph *g, int32_t choice, bool made)
{
    const cbx_choice *c = &g->choices[choice];
    int64_t           back = made ? -1 : 1;
    g->fate[choice] = made ? CBX_MADE : CBX_FREE;
    g->budget += back;
    g->local[c->ends[0]] += back;
    if (c->ends[1] != c->ends[0])
        g->local[c->ends[1]] += back;
    for (int64_t k = c->begin; k < c->end; k++)
        g->present[g->slots[k]] = made == c->adds;
}

void cbx_partial_graph_make(cbx_partial_graph *g, int32_t choice)
{
    set(g, choice, true);
}

void cbx_partial_graph_unmake(cbx_partial_graph *g, int32_t choice)
{
    set(g, choice, false);
}

void cbx_partial_graph_settle(cbx_partial_graph *g, const uint8_t *fate)
{
    for (int32_t c = 0; c < g->count; c++) {
        if (g->fate[c] == CBX_MADE && fate[c] != CBX_MADE)
            set(g, c, false);
        else if (g->fate[c] != CBX_MADE && fate[c] == CBX_MADE)
            set(g, c, true);
        g->fate[c] = fate[c];
    }
}
