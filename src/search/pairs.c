/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c: see pairs.h.
 *
 * To be numbered, slots are sorted by the larger end and then by the smaller, by counting: a
 * complete graph has millions of them. */
#include "pairs.h"

#include <string.h>

#include "deadline.h"

/* Multiplications in the time of a step through memory that jumps. */
static const double JUMP = 30;

/* The nodes at a slot's ends, the smaller first. */
typedef struct ends {
    int32_t low, high;
} ends;

static ends ends_of(const cbx_view *v, const int32_t *target_of, int64_t e)
{
    int32_t i = target_of[e], j = v->source[e];
    return i < j ? (ends){i, j} : (ends){j, i};
}

/* Slots in the order of one of their ends, those with the same in the order of `from` (NULL: their
 * own). `begin`: n + 2 counters. -1: no time. */
static int sort_by(bool high, const cbx_view *v, const int32_t *target_of, const int64_t *from,
                   int64_t *begin, int64_t *to)
{
    memset(begin, 0, ((size_t)v->n + 2) * sizeof *begin);
    for (int64_t e = 0; e < v->m; e++) {
        ends pair = ends_of(v, target_of, e);
        if (cbx_out_of_time_at(e, JUMP))
            return -1;
        begin[(high ? pair.high : pair.low) + 2]++; /* two places up, as in group_by_source */
    }
    for (int32_t i = 0; i < v->n; i++)
        begin[i + 2] += begin[i + 1];
    for (int64_t k = 0; k < v->m; k++) {
        int64_t e = from ? from[k] : k;
        ends    pair = ends_of(v, target_of, e);
        if (cbx_out_of_time_at(k, JUMP))
            return -1;
        to[begin[(high ? pair.high : pair.low) + 1]++] = e;
    }
    return 0;
}

int32_t *cbx_pairs_targets(const cbx_view *view, cbx_arena *arena)
{
    int32_t *target_of = CBX_NEW(arena, int32_t, view->m);
    for (int32_t i = 0; target_of && i < view->n; i++)
        for (int64_t e = view->offset[i]; e < view->offset[i + 1]; e++)
            target_of[e] = i;
    return target_of;
}

static int64_t number_pairs(const cbx_view *view, int64_t *pair_of, int64_t *slot_of,
                            cbx_arena *arena)
{
    int32_t *target_of = cbx_pairs_targets(view, arena);
    int64_t *begin = CBX_NEW(arena, int64_t, (size_t)view->n + 2);
    int64_t *order = CBX_NEW(arena, int64_t, view->m);
    int64_t  pairs = 0;
    ends     last = {-1, -1};
    if (!target_of || !begin || !order)
        return -1;
    if (sort_by(true, view, target_of, NULL, begin, slot_of) ||
        sort_by(false, view, target_of, slot_of, begin, order))
        return -1;
    for (int64_t k = 0; k < view->m; k++) {
        ends pair = ends_of(view, target_of, order[k]);
        if (cbx_out_of_time_at(k, JUMP))
            return -1;
        if (pair.low != last.low || pair.high != last.high)
            slot_of[pairs++] = order[k];
        pair_of[order[k]] = pairs - 1;
        last = pair;
    }
    return pairs;
}

int64_t cbx_pairs_number(const cbx_view *view, int64_t *pair_of, int64_t *slot_of)
{
    cbx_arena work = {0};
    int64_t   pairs = number_pairs(view, pair_of, slot_of, &work);
    cbx_arena_free(&work);
    return pairs;
}

int cbx_pairs_of(const cbx_search *s, cbx_pairs *out)
{
    int64_t m = s->view->m;
    *out = (cbx_pairs){s->num_removable, s->pair_of, s->slot_of};
    if (out->pair_of)
        return 0;
    int64_t *pair_of = CBX_NEW(s->arena, int64_t, m), *slot_of = CBX_NEW(s->arena, int64_t, m);
    out->count = pair_of && slot_of ? cbx_pairs_number(s->view, pair_of, slot_of) : -1;
    out->pair_of = pair_of;
    out->slot_of = slot_of;
    return out->count < 0 ? -1 : 0;
}

int cbx_pairs_removed_at_once(const cbx_search *s, cbx_pairs *out)
{
    int64_t m = s->view->m, *itself;
    if (s->options->edges == CBX_EDGES_UNDIRECTED)
        return cbx_pairs_of(s, out);
    itself = CBX_NEW(s->arena, int64_t, m);
    for (int64_t e = 0; itself && e < m; e++)
        itself[e] = e;
    *out = (cbx_pairs){m, itself, itself};
    return itself ? 0 : -1;
}

int cbx_pairs_group(const cbx_pairs *pairs, int64_t num_slots, cbx_arena *arena, int64_t **begin,
                    int64_t **slots)
{
    int64_t *from = CBX_NEW0(arena, int64_t, pairs->count + 2);
    int64_t *to = CBX_NEW(arena, int64_t, num_slots);
    *begin = from;
    *slots = to;
    if (!from || !to)
        return -1;
    /* counts two places up, so that filling leaves every begin where it belongs */
    for (int64_t e = 0; e < num_slots; e++) {
        if (cbx_out_of_time_at(e, JUMP))
            return -1;
        from[pairs->pair_of[e] + 2]++;
    }
    for (int64_t p = 0; p < pairs->count; p++)
        from[p + 2] += from[p + 1];
    if (cbx_out_of_time((double)num_slots * JUMP))
        return -1;
    for (int64_t e = 0; e < num_slots; e++)
        to[from[pairs->pair_of[e] + 1]++] = e;
    return 0;
}
