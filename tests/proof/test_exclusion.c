/* SPDX-License-Identifier: Apache-2.0 */
/* Which sizes are excluded, and how near their sets are said to come, against all sets. */
#include "exclusion.h"

#include <math.h>

#include "every_size.h"

typedef struct tally {
    int asked, none, flips, nearer, told, apart;
} tally;

/* One size after the other, until one leads: `far` is how far sets lead the prediction, whether
 * they flip or not. */
static void check_sizes(question *q, cbx_exclusion *x, const double *most, const double *far,
                        bool more, int64_t skipped, tally *n)
{
    cbx_branch   *b = x->b;
    const int64_t budget = q->graph.budget;
    const int32_t a = b->ahead;
    double        rounding = 1e-12;
    for (int64_t size = 1; size <= budget && test_failures() == 0; size++) {
        if (most[size] > -1e-4 && most[size] < 1e-4)
            return; /* too near to a tie for any to be sure */
        if (size == skipped && most[size] < 0)
            continue; /* that none leads is known from elsewhere, and no more */
        int64_t before = b->bounds;
        bool    none = x->none[a] >= size || cbx_exclusion_of(x, a, size, more && size < budget);
        rounding = fmax(rounding, 2 * x->rounding[a]);
        CHECK_INT(none, most[size] < 0);
        CHECK(none || b->num_flip == size);
        CHECK(q->graph.budget == budget && b->goal == 0 && b->limit == INT64_MAX);
        n->asked++;
        n->told += x->marginal && x->size == size;
        n->nearer +=
            none && x->none[a] == size && size > 1 && x->nearest[a] < 0 && b->bounds > before;
        if (!none) {
            n->flips++;
            return;
        }
        n->none++;
        if (x->none[a] == size && x->nearest[a] < INFINITY)
            CHECK(far[size] <= x->nearest[a] + rounding + 1e-6);
        n->apart += far[size] > 1e-3;
    }
}

/* Is there more to it than branches? Of those some are enough. */
static bool is_of_use(world *w, uint64_t seed)
{
    question q;
    cbx_rng  rng = w->rng;
    ask(&q, w, MOST, false);
    bool is = CHECK(q.known) && (cbx_marginal_is_known(&q.bound.spread) || seed % 8 == 0);
    cbx_arena_free(&q.arena);
    w->rng = rng; /* the same question again */
    return is;
}

static void check_seed(uint64_t seed, tally *n)
{
    world    w;
    question q;
    asking   by = {&q, 1, seed % 2 ? 0 : 2, seed % 11 < 3};
    double   most[MOST + 1], far[MOST + 1];
    draw_world(&w, seed, (draw){.pairs = true});
    if (!is_of_use(&w, seed)) {
        free_world(&w);
        return;
    }
    ask_near(&q, &w, &by, MOST, most);
    find_most_apart(&q, &by, most, far);
    cbx_branch_asked asked = {.user = &by,
                              .make = make_choice,
                              .lead = lead_of,
                              .alike = seed % 4 < 2,
                              .leads_flip = !by.all};
    cbx_branch       b;
    cbx_exclusion    x;
    cbx_error        err = {0};
    if (most[0] < -1e-4) {
        CHECK_OK(cbx_branch_init(&b, &q.graph, &q.bound, &q.X, &asked, q.graph.budget, 1, &q.arena,
                                 &err),
                 err);
        b.ahead = by.a;
        b.behind = by.b;
        CHECK_OK(cbx_exclusion_init(&x, &b, CLASSES, true, &q.arena, &err), err);
        for (int32_t c = 0; c < CLASSES; c++)
            x.none[c] = c == by.a ? 0 : INT64_MAX;
        if (seed % 5) { /* larger sizes are for branches */
            int64_t budget = q.graph.budget;
            q.graph.budget = seed % 5 < 3 && budget > 2 ? (int64_t)(seed % 5) : budget;
            if (!cbx_exclusion_root(&x))
                cbx_exclusion_first_sizes(&x);
            q.graph.budget = budget;
        }
        check_sizes(&q, &x, most, far, seed % 3, seed % 7 < 3 ? 2 + (int64_t)(seed % 7) : 0, n);
        cbx_branch_free(&b);
    }
    if (test_failures())
        test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
    cbx_arena_free(&q.arena);
    free_world(&w);
}

TEST(sizes_are_excluded_where_no_set_leads_and_none_comes_nearer_than_is_told)
{
    tally     n = {0};
    const int asked = 3000 / test_every(10);
    for (uint64_t seed = 700000; n.asked < asked && test_failures() == 0; seed++)
        check_seed(seed, &n);
    CHECK(n.none > n.asked / 5 && n.flips > n.asked / 10);
    CHECK(n.told > n.asked / 8);
    CHECK(n.nearer > n.asked / (200 * test_every(3)));   /* one in a hundred is */
    CHECK(n.apart > n.asked / 200 || test_every(2) > 1); /* lead, and do not flip */
}
