/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds claim of all graphs that choices can make, against every one of them: the edited
 * graph is built anew and the model asked, which shares nothing with the bounds. */
#include "lead_bound.h"

#include <math.h>
#include <string.h>

#include "question.h"
#include "spread_parts.h"

static void check_bound(question *q)
{
    trial t = {.q = q, .a = 1, .b = (int32_t)(2 * below(q->w, 2)), .least = INFINITY};
    CHECK(!cbx_lead_bound_update(&q->bound));
    t.most = cbx_lead_bound_of(&q->bound, t.a, t.b);
    list_gains(q, &t);
    for (int32_t i = 0; i < q->factual.n; i++)
        t.local[i] = q->graph.local[i];
    CHECK_NEAR(q->bound.now, true_lead(q->w, t.a, t.b), q->bound.rounding);
    double now = q->bound.now + q->bound.rounding + 1e-12; /* the sums were made otherwise */
    try_sets(&t, 0, q->graph.budget, (const double[CHARGES]){now, now, now, now});
    CHECK(t.sets > 0);
}

static void check_seed(uint64_t seed, draw what)
{
    world    w;
    question q;
    draw_world(&w, seed, what);
    ask(&q, &w, 3, what.features);
    if (CHECK(q.known)) {
        check_bound(&q);
        settle_some(&q);
        check_bound(&q);
    }
    if (test_failures())
        test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
    cbx_arena_free(&q.arena);
    free_world(&w);
}

TEST(no_set_of_choices_within_the_budgets_leads_further_than_the_bound_says)
{
    const uint64_t every = (uint64_t)test_every(7);
    for (uint64_t seed = 0; seed < 3000 && test_failures() == 0; seed += every)
        check_seed(seed, (draw){.features = true});
}

/* One choice takes several edges of a row, and together they take more than there are choices. */
TEST(nor_where_several_edges_lead_from_one_node_to_another)
{
    const uint64_t every = (uint64_t)test_every(7);
    for (uint64_t seed = 300000; seed < 306000 && test_failures() == 0; seed += every) {
        world    w;
        question q;
        draw_world(&w, seed, (draw){.parallel = true});
        ask(&q, &w, 3, false);
        if (seed % 2)
            q.graph.budget = q.graph.count < 7 ? q.graph.count : 3;
        if (CHECK(q.known))
            check_bound(&q);
        if (test_failures())
            test_check_int((int64_t)seed, -1, w.layer, (int)w.model->num_layers, "seed");
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
}

/* Of more than a few that can be made bounds keep account in other ways. */
TEST(nor_where_many_may_be_made_at_once)
{
    int asked = 0;
    for (uint64_t seed = 200000; asked < 40 && test_failures() == 0; seed++) {
        world    w;
        question q;
        draw_world(&w, seed, (draw){.features = false});
        ask(&q, &w, 3, false);
        q.graph.budget = q.graph.count;
        for (int32_t i = 0; i < q.factual.n; i++)
            q.graph.local[i] = INT32_MAX;
        if (q.known && q.graph.count > CBX_FEW + 1 && q.graph.count < 14) {
            check_bound(&q);
            asked++;
        }
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK_INT(asked, 40);
}

TEST(nor_where_layers_take_the_largest_of_their_neighbours)
{
    const uint64_t every = (uint64_t)test_every(7);
    for (uint64_t seed = 0; seed < 3300 && test_failures() == 0; seed += every)
        check_seed(seed, (draw){.maximum = true});
    /* a leader falls below one that is not moved by the same choice */
    check_seed(29636, (draw){.maximum = true});
}

TEST(nor_where_the_features_that_they_are_of_change)
{
    const uint64_t every = (uint64_t)test_every(7);
    for (uint64_t seed = 100000; seed < 103000 && test_failures() == 0; seed += every)
        check_seed(seed, (draw){.maximum = true, .features = true});
}

TEST(nor_where_the_head_sees_the_largest_over_nodes)
{
    const uint64_t every = (uint64_t)test_every(7);
    for (uint64_t seed = 0; seed < 3000 && test_failures() == 0; seed += every)
        check_seed(seed, (draw){.maximum = seed % 4 == 0, .features = true, .max_pool = true});
}

/* Adds to the layer's biases what makes its units of row 0 a half. */
static void centre_layer(question *q, const char *of, int32_t l)
{
    const char *name;
    cbx_error   err = {0};
    int32_t     rows, cols;
    float       values[64];
    for (size_t i = 0; cbx_model_parameter(q->w->model, i, &name, &rows, &cols); i++) {
        if (strcmp(name, of) != 0)
            continue;
        int32_t units = q->bound.spread.layers[l].width;
        CHECK_OK(cbx_model_get(q->w->model, i, values, units, &err), err);
        for (int32_t j = 0; j < units; j++)
            values[j] += 0.5f - (float)q->bound.spread.layers[l].now[j];
        CHECK_OK(cbx_model_set(q->w->model, i, values, units, &err), err);
    }
}

static const double LARGE = 1e5;

/* Alike nodes, each linked to all, of which a maximum is large and what a bias leaves of it is
 * not: what the model loses there it cannot make good, and the next layer sees it through another
 * maximum only. */
static void draw_maxima(world *w, uint64_t seed, double size)
{
    cbx_error    err = {0};
    cbx_options *o;
    *w = (world){.rng = cbx_rng_stream(seed, 7, 8, 9), .n = 4, .layer = "graphconv"};
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < w->n; v++)
            w->edge[u][v] = u != v;
    for (int32_t k = 0; k < w->n * FEATURES; k++)
        w->x[k] = k < FEATURES ? (float)(size * cbx_rng_uniform(&w->rng)) : w->x[k - FEATURES];
    w->task = seed / 2 % 2 ? CBX_GRAPH : CBX_NODE;
    w->y[0] = CLASSES - 1;
    w->graph = graph_of(w);
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", "graphconv");
    set(o, "aggregation", "max");
    set(o, "hidden", "4");
    set(o, "layers", "2");
    if (w->task == CBX_GRAPH)
        set(o, "pool", "max");
    CHECK_OK(cbx_model_new(w->graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    clear_parameter(w, "layers.1.lin_root.weight");
}

TEST(what_a_maximum_is_wrong_by_is_counted)
{
    double largest = 0;
    for (uint64_t seed = 0; seed < 50 && test_failures() == 0; seed++) {
        world    w;
        question q;
        draw_maxima(&w, seed, LARGE);
        for (int centred = 0; centred < 2; centred++) {
            ask(&q, &w, 2, false);
            CHECK(!cbx_lead_bound_update(&q.bound));
            if (!centred)
                centre_layer(&q, "layers.0.lin_rel.bias", 0);
            if (!centred)
                cbx_arena_free(&q.arena);
        }
        (void)cbx_lead_bound_of(&q.bound, 1, 0);
        double lead = true_lead(&w, 1, 0);
        CHECK_NEAR(q.bound.now, lead, q.bound.rounding);
        largest = fmax(largest, fabs(q.bound.now - lead));
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK(largest > 1e-4);
}

/* A large feature becomes a small one, or the other way round: how far it moves is rounded, too. */
TEST(what_a_feature_under_a_maximum_is_wrong_by_is_counted)
{
    double largest = 0;
    for (uint64_t seed = 0; seed < 50 && test_failures() == 0; seed++) {
        world     w;
        question  q;
        cbx_error err = {0};
        draw_maxima(&w, seed, seed % 2 ? 1 : LARGE);
        clear_parameter(&w, "layers.0.lin_root.weight");
        ask(&q, &w, 2, false);
        for (int32_t k = 0; k < w.n * FEATURES; k++) {
            float to = (float)((seed % 2 ? LARGE : 1) * cbx_rng_uniform(&w.rng)),
                  *x = &w.x[node_of(&q, k / FEATURES) * FEATURES];
            cbx_partial_graph_add_feature(&q.graph, k / FEATURES, k % FEATURES, -1,
                                          to - x[k % FEATURES], to - x[k % FEATURES]);
            q.graph.budget++;
            x[k % FEATURES] = to;
        }
        cbx_net *net;
        CHECK_OK(cbx_partial_graph_ready(&q.graph, &q.arena, &err), err);
        CHECK_OK(cbx_net_of(w.model, &q.arena, &net, &err), err);
        CHECK_OK(cbx_lead_bound_init(&q.bound, net, &q.graph, &q.X, &q.arena, &q.known, &err), err);
        for (int32_t c = q.bound.spread.moves.first; c < q.graph.count; c++) {
            q.graph.local[q.graph.choices[c].row] = INT32_MAX;
            cbx_partial_graph_make(&q.graph, c);
        }
        CHECK(!cbx_lead_bound_update(&q.bound));
        (void)cbx_lead_bound_of(&q.bound, 1, 0);
        double lead = true_lead(&w, 1, 0);
        CHECK_NEAR(q.bound.now, lead, q.bound.rounding);
        largest = fmax(largest, fabs(q.bound.now - lead));
        cbx_arena_free(&q.arena);
        free_world(&w);
    }
    CHECK(largest > 1e-4);
}

TEST(log_probabilities_are_rounded_as_well)
{
    check_seed(27706,
               (draw){.features = true}); /* scores are small there, and their logarithms are not */
}

/* A hub of so many edges, and a maximum of them: nothing is said, and no gigabytes are asked for.
 */
TEST(of_maxima_of_thousands_of_edges_nothing_is_known)
{
    enum { LEAVES = 6000 };
    cbx_arena         arena = {0};
    cbx_error         err = {0};
    int64_t           ptr[] = {0, LEAVES + 1}, y[] = {CLASSES - 1};
    int64_t          *source = CBX_NEW(&arena, int64_t, LEAVES);
    int64_t          *target = CBX_NEW0(&arena, int64_t, LEAVES);
    float            *x = CBX_NEW0(&arena, float, (LEAVES + 1) * FEATURES);
    int32_t           row = 0;
    cbx_graph        *graph;
    cbx_model        *model;
    cbx_options      *o;
    cbx_view          view;
    cbx_matrix        X;
    cbx_partial_graph g;
    cbx_lead_bound    bound;
    cbx_net          *net;
    CHECK(source && target && x);
    for (int64_t k = 0; k < LEAVES; k++)
        source[k] = k + 1;
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = LEAVES + 1,
                        .num_features = FEATURES,
                        .num_classes = CLASSES,
                        .num_graphs = 1,
                        .graph_ptr = ptr,
                        .num_edges = LEAVES,
                        .edge_source = source,
                        .edge_target = target,
                        .x = x,
                        .y = y};
    CHECK_OK(cbx_graph_new(&d, &graph, &err), err);
    for (int most = 0; most < 2; most++) {
        bool known;
        CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
        set(o, "model", "graphconv");
        set(o, "aggregation", most ? "max" : "add");
        set(o, "layers", "1");
        CHECK_OK(cbx_model_new(graph, o, 1, &model, &err), err);
        cbx_options_free(o);
        CHECK_OK(cbx_view_graphs(graph, &row, 1, &arena, &view, &err), err);
        CHECK_OK(cbx_view_features(graph, &view, &arena, &X, &err), err);
        CHECK_OK(cbx_partial_graph_init(&g, &view, NULL, LEAVES, LEAVES, &arena, &err), err);
        for (int64_t e = 0; e < view.m; e++)
            cbx_partial_graph_add(&g, &e, 1, view.source[e], g.target_of[e], false);
        CHECK_OK(cbx_partial_graph_ready(&g, &arena, &err), err);
        g.budget = 1;
        CHECK_OK(cbx_net_of(model, &arena, &net, &err), err);
        CHECK_OK(cbx_lead_bound_init(&bound, net, &g, &X, &arena, &known, &err), err);
        CHECK_INT(known, !most);
        cbx_model_free(model);
    }
    cbx_graph_free(graph);
    cbx_arena_free(&arena);
}
