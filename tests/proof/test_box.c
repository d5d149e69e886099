/* SPDX-License-Identifier: Apache-2.0 */
/* What boxes claim of all features within ranges and all sets of edges, against random ones of
 * them: the graph is built anew and the model asked. */
#include "box.h"

#include <math.h>

#include "box_back.h"
#include "parameters.h"
#include "ranges.h"

enum { MEAN = 2, MAXIMUM, KINDS };

static void draw_model(world *w, int64_t kind, uint64_t seed)
{
    static const char *const layers[KINDS] = {"gcn", "graphconv", "sage", "graphconv"};
    static const char *const pools[] = {"mean", "sum", "max"};
    cbx_error                err = {0};
    cbx_options             *o;
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", layers[kind]);
    if (kind == MAXIMUM)
        set(o, "aggregation", "max");
    if (w->task == CBX_GRAPH)
        set(o, "pool", pools[below(w, 3)]);
    set(o, "layers", below(w, 2) ? "1" : "2");
    set(o, "hidden", "3");
    CHECK_OK(cbx_model_new(w->graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    shake_parameters(w);
}

static void draw_world(world *w, ranges *r, uint64_t seed)
{
    *w = (world){.rng = cbx_rng_stream(seed, 4, 5, 6)};
    *r = (ranges){0};
    int64_t kind = below(w, KINDS);
    w->task = below(w, 3) ? CBX_GRAPH : CBX_NODE;
    w->n = (int32_t)(1 + below(w, NODES));
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < w->n; v++) {
            w->edge[u][v] = (u != v || (kind != MEAN && below(w, 3) == 0)) && below(w, 2);
            r->stays[u][v] = (u == v && kind == 0) || below(w, 3) == 0;
        }
    if (kind % 2 && below(w, 2)) /* GraphConv's sums and maxima */
        draw_weights(w);
    for (int32_t k = 0; k < w->n * FEATURES; k++) {
        r->low[k] = (float)(2 * cbx_rng_uniform(&w->rng) - 1);
        r->high[k] = r->low[k] + (float)((double)below(w, 2) * cbx_rng_uniform(&w->rng));
        w->x[k] = r->low[k];
    }
    w->y[0] = CLASSES - 1;
    w->graph = graph_of(w);
    draw_model(w, kind, seed);
}

/* The largest lead of class 1 over class 0, by the box. */
static double claim(const world *w, const ranges *r)
{
    ranges_question q;
    cbx_box_back    back;
    cbx_error       err = {0};
    bool            known;
    ask(&q, w, r);
    double lead = cbx_boxes_lead(&q.boxes, 1, 0);
    CHECK_OK(cbx_box_back_init(&back, &q.boxes, 1e6, &q.arena, &known, &err), err);
    CHECK_INT(known, !q.box.net->max_pool && !q.box.net->layers[0].maximum); /* it is for sums */
    cbx_arena_free(&q.arena);
    return lead;
}

TEST(no_features_within_ranges_and_no_edges_that_go_lead_further_than_the_box_says)
{
    enum { CASES = 1200 };
    int near = 0;
    for (uint64_t seed = 0; seed < CASES && test_failures() == 0; seed++) {
        world  w;
        ranges r;
        draw_world(&w, &r, seed);
        double most = claim(&w, &r), met = climb(&w, &r);
        CHECK(isfinite(most));
        CHECK(met <= most);
        near += most - met < 0.01 * (1 + fabs(met));
        free_world(&w);
    }
    CHECK(near > CASES / 20); /* there is something to break */
}

TEST(of_a_model_whose_last_units_are_dead_the_lead_is_that_of_the_biases)
{
    world  w;
    ranges r;
    int    dead = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        draw_world(&w, &r, seed);
        cbx_model_info about = cbx_model_describe(w.model);
        if (strcmp(about.conv, "graphconv") == 0 && about.num_layers == 2) {
            add_to_parameter(w.model, "layers.1.lin_rel.bias", -1000);
            double most = claim(&w, &r), met = climb(&w, &r);
            CHECK_NEAR(most, met, 1e-5);
            CHECK(met <= most); /* with what rounding does to logarithms */
            dead++;
        }
        free_world(&w);
    }
    CHECK(dead > 20);
}
