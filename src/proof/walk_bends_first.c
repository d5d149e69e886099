/* SPDX-License-Identifier: Apache-2.0 */
/* walk_bends_first.c: units of the first layer, which are sums of what neighbours send. See
 * walk_bend_parts.h. */
#include <math.h>
#include <string.h>

#include "walk_bend_parts.h"

/* The largest of some numbers, each as often as it can count. */
typedef struct largest_few {
    double  first[2 * CBX_WALK_REMOVALS];
    int64_t count;
} largest_few;

static void take(largest_few *of, double value, int64_t times)
{
    for (; times > 0 && value > 0; times--) {
        if (of->count == 2 * CBX_WALK_REMOVALS && value <= of->first[of->count - 1])
            return;
        int64_t k = of->count < 2 * CBX_WALK_REMOVALS ? of->count++ : of->count - 1;
        for (; k > 0 && of->first[k - 1] < value; k--)
            of->first[k] = of->first[k - 1];
        of->first[k] = value;
    }
}

static double sum_of(const largest_few *of, int64_t most)
{
    double sum = 0;
    for (int64_t k = 0; k < of->count && k < most; k++)
        sum += of->first[k];
    return sum;
}

/* A unit of row x, as removals move it: its own, and those of its neighbours. */
typedef struct first_unit {
    int32_t     x, unit;
    double      now;       /* how far it is from 0, */
    double      part;      /* and of that what each removal that is not at x has to move it by */
    double      sum, loop; /* what its neighbours bring, and it itself */
    largest_few rises, shares; /* by neighbours: of how they move it, and of their shares */
} first_unit;

/* What a neighbour moves it by towards 0 with each removal, as far as it rises. */
static double each_of(const cbx_walk_bends *b, const first_unit *f, int32_t y)
{
    return b->most[y] > 0 ? fmax(0, b->towards * cbx_bend_message(b, y, f->unit)) : 0;
}

/* What it is made of. */
static void read_neighbours(cbx_walk_bends *b, first_unit *f)
{
    double  widest = 0;
    int32_t y, end;
    for (cbx_walk_edges i = cbx_walks_into(b->walks, f->x); cbx_bend_next(&i, &y, &end);) {
        if (y == f->x) {
            f->loop = cbx_bend_message(b, y, f->unit);
            continue;
        }
        f->sum += cbx_bend_scale(b, y, 0) * cbx_bend_message(b, y, f->unit);
        double rise = each_of(b, f, y) * cbx_bend_rise(b, y, b->most[y]);
        take(&f->rises, rise, b->most[y]);
        widest = fmax(widest, b->hits[y] * rise);
    }
    f->part = fmin(cbx_bend_scale(b, f->x, 0) * widest, f->now / (double)b->removals);
}

/* A removal at y is at one or two neighbours of x, each of which has its share of the part. */
static bool share_leaf(cbx_walk_bends *b, first_unit *f, int32_t y, double counts)
{
    double share[CBX_BEND_STEPS] = {0}, most = 0;
    double part = f->part / b->hits[y], each = each_of(b, f, y);
    if (!(each > 0))
        return true;
    for (int64_t k = 1; k <= b->most[y]; k++) {
        share[k] = fmax(0, cbx_bend_scale(b, f->x, 0) * each * cbx_bend_rise(b, y, k) - part);
        most = fmax(most, share[k]);
    }
    take(&f->shares, most, b->most[y]);
    return most > 0 ? cbx_bend_keep(b, y, false, share, counts, b->at + (int64_t)y * CBX_BEND_STEPS)
                    : true;
}

/* What others leave of its distance is its own removals', with what neighbours move it by the more
 * as its factor rises. */
static bool share_own(cbx_walk_bends *b, const first_unit *f, int32_t end, double brings,
                      const double *counts)
{
    double  share[CBX_BEND_STEPS] = {0}, s0 = cbx_bend_scale(b, f->x, 0);
    double *to = b->of + (int64_t)end * CBX_BEND_STEPS;
    bool    any = false;
    for (int64_t k = 1; k <= b->most[f->x]; k++) {
        double  s = cbx_bend_scale(b, f->x, k);
        double  own = (s - s0) * f->sum + (s * s - s0 * s0) * f->loop;
        int64_t others = b->removals - k;
        double  rest = (s - s0) * sum_of(&f->rises, 2 * others) + (double)others * f->part - f->now;
        share[k] = fmax(0, (b->towards * own + rest) / (double)k - b->towards * s * brings);
        to[k] += counts[k] * share[k];
        any = any || share[k] > 0;
    }
    return any ? cbx_bend_keep(b, end, true, share, 0, to) : true;
}

/* Of what a unit counts through one of the rows that have its node as a kid: if it may be cut off,
 * the smallest are kept. */
typedef struct few_least {
    double  least[CBX_BEND_STEPS];
    int64_t count;
} few_least;

static void keep_least(few_least *of, double value)
{
    if (of->count == CBX_BEND_STEPS && value >= of->least[CBX_BEND_STEPS - 1])
        return;
    int64_t k = of->count < CBX_BEND_STEPS ? of->count++ : CBX_BEND_STEPS - 1;
    for (; k > 0 && of->least[k - 1] > value; k--)
        of->least[k] = of->least[k - 1];
    of->least[k] = value;
}

/* What the unit counts through rows, with k removals at its node: those beyond what is open of
 * other edges cut rows off, the factors of few other rows rise, and that of its own as it is told.
 */
static void count_rows(const cbx_walk_bends *b, const first_unit *f, double *counts)
{
    const cbx_walks *w = b->walks;
    largest_few      rises = {.count = 0};
    few_least        open = {.count = 0};
    double           sum = 0, itself = 0;
    int64_t          others = 0, rows = 0;
    for (int64_t i = w->end_begin[f->x]; i < w->end_begin[f->x + 1]; i++)
        others += cbx_walks_is_open(w, w->ends[i]);
    for (int64_t i = b->kid_begin[f->x]; i < b->kid_begin[f->x + 1]; i++) {
        const cbx_walk_kid *kid = &w->kids[b->kids[i]];
        int32_t             r = kid->row, u = w->rows[r].node;
        if (cbx_walks_is_gone(w, kid->end) || cbx_walks_is_gone(w, w->rows[r].end))
            continue;
        double through = b->through[(int64_t)r * w->spread->net->widest + f->unit];
        double s0 = cbx_bend_scale(b, u, 0), most = cbx_bend_largest(b, u);
        if (u == f->x) {
            itself = through;
            continue;
        }
        if (b->most[u] > 0)
            take(&rises, (most * most - s0 * s0) / b->most[u] * through, b->most[u]);
        sum += s0 * s0 * through;
        if (!cbx_walks_is_open(w, kid->end) || w->at[kid->end ^ 1] != f->x)
            continue;
        keep_least(&open, s0 * s0 * through);
        rows++;
    }
    others -= rows; /* each is an open edge into the node, too */
    for (int64_t k = 0; k < CBX_BEND_STEPS; k++) {
        double  rest = sum;
        int64_t hits = 2 * (b->removals - k);
        for (int64_t i = 0; i < k - others && i < open.count; i++)
            rest -= open.least[i];
        double own = cbx_bend_scale(b, f->x, k);
        counts[k] = own * own * itself + fmax(rest, 0) + sum_of(&rises, hits);
    }
}

int cbx_bend_share_first(cbx_walk_bends *b, int32_t x, int32_t unit, double counts, double direct,
                         cbx_bend_list *list)
{
    const cbx_walks *w = b->walks;
    first_unit       f = {.x = x, .unit = unit, .now = fabs(cbx_bend_now(b, 0, x, unit))};
    double           times[CBX_BEND_STEPS];
    bool             whole = true;
    int32_t          y, end;
    count_rows(b, &f, times);
    list->begin = b->num_bends;
    read_neighbours(b, &f);
    for (cbx_walk_edges i = cbx_walks_into(w, x); cbx_bend_next(&i, &y, &end) && whole;)
        if (y != x)
            whole = share_leaf(b, &f, y, (counts + times[0]) * cbx_bend_scale(b, x, 0) + direct);
    for (int64_t k = 0; k < CBX_BEND_STEPS; k++)
        times[k] = (counts + times[k]) * cbx_bend_scale(b, x, k) + direct;
    for (int64_t k = 1; k <= b->most[x]; k++) /* what neighbours move counts more then */
        b->at[(int64_t)x * CBX_BEND_STEPS + k] +=
            fmax(0, times[k] - times[0]) / (double)k * sum_of(&f.shares, 2 * (b->removals - k));
    for (cbx_walk_edges i = cbx_walks_into(w, x); cbx_bend_next(&i, &y, &end) && whole;)
        if (cbx_walks_is_open(w, end))
            whole = share_own(b, &f, end, cbx_bend_scale(b, y, 0) * cbx_bend_message(b, y, unit),
                              times);
    list->count = b->num_bends - list->begin;
    return whole ? 0 : -1;
}

/* At how many neighbours of x a removal may be which is not at x: 1 or 2, by neighbour. */
void cbx_bend_count_hits(cbx_walk_bends *b, int32_t x)
{
    const cbx_walks *w = b->walks;
    int32_t          y, end;
    memset(b->hits, 0, (size_t)w->n);
    for (cbx_walk_edges i = cbx_walks_into(w, x); cbx_bend_next(&i, &y, &end);)
        b->hits[y] = 1;
    b->hits[x] = 0;
    for (cbx_walk_edges i = cbx_walks_into(w, x); cbx_bend_next(&i, &y, &end);)
        for (int64_t e = w->end_begin[y]; e < w->end_begin[y + 1] && b->hits[y] == 1; e++)
            if (cbx_walks_is_open(w, w->ends[e]) && w->at[w->ends[e] ^ 1] >= 0 &&
                b->hits[w->at[w->ends[e] ^ 1]] > 0)
                b->hits[y] = 2;
}
