/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of move, by what all of them promise: what is made can be undone to the bit, edits
 * say what was made, and a walk passes each move once. A kind that is added is tested here too. */
#include <math.h>
#include <string.h>

#include "../search/oracle.h"
#include "minimal.h"
#include "move_set.h"
#include "offers.h"
#include "../search/own_options.h"
#include "test.h"
#include "widen.h"

static const cbx_move_kind *const kinds[] = {
#define X(word) &cbx_move_##word,
#include "moves.def"
#undef X
};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST = 4000 };

static int number_of(const cbx_move_kind *kind)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds[k] == kind)
            return k;
    return -1;
}

/* The factual graph of one node, in which there are moves of every kind. */
typedef struct stage {
    oracle              o;
    cbx_explain_options options;
    cbx_setup           setup;
    cbx_arena           arena;
    cbx_view            view;
    cbx_places          places;
    cbx_search          s, wide; /* without and with edges that are offered */
    cbx_edit_state      W;
    cbx_move            moves[MOST];
    int64_t             count;
} stage;

static void set_up(stage *t, bool directed)
{
    cbx_error err = {0};
    *t = (stage){.o = oracle_make((oracle_shape){.nodes = 40,
                                                 .features = 8,
                                                 .kind = 'd',
                                                 .directed = directed,
                                                 .weighted = !directed,
                                                 .seed = 6}),
                 .options = ASK("explainer", "minimal", "target", "any", "one-hot", "0-2", "keep",
                                "no-isolated", "prove", "1", "edits", "all", "node-cost", "0.25")};
    if (directed)
        t->options.edges = CBX_EDGES_DIRECTED;
    oracle_must(cbx_setup_init(&t->setup, t->o.model, t->o.graph, &t->options, &err), &err);
    const cbx_minimal_shared *shared = t->setup.shared;
    t->s = (cbx_search){.model = t->o.model,
                        .graph = t->o.graph,
                        .options = &t->options,
                        .settings = minimal_of(&t->options),
                        .row = 2,
                        .view = &t->view,
                        .whole = t->setup.whole,
                        .lo = t->setup.lo,
                        .hi = t->setup.hi,
                        .discrete = t->setup.discrete,
                        .target = -1,
                        .rules = &t->setup.rules,
                        .arena = &t->arena,
                        .shared = shared};
    oracle_must(cbx_view_around(t->o.graph, t->s.row, 3, &t->arena, &t->view, &err), &err);
    oracle_must(cbx_view_features(t->o.graph, &t->view, &t->arena, &t->s.X, &err), &err);
    t->s.num_removable = t->view.m;
    cbx_offers offers;
    oracle_must(
        cbx_offers_choose(&t->s, &shared->rules, t->s.options->add_candidates, &offers, &err),
        &err);
    oracle_must(cbx_widen(&t->s, offers.edits, offers.count, &t->wide, &err), &err);
    t->wide.offers_all = offers.all;
    t->wide.further = CBX_EDITS_FURTHER;
    t->view = *t->wide.view;
    oracle_must(cbx_edit_state_init(&t->W, &t->wide, &shared->rules, &err), &err);
    CHECK_INT(cbx_places_init(&t->places, &t->view), 0);
    cbx_move_walk at = {0};
    while (t->count < MOST && cbx_moves_walk(&t->W, &at, &t->moves[t->count]))
        t->count++;
    CHECK(t->count < MOST);
}

static void clear(stage *t)
{
    cbx_places_free(&t->places);
    cbx_arena_free(&t->arena);
    cbx_setup_free(&t->setup);
    oracle_free(&t->o);
}

TEST(a_walk_passes_moves_of_every_kind_and_each_once)
{
    for (int directed = 0; directed < 2; directed++) {
        stage t;
        int   met[KINDS] = {0};
        set_up(&t, directed);
        for (int64_t a = 0; a < t.count; a++) {
            met[number_of(t.moves[a].kind)]++;
            CHECK(cbx_move_may(&t.W, &t.moves[a]));
            for (int64_t b = 0; b < a; b++)
                CHECK(!cbx_move_same(&t.moves[a], &t.moves[b]));
        }
        for (int k = 0; k < KINDS; k++)
            CHECK(met[k] > 0);
        clear(&t);
    }
}

/* Nodes are looked at last; an answer that time ends before that is bounded by what they cost. */
TEST(the_cheapest_move_counts_before_it_is_looked_at)
{
    stage          t;
    cbx_edit_state W;
    cbx_error      err = {0};
    set_up(&t, false);
    oracle_must(cbx_edit_state_init(&W, &t.s, t.W.rules, &err), &err);
    CHECK(!W.allowed_node && t.W.allowed_node);
    CHECK(cbx_moves_cheapest(&t.W) == 0.25);
    CHECK(cbx_moves_cheapest(&W) == 0.25);
    clear(&t);
}

TEST(what_was_undone_was_never_made)
{
    stage t;
    set_up(&t, false);
    size_t   values = (size_t)t.W.rows * (size_t)t.W.f, m = (size_t)t.view.m;
    float   *w = CBX_NEW(&t.arena, float, m), *lost = CBX_NEW(&t.arena, float, t.view.n);
    uint8_t *gone = CBX_NEW(&t.arena, uint8_t, t.setup.graph->data.num_edges);
    uint8_t *absent = CBX_NEW0(&t.arena, uint8_t, t.setup.graph->data.num_nodes);
    memcpy(w, t.W.w, m * sizeof *w);
    memcpy(lost, t.W.lost, (size_t)t.view.n * sizeof *lost);
    memcpy(gone, t.W.links->gone, (size_t)t.setup.graph->data.num_edges);
    for (int64_t k = 0; k < t.count; k++) {
        cbx_move_do(&t.W, &t.moves[k]);
        CHECK(!cbx_move_may(&t.W, &t.moves[k])); /* not twice */
        CHECK(memcmp(t.W.x, t.W.x0, values * sizeof *t.W.x) || memcmp(t.W.w, w, m * sizeof *w));
        cbx_move_undo(&t.W, &t.moves[k]);
        CHECK(!memcmp(t.W.x, t.W.x0, values * sizeof *t.W.x));
        CHECK(!memcmp(t.W.w, w, m * sizeof *w));
        CHECK(!memcmp(t.W.lost, lost, (size_t)t.view.n * sizeof *lost));
        CHECK(!memcmp(t.W.links->gone, gone, (size_t)t.setup.graph->data.num_edges));
        CHECK(!memcmp(t.W.links->absent, absent, (size_t)t.setup.graph->data.num_nodes));
        CHECK(!memcmp(t.W.absent, absent, (size_t)t.view.n));
        CHECK_INT(t.W.num_absent, 0);
        CHECK(cbx_move_may(&t.W, &t.moves[k]));
    }
    clear(&t);
}

TEST(edits_say_what_a_move_makes)
{
    for (int directed = 0; directed < 2; directed++) {
        stage     t;
        cbx_error err = {0};
        set_up(&t, directed);
        for (int64_t k = 0; k < t.count; k++) {
            const cbx_move *m = &t.moves[k];
            cbx_edit        edits[CBX_MOVE_EDITS];
            cbx_move        again;
            double          score;
            CHECK_INT(cbx_moves_edits(&t.W, m, 1, edits), m->kind->edits);
            if (m->kind->of_edit) {
                CHECK(cbx_moves_of_edit(&t.W, &edits[0], &t.places, &again));
                CHECK(cbx_move_same(m, &again));
            }
            if (k % 7)
                continue;
            cbx_move_do(&t.W, m);
            CHECK_OK(cbx_edit_state_verify(&t.W, m, 1, &score, &err), err);
            CHECK_NEAR(cbx_edit_state_ask(&t.W), score, 2e-4 * fmax(1, fabs(score)));
            cbx_move_undo(&t.W, m);
        }
        clear(&t);
    }
}

TEST(what_is_promising_is_allowed_and_gains_by_its_edits)
{
    stage    t;
    cbx_move best[50];
    set_up(&t, false);
    double before = cbx_edit_state_slopes(&t.W);
    CHECK(isfinite(before));
    int64_t count = cbx_moves_promising(&t.W, best, 50);
    CHECK(count > 10);
    for (int64_t k = 0; k < count; k++) {
        CHECK(cbx_move_may(&t.W, &best[k]));
        CHECK(best[k].gain > 0);
        CHECK(!k || best[k].gain / best[k].cost <= best[k - 1].gain / best[k - 1].cost);
    }
    clear(&t);
}

TEST(moves_at_random_are_of_several_kinds)
{
    stage   t;
    cbx_rng rng = cbx_rng_stream(1, 2, 3, 4);
    int     met[KINDS] = {0};
    set_up(&t, false);
    for (int k = 0; k < 400; k++) {
        cbx_move m = cbx_moves_draw(&t.W, &rng);
        met[number_of(m.kind)]++;
    }
    for (int k = 0; k < KINDS; k++)
        CHECK((met[k] > 0) == (kinds[k]->ways != NULL));
    clear(&t);
}
