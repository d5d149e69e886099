/* SPDX-License-Identifier: Apache-2.0 */
/* walk_search.c: see walk_search.h. */
#include "walk_search.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "clock.h"
#include "deadline.h"
#include "error.h"
#include "order.h"
#include "threads.h"

/* Where a first bound is above 0 by so many times the lead that is missing, branches are too many.
 */
static const double HOPELESS = 4;

/* Parts are searched for so many seconds before the model is asked about what they list; and for no
 * more than so many where some of them has not looked up by then. */
static const double WHILE = 0.01, LONG_WHILE = 0.1;

/* Others are not called to what one thread has done in so many seconds: their tables take as long.
 */
static const double ALONE = 0.02;

/* That are worth to be at hand at once. */
static int most_parts(const cbx_branch *b)
{
    return b->threads < CBX_WALK_REMOVALS + 1 ? b->threads : CBX_WALK_REMOVALS + 1;
}

cbx_status cbx_walk_search_init(cbx_walk_search *s, cbx_branch *b, bool *known, cbx_error *err)
{
    *s = (cbx_walk_search){.b = b, .until = INFINITY, .hopeless = HOPELESS, .alone = ALONE};
    s->parts = CBX_NEW0(b->arena, cbx_walk_part, most_parts(b));
    s->flip = CBX_NEW(b->arena, int32_t, CBX_WALK_REMOVALS);
    if (!s->parts || !s->flip)
        return cbx_fail_memory(err);
    s->num_parts = 1;
    return cbx_walk_part_init(&s->parts[0], &b->bound->spread, known, err);
}

void cbx_walk_search_free(cbx_walk_search *s)
{
    for (int k = 0; k < s->num_parts; k++)
        cbx_walk_part_free(&s->parts[k]);
    s->num_parts = 0;
}

/* ---- parts */

/* How a search goes on. */
typedef struct going {
    cbx_walk_question q;
    int64_t           next;  /* the first part that is not begun */
    int64_t           ended; /* the first that did not exclude its sets, or how many there are */
    int64_t           limit; /* of bounds */
    int               width; /* parts at hand at once */
    double            began; /* on cbx_clock */
    bool              is_at_hand[CBX_WALK_REMOVALS + 1];
} going;

static bool is_worth_a_team(const cbx_walk_search *s, const going *g)
{
    return g->width == 1 && g->limit == INT64_MAX && g->next < g->ended &&
           cbx_clock() - g->began >= s->alone;
}

/* As many as there are threads; fewer where there is no memory. */
static void widen(cbx_walk_search *s, going *g)
{
    bool known;
    g->width = most_parts(s->b);
    while (s->num_parts < g->width) {
        cbx_walk_part *one = &s->parts[s->num_parts];
        if (cbx_walk_part_init(one, &s->b->bound->spread, &known, NULL) || !known) {
            cbx_walk_part_free(one);
            g->width = s->num_parts;
        } else {
            s->num_parts++;
        }
    }
}

/* Takes further parts. Returns how many are at hand. */
static int take_parts(cbx_walk_search *s, going *g)
{
    int count = 0;
    for (int k = 0; k < g->width; k++) {
        if (!g->is_at_hand[k] && g->next < g->ended) {
            cbx_walk_part_begin(&s->parts[k], &g->q, g->next++, g->limit - s->bounds);
            g->is_at_hand[k] = true;
        }
        count += g->is_at_hand[k];
    }
    return count;
}

/* Parts are searched side by side for a while. One that has come to a bound that takes long is not
 * waited for: the others go on. */
typedef struct shift {
    double     end, last;
    int        count;
    atomic_int ready; /* parts for which it has ended */
} shift;

static bool has_ended(shift *of, bool *ready)
{
    double now = cbx_clock();
    if (now < of->end)
        return false;
    if (!*ready)
        atomic_fetch_add(&of->ready, 1);
    *ready = true;
    return now >= of->last || atomic_load(&of->ready) == of->count;
}

static void run_one(cbx_walk_part *p, shift *of)
{
    bool ready = false;
    while (!has_ended(of, &ready) && cbx_walk_part_step(p))
        ;
    if (!ready)
        atomic_fetch_add(&of->ready, 1);
}

#ifdef _OPENMP
static void run_as_team(cbx_walk_search *s, const going *g, shift *of)
{
    const cbx_deadline *main = cbx_deadline_here;
    const bool          fixed = cbx_order_is_fixed();
#pragma omp parallel for schedule(static, 1) num_threads(g->width)
    for (int k = 0; k < g->width; k++) {
        cbx_deadline own;
        const bool   helps = cbx_thread_number() > 0, before = cbx_order_fix(fixed);
        if (helps)
            cbx_deadline_begin_beside(&own, main);
        if (g->is_at_hand[k])
            run_one(&s->parts[k], of);
        if (helps)
            cbx_deadline_end(&own);
        (void)cbx_order_fix(before);
    }
}
#endif

static void run(cbx_walk_search *s, const going *g, int count)
{
    shift of = {.end = cbx_clock() + WHILE, .count = count};
    of.last = of.end + LONG_WHILE;
#ifdef _OPENMP
    if (count > 1) {
        run_as_team(s, g, &of);
        return;
    }
#endif
    of.last = of.end;
    for (int k = 0; k < g->width; k++)
        if (g->is_at_hand[k])
            run_one(&s->parts[k], &of);
}

/* Asks the model about sets that are listed, up to the first one that flips. */
static bool has_flip(cbx_walk_search *s, cbx_walk_part *p)
{
    cbx_branch *b = s->b;
    for (int k = 0; k < p->num_asked && !cbx_branch_is_over(b); k++) {
        s->furthest = fmax(s->furthest, p->lead_of[k]);
        (void)cbx_branch_ask(b, p->asked[k], p->num_made[k]);
    }
    p->num_asked = 0;
    if (b->num_flip == 0)
        return false;
    memcpy(s->flip, b->flip, (size_t)b->num_flip * sizeof *s->flip);
    s->num_flip = b->num_flip;
    b->num_flip = 0;
    return true;
}

/* What has become of the part? */
static void look_at(cbx_walk_search *s, going *g, int k)
{
    cbx_walk_part *p = &s->parts[k];
    bool           flips = false, is_over;
    if (p->at_root < g->ended)
        flips = has_flip(s, p);
    is_over = flips || cbx_walk_part_is_over(p);
    if (is_over && p->at_root < g->ended) {
        g->ended = p->at_root;
        s->is_hopeless = p->is_hopeless && !flips;
        s->num_flip = flips || p->is_late ? s->num_flip : 0; /* late, whatever there is counts */
        s->b->stopped = s->b->stopped || p->out_of_memory;
        s->b->out_of_memory = s->b->out_of_memory || p->out_of_memory;
    }
    if (is_over || cbx_walk_part_is_through(p)) {
        s->bounds += p->bounds;
        g->is_at_hand[k] = false;
    }
}

/* Parts behind one that has ended are of no interest. */
static void drop_rest(cbx_walk_search *s, going *g)
{
    for (int k = 0; k < g->width; k++)
        g->is_at_hand[k] = g->is_at_hand[k] && s->parts[k].at_root < g->ended;
}

static bool is_over(const cbx_walk_search *s)
{
    return cbx_branch_is_over(s->b) || (s->until < INFINITY && cbx_clock() >= s->until);
}

/* Goes through the parts. True: all exclude their sets. */
static bool exclude(cbx_walk_search *s, going *g)
{
    const int64_t parts = g->ended;
    while (!is_over(s)) {
        int count = take_parts(s, g);
        if (count == 0)
            return g->ended == parts;
        run(s, g, count);
        for (int k = 0; k < g->width; k++)
            if (g->is_at_hand[k])
                look_at(s, g, k);
        drop_rest(s, g);
        if (is_worth_a_team(s, g))
            widen(s, g);
    }
    return false;
}

bool cbx_walk_search_none(cbx_walk_search *s, int32_t class, int64_t size, int64_t bounds)
{
    cbx_branch *b = s->b;
    int64_t     most = 0;
    double      rounding = INFINITY;
    for (int32_t c = 0; c < b->graph->count; c++)
        most += cbx_walks_root_end(&s->parts[0].level[0].walks, c) >= 0;
    most = most < size ? most : size;
    b->ahead = class;
    cbx_branch_begin(b, size);
    if (!cbx_branch_is_over(b))
        rounding = cbx_rounding_of(&b->bound->sizes, class, b->behind);
    cbx_branch_end(b);
    s->bounds = s->num_flip = 0;
    s->is_hopeless = false;
    s->furthest = -rounding; /* what is below that is not asked about */
    if (size > CBX_WALK_REMOVALS || !(rounding < INFINITY))
        return false; /* nothing is known of numbers that are too large for the model */
    going g = {.q = {.spread = &b->bound->spread,
                     .fate = b->root->fate,
                     .ahead = class,
                     .behind = b->behind,
                     .size = size,
                     .rounding = rounding,
                     .hopeless = s->hopeless},
               .ended = most + 1,
               .limit = bounds,
               .width = 1,
               .began = cbx_clock()};
    bool  none = exclude(s, &g);
    if (s->num_flip > 0) {
        memcpy(b->flip, s->flip, (size_t)s->num_flip * sizeof *b->flip);
        b->num_flip = s->num_flip;
    }
    return none;
}

double cbx_walk_search_furthest(const cbx_walk_search *s)
{
    return s->b->asked.leads_flip ? fmin(0, s->furthest) : s->furthest;
}
