/* SPDX-License-Identifier: Apache-2.0 */
/* Which sizes sums over walks exclude, against all sets. */
#include "walk_search.h"

#include <math.h>
#include <string.h>

#include "every_size.h"

enum { THREADS = 3 };

typedef struct tally {
    int asked, none, flips, split, hopeless;
    int cut, stopped; /* searches that ended for their bounds, for their user */
    int team;         /* that had several threads */
    int apart;        /* sets lead, and none flips */
} tally;

static int looks_left; /* until the user stops it */

static bool is_stopped(void *user)
{
    (void)user;
    return --looks_left < 0;
}

/* One that ends before it is through, for its bounds or for its user, says nothing. */
static void check_ends(cbx_walk_search *s, int32_t class, int64_t size, double furthest, tally *n)
{
    cbx_branch   *b = s->b;
    const int64_t all = s->bounds;
    for (int64_t most = 1; most <= all && most <= 12; most += test_every(4)) {
        bool none = cbx_walk_search_none(s, class, size, most);
        CHECK(furthest < 0 || !none);
        n->cut += !none && b->num_flip == 0 && !s->is_hopeless;
        looks_left = (int)most;
        b->asked.stop = is_stopped;
        none = cbx_walk_search_none(s, class, size, INT64_MAX);
        CHECK(furthest < 0 || !none);
        n->stopped += !none && b->num_flip == 0 && !s->is_hopeless;
        b->asked.stop = NULL;
        b->stopped = false;
        b->num_flip = 0;
    }
}

/* Several threads say what one did, with the same set. */
static void check_team(cbx_walk_search *s, int32_t class, int64_t size, bool none, tally *n)
{
    cbx_branch   *b = s->b;
    int32_t       flip[MOST];
    const int64_t count = b->num_flip;
    const bool    hopeless = s->is_hopeless;
    memcpy(flip, b->flip, (size_t)count * sizeof *flip);
    b->num_flip = 0;
    b->threads = THREADS;
    s->alone = 0;
    CHECK(cbx_walk_search_none(s, class, size, INT64_MAX) == none && s->is_hopeless == hopeless);
    CHECK(b->num_flip == count && !memcmp(flip, b->flip, (size_t)count * sizeof *flip));
    n->team += s->num_parts == THREADS;
    b->threads = 1;
    s->alone = INFINITY;
}

/* A question about another class leaves nothing behind. */
static void look_at_another(cbx_walk_search *s, int32_t class, int64_t size)
{
    (void)cbx_walk_search_none(s, 3 - class - s->b->behind, size, 1);
    s->b->num_flip = 0;
}

/* All sizes up to each. */
static void check_sizes(question *q, cbx_walk_search *s, const double *most, const double *far,
                        tally *n)
{
    cbx_branch   *b = s->b;
    const int64_t budget = q->graph.budget;
    const int32_t class = b->ahead;
    double furthest = most[0], farthest = -INFINITY;
    for (int64_t size = 1; size <= budget && test_failures() == 0; size++) {
        furthest = fmax(furthest, most[size]);
        farthest = fmax(farthest, far[size]);
        if (most[size] > -1e-4 && most[size] < 1e-4)
            return; /* too near to a tie for any to be sure */
        look_at_another(s, class, size);
        bool none = cbx_walk_search_none(s, class, size, INT64_MAX);
        CHECK_INT(none || s->is_hopeless, furthest < 0 || s->is_hopeless);
        CHECK(furthest < 0 || !none);
        CHECK(!none || farthest <= cbx_walk_search_furthest(s) + 1e-4);
        CHECK(none || s->is_hopeless || (b->num_flip > 0 && b->num_flip <= size));
        CHECK(q->graph.budget == budget && b->num_made == 0);
        n->asked++;
        n->none += none;
        n->flips += b->num_flip > 0;
        n->hopeless += s->is_hopeless;
        n->apart += none && farthest > 1e-3;
        n->split += s->bounds > size + 2;
        const int64_t bounds = s->bounds;
        check_team(s, class, size, none, n);
        s->bounds = bounds;
        b->num_flip = 0;
        check_ends(s, class, size, furthest, n);
    }
}

static void check_seed(uint64_t seed, tally *n)
{
    world           w;
    question        q;
    asking          by = {&q, 1, seed % 2 ? 0 : 2, seed % 11 < 3};
    double          most[MOST + 1], far[MOST + 1];
    cbx_branch      b;
    cbx_walk_search s;
    bool            known = false;
    cbx_error       err = {0};
    draw_world(&w, seed, (draw){.pairs = true});
    if (w.task != CBX_NODE) { /* of graphs no walks are told */
        free_world(&w);
        return;
    }
    ask_near(&q, &w, &by, MOST, most);
    find_most_apart(&q, &by, most, far);
    cbx_branch_asked asked = {
        .user = &by, .make = make_choice, .lead = lead_of, .leads_flip = !by.all};
    if (CHECK(q.known) && most[0] < -1e-4) {
        CHECK_OK(cbx_branch_init(&b, &q.graph, &q.bound, &q.X, &asked, q.graph.budget, THREADS,
                                 &q.arena, &err),
                 err);
        b.ahead = by.a;
        b.behind = by.b;
        cbx_branch_begin(&b, 1);
        CHECK_OK(cbx_walk_search_init(&s, &b, &known, &err), err);
        cbx_branch_end(&b);
        b.threads = 1; /* but where a team is asked for */
        if (seed % 4)  /* however wide bounds are; but of some none that are wide at all */
            s.hopeless = seed % 4 == 2 ? 0.3 : INFINITY;
        if (known)
            check_sizes(&q, &s, most, far, n);
        cbx_walk_search_free(&s);
        cbx_branch_free(&b);
    }
    if (test_failures())
        test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
    cbx_arena_free(&q.arena);
    free_world(&w);
}

TEST(all_sizes_up_to_one_are_excluded_just_where_no_set_leads)
{
    tally     n = {0};
    const int asked = 1500 / test_every(8);
    for (uint64_t seed = 900000; n.asked < asked && test_failures() == 0; seed++)
        check_seed(seed, &n);
    CHECK(n.none > n.asked / 20 && n.flips > n.asked / 20 && n.split > n.asked / 20);
    CHECK(n.hopeless > 0 && n.cut > n.asked / 4 && n.stopped > n.asked / 4);
    CHECK(n.team > n.asked / 4);
    CHECK(n.apart > n.asked / 200 || test_every(2) > 1);
}

/* ---- what is asked about */

enum { MOST_SETS = 1024 };

/* Instead of a model: which sets it was asked about. It says no to each. */
typedef struct noting {
    uint32_t made, asked[MOST_SETS]; /* a bit for each choice */
    int      count;
} noting;

static void note_made(void *user, int32_t choice, bool made)
{
    noting *n = user;
    n->made = made ? n->made | 1U << choice : n->made & ~(1U << choice);
}

static double note_asked(void *user)
{
    noting *n = user;
    if (CHECK(n->count < MOST_SETS))
        n->asked[n->count++] = n->made;
    return -1;
}

static bool was_asked(const noting *n, uint32_t set)
{
    bool was = false;
    for (int k = 0; k < n->count && !was; k++)
        was = n->asked[k] == set;
    return was;
}

typedef struct leaving {
    asking        by;
    const noting *noted;
    double        furthest; /* that is claimed */
    int64_t       sets, lead, ties;
} leaving;

/* Which sets lead, and none was asked about? */
static void find_left_out(leaving *l, int32_t first, int64_t size, uint32_t set)
{
    question *q = l->by.q;
    double    lead = true_lead(q->w, l->by.a, l->by.b);
    l->sets++;
    l->lead += lead > 1e-4;
    CHECK(set == 0 || lead <= l->furthest + 1e-4);
    CHECK(set == 0 || lead < 0 || was_asked(l->noted, set));
    l->ties += set > 0 && fabs(lead) < 1e-6;
    for (int32_t c = first; c < q->graph.count && size > 0; c++) {
        if (!cbx_choice_is_open(&q->graph, c))
            continue;
        cbx_partial_graph_make(&q->graph, c);
        toggle(q, c, 0);
        find_left_out(l, c + 1, size - 1, set | 1U << c);
        toggle(q, c, 0);
        cbx_partial_graph_unmake(&q->graph, c);
    }
}

static void check_asked(uint64_t seed, tally *n, leaving *sum)
{
    world           w;
    question        q;
    noting          noted = {0};
    leaving         l = {.by = {&q, 1, seed % 2 ? 0 : 2, false}, .noted = &noted};
    double          most[MOST + 1], top = -INFINITY;
    cbx_branch      b;
    cbx_walk_search s;
    bool            known = false;
    cbx_error       err = {0};
    draw_world(&w, seed, (draw){.pairs = true, .dense = true});
    cbx_rng rng = w.rng;
    ask_near(&q, &w, &l.by, 4, most);
    if (seed % 4 == 0) { /* the best set is as good as equal */
        for (int64_t k = 1; k <= q.graph.budget; k++)
            top = fmax(top, most[k]);
        add_to_bias(&w, l.by.a, top > -INFINITY ? -top : 0);
        cbx_arena_free(&q.arena);
        w.rng = rng;
        ask(&q, &w, 4, false);
    }
    cbx_branch_asked asked = {.user = &noted, .make = note_made, .lead = note_asked};
    if (CHECK(q.known) && cbx_walks_are_known(&q.bound.spread)) {
        const int64_t budget = q.graph.budget;
        CHECK_OK(
            cbx_branch_init(&b, &q.graph, &q.bound, &q.X, &asked, budget, THREADS, &q.arena, &err),
            err);
        b.behind = l.by.b;
        cbx_branch_begin(&b, 1);
        CHECK_OK(cbx_walk_search_init(&s, &b, &known, &err), err);
        cbx_branch_end(&b);
        CHECK(known);
        s.hopeless = INFINITY;
        CHECK(cbx_walk_search_none(&s, l.by.a, budget, INT64_MAX));
        l.furthest = cbx_walk_search_furthest(&s);
        find_left_out(&l, 0, budget, 0);
        n->asked++;
        n->split += s.bounds > budget + 2;
        cbx_walk_search_free(&s);
        cbx_branch_free(&b);
    }
    sum->sets += l.sets;
    sum->lead += l.lead;
    sum->ties += l.ties;
    if (test_failures())
        test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
    cbx_arena_free(&q.arena);
    free_world(&w);
}

TEST(every_set_that_leads_is_asked_about)
{
    tally     n = {0};
    leaving   sum = {.sets = 0};
    const int asked = 2000 / test_every(20);
    for (uint64_t seed = 910000; n.asked < asked && test_failures() == 0; seed++)
        check_asked(seed, &n, &sum);
    CHECK(n.split > n.asked / 4);
    CHECK(sum.lead > sum.sets / 20);
    CHECK(sum.ties > n.asked / 10);
}

/* Few worlds tell of that. */
TEST(nor_where_relus_cross_0_in_a_row_that_rises_as_its_own_kid)
{
    tally n = {0};
    check_seed(12001547, &n);
    CHECK(n.none > 0 && n.flips > 0);
}
