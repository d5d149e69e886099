/* SPDX-License-Identifier: Apache-2.0 */
/* walk_search.c: see walk_search.h. */
#include "walk_search.h"

#include <math.h>
#include <string.h>

#include "clock.h"
#include "deadline.h"
#include "error.h"

/* Rounds for prices: of the first branch with so many removals at the asked node, and of others. */
enum { ROUNDS = 60, MORE_ROUNDS = 12 };

/* A branch is looked at again where one choice in so many was barred. */
enum { AGAIN = 20 };

/* Choices by which a branch might be split that are looked at. */
enum { LOOKED_AT = 16 };

/* Where a first bound is above 0 by so many times the lead that is missing, branches are too many.
 */
static const double HOPELESS = 4;

/* What has been made bends ReLUs by more than this, of the lead that is missing: then all is told
 * anew. */
static const double BENT = 0.1;

static cbx_status add_level(cbx_walk_search *s, bool *known, cbx_error *err)
{
    const cbx_spread *of = &s->b->bound->spread;
    cbx_walk_level   *l = &s->level[s->levels];
    cbx_status        status = cbx_walks_init(&l->walks, of, s->arena, known, err);
    if (!status && *known)
        status = cbx_walk_gains_init(&l->gains, &l->walks, s->arena, err);
    if (!status && *known)
        status = cbx_walk_bends_init(&l->bends, &l->walks, s->arena, err);
    if (!status && *known)
        status = cbx_walk_share_init(&l->share, &l->gains, &l->bends, s->arena, err);
    if (!status && !(l->fate = CBX_NEW(s->arena, uint8_t, s->b->graph->count)))
        status = cbx_fail_memory(err);
    s->levels += !status && *known;
    return status;
}

cbx_status cbx_walk_search_init(cbx_walk_search *s, cbx_branch *b, cbx_arena *arena, bool *known,
                                cbx_error *err)
{
    *s = (cbx_walk_search){.b = b, .arena = arena, .until = INFINITY, .hopeless = HOPELESS};
    *known = cbx_walks_are_known(&b->bound->spread);
    if (!*known)
        return CBX_OK;
    s->set = CBX_NEW(arena, int32_t, CBX_WALK_REMOVALS);
    s->with = CBX_NEW(arena, double, b->graph->count);
    return s->set && s->with ? add_level(s, known, err) : cbx_fail_memory(err);
}

/* Tells how ReLUs bend from what this branch has made on. */
static bool begin_level(cbx_walk_search *s, int level, const uint8_t *fate, int64_t left)
{
    cbx_walk_level *l = &s->level[level];
    bool            known = true;
    cbx_error       err = {0};
    if (level == s->levels && add_level(s, &known, &err)) {
        s->b->stopped = s->b->out_of_memory = true;
        return false;
    }
    memcpy(l->fate, fate, (size_t)s->b->graph->count);
    cbx_walks_look(&l->walks, l->fate);
    cbx_walks_weigh(&l->walks, s->b->ahead, s->b->behind);
    if (cbx_walk_bends_tell(&l->bends, left, s->b->ahead, s->b->behind)) {
        s->b->stopped = true;
        s->b->out_of_memory = !cbx_time_is_up();
    }
    return !s->b->stopped;
}

/* ---- branches */

static bool push(cbx_walk_search *s, const cbx_walk_branch *like)
{
    size_t size = (size_t)s->b->graph->count;
    if (s->num_open == s->room) {
        int64_t          room = s->room ? 2 * s->room : 64;
        cbx_walk_branch *open = CBX_NEW(s->arena, cbx_walk_branch, room);
        if (!open)
            return false;
        if (s->room)
            memcpy(open, s->open, (size_t)s->room * sizeof *open);
        for (int64_t k = s->room; k < room; k++)
            if (!(open[k].fate = CBX_NEW(s->arena, uint8_t, size)))
                return false;
        s->open = open;
        s->room = room;
    }
    cbx_walk_branch *to = &s->open[s->num_open++];
    uint8_t         *fate = to->fate;
    *to = *like;
    to->fate = fate;
    memcpy(fate, like->fate, size);
    return true;
}

/* Asks the model about just those that are made. */
static void ask(cbx_walk_search *s, const cbx_walk_branch *of)
{
    int64_t count = 0;
    for (int32_t c = 0; c < s->b->graph->count; c++)
        if (of->fate[c] == CBX_MADE)
            s->set[count++] = c;
    (void)cbx_branch_ask(s->b, s->set, count);
}

/* Bars what no set has that leads. Returns how many of how many. */
static int64_t bar(cbx_walk_search *s, cbx_walk_branch *of, double least, int64_t *open)
{
    const cbx_walk_share *share = &s->level[of->level].share;
    int64_t               barred = 0;
    *open = 0;
    for (int32_t c = 0; c < s->b->graph->count; c++)
        s->with[c] = of->fate[c] == CBX_FREE ? cbx_walk_share_with(share, c) : -INFINITY;
    for (int32_t c = 0; c < s->b->graph->count; c++) {
        if (of->fate[c] != CBX_FREE)
            continue;
        (*open)++;
        if (!(s->with[c] < least))
            continue;
        of->fate[c] = CBX_BARRED;
        barred++;
    }
    return barred;
}

/* The choice without which least is left, of those that promise most. One of them is open. */
static int32_t choose(cbx_walk_search *s, const cbx_walk_branch *of)
{
    int32_t first[LOOKED_AT], count = 0, best = -1;
    double  least = INFINITY;
    for (int32_t c = 0; c < s->b->graph->count; c++) {
        if (of->fate[c] != CBX_FREE ||
            (count == LOOKED_AT && s->with[c] <= s->with[first[count - 1]]))
            continue;
        int32_t k = count < LOOKED_AT ? count++ : count - 1;
        for (; k > 0 && s->with[first[k - 1]] < s->with[c]; k--)
            first[k] = first[k - 1];
        first[k] = c;
    }
    for (int32_t k = 0; k < count; k++) {
        double without = cbx_walk_share_without(&s->level[of->level].share, first[k]);
        if (best < 0 || without < least) {
            least = without;
            best = first[k];
        }
    }
    return best;
}

static bool is_over(const cbx_walk_search *s)
{
    return s->is_hopeless || cbx_branch_is_over(s->b) ||
           (s->until < INFINITY && cbx_clock() >= s->until);
}

/* Puts the branch as it is; whether its own set is excluded. */
static bool settle(cbx_walk_search *s, cbx_walk_branch *of, int64_t size, int64_t at_root)
{
    cbx_walk_level *l = &s->level[of->level];
    cbx_walks_settle(&l->walks, of->fate, size - of->made, at_root - of->at_root);
    if (of->level + 1 == CBX_WALK_LEVELS || size == of->made ||
        cbx_walk_share_made(&l->share) - l->walks.lead <= BENT * fabs(s->lead))
        return true;
    of->level++;
    if (!begin_level(s, of->level, of->fate, size - of->made))
        return false;
    cbx_walks_settle(&s->level[of->level].walks, of->fate, size - of->made, at_root - of->at_root);
    return true;
}

/* Bounds it, until nothing more is barred. False: no set of it leads. */
static bool is_left(cbx_walk_search *s, cbx_walk_branch *of, int64_t size, int64_t at_root)
{
    double  least = -s->rounding;
    int64_t open = 0, barred = 0;
    int     level = of->level;
    bool    first = of->made == 0;
    do {
        const cbx_walks *w = &s->level[of->level].walks;
        if (cbx_out_of_time(30.0 * (w->num_leaves + w->num_kids)) || is_over(s) ||
            !settle(s, of, size, at_root))
            return true;
        cbx_walk_level *l = &s->level[of->level];
        first = first || level != of->level;
        level = of->level;
        s->bounds++;
        if (!of->asked && at_root == of->at_root && cbx_walk_share_made(&l->share) >= least)
            ask(s, of);
        of->asked = true;
        if (size == of->made)
            return false;
        cbx_walk_gains_compute(&l->gains);
        cbx_walk_share_tell(&l->share);
        cbx_walk_share_seek(&l->share, first, first ? ROUNDS : MORE_ROUNDS, least);
        if (l->share.bound < least)
            return false;
        s->is_hopeless = of->made == 0 && first && l->share.bound > s->hopeless * fabs(s->lead);
        barred = bar(s, of, least, &open);
        first = false;
    } while (barred * AGAIN > open);
    return open > barred;
}

static bool split(cbx_walk_search *s, const cbx_walk_branch *of)
{
    int32_t         choice = choose(s, of);
    cbx_walk_branch next = *of;
    next.fate[choice] = CBX_BARRED;
    if (!push(s, &next))
        return false;
    next.fate[choice] = CBX_MADE;
    next.made++;
    next.at_root += cbx_walks_root_end(&s->level[0].walks, choice) >= 0;
    next.asked = false;
    return push(s, &next);
}

/* Of sets with so many removals at the asked node. False: it ended before it was through. */
static bool search(cbx_walk_search *s, int64_t size, int64_t at_root, int64_t bounds)
{
    cbx_walk_branch root = {.fate = s->b->root->fate}, taken = root;
    s->num_open = 0;
    if (!(taken.fate = CBX_NEW(s->arena, uint8_t, s->b->graph->count)) || !push(s, &root)) {
        s->b->stopped = s->b->out_of_memory = true;
        return false;
    }
    while (s->num_open > 0 && !is_over(s)) {
        if (s->bounds >= bounds)
            return false;
        cbx_walk_branch *next = &s->open[--s->num_open];
        uint8_t         *fate = taken.fate;
        taken = *next;
        taken.fate = fate;
        memcpy(fate, next->fate, (size_t)s->b->graph->count);
        if (!is_left(s, &taken, size, at_root) || is_over(s))
            continue;
        if (!split(s, &taken))
            s->b->stopped = s->b->out_of_memory = true;
    }
    return !is_over(s);
}

bool cbx_walk_search_none(cbx_walk_search *s, int32_t class, int64_t size, int64_t bounds)
{
    cbx_branch *b = s->b;
    int64_t     most = 0;
    for (int32_t c = 0; c < b->graph->count; c++)
        most += cbx_walks_root_end(&s->level[0].walks, c) >= 0;
    most = most < size ? most : size;
    b->ahead = class;
    cbx_branch_begin(b, size);
    if (!cbx_branch_is_over(b))
        s->rounding = cbx_rounding_of(&b->bound->sizes, class, b->behind);
    cbx_branch_end(b);
    s->bounds = s->num_open = 0;
    s->is_hopeless = false;
    if (size > CBX_WALK_REMOVALS || cbx_branch_is_over(b) || !(s->rounding < INFINITY) ||
        !begin_level(s, 0, b->root->fate, size))
        return false; /* nothing is known of numbers that are too large for the model */
    cbx_walks_settle(&s->level[0].walks, b->root->fate, 0, 0);
    s->lead = s->level[0].walks.lead;
    for (int64_t k = 0; k <= most; k++)
        if (!search(s, size, k, bounds))
            return false;
    return true;
}
