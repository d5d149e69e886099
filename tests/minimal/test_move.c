/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of move, by what all of them promise: what is made can be undone to the bit, edits
 * say what was made, and a walk passes each move once. A kind that is added is tested here too. */
#include <math.h>
#include <string.h>

#include "../search/oracle.h"
#include "minimal.h"
#include "move_set.h"
#include "newcomers.h"
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

/* A factual graph in which there are moves of every kind: that of one node, or a graph with a class
 * of its own, which nodes can be added to. */
enum { UNDIRECTED, DIRECTED, GRAPH, STAGES };

typedef struct stage {
    oracle              o;
    cbx_explain_options options;
    cbx_setup           setup;
    cbx_arena           arena;
    cbx_view            view;
    cbx_places          places;
    cbx_search          s, offered, wide; /* without and with edges, with nodes */
    cbx_newcomers       newcomers;
    cbx_edit_state      W;
    cbx_move            moves[MOST];
    int64_t             count;
} stage;

/* Attributes that are the same both ways: a whole number, and one that is none. */
static void add_attributes(oracle *o)
{
    cbx_graph_data *d = &o->data;
    float          *attr = TAKE(&o->bag, float, 2 * d->num_edges);
    cbx_error       err = {0};
    for (int64_t e = 0; e < d->num_edges; e++) {
        attr[2 * e] = (float)((d->edge_source[e] + d->edge_target[e]) % 3);
        attr[2 * e + 1] = 0.5F * (float)((d->edge_source[e] * d->edge_target[e]) % 7);
    }
    d->edge_attr = attr;
    d->edge_dim = 2;
    cbx_graph_free(o->graph);
    oracle_must(cbx_graph_new(d, &o->graph, &err), &err);
}

/* Layers take no attributes. What all moves promise does not rest on what a model says of them. */
static void allow_attributes(stage *t)
{
    cbx_rules *rules = (cbx_rules *)&((const cbx_minimal_shared *)t->setup.shared)->rules;
    rules->edits |= CBX_EDITS_ATTRIBUTES;
    rules->attributes = cbx_edge_columns_find(&t->o.graph->data, &t->arena);
    CHECK(rules->attributes != NULL);
}

static bool is_here(int kind, int where)
{
    /* models that take attributes add no nodes, and so no view has both */
    return kinds[kind] == &cbx_move_add_node        ? where == GRAPH
           : kinds[kind] == &cbx_move_set_attribute ? where != GRAPH
                                                    : true;
}

static void cut_out(stage *t, cbx_error *err)
{
    bool graph = t->o.data.task == CBX_GRAPH;
    oracle_must(graph ? cbx_view_graphs(t->o.graph, &t->s.row, 1, &t->arena, &t->view, err)
                      : cbx_view_around(t->o.graph, t->s.row, 3, &t->arena, &t->view, err),
                err);
    oracle_must(cbx_view_features(t->o.graph, &t->view, &t->arena, &t->s.X, err), err);
}

/* What may be added. */
static void widen(stage *t, cbx_error *err)
{
    const cbx_rules *rules = &((const cbx_minimal_shared *)t->setup.shared)->rules;
    cbx_offers       offers;
    oracle_must(cbx_offers_choose(&t->s, rules, t->s.options->add_candidates, &offers, err), err);
    oracle_must(cbx_widen(&t->s, offers.edits, offers.count, &t->offered, err), err);
    t->offered.offers_all = offers.all;
    t->wide = t->offered;
    if (t->o.data.task != CBX_GRAPH)
        return;
    oracle_must(cbx_newcomers_choose(&t->offered, rules, 60, &t->newcomers, err), err);
    oracle_must(cbx_newcomers_widen(&t->offered, &t->newcomers, &t->wide, err), err);
}

static void set_up(stage *t, int where)
{
    bool      directed = where == DIRECTED;
    cbx_error err = {0};
    *t = (stage){.o = oracle_make((oracle_shape){.nodes = 40,
                                                 .graphs = where == GRAPH ? 3 : 0,
                                                 .features = 8,
                                                 .kind = 'd',
                                                 .directed = directed,
                                                 .weighted = !directed,
                                                 .seed = 6}),
                 .options = ASK("explainer", "minimal", "target", "any", "one-hot", "0-2", "keep",
                                "no-isolated", "prove", "1", "edits", "all")};
    if (directed)
        t->options.edges = CBX_EDGES_DIRECTED;
    add_attributes(&t->o);
    oracle_must(cbx_setup_init(&t->setup, t->o.model, t->o.graph, &t->options, &err), &err);
    if (where != GRAPH)
        allow_attributes(t);
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
    cut_out(t, &err);
    t->s.num_removable = t->view.m;
    widen(t, &err);
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
    for (int where = 0; where < STAGES; where++) {
        stage t;
        int   met[KINDS] = {0};
        set_up(&t, where);
        for (int64_t a = 0; a < t.count; a++) {
            met[number_of(t.moves[a].kind)]++;
            CHECK(cbx_move_may(&t.W, &t.moves[a]));
            for (int64_t b = 0; b < a; b++)
                CHECK(!cbx_move_same(&t.moves[a], &t.moves[b]));
        }
        for (int k = 0; k < KINDS; k++)
            CHECK((met[k] > 0) == is_here(k, where));
        clear(&t);
    }
}

static void make_and_undo(int where)
{
    stage t;
    set_up(&t, where);
    size_t   values = (size_t)t.W.rows * (size_t)t.W.f, m = (size_t)t.view.m;
    float   *w = CBX_NEW(&t.arena, float, m), *lost = CBX_NEW(&t.arena, float, t.view.n);
    uint8_t *gone = CBX_NEW(&t.arena, uint8_t, t.setup.graph->data.num_edges);
    uint8_t *absent = CBX_NEW0(&t.arena, uint8_t, t.setup.graph->data.num_nodes);
    uint8_t *away = CBX_NEW(&t.arena, uint8_t, t.view.n);
    memcpy(away, t.W.absent, (size_t)t.view.n);
    memcpy(w, t.W.w, m * sizeof *w);
    size_t bytes = t.W.set_attr ? m * (size_t)t.view.edge_dim * sizeof(float) : 0;
    float *attr = CBX_NEW(&t.arena, float, m *(size_t)t.view.edge_dim);
    if (bytes)
        memcpy(attr, t.W.set_attr, bytes);
    memcpy(lost, t.W.lost, (size_t)t.view.n * sizeof *lost);
    memcpy(gone, t.W.links->gone, (size_t)t.setup.graph->data.num_edges);
    for (int64_t k = 0; k < t.count; k++) {
        cbx_move_do(&t.W, &t.moves[k]);
        CHECK(!cbx_move_may(&t.W, &t.moves[k])); /* not twice */
        CHECK(memcmp(t.W.x, t.W.x0, values * sizeof *t.W.x) || memcmp(t.W.w, w, m * sizeof *w) ||
              (bytes && memcmp(t.W.set_attr, attr, bytes)));
        cbx_move_undo(&t.W, &t.moves[k]);
        CHECK(!memcmp(t.W.x, t.W.x0, values * sizeof *t.W.x));
        CHECK(!memcmp(t.W.w, w, m * sizeof *w));
        CHECK(!bytes || !memcmp(t.W.set_attr, attr, bytes));
        CHECK(!memcmp(t.W.lost, lost, (size_t)t.view.n * sizeof *lost));
        CHECK(!memcmp(t.W.links->gone, gone, (size_t)t.setup.graph->data.num_edges));
        CHECK(!memcmp(t.W.links->absent, absent, (size_t)t.setup.graph->data.num_nodes));
        CHECK(!memcmp(t.W.absent, away, (size_t)t.view.n));
        CHECK_INT(t.W.added, 0);
        CHECK_INT(t.W.num_absent, 0);
        CHECK(cbx_move_may(&t.W, &t.moves[k]));
    }
    clear(&t);
}

TEST(what_was_undone_was_never_made)
{
    make_and_undo(UNDIRECTED);
    make_and_undo(GRAPH);
}

TEST(edits_say_what_a_move_makes)
{
    for (int where = 0; where < STAGES; where++) {
        stage     t;
        cbx_error err = {0};
        set_up(&t, where);
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

static void look_for_promise(int where)
{
    stage    t;
    cbx_move best[50];
    set_up(&t, where);
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

TEST(what_is_promising_is_allowed_and_gains_by_its_edits)
{
    look_for_promise(UNDIRECTED);
    look_for_promise(GRAPH);
}

TEST(moves_at_random_are_of_several_kinds)
{
    for (int where = 0; where < STAGES; where++) {
        stage   t;
        cbx_rng rng = cbx_rng_stream(1, 2, 3, 4);
        int     met[KINDS] = {0};
        set_up(&t, where);
        for (int k = 0; k < 400; k++) {
            cbx_move m = cbx_moves_draw(&t.W, &rng);
            met[number_of(m.kind)]++;
        }
        for (int k = 0; k < KINDS; k++)
            CHECK((met[k] > 0) == (kinds[k]->ways != NULL && is_here(k, where)));
        clear(&t);
    }
}
