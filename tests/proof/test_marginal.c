/* SPDX-License-Identifier: Apache-2.0 */
/* What one more removal is claimed to add, against every set before it: the edited graph is built
 * anew and the model asked, which shares nothing with the bounds. */
#include "marginal.h"

#include <math.h>

#include "question.h"

/* Of some choices it is asked as the one more only: they are barred from the others. */
typedef struct adding {
    question *q;
    int32_t   a, b;
    uint8_t   more[2 * NODES * NODES];
    double    gain[2 * NODES * NODES], rounding;
    int64_t   asked;
    double    least; /* by how much a claim was too high, where it was closest */
} adding;

static bool may_be_more(const adding *t, int32_t c)
{
    const cbx_partial_graph *g = &t->q->graph;
    const int32_t           *ends = g->choices[c].ends;
    return t->more[c] && g->fate[c] != CBX_MADE && g->budget > 0 && g->local[ends[0]] > 0 &&
           g->local[ends[1]] > 0;
}

/* Of what is made now, and of all that has more. */
static void try_more(adding *t, int32_t first)
{
    question *q = t->q;
    double    lead = true_lead(q->w, t->a, t->b);
    for (int32_t c = 0; c < q->graph.count; c++) {
        if (!may_be_more(t, c))
            continue;
        toggle(q, c, 0);
        double added = true_lead(q->w, t->a, t->b) - lead;
        toggle(q, c, 0);
        CHECK(added <= t->gain[c] + 2 * t->rounding + 1e-12);
        t->least = fmin(t->least, t->gain[c] - added);
        t->asked++;
    }
    for (int32_t c = first; c < q->graph.count && test_failures() == 0; c++) {
        if (!cbx_choice_is_open(&q->graph, c))
            continue;
        cbx_partial_graph_make(&q->graph, c);
        toggle(q, c, 0);
        try_more(t, c + 1);
        toggle(q, c, 0);
        cbx_partial_graph_unmake(&q->graph, c);
    }
}

/* False: nothing is known of it. */
static bool check_more(question *q, uint64_t weak, adding *t)
{
    cbx_marginal m;
    cbx_error    err = {0};
    *t = (adding){.q = q, .a = 1, .b = (int32_t)(2 * below(q->w, 2)), .least = INFINITY};
    if (!cbx_marginal_is_known(&q->bound.spread))
        return false;
    for (int32_t c = 0; c < q->graph.count; c++) {
        t->more[c] = q->graph.fate[c] == CBX_FREE;
        if (t->more[c] && below(q->w, 8) < (int64_t)weak)
            q->graph.fate[c] = CBX_BARRED;
    }
    CHECK(!cbx_lead_bound_update(&q->bound));
    t->rounding = cbx_rounding_of(&q->bound.sizes, t->a, t->b);
    CHECK_OK(cbx_marginal_init(&m, &q->bound.spread, &q->arena, &err), err);
    for (int times = 0; times < 2; times++) { /* the second time nothing is left of the first */
        CHECK(!cbx_marginal_compute(&m, t->more));
        cbx_marginal_of(&m, t->a, t->b, t->gain);
    }
    try_more(t, 0);
    return true;
}

typedef struct tally {
    int told, weak, settled, exact, single;
} tally;

static void check_seed(uint64_t seed, tally *n)
{
    world    w;
    question q;
    adding   t;
    uint64_t weak = seed % 3 ? 0 : 4;
    draw_world(&w, seed, (draw){.pairs = true});
    ask(&q, &w, 4, false);
    if (CHECK(q.known)) {
        bool settled = below(&w, 3) == 0;
        if (settled)
            settle_some(&q);
        if (check_more(&q, weak, &t) && t.asked > 0) {
            n->told++;
            n->weak += weak > 0;
            n->settled += settled;
            n->single += q.graph.budget == 1;
            n->exact += q.graph.budget == 1 && t.least < 1e-4;
        }
    }
    if (test_failures())
        test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
    cbx_arena_free(&q.arena);
    free_world(&w);
}

TEST(no_choice_adds_more_than_is_told_to_any_set)
{
    tally n = {0};
    for (uint64_t seed = 600000; n.told < 3000 && test_failures() == 0; seed++)
        check_seed(seed, &n);
    CHECK(n.weak > n.told / 5);
    CHECK(n.settled > n.told / 5);
    CHECK(n.single > n.told / 8);
    CHECK(n.exact > n.single / 4); /* with nothing before it there is little to be unsure of */
}
