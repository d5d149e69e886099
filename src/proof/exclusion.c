/* SPDX-License-Identifier: Apache-2.0 */
/* exclusion.c: see exclusion.h. */
#include "exclusion.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "spread_parts.h"

/* By what share of what the best set that was found is missing a size should be excluded, and what
 * work that may take (cbx_branch_work). */
static const struct {
    double  share;
    int64_t work;
} TRIES[] = {{0.85, 25000}, {0.5, 60000}};
enum { NUM_TRIES = sizeof TRIES / sizeof *TRIES };

/* Sets that are asked about for each choice of one that leads far. */
enum { MOST_ASKED = 100 };

/* Marginals are told again where one choice in so many was barred by them. */
enum { AGAIN = 8 };

static cbx_status make_marginal(cbx_exclusion *x, cbx_arena *arena, cbx_error *err)
{
    int64_t           count = x->b->graph->count;
    const cbx_spread *s = &x->b->bound->spread;
    x->marginal = CBX_NEW(arena, cbx_marginal, 1);
    x->gain = CBX_NEW(arena, double, x->num_classes *count);
    x->now = CBX_NEW(arena, double, count);
    x->more = CBX_NEW(arena, uint8_t, count);
    x->leading = CBX_NEW(arena, int32_t, CBX_FEW);
    if (!x->marginal || !x->gain || !x->now || !x->more || !x->leading)
        return cbx_fail_memory(err);
    return cbx_marginal_init(x->marginal, s, arena, err);
}

cbx_status cbx_exclusion_init(cbx_exclusion *x, cbx_branch *b, int32_t num_classes, bool branches,
                              cbx_arena *arena, cbx_error *err)
{
    *x = (cbx_exclusion){.b = b,
                         .num_classes = num_classes,
                         .none = CBX_NEW0(arena, int64_t, num_classes),
                         .nearest = CBX_NEW(arena, double, num_classes),
                         .rounding = CBX_NEW0(arena, double, num_classes)};
    if (!x->none || !x->nearest || !x->rounding)
        return cbx_fail_memory(err);
    for (int32_t c = 0; c < num_classes; c++)
        x->nearest[c] = INFINITY;
    return branches && cbx_marginal_is_known(&b->bound->spread) ? make_marginal(x, arena, err)
                                                                : CBX_OK;
}

/* ---- the root */

static void keep(cbx_exclusion *x, int32_t class, int64_t size, double nearest)
{
    x->nearest[class] = nearest;
    x->none[class] = size;
}

/* Does one bound exclude all sets of up to `size` by which a class leads? For those classes that
 * smaller sizes were excluded for. True: for all. */
static bool exclude_at_root(cbx_exclusion *x, int64_t size, int64_t before)
{
    bool all = true;
    cbx_branch_begin(x->b, size);
    for (int32_t c = 0; c < x->num_classes && !cbx_branch_is_over(x->b); c++) {
        if (x->none[c] >= size || x->none[c] < before)
            continue;
        double lead = cbx_lead_bound_of(x->b->bound, c, x->b->behind);
        if (lead < 0)
            keep(x, c, size, lead);
        else
            all = false;
    }
    cbx_branch_end(x->b);
    return all && !cbx_branch_is_over(x->b);
}

bool cbx_exclusion_root(cbx_exclusion *x)
{
    return exclude_at_root(x, x->b->graph->budget, 0);
}

void cbx_exclusion_first_sizes(cbx_exclusion *x)
{
    int64_t budget = x->b->graph->budget, size = 1;
    while (size < budget && exclude_at_root(x, size, size - 1))
        size++;
}

/* ---- what is barred from the start */

/* b->bound and the marginals are of sets of `size` of those choices that are not barred from the
 * start, until cbx_branch_end. False: no time. */
static bool begin(cbx_exclusion *x, int64_t size)
{
    cbx_branch *b = x->b;
    for (int32_t c = 0; c < b->graph->count; c++)
        x->more[c] = b->start[c] == CBX_FREE;
    cbx_branch_begin(b, size);
    return !cbx_branch_is_over(b) && !cbx_marginal_compute(x->marginal, x->more);
}

/* What each choice adds to the lead of one class. */
static bool tell(cbx_exclusion *x, int32_t class, int64_t size)
{
    bool told = begin(x, size);
    if (told)
        cbx_marginal_of(x->marginal, class, x->b->behind, x->now);
    cbx_branch_end(x->b);
    return told;
}

/* Of all choices, and all classes that are asked about. */
static bool tell_all(cbx_exclusion *x, int64_t size)
{
    cbx_branch *b = x->b;
    if (x->size == size)
        return true;
    cbx_branch_unbar(b);
    bool told = begin(x, size);
    for (int32_t c = 0; c < x->num_classes && told; c++) {
        if (x->none[c] >= size)
            continue;
        x->rounding[c] = cbx_rounding_of(&b->bound->sizes, c, b->behind);
        cbx_marginal_of(x->marginal, c, b->behind, x->gain + (int64_t)c * b->graph->count);
    }
    cbx_branch_end(b);
    x->size = told ? size : 0;
    return told;
}

/* Bars those that add less than is missing, as the model computes it: what they are added to may be
 * nearer by its own rounding than the model says. Is it worth to be told again, of those that are
 * left? */
static bool bar(cbx_exclusion *x, int32_t class)
{
    uint8_t *start = x->b->start;
    double   least = x->b->goal - x->nearest[class] - 2 * x->rounding[class];
    int64_t  open = 0, barred = 0;
    for (int32_t c = 0; c < x->b->graph->count; c++) {
        open += start[c] == CBX_FREE;
        if (start[c] != CBX_FREE || !(x->now[c] < least))
            continue;
        start[c] = CBX_BARRED;
        barred++;
    }
    return barred > open / AGAIN && barred < open;
}

/* Bars what no set of `size` has that comes up to the goal. */
static void bar_from_start(cbx_exclusion *x, int32_t class, int64_t size)
{
    const int64_t count = x->b->graph->count;
    cbx_branch_unbar(x->b);
    if (!x->marginal || size < 2 || size > CBX_FEW || x->none[class] != size - 1 ||
        !tell_all(x, size))
        return;
    memcpy(x->now, x->gain + class * count, (size_t)count * sizeof *x->now);
    while (bar(x, class) && tell(x, class, size))
        ;
}

/* ---- one size */

/* How far a set of `size` leads: the best of smaller ones with the best one more, which may not be
 * the best of all. 0: not known. */
static double find_leading(cbx_exclusion *x, int32_t class, int64_t size)
{
    cbx_branch   *b = x->b;
    const double *gain = x->gain + (int64_t)class * b->graph->count;
    while (x->num_leading < size) {
        int32_t best = cbx_branch_best_more(b, x->leading, x->num_leading, gain, MOST_ASKED);
        if (best < 0 || cbx_branch_is_over(b))
            return 0;
        x->leading[x->num_leading++] = best;
    }
    return x->num_leading == size ? cbx_branch_lead_of(b, x->leading, size) : 0;
}

/* All sets of `size` lead by less than the goal; false: one does not, or it takes more work. */
static bool try_goal(cbx_exclusion *x, int32_t class, int64_t size, double goal, int64_t work)
{
    cbx_branch *b = x->b;
    b->goal = goal;
    bar_from_start(x, class, size);
    if (work < INT64_MAX)
        b->limit = b->bounds + work / cbx_branch_work(b, b->start);
    bool none = cbx_branch_none_of(b, size);
    b->limit = INT64_MAX;
    if (none)
        keep(x, class, size, cbx_branch_furthest(b));
    cbx_branch_unbar(b);
    b->goal = 0;
    return none;
}

bool cbx_exclusion_of(cbx_exclusion *x, int32_t class, int64_t size, bool more)
{
    cbx_branch *b = x->b;
    double      leads = 0;
    b->ahead = class;
    if (more && x->marginal && size > 1 && size < CBX_FEW && x->none[class] == size - 1 &&
        tell_all(x, size))
        leads = fmax(find_leading(x, class, size), x->nearest[class]);
    for (int k = leads < 0 ? 0 : NUM_TRIES; k < NUM_TRIES && !cbx_branch_is_over(b); k++)
        if (try_goal(x, class, size, leads * TRIES[k].share, TRIES[k].work))
            return true;
    return !cbx_branch_is_over(b) && try_goal(x, class, size, 0, INT64_MAX);
}
