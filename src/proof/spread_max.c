/* SPDX-License-Identifier: Apache-2.0 */
/* spread_max.c: see maxima.h for what is found, and docs/bounds.md for why it holds. */
#include "spread_parts.h"

#include <math.h>
#include <stdlib.h>

/* By how much more a unit's moves may add up to where they are left to the layer before, which
 * tells them more closely. */
static const double WORTH_PASSING_ON = 1.25;

/* One edge that could have the largest message when the leader's is gone. */
typedef struct successor {
    double  fall; /* of the maximum down to it */
    int32_t number;
} successor;

/* What one row's maxima are of. Choices are numbered in the order they are met: first those with an
 * edge into the row. */
typedef struct neighbours {
    cbx_spread       *s;
    cbx_spread_layer *y;
    cbx_maxima       *m;
    int32_t           l, v, units;
    const cbx_view   *view;
    int64_t           first, edges;   /* slots */
    int64_t           budget, here;   /* choices that can be made, and of edges into the row */
    int32_t           at, count;      /* choices with an edge into the row; all */
    bool              comes, empties; /* can an edge come? can all go? */
    bool              moving;         /* can messages change? */
    /* scratch, cut out of s->maximum: */
    int32_t   *choice;             /* by number */
    int32_t   *number;             /* by edge: of its choice, where it can be made; else -1 */
    int64_t   *last;               /* by number: the last edge it has into the row; -1: none */
    int64_t   *same_choice_before; /* by edge: the one before it of the same choice; -1: none */
    int64_t   *reach_entry; /* edges x at: the choice's entry in what the edge's source does */
    int32_t   *gone;        /* numbers */
    uint8_t   *is_gone;     /* by number */
    successor *successors;  /* by edge */
    double    *least;       /* by unit: the smallest message */
    double    *runner_up;   /* by unit: the largest but the leader's */
    double    *loss;        /* by number: what going takes off the unit at hand */
    /* number x unit, where messages change; NULL: they do not */
    double *beside;    /* what others than the leader rise above it at most */
    double *up, *down; /* what the leader's message does */
} neighbours;

/* ---- memory */

static int64_t pad(size_t bytes)
{
    return (int64_t)((bytes + 15) / 16 * 16);
}

/* Cuts `count` items off what is left at *to; NULL *to: counts bytes. */
static void *cut(char **to, int64_t *bytes, int64_t count, size_t size)
{
    char   *at = *to;
    int64_t more = pad((size_t)(count > 0 ? count : 1) * size);
    *bytes += more;
    if (at)
        *to = at + more;
    return at;
}

/* Of so many choices at the row, and altogether. Returns bytes. */
static int64_t place(neighbours *n, int64_t at, int64_t count, char *to)
{
    int64_t bytes = 0, dense = n->moving ? count * n->units : 0;
    n->choice = cut(&to, &bytes, count, sizeof *n->choice);
    n->number = cut(&to, &bytes, n->edges, sizeof *n->number);
    n->last = cut(&to, &bytes, count, sizeof *n->last);
    n->same_choice_before = cut(&to, &bytes, n->edges, sizeof *n->same_choice_before);
    n->reach_entry = cut(&to, &bytes, n->edges * at, sizeof *n->reach_entry);
    n->gone = cut(&to, &bytes, count, sizeof *n->gone);
    n->is_gone = cut(&to, &bytes, count, sizeof *n->is_gone);
    n->successors = cut(&to, &bytes, n->edges, sizeof *n->successors);
    n->least = cut(&to, &bytes, n->units, sizeof *n->least);
    n->runner_up = cut(&to, &bytes, n->units, sizeof *n->runner_up);
    n->loss = cut(&to, &bytes, count, sizeof *n->loss);
    n->beside = cut(&to, &bytes, dense, sizeof *n->beside);
    n->up = cut(&to, &bytes, dense, sizeof *n->up);
    n->down = cut(&to, &bytes, dense, sizeof *n->down);
    return bytes;
}

static bool is_open(const neighbours *n, int64_t e)
{
    int32_t c = n->s->graph->choice_of[e];
    return c >= 0 && cbx_choice_is_open(n->s->graph, c);
}

/* The most choices that are at the row, and that reach it. */
static void count_most(const neighbours *n, int64_t *at, int64_t *count)
{
    const cbx_reach_list *list = cbx_spread_input(n->s, n->l);
    int64_t               all = n->s->graph->count, rows = n->view->n;
    *at = *count = 0;
    for (int64_t e = n->first; e < n->first + n->edges; e++) {
        int32_t u = n->view->source[e];
        *at += is_open(n, e);
        *count += is_open(n, e) + list->begin[u + 1] - list->begin[u];
    }
    *at = *at < all ? *at : all;
    *count = *count < all + rows ? *count : all + rows; /* a row's features are one */
}

static int make_room(neighbours *n)
{
    cbx_max_scratch *scratch = &n->s->maximum;
    int64_t          at, count;
    count_most(n, &at, &count);
    int64_t bytes = place(n, at, count, NULL);
    if (bytes > scratch->room) {
        scratch->bytes = CBX_NEW(n->s->arena, char, 2 * bytes);
        scratch->room = scratch->bytes ? 2 * bytes : 0;
    }
    if (!scratch->room)
        return -1;
    (void)place(n, at, count, scratch->bytes);
    return 0;
}

/* ---- who takes part */

static int32_t number_of(neighbours *n, int32_t choice)
{
    int32_t *mark = &n->s->mark[choice];
    if (*mark < 0) {
        *mark = n->count;
        n->last[n->count] = -1;
        n->choice[n->count++] = choice;
    }
    return *mark;
}

/* Numbers all choices that reach the row, and finds which of those at it reach its neighbours. */
static void number_choices(neighbours *n)
{
    const cbx_partial_graph *g = n->s->graph;
    const cbx_reach_list    *list = cbx_spread_input(n->s, n->l);
    for (int64_t k = 0; k < n->edges; k++) {
        int32_t c = is_open(n, n->first + k) ? number_of(n, g->choice_of[n->first + k]) : -1;
        n->number[k] = c;
        n->same_choice_before[k] = c < 0 ? -1 : n->last[c];
        if (c >= 0)
            n->last[c] = k;
        n->comes = n->comes || (c >= 0 && !g->present[n->first + k]);
    }
    n->at = n->count;
    for (int64_t k = 0; k < n->edges * n->at; k++)
        n->reach_entry[k] = -1;
    for (int64_t k = 0; k < n->edges; k++) {
        int32_t u = n->view->source[n->first + k];
        bool    present = g->present[n->first + k];
        for (int64_t e = list->begin[u]; e < list->begin[u + 1]; e++) {
            if (!present && n->s->mark[list->choice[e]] < 0)
                continue;
            int32_t c = number_of(n, list->choice[e]);
            if (c < n->at)
                n->reach_entry[k * n->at + c] = e;
        }
    }
}

/* Can all the edges go that are there? */
static bool can_be_empty(neighbours *n)
{
    const cbx_partial_graph *g = n->s->graph;
    int64_t                  choices = 0;
    bool                     stays = false;
    memset(n->is_gone, 0, (size_t)n->count);
    for (int64_t k = 0; k < n->edges && !stays; k++) {
        int32_t c = n->number[k];
        if (!g->present[n->first + k])
            continue;
        stays = c < 0;
        if (!stays && !n->is_gone[c]) {
            n->is_gone[c] = 1;
            choices++;
        }
    }
    return !stays && choices <= n->here;
}

static double weight_of(const neighbours *n, int64_t edge)
{
    return n->view->weight ? (double)n->view->weight[n->first + edge] : 1;
}

/* ---- messages */

/* The message of an edge now. */
static double message_of(const neighbours *n, int64_t edge, int32_t unit)
{
    int64_t u = n->view->source[n->first + edge];
    return weight_of(n, edge) * n->y->message[u * n->units + unit];
}

/* Where the message is with at most as many choices as can be made, the one of this number among
 * them. What a budget of the source's own allows, others may take up: the choice need not be at it.
 */
static cbx_interval message_with(const neighbours *n, int64_t edge, int32_t unit, int32_t number)
{
    const cbx_spread_layer *y = n->y;
    int32_t                 u = n->view->source[n->first + edge];
    int64_t                 at = (int64_t)u * n->units + unit;
    double                  low = y->message[at], high = low;
    if (n->moving) {
        bool    rest = n->l == 0 || cbx_spread_budget(n->s, n->l - 1, u) >= n->budget;
        int64_t entry = n->reach_entry[edge * n->at + number];
        low = rest ? y->rest_low[at] : y->message_low[at];
        high = rest ? y->rest_high[at] : y->message_high[at];
        low += entry < 0 ? 0 : y->message_down[entry * n->units + unit];
        high += entry < 0 ? 0 : y->message_up[entry * n->units + unit];
        low = low > 0 || n->l == 0 ? low : 0; /* it is behind a ReLU, if it is not a feature */
        high = high > low ? high : low;
    }
    return cbx_interval_times(weight_of(n, edge), low, high);
}

/* With any that can be made. */
static double least_message(const neighbours *n, int64_t edge, int32_t unit)
{
    const cbx_spread_layer *y = n->y;
    int64_t                 at = (int64_t)n->view->source[n->first + edge] * n->units + unit;
    return cbx_interval_times(weight_of(n, edge), y->message_low[at], y->message_high[at]).low;
}

/* Who has the largest message, of several one that stays; and the smallest one. */
static void find_leaders(neighbours *n)
{
    const cbx_partial_graph *g = n->s->graph;
    int64_t                 *leader = n->m->leader + (int64_t)n->v * n->units;
    double                  *now = n->m->now + (int64_t)n->v * n->units;
    for (int32_t j = 0; j < n->units; j++) {
        leader[j] = -1;
        now[j] = 0;
        n->least[j] = INFINITY;
        n->runner_up[j] = -INFINITY;
    }
    for (int64_t k = 0; k < n->edges; k++)
        for (int32_t j = 0; j < n->units && g->present[n->first + k]; j++) {
            double message = message_of(n, k, j);
            bool   stays = n->number[k] < 0, first = leader[j] < 0;
            n->least[j] = fmin(n->least[j], message);
            if (first || message > now[j] ||
                (message == now[j] && stays && n->number[leader[j]] >= 0)) {
                n->runner_up[j] = first ? -INFINITY : now[j];
                now[j] = message;
                leader[j] = k;
            } else {
                n->runner_up[j] = fmax(n->runner_up[j], message);
            }
        }
}

/* What choices do to messages: to the leader's, and to others' in so far as they rise above it. Of
 * at most so many choices each has its share of how far they are below. */
static void take_moves(neighbours *n)
{
    const cbx_reach_list *list = cbx_spread_input(n->s, n->l);
    const int64_t        *leader = n->m->leader + (int64_t)n->v * n->units;
    const double         *now = n->m->now + (int64_t)n->v * n->units;
    double                share = 1 / (double)n->budget;
    int64_t               size = (int64_t)n->count * n->units;
    cbx_clear(n->up, size);
    cbx_clear(n->down, size);
    for (int64_t k = 0; k < size; k++)
        n->beside[k] = -INFINITY;
    for (int64_t k = 0; k < n->edges; k++) {
        int32_t u = n->view->source[n->first + k];
        double  w = weight_of(n, k);
        if (!n->s->graph->present[n->first + k])
            continue;
        for (int64_t e = list->begin[u]; e < list->begin[u + 1]; e++) {
            int32_t       c = n->s->mark[list->choice[e]];
            const double *ups = n->y->message_up + e * n->units;
            const double *downs = n->y->message_down + e * n->units;
            int64_t       to = (int64_t)c * n->units;
            for (int32_t j = 0; j < n->units; j++) {
                cbx_interval by = cbx_interval_times(w, downs[j], ups[j]);
                if (leader[j] == k) {
                    n->up[to + j] = by.high;
                    n->down[to + j] = by.low;
                } else if (n->number[k] != c) { /* else it goes with the choice */
                    double below = now[j] - w * n->y->message[(int64_t)u * n->units + j];
                    n->beside[to + j] = fmax(n->beside[to + j], by.high - below * share);
                }
            }
        }
    }
}

/* ---- a leader that goes */

static int by_fall(const void *a, const void *b)
{
    const successor *x = a, *y = b;
    if (x->fall != y->fall)
        return x->fall < y->fall ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number); /* those that stay first */
}

static void share_out(neighbours *n, int64_t gone, double loss)
{
    for (int64_t k = 0; k < gone; k++)
        n->loss[n->gone[k]] += loss / (double)gone;
}

/* The largest fall where all edges go that are there, and others may come. */
static double fall_to_nothing(const neighbours *n, int32_t unit, double now)
{
    double left = 0;
    for (int64_t k = 0; k < n->edges && n->comes; k++)
        if (!n->s->graph->present[n->first + k] && n->number[k] >= 0)
            left = fmin(left, message_with(n, k, unit, n->number[k]).low);
    return now - left;
}

/* The maximum falls to the first in a row of successors that has not gone. Each step further down
 * is shared by the choices that have to be made for it. */
static void share_falls(neighbours *n, int32_t unit, int32_t leaves, double now)
{
    const cbx_partial_graph *g = n->s->graph;
    int64_t                  count = 0, gone = 1;
    double                   most = 0, fallen = 0, all = 0;
    bool                     ends = false;
    for (int64_t k = 0; k < n->edges; k++)
        if (g->present[n->first + k] && n->number[k] != leaves) {
            double fall = now - message_with(n, k, unit, leaves).low;
            n->successors[count++] = (successor){fall, n->number[k]};
            most = fmax(most, fall);
        }
    if (n->empties)
        most = fmax(most, all = fall_to_nothing(n, unit, now));
    if (!(most > 0))
        return;
    qsort(n->successors, (size_t)count, sizeof *n->successors, by_fall);
    memset(n->is_gone, 0, (size_t)n->count);
    n->gone[0] = leaves;
    n->is_gone[leaves] = 1;
    for (int64_t k = 0; k < count && !ends; k++) {
        successor s = n->successors[k];
        if (s.number >= 0 && n->is_gone[s.number])
            continue;
        if (s.fall > fallen) {
            share_out(n, gone, s.fall - fallen);
            fallen = s.fall;
        }
        ends = s.number < 0 || gone == n->here || !(fallen < most);
        if (!ends) {
            n->gone[gone++] = s.number;
            n->is_gone[s.number] = 1;
        }
    }
    if (!ends && n->empties && all > fallen)
        share_out(n, gone, all - fallen);
}

/* The most that the maximum can be where this choice is made, which takes the leader. */
static double most_without(const neighbours *n, int32_t unit, int32_t leaves)
{
    const cbx_partial_graph *g = n->s->graph;
    double                   most = n->empties ? 0 : -INFINITY;
    for (int64_t k = 0; k < n->edges; k++) {
        bool present = g->present[n->first + k];
        if (present ? n->number[k] != leaves : n->number[k] >= 0 && n->budget > 1)
            most = fmax(most, message_with(n, k, unit, present ? leaves : n->number[k]).high);
    }
    return most;
}

/* ---- what is told */

/* What edges that come with the choice bring at most, and at least. */
static cbx_interval coming_with(const neighbours *n, int32_t unit, int32_t c)
{
    cbx_interval most = {0, -INFINITY};
    for (int64_t k = n->last[c]; k >= 0; k = n->same_choice_before[k]) {
        cbx_interval message = message_with(n, k, unit, c);
        most.high = fmax(most.high, message.high);
        most.low = fmin(most.low, message.low);
    }
    return most;
}

/* What a choice does to the messages of a unit. */
typedef struct effect {
    double beside, up, down;
} effect;

static effect effect_of(const neighbours *n, int32_t unit, int32_t c)
{
    int64_t at = (int64_t)c * n->units + unit;
    return n->moving ? (effect){n->beside[at], n->up[at], n->down[at]} : (effect){-INFINITY, 0, 0};
}

static cbx_max_move move_of(const neighbours *n, int32_t unit, int32_t c)
{
    effect       of = effect_of(n, unit, c);
    int64_t      row = (int64_t)n->v * n->units + unit;
    int64_t      leader = n->m->leader[row];
    double       now = n->m->now[row];
    bool         adds = c < n->at && n->s->graph->choices[n->choice[c]].adds;
    cbx_max_move m = {.choice = n->choice[c], .unit = unit};
    cbx_interval brings = {0, -INFINITY};
    if (adds)
        brings = coming_with(n, unit, c);
    if (leader < 0) {
        m.up = fmax(brings.high, 0);
        m.down = brings.low;
        return m;
    }
    int32_t leaves = n->number[leader];
    double  nearest = (n->runner_up[unit] - now) / (double)n->budget;
    m.up = fmax(0, fmax(of.beside, brings.high - now));
    m.above = fmax(0, fmax(of.beside, nearest) - of.down);
    if (adds)
        m.above = fmax(m.above, brings.high - least_message(n, leader, unit));
    if (c == leaves) {
        cbx_interval gone = message_with(n, leader, unit, c);
        double       most = most_without(n, unit, c);
        m.up = n->empties ? fmax(m.up, -now) : m.up;
        m.above = n->empties ? fmax(m.above, -gone.low) : m.above;
        m.up = fmin(m.up, most - now);
        m.above = fmin(m.above, most - gone.low);
        m.down = -n->loss[c];
        m.below = n->loss[c] + fmax(0, gone.high - now);
        return m;
    }
    m.up = fmax(m.up, of.up);
    m.down = (leaves < 0 ? of.down : fmin(of.down, 0)) - n->loss[c];
    m.below = n->loss[c];
    return m;
}

static int grow_moves(neighbours *n, int64_t had, int64_t more)
{
    cbx_maxima *m = n->m;
    if (had + more <= m->room)
        return 0;
    int64_t       room = 2 * (had + more);
    cbx_max_move *moves = CBX_NEW(n->s->arena, cbx_max_move, room);
    if (!moves)
        return -1;
    if (had > 0)
        memcpy(moves, m->moves, (size_t)had * sizeof *moves);
    m->moves = moves;
    m->room = room;
    return 0;
}

/* All moves of a unit. Where the leader's own message tells as much of them, or nearly, it is left
 * to the layer before. */
static int tell_unit(neighbours *n, int32_t unit, int64_t *end)
{
    double up = 0, down = 0, up_passed = 0, down_passed = 0;
    if (grow_moves(n, *end, n->count))
        return -1;
    for (int32_t c = 0; c < n->count; c++) {
        effect       of = effect_of(n, unit, c);
        cbx_max_move m = move_of(n, unit, c);
        up += fmax(m.up, 0);
        down += fmax(-m.down, 0);
        up_passed += fmax(m.above, 0) + fmax(of.up, 0);
        down_passed += fmax(m.below, 0) + fmax(-of.down, 0);
        if (m.up != 0 || m.down != 0 || (n->l > 0 && (m.above != 0 || m.below != 0)))
            n->m->moves[(*end)++] = m;
    }
    int64_t row = (int64_t)n->v * n->units + unit;
    bool    may = n->l > 0 && n->m->leader[row] >= 0;
    n->m->passes_up[row] = may && up_passed <= WORTH_PASSING_ON * up;
    n->m->passes_down[row] = may && down_passed <= WORTH_PASSING_ON * down;
    return 0;
}

/* Does nothing that is chosen change the unit? */
static bool is_fixed(const neighbours *n, int32_t unit)
{
    double now = n->m->now[(int64_t)n->v * n->units + unit];
    return n->count == 0 ||
           (!n->moving && !n->comes && n->least[unit] == now && (!n->empties || now == 0));
}

static int tell_row(neighbours *n)
{
    int64_t end = n->m->begin[n->v];
    for (int32_t j = 0; j < n->units; j++) {
        int64_t row = (int64_t)n->v * n->units + j, leader = n->m->leader[row];
        /* it is told of edges, and what is fixed moves as its leader does */
        n->m->passes_up[row] = n->m->passes_down[row] = n->l > 0 && leader >= 0;
        if (is_fixed(n, j))
            continue;
        cbx_clear(n->loss, n->count);
        if (leader >= 0 && n->number[leader] >= 0)
            share_falls(n, j, n->number[leader], n->m->now[row]);
        if (tell_unit(n, j, &end))
            return -1;
    }
    n->m->begin[n->v + 1] = end;
    return 0;
}

int cbx_spread_maxima(cbx_spread *s, int32_t l, int32_t v)
{
    const cbx_view *view = s->graph->view;
    int64_t         budget = s->graph->budget, local = s->graph->local[v];
    neighbours      n = {.s = s,
                         .y = &s->layers[l],
                         .m = &s->layers[l].maxima,
                         .l = l,
                         .v = v,
                         .units = s->layers[l].in,
                         .view = view,
                         .first = view->offset[v],
                         .edges = view->offset[v + 1] - view->offset[v],
                         .budget = budget > 0 ? budget : 1,
                         .here = local < budget ? local : budget,
                         .moving = l > 0 || cbx_partial_graph_has_features(s->graph)};
    n.here = n.here > 0 ? n.here : 1;
    if (make_room(&n))
        return -1;
    number_choices(&n);
    n.empties = can_be_empty(&n);
    find_leaders(&n);
    if (n.count > 0 && n.moving)
        take_moves(&n);
    int failed = tell_row(&n);
    for (int32_t c = 0; c < n.count; c++)
        s->mark[n.choice[c]] = -1;
    return failed;
}
