/* SPDX-License-Identifier: Apache-2.0 */
/* What edges would do that are not there, worked out of all nodes at once, is what they do: an edge
 * of hardly any weight is added, and the model is asked. */
#include "promise.h"

#include <math.h>

#include "added.h"
#include "offers.h"
#include "oracle.h"
#include "setup.h"
#include "test.h"
#include "verify.h"
#include "widen.h"

static const oracle_shape shapes[] = {
    {.nodes = 60, .seed = 1},
    {.nodes = 60, .directed = true, .seed = 2},
    {.nodes = 60, .sparse = true, .seed = 3},
    {.conv = "graphconv", .nodes = 60, .seed = 4},
    {.conv = "graphconv", .nodes = 60, .directed = true, .seed = 5},
    {.nodes = 60, .standardise = "on", .kind = 'c', .seed = 6},
    {.nodes = 60, .standardise = "on", .sparse = true, .seed = 7},
    {.conv = "graphconv", .nodes = 60, .standardise = "on", .seed = 8},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct asking {
    oracle              o;
    cbx_explain_options options;
    cbx_setup           setup;
    cbx_arena           arena;
    cbx_view            view;
    cbx_search          s, plain;
    int32_t             aim;
} asking;

static void begin(asking *a, oracle_shape shape, int32_t row, const char *most)
{
    cbx_error err = {0};
    float    *logp;
    *a = (asking){.o = oracle_make(shape)};
    a->options = ASK("explainer", "minimal", "target", "any", "edits", "add", "add-candidates",
                     most, "edges", shape.directed ? "directed" : "undirected");
    oracle_must(cbx_setup_init(&a->setup, a->o.model, a->o.graph, &a->options, &err), &err);
    a->s = (cbx_search){.model = a->o.model,
                        .graph = a->o.graph,
                        .options = &a->options,
                        .row = row,
                        .whole = a->setup.whole,
                        .inputs = a->setup.inputs,
                        .rules = &a->setup.rules,
                        .target = -1,
                        .arena = &a->arena,
                        .keep = &a->arena};
    oracle_must(cbx_widen(&a->s, NULL, 0, &a->plain, &err), &err); /* the factual graph */
    logp = CBX_NEW(&a->arena, float, a->o.model->num_classes);
    oracle_must(cbx_check_edits(a->o.model, a->o.graph, row, NULL, 0, logp, &err), &err);
    a->plain.prediction = cbx_best_class(logp, a->o.model->num_classes, -1);
    a->plain.before = logp;
    a->aim = cbx_best_class(logp, a->o.model->num_classes, a->plain.prediction);
}

static void end(asking *a)
{
    cbx_arena_free(&a->arena);
    cbx_setup_free(&a->setup);
    oracle_free(&a->o);
}

/* How much the next class gains on the first by the edges. */
static double gain_by(const asking *a, const cbx_edit *edits, int64_t count)
{
    float     after[8];
    cbx_error err = {0};
    int32_t   now = a->plain.prediction;
    CHECK_OK(cbx_check_edits(a->o.model, a->o.graph, a->s.row, edits, count, after, &err), err);
    return ((double)after[a->aim] - a->plain.before[a->aim]) -
           ((double)after[now] - a->plain.before[now]);
}

TEST(a_promise_is_what_a_small_edge_does)
{
    const float weight = 2e-3F;
    for (int k = 0; k < SHAPES; k++) {
        asking      a;
        cbx_promise promise;
        cbx_error   err = {0};
        int         looked = 0, near = 0;
        double      size = 0;
        begin(&a, shapes[k], 3, "5");
        CHECK(a.plain.inputs != NULL);
        oracle_must(cbx_promise_init(&promise, &a.plain, weight, &a.arena, &err), &err);
        for (int32_t u = 0; u < a.o.data.num_nodes; u++) {
            cbx_edit e = {.op = CBX_ADD_EDGE,
                          .source = u,
                          .target = 3,
                          .edge = -1,
                          .undirected = !shapes[k].directed,
                          .weight = weight};
            double   promised = cbx_promise_into(&promise, 0, 3, u);
            int32_t  row = -1;
            if (u == 3 || cbx_graph_has_edge(a.o.graph, u, 3) ||
                cbx_graph_has_edge(a.o.graph, 3, u))
                continue;
            for (int32_t i = 0; i < a.plain.view->n; i++)
                row = a.plain.view->node[i] == u ? i : row;
            if (row >= 0 && e.undirected)
                promised += cbx_promise_into(&promise, row, u, 3);
            double got = gain_by(&a, &e, 1);
            CHECK_NEAR(got, promised, 2e-5 + 0.05 * fabs(got));
            size = fmax(size, fabs(got));
            looked++;
            near += row >= 0;
        }
        CHECK(looked > 20 && size > 5e-4);
        CHECK(near > 0);
        end(&a);
    }
}

/* The ones that were chosen are better than most that were not. */
TEST(offers_are_the_most_promising)
{
    for (int k = 0; k < SHAPES; k++) {
        asking     a;
        cbx_offers offers;
        cbx_error  err = {0};
        int        better = 0, tried = 0;
        begin(&a, shapes[k], 7, "12");
        oracle_must(cbx_offers_choose(&a.plain, &a.setup.rules, 12, &offers, &err), &err);
        CHECK_INT(offers.count, 12);
        CHECK(!offers.all);
        double least = INFINITY;
        for (int64_t i = 0; i < offers.count; i++) {
            cbx_edit e = offers.edits[i];
            e.weight = 2e-3F;
            least = fmin(least, gain_by(&a, &e, 1));
        }
        for (int32_t u = 0; u < a.o.data.num_nodes; u++) {
            cbx_edit e = {
                .op = CBX_ADD_EDGE, .source = u, .target = 7, .edge = -1, .weight = 2e-3F};
            e.undirected = !shapes[k].directed;
            if (u == 7 || cbx_graph_has_edge(a.o.graph, u, 7) ||
                cbx_graph_has_edge(a.o.graph, 7, u))
                continue;
            tried++;
            better += gain_by(&a, &e, 1) > least + 1e-5;
        }
        CHECK(better <= 12);
        CHECK(tried > 20);
        end(&a);
    }
}
