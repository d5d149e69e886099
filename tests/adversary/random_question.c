/* SPDX-License-Identifier: Apache-2.0 */
/* random_question.c: which rules a question has, by its number, so that every combination of two
 * has its turn; and all that goes with them. */
#include <math.h>
#include <string.h>

#include "brute_force.h"

/* Those that are about minimal's search and no rules. */
static bool is_for_all(rule r)
{
    return r != RULE_COSTS && r != RULE_TOTAL_CFS && r != RULE_DIVERSE && r != RULE_START_BOTH &&
           r != RULE_CANCEL;
}

static uint64_t combination(int64_t number)
{
    int64_t at = number % (RULES * (RULES + 1) / 2);
    for (int a = 0; a < RULES; a++)
        for (int b = a; b < RULES; b++)
            if (at-- == 0) {
                if (b == RULE_METHOD && !is_for_all((rule)a))
                    a = RULE_NONE;
                return RULE_BIT(a) | RULE_BIT(b);
            }
    return RULE_BIT(RULE_NONE);
}

/* Is there just one edge from u to v? */
static bool goes_once(const world *w, int64_t u, int64_t v)
{
    int count = 0;
    for (int e = 0; e < w->edges; e++)
        count += w->source[e] == u && w->target[e] == v;
    return count == 1;
}

enum { FEW = 10 };

/* Nodes of a GCN with a few edges that go one way and back, once: most ways to prove are for
 * removals of those. */
static bool is_plain(const question *q)
{
    const world *w = &q->world;
    bool         plain = w->task == CBX_NODE && w->edges >= FEW && !w->weighted &&
                 q->gnn.conv == NAIVE_GCN && !q->gnn.residual;
    for (int e = 0; e < w->edges && plain; e++)
        plain = w->source[e] != w->target[e] && goes_once(w, w->source[e], w->target[e]) &&
                goes_once(w, w->target[e], w->source[e]);
    return plain;
}

static void draw_once(question *q, uint64_t seed, int64_t number, dice *d)
{
    memset(q, 0, sizeof *q);
    q->seed = seed;
    q->number = number;
    q->rules = combination(number);
    dice own = dice_of(~seed, (uint64_t)number);
    q->near = dice_chance(&own, 0.5);
    q->alone = q->near && dice_chance(&own, 0.5);
    if (q->alone && dice_chance(&own, 0.5))
        q->rules |= RULE_BIT(RULE_NEXT);
    for (int times = 0; times == 0 || (q->alone && !is_plain(q) && times < 32); times++) {
        draw_world(&q->world, d, q->rules);
        draw_gnn(&q->gnn, &q->world, d);
    }
    q->row = dice_below(d, q->world.task == CBX_GRAPH ? q->world.graphs : q->world.nodes);
    draw_rules(q, d);
    if (q->near)
        move_near_flip(q, d);
}

/* Is there an answer? Where there are many sets of edits that is taken for granted. */
static bool has_answer(const question *q, dice *d)
{
    edited      as_it_is;
    naive_graph graph;
    space       s;
    found_set   set;
    edit_nothing(q, &as_it_is);
    build_graph(q, &as_it_is, &graph);
    int now = ask_naive(q, &graph, 0, -1).best;
    int target = q->target == TARGET_NEXT ? (now + 1) % q->gnn.classes : q->target;
    find_space(q, d, &s);
    return find_set(q, &s, now, target, INFINITY, 1000, d, &set) != VERDICT_NONE;
}

/* "There is none" can only be false where there is one: half of the questions have an answer, if
 * that can be had. */
void draw_question(question *q, uint64_t seed, int64_t number)
{
    dice d = dice_of(seed, (uint64_t)number);
    bool answered = dice_chance(&d, 0.5);
    for (int times = 0; times < 6; times++) {
        draw_once(q, seed, number, &d);
        dice again = d;
        if (!answered || has_answer(q, &again))
            return;
    }
}
