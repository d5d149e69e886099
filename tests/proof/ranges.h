/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h: a small world whose features may be anywhere in ranges and some of whose edges may go:
 * its boxes, and a climb to the largest lead that there is. */
#ifndef RANGES_H
#define RANGES_H

#include "box.h"
#include "receptive.h"
#include "small_world.h"

typedef struct ranges {
    bool  stays[NODES][NODES]; /* edges */
    float low[NODES * FEATURES], high[NODES * FEATURES];
} ranges;

static inline void find_view(const world *w, cbx_arena *arena, cbx_view *view)
{
    cbx_error err = {0};
    int32_t   row = 0;
    if (w->task == CBX_GRAPH)
        CHECK_OK(cbx_view_graphs(w->graph, &row, 1, arena, view, &err), err);
    else
        CHECK_OK(cbx_receptive_view(w->model, w->graph, NULL, 0, 1000, arena, view, &err), err);
}

static inline void find_ranges(const ranges *r, const cbx_view *view, float *low, float *high)
{
    for (int32_t i = 0; i < view->n; i++) {
        int32_t node = view->node ? view->node[i] : i;
        memcpy(low + (int64_t)i * FEATURES, r->low + (int64_t)node * FEATURES,
               FEATURES * sizeof *low);
        memcpy(high + (int64_t)i * FEATURES, r->high + (int64_t)node * FEATURES,
               FEATURES * sizeof *high);
    }
}

/* With its boxes. */
typedef struct ranges_question {
    cbx_arena         arena;
    cbx_view          view;
    cbx_partial_graph graph;
    cbx_box_question  box;
    cbx_boxes         boxes;
    float             low[NODES * FEATURES], high[NODES * FEATURES];
} ranges_question;

static inline void ask(ranges_question *q, const world *w, const ranges *r)
{
    cbx_error          err = {0};
    cbx_net           *net;
    cbx_view          *view = &q->view;
    cbx_partial_graph *g = &q->graph;
    bool               known;
    q->arena = (cbx_arena){0};
    find_view(w, &q->arena, view);
    find_ranges(r, view, q->low, q->high);
    CHECK_OK(cbx_partial_graph_init(g, view, NULL, view->m, view->m, &q->arena, &err), err);
    for (int64_t e = 0; e < view->m; e++) {
        int32_t s = view->source[e], t = g->target_of[e];
        if (!r->stays[view->node ? view->node[s] : s][view->node ? view->node[t] : t])
            cbx_partial_graph_add(g, &e, 1, s, t, false);
    }
    g->budget = g->count;
    CHECK_OK(cbx_partial_graph_ready(g, &q->arena, &err), err);
    CHECK_OK(cbx_net_of(w->model, &q->arena, &net, &err), err);
    q->box = (cbx_box_question){.net = net, .graph = g, .low = q->low, .high = q->high};
    CHECK_OK(cbx_boxes_init(&q->boxes, &q->box, &q->arena, &known, &err), err);
    CHECK(known);
    CHECK(cbx_boxes_compute(&q->boxes));
}

/* One of what may change, some other way: a feature to an end of its range or in between, or an
 * edge that goes or comes back. */
static inline void change_one(world *w, const world *from, const ranges *r)
{
    int64_t k = below(w, (uint64_t)(w->n * (FEATURES + w->n)));
    if (k < w->n * FEATURES) {
        double at = below(w, 5) ? (double)below(w, 2) : cbx_rng_uniform(&w->rng);
        w->x[k] = r->low[k] + (float)at * (r->high[k] - r->low[k]);
        w->x[k] = fminf(fmaxf(w->x[k], r->low[k]), r->high[k]);
        return;
    }
    int64_t u = (k - w->n * FEATURES) / w->n, v = (k - w->n * FEATURES) % w->n;
    if (from->edge[u][v] && !r->stays[u][v])
        w->edge[u][v] = !w->edge[u][v];
}

/* The largest true lead that a climb from somewhere comes to. */
static inline double climb(world *from, const ranges *r)
{
    enum { STEPS = 100 };
    world w = *from;
    for (int32_t k = 0; k < 4 * w.n * w.n; k++)
        change_one(&w, from, r);
    double best = true_lead(&w, 1, 0);
    for (int i = 0; i < STEPS; i++) {
        world next = w;
        (void)cbx_rng_next(&next.rng);
        w.rng = next.rng;
        change_one(&next, from, r);
        double lead = true_lead(&next, 1, 0);
        if (lead >= best) {
            best = lead;
            w = next;
        }
    }
    from->rng = w.rng;
    return best;
}

#endif
