/* SPDX-License-Identifier: Apache-2.0 */
/* branch.c: see branch.h. */
#include "branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "error.h"

/* Choices that a dive asks the model about at each step. */
enum { ASKED_AT_ONCE = 48 };

cbx_status cbx_branch_init(cbx_branch *b, cbx_partial_graph *graph, cbx_lead_bound *bound,
                           const cbx_branch_asked *asked, int64_t most, cbx_arena *arena,
                           cbx_error *err)
{
    most = most < graph->count ? most : graph->count;
    *b = (cbx_branch){.graph = graph,
                      .bound = bound,
                      .asked = *asked,
                      .arena = arena,
                      .ranked = CBX_NEW(arena, cbx_ranked, graph->count),
                      .barred = CBX_NEW(arena, int32_t, graph->count),
                      .made = CBX_NEW(arena, int32_t, most + 1),
                      .flip = CBX_NEW(arena, int32_t, most + 1),
                      .since = CBX_NEW(arena, int32_t, most + 1),
                      .most = most,
                      .limit = INT64_MAX};
    return b->ranked && b->barred && b->made && b->flip && b->since ? CBX_OK : cbx_fail_memory(err);
}

static bool is_over(cbx_branch *b)
{
    b->stopped = b->stopped || cbx_time_is_up() || (b->asked.stop && b->asked.stop(b->asked.user));
    return b->stopped || b->num_flip > 0 || b->bounds >= b->limit;
}

static void make(cbx_branch *b, int32_t choice)
{
    cbx_partial_graph_make(b->graph, choice);
    b->asked.make(b->asked.user, choice, true);
    b->made[b->num_made++] = choice;
}

static void unmake(cbx_branch *b)
{
    int32_t choice = b->made[--b->num_made];
    cbx_partial_graph_unmake(b->graph, choice);
    b->asked.make(b->asked.user, choice, false);
}

static bool may(const cbx_branch *b, int32_t choice)
{
    return cbx_choice_is_open(b->graph, choice) &&
           (!b->asked.may || b->asked.may(b->asked.user, choice));
}

static void update(cbx_branch *b)
{
    b->bounds++;
    if (cbx_lead_bound_update(b->bound)) {
        b->stopped = true;
        b->out_of_memory = !cbx_time_is_up();
    }
}

static double bound_now(cbx_branch *b)
{
    update(b);
    return b->stopped ? INFINITY : cbx_lead_bound_of(b->bound, b->ahead, b->behind);
}

static int by_gain(const void *x, const void *y)
{
    const cbx_ranked *a = x, *b = y;
    if (a->gain != b->gain)
        return a->gain < b->gain ? 1 : -1;
    return (a->choice > b->choice) - (a->choice < b->choice);
}

/* Those that may be made, the one with the largest gain first. */
static int64_t rank(cbx_branch *b, cbx_ranked **out)
{
    int64_t count = 0;
    for (int32_t c = 0; c < b->graph->count; c++)
        if (may(b, c))
            b->ranked[count++] = (cbx_ranked){b->bound->gain[c], c};
    qsort(b->ranked, (size_t)count, sizeof *b->ranked, by_gain);
    *out = b->ranked;
    return count;
}

static bool flips(cbx_branch *b)
{
    b->asks++;
    if (!(b->asked.lead(b->asked.user) > 0) || cbx_time_is_up())
        return false;
    memcpy(b->flip, b->made, (size_t)b->num_made * sizeof *b->flip);
    b->num_flip = b->num_made;
    return true;
}

/* Asks the model about each of the sets of one more choice that the bound leaves. */
static void ask_each(cbx_branch *b)
{
    cbx_ranked *list;
    double      now = b->bound->now + b->bound->rounding;
    int64_t     count = rank(b, &list);
    for (int64_t k = 0; k < count && now + list[k].gain >= 0 && !is_over(b); k++) {
        make(b, list[k].choice);
        (void)flips(b);
        unmake(b);
    }
}

/* The open choice with the largest gain; -1: there is none. */
static int32_t best_choice(const cbx_branch *b)
{
    int32_t best = -1;
    for (int32_t c = 0; c < b->graph->count; c++)
        if (may(b, c) && (best < 0 || b->bound->gain[c] > b->bound->gain[best]))
            best = c;
    return best;
}

/* What was barred at this depth may be chosen again elsewhere. */
static void free_barred(cbx_branch *b)
{
    while (b->num_barred > b->since[b->num_made])
        b->graph->fate[b->barred[--b->num_barred]] = CBX_FREE;
}

/* The choice that the sets to come have or have not; -1: all that are left here are excluded, or
 * were asked about. */
static int32_t next_choice(cbx_branch *b)
{
    if (is_over(b) || bound_now(b) < 0) /* of two that are equal, either may lead */
        return -1;
    if (b->graph->budget > 1)
        return best_choice(b);
    ask_each(b);
    return -1;
}

/* Sets of the budget's more choices, or where `all` of fewer as well: with the best one, and then
 * without it, until the bound excludes the rest. Its depth is that of the largest set, which no
 * stack has to hold. */
static void search(cbx_branch *b, bool all)
{
    int64_t top = b->num_made;
    b->since[top] = b->num_barred;
    while (true) {
        int32_t choice = next_choice(b);
        if (choice >= 0) {
            make(b, choice);
            b->since[b->num_made] = b->num_barred;
            if (all)
                (void)flips(b);
            continue;
        }
        free_barred(b);
        if (b->num_made == top)
            return;
        choice = b->made[b->num_made - 1];
        unmake(b);
        b->graph->fate[choice] = CBX_BARRED;
        b->barred[b->num_barred++] = choice;
    }
}

bool cbx_branch_none_of(cbx_branch *b, int64_t size)
{
    int64_t budget = b->graph->budget;
    b->graph->budget = size < budget ? size : budget;
    search(b, false);
    b->graph->budget = budget;
    return !is_over(b);
}

bool cbx_branch_none_at_all(cbx_branch *b, int64_t bounds)
{
    b->limit = b->bounds + bounds;
    search(b, true);
    bool none = !is_over(b);
    b->limit = INT64_MAX;
    return none;
}

/* Does one bound exclude all sets of up to `size` by which a class leads? For those classes that
 * smaller sizes were excluded for. True: for all. */
static bool exclude_at_root(cbx_branch *b, int64_t size, int64_t before, int32_t num_classes,
                            int64_t *none)
{
    int64_t budget = b->graph->budget;
    bool    all = true;
    b->graph->budget = size;
    update(b);
    for (int32_t c = 0; c < num_classes && !is_over(b); c++) {
        if (none[c] >= size || none[c] < before)
            continue;
        if (!(cbx_lead_bound_of(b->bound, c, b->behind) < 0))
            all = false;
        else
            none[c] = size;
    }
    b->graph->budget = budget;
    return all && !is_over(b);
}

void cbx_branch_root(cbx_branch *b, int32_t num_classes, int64_t *none)
{
    int64_t budget = b->graph->budget, size = 1;
    if (exclude_at_root(b, budget, 0, num_classes, none))
        return;
    while (size < budget && exclude_at_root(b, size, size - 1, num_classes, none))
        size++;
}

/* The choice, of those that promise most, with which the lead is largest; -1: none. */
static int32_t best_step(cbx_branch *b)
{
    cbx_ranked *list;
    double      best = -INFINITY;
    int32_t     choice = -1;
    (void)bound_now(b);
    int64_t count = is_over(b) ? 0 : rank(b, &list);
    for (int64_t k = 0; k < count && k < ASKED_AT_ONCE && !is_over(b); k++) {
        make(b, list[k].choice);
        b->asks++;
        double lead = b->asked.lead(b->asked.user);
        if (lead > best) {
            best = lead;
            choice = list[k].choice;
        }
        unmake(b);
    }
    return choice;
}

void cbx_branch_dive(cbx_branch *b)
{
    int32_t choice;
    while (b->num_made < b->most && (choice = best_step(b)) >= 0) {
        make(b, choice);
        if (flips(b))
            break;
    }
    while (b->num_made > 0)
        unmake(b);
}
