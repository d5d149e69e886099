/* SPDX-License-Identifier: Apache-2.0 */
/* ways.c: see ways.h. */
#include "ways.h"

#include "deadline.h"
#include "sort.h"

static int by_name(const void *a, const void *b)
{
    const cbx_way *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Both ways along every pair, by node and then by name. */
static int make_ways(cbx_ways *W, const cbx_search *s, const int64_t *slot_of,
                     const int32_t *target_of)
{
    const cbx_view *v = s->view;
    int64_t         count = 0;
    W->way = CBX_NEW(s->arena, cbx_way, 2 * W->pairs);
    W->from = CBX_NEW0(s->arena, int64_t, v->n + 1);
    if (!W->way || !W->from)
        return -1;
    for (int64_t p = 0; p < W->pairs; p++) {
        int32_t a = v->source[slot_of[p]], b = target_of[slot_of[p]];
        if (a == b)
            continue;
        W->way[count++] = (cbx_way){a, b, v->node ? v->node[b] : b, p};
        W->way[count++] = (cbx_way){b, a, v->node ? v->node[a] : a, p};
    }
    if (cbx_sort(W->way, count, sizeof *W->way, by_name, s->arena))
        return -1;
    for (int64_t k = 0; k < count; k++)
        W->from[W->way[k].node + 1]++;
    for (int32_t i = 0; i < v->n; i++)
        W->from[i + 1] += W->from[i];
    return 0;
}

/* The slots of each pair in the whole graph. A view's slots are in the same order. */
static int make_lost(cbx_ways *W, const cbx_search *s)
{
    const cbx_view  *v = s->view;
    const cbx_graph *g = s->graph;
    const double     slot_work = 30; /* multiplications in the time of one */
    W->lost_from = CBX_NEW0(s->arena, int64_t, W->pairs + 2);
    W->lost = CBX_NEW(s->arena, cbx_lost_edge, v->m);
    if (!W->lost_from || !W->lost)
        return -1;
    for (int64_t e = 0; e < v->m; e++) /* two places up, as in cbx_view_group_by_source */
        W->lost_from[W->pair_of[e] + 2]++;
    for (int64_t p = 0; p < W->pairs; p++)
        W->lost_from[p + 2] += W->lost_from[p + 1];
    for (int32_t i = 0; i < v->n; i++) {
        int32_t node = v->node ? v->node[i] : i;
        int64_t slot = g->in_offset[node];
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++, slot++) {
            if (cbx_out_of_time_at(e, slot_work))
                return -1;
            while (v->edge && cbx_graph_edge_id(g, slot) != v->edge[e])
                slot++;
            W->lost[W->lost_from[W->pair_of[e] + 1]++] = (cbx_lost_edge){slot, node};
        }
    }
    return 0;
}

/* The search's own numbers, or, where it takes edges one by one, new ones. */
static int number_pairs(cbx_ways *W, const cbx_search *s, const int64_t **slot_of)
{
    int64_t m = s->view->m;
    W->pairs = s->num_removable;
    W->pair_of = s->pair_of;
    *slot_of = s->slot_of;
    if (W->pair_of)
        return 0;
    int64_t *pair_of = CBX_NEW(s->arena, int64_t, m), *slots = CBX_NEW(s->arena, int64_t, m);
    W->pairs = pair_of && slots ? cbx_number_pairs(s->view, pair_of, slots) : -1;
    W->pair_of = pair_of;
    *slot_of = slots;
    return W->pairs < 0 ? -1 : 0;
}

int cbx_ways_init(cbx_ways *W, const cbx_search *s)
{
    const cbx_view *v = s->view;
    const int64_t  *slot_of;
    int32_t        *target_of = CBX_NEW(s->arena, int32_t, v->m);
    if (!target_of)
        return -1;
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++)
            target_of[e] = i;
    return number_pairs(W, s, &slot_of) || make_ways(W, s, slot_of, target_of) || make_lost(W, s)
               ? -1
               : 0;
}
