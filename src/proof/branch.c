/* SPDX-License-Identifier: Apache-2.0 */
/* branch.c: see branch.h. */
#include "branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "wave.h"

/* Choices that a dive asks the model about at each step. */
enum { ASKED_AT_ONCE = 48 };

/* A bound is computed again where one choice in so many was barred by it. */
enum { REDUCES = 4 };

enum { AGAIN = -2 };

cbx_status cbx_branch_init(cbx_branch *b, cbx_partial_graph *graph, cbx_lead_bound *bound,
                           const cbx_matrix *X, const cbx_branch_asked *asked, int64_t most,
                           int threads, cbx_arena *arena, cbx_error *err)
{
    most = most < graph->count ? most : graph->count;
    *b = (cbx_branch){.graph = graph,
                      .bound = bound,
                      .X = X,
                      .asked = *asked,
                      .arena = arena,
                      .threads = threads,
                      .ranked = CBX_NEW(arena, cbx_ranked, graph->count),
                      .best = CBX_NEW(arena, double, graph->count + 1),
                      .orbit = CBX_NEW(arena, int32_t, graph->count),
                      .is_same = CBX_NEW(arena, uint8_t, graph->count),
                      .made = CBX_NEW(arena, int32_t, most + 1),
                      .flip = CBX_NEW(arena, int32_t, most + 1),
                      .most = most,
                      .limit = INT64_MAX};
    if (!b->ranked || !b->best || !b->orbit || !b->is_same || !b->made || !b->flip)
        return cbx_fail_memory(err);
    int32_t    apart = bound->spread.net->model->task == CBX_NODE ? 0 : -1;
    cbx_status status = CBX_OK;
    if (asked->alike)
        status = cbx_symmetry_find(&b->symmetry, graph, X, apart, arena, err);
    return status ? status : cbx_wave_init(b, err);
}

void cbx_branch_free(cbx_branch *b)
{
    cbx_wave_free(b);
}

static bool is_over(cbx_branch *b)
{
    b->stopped = b->stopped || cbx_time_is_up() || (b->asked.stop && b->asked.stop(b->asked.user));
    return b->stopped || b->num_flip > 0 || b->bounds >= b->limit;
}

/* ---- what the user has made */

static void make(cbx_branch *b, int32_t choice)
{
    b->asked.make(b->asked.user, choice, true);
    b->made[b->num_made++] = choice;
}

static void unmake(cbx_branch *b)
{
    b->asked.make(b->asked.user, b->made[--b->num_made], false);
}

/* Makes just these, in this order. */
static void make_these(cbx_branch *b, const int32_t *made, int64_t count)
{
    int64_t same = 0;
    while (same < count && same < b->num_made && b->made[same] == made[same])
        same++;
    while (b->num_made > same)
        unmake(b);
    while (b->num_made < count)
        make(b, made[b->num_made]);
}

static bool may(const cbx_branch *b, int32_t choice)
{
    return cbx_choice_is_open(b->graph, choice) &&
           (!b->asked.may || b->asked.may(b->asked.user, choice));
}

static int by_gain(const void *x, const void *y)
{
    const cbx_ranked *a = x, *b = y;
    if (a->gain != b->gain)
        return a->gain < b->gain ? 1 : -1;
    return (a->choice > b->choice) - (a->choice < b->choice);
}

/* Those that may be made, the one with the largest gain first. */
static int64_t rank(cbx_branch *b, const double *gain)
{
    int64_t count = 0;
    for (int32_t c = 0; c < b->graph->count; c++)
        if (may(b, c))
            b->ranked[count++] = (cbx_ranked){gain[c], c};
    qsort(b->ranked, (size_t)count, sizeof *b->ranked, by_gain);
    return count;
}

/* The lead with one choice more. */
static double lead_with(cbx_branch *b, int32_t choice)
{
    make(b, choice);
    b->asks++;
    double lead = b->asked.lead(b->asked.user);
    if (lead > 0 && !cbx_time_is_up()) {
        memcpy(b->flip, b->made, (size_t)b->num_made * sizeof *b->flip);
        b->num_flip = b->num_made;
    }
    unmake(b);
    return lead;
}

/* ---- branches */

/* The counterparts of a choice, of the branch's; just itself where nothing is alike. */
static int64_t find_orbit(cbx_branch *b, const cbx_open_branch *from, int32_t choice)
{
    b->orbit[0] = choice;
    if (!b->use_symmetry)
        return 1;
    int64_t count = cbx_symmetry_orbit(&b->symmetry, from->fate, choice, b->orbit);
    b->skipped = b->skipped || count > 1;
    return count;
}

/* Asks the model about each of the sets of one more choice that the bound leaves, and of
 * counterparts about one. */
static void ask_each(cbx_branch *b, const cbx_open_branch *from, const cbx_branch_bound *bound)
{
    double  now = bound->now + bound->rounding;
    int64_t count = rank(b, bound->gain);
    memset(b->is_same, 0, (size_t)b->graph->count * sizeof *b->is_same);
    for (int64_t k = 0; k < count && now + b->ranked[k].gain >= 0 && !is_over(b); k++) {
        int32_t choice = b->ranked[k].choice;
        if (b->is_same[choice])
            continue;
        double lead = lead_with(b, choice);
        b->near = b->near || lead > -bound->blur;
        for (int64_t same = find_orbit(b, from, choice); same > 0; same--)
            b->is_same[b->orbit[same - 1]] = 1;
    }
}

/* The open choice with the largest gain; -1: there is none. */
static int32_t best_choice(const cbx_branch *b, const double *gain)
{
    int32_t best = -1;
    for (int32_t c = 0; c < b->graph->count; c++)
        if (may(b, c) && (best < 0 || gain[c] > gain[best]))
            best = c;
    return best;
}

/* Bars choices that no set has that flips: with what they gain themselves and the best others
 * together the lead is still below 0. Bounds of what is left are tighter, and take less. Returns
 * whether that is worth another one. */
static bool reduce(cbx_branch *b, cbx_open_branch *from, const cbx_branch_bound *bound)
{
    const cbx_partial_graph *g = b->graph;
    int64_t                  most = g->budget < g->count ? g->budget : g->count;
    cbx_largest              best = {.best = b->best, .count = most};
    int64_t                  open = 0, barred = 0;
    for (int32_t c = 0; c < g->count; c++)
        if (cbx_choice_is_open(g, c)) {
            open++;
            cbx_largest_take(&best, bound->gain[c]);
        }
    double all = cbx_largest_sum(&best), rest = cbx_largest_rest(&best);
    double least = best.held == most ? best.best[most - 1] : 0;
    for (int32_t c = 0; c < g->count; c++) {
        double gain = bound->gain[c], others = gain > 0 && gain >= least ? all - gain : rest;
        if (!cbx_choice_is_open(g, c) || !(bound->now + bound->rounding + gain + others < 0))
            continue;
        from->fate[c] = CBX_BARRED;
        barred++;
    }
    return REDUCES * barred > open;
}

/* The choice that the branch's sets have or have not; -1: all that are left are excluded, or were
 * asked about; AGAIN: there are fewer now. */
static int32_t choose(cbx_branch *b, cbx_open_branch *from, const cbx_branch_bound *bound, bool all)
{
    b->stopped = b->stopped || bound->late || bound->out_of_memory;
    b->out_of_memory = b->out_of_memory || bound->out_of_memory;
    if (b->stopped || b->num_flip > 0 ||
        bound->lead < 0) /* of two that are equal, either may lead */
        return -1;
    cbx_partial_graph_settle(b->graph, from->fate);
    make_these(b, from->made, from->num_made);
    if (b->graph->budget == 1) {
        ask_each(b, from, bound);
        return -1;
    }
    if (reduce(b, from, bound))
        return AGAIN;
    cbx_partial_graph_settle(b->graph, from->fate);
    int32_t choice = best_choice(b, bound->gain);
    if (choice >= 0 && all)
        b->near = b->near || lead_with(b, choice) > -bound->blur;
    return choice;
}

/* The sets with the choice, and then those without it or any counterpart. */
static void split(cbx_branch *b, const cbx_open_branch *from, int32_t choice)
{
    cbx_open_branch *without = cbx_wave_push(b, from), *with = cbx_wave_push(b, from);
    if (!without || !with) {
        b->stopped = b->out_of_memory = true;
        return;
    }
    without = &b->open[b->num_open - 2];
    for (int64_t k = find_orbit(b, from, choice); k > 0; k--)
        without->fate[b->orbit[k - 1]] = CBX_BARRED;
    with->fate[choice] = CBX_MADE;
    with->made[with->num_made++] = choice;
}

/* Sets of the budget's more choices, or where `all` of fewer as well. */
static void search_once(cbx_branch *b, bool all)
{
    int32_t chosen[CBX_WAVE];
    int64_t width = 1;
    cbx_wave_start(b);
    while (b->num_open > 0 && !is_over(b)) {
        int64_t most = b->limit - b->bounds < width ? b->limit - b->bounds : width;
        int64_t count = cbx_wave_bound(b, most);
        for (int64_t k = 0; k < count; k++)
            chosen[k] = choose(b, &b->taken[k], &b->wave[k], all);
        for (int64_t k = count - 1; k >= 0 && !b->stopped; k--)
            if (chosen[k] >= 0)
                split(b, &b->taken[k], chosen[k]);
            else if (chosen[k] == AGAIN && !cbx_wave_push(b, &b->taken[k]))
                b->stopped = b->out_of_memory = true;
        width = 2 * width < CBX_WAVE ? 2 * width : CBX_WAVE;
    }
    make_these(b, b->made, 0);
    cbx_wave_end(b);
}

/* Where a lead was so near to 0 that the model may say otherwise of a counterpart, each is tried.
 */
static void search(cbx_branch *b, bool all)
{
    b->use_symmetry = b->symmetry.any;
    b->skipped = b->near = false;
    search_once(b, all);
    if (!(b->skipped && b->near) || is_over(b))
        return;
    b->use_symmetry = false;
    search_once(b, all);
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

/* ---- the root */

static void update(cbx_branch *b)
{
    b->bounds++;
    if (cbx_lead_bound_update(b->bound)) {
        b->stopped = true;
        b->out_of_memory = !cbx_time_is_up();
    }
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

/* ---- a dive */

/* The choice, of those that promise most, with which the lead is largest; -1: none. */
static int32_t best_step(cbx_branch *b)
{
    double  best = -INFINITY;
    int32_t choice = -1;
    update(b);
    if (!b->stopped)
        (void)cbx_lead_bound_of(b->bound, b->ahead, b->behind);
    int64_t count = is_over(b) ? 0 : rank(b, b->bound->gain);
    for (int64_t k = 0; k < count && k < ASKED_AT_ONCE && !is_over(b); k++) {
        double lead = lead_with(b, b->ranked[k].choice);
        if (lead > best) {
            best = lead;
            choice = b->ranked[k].choice;
        }
    }
    return choice;
}

void cbx_branch_dive(cbx_branch *b)
{
    int32_t choice;
    while (b->num_made < b->most && (choice = best_step(b)) >= 0 && b->num_flip == 0) {
        make(b, choice);
        cbx_partial_graph_make(b->graph, choice);
    }
    while (b->num_made > 0) {
        cbx_partial_graph_unmake(b->graph, b->made[b->num_made - 1]);
        unmake(b);
    }
}
