/* SPDX-License-Identifier: Apache-2.0 */
/* radius.c: see radius.h. */
#include "radius.h"

#include <math.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "exclusion.h"
#include "spread_parts.h"
#include "walk_search.h"

/* What a tree of all sizes may take at first. */
enum { LEAST_BOUNDS = 50 };

/* What all sizes at once may take of the time; and bounds by walks of one size, before it is
 * excluded otherwise. */
static const double SHARE = 0.6;
enum { WALK_BOUNDS = 100 };

/* And of all sizes at once, where it is not known when time is up. */
enum { MOST_WALK_BOUNDS = 2000 };

typedef struct finding {
    const cbx_radius_question *q;
    cbx_branch                 b;
    cbx_exclusion              x;
    cbx_walk_search            walks;
    bool                       by_walks; /* are they known, and of use? */
    cbx_radius_answer         *out;
} finding;

static bool is_sought(const finding *f, int32_t class)
{
    return class != f->q->prediction && (f->q->target < 0 || class == f->q->target);
}

/* Keeps a set that flips, if it is smaller. */
static void keep(finding *f)
{
    if (f->b.num_flip > 0 && (f->out->upper == 0 || f->b.num_flip < f->out->upper)) {
        f->out->upper = f->b.num_flip;
        memcpy(f->out->flip, f->b.flip, (size_t)f->b.num_flip * sizeof *f->b.flip);
    }
    f->b.num_flip = 0;
}


/* The class that may lead with the fewest choices. */
static int32_t nearest(const finding *f)
{
    int32_t best = 0;
    for (int32_t c = 1; c < f->q->num_classes; c++)
        best = f->x.none[c] < f->x.none[best] ? c : best;
    return best;
}

/* ---- sums over walks */

static cbx_status begin_walks(finding *f, cbx_error *err)
{
    cbx_status status = CBX_OK;
    cbx_branch_begin(&f->b, 1);
    if (!f->b.stopped)
        status = cbx_walk_search_init(&f->walks, &f->b, &f->by_walks, err);
    cbx_branch_end(&f->b);
    return status;
}

/* No set of up to `size` flips, and that took no more than so many bounds for each class. */
static bool exclude_by_walks(finding *f, int64_t size, int64_t bounds)
{
    if (!f->by_walks || size > CBX_WALK_REMOVALS)
        return false;
    for (int32_t c = 0; c < f->q->num_classes; c++) {
        if (f->x.none[c] >= size)
            continue;
        if (!cbx_walk_search_none(&f->walks, c, size, bounds))
            return false;
        f->x.none[c] = size;
        f->x.nearest[c] = cbx_walk_search_furthest(&f->walks);
    }
    return true;
}

/* The largest size that is to be excluded. */
static int64_t largest(const finding *f)
{
    const cbx_radius_answer *out = f->out;
    return out->upper > 0 ? out->upper - f->q->gap - 1 : f->q->graph->budget;
}

/* All sizes at once, within a share of the time. While sets are met that flip, fewer are left. */
static void exclude_at_once(finding *f)
{
    double now = cbx_clock();
    bool   met = true, timed = f->q->until > 0;
    f->walks.until = timed ? now + SHARE * (f->q->until - now) : INFINITY;
    while (met && !f->b.stopped && largest(f) >= f->out->lower) {
        if (exclude_by_walks(f, largest(f), timed ? INT64_MAX : MOST_WALK_BOUNDS))
            f->out->lower = largest(f) + 1;
        met = f->b.num_flip > 0;
        keep(f);
    }
    f->walks.until = INFINITY;
}

/* ---- by single bounds */

/* What is excluded of all classes. */
static void raise_lower(finding *f)
{
    int64_t none = f->b.stopped ? 0 : f->x.none[nearest(f)];
    f->out->lower = none + 1 > f->out->lower ? none + 1 : f->out->lower;
}

/* Which sizes do they exclude? Where sums over walks are known these are asked first: around a hub
 * bounds of each size take a third as long, and walks mostly tell. But where a set is sought that
 * flips, what is nearest to a flip has to be known. */
static void ask_roots(finding *f)
{
    for (int32_t c = 0; c < f->q->num_classes; c++)
        f->x.none[c] = is_sought(f, c) ? 0 : INT64_MAX;
    bool all = cbx_exclusion_root(&f->x);
    raise_lower(f);
    if (!all && f->by_walks && !f->q->dive)
        exclude_at_once(f);
    if (all || f->b.stopped || f->out->lower > largest(f))
        return;
    cbx_exclusion_first_sizes(&f->x);
    raise_lower(f);
}

/* ---- size after size */

/* No set of `size` flips; false: one does, or it is not known. */
static bool exclude(finding *f, int64_t size)
{
    if (exclude_by_walks(f, size, WALK_BOUNDS))
        return true;
    if (f->b.num_flip > 0)
        return false;
    f->by_walks = false; /* nor will they tell of larger ones */
    const cbx_radius_answer *out = f->out;
    bool                     more =
        size < f->q->graph->budget && (out->upper == 0 || size + 1 + f->q->gap < out->upper);
    for (int32_t c = 0; c < f->q->num_classes; c++)
        if (f->x.none[c] < size && !cbx_exclusion_of(&f->x, c, size, more))
            return false;
    return true;
}

/* The same of all sizes, with about as much work as was done so far. */
static bool exclude_all(finding *f)
{
    for (int32_t c = 0; c < f->q->num_classes; c++) {
        if (f->x.none[c] >= f->q->graph->budget)
            continue;
        f->b.ahead = c;
        int64_t bounds = f->b.bounds + LEAST_BOUNDS;
        if (f->x.marginal) /* most were of few choices, and took less than these will */
            bounds = LEAST_BOUNDS + f->b.work / cbx_branch_work(&f->b, f->b.root->fate);
        if (!cbx_branch_none_at_all(&f->b, bounds))
            return false;
        f->x.none[c] = f->q->graph->budget;
    }
    return true;
}

/* Goes on until the interval is closed. */
static void narrow(finding *f)
{
    cbx_radius_answer *out = f->out;
    int64_t            budget = f->q->graph->budget;
    while (!f->b.stopped && out->lower <= budget &&
           (out->upper == 0 || out->lower + f->q->gap < out->upper)) {
        if (exclude(f, out->lower))
            out->lower++;
        if (!f->b.stopped && f->b.num_flip == 0 && out->upper == 0 && out->lower <= budget &&
            (budget > CBX_FEW || !f->x.marginal) && exclude_all(f))
            out->lower = budget + 1;
        keep(f);
    }
}

static void find(finding *f)
{
    const cbx_radius_question *q = f->q;
    cbx_radius_answer         *out = f->out;
    int64_t                    budget = q->graph->budget;
    if (q->most_bounds > 0)
        f->b.limit = q->most_bounds;
    ask_roots(f);
    f->b.ahead = nearest(f);
    if (q->most_bounds > 0)
        return;
    if (q->dive && out->lower <= budget && !f->b.stopped) {
        cbx_branch_dive(&f->b);
        keep(f);
    }
    if (q->decide && out->upper > 0)
        return;
    if (q->dive)
        exclude_at_once(f);
    narrow(f);
}

cbx_status cbx_radius_find(const cbx_radius_question *q, cbx_arena *arena, cbx_radius_answer *out,
                           cbx_error *err)
{
    int64_t budget = q->graph->budget;
    finding f = {.q = q, .out = out};
    *out = (cbx_radius_answer){.lower = q->known > 1 ? q->known : 1,
                               .upper = q->flips,
                               .flip = CBX_NEW(arena, int32_t, q->graph->count)};
    if (!out->flip)
        return cbx_fail_memory(err);
    cbx_status status = CBX_OK;
    if (q->most_bounds == 0)
        status = cbx_lead_bound_use_pairs(q->bound, arena, err);
    if (!status)
        status = cbx_branch_init(&f.b, q->graph, q->bound, q->X, &q->asked, budget, q->threads,
                                 arena, err);
    if (status)
        return status;
    status = cbx_exclusion_init(&f.x, &f.b, q->num_classes, q->most_bounds == 0, arena, err);
    f.b.behind = q->prediction;
    if (!status && q->most_bounds == 0 && budget > 1)
        status = begin_walks(&f, err);
    if (budget >= 1 && !status)
        find(&f);
    out->bounds = f.b.bounds;
    out->asks = f.b.asks;
    cbx_walk_search_free(&f.walks);
    cbx_branch_free(&f.b);
    return f.b.out_of_memory ? cbx_fail_memory(err) : status;
}
