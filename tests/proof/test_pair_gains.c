/* SPDX-License-Identifier: Apache-2.0 */
/* What pairs of removals claim, against every set: the edited graph is built anew and the model
 * asked, which shares nothing with the bounds. */
#include "pair_gains.h"

#include <math.h>

#include "question.h"
#include "spread_parts.h"

/* Sets that have the first of the best choices, others beside it: is the lead what they gain? */
typedef struct beside {
    question     *q;
    int32_t       a, b;
    const double *gain; /* by choice */
    int64_t       sets;
} beside;

static void make(question *q, int32_t choice)
{
    cbx_partial_graph_make(&q->graph, choice);
    toggle(q, choice, 0);
}

static void unmake(question *q, int32_t choice)
{
    cbx_partial_graph_unmake(&q->graph, choice);
    toggle(q, choice, 0);
}

static void try_beside(beside *t, int32_t first, double claimed)
{
    question *q = t->q;
    CHECK(true_lead(q->w, t->a, t->b) <= claimed);
    t->sets++;
    for (int32_t c = first; c < q->graph.count && test_failures() == 0; c++)
        if (cbx_choice_is_open(&q->graph, c)) {
            make(q, c);
            try_beside(t, c + 1, claimed + t->gain[c]);
            unmake(q, c);
        }
}

/* Returns whether pairs are told. */
static bool check_pairs(question *q)
{
    trial           t = {.q = q, .a = 1, .b = (int32_t)(2 * below(q->w, 2)), .least = INFINITY};
    cbx_lead_bound *b = &q->bound;
    CHECK(!cbx_lead_bound_update(b));
    t.most = cbx_lead_bound_of(b, t.a, t.b);
    if (!b->gains.are_paired)
        return false;
    list_gains(q, &t);
    for (int32_t i = 0; i < q->factual.n; i++)
        t.local[i] = q->graph.local[i];
    double now = b->now + b->rounding + 1e-12;
    try_sets(&t, 0, q->graph.budget, (const double[CHARGES]){now, now, now, now});
    cbx_partners of = {.beside = CBX_NEW(&q->arena, double, CBX_PARTNERS * q->graph.count)};
    CHECK(of.beside != NULL);
    cbx_pair_gains_partners(b->pairs, b->gains.paired, &of);
    CHECK(of.count > 0 || b->pairs->count == 0);
    for (int32_t k = 0; k < of.count && k < 3; k++) {
        beside with = {q, t.a, t.b, of.beside + (int64_t)k * q->graph.count, 0};
        CHECK(k == 0 || b->gains.paired[of.choice[k]] <= b->gains.paired[of.choice[k - 1]]);
        make(q, of.choice[k]);
        try_beside(&with, 0, now + of.alone[k]);
        unmake(q, of.choice[k]);
        CHECK(with.sets > 0);
    }
    return true;
}

/* Of worlds in which pairs are told: how many, in how many they gain no more than choices one by
 * one, and in how many they are told after some were made and barred. */
typedef struct tally {
    int told, closer, settled;
} tally;

static void check_seed(uint64_t seed, tally *t)
{
    world    w;
    question q;
    draw_world(&w, seed, (draw){.pairs = true});
    ask(&q, &w, 4, false);
    if (CHECK(q.known) && check_pairs(&q)) {
        double by_pairs = 0, by_choice = 0;
        for (int32_t c = 0; c < q.graph.count; c++) {
            by_pairs += fmax(q.bound.gains.paired[c], 0);
            by_choice += fmax(q.bound.gains.common[c] + q.bound.gains.charged[0][c], 0);
        }
        t->closer += by_pairs <= by_choice;
        t->told++;
        settle_some(&q);
        t->settled += check_pairs(&q);
    }
    if (test_failures())
        test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
    cbx_arena_free(&q.arena);
    free_world(&w);
}

TEST(no_set_leads_further_than_its_choices_and_their_pairs_gain)
{
    tally t = {0};
    for (uint64_t seed = 500000; t.told < 3000 && test_failures() == 0; seed++)
        check_seed(seed, &t);
    CHECK(t.closer > t.told / 2);
    CHECK(t.settled > t.told / 5);
}

/* Few worlds tell by that alone. */
TEST(nor_where_degrees_of_both_ends_of_an_edge_rise_while_what_it_brings_does)
{
    tally t = {0};
    check_seed(691571, &t);
    CHECK_INT(t.told, 1);
}

/* One choice, or more than a few, have no use for it. */
TEST(pairs_are_told_where_there_are_two_choices_or_a_few)
{
    int alone = 0, many = 0;
    for (uint64_t seed = 510000; (alone < 20 || many < 20) && test_failures() == 0; seed++) {
        world    w;
        question q;
        draw_world(&w, seed, (draw){.pairs = true});
        ask(&q, &w, 4, false);
        if (CHECK(q.known) && q.bound.pairs) {
            q.graph.budget = seed % 2 ? 1 : CBX_FEW + 1;
            CHECK(!check_pairs(&q));
            *(seed % 2 ? &alone : &many) += 1;
        }
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
}
