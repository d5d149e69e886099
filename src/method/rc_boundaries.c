/* SPDX-License-Identifier: Apache-2.0 */
/* rc_boundaries.c: see rc_boundaries.h. */
#include "rc_boundaries.h"

#include <string.h>

#include "deadline.h"
#include "error.h"
#include "rng.h"
#include "sort.h"

/* Scores are linear in the embedding, and log-probabilities differ from them by the same number in
 * all classes of a row: on the straight way between two rows the largest is that of their mixture.
 */
int32_t cbx_rc_walk(const cbx_rc_rows *rows, int32_t from, int32_t to)
{
    enum { STEPS = 64 }; /* what is left of the way is a thousandth */
    const float *a = rows->logp[from], *b = rows->logp[to];
    double       stays = 1;
    for (int step = 0; step < STEPS; step++) {
        int32_t best = -1;
        double  most = 0;
        stays *= 0.9;
        if (cbx_out_of_time(2.0 * rows->num_classes))
            return -1;
        for (int32_t c = 0; c < rows->num_classes; c++) {
            double score = stays * (double)a[c] + (1 - stays) * (double)b[c];
            if (best < 0 || score > most) {
                best = c;
                most = score;
            }
        }
        if (best != rows->class_of[from])
            return best;
    }
    return -1;
}

static int by_classes(const void *a, const void *b)
{
    const cbx_rc_boundary *x = a, *y = b;
    if (x->own != y->own)
        return x->own < y->own ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* Every boundary that some walk met, once, in order. Returns their number; -1: memory or time. */
static int64_t meet(const cbx_rc_rows *rows, int64_t walks, uint64_t seed, cbx_arena *arena,
                    cbx_rc_boundary *met)
{
    int64_t count = 0, kept = 0;
    for (int32_t i = 0; i < rows->count; i++) {
        cbx_rng rng = cbx_rng_stream(seed, (uint64_t)i, 0, 0);
        for (int64_t k = 0; k < walks && rows->class_of[i] >= 0; k++) {
            int32_t to = (int32_t)cbx_rng_below(&rng, (uint64_t)rows->count);
            if (rows->class_of[to] < 0 || rows->class_of[to] == rows->class_of[i])
                continue;
            int32_t other = cbx_rc_walk(rows, i, to);
            if (other >= 0)
                met[count++] = (cbx_rc_boundary){rows->class_of[i], other};
        }
    }
    if (cbx_time_is_up() || cbx_sort(met, count, sizeof *met, by_classes, arena))
        return -1;
    for (int64_t k = 0; k < count; k++)
        if (kept == 0 || by_classes(&met[kept - 1], &met[k]) != 0)
            met[kept++] = met[k];
    return kept;
}

/* Is the row on the class's side? */
static bool inside(const cbx_rc_rows *rows, int32_t place, const cbx_rc_boundary *b)
{
    return rows->logp[place][b->own] > rows->logp[place][b->other];
}

/* How many of the rows that are left the boundary shuts out. */
static int32_t shuts_out(const cbx_rc_rows *rows, const uint8_t *left, const cbx_rc_boundary *b)
{
    int32_t count = 0;
    for (int32_t i = 0; i < rows->count && !cbx_out_of_time_at(i, 4); i++)
        count += left[i] && !inside(rows, i, b);
    return count;
}

/* Of the candidates of one class, those that are needed come first, in the order in which they
 * were chosen: each shuts most of the rows of other classes out that are left. A linear boundary
 * of c cuts no row of c off, so that nothing weighs against one. Returns how many are needed. */
static int64_t cover(const cbx_rc_rows *rows, cbx_rc_boundary *candidates, int64_t count,
                     uint8_t *left)
{
    int64_t chosen = 0;
    for (int32_t i = 0; i < rows->count; i++)
        left[i] = rows->class_of[i] >= 0 && rows->class_of[i] != candidates[0].own;
    for (; chosen < count; chosen++) {
        int64_t best = -1;
        int32_t most = 0;
        for (int64_t k = chosen; k < count; k++) {
            int32_t gone = shuts_out(rows, left, &candidates[k]);
            if (gone > most) {
                most = gone;
                best = k;
            }
        }
        if (best < 0)
            break;
        cbx_rc_boundary b = candidates[best];
        memmove(candidates + chosen + 1, candidates + chosen,
                (size_t)(best - chosen) * sizeof *candidates);
        candidates[chosen] = b;
        for (int32_t i = 0; i < rows->count; i++)
            left[i] = left[i] && inside(rows, i, &b);
    }
    return chosen;
}

cbx_status cbx_rc_boundaries_find(const cbx_rc_rows *rows, int64_t walks, uint64_t seed,
                                  cbx_arena *arena, cbx_rc_boundaries *out, cbx_error *err)
{
    cbx_rc_boundary *list = CBX_NEW(arena, cbx_rc_boundary, rows->count * walks);
    uint8_t         *left = CBX_NEW(arena, uint8_t, rows->count);
    *out = (cbx_rc_boundaries){.list = list};
    if (!list || !left)
        return cbx_fail_memory(err);
    int64_t met = meet(rows, walks, seed, arena, list);
    if (met < 0)
        return cbx_fail_late(err);
    for (int64_t begin = 0, end; begin < met; begin = end) {
        for (end = begin; end < met && list[end].own == list[begin].own;)
            end++;
        int64_t needed = cover(rows, list + begin, end - begin, left);
        memmove(list + out->count, list + begin, (size_t)needed * sizeof *list);
        out->count += needed;
    }
    return cbx_time_is_up() ? cbx_fail_late(err) : CBX_OK;
}

int64_t cbx_rc_boundaries_of(const cbx_rc_boundaries *all, int32_t own, int64_t *begin)
{
    int64_t from = 0, to;
    while (from < all->count && all->list[from].own < own)
        from++;
    for (to = from; to < all->count && all->list[to].own == own;)
        to++;
    *begin = from;
    return to - from;
}
