/* SPDX-License-Identifier: Apache-2.0 */
/* How few edits change a class, against all sets of them: every edited graph is built anew. */
#include <math.h>
#include <stdlib.h>

#include "rng.h"
#include "test.h"

enum { NODES = 6, FEATURES = 2, PAIRS = NODES * (NODES - 1) / 2 };

typedef struct world {
    cbx_rng    rng;
    bool       edge[NODES][NODES];
    float      x[NODES * FEATURES];
    int64_t    source[NODES * NODES], target[NODES * NODES], y[1], ptr[2];
    cbx_model *model;
    int32_t    prediction, num_graphs;
} world;

static cbx_graph *graph_of(world *w)
{
    cbx_graph     *graph = NULL;
    cbx_error      err = {0};
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = NODES,
                        .num_features = FEATURES,
                        .num_classes = 2,
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

static int32_t class_of(world *w)
{
    float      logp[2];
    cbx_error  err = {0};
    cbx_graph *graph = graph_of(w);
    CHECK_OK(cbx_predict(w->model, graph, 1, logp, &err), err);
    cbx_graph_free(graph);
    return logp[1] > logp[0];
}

/* Nodes that nothing tells apart: what node 0 has, some others have. */
static void draw_twins(world *w)
{
    int32_t last = 1 + (int32_t)cbx_rng_below(&w->rng, 3);
    for (int32_t twin = 1; twin <= last && twin < NODES; twin++) {
        for (int32_t v = 0; v < NODES; v++)
            if (v > twin)
                w->edge[twin][v] = w->edge[v][twin] = w->edge[0][v];
            else if (v > 0 && v < twin)
                w->edge[twin][v] = w->edge[v][twin] = w->edge[0][1];
        w->edge[twin][0] = w->edge[0][twin] = w->edge[0][1];
        for (int32_t j = 0; j < FEATURES; j++)
            w->x[twin * FEATURES + j] = w->x[j];
    }
}

static void draw_world(world *w, uint64_t seed)
{
    static const char *const layers[] = {"gcn", "graphconv", "graphconv"};
    cbx_error                err = {0};
    cbx_options             *o;
    uint64_t                 kind = seed / 3 % 3;
    *w = (world){.rng = cbx_rng_stream(seed, 1, 2, 3)};
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = 0; v < u; v++)
            w->edge[u][v] = w->edge[v][u] = cbx_rng_below(&w->rng, 2);
    for (int32_t k = 0; k < NODES * FEATURES; k++)
        w->x[k] = (float)(2 * cbx_rng_uniform(&w->rng) - 1);
    if (seed % 3 > 0)
        draw_twins(w);
    cbx_graph *graph = graph_of(w);
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    CHECK_OK(cbx_options_set(o, "model", layers[kind], &err), err);
    CHECK_OK(cbx_options_set(o, "aggregation", kind == 2 ? "max" : "add", &err), err);
    CHECK_OK(cbx_options_set(o, "pool", "sum", &err), err);
    CHECK_OK(cbx_options_set(o, "layers", "2", &err), err);
    CHECK_OK(cbx_options_set(o, "hidden", "4", &err), err);
    CHECK_OK(cbx_model_new(graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    cbx_graph_free(graph);
    w->prediction = class_of(w);
}

static void toggle(world *w, int32_t u, int32_t v)
{
    w->edge[u][v] = w->edge[v][u] = !w->edge[u][v];
}

/* Does a set of `left` more pairs, from (u, v) on, change the class, none at a node more often than
 * `most` says? */
static bool some_set_flips(world *w, int32_t pair, int64_t left, bool adds, int64_t *most)
{
    bool flips = left == 0 && class_of(w) != w->prediction;
    for (int32_t at = 0, u = 1; left > 0 && !flips && u < NODES; u++)
        for (int32_t v = 0; v < u && !flips; v++, at++) {
            if (at < pair || (!adds && !w->edge[u][v]) || most[u] < 1 || most[v] < 1)
                continue;
            toggle(w, u, v);
            most[u]--;
            most[v]--;
            flips = some_set_flips(w, at + 1, left - 1, adds, most);
            most[u]++;
            most[v]++;
            toggle(w, u, v);
        }
    return flips;
}

/* Each as SCIP-MPNN has it: its degree, less the largest, and the strength. */
static void local_budgets(const world *w, int64_t strength, int64_t *most)
{
    int64_t degree[NODES] = {0}, largest = 0;
    for (int32_t u = 0; u < NODES; u++) {
        for (int32_t v = 0; v < NODES; v++)
            degree[u] += w->edge[u][v];
        largest = degree[u] > largest ? degree[u] : largest;
    }
    for (int32_t u = 0; u < NODES; u++) {
        most[u] = strength < 0 ? PAIRS : degree[u] - largest + strength;
        most[u] = most[u] > 0 ? most[u] : 0;
    }
}

/* The answer, which is the same with any number of threads. */
static cbx_radius ask(const world *w, const cbx_graph *graph, cbx_options *o)
{
    static const char *const threads[] = {"1", "2", "5"};
    cbx_error                err = {0};
    cbx_radius               r[3] = {{0}};
    int32_t                  row = 0;
    for (int k = 0; k < 3; k++) {
        CHECK_OK(cbx_options_set(o, "threads", threads[k], &err), err);
        CHECK_OK(cbx_robust(w->model, graph, &row, 1, o, NULL, NULL, &r[k], &err), err);
        CHECK(r[k].robust == r[0].robust && r[k].lower_bound == r[0].lower_bound &&
              r[k].flips_with == r[0].flips_with);
    }
    return r[0];
}

static void check_world(world *w, bool adds, const char *strength)
{
    cbx_error    err = {0};
    cbx_options *o;
    int64_t      most[NODES], flips_with = 0, budget = adds ? 3 : PAIRS;
    cbx_graph   *graph = graph_of(w);
    CHECK_OK(cbx_options_new(cbx_robust_table(), &o, &err), err);
    CHECK_OK(cbx_options_set(o, "edits", adds ? "both" : "remove", &err), err);
    CHECK_OK(cbx_options_set(o, "budget", adds ? "3" : "0", &err), err);
    CHECK_OK(cbx_options_set(o, "local-strength", strength, &err), err);
    cbx_radius r = ask(w, graph, o);
    local_budgets(w, strtol(strength, NULL, 10), most);
    for (int64_t k = 1; k <= budget && !flips_with; k++)
        flips_with = some_set_flips(w, 0, k, adds, most) ? k : 0;
    CHECK_INT(r.prediction, w->prediction);
    CHECK_INT(r.flips_with, flips_with);
    CHECK_INT(r.robust, flips_with == 0);
    CHECK_INT(r.lower_bound, flips_with ? flips_with : r.budget + 1);
    cbx_options_free(o);
    cbx_graph_free(graph);
}

TEST(the_fewest_edits_that_change_a_class_are_those_that_trying_all_finds)
{
    for (uint64_t seed = 0; seed < 90 && test_failures() == 0; seed++) {
        world w;
        draw_world(&w, seed);
        check_world(&w, false, "-1");
        check_world(&w, true, "-1");
        check_world(&w, true, "2");
        cbx_model_free(w.model);
    }
}

TEST(what_cannot_be_asked_is_said)
{
    world        w;
    cbx_error    err = {0};
    cbx_options *o;
    cbx_radius   r;
    int32_t      row = 1;
    draw_world(&w, 1);
    cbx_graph *graph = graph_of(&w);
    CHECK(cbx_robust(w.model, graph, &row, 1, NULL, NULL, NULL, &r, &err) == CBX_INVALID);
    CHECK_CONTAINS(err.message, "graph 1 does not exist: there are 1");
    row = 0;
    CHECK_OK(cbx_options_new(cbx_robust_table(), &o, &err), err);
    CHECK_OK(cbx_options_set(o, "target", "7", &err), err);
    CHECK(cbx_robust(w.model, graph, &row, 1, o, NULL, NULL, &r, &err) == CBX_INVALID);
    CHECK_CONTAINS(err.message, "target: '7' is not next, any, or a class of this model");
    cbx_options_free(o);
    cbx_model_free(w.model);
    cbx_graph_free(graph);
}
