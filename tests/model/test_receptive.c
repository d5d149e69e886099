/* SPDX-License-Identifier: Apache-2.0 */
/* What layers declare about how far they see: the part of a graph that is cut out by it gives
 * the class that the whole graph gives, whatever happens outside. For every registered layer. */
#include "receptive.h"

#include "../core/bag.h"
#include "pass.h"
#include "test.h"

enum { NODES = 40, FEATURES = 3, CLASSES = 3 };

static cbx_graph *directed_graph(bag *b, uint64_t seed)
{
    enum { EDGES = 70 };
    cbx_rng   rng = cbx_rng_stream(seed, 8, 0, 0);
    int64_t  *source = TAKE(b, int64_t, EDGES), *target = TAKE(b, int64_t, EDGES);
    int64_t  *y = TAKE(b, int64_t, NODES);
    float    *x = TAKE(b, float, NODES *FEATURES), *weight = TAKE(b, float, EDGES);
    cbx_error err = {0};
    for (int64_t e = 0; e < EDGES; e++) {
        source[e] = (int64_t)cbx_rng_below(&rng, NODES);
        target[e] = e % 9 ? (int64_t)cbx_rng_below(&rng, NODES) : source[e];
        weight[e] = draw(&rng, 0.2, 2);
    }
    for (int64_t i = 0; i < NODES * FEATURES; i++)
        x[i] = draw(&rng, -1, 1);
    for (int64_t i = 0; i < NODES; i++)
        y[i] = i % CLASSES;
    cbx_graph     *g = NULL;
    cbx_graph_data data = {.num_nodes = NODES,
                           .num_features = FEATURES,
                           .num_edges = EDGES,
                           .edge_source = source,
                           .edge_target = target,
                           .edge_weight = weight,
                           .x = x,
                           .y = y};
    CHECK_OK(cbx_graph_new(&data, &g, &err), err);
    return g;
}

static void log_probs_on(const cbx_model *model, const cbx_graph *graph, const cbx_view *view,
                         cbx_arena *arena, float *out)
{
    cbx_pass   pass;
    cbx_matrix X;
    cbx_error  err = {0};
    CHECK_OK(cbx_view_features(graph, view, arena, &X, &err), err);
    CHECK_OK(cbx_pass_init(&pass, model, view, &X, false, 1, arena, &err), err);
    cbx_pass_forward(&pass, &X, NULL, 0, 0);
    memcpy(out, pass.logp, CLASSES * sizeof *out);
}

/* How many of the views are a part of the graph only. */
static int compare_all_nodes(const cbx_model *model, const cbx_graph *graph)
{
    float     all[NODES * CLASSES], here[CLASSES];
    cbx_arena arena = {0};
    cbx_view  whole, view;
    cbx_error err = {0};
    int       parts = 0;
    CHECK(cbx_receptive_is_known(model));
    CHECK_OK(cbx_predict(model, graph, 1, all, &err), err);
    CHECK_OK(cbx_view_whole(graph, &arena, &whole, &err), err);
    for (int32_t i = 0; i < NODES; i++) {
        CHECK_OK(cbx_receptive_view(model, graph, &whole, i, INT32_MAX, &arena, &view, &err), err);
        log_probs_on(model, graph, &view, &arena, here);
        CHECK(test_difference(CLASSES, here, all + (int64_t)i * CLASSES) < 1e-5);
        parts += view.n < NODES;
    }
    cbx_arena_free(&arena);
    return parts;
}

TEST(what_a_layer_declares_to_see_is_all_that_counts)
{
    int parts = 0;
    for (int k = 0; cbx_layer_names[k]; k++)
        for (int64_t order = 1; order < 4; order++)
            for (int how = 0; cbx_aggregation_names[how]; how++) {
                bag            b = {0};
                cbx_error      err = {0};
                cbx_model     *model = NULL;
                cbx_graph     *graph = directed_graph(&b, (uint64_t)order);
                cbx_model_spec spec;
                cbx_fields_default(cbx_model_table(), &spec);
                spec.conv = k;
                spec.aggregation = how;
                spec.order = order;
                spec.layers = 1 + k % 2;
                spec.hidden = 4;
                if (graph && CHECK_OK(cbx_model_new_with(graph, &spec, k, &model, &err), err))
                    parts += compare_all_nodes(model, graph);
                cbx_model_free(model);
                cbx_graph_free(graph);
                bag_free(&b);
            }
    CHECK(parts > 200);
}

/* A layer that says nothing. */
TEST(a_model_of_a_layer_that_does_not_tell_is_not_known)
{
    bag            b = {0};
    cbx_error      err = {0};
    cbx_model     *model = NULL;
    cbx_graph     *graph = directed_graph(&b, 1);
    cbx_layer_ops  silent = cbx_layer_gcn;
    cbx_model_spec spec;
    silent.sight = NULL;
    silent.removes_marked_slots = false;
    cbx_fields_default(cbx_model_table(), &spec);
    spec.layers = 2;
    if (graph && CHECK_OK(cbx_model_new_with(graph, &spec, 1, &model, &err), err)) {
        CHECK(cbx_receptive_is_known(model) && cbx_model_removes_marked_slots(model));
        CHECK(!cbx_model_sees_further(model));
        model->layers[1].ops = &silent;
        CHECK(!cbx_receptive_is_known(model) && !cbx_model_removes_marked_slots(model));
        CHECK(cbx_model_sees_further(model));
    }
    cbx_model_free(model);
    cbx_graph_free(graph);
    bag_free(&b);
}
