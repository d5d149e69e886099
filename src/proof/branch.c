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
                      .mixed = CBX_NEW(arena, double, graph->count),
                      .orbit = CBX_NEW(arena, int32_t, graph->count),
                      .is_same = CBX_NEW(arena, uint8_t, graph->count),
                      .made = CBX_NEW(arena, int32_t, most + 1),
                      .flip = CBX_NEW(arena, int32_t, most + 1),
                      .most = most,
                      .limit = INT64_MAX};
    if (!b->ranked || !b->best || !b->mixed || !b->orbit || !b->is_same || !b->made || !b->flip)
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

int64_t cbx_branch_work(const cbx_branch *b, const uint8_t *fate)
{
    int64_t work = CBX_STEADY;
    for (int32_t c = 0; c < b->graph->count; c++)
        work += fate[c] == CBX_FREE;
    return work;
}

bool cbx_branch_is_over(cbx_branch *b)
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

/* One choice is left, of which the bound is nearly exact: it is above the goal, which becomes a
 * little higher than that. */
static void raise_goal(cbx_branch *b, const cbx_branch_bound *bound)
{
    double lead = bound->lead + bound->goal;
    b->goal = fmax(b->goal, fmin(0, lead - lead / 20));
}

/* Asks the model about each of the sets of one more choice that the bound leaves, and of
 * counterparts about one. */
static void ask_each(cbx_branch *b, const cbx_open_branch *from, const cbx_branch_bound *bound)
{
    double  now = bound->now + bound->goal + bound->rounding;
    int64_t count = rank(b, bound->gain);
    memset(b->is_same, 0, (size_t)b->graph->count * sizeof *b->is_same);
    for (int64_t k = 0; k < count && now + b->ranked[k].gain >= 0 && !cbx_branch_is_over(b); k++) {
        int32_t choice = b->ranked[k].choice;
        if (b->is_same[choice])
            continue;
        double lead = lead_with(b, choice);
        b->furthest = fmax(b->furthest, now + b->ranked[k].gain);
        b->near = b->near || lead > -bound->blur;
        for (int64_t same = find_orbit(b, from, choice); same > 0; same--)
            b->is_same[b->orbit[same - 1]] = 1;
    }
}

/* Bars those that no set of `budget` more has that flips, by these gains. */
static int64_t bar(cbx_branch *b, uint8_t *fate, const double *gain, double now, int64_t budget)
{
    const int32_t count = b->graph->count;
    cbx_largest   best = {.best = b->best, .count = budget < count ? budget : count};
    int64_t       barred = 0;
    for (int32_t c = 0; c < count; c++)
        if (fate[c] == CBX_FREE)
            cbx_largest_take(&best, gain[c]);
    double all = cbx_largest_sum(&best), rest = cbx_largest_rest(&best);
    for (int32_t c = 0; c < count; c++) {
        if (fate[c] != CBX_FREE || !(now + gain[c] + cbx_beside(all, rest, gain[c]) < 0))
            continue;
        fate[c] = CBX_BARRED;
        barred++;
    }
    return barred;
}

/* Bars choices that no set of `budget` more has that flips, beside one that is made (-1: none):
 * with what they gain themselves and the best others together the lead is still below 0, by one
 * share or another. Bounds of what is left are tighter, and take less. Returns whether that is
 * worth another one. */
static bool reduce(cbx_branch *b, uint8_t *fate, const cbx_branch_bound *bound, int32_t made,
                   int64_t budget)
{
    int64_t open = 0, barred = 0, count = b->graph->count;
    for (int32_t c = 0; c < count; c++)
        open += fate[c] == CBX_FREE;
    for (int k = 0; cbx_gains_of(&bound->gains, count, k, b->mixed); k++) {
        double now = bound->now + bound->rounding + (made >= 0 ? b->mixed[made] : 0);
        barred += bar(b, fate, b->mixed, now, budget);
    }
    return REDUCES * barred > open;
}

/* What comes of a branch: it is split by so many choices, the first ones first. 0: all that were
 * left are excluded, or were asked about; AGAIN: there are fewer now. */
typedef struct choices {
    int32_t first[CBX_SPLIT];
    int64_t count;
    bool    closed; /* sets without any of them are excluded */
} choices;

/* Are all sets of those that are ranked from `begin` on excluded? */
static bool is_closed(cbx_branch *b, const cbx_branch_bound *bound, int64_t begin, int64_t end)
{
    int64_t     most = b->graph->budget < end ? b->graph->budget : end;
    cbx_largest best = {.best = b->best, .count = most};
    for (int64_t k = begin; k < end; k++)
        cbx_largest_take(&best, bound->gain[b->ranked[k].choice]);
    return bound->now + bound->rounding + cbx_largest_sum(&best) < 0;
}

/* Those that promise most, until the others are excluded. */
static void take_first(cbx_branch *b, const cbx_branch_bound *bound, choices *out)
{
    int64_t count = rank(b, bound->promise);
    out->count = 0;
    while (!(out->closed = is_closed(b, bound, out->count, count)) && out->count < count &&
           out->count < CBX_SPLIT) {
        out->first[out->count] = b->ranked[out->count].choice;
        out->count++;
    }
}

static choices choose(cbx_branch *b, cbx_open_branch *from, const cbx_branch_bound *bound, bool all)
{
    choices out = {.count = 0};
    b->stopped = b->stopped || bound->late || bound->out_of_memory;
    b->out_of_memory = b->out_of_memory || bound->out_of_memory;
    if (b->stopped || b->num_flip > 0 ||
        bound->lead < 0) /* of two that are equal, either may lead */
        return out;
    cbx_partial_graph_settle(b->graph, from->fate);
    make_these(b, from->made, from->num_made);
    if (b->graph->budget == 1) {
        raise_goal(b, bound);
        if (bound->lead + bound->goal >= 0)
            ask_each(b, from, bound);
        return out;
    }
    if (reduce(b, from->fate, bound, -1, b->graph->budget)) {
        out.count = AGAIN;
        return out;
    }
    cbx_partial_graph_settle(b->graph, from->fate);
    take_first(b, bound, &out);
    for (int64_t k = 0; all && k < out.count && !cbx_branch_is_over(b); k++)
        b->near = lead_with(b, out.first[k]) > -bound->blur || b->near;
    return out;
}

/* Are all sets excluded that have this choice, which the branch has made, by what others gain
 * beside it? Bars those that are in none that is not. */
static bool is_excluded_with(cbx_branch *b, const cbx_branch_bound *bound, int32_t choice,
                             cbx_open_branch *with)
{
    const cbx_partners *of = &bound->partners;
    int64_t             budget = b->budget - with->num_made, count = b->graph->count;
    int32_t             k = 0;
    while (k < of->count && of->choice[k] != choice)
        k++;
    if (k == of->count)
        return false;
    const double *beside = of->beside + k * count;
    double        now = bound->now + bound->rounding + of->alone[k];
    cbx_largest   best = {.best = b->best, .count = budget};
    (void)bar(b, with->fate, beside, now, budget);
    for (int32_t c = 0; c < count; c++)
        if (with->fate[c] == CBX_FREE)
            cbx_largest_take(&best, beside[c]);
    return now + cbx_largest_sum(&best) < 0;
}

/* The sets with the first choice, then those with the second and without the first or any
 * counterpart, and so on; at last those without any, unless these are excluded. */
static void split(cbx_branch *b, const cbx_open_branch *from, const cbx_branch_bound *bound,
                  const choices *by)
{
    int64_t begin = b->num_open;
    if (!cbx_wave_push(b, from)) {
        b->stopped = b->out_of_memory = true;
        return;
    }
    for (int64_t k = 0; k < by->count && !b->stopped; k++) {
        int32_t          choice = by->first[k];
        cbx_open_branch *with = &b->open[b->num_open - 1];
        if (with->fate[choice] != CBX_FREE)
            continue; /* it has a counterpart before it */
        if (!cbx_wave_push(b, with)) {
            b->stopped = b->out_of_memory = true;
            return;
        }
        cbx_open_branch *without = &b->open[b->num_open - 1];
        with = without - 1;
        for (int64_t i = find_orbit(b, with, choice); i > 0; i--)
            without->fate[b->orbit[i - 1]] = CBX_BARRED;
        with->fate[choice] = CBX_MADE;
        with->made[with->num_made++] = choice;
        (void)reduce(b, with->fate, bound, choice, b->budget - with->num_made);
        if (is_excluded_with(b, bound, choice, with)) { /* what follows takes its place */
            cbx_open_branch swap = *with;
            *with = *without;
            *without = swap;
            b->num_open--;
        }
    }
    b->num_open -= by->closed;
    for (int64_t i = begin, j = b->num_open - 1; i < j; i++, j--) { /* the next one is the last */
        cbx_open_branch swap = b->open[i];
        b->open[i] = b->open[j];
        b->open[j] = swap;
    }
}

/* Sets of the budget's more choices, or where `all` of fewer as well. */
static void search_once(cbx_branch *b, bool all)
{
    choices chosen[CBX_WAVE] = {0};
    int64_t width = 1;
    cbx_wave_start(b);
    while (b->num_open > 0 && !cbx_branch_is_over(b)) {
        int64_t most = b->limit - b->bounds < width ? b->limit - b->bounds : width;
        int64_t count = cbx_wave_bound(b, most);
        for (int64_t k = 0; k < count; k++)
            chosen[k] = choose(b, &b->taken[k], &b->wave[k], all);
        for (int64_t k = count - 1; k >= 0 && !b->stopped; k--)
            if (chosen[k].count > 0)
                split(b, &b->taken[k], &b->wave[k], &chosen[k]);
            else if (chosen[k].count == AGAIN && !cbx_wave_push(b, &b->taken[k]))
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
    if (!(b->skipped && b->near) || cbx_branch_is_over(b))
        return;
    b->use_symmetry = false;
    search_once(b, all);
}

bool cbx_branch_none_of(cbx_branch *b, int64_t size)
{
    int64_t budget = b->graph->budget;
    b->graph->budget = size < budget ? size : budget;
    b->furthest = -INFINITY;
    search(b, false);
    b->graph->budget = budget;
    return !cbx_branch_is_over(b);
}

double cbx_branch_furthest(const cbx_branch *b)
{
    return b->asked.leads_flip ? b->goal : fmax(b->goal, b->furthest);
}

bool cbx_branch_none_at_all(cbx_branch *b, int64_t bounds)
{
    b->limit = b->bounds + bounds;
    search(b, true);
    bool none = !cbx_branch_is_over(b);
    b->limit = INT64_MAX;
    return none;
}

/* ---- bounds of all sets */

static void update(cbx_branch *b)
{
    b->bounds++;
    b->work += cbx_branch_work(b, b->graph->fate);
    if (cbx_lead_bound_update(b->bound)) {
        b->stopped = true;
        b->out_of_memory = !cbx_time_is_up();
    }
}

void cbx_branch_begin(cbx_branch *b, int64_t size)
{
    b->budget = b->graph->budget;
    cbx_partial_graph_settle(b->graph, b->start);
    b->graph->budget = size;
    update(b);
}

void cbx_branch_end(cbx_branch *b)
{
    cbx_partial_graph_settle(b->graph, b->root->fate);
    b->graph->budget = b->budget;
}

void cbx_branch_unbar(cbx_branch *b)
{
    memcpy(b->start, b->root->fate, (size_t)b->graph->count * sizeof *b->start);
}

/* ---- a dive */

/* The choice, of the first `most` by gain, with which the lead is largest; -1: none. */
static int32_t best_of(cbx_branch *b, const double *gain, int64_t most, double *best)
{
    int32_t choice = -1;
    int64_t count = cbx_branch_is_over(b) ? 0 : rank(b, gain);
    *best = -INFINITY;
    for (int64_t k = 0; k < count && k < most && !cbx_branch_is_over(b); k++) {
        double lead = lead_with(b, b->ranked[k].choice);
        if (lead > *best) {
            *best = lead;
            choice = b->ranked[k].choice;
        }
    }
    return choice;
}

/* The graph with just these made. */
static void settle_made(cbx_branch *b, const int32_t *made, int64_t count)
{
    cbx_partial_graph_settle(b->graph, b->root->fate);
    for (int64_t k = 0; k < count; k++)
        cbx_partial_graph_make(b->graph, made[k]);
}

double cbx_branch_ask(cbx_branch *b, const int32_t *made, int64_t count)
{
    double lead = -INFINITY;
    bool   allowed = count > 0;
    cbx_partial_graph_settle(b->graph, b->root->fate);
    make_these(b, made, 0);
    for (int64_t k = 0; k < count && allowed; k++) {
        allowed = may(b, made[k]);
        if (!allowed)
            break;
        cbx_partial_graph_make(b->graph, made[k]);
        if (k + 1 < count)
            make(b, made[k]);
        else
            lead = lead_with(b, made[k]);
    }
    make_these(b, made, 0);
    cbx_partial_graph_settle(b->graph, b->root->fate);
    return lead;
}

int32_t cbx_branch_best_more(cbx_branch *b, const int32_t *made, int64_t count, const double *gain,
                             int64_t most)
{
    double lead;
    settle_made(b, made, count);
    make_these(b, made, count);
    int32_t choice = best_of(b, gain, most, &lead);
    make_these(b, made, 0);
    cbx_partial_graph_settle(b->graph, b->root->fate);
    return choice;
}

double cbx_branch_lead_of(cbx_branch *b, const int32_t *made, int64_t count)
{
    int64_t budget = b->graph->budget;
    settle_made(b, made, count);
    b->graph->budget = 0; /* nothing is open */
    update(b);
    double lead = b->stopped ? 0 : cbx_lead_bound_of(b->bound, b->ahead, b->behind);
    b->graph->budget = budget - count;
    cbx_partial_graph_settle(b->graph, b->root->fate);
    return lead;
}

/* The choice, of those that promise most, with which the lead is largest; -1: none. */
static int32_t best_step(cbx_branch *b)
{
    double best;
    update(b);
    if (!b->stopped)
        (void)cbx_lead_bound_of(b->bound, b->ahead, b->behind);
    return best_of(b, b->bound->gain, ASKED_AT_ONCE, &best);
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
