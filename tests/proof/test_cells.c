/* SPDX-License-Identifier: Apache-2.0 */
/* Where cells say that no unit of a third layer can bring a class ahead, no features within their
 * ranges and no edges that go do. */
#include "cells.h"

#include <math.h>
#include <string.h>

#include "ranges.h"

/* Adds `by` to all of a parameter, or makes it `by` and zeros. */
static void add_to(cbx_model *model, const char *of, float by, bool alone)
{
    cbx_error   err = {0};
    const char *name;
    int32_t     rows, cols;
    float       values[64];
    for (size_t i = 0; cbx_model_parameter(model, i, &name, &rows, &cols); i++) {
        int64_t count = (int64_t)(rows ? rows : 1) * (cols ? cols : 1);
        if (strcmp(name, of) != 0)
            continue;
        CHECK_OK(cbx_model_get(model, i, values, count, &err), err);
        for (int64_t k = 0; k < count; k++)
            values[k] = alone ? (k == 0 ? by : 0) : values[k] + by;
        CHECK_OK(cbx_model_set(model, i, values, count, &err), err);
    }
}

static void draw_world(world *w, ranges *r, uint64_t seed)
{
    static const float less[] = {0.1F, -0.2F, -0.5F, -0.8F};
    cbx_error          err = {0};
    cbx_options       *o;
    *w = (world){.rng = cbx_rng_stream(seed, 8, 0, 0)};
    *r = (ranges){0};
    w->task = below(w, 2) ? CBX_GRAPH : CBX_NODE;
    w->n = (int32_t)(below(w, 2) ? 1 : 2 + below(w, 4));
    bool all_go = below(w, 3) > 0;
    for (int32_t u = 0; u < w->n; u++)
        for (int32_t v = 0; v < w->n; v++) {
            w->edge[u][v] = below(w, 2);
            r->stays[u][v] = !all_go && below(w, 2);
        }
    double widest = (double[]){0.3, 2, 20}[below(w, 3)];
    for (int32_t k = 0; k < w->n * FEATURES; k++) {
        r->low[k] = below(w, 3) ? 0 : (float)(2 * cbx_rng_uniform(&w->rng) - 1);
        r->high[k] = r->low[k] + (below(w, 3) ? (float)(widest * cbx_rng_uniform(&w->rng)) : 0);
        w->x[k] = r->low[k];
    }
    w->y[0] = CLASSES - 1;
    w->graph = graph_of(w);
    CHECK_OK(cbx_options_new(cbx_model_table(), &o, &err), err);
    set(o, "model", "graphconv");
    set(o, "hidden", below(w, 2) ? "2" : "4");
    set(o, "layers", "3");
    if (w->task == CBX_GRAPH)
        set(o, "pool", below(w, 2) ? "sum" : "mean");
    CHECK_OK(cbx_model_new(w->graph, o, (int64_t)seed, &w->model, &err), err);
    cbx_options_free(o);
    shake_parameters(w);
    add_to(w->model, "output_layer.bias", 0.05F, true);
    /* units of the third layer fall with those of the second, but for some weights */
    add_to(w->model, "layers.2.lin_rel.weight", less[below(w, 4)], false);
    add_to(w->model, "layers.2.lin_root.weight", less[below(w, 4)], false);
    add_to(w->model, "layers.1.lin_rel.weight", less[below(w, 4)], false);
    add_to(w->model, "layers.2.lin_rel.bias", 0.9F, false);
}

/* The largest lead of class 1 over class 0 by cells; INFINITY: they tell nothing. */
static double claim(const world *w, const ranges *r)
{
    static const uint8_t sought[CLASSES] = {0, 1, 1};
    cbx_cells_question   about = {.sought = sought, .behind = 0, .most_work = 3e6};
    ranges_question      q;
    cbx_error            err = {0};
    bool                 narrowed;
    ask(&q, w, r);
    double box = cbx_boxes_lead(&q.boxes, 1, 0);
    CHECK_OK(cbx_cells_narrow(&q.boxes, &about, &q.arena, &narrowed, &err), err);
    double lead = cbx_boxes_lead(&q.boxes, 1, 0);
    CHECK(lead <= box + 1e-9);
    cbx_arena_free(&q.arena);
    return narrowed ? lead : INFINITY;
}

TEST(no_features_within_ranges_and_no_edges_that_go_lead_further_than_cells_say)
{
    enum { CASES = 250 };
    int told = 0, closer = 0;
    for (uint64_t seed = 0; seed < CASES && test_failures() == 0; seed++) {
        world  w;
        ranges r;
        draw_world(&w, &r, seed);
        /* the least that makes units dead is where a claim is most likely to be too bold */
        for (int step = 0; step < 10; step++) {
            double most = claim(&w, &r);
            if (most < INFINITY) {
                CHECK(climb(&w, &r) <= most && climb(&w, &r) <= most);
                told++;
                closer += step > 0;
            }
            add_to(w.model, "layers.2.lin_rel.bias", -0.2F, false);
        }
        free_world(&w);
    }
    CHECK(told > 40 && closer > 30); /* there is something to break */
}
