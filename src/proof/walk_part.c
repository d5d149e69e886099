/* SPDX-License-Identifier: Apache-2.0 */
/* walk_part.c: see walk_part.h. */
#include "walk_part.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"

/* Rounds for prices: of the first branch with so many removals at the asked node, and of others. */
enum { ROUNDS = 60, MORE_ROUNDS = 12 };

/* A branch is looked at again where one choice in so many was barred. */
enum { AGAIN = 5 };

/* Choices by which a branch might be split that are looked at. */
enum { LOOKED_AT = 16 };

/* What has been made bends ReLUs by more than this, of the lead that is missing: then all is told
 * anew. */
static const double BENT = 0.1;

static int32_t count_of(const cbx_walk_part *p)
{
    return p->level[0].walks.graph->count;
}

static cbx_status add_level(cbx_walk_part *p, const cbx_spread *spread, bool *known, cbx_error *err)
{
    cbx_walk_level *l = &p->level[p->levels];
    cbx_status      status = cbx_walks_init(&l->walks, spread, &p->arena, known, err);
    if (!status && *known)
        status = cbx_walk_gains_init(&l->gains, &l->walks, &p->arena, err);
    if (!status && *known)
        status = cbx_walk_bends_init(&l->bends, &l->walks, &p->arena, err);
    if (!status && *known)
        status = cbx_walk_share_init(&l->share, &l->gains, &l->bends, &p->arena, err);
    if (!status && !(l->fate = CBX_NEW(&p->arena, uint8_t, spread->graph->count)))
        status = cbx_fail_memory(err);
    p->levels += !status && *known;
    return status;
}

cbx_status cbx_walk_part_init(cbx_walk_part *p, const cbx_spread *spread, bool *known,
                              cbx_error *err)
{
    const int64_t count = spread->graph->count;
    *p = (cbx_walk_part){.begun_ahead = -1};
    *known = cbx_walks_are_known(spread);
    if (!*known)
        return CBX_OK;
    p->with = CBX_NEW(&p->arena, double, count);
    p->taken.fate = CBX_NEW(&p->arena, uint8_t, count);
    return p->with && p->taken.fate ? add_level(p, spread, known, err) : cbx_fail_memory(err);
}

void cbx_walk_part_free(cbx_walk_part *p)
{
    cbx_arena_free(&p->arena);
}

bool cbx_walk_part_is_over(const cbx_walk_part *p)
{
    return p->is_hopeless || p->is_late || p->out_of_memory ||
           (p->num_open > 0 && p->bounds >= p->limit);
}

bool cbx_walk_part_is_through(const cbx_walk_part *p)
{
    return p->num_open == 0 && !cbx_walk_part_is_over(p);
}

/* Tells how ReLUs bend from what this branch has made on. */
static bool begin_level(cbx_walk_part *p, int level, const uint8_t *fate, int64_t left)
{
    const cbx_walk_question *q = p->q;
    cbx_walk_level          *l = &p->level[level];
    bool                     known = true;
    if (level == p->levels && (add_level(p, q->spread, &known, NULL) || !known)) {
        p->out_of_memory = true;
        return false;
    }
    memcpy(l->fate, fate, (size_t)count_of(p));
    cbx_walks_look(&l->walks, l->fate);
    cbx_walks_weigh(&l->walks, q->ahead, q->behind);
    if (cbx_walk_bends_tell(&l->bends, left, q->ahead, q->behind)) {
        p->is_late = cbx_time_is_up();
        p->out_of_memory = !p->is_late;
        return false;
    }
    return true;
}

/* ---- branches */

static bool push(cbx_walk_part *p, const cbx_walk_branch *like)
{
    size_t size = (size_t)count_of(p);
    if (p->num_open == p->room) {
        int64_t          room = p->room ? 2 * p->room : 64;
        cbx_walk_branch *open = CBX_NEW(&p->arena, cbx_walk_branch, room);
        if (!open)
            return false;
        if (p->room)
            memcpy(open, p->open, (size_t)p->room * sizeof *open);
        for (int64_t k = p->room; k < room; k++)
            if (!(open[k].fate = CBX_NEW(&p->arena, uint8_t, size)))
                return false;
        p->open = open;
        p->room = room;
    }
    cbx_walk_branch *to = &p->open[p->num_open++];
    uint8_t         *fate = to->fate;
    *to = *like;
    to->fate = fate;
    memcpy(fate, like->fate, size);
    return true;
}

/* The next one is at hand. */
static void take(cbx_walk_part *p)
{
    const cbx_walk_branch *next = &p->open[--p->num_open];
    uint8_t               *fate = p->taken.fate;
    p->taken = *next;
    p->taken.fate = fate;
    memcpy(fate, next->fate, (size_t)count_of(p));
}

/* The model is to be asked about just those that are made. */
static void list_made(cbx_walk_part *p, const cbx_walk_branch *of, double lead)
{
    int64_t count = 0;
    for (int32_t c = 0; c < count_of(p); c++)
        if (of->fate[c] == CBX_MADE)
            p->asked[p->num_asked][count++] = c;
    p->lead_of[p->num_asked] = lead;
    p->num_made[p->num_asked++] = count;
}

/* Bars what no set has that leads. Returns how many of how many. */
static int64_t bar(cbx_walk_part *p, cbx_walk_branch *of, double least, int64_t *open)
{
    const cbx_walk_share *share = &p->level[of->level].share;
    int64_t               barred = 0;
    *open = 0;
    for (int32_t c = 0; c < count_of(p); c++)
        p->with[c] = of->fate[c] == CBX_FREE ? cbx_walk_share_with(share, c) : -INFINITY;
    for (int32_t c = 0; c < count_of(p); c++) {
        if (of->fate[c] != CBX_FREE)
            continue;
        (*open)++;
        if (!(p->with[c] < least))
            continue;
        of->fate[c] = CBX_BARRED;
        barred++;
    }
    return barred;
}

/* The choice without which least is left, of those that promise most. One of them is open. */
static int32_t choose(const cbx_walk_part *p, const cbx_walk_branch *of)
{
    int32_t first[LOOKED_AT], count = 0, best = -1;
    double  least = INFINITY;
    for (int32_t c = 0; c < count_of(p); c++) {
        if (of->fate[c] != CBX_FREE ||
            (count == LOOKED_AT && p->with[c] <= p->with[first[count - 1]]))
            continue;
        int32_t k = count < LOOKED_AT ? count++ : count - 1;
        for (; k > 0 && p->with[first[k - 1]] < p->with[c]; k--)
            first[k] = first[k - 1];
        first[k] = c;
    }
    for (int32_t k = 0; k < count; k++) {
        double without = cbx_walk_share_without(&p->level[of->level].share, first[k]);
        if (best < 0 || without < least) {
            least = without;
            best = first[k];
        }
    }
    return best;
}

/* Puts the branch as it is. */
static cbx_walk_level *settle(cbx_walk_part *p, const cbx_walk_branch *of)
{
    cbx_walk_level *l = &p->level[of->level];
    cbx_walks_settle(&l->walks, of->fate, p->q->size - of->made, p->at_root - of->at_root);
    return l;
}

/* Is it better told anew how ReLUs bend, for what is left of the branch? */
static bool is_bent(const cbx_walk_part *p, const cbx_walk_branch *of)
{
    const cbx_walk_level *l = &p->level[of->level];
    return of->level + 1 < CBX_WALK_LEVELS && p->q->size > of->made &&
           cbx_walk_share_made(&l->share) - l->walks.lead > BENT * fabs(p->lead);
}

/* Bounds it, until nothing more is barred. False: no set of it leads. */
static bool is_left(cbx_walk_part *p, cbx_walk_branch *of)
{
    const double least = -p->q->rounding;
    int64_t      open = 0, barred = 0;
    bool         first = of->made == 0, again = true;
    while (again) {
        const cbx_walks *w = &p->level[of->level].walks;
        p->is_late = cbx_out_of_time(30.0 * (w->num_leaves + w->num_kids));
        if (p->is_late || cbx_walk_part_is_over(p))
            return true;
        cbx_walk_level *l = settle(p, of);
        p->bounds++;
        double made = cbx_walk_share_made(&l->share);
        if (!of->asked && p->at_root == of->at_root && made >= least)
            list_made(p, of, made);
        of->asked = true;
        if (p->q->size == of->made)
            return false;
        cbx_walk_gains_compute(&l->gains);
        cbx_walk_share_tell(&l->share);
        cbx_walk_share_seek(&l->share, first, first ? ROUNDS : MORE_ROUNDS, least);
        if (l->share.bound < least)
            return false;
        p->is_hopeless = of->made == 0 && first && l->share.bound > p->q->hopeless * fabs(p->lead);
        barred = bar(p, of, least, &open);
        again = barred * AGAIN > open;
        first = false;
        if (!again && open > barred && is_bent(p, of)) {
            of->level++;
            if (!begin_level(p, of->level, of->fate, p->q->size - of->made))
                return true;
            again = first = true;
        }
    }
    return open > barred;
}

static bool split(cbx_walk_part *p, const cbx_walk_branch *of)
{
    int32_t         choice = choose(p, of);
    cbx_walk_branch next = *of;
    next.fate[choice] = CBX_BARRED;
    if (!push(p, &next))
        return false;
    next.fate[choice] = CBX_MADE;
    next.made++;
    next.at_root += cbx_walks_root_end(&p->level[0].walks, choice) >= 0;
    next.asked = false;
    return push(p, &next);
}

/* ---- the search */

void cbx_walk_part_begin(cbx_walk_part *p, const cbx_walk_question *q, int64_t at_root,
                         int64_t limit)
{
    const cbx_walk_branch root = {.fate = (uint8_t *)q->fate};
    p->q = q;
    p->at_root = at_root;
    p->limit = limit;
    p->bounds = p->num_open = 0;
    p->num_asked = 0;
    p->is_hopeless = p->is_late = p->out_of_memory = false;
    p->out_of_memory = !push(p, &root);
}

/* The first level is the same for all parts of a question. */
static bool begin_root(cbx_walk_part *p)
{
    cbx_walk_level *l = &p->level[0];
    if (p->begun_ahead == p->q->ahead && p->begun_size == p->q->size)
        return true;
    p->begun_ahead = -1;
    if (!begin_level(p, 0, p->q->fate, p->q->size))
        return false;
    cbx_walks_settle(&l->walks, p->q->fate, 0, 0);
    p->lead = l->walks.lead;
    p->begun_ahead = p->q->ahead;
    p->begun_size = p->q->size;
    return true;
}

bool cbx_walk_part_step(cbx_walk_part *p)
{
    if (p->num_open == 0 || p->num_asked == CBX_WALK_ASKS || cbx_walk_part_is_over(p) ||
        !begin_root(p))
        return false;
    take(p);
    if (is_left(p, &p->taken) && !cbx_walk_part_is_over(p))
        p->out_of_memory = !split(p, &p->taken);
    return true;
}
