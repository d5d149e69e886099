/* SPDX-License-Identifier: Apache-2.0 */
/* walk_gains.c: see walk_gains.h. */
#include "walk_gains.h"

#include <math.h>
#include <string.h>

#include "error.h"
#include "spread_parts.h"

/* Which leaves a node is, and where they are. */
static cbx_status list_leaves(cbx_walk_gains *g, cbx_arena *arena, cbx_error *err)
{
    const cbx_walks *w = g->walks;
    g->leaf_begin = CBX_NEW0(arena, int64_t, w->n + 2);
    g->leaves = CBX_NEW(arena, int32_t, w->num_leaves + 1);
    g->kid_above = CBX_NEW(arena, int32_t, w->num_leaves + 1);
    if (!g->leaf_begin || !g->leaves || !g->kid_above)
        return cbx_fail_memory(err);
    for (int32_t k = 0; k < w->num_kids; k++)
        for (int32_t i = w->kids[k].begin; i < w->kids[k].begin + w->kids[k].count; i++) {
            g->kid_above[i] = k;
            g->leaf_begin[w->leaves[i].node + 2]++;
        }
    for (int32_t i = 0; i < w->n; i++)
        g->leaf_begin[i + 2] += g->leaf_begin[i + 1];
    for (int32_t i = 0; i < w->num_leaves; i++)
        g->leaves[g->leaf_begin[w->leaves[i].node + 1]++] = i;
    return CBX_OK;
}

cbx_status cbx_walk_gains_init(cbx_walk_gains *g, const cbx_walks *w, cbx_arena *arena,
                               cbx_error *err)
{
    int64_t n = w->n, ends = 2 * (int64_t)w->graph->count, steps = CBX_WALK_STEPS;
    double *by_node = CBX_NEW(arena, double, n *(7 + 2 * steps));
    double *by_end = CBX_NEW(arena, double, ends *(4 + 2 * steps));
    double *by_row = CBX_NEW(arena, double, 2 * steps * w->num_rows);
    *g = (cbx_walk_gains){.walks = w,
                          .row_of = CBX_NEW(arena, int32_t, n),
                          .root_of = CBX_NEW(arena, int32_t, n),
                          .tops = CBX_NEW(arena, double, ends *steps *steps),
                          .touched = CBX_NEW(arena, int32_t, w->graph->count),
                          .kid_of = CBX_NEW(arena, int32_t, ends),
                          .apart = CBX_NEW(arena, double, steps *(w->num_kids + 1))};
    if (!by_node || !by_end || !by_row || !g->row_of || !g->root_of || !g->tops || !g->touched ||
        !g->kid_of || !g->apart)
        return cbx_fail_memory(err);
    double **of_node[] = {&g->kid[0], &g->kid[1], &g->kid[2], &g->leaf, &g->rising, &g->lowered};
    for (size_t k = 0; k < sizeof of_node / sizeof *of_node; k++, by_node += n)
        *of_node[k] = by_node;
    g->lost = by_node;
    g->largest = by_node + n;
    g->refund = by_node + (1 + steps) * n;
    g->nodes = CBX_NEW(arena, int32_t, w->num_leaves + 1);
    if (!g->nodes)
        return cbx_fail_memory(err);
    cbx_clear(g->lost, n);
    g->cut = by_end;
    g->with_leaf = by_end + ends;
    g->piece = by_end + 2 * ends;
    g->loop_leaf = by_end + 3 * ends;
    g->with_kid = by_end + 4 * ends;
    g->with_rows = by_end + (4 + steps) * ends;
    g->together = by_row;
    g->all_apart = by_row + steps * w->num_rows;
    return list_leaves(g, arena, err);
}

static void clear(cbx_walk_gains *g)
{
    const cbx_walks *w = g->walks;
    int64_t          n = w->n, ends = 2 * (int64_t)w->graph->count, steps = CBX_WALK_STEPS;
    for (int k = 0; k < 3; k++)
        cbx_clear(g->kid[k], n);
    cbx_clear(g->leaf, n);
    cbx_clear(g->rising, n);
    cbx_clear(g->lowered, n);
    cbx_clear(g->refund, n * steps);
    cbx_clear(g->cut, ends);
    cbx_clear(g->with_leaf, ends);
    cbx_clear(g->piece, ends);
    cbx_clear(g->loop_leaf, ends);
    cbx_clear(g->with_kid, ends * steps);
    cbx_clear(g->with_rows, ends * steps);
    cbx_clear(g->apart, steps * w->num_kids);
    cbx_clear(g->together, steps * w->num_rows);
    cbx_clear(g->all_apart, steps * w->num_rows);
    for (int32_t i = 0; i < w->n; i++)
        g->row_of[i] = g->root_of[i] = -1;
    for (int64_t e = 0; e < ends; e++)
        g->kid_of[e] = -1;
}

/* ---- what is common */

static double scale(const cbx_walk_gains *g, int32_t node, int64_t k)
{
    return cbx_walks_scale(g->walks, node, k);
}

static double square(const cbx_walk_gains *g, int32_t node, int64_t k)
{
    return scale(g, node, k) * scale(g, node, k);
}

static double largest_square(const cbx_walk_gains *g, int32_t node)
{
    return square(g, node, g->walks->most[node]);
}

/* The largest are kept first. */
static void keep_largest(double *largest, int64_t count, double value)
{
    if (count == 0 || !(value > largest[count - 1]))
        return;
    int64_t k = count - 1;
    for (; k > 0 && largest[k - 1] < value; k--)
        largest[k] = largest[k - 1];
    largest[k] = value;
}

/* In place: how much the first k are together, from none on. `count` and one more. */
static void add_up(double *largest, int64_t count)
{
    double sum = 0;
    for (int64_t k = 0; k <= count; k++) {
        double next = k < count ? largest[k] : 0;
        largest[k] = sum;
        sum += next;
    }
}

/* By how much a kid's value rises by its own factor, with k removals at it, before what they take
 * away. */
static double own_rise(const cbx_walk_gains *g, const cbx_walk_kid *kid, int64_t k)
{
    double s0 = scale(g, kid->node, 0), s = scale(g, kid->node, k);
    return (s - s0) * kid->term + (s * s - s0 * s0) * kid->sum +
           (s * s * s - s0 * s0 * s0) * kid->loop;
}

static double leaf_value(const cbx_walk_gains *g, const cbx_walk_leaf *leaf)
{
    return scale(g, leaf->node, 0) * leaf->term;
}

/* ---- rows and kids, as they are */

static void tell_leaf(cbx_walk_gains *g, const cbx_walk_row *row, const cbx_walk_kid *kid,
                      const cbx_walk_leaf *leaf, double weight)
{
    const cbx_walks *w = g->walks;
    int32_t          y = leaf->node, x = kid->node, u = row->node;
    double           s2 = square(g, x, 0), counts = weight * s2;
    if (x != u && leaf->end >= 0)
        g->cut[leaf->end] += weight * leaf_value(g, leaf);
    g->leaf[y] += counts * leaf->term;
    if (y == u)
        return; /* the row tells it itself */
    if (leaf->term > 0) {
        double most = scale(g, 0, 0) * largest_square(g, u) * largest_square(g, x);
        g->rising[y] += (most - counts) * leaf->term;
    } else if (leaf->end >= 0 && w->at[leaf->end ^ 1] == y) {
        g->with_leaf[leaf->end ^ 1] -= counts * leaf->term;
    }
}

/* Of the leaves that others than the row's edge bring to a kid and that may go, the largest: they
 * come first. Where they go the most is given back. */
static void largest_leaves(const cbx_walk_gains *g, const cbx_walk_row *row,
                           const cbx_walk_kid *kid, double *taken)
{
    const cbx_walks *w = g->walks;
    for (int k = 0; k < CBX_WALK_STEPS; k++)
        taken[k] = kid->count ? -INFINITY : 0;
    for (int32_t i = kid->begin; i < kid->begin + kid->count; i++) {
        const cbx_walk_leaf *leaf = &w->leaves[i];
        if (cbx_walks_is_open(w, leaf->end) && leaf->node != row->node)
            keep_largest(taken, CBX_WALK_STEPS, leaf_value(g, leaf));
    }
}

/* The kid's edge into the row may go, and what removals at the kid took from it is not lost then.
 */
static void tell_cut_kid(cbx_walk_gains *g, const cbx_walk_row *row, const cbx_walk_kid *kid,
                         double weight)
{
    const cbx_walks *w = g->walks;
    int32_t          x = kid->node, there = kid->end ^ 1;
    double           taken[CBX_WALK_STEPS];
    bool row_stays = row->node == 0 || !cbx_walks_is_open(w, row->end) || w->at_root == 0;
    if (w->at[there] != x)
        return;
    largest_leaves(g, row, kid, taken);
    double lost = scale(g, row->node, 0) * kid->back;
    for (int64_t k = 1; k <= w->most[x]; k++) {
        double most = weight * (square(g, x, k) * lost - own_rise(g, kid, k));
        if (!row_stays) /* what it would say less than nothing of is told with the row then */
            most = fmax(most, 0);
        g->with_kid[(int64_t)there * CBX_WALK_STEPS + k] = most;
        lost += taken[k - 1];
    }
}

static void tell_row(cbx_walk_gains *g, const cbx_walk_row *row)
{
    const cbx_walks *w = g->walks;
    int32_t          u = row->node;
    double           weight = scale(g, 0, 0) * square(g, u, 0);
    for (int32_t k = row->begin; k < row->begin + row->count; k++) {
        const cbx_walk_kid *kid = &w->kids[k];
        if (kid->gone)
            continue;
        if (kid->end >= 0)
            g->kid_of[kid->end] = k;
        if (kid->node != u) {
            g->kid[0][kid->node] += weight * kid->term;
            g->kid[1][kid->node] += weight * kid->sum;
            g->kid[2][kid->node] += weight * kid->loop;
        }
        for (int32_t i = kid->begin; i < kid->begin + kid->count; i++) {
            const cbx_walk_leaf *leaf = &w->leaves[i];
            if (leaf->node == kid->node ||
                (w->most[leaf->node] == 0 && !cbx_walks_is_open(w, leaf->end)) ||
                cbx_walks_is_gone(w, leaf->end))
                continue; /* nothing changes of it */
            tell_leaf(g, row, kid, leaf, weight);
            if (kid->node == u && leaf->end >= 0)
                g->loop_leaf[leaf->end] = leaf->term;
        }
        if (cbx_walks_is_open(w, kid->end) && w->most[kid->node] > 0)
            tell_cut_kid(g, row, kid, weight);
    }
}

/* ---- what others add to a row whose factor rises */

/* What k removals at a kid do by its own factor, of each of them its part; and what that leaves of
 * an edge's value which one of them takes away. */
typedef struct kid_steps {
    double  part[CBX_WALK_STEPS], square[CBX_WALK_STEPS];
    int64_t most;
} kid_steps;

static kid_steps steps_of(const cbx_walk_gains *g, const cbx_walk_kid *kid)
{
    kid_steps of = {.most = kid->node == 0 ? 0 : g->walks->most[kid->node]};
    of.square[0] = square(g, kid->node, 0);
    for (int64_t k = 1; k <= of.most; k++) {
        of.part[k] = own_rise(g, kid, k) / (double)k;
        of.square[k] = square(g, kid->node, k);
    }
    return of;
}

/* What one of k removals at the kid adds to it at most, of an edge of this value, whatever k. */
static double most_of(const kid_steps *kid, bool is_root, double value)
{
    double most = is_root ? -kid->square[0] * value : 0;
    for (int64_t k = 1; k <= kid->most; k++)
        most = fmax(most, kid->part[k] - kid->square[k] * value);
    return fmax(most, 0);
}

static void add_piece(cbx_walk_gains *g, int32_t choice, double most, double *apart, int64_t *count)
{
    keep_largest(apart, CBX_WALK_REMOVALS, most);
    if (g->piece[choice] == 0 && most > 0)
        g->touched[(*count)++] = choice;
    g->piece[choice] += most;
}

static void tell_others(cbx_walk_gains *g, int32_t index)
{
    const cbx_walks    *w = g->walks;
    const cbx_walk_row *row = &w->rows[index];
    int64_t             count = 0;
    double             *all = g->together + (int64_t)index * CBX_WALK_STEPS;
    double             *sum = g->all_apart + (int64_t)index * CBX_WALK_STEPS;
    for (int32_t k = row->begin; k < row->begin + row->count; k++) {
        const cbx_walk_kid *kid = &w->kids[k];
        double             *apart = g->apart + (int64_t)k * CBX_WALK_STEPS;
        if (kid->gone || k == row->itself || (kid->node > 0 && w->most[kid->node] == 0))
            continue;
        const kid_steps of = steps_of(g, kid);
        for (int32_t i = kid->begin; i < kid->begin + kid->count; i++) {
            const cbx_walk_leaf *leaf = &w->leaves[i];
            if (!cbx_walks_is_open(w, leaf->end) || leaf->node == row->node)
                continue;
            add_piece(g, leaf->end / 2, most_of(&of, kid->node == 0, leaf_value(g, leaf)), apart,
                      &count);
        }
        for (int64_t i = w->end_begin[kid->node]; i < w->end_begin[kid->node + 1]; i++)
            if (kid->count == 0 && cbx_walks_is_open(w, w->ends[i]) &&
                w->other[w->ends[i]] != row->node)
                add_piece(g, w->ends[i] / 2, most_of(&of, false, 0), apart, &count);
        add_up(apart, CBX_WALK_REMOVALS);
        for (int j = 0; j < CBX_WALK_STEPS; j++)
            sum[j] += apart[j];
    }
    for (int64_t k = 0; k < count; k++) {
        keep_largest(all, CBX_WALK_REMOVALS, g->piece[g->touched[k]]);
        g->piece[g->touched[k]] = 0;
    }
    add_up(all, CBX_WALK_REMOVALS);
}

/* ---- rows that go */

static double *tops_of(const cbx_walk_gains *g, int32_t end, int64_t k)
{
    return g->tops + ((int64_t)end * CBX_WALK_STEPS + k) * CBX_WALK_STEPS;
}

/* What is counted of the node as a leaf of a row that goes is not lost: node by node. */
static int64_t refund_row(cbx_walk_gains *g, const cbx_walk_row *row, double weight)
{
    const cbx_walks *w = g->walks;
    int64_t          count = 0;
    for (int32_t k = row->begin; k < row->begin + row->count; k++) {
        const cbx_walk_kid *kid = &w->kids[k];
        double              counts = weight * square(g, kid->node, 0);
        for (int32_t i = kid->begin; i < kid->begin + kid->count && !kid->gone; i++) {
            const cbx_walk_leaf *leaf = &w->leaves[i];
            int32_t              y = leaf->node;
            if (w->most[y] == 0 || cbx_walks_is_gone(w, leaf->end) || y == kid->node ||
                y == row->node)
                continue;
            if (g->lost[y] == 0)
                g->nodes[count++] = y;
            g->lost[y] -= counts * leaf->term;
        }
    }
    return count;
}

/* A kid of a row that goes: what removals at it took from it, and from it as a leaf. */
static void refund_kid(cbx_walk_gains *g, const cbx_walk_row *row, const cbx_walk_kid *kid,
                       double weight, double as_leaf)
{
    const cbx_walks *w = g->walks;
    const int32_t    x = kid->node;
    const int64_t    from = x == 0 ? 0 : 1, to = x == 0 ? 0 : w->most[x];
    kid_steps        of = steps_of(g, kid);
    for (int64_t k = 1; k <= to; k++)
        of.part[k] = (scale(g, x, k) - scale(g, x, 0)) / (double)k * as_leaf - weight * of.part[k];
    for (int32_t i = kid->begin; i < kid->begin + kid->count && from <= to; i++) {
        const cbx_walk_leaf *leaf = &w->leaves[i];
        if (!cbx_walks_is_open(w, leaf->end) || (x == 0 && leaf->node == row->node))
            continue;
        double value = weight * leaf_value(g, leaf);
        for (int64_t k = from; k <= to; k++)
            keep_largest(tops_of(g, leaf->end, k), w->at_root, of.part[k] + of.square[k] * value);
    }
}

/* A kid without leaves is in the last layer but one: removals at it change its factor alone. */
static void refund_plain_kid(cbx_walk_gains *g, const cbx_walk_kid *kid, double weight)
{
    const cbx_walks *w = g->walks;
    for (int64_t i = w->end_begin[kid->node]; i < w->end_begin[kid->node + 1]; i++)
        for (int64_t k = 1; k <= w->most[kid->node] && cbx_walks_is_open(w, w->ends[i]); k++)
            keep_largest(tops_of(g, w->ends[i], k), w->at_root,
                         -weight * own_rise(g, kid, k) / (double)k);
}

static void tell_row_that_goes(cbx_walk_gains *g, const cbx_walk_row *row)
{
    const cbx_walks *w = g->walks;
    double           weight = scale(g, 0, 0) * square(g, row->node, 0);
    int64_t          count = refund_row(g, row, weight);
    for (int32_t k = row->begin; k < row->begin + row->count; k++) {
        const cbx_walk_kid *kid = &w->kids[k];
        if (kid->gone || k == row->itself)
            continue;
        if (kid->count)
            refund_kid(g, row, kid, weight, g->lost[kid->node]);
        else if (kid->node > 0)
            refund_plain_kid(g, kid, weight);
        g->lost[kid->node] = 0; /* told */
    }
    for (int64_t k = 0; k < count; k++) {
        int32_t i = g->nodes[k];
        keep_largest(g->largest + (int64_t)i * CBX_WALK_STEPS, w->at_root, g->lost[i]);
        g->lost[i] = 0;
    }
}

static void clear_rows(cbx_walk_gains *g)
{
    const cbx_walks *w = g->walks;
    size_t           size = (size_t)w->at_root * sizeof *g->tops;
    cbx_clear(g->largest, w->n * (int64_t)CBX_WALK_STEPS);
    for (int32_t e = 0; e < 2 * w->graph->count; e++)
        for (int64_t k = 0; w->at[e] >= 0 && cbx_walks_is_open(w, e) && k <= w->most[w->at[e]]; k++)
            memset(tops_of(g, e, k), 0, size);
}

static double sum_of(const double *of, int64_t count)
{
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += of[k];
    return sum;
}

static void add_up_rows(cbx_walk_gains *g)
{
    const cbx_walks *w = g->walks;
    for (int32_t i = 0; i < w->n; i++)
        g->lowered[i] = sum_of(g->largest + (int64_t)i * CBX_WALK_STEPS, w->at_root);
    for (int32_t e = 0; e < 2 * w->graph->count; e++)
        for (int64_t k = 0; w->at[e] >= 0 && cbx_walks_is_open(w, e) && k <= w->most[w->at[e]]; k++)
            g->with_rows[(int64_t)e * CBX_WALK_STEPS + k] = sum_of(tops_of(g, e, k), w->at_root);
}

/* ---- kids whose edges go */

/* What the node brings as a leaf of one kid, by so much for each way up of its factor, is not lost
 * where the kid's edge into its row goes. */
static double refund_of(const cbx_walk_gains *g, int32_t leaf)
{
    const cbx_walks     *w = g->walks;
    const cbx_walk_leaf *of = &w->leaves[leaf];
    const cbx_walk_kid  *kid = &w->kids[g->kid_above[leaf]];
    const cbx_walk_row  *row = &w->rows[kid->row];
    if (row->gone || kid->gone || cbx_walks_is_gone(w, of->end) || !(of->term < 0) ||
        !cbx_walks_is_open(w, kid->end) || of->node == kid->node || of->node == row->node)
        return 0;
    return -scale(g, 0, 0) * square(g, row->node, 0) * square(g, kid->node, 0) * of->term;
}

/* Of so many choices the most, each with what it refunds by both of its ends. */
static void tell_refunds(cbx_walk_gains *g, int32_t node)
{
    const cbx_walks *w = g->walks;
    double          *most = g->refund + (int64_t)node * CBX_WALK_STEPS;
    int64_t          count = 0;
    for (int64_t i = g->leaf_begin[node]; i < g->leaf_begin[node + 1]; i++) {
        double refund = refund_of(g, g->leaves[i]);
        if (!(refund > 0))
            continue;
        int32_t c = w->kids[g->kid_above[g->leaves[i]]].end / 2;
        if (g->piece[c] == 0)
            g->touched[count++] = c;
        g->piece[c] += refund;
    }
    for (int64_t k = 0; k < count; k++) {
        keep_largest(most, CBX_WALK_REMOVALS, g->piece[g->touched[k]]);
        g->piece[g->touched[k]] = 0;
    }
    add_up(most, CBX_WALK_REMOVALS);
}

void cbx_walk_gains_compute(cbx_walk_gains *g)
{
    const cbx_walks *w = g->walks;
    clear(g);
    for (int32_t r = 0; r < w->num_rows; r++) {
        const cbx_walk_row *row = &w->rows[r];
        if (row->gone)
            continue;
        if (row->node > 0)
            g->row_of[row->node] = r;
        if (row->end >= 0 && cbx_walks_is_open(w, row->end) && w->at[row->end ^ 1] == row->node)
            g->root_of[row->node] = row->end ^ 1;
        tell_row(g, row);
        if (w->most[row->node] > 0)
            tell_others(g, r);
    }
    for (int32_t i = 0; i < w->n; i++)
        if (w->most[i] > 0)
            tell_refunds(g, i);
    if (w->at_root == 0)
        return;
    clear_rows(g);
    for (int32_t r = 0; r < w->num_rows; r++)
        if (!w->rows[r].gone && cbx_walks_is_open(w, w->rows[r].end))
            tell_row_that_goes(g, &w->rows[r]);
    add_up_rows(g);
}

/* ---- what is told */

/* A kid with a leaf that is the row's node: what that brings beside what is counted of it as any
 * leaf, where all edges stay, or one of them goes. */
static double with_own_leaf(const cbx_walk_gains *g, int32_t node, const cbx_walk_kid *kid,
                            int64_t k, bool gone)
{
    double s0 = scale(g, node, 0), s = scale(g, node, k);
    double least = square(g, kid->node, 0);
    double most = kid->back > 0 ? largest_square(g, kid->node) : least;
    double factor = gone ? -s0 * s0 * least : s * s * most - s0 * s0 * least;
    return scale(g, 0, 0) * factor * (s - s0) * kid->back;
}

static int64_t others(const cbx_walk_gains *g, int64_t k)
{
    return k < g->walks->left ? g->walks->left - k : 0;
}

/* Of the row itself, with all its edges but those to other rows' ... */
static double row_at(const cbx_walk_gains *g, int32_t index, int64_t k, int way)
{
    const cbx_walks    *w = g->walks;
    const cbx_walk_row *row = &w->rows[index];
    double        s0 = scale(g, row->node, 0), s = scale(g, row->node, k), rise = s * s - s0 * s0;
    double        gain = (s - s0) * row->term + rise * row->sum;
    const double *of =
        (way == CBX_WALK_TOGETHER ? g->together : g->all_apart) + (int64_t)index * CBX_WALK_STEPS;
    if (row->itself >= 0) {
        const cbx_walk_kid *kid = &w->kids[row->itself];
        double              then = s * kid->term + s * s * (kid->sum + s * kid->loop);
        gain += s * s * then - s0 * s0 * kid->value;
    }
    return scale(g, 0, 0) * (gain + rise * of[others(g, k)]);
}

double cbx_walk_gain_at(const cbx_walk_gains *g, int32_t node, int64_t k, bool cut, int way)
{
    const cbx_walks *w = g->walks;
    double           s0 = scale(g, node, 0), s = scale(g, node, k), rise = s - s0;
    double           gain = rise * g->kid[0][node] + (s * s - s0 * s0) * g->kid[1][node] +
                  (s * s * s - s0 * s0 * s0) * g->kid[2][node];
    gain += rise * (g->leaf[node] + g->rising[node] + g->lowered[node] +
                    g->refund[(int64_t)node * CBX_WALK_STEPS + others(g, k)]);
    if (g->row_of[node] < 0)
        return gain;
    const cbx_walk_row *row = &w->rows[g->row_of[node]];
    for (int32_t i = row->begin; i < row->begin + row->count; i++)
        if (!w->kids[i].gone && i != row->itself)
            gain += with_own_leaf(g, node, &w->kids[i], k, cut);
    return gain + (cut ? 0 : row_at(g, g->row_of[node], k, way));
}

/* An edge of the row goes: with k removals at its node. */
static double row_of_end(const cbx_walk_gains *g, int32_t end, int64_t k, int way)
{
    const cbx_walks    *w = g->walks;
    int32_t             node = w->at[end];
    const cbx_walk_kid *kid = &w->kids[g->kid_of[end]];
    double              s0 = scale(g, node, 0), s = scale(g, node, k), rise = s * s - s0 * s0;
    double lost = s * s * kid->value + s * s * s * s * scale(g, kid->node, 0) * g->loop_leaf[end];
    if (way == CBX_WALK_APART)
        lost += rise * g->apart[(int64_t)g->kid_of[end] * CBX_WALK_STEPS + others(g, k)];
    return -scale(g, 0, 0) * lost;
}

/* At the asked node, whose factor is as it will be. */
static double at_root(const cbx_walk_gains *g, int32_t end)
{
    double s2 = square(g, 0, 0);
    double gain = g->with_rows[(int64_t)end * CBX_WALK_STEPS] - s2 * g->cut[end];
    return g->kid_of[end] < 0 ? gain : gain + row_of_end(g, end, 0, CBX_WALK_TOGETHER);
}

/* The row goes with this choice. */
static double whole_row(const cbx_walk_gains *g, int32_t end)
{
    const cbx_walks    *w = g->walks;
    const cbx_walk_row *row = &w->rows[g->row_of[w->at[end]]];
    double              gain = at_root(g, end ^ 1) - scale(g, 0, 0) * row->value;
    if (g->kid_of[end] >= 0) /* the asked node was a kid of it, of which it was a leaf */
        gain += scale(g, 0, 0) * square(g, row->node, 0) * square(g, 0, 0) *
                scale(g, row->node, 0) * w->kids[g->kid_of[end]].back;
    return gain;
}

double cbx_walk_gain_of(const cbx_walk_gains *g, int32_t end, int64_t k, bool cut, int way)
{
    const cbx_walks *w = g->walks;
    int32_t          node = w->at[end];
    int64_t          step = (int64_t)end * CBX_WALK_STEPS + k;
    double           s0 = scale(g, node, 0), s = scale(g, node, k);
    double           gain =
        (s - s0) * g->with_leaf[end] - s * s * g->cut[end] + g->with_kid[step] + g->with_rows[step];
    if (g->root_of[node] == end)
        return gain + whole_row(g, end);
    if (cut || g->row_of[node] < 0 || g->kid_of[end] < 0)
        return gain;
    const cbx_walk_kid *kid = &w->kids[g->kid_of[end]];
    return gain + row_of_end(g, end, k, way) + with_own_leaf(g, node, kid, k, true) -
           with_own_leaf(g, node, kid, k, false);
}
