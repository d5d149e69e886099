/* SPDX-License-Identifier: Apache-2.0 */
/* walk_share.c: see walk_share.h. */
#include "walk_share.h"

#include <math.h>
#include <string.h>

#include "error.h"

/* The row goes, or it stays, and what others add to it is told one way or the other. */
enum { GOES = CBX_WALK_WAYS, CASES };

/* Where nothing is known of prices; how far the first step goes, and when steps get shorter. */
static const double FIRST_PRICE = 1, FIRST_GOAL = 2, SHORTER = 0.6, STEP = 0.7, OF_PRICES = 0.2;
enum { PATIENCE = 8 };

cbx_status cbx_walk_share_init(cbx_walk_share *s, const cbx_walk_gains *gains,
                               const cbx_walk_bends *bends, cbx_arena *arena, cbx_error *err)
{
    const cbx_walks *w = gains->walks;
    int64_t          ends = 2 * (int64_t)w->graph->count, steps = CASES * CBX_WALK_STEPS;
    *s = (cbx_walk_share){.gains = gains,
                          .bends = bends,
                          .at = CBX_NEW(arena, double, w->n *steps),
                          .of = CBX_NEW(arena, double, ends *steps),
                          .part = CBX_NEW(arena, double, ends),
                          .taken = CBX_NEW(arena, uint8_t, ends),
                          .with = CBX_NEW(arena, double, ends),
                          .without = CBX_NEW(arena, double, ends),
                          .now.shift = CBX_NEW0(arena, double, ends),
                          .kept.shift = CBX_NEW0(arena, double, ends)};
    bool whole = s->at && s->of && s->part && s->taken && s->with && s->without && s->now.shift &&
                 s->kept.shift;
    return whole ? CBX_OK : cbx_fail_memory(err);
}

static const cbx_walks *walks_of(const cbx_walk_share *s)
{
    return s->gains->walks;
}

/* ---- what is gained */

static double *entry(double *table, int64_t index, int of_case)
{
    return table + (index * CASES + of_case) * CBX_WALK_STEPS;
}

/* What ReLUs add by a removal, with so many more at its node. */
static double bend_of(const cbx_walk_share *s, int32_t end, int64_t k)
{
    const cbx_walks *w = walks_of(s);
    int32_t          node = w->at[end];
    if (!s->bends || node < 0)
        return 0;
    int64_t more = node == 0 ? w->at_root : k;
    return cbx_walk_bend(s->bends, end, w->made[node] - s->bends->made[node] + more);
}

/* What they add by those at a node that are made. */
static double bends_at(const cbx_walk_share *s, int32_t node, int64_t k)
{
    const cbx_walks *w = walks_of(s);
    double           sum = 0;
    for (int64_t e = w->end_begin[node]; e < w->end_begin[node + 1] && w->made[node] > 0; e++)
        if (cbx_walks_is_gone(w, w->ends[e]))
            sum += bend_of(s, w->ends[e], k);
    return sum;
}

double cbx_walk_share_made(const cbx_walk_share *s)
{
    double sum = walks_of(s)->lead;
    for (int32_t i = 0; i < walks_of(s)->n && s->bends; i++)
        sum += bends_at(s, i, 0);
    return sum;
}

/* Can the row of the node go? */
static bool may_go(const cbx_walk_share *s, int32_t node)
{
    return s->gains->root_of[node] >= 0 && walks_of(s)->at_root > 0;
}

static bool has_case(const cbx_walk_share *s, int32_t node, int of_case)
{
    return of_case == GOES ? may_go(s, node) : of_case == 0 || s->gains->row_of[node] >= 0;
}

static void tell_end(cbx_walk_share *s, int32_t end, int64_t k)
{
    double more = bend_of(s, end, k);
    if (walks_of(s)->at[end ^ 1] == 0)
        more += bend_of(s, end ^ 1, 0);
    for (int c = 0; c < CASES; c++)
        if (has_case(s, walks_of(s)->at[end], c))
            entry(s->of, end, c)[k] =
                more + cbx_walk_gain_of(s->gains, end, k, c == GOES, c == GOES ? 0 : c);
}

static void tell_node(cbx_walk_share *s, int32_t node, int64_t k)
{
    const cbx_walks *w = walks_of(s);
    double           more = s->bends ? bends_at(s, node, k) - bends_at(s, node, 0) : 0;
    for (int c = 0; c < CASES; c++)
        if (has_case(s, node, c))
            entry(s->at, node, c)[k] =
                more + cbx_walk_gain_at(s->gains, node, k, c == GOES, c == GOES ? 0 : c);
    for (int64_t e = w->end_begin[node]; e < w->end_begin[node + 1]; e++)
        if (cbx_walks_is_open(w, w->ends[e]))
            tell_end(s, w->ends[e], k);
}

void cbx_walk_share_tell(cbx_walk_share *s)
{
    const cbx_walks *w = walks_of(s);
    s->lead = cbx_walk_share_made(s);
    for (int32_t i = 1; i < w->n; i++)
        for (int64_t k = 1; k <= w->most[i]; k++)
            tell_node(s, i, k);
    for (int32_t e = 0; e < 2 * w->graph->count; e++) {
        bool alone = w->at[e ^ 1] <= 0;
        s->part[e] = w->at[e] <= 0 ? 0 : alone ? 1 : 0.5;
    }
}

/* ---- what a node takes */

/* The best k of a node's removals in one of the cases: what they gain, the last of them, and the
 * next one behind it. Where the row goes one of the k is told already. */
typedef struct hand {
    double sum, last, next; /* -INFINITY: there are not so many */
    int    taken;
} hand;

typedef struct hands {
    hand of[CASES][CBX_WALK_STEPS];
} hands;

static double price_of(const cbx_walk_share *s, const cbx_walk_prices *p, int32_t end)
{
    return p->shift[end] - s->part[end] * p->removal;
}

static double gain_of(const cbx_walk_share *s, const cbx_walk_prices *p, int32_t end, int of_case,
                      int64_t k)
{
    return entry(s->of, end, of_case)[k] + price_of(s, p, end);
}

/* Those that are not told already. */
static bool is_counted(const cbx_walk_share *s, int32_t node, int32_t end)
{
    return cbx_walks_is_open(walks_of(s), end) && end != s->gains->root_of[node];
}

/* The largest `room` so far, the largest first; -INFINITY where there are fewer. */
static void insert(double *largest, int room, double value)
{
    if (!(value > largest[room - 1]))
        return;
    int k = room - 1;
    for (; k > 0 && largest[k - 1] < value; k--)
        largest[k] = largest[k - 1];
    largest[k] = value;
}

static void deal_case(const cbx_walk_share *s, const cbx_walk_prices *p, int32_t node, int of_case,
                      hand *out)
{
    const cbx_walks *w = walks_of(s);
    const int        most = w->most[node], told = of_case == GOES;
    const int32_t    root = s->gains->root_of[node];
    double           largest[CBX_WALK_STEPS][CBX_WALK_STEPS + 1];
    for (int k = 1; k <= most; k++)
        for (int i = 0; i <= k; i++)
            largest[k][i] = -INFINITY;
    for (int64_t i = w->end_begin[node]; i < w->end_begin[node + 1]; i++) {
        int32_t e = w->ends[i];
        if (!is_counted(s, node, e))
            continue;
        const double *of = entry(s->of, e, of_case), price = price_of(s, p, e);
        for (int k = 1; k <= most; k++)
            insert(largest[k], k - told + 1, of[k] + price);
    }
    for (int k = 1; k <= most; k++) {
        hand *h = &out[k];
        h->taken = k - told;
        h->sum = entry(s->at, node, of_case)[k];
        if (told)
            h->sum += gain_of(s, p, root, GOES, k) - p->at_root;
        for (int i = 0; i < h->taken; i++)
            h->sum += largest[k][i];
        h->last = h->taken ? largest[k][h->taken - 1] : -INFINITY;
        h->next = largest[k][h->taken];
    }
}

static void deal(const cbx_walk_share *s, const cbx_walk_prices *p, int32_t node, hands *h)
{
    for (int c = 0; c < CASES; c++)
        if (has_case(s, node, c))
            deal_case(s, p, node, c, h->of[c]);
}

/* Of a row that stays both ways hold. */
static int closer(const cbx_walk_share *s, int32_t node, const double *sums)
{
    bool both = s->gains->row_of[node] >= 0;
    return both && sums[CBX_WALK_APART] < sums[CBX_WALK_TOGETHER] ? CBX_WALK_APART
                                                                  : CBX_WALK_TOGETHER;
}

/* The most that the node gains, and how. */
typedef struct most {
    double gain;
    int    of_case;
    int    k; /* 0: by nothing */
} most;

static most best_at(const cbx_walk_share *s, int32_t node, const hands *h)
{
    most best = {.gain = 0};
    for (int k = 1; k <= walks_of(s)->most[node]; k++) {
        double sums[CBX_WALK_WAYS] = {h->of[0][k].sum,
                                      s->gains->row_of[node] < 0 ? 0 : h->of[1][k].sum};
        int    way = closer(s, node, sums);
        if (sums[way] > best.gain)
            best = (most){sums[way], way, k};
        if (may_go(s, node) && h->of[GOES][k].sum > best.gain)
            best = (most){h->of[GOES][k].sum, GOES, k};
    }
    return best;
}

/* One of the ends has to be among them, or must not be: what is gained in one of the cases then. */
static double with_end(const hand *h, double value)
{
    if (h->taken == 0)
        return -INFINITY;
    return value >= h->last ? h->sum : h->sum - h->last + value;
}

static double without_end(const hand *h, double value)
{
    return h->taken > 0 && value >= h->last ? h->sum - value + h->next : h->sum;
}

static double changed_at(const cbx_walk_share *s, int32_t node, int32_t end, bool with,
                         const hands *h)
{
    const cbx_walk_prices *p = &s->kept;
    bool                   root = end == s->gains->root_of[node];
    double                 best = with ? -INFINITY : 0;
    for (int k = 1; k <= walks_of(s)->most[node]; k++) {
        double sums[CASES] = {-INFINITY, -INFINITY, -INFINITY};
        for (int c = 0; c < CASES; c++) {
            if (!has_case(s, node, c))
                continue;
            const hand *of = &h->of[c][k];
            if (root)
                sums[c] = with == (c == GOES) ? of->sum : -INFINITY;
            else if (of->sum > -INFINITY)
                sums[c] = (with ? with_end : without_end)(of, gain_of(s, p, end, c, k));
        }
        best = fmax(best, fmax(sums[GOES], sums[closer(s, node, sums)]));
    }
    return best;
}

static void mark(const cbx_walk_share *s, int32_t node, const hands *h, most of)
{
    const cbx_walks *w = walks_of(s);
    const hand      *held = &h->of[of.of_case][of.k];
    int              left = held->taken;
    for (int64_t i = w->end_begin[node]; i < w->end_begin[node + 1] && left > 0; i++) {
        int32_t e = w->ends[i];
        if (!is_counted(s, node, e) || gain_of(s, &s->now, e, of.of_case, of.k) < held->last)
            continue;
        s->taken[e] = 1;
        left--;
    }
    if (of.of_case == GOES)
        s->taken[s->gains->root_of[node]] = 1;
}

/* ---- prices */

static double all(cbx_walk_share *s)
{
    const cbx_walks *w = walks_of(s);
    double sum = s->lead + s->now.removal * (double)w->left + s->now.at_root * (double)w->at_root;
    memset(s->taken, 0, 2 * (size_t)w->graph->count);
    for (int32_t i = 1; i < w->n; i++) {
        if (w->most[i] == 0)
            continue;
        hands h;
        deal(s, &s->now, i, &h);
        most best = best_at(s, i, &h);
        sum += best.gain;
        if (best.k > 0)
            mark(s, i, &h, best);
    }
    return sum;
}

static void copy(const cbx_walk_share *s, cbx_walk_prices *to, const cbx_walk_prices *from)
{
    memcpy(to->shift, from->shift, 2 * (size_t)walks_of(s)->graph->count * sizeof *to->shift);
    to->removal = from->removal;
    to->at_root = from->at_root;
}

/* By single removals either end has as much. */
static void begin(cbx_walk_share *s)
{
    const cbx_walks *w = walks_of(s);
    s->now.removal = FIRST_PRICE;
    s->now.at_root = 0;
    for (int32_t e = 0; e < 2 * w->graph->count; e += 2) {
        s->now.shift[e] = s->now.shift[e + 1] = 0;
        if (!cbx_walks_is_open(w, e) || s->part[e] != 0.5)
            continue;
        double own[2];
        for (int k = 0; k < 2; k++)
            own[k] = entry(s->at, w->at[e + k], 0)[1] + entry(s->of, e + k, 0)[1];
        s->now.shift[e] = (own[1] - own[0]) / 2;
        s->now.shift[e + 1] = -s->now.shift[e];
    }
}

/* In how many removals do the two ends differ, and what do all pay for too much or too little? */
typedef struct surplus {
    int64_t differ;
    double  removals, at_root, size;
} surplus;

static surplus find_surplus(const cbx_walk_share *s)
{
    const cbx_walks *w = walks_of(s);
    surplus          of = {.removals = (double)w->left, .at_root = (double)w->at_root};
    for (int32_t e = 0; e < 2 * w->graph->count; e += 2) {
        if (!cbx_walks_is_open(w, e))
            continue;
        for (int32_t k = e; k < e + 2; k++) {
            of.removals -= s->taken[k] * s->part[k];
            of.at_root -= s->taken[k] && w->at[k ^ 1] == 0;
        }
        of.differ += s->part[e] == 0.5 && s->taken[e] != s->taken[e + 1];
    }
    if (of.removals > 0 && s->now.removal <= 0)
        of.removals = 0;
    of.size = (double)of.differ + OF_PRICES * (of.removals * of.removals + of.at_root * of.at_root);
    return of;
}

static void move(cbx_walk_share *s, const surplus *of, double step)
{
    const cbx_walks *w = walks_of(s);
    for (int32_t e = 0; e < 2 * w->graph->count && of->differ > 0; e += 2)
        if (cbx_walks_is_open(w, e) && s->part[e] == 0.5 && s->taken[e] != s->taken[e + 1]) {
            double by = s->taken[e] ? -step : step;
            s->now.shift[e] += by;
            s->now.shift[e + 1] -= by;
        }
    s->now.removal = fmax(0, s->now.removal - step * OF_PRICES * of->removals);
    s->now.at_root -= step * OF_PRICES * of->at_root;
}

/* What it changes that an end has to be taken, or must not be. */
static void tell_ends(cbx_walk_share *s)
{
    const cbx_walks *w = walks_of(s);
    memset(s->with, 0, 2 * (size_t)w->graph->count * sizeof *s->with);
    memset(s->without, 0, 2 * (size_t)w->graph->count * sizeof *s->without);
    for (int32_t i = 1; i < w->n; i++) {
        if (w->most[i] == 0)
            continue;
        hands h;
        deal(s, &s->kept, i, &h);
        double best = best_at(s, i, &h).gain;
        for (int64_t k = w->end_begin[i]; k < w->end_begin[i + 1]; k++) {
            int32_t e = w->ends[k];
            if (!cbx_walks_is_open(w, e))
                continue;
            s->with[e] = changed_at(s, i, e, true, &h) - best;
            s->without[e] = changed_at(s, i, e, false, &h) - best;
        }
    }
}

void cbx_walk_share_seek(cbx_walk_share *s, bool anew, int rounds, double least)
{
    double goal = FIRST_GOAL;
    int    in_vain = 0;
    if (anew)
        begin(s);
    else
        copy(s, &s->now, &s->kept);
    s->bound = INFINITY;
    for (int round = 0; round < rounds && !(s->bound < least); round++) {
        double sum = all(s);
        if (sum < s->bound - goal / 10)
            in_vain = 0;
        if (sum < s->bound) {
            s->bound = sum;
            copy(s, &s->kept, &s->now);
        } else if (++in_vain > PATIENCE) {
            in_vain = 0;
            goal *= SHORTER;
            copy(s, &s->now, &s->kept);
            sum = all(s);
        }
        surplus of = find_surplus(s);
        if (!(of.size > 0))
            break;
        move(s, &of, STEP * (sum - s->bound + goal) / of.size);
    }
    tell_ends(s);
}

/* ---- one choice */

double cbx_walk_share_with(const cbx_walk_share *s, int32_t choice)
{
    return s->bound + s->with[2 * choice] + s->with[2 * choice + 1];
}

double cbx_walk_share_without(const cbx_walk_share *s, int32_t choice)
{
    return s->bound + s->without[2 * choice] + s->without[2 * choice + 1];
}
