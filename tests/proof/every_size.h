/* SPDX-License-Identifier: Apache-2.0 */
/* every_size.h: how far sets of each size lead, by making each of them. */
#ifndef EVERY_SIZE_H
#define EVERY_SIZE_H

#include <math.h>

#include "question.h"

/* By which sets class a leads b; or `all`: the third one, too. */
typedef struct asking {
    question *q;
    int32_t   a, b;
    bool      all;
} asking;

static inline double lead_now(const asking *by)
{
    double lead = true_lead(by->q->w, by->a, by->b);
    return by->all ? fmin(lead, true_lead(by->q->w, by->a, 3 - by->a - by->b)) : lead;
}

static inline void make_choice(void *user, int32_t choice, bool made)
{
    (void)made; /* either way its edges are no longer as they were */
    toggle(((asking *)user)->q, choice, 0);
}

static inline double lead_of(void *user)
{
    return lead_now(user);
}

enum { MOST = 6 };

/* How far sets of each size lead at most. */
static inline void try_all(question *q, const asking *by, int32_t first, int64_t size, double *most)
{
    most[size] = fmax(most[size], lead_now(by));
    for (int32_t c = first; c < q->graph.count; c++) {
        if (!cbx_choice_is_open(&q->graph, c))
            continue;
        cbx_partial_graph_make(&q->graph, c);
        toggle(q, c, 0);
        try_all(q, by, c + 1, size + 1, most);
        toggle(q, c, 0);
        cbx_partial_graph_unmake(&q->graph, c);
    }
}

/* A size of which sets lead further than all smaller ones, but not by much, is the first that leads
 * from here on, if there is one. */
static inline void move_leads(world *w, int32_t class, double *most)
{
    double before = most[0];
    int    size = 1;
    for (int k = 1; k <= MOST; k++) {
        double furthest = before;
        for (int i = 0; i < k; i++)
            furthest = fmax(furthest, most[i]);
        if (most[k] > furthest && below(w, 2)) {
            size = k;
            before = furthest;
        }
    }
    if (!(most[size] > before))
        return;
    double more = -before - (most[size] - before) * cbx_rng_uniform(&w->rng);
    add_to_bias(w, class, more);
}

static inline void find_most(question *q, const asking *by, double *most)
{
    for (int k = 0; k <= MOST; k++)
        most[k] = -INFINITY;
    try_all(q, by, 0, 0, most);
}

/* How far they lead the prediction, where `most` is of how far they lead all. */
static inline void find_most_apart(question *q, const asking *by, const double *most, double *far)
{
    asking one = *by;
    one.all = false;
    memcpy(far, most, (MOST + 1) * sizeof *far);
    if (by->all)
        find_most(q, &one, far);
}

/* A question of removals with GCN whose class leads by some size, if it does, but not by much; and
 * how far sets of each size lead. */
static inline void ask_near(question *q, world *w, const asking *by, uint64_t largest, double *most)
{
    cbx_rng rng = w->rng;
    ask(q, w, largest, false);
    find_most(q, by, most);
    cbx_arena_free(&q->arena);
    move_leads(w, by->a, most);
    w->rng = rng; /* the same question again */
    ask(q, w, largest, false);
    find_most(q, by, most);
}

#endif
