/* SPDX-License-Identifier: Apache-2.0 */
/* builder_edges.c: edges made simple, made to go both ways, and sorted, in
 * O(nodes + edges): two stable counting sorts, the second key first. */
#include <string.h>

#include "graph_builder.h"
#include "error.h"

static void drop_loops(cbx_graph_builder *d)
{
    size_t to = 0;
    for (size_t e = 0; e < d->source.count; e++) {
        if (d->source.at[e] == d->target.at[e])
            continue;
        d->source.at[to] = d->source.at[e];
        d->target.at[to] = d->target.at[e];
        if (d->weight.count)
            d->weight.at[to] = d->weight.at[e];
        to++;
    }
    d->source.count = d->target.count = to;
    if (d->weight.count)
        d->weight.count = to;
}

/* order[] sorted by key[], stable. */
static void counting_sort(const int64_t *key, size_t m, int64_t n, int64_t *start,
                          const int64_t *order, int64_t *sorted)
{
    memset(start, 0, (size_t)(n + 1) * sizeof *start);
    for (size_t e = 0; e < m; e++)
        start[key[e] + 1]++;
    for (int64_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    for (size_t k = 0; k < m; k++) {
        int64_t e = order ? order[k] : (int64_t)k;
        sorted[start[key[e]]++] = e;
    }
}

typedef struct sorter {
    int64_t *start, *first, *second;
} sorter;

static bool sorter_init(sorter *s, size_t m, int64_t n)
{
    s->start = malloc((size_t)(n + 2) * sizeof *s->start);
    s->first = malloc((m + 1) * sizeof *s->first);
    s->second = malloc((m + 1) * sizeof *s->second);
    return s->start && s->first && s->second;
}

static void sorter_free(sorter *s)
{
    free(s->start);
    free(s->first);
    free(s->second);
}

static bool permute(cbx_longs *v, const int64_t *order, size_t count)
{
    int64_t *to = malloc((count + 1) * sizeof *to);
    if (!to)
        return false;
    for (size_t k = 0; k < count; k++)
        to[k] = v->at[order[k]];
    free(v->at);
    *v = (cbx_longs){to, count, count + 1};
    return true;
}

/* By `major`, then `minor`; of the same pair only the first stays. */
static bool sort_and_merge(cbx_graph_builder *d, const cbx_longs *major, const cbx_longs *minor)
{
    size_t m = d->source.count, kept = 0;
    sorter s = {0};
    bool   ok = sorter_init(&s, m, d->num_nodes);
    if (ok) {
        counting_sort(minor->at, m, d->num_nodes, s.start, NULL, s.first);
        counting_sort(major->at, m, d->num_nodes, s.start, s.first, s.second);
        for (size_t k = 0; k < m; k++) {
            int64_t e = s.second[k], p = kept ? s.second[kept - 1] : -1;
            if (p < 0 || major->at[p] != major->at[e] || minor->at[p] != minor->at[e])
                s.second[kept++] = e;
        }
        if (d->weight.count) {
            float *weight = malloc((kept + 1) * sizeof *weight);
            ok = weight != NULL;
            for (size_t k = 0; ok && k < kept; k++)
                weight[k] = d->weight.at[s.second[k]];
            if (ok) {
                free(d->weight.at);
                d->weight = (cbx_floats){weight, kept, kept + 1};
            }
        }
        ok = ok && permute(&d->source, s.second, kept) && permute(&d->target, s.second, kept);
    }
    sorter_free(&s);
    return ok;
}

/* Adds u -> v behind the others for every v -> u that has none; the edges there
 * keep their places. */
static bool add_reverses(cbx_graph_builder *d)
{
    size_t m = d->source.count;
    sorter s = {0}, r = {0};
    bool   weighted = d->weight.count > 0;
    bool   ok = sorter_init(&s, m, d->num_nodes) && sorter_init(&r, m, d->num_nodes);
    if (ok) {
        /* Once by (source, target) and once by (target, source): walking both lists
         * side by side meets each edge and its reverse together. */
        counting_sort(d->target.at, m, d->num_nodes, s.start, NULL, s.first);
        counting_sort(d->source.at, m, d->num_nodes, s.start, s.first, s.second);
        counting_sort(d->source.at, m, d->num_nodes, r.start, NULL, r.first);
        counting_sort(d->target.at, m, d->num_nodes, r.start, r.first, r.second);
    }
    uint8_t *lonely = ok ? calloc(m + 1, 1) : NULL;
    ok = ok && lonely;
    for (size_t i = 0, j = 0; ok && j < m; j++) {
        int64_t e = r.second[j], a = d->target.at[e], b = d->source.at[e]; /* wanted: a -> b */
        while (i < m && (d->source.at[s.second[i]] < a ||
                         (d->source.at[s.second[i]] == a && d->target.at[s.second[i]] < b)))
            i++;
        bool there = i < m && d->source.at[s.second[i]] == a && d->target.at[s.second[i]] == b;
        lonely[e] = !there;
    }
    for (size_t e = 0; ok && e < m; e++)
        if (lonely[e])
            ok = cbx_graph_builder_edge(d, d->target.at[e], d->source.at[e]) &&
                 (!weighted || cbx_floats_add(&d->weight, d->weight.at[e]));
    free(lonely);
    sorter_free(&s);
    sorter_free(&r);
    return ok;
}

cbx_status cbx_graph_builder_order_edges(cbx_graph_builder *d, cbx_error *err)
{
    int rules = d->edge_rules;
    for (size_t e = 0; e < d->source.count; e++) /* the sorts rely on it */
        if (d->source.at[e] < 0 || d->source.at[e] >= d->num_nodes || d->target.at[e] < 0 ||
            d->target.at[e] >= d->num_nodes)
            return cbx_fail(
                err, CBX_INVALID,
                "edge %lld (%lld -> %lld) points outside the graph: nodes are 0 to %lld",
                (long long)e, (long long)d->source.at[e], (long long)d->target.at[e],
                (long long)d->num_nodes - 1);
    if (d->weight.count && d->weight.count != d->source.count)
        return cbx_fail(err, CBX_INVALID, "%lld weights for %lld edges", (long long)d->weight.count,
                        (long long)d->source.count);
    if (rules & CBX_EDGES_NO_LOOPS)
        drop_loops(d);
    if ((rules & CBX_EDGES_BOTH_WAYS) && !add_reverses(d))
        return cbx_fail_memory(err);
    if ((rules & CBX_EDGES_BY_SOURCE) && !sort_and_merge(d, &d->source, &d->target))
        return cbx_fail_memory(err);
    if ((rules & CBX_EDGES_BY_TARGET) && !sort_and_merge(d, &d->target, &d->source))
        return cbx_fail_memory(err);
    d->edge_rules = 0;
    return CBX_OK;
}
