/* SPDX-License-Identifier: Apache-2.0 */
/* Certifying answers of which the test knows which moves are needed. */
#include "certify.h"
#include "minimal.h"
#include "../search/oracle.h"
#include "test.h"
#include "../search/own_options.h"

enum { NEEDED = 10, FEATURES = 40 };

/* Three nodes in a row. The class is 1 where more than NEEDED - ½ of a node's own first NEEDED
 * features are on; the others count for nothing. */
static oracle make_oracle(void)
{
    static const int64_t source[] = {0, 1, 1, 2}, target[] = {1, 0, 2, 1}, y[] = {0, 1, 0};
    static float         x[3 * FEATURES], lo[FEATURES], hi[FEATURES], weight[FEATURES];
    static const float   none[FEATURES] = {0};
    static uint8_t       discrete[FEATURES];
    for (int j = 0; j < FEATURES; j++) {
        hi[j] = discrete[j] = 1;
        weight[j] = j < NEEDED;
    }
    oracle o = oracle_by_hand(&(cbx_graph_data){.num_nodes = 3,
                                                .num_features = FEATURES,
                                                .num_edges = 4,
                                                .num_classes = 2,
                                                .edge_source = source,
                                                .edge_target = target,
                                                .x = x,
                                                .y = y,
                                                .feat_min = lo,
                                                .feat_max = hi,
                                                .discrete = discrete},
                              "graphconv", "add", 1);
    oracle_set(&o, "layers.0.lin_rel.weight", none);
    oracle_set(&o, "layers.0.lin_rel.bias", none);
    oracle_set(&o, "layers.0.lin_root.weight", weight);
    oracle_set(&o, "output_layer.weight", (float[]){0, 1});
    oracle_set(&o, "output_layer.bias", (float[]){NEEDED - 0.5f, 0});
    return o;
}

typedef struct bench {
    oracle              o;
    cbx_explain_options options;
    cbx_setup           setup;
    cbx_arena           arena;
    cbx_view            view;
    cbx_search          s;
    cbx_edit_state      W;
    cbx_beam            F;
    cbx_move            moves[FEATURES + 1];
} bench;

/* An answer for node 0 of all features, those that count for nothing first. */
static void set_up(bench *b)
{
    cbx_error err = {0};
    *b = (bench){.o = make_oracle(), .options = ASK("explainer", "minimal", "target", "1")};
    oracle_must(cbx_setup_init(&b->setup, b->o.model, b->o.graph, &b->options, &err), &err);
    const cbx_minimal_shared *shared = b->setup.shared;
    b->s = (cbx_search){.model = b->o.model,
                        .graph = b->o.graph,
                        .options = &b->options,
                        .settings = minimal_of(&b->options),
                        .view = &b->view,
                        .complete = true,
                        .lo = b->setup.lo,
                        .hi = b->setup.hi,
                        .discrete = b->setup.discrete,
                        .target = 1,
                        .arena = &b->arena,
                        .keep = &b->arena,
                        .shared = shared,
                        .deadline = cbx_deadline_here};
    oracle_must(cbx_view_around(b->o.graph, 0, 2, &b->arena, &b->view, &err), &err);
    oracle_must(cbx_view_features(b->o.graph, &b->view, &b->arena, &b->s.X, &err), &err);
    oracle_must(cbx_edit_state_init(&b->W, &b->s, &shared->rules, &err), &err);
    b->F = (cbx_beam){.s = &b->s, .W = &b->W, .best = {.moves = b->moves}};
    for (int j = FEATURES - 1; j >= 0; j--)
        cbx_move_set_add(&b->F.best,
                         &(cbx_move){&cbx_move_feature, 0, j, -1, -1, 1, /* cost */ 1, 0, false});
}

static void tear_down(bench *b)
{
    cbx_arena_free(&b->arena);
    cbx_setup_free(&b->setup);
    oracle_free(&b->o);
}

static void check_needed_are_left(const bench *b)
{
    CHECK_INT(b->F.best.count, NEEDED);
    CHECK_NEAR(b->F.best.cost, NEEDED, 1e-9);
    for (int64_t k = 0; k < b->F.best.count; k++)
        CHECK(b->F.best.moves[k].column < NEEDED);
}

TEST(what_is_not_needed_goes_and_what_is_stays)
{
    bench     b;
    bool      irreducible = false;
    cbx_error err = {0};
    set_up(&b);
    CHECK_OK(cbx_certify(&b.F, &irreducible, &err), err);
    CHECK(irreducible);
    check_needed_are_left(&b);
    tear_down(&b);
}

/* The clock is read once a move that is looked at. */
TEST(every_move_is_looked_at_twice_at_most_where_one_round_finds_all)
{
    bench        b;
    cbx_deadline d;
    bool         irreducible = false;
    cbx_error    err = {0};
    cbx_deadline_begin(&d, 1000, NULL, NULL);
    set_up(&b);
    test_clock_stop(0, 0);
    CHECK_OK(cbx_certify(&b.F, &irreducible, &err), err);
    test_clock_run();
    CHECK(irreducible);
    CHECK_INT(test_clock_reads(), FEATURES + NEEDED); /* all, and again those that are left */
    cbx_deadline_end(&d);
    tear_down(&b);
}

TEST(a_round_that_time_ends_is_no_certificate_but_the_answer_stays_one)
{
    for (long reading = 1; reading <= FEATURES + NEEDED; reading++) {
        bench        b;
        cbx_deadline d;
        bool         irreducible = true;
        float        logp[2];
        cbx_edit     edits[2 * FEATURES];
        cbx_error    err = {0};
        cbx_deadline_begin(&d, 1000, NULL, NULL);
        set_up(&b);
        test_clock_stop(reading, 1e9);
        CHECK_OK(cbx_certify(&b.F, &irreducible, &err), err);
        test_clock_run();
        CHECK(!irreducible);
        cbx_deadline_end(&d);
        int64_t count = cbx_moves_edits(&b.W, b.F.best.moves, b.F.best.count, edits);
        CHECK_OK(cbx_check_edits(b.o.model, b.o.graph, 0, edits, count, logp, &err), err);
        CHECK(logp[1] > logp[0]);
        tear_down(&b);
    }
}
