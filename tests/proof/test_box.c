/* SPDX-License-Identifier: Apache-2.0 */
/* What boxes claim of all features within ranges and all sets of edges, against random ones of
 * them: the graph is built anew and the model asked. */
#include "box_back.h"

#include <math.h>
#include <string.h>

#include "parameters.h"
#include "rng.h"
#include "test.h"

enum { NODES = 5, FEATURES = 2, CLASSES = 3 };

typedef struct world {
    cbx_rng    rng;
    bool       edge[NODES][NODES], stays[NODES][NODES];
    float      x[NODES * FEATURES], low[NODES * FEATURES], high[NODES * FEATURES];
    int64_t    source[NODES * NODES], target[NODES * NODES], y[1], ptr[2];
    cbx_model *model;
} world;

static cbx_graph *graph_of(world *w)
{
    cbx_graph     *graph = NULL;
    cbx_error      err = {0};
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = NODES,
                        .num_features = FEATURES,
                        .num_classes = CLASSES,
                        .num_graphs = 1,
                        .graph_ptr = w->ptr,
                        .edge_source = w->source,
                        .edge_target = w->target,
                        .x = w->x,
                        .y = w->y};
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = 0; v < NODES; v++)
            if (w->edge[u][v]) {
                w->source[d.num_edges] = u;
                w->target[d.num_edges++] = v;
            }
    w->ptr[1] = NODES;
    CHECK_OK(cbx_graph_new(&d, &graph, &err), err);
    return graph;
}

static void draw_world(world *w, uint64_t seed)
{
    static const char *const layers[] = {"gcn", "graphconv", "sage", "graphconv"};
    static const char *const pools[] = {"mean", "sum", "max"};
    cbx_error                err = {0};
    cbx_options             *o;
    *w = (world){.rng = cbx_rng_stream(seed, 4, 5, 6)};
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = 0; v < NODES; v++) {
            w->edge[u][v] = u != v && cbx_rng_below(&w->rng, 2);
            w->stays[u][v] = cbx_rng_below(&w->rng, 3) == 0;
        }
    for (int32_t k = 0; k < NODES * FEATURES; k++) {
        w->low[k] = (float)(cbx_rng_uniform(&w->rng) - 1);
        w->high[k] = w->low[k] + (float)(cbx_rng_below(&w->rng, 2) * cbx_rng_uniform(&w->rng));
        w->x[k] = w->low[k];
    }
    cbx_graph *graph = graph_of(w);
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    CHECK_OK(cbx_options_set(o, "model", layers[seed % 4], &err), err);
    if (seed % 4 == 3)
        CHECK_OK(cbx_options_set(o, "aggregation", "max", &err), err);
    CHECK_OK(cbx_options_set(o, "pool", pools[seed / 4 % 3], &err), err);
    CHECK_OK(cbx_options_set(o, "layers", "2", &err), err);
    CHECK_OK(cbx_options_set(o, "hidden", "3", &err), err);
    CHECK_OK(cbx_model_new(graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    cbx_graph_free(graph);
}

/* The largest lead of class 1 over class 0, by the box. */
static double claim(world *w)
{
    cbx_arena         arena = {0};
    cbx_error         err = {0};
    cbx_graph        *graph = graph_of(w);
    cbx_view          view;
    cbx_partial_graph g;
    cbx_net          *net;
    int32_t           row = 0;
    cbx_boxes         boxes;
    cbx_box_back      back;
    bool              known;
    CHECK_OK(cbx_view_graphs(graph, &row, 1, &arena, &view, &err), err);
    CHECK_OK(cbx_partial_graph_init(&g, &view, NULL, view.m, view.m, &arena, &err), err);
    for (int64_t e = 0; e < view.m; e++)
        if (!w->stays[view.source[e]][g.target_of[e]])
            cbx_partial_graph_add(&g, &e, 1, view.source[e], g.target_of[e], false);
    g.budget = g.count;
    CHECK_OK(cbx_partial_graph_ready(&g, &arena, &err), err);
    CHECK_OK(cbx_net_of(w->model, &arena, &net, &err), err);
    cbx_box_question q = {.net = net, .graph = &g, .low = w->low, .high = w->high};
    CHECK_OK(cbx_boxes_init(&boxes, &q, &arena, &known, &err), err);
    CHECK(known);
    for (int32_t l = 0; l < net->num_layers; l++) {
        CHECK(cbx_boxes_multiply(&boxes, l));
        cbx_boxes_add_up(&boxes, l);
    }
    cbx_boxes_finish(&boxes);
    double lead = cbx_boxes_lead(&boxes, 1, 0);
    CHECK_OK(cbx_box_back_init(&back, &boxes, 1e6, &arena, &known, &err), err);
    CHECK_INT(known, !net->max_pool && !net->layers[0].maximum); /* it is for sums */
    cbx_arena_free(&arena);
    cbx_graph_free(graph);
    return lead;
}

/* The true one, of features and edges that are drawn. */
static double try_one(const world *from)
{
    world     w = *from;
    float     logp[CLASSES];
    cbx_error err = {0};
    for (int32_t k = 0; k < NODES * FEATURES; k++) {
        double at =
            cbx_rng_below(&w.rng, 2) ? (double)cbx_rng_below(&w.rng, 2) : cbx_rng_uniform(&w.rng);
        w.x[k] = w.low[k] + (float)at * (w.high[k] - w.low[k]);
    }
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = 0; v < NODES; v++)
            w.edge[u][v] = w.edge[u][v] && (w.stays[u][v] || cbx_rng_below(&w.rng, 2));
    cbx_graph *graph = graph_of(&w);
    CHECK_OK(cbx_predict(w.model, graph, 1, logp, &err), err);
    cbx_graph_free(graph);
    return (double)logp[1] - logp[0];
}

TEST(no_features_within_ranges_and_no_edges_that_go_lead_further_than_the_box_says)
{
    for (uint64_t seed = 0; seed < 600 && test_failures() == 0; seed++) {
        world w;
        draw_world(&w, seed);
        double most = claim(&w);
        CHECK(isfinite(most));
        for (int i = 0; i < 40; i++) {
            (void)cbx_rng_next(&w.rng);
            CHECK(try_one(&w) <= most);
        }
        cbx_model_free(w.model);
    }
}

TEST(of_a_model_whose_last_units_are_dead_the_lead_is_that_of_the_biases)
{
    world w;
    draw_world(&w, 1);
    double alive = claim(&w);
    add_to_parameter(w.model, "layers.1.lin_rel.bias", -1000);
    double dead = claim(&w);
    CHECK(alive > dead + 1e-4);
    CHECK_NEAR(dead, try_one(&w), 1e-5);
    cbx_model_free(w.model);
}
