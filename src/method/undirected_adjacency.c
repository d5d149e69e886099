/* SPDX-License-Identifier: Apache-2.0 */
/* undirected_adjacency.c: see undirected_adjacency.h. */
#include "undirected_adjacency.h"

#include "deadline.h"
#include "project.h"
#include "sort.h"

static int by_name(const void *a, const void *b)
{
    const cbx_way *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Both ways along every pair, by node and then by name. */
static int make_adjacency(cbx_undirected_adjacency *W, const cbx_search *s, const int64_t *slot_of,
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
        if (a == b || (cbx_project_is_needed(s) && !cbx_project_may_go(s, a, b)))
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

/* The edges of each pair in the whole graph. A view's slots are in the same order. */
static int make_lost(cbx_undirected_adjacency *W, const cbx_search *s, const cbx_pairs *pairs)
{
    const cbx_view  *v = s->view;
    const cbx_graph *g = s->graph;
    const double     slot_work = 30; /* multiplications in the time of one */
    int64_t         *slots;
    cbx_lost_edge   *edges = CBX_NEW(s->arena, cbx_lost_edge, v->m); /* by slot of the view */
    W->lost = CBX_NEW(s->arena, cbx_lost_edge, v->m);
    if (!edges || !W->lost || cbx_pairs_group(pairs, v->m, s->arena, &W->lost_from, &slots))
        return -1;
    for (int32_t i = 0; i < v->n; i++) {
        int32_t node = v->node ? v->node[i] : i;
        int64_t slot = g->in_offset[node];
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++, slot++) {
            if (cbx_out_of_time_at(e, slot_work))
                return -1;
            while (v->edge && cbx_graph_edge_id(g, slot) != v->edge[e])
                slot++;
            edges[e] = (cbx_lost_edge){slot, node};
        }
    }
    for (int64_t k = 0; k < v->m; k++)
        W->lost[k] = edges[slots[k]];
    return 0;
}

int cbx_undirected_adjacency_init(cbx_undirected_adjacency *W, const cbx_search *s)
{
    cbx_pairs pairs;
    int32_t  *target_of = cbx_pairs_targets(s->view, s->arena);
    if (!target_of || cbx_pairs_of(s, &pairs))
        return -1;
    W->pairs = pairs.count;
    W->pair_of = pairs.pair_of;
    return make_adjacency(W, s, pairs.slot_of, target_of) || make_lost(W, s, &pairs) ? -1 : 0;
}
