/* SPDX-License-Identifier: Apache-2.0 */
/* What is claimed of all features within ranges and all sets of edges by going back, against those
 * that a climb finds: the graph is built anew and the model asked. */
#include "box_back.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

static void draw_model(world *w, int64_t kind, uint64_t seed)
{
    static const char *const layers[] = {"gcn", "graphconv", "graphconv", "sage", "cheb"};
    cbx_error                err = {0};
    cbx_options             *o;
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", layers[kind]);
    set(o, "hidden", (const char *[]){"2", "4", "9"}[below(w, 3)]);
    set(o, "layers", (const char *[]){"1", "2", "3", "4"}[below(w, 4)]);
    if (kind == 2)
        set(o, "aggregation", "mean");
    if (kind == 4)
        set(o, "order", "1");
    if (kind == 0 && below(w, 3) == 0)
        set(o, "residual", "true");
    set(o, "head", below(w, 3) ? "last" : "cat");
    set(o, "batch-norm", below(w, 4) ? "false" : "true");
    if (w->task == CBX_GRAPH)
        set(o, "pool", below(w, 2) ? "sum" : "mean");
    CHECK_OK(cbx_model_new(w->graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    shake_parameters(w);
}

static void draw_world(world *w, ranges *r, uint64_t seed)
{
    *w = (world){.rng = cbx_rng_stream(seed, 7, 0, 0)};
    *r = (ranges){0};
    w->task = below(w, 2) ? CBX_GRAPH : CBX_NODE;
    w->n = (int32_t)(2 + below(w, NODES - 1));
    int64_t kind = below(w, 5);
    bool    all_go = below(w, 2), loops = below(w, 4) == 0;
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < w->n; v++) {
            w->edge[u][v] = (u != v || (loops && kind < 2)) && below(w, 5) < 2;
            r->stays[u][v] = (u == v && kind == 0) || (!all_go && below(w, 2));
        }
    if (kind == 1 && below(w, 2))
        draw_weights(w);
    double widest = 2 * cbx_rng_uniform(&w->rng);
    for (int32_t k = 0; k < w->n * FEATURES; k++) {
        bool moves = below(w, 4) > 0;
        r->low[k] = (float)(2 * cbx_rng_uniform(&w->rng) - 1);
        r->high[k] = r->low[k] + (moves ? (float)(widest * cbx_rng_uniform(&w->rng)) : 0);
        w->x[k] = r->low[k];
    }
    w->y[0] = CLASSES - 1;
    w->graph = graph_of(w);
    draw_model(w, kind, seed);
}

/* The largest lead of class 1 over class 0: by boxes, and by going back with so much work. */
typedef struct claims {
    double box, back;
} claims;

static claims claim(const world *w, const ranges *r, double most_work)
{
    ranges_question q;
    cbx_box_back    back;
    cbx_error       err = {0};
    bool            known;
    claims          c;
    ask(&q, w, r);
    c.box = cbx_boxes_lead(&q.boxes, 1, 0);
    CHECK_OK(cbx_box_back_init(&back, &q.boxes, most_work, &q.arena, &known, &err), err);
    CHECK(known && cbx_box_back_narrow(&back));
    c.back = cbx_box_back_lead(&back, 1, 0);
    cbx_arena_free(&q.arena);
    return c;
}

TEST(no_features_within_ranges_and_no_edges_that_go_lead_further_than_going_back_says)
{
    enum { CASES = 2000, CLIMBS = 3 };
    int closer = 0, near = 0;
    for (uint64_t seed = 0; seed < CASES && test_failures() == 0; seed++) {
        world  w;
        ranges r;
        draw_world(&w, &r, seed);
        claims c = claim(&w, &r, INFINITY), least = claim(&w, &r, 3000);
        double most = -INFINITY;
        CHECK(isfinite(c.back) && isfinite(least.back));
        CHECK(c.back <= c.box + 1e-9 && least.back <= c.box + 1e-9);
        for (int i = 0; i < CLIMBS; i++)
            most = fmax(most, climb(&w, &r));
        if (!(most <= c.back && most <= least.back))
            (void)fprintf(stderr, "seed %d: %g, and %g or %g is claimed\n", (int)seed, most, c.back,
                          least.back);
        CHECK(most <= c.back && most <= least.back);
        closer += c.back - most < 0.8 * (c.box - most);
        near += c.back - most < 1e-3 * (1 + fabs(most));
        free_world(&w);
    }
    CHECK(closer > CASES / 5 && near > CASES / 10); /* there is something to break */
}

/* Features so large that what is left of them in sums is small beside what rounding does to it: the
 * first layer takes the second off the first, which is nearly as large. */
static void make_cancelling(world *w, ranges *r)
{
    cbx_error   err = {0};
    const char *name;
    int32_t     rows, cols;
    float       values[64];
    for (size_t i = 0; cbx_model_parameter(w->model, i, &name, &rows, &cols); i++)
        if (!strncmp(name, "layers.0.", 9) && cols == FEATURES) {
            CHECK_OK(cbx_model_get(w->model, i, values, (int64_t)rows * cols, &err), err);
            for (int32_t j = 0; j < rows; j++)
                values[j * cols + 1] = -values[j * cols];
            CHECK_OK(cbx_model_set(w->model, i, values, (int64_t)rows * cols, &err), err);
        }
    for (int32_t k = 0; k < w->n; k++) {
        float *x = w->x + (int64_t)k * FEATURES;
        x[0] = (float)(1e5 * (1 + cbx_rng_uniform(&w->rng)));
        x[1] = x[0] + (float)cbx_rng_uniform(&w->rng);
    }
    memcpy(r->low, w->x, sizeof r->low);
    memcpy(r->high, w->x, sizeof r->high);
    memset(r->stays, true, sizeof r->stays);
}

TEST(where_nothing_may_change_what_rounding_does_is_within_the_claim)
{
    int large = 0;
    for (uint64_t seed = 0; seed < 1000 && test_failures() == 0; seed++) {
        world  w;
        ranges r;
        draw_world(&w, &r, seed);
        make_cancelling(&w, &r);
        double lead = true_lead(&w, 1, 0);
        claims c = claim(&w, &r, INFINITY);
        CHECK(lead <= c.back && c.back <= c.box + 1e-9);
        large += c.back - lead > 1e-3;
        free_world(&w);
    }
    CHECK(large > 100);
}

/* The ranges are those of one row, and no more: a sanitizer sees who reads further. */
TEST(of_a_model_that_sees_no_edge_only_the_row_itself_is_read)
{
    cbx_arena         arena = {0};
    cbx_error         err = {0};
    world             w = {.rng = cbx_rng_stream(1, 8, 0, 0), .task = CBX_NODE, .n = 3};
    cbx_options      *o;
    cbx_view          view;
    cbx_partial_graph g;
    cbx_net          *net;
    cbx_boxes         boxes;
    cbx_box_back      back;
    bool              known;
    w.edge[1][0] = w.edge[2][1] = true;
    w.y[0] = CLASSES - 1;
    w.graph = graph_of(&w);
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", "cheb");
    set(o, "order", "1");
    CHECK_OK(cbx_model_new(w.graph, o, 1, &w.model, &err), err);
    cbx_options_free(o);
    float *low = calloc(FEATURES, sizeof *low), *high = calloc(FEATURES, sizeof *high);
    CHECK_OK(cbx_view_around(w.graph, 0, 3, &arena, &view, &err), err);
    CHECK_OK(cbx_partial_graph_init(&g, &view, NULL, 0, 0, &arena, &err), err);
    CHECK_OK(cbx_partial_graph_ready(&g, &arena, &err), err);
    CHECK_OK(cbx_net_of(w.model, &arena, &net, &err), err);
    cbx_box_question q = {.net = net, .graph = &g, .low = low, .high = high};
    CHECK_OK(cbx_boxes_init(&boxes, &q, &arena, &known, &err), err);
    CHECK(known && view.n == 3 && boxes.layers[0].rows_in == 1);
    CHECK(cbx_boxes_compute(&boxes));
    CHECK_OK(cbx_box_back_init(&back, &boxes, 1e9, &arena, &known, &err), err);
    CHECK(known && cbx_box_back_narrow(&back));
    CHECK(cbx_box_back_lead(&back, 1, 0) <= cbx_boxes_lead(&boxes, 1, 0) + 1e-9);
    free(low);
    free(high);
    cbx_arena_free(&arena);
    free_world(&w);
}
