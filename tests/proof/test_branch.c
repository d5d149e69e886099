/* SPDX-License-Identifier: Apache-2.0 */
/* Whether branches find a set that leads, against all sets. */
#include "branch.h"

#include "question.h"

typedef struct asking {
    question *q;
    int32_t   a, b;
} asking;

static void make_choice(void *user, int32_t choice, bool made)
{
    (void)made; /* either way its edges are no longer as they were */
    toggle(((asking *)user)->q, choice, 0);
}

static double lead_of(void *user)
{
    const asking *a = user;
    return true_lead(a->q->w, a->a, a->b);
}

/* Whether any set leads, of a size after smaller ones, or of all sizes at once, is as trying all of
 * them says. Returns the lead that is the furthest. */
static double check_branches(question *q)
{
    trial            t = {.q = q, .a = 1, .b = (int32_t)(2 * below(q->w, 2)), .least = INFINITY};
    asking           user = {q, t.a, t.b};
    cbx_branch_asked asked = {.user = &user, .make = make_choice, .lead = lead_of, .alike = true};
    cbx_branch       b;
    cbx_error        err = {0};
    int64_t          budget = q->graph.budget;
    for (int32_t i = 0; i < q->factual.n; i++)
        t.local[i] = q->graph.local[i];
    CHECK(!cbx_lead_bound_update(&q->bound));
    t.most = cbx_lead_bound_of(&q->bound, t.a, t.b);
    list_gains(q, &t);
    double now = q->bound.now + q->bound.rounding + 1e-12;
    try_sets(&t, 0, budget, (const double[CHARGES]){now, now, now, now});
    double most = t.most - t.least;
    if (most > -1e-4 && most < 1e-4)
        return most; /* too near to a tie for any to be sure */
    CHECK_OK(cbx_branch_init(&b, &q->graph, &q->bound, &q->X, &asked, budget, 1, &q->arena, &err),
             err);
    b.ahead = t.a;
    b.behind = t.b;
    bool leads = true_lead(q->w, t.a, t.b) > 0;
    CHECK(leads || cbx_branch_none_at_all(&b, 100000) == (most < 0));
    for (int64_t size = 1; size <= budget && !leads; size++) {
        b.num_flip = 0;
        leads = !cbx_branch_none_of(&b, size);
        CHECK(!leads || b.num_flip == size);
    }
    CHECK(leads == (most > 0));
    cbx_branch_free(&b);
    return most;
}

TEST(branches_find_a_set_that_leads_where_there_is_one)
{
    int leading = 0, others = 0;
    for (uint64_t seed = 400000; seed < 401200 && test_failures() == 0; seed++) {
        world    w;
        question q;
        draw_world(&w, seed, (draw){.maximum = seed % 5 == 0});
        ask(&q, &w, 4, false);
        if (CHECK(q.known)) {
            double most = check_branches(&q);
            *(most > 0 ? &leading : &others) += 1;
        }
        if (test_failures())
            test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK(leading > 100 && others > 100);
}
