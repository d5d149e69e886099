/* SPDX-License-Identifier: Apache-2.0 */
/* What takes a proof away, and what it must have looked at: the graph's shape outside of the
 * neighbourhood, what a budget left out, outgoing edges, loops. Every proof is held against
 * all sets of edits, tried one by one on the whole graph. tests/adversary does that at random
 * for all rules; here is one case a lesson. */
#include <math.h>
#include <string.h>

#include "explainer.h"
#include "model.h"
#include "../search/oracle.h"
#include "rng.h"
#include "test.h"
#include "../search/own_options.h"

static cbx_explain_options ask_for(const char *const *settings)
{
    cbx_explain_options o;
    cbx_error           err = {0};
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    o.threads = 1;
    minimal_of(&o)->robustness = 0;
    for (; *settings; settings += 2)
        oracle_must(cbx_fields_set(cbx_explain_table(), &o, settings[0], settings[1], &err), &err);
    return o;
}
#define ASK_FOR(...) ask_for((const char *const[]){__VA_ARGS__, NULL})

static cbx_model_spec small_model(const char *conv, int64_t layers, int64_t order)
{
    cbx_model_spec spec;
    cbx_error      err = {0};
    cbx_fields_default(cbx_model_table(), &spec);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", conv, &err), &err);
    spec.layers = layers;
    spec.order = order;
    spec.hidden = 4;
    return spec;
}

/* A model as it is drawn, which separates nodes by chance; trained ones agree too often. */
static oracle untrained(const cbx_graph_data *data, const cbx_model_spec *spec, int64_t seed)
{
    oracle    o = {.data = *data};
    cbx_error err = {0};
    oracle_must(cbx_graph_new(&o.data, &o.graph, &err), &err);
    o.data = *cbx_graph_arrays(o.graph);
    oracle_must(cbx_model_new_with(o.graph, spec, seed, &o.model, &err), &err);
    return o;
}

static bool flips(const oracle *o, const cbx_counterfactual *r, const cbx_edit *edits,
                  int64_t count)
{
    float     logp[8];
    cbx_error err = {0};
    oracle_must(cbx_check_edits(o->model, o->graph, r->row, edits, count, logp, &err), &err);
    int32_t best = best_of(logp, r->num_classes);
    /* a tie is nobody's flip */
    return cbx_is_flip(logp, r->num_classes, r->prediction, r->target, 0) &&
           logp[best] > logp[r->prediction] + 1e-5f;
}

static cbx_edit removal(const oracle *o, int64_t edge, bool undirected)
{
    return (cbx_edit){.op = CBX_REMOVE_EDGE,
                      .source = (int32_t)o->data.edge_source[edge],
                      .target = (int32_t)o->data.edge_target[edge],
                      .edge = undirected ? -1 : edge,
                      .undirected = undirected};
}

/* Does any set of single directed edges, loops included, flip? */
static bool some_edges_flip(const oracle *o, const cbx_counterfactual *r)
{
    cbx_edit edits[16];
    for (uint32_t set = 1; set < 1u << o->data.num_edges; set++) {
        int64_t count = 0;
        for (int64_t e = 0; e < o->data.num_edges; e++)
            if (set >> e & 1)
                edits[count++] = removal(o, e, false);
        if (flips(o, r, edits, count))
            return true;
    }
    return false;
}

/* ---- ties */

static void set_parameter(cbx_model *m, const char *wanted, const float *values, int64_t count)
{
    const char *name;
    int32_t     rows, cols;
    cbx_error   err = {0};
    for (size_t i = 0; cbx_model_parameter(m, i, &name, &rows, &cols); i++)
        if (!strcmp(name, wanted))
            oracle_must(cbx_model_set(m, i, values, count, &err), &err);
}

/* The edge is all that speaks for class 1. Without it both classes have the same score, and of
 * equal ones the first wins, here as in torch. */
TEST(a_tie_that_the_first_class_wins_is_a_flip)
{
    int64_t             source[] = {1}, target[] = {0}, y[] = {1, 0};
    float               x[] = {0, 1}, zero[8] = {0}, one[] = {1};
    cbx_graph_data      data = {.num_nodes = 2,
                                .num_features = 1,
                                .num_edges = 1,
                                .edge_source = source,
                                .edge_target = target,
                                .x = x,
                                .y = y};
    cbx_model_spec      spec = small_model("graphconv", 1, 1);
    cbx_explain_options options =
        ASK_FOR("target", "any", "features-to-vary", "none", "prove", "20");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    spec.hidden = 1;
    oracle o = untrained(&data, &spec, 1);
    set_parameter(o.model, "layers.0.lin_rel.weight", one, 1);
    set_parameter(o.model, "layers.0.lin_rel.bias", zero, 1);
    set_parameter(o.model, "layers.0.lin_root.weight", zero, 1);
    set_parameter(o.model, "output_layer.weight", (const float[]){0, 1}, 2);
    set_parameter(o.model, "output_layer.bias", zero, 2);
    if (CHECK_OK(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &r, &err), err)) {
        CHECK_INT(r->prediction, 1);
        CHECK_INT(r->outcome, CBX_FOUND);
        CHECK_INT(r->result, 0);
        CHECK_INT(r->num_edits, 1);
    }
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* ---- the shape of the whole graph */

enum { RING = 30 };

static cbx_graph_data ring(bag *b, cbx_rng *rng)
{
    int64_t *source = TAKE(b, int64_t, 2 * RING), *target = TAKE(b, int64_t, 2 * RING);
    int64_t *y = TAKE(b, int64_t, RING);
    float   *x = TAKE(b, float, 3 * RING);
    for (int64_t i = 0; i < RING; i++) {
        source[2 * i] = target[2 * i + 1] = i;
        target[2 * i] = source[2 * i + 1] = (i + 1) % RING;
        y[i] = i % 3;
        for (int64_t j = 0; j < 3; j++)
            x[3 * i + j] = draw(rng, -1, 1);
    }
    return (cbx_graph_data){.num_nodes = RING,
                            .num_features = 3,
                            .num_edges = 2 * RING,
                            .edge_source = source,
                            .edge_target = target,
                            .x = x,
                            .y = y};
}

/* Any one edge of a ring may go; then it is a path, of which none may. */
TEST(a_way_round_outside_of_the_neighbourhood_keeps_a_ring_connected)
{
    int flipped = 0, none = 0;
    for (uint64_t seed = 0; seed < 12; seed += (uint64_t)test_every(2)) {
        bag                 b = {0};
        cbx_rng             rng = cbx_rng_stream(seed, 3, 0, 0);
        cbx_graph_data      data = ring(&b, &rng);
        cbx_model_spec      spec = small_model("gcn", 2, 1);
        oracle              o = untrained(&data, &spec, (int64_t)seed);
        cbx_explain_options options =
            ASK_FOR("features-to-vary", "none", "keep", "connected", "target", "any", "prove", "5");
        for (int32_t row = 0; row < RING; row++) {
            cbx_counterfactual *r = explain_row(&o, row, &options);
            bool                any = false;
            for (int64_t e = 0; e < data.num_edges; e += 2) {
                cbx_edit edit = removal(&o, e, true);
                any = any || flips(&o, r, &edit, 1);
            }
            CHECK_INT(r->outcome == CBX_FOUND, any);
            CHECK(r->outcome == CBX_FOUND ? r->num_edits == 1 : r->certificate == CBX_PROVED_NONE);
            flipped += any;
            none += !any;
            cbx_counterfactual_free(r);
        }
        oracle_free(&o);
        bag_free(&b);
    }
    CHECK(flipped > 10 / test_every(5) && none > 10 / test_every(5));
}

/* 0 - 1 - 2 - 3, and node 3 has two more links, which node 0's neighbourhood of one layer
 * does not show. Its link to 2 may go; 0's and 1's own may not. */
TEST(a_link_outside_of_the_neighbourhood_keeps_a_node_from_being_alone)
{
    static const int64_t source[] = {0, 1, 1, 2, 2, 3, 3, 4, 3, 5},
                         target[] = {1, 0, 2, 1, 3, 2, 4, 3, 5, 3};
    static const float   x[] = {0, 1, 2, 0, 1, 2};
    static const int64_t y[] = {0, 1, 2, 0, 1, 2};
    const cbx_graph_data data = {.num_nodes = 6,
                                 .num_features = 1,
                                 .num_edges = 10,
                                 .edge_source = source,
                                 .edge_target = target,
                                 .x = x,
                                 .y = y};
    int                  flipped = 0;
    for (int64_t seed = 0; seed < 200; seed++) {
        cbx_model_spec      spec = small_model("gcn", 1, 1);
        oracle              o = untrained(&data, &spec, seed);
        cbx_explain_options options = ASK_FOR("features-to-vary", "none", "keep", "no-isolated",
                                              "target", "any", "prove", "5");
        cbx_counterfactual *r = explain_row(&o, 1, &options);
        cbx_edit            edits[2] = {removal(&o, 2, true), removal(&o, 4, true)};
        /* node 2 would be alone without both of its links, and nodes 0 and 1 without theirs */
        bool any = flips(&o, r, &edits[0], 1) || flips(&o, r, &edits[1], 1);
        CHECK_INT(r->outcome == CBX_FOUND, any);
        CHECK(any || r->certificate == CBX_PROVED_NONE);
        flipped += any;
        cbx_counterfactual_free(r);
        oracle_free(&o);
    }
    CHECK(flipped > 0);
}

/* ---- what was left out */

TEST(a_budget_that_leaves_nodes_out_takes_the_proof_away)
{
    oracle              o = oracle_make((oracle_shape){0}); /* 34 features: two nodes are left */
    cbx_explain_options narrow = ASK_FOR("features-to-vary", "none", "protected-edges", "0-1",
                                         "target", "any", "budget", "68");
    for (int32_t row = 0; row < 2; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &narrow);
        CHECK(r->num_left_out > 0);
        CHECK(r->certificate != CBX_PROVED_NONE && r->certificate != CBX_OPTIMAL);
        CHECK(!*r->scope);
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

/* ---- edges that leave, and loops */

static cbx_graph_data random_directed(bag *b, cbx_rng *rng, bool loops)
{
    enum { NODES = 6, EDGES = 9 };
    int64_t *source = TAKE(b, int64_t, EDGES), *target = TAKE(b, int64_t, EDGES);
    int64_t *y = TAKE(b, int64_t, NODES);
    float   *x = TAKE(b, float, 2 * NODES), *weight = TAKE(b, float, EDGES);
    for (int64_t e = 0; e < EDGES; e++) {
        source[e] = (int64_t)cbx_rng_below(rng, NODES);
        do
            target[e] = (int64_t)cbx_rng_below(rng, NODES);
        while (target[e] == source[e]);
        if (loops && e % 3 == 0)
            target[e] = source[e];
        weight[e] = draw(rng, 0.2, 2);
    }
    for (int64_t i = 0; i < NODES; i++) {
        y[i] = i % 3;
        for (int64_t j = 0; j < 2; j++)
            x[2 * i + j] = draw(rng, -1, 1);
    }
    return (cbx_graph_data){.num_nodes = NODES,
                            .num_features = 2,
                            .num_edges = EDGES,
                            .edge_source = source,
                            .edge_target = target,
                            .edge_weight = weight,
                            .x = x,
                            .y = y};
}

/* Directed edges one by one: what is proved not to be there is not, and what is there is found. */
static void hold_against_all_sets(const cbx_model_spec *spec, bool loops, int *proved, int *found)
{
    for (uint64_t seed = 0; seed < 25; seed += (uint64_t)test_every(4)) {
        bag                 b = {0};
        cbx_rng             rng = cbx_rng_stream(seed, 4, 0, 0);
        cbx_graph_data      data = random_directed(&b, &rng, loops);
        oracle              o = untrained(&data, spec, (int64_t)seed);
        cbx_explain_options options = ASK_FOR("features-to-vary", "none", "edges", "directed",
                                              "target", "any", "prove", "20");
        for (int32_t row = 0; row < data.num_nodes; row += 2) {
            cbx_counterfactual *r = explain_row(&o, row, &options);
            bool                any = some_edges_flip(&o, r);
            CHECK(r->outcome != CBX_SKIPPED);
            CHECK_INT(r->outcome == CBX_FOUND, any);
            CHECK_INT(r->certificate, any ? CBX_OPTIMAL : CBX_PROVED_NONE);
            *proved += !any;
            *found += any;
            cbx_counterfactual_free(r);
        }
        oracle_free(&o);
        bag_free(&b);
    }
}

TEST(chebyshev_layers_lose_outgoing_edges_too)
{
    int proved = 0, found = 0;
    for (int64_t order = 2; order < 4; order++) {
        cbx_model_spec spec = small_model("cheb", order == 2 ? 2 : 1, order);
        hold_against_all_sets(&spec, false, &proved, &found);
    }
    CHECK(proved > 10 / test_every(5) && found > 10 / test_every(5));
}

TEST(loops_are_moves)
{
    static const char *const convs[] = {"gcn", "graphconv", "cheb"};
    int                      proved = 0, found = 0;
    for (int k = 0; k < 3; k++) {
        cbx_model_spec spec = small_model(convs[k], 2, 2);
        hold_against_all_sets(&spec, true, &proved, &found);
    }
    CHECK(proved > 10 / test_every(5) && found > 10 / test_every(5));
}

TEST(a_maximum_over_edges_is_one_over_those_that_are_left)
{
    int            proved = 0, found = 0;
    cbx_error      err = {0};
    cbx_model_spec spec = small_model("graphconv", 2, 1);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "aggregation", "max", &err), &err);
    hold_against_all_sets(&spec, true, &proved, &found);
    CHECK(proved > 5 / test_every(5) && found > 5 / test_every(5));
}

/* Of a softmax the others get more when one is gone, and its own loop stands in for one. */
TEST(what_is_proved_of_mlps_attention_skips_normalisation_and_hidden_units_holds)
{
    static const char *const models[][3] = {{"gin", "eps", "0.5"},
                                            {"gat", "heads", "2"},
                                            {"gat", "no-self-loops", "true"},
                                            {"sage", "residual", "true"},
                                            {"gcn", "batch-norm", "true"},
                                            {"gcn", "head-hidden", "3"}};
    int                      proved = 0, found = 0;
    for (int k = 0; k < 6; k++) {
        cbx_error      err = {0};
        cbx_model_spec spec = small_model(models[k][0], 2, 1);
        oracle_must(cbx_fields_set(cbx_model_table(), &spec, models[k][1], models[k][2], &err),
                    &err);
        hold_against_all_sets(&spec, true, &proved, &found);
    }
    CHECK(proved > 10 / test_every(5) && found > 10 / test_every(5));
}

/* ---- rows without edges, kinds of values, words */

TEST(a_node_without_edges_is_explained_by_its_features)
{
    static const char *const methods[] = {"minimal", "combinex", "random-features"};
    oracle                   o = oracle_make((oracle_shape){.nodes = 40, .kind = 'd', .seed = 3});
    cbx_graph_data           alone = o.data;
    cbx_graph               *graph = NULL;
    cbx_error                err = {0};
    alone.num_edges = 0;
    oracle_must(cbx_graph_new(&alone, &graph, &err), &err);
    for (int k = 0; k < 3; k++) {
        cbx_explain_options options = ASK_FOR("explainer", methods[k], "target", "any");
        int                 found = 0;
        for (int32_t row = 0; row < 10; row++) {
            cbx_counterfactual *r = NULL;
            oracle_must(cbx_explain_with(o.model, graph, row, &options, NULL, NULL, &r, &err),
                        &err);
            CHECK(r->outcome == CBX_FOUND || r->outcome == CBX_NOT_FOUND);
            CHECK_INT(r->num_edges, 0);
            found += r->outcome == CBX_FOUND;
            cbx_counterfactual_free(r);
        }
        CHECK(found >= (k == 0 ? 10 : 1));
    }
    cbx_graph_free(graph);
    oracle_free(&o);
}

TEST(a_method_that_removes_edges_says_that_there_are_none)
{
    oracle         o = oracle_make((oracle_shape){.nodes = 40, .seed = 3});
    cbx_graph_data alone = o.data;
    cbx_graph     *graph = NULL;
    cbx_error      err = {0};
    int            tried = 0;
    alone.num_edges = 0;
    oracle_must(cbx_graph_new(&alone, &graph, &err), &err);
    for (int k = 0; cbx_explainer_names[k]; k++) {
        if (!cbx_explainer_at(k)->edges_only || cbx_explainer_at(k)->graphs_only)
            continue;
        cbx_explain_options options = ASK_FOR("explainer", cbx_explainer_names[k]);
        cbx_counterfactual *r = NULL;
        tried++;
        oracle_must(cbx_explain_with(o.model, graph, 1, &options, NULL, NULL, &r, &err), &err);
        CHECK_INT(r->outcome, CBX_NOT_FOUND);
        CHECK_CONTAINS(r->reason, "has no edge");
        cbx_counterfactual_free(r);
    }
    CHECK(tried >= 6);
    cbx_graph_free(graph);
    oracle_free(&o);
}

TEST(discrete_features_take_whole_numbers_whatever_range_is_permitted)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 40, .kind = 'd', .seed = 5});
    cbx_explain_options options = ASK_FOR("target", "any", "keep-edges", "true", "permitted-range",
                                          "0:0:2.7,1:-0.5:3.5,2:0:2.7,3:0:2.7,4:0:1.1");
    int                 edits = 0;
    for (int32_t row = 0; row < 40; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &options);
        for (int64_t k = 0; k < r->num_edits; k++, edits++)
            CHECK(r->edits[k].to == rintf(r->edits[k].to));
        cbx_counterfactual_free(r);
    }
    CHECK(edits > 20);
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    options = ASK_FOR("permitted-range", "2:0.2:0.7");
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "feature 2 takes whole numbers");
    oracle_free(&o);
}

TEST(a_proof_names_its_kinds_of_edit_and_its_rules)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options options =
        ASK_FOR("features-to-vary", "none", "own-edges", "true", "max-edits", "1", "keep",
                "connected", "prove", "5", "target", "any");
    int proofs = 0;
    for (int32_t row = 0; row < 34; row++) {
        cbx_counterfactual *r = explain_row(&o, row, &options);
        if (r->certificate == CBX_PROVED_NONE || r->certificate == CBX_OPTIMAL) {
            CHECK_CONTAINS(r->scope, "removals of edges (all between two nodes at once)");
            CHECK_CONTAINS(r->scope,
                           "max-edits 1, features-to-vary none, own-edges, keep connected");
            CHECK(!strstr(r->scope, "changes of features"));
            if (r->outcome == CBX_NOT_FOUND)
                CHECK_CONTAINS(r->reason, r->scope);
            proofs++;
        }
        cbx_counterfactual_free(r);
    }
    CHECK(proofs > 20);
    oracle_free(&o);
}

/* Nothing is assumed of a layer that does not declare it: it is explained, and nothing proved. */
TEST(a_layer_that_declares_nothing_is_explained_without_proofs)
{
    oracle        o = oracle_make((oracle_shape){0});
    cbx_layer_ops silent = *o.model->layers[0].ops;
    silent.sight = NULL;
    silent.removes_marked_slots = false;
    silent.bound_output_shift = NULL;
    for (int32_t l = 0; l < o.model->num_layers; l++)
        o.model->layers[l].ops = &silent;
    cbx_explain_options options = ASK_FOR("target", "any", "prove", "2");
    cbx_explain_options nothing =
        ASK_FOR("target", "any", "prove", "2", "features-to-vary", "none", "keep-edges", "true");
    for (int32_t row = 0; row < 34; row += 4 * test_every(3)) {
        cbx_counterfactual *r = explain_row(&o, row, &options);
        CHECK_INT(r->outcome, CBX_FOUND);
        CHECK_INT(r->certificate, CBX_IRREDUCIBLE);
        cbx_counterfactual_free(r);
        r = explain_row(&o, row, &nothing);
        CHECK_INT(r->outcome, CBX_NOT_FOUND);
        CHECK_INT(r->certificate, CBX_NONE_WITHIN_BUDGET);
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

/* Does the class change for any of these values of both nodes, with the edges or without? */
static bool some_value_flips(const oracle *o, int32_t class)
{
    enum { STEPS = 32 };
    cbx_error err = {0};
    for (int k = 0; k < 2 * (STEPS + 1) * (STEPS + 1); k++) {
        cbx_edit edits[3];
        int64_t  count = 0;
        float    logp[8],
            at[2] = {(float)(k / 2 % (STEPS + 1)) / STEPS, (float)(k / 2 / (STEPS + 1)) / STEPS};
        for (int32_t i = 0; i < 2; i++)
            if (at[i] != o->data.x[i])
                edits[count++] = (cbx_edit){.op = CBX_SET_FEATURE,
                                            .node = i,
                                            .feature = 0,
                                            .from = o->data.x[i],
                                            .to = at[i]};
        if (k % 2)
            edits[count++] = (cbx_edit){
                .op = CBX_REMOVE_EDGE, .source = 0, .target = 1, .edge = -1, .undirected = true};
        oracle_must(cbx_check_edits(o->model, o->graph, 0, edits, count, logp, &err), &err);
        if (cbx_is_flip(logp, cbx_model_describe(o->model).num_classes, class, -1, 0))
            return true;
    }
    return false;
}

/* A feature that a mask calls discrete and that has fractions anywhere may take any value, near
 * the target too: what tries whole numbers only proves nothing. What is proved by bounds is true of
 * all values. */
TEST(a_fraction_far_away_is_a_fraction)
{
    static const int64_t source[] = {0, 1}, target[] = {1, 0};
    static const float   x[] = {0, 1, 0.5f};
    static const int64_t y[] = {0, 1, 0};
    static const uint8_t discrete[] = {1};
    cbx_graph_data       data = {.num_nodes = 3,
                                 .num_features = 1,
                                 .num_edges = 2,
                                 .edge_source = source,
                                 .edge_target = target,
                                 .x = x,
                                 .y = y,
                                 .discrete = discrete};
    cbx_model_spec       spec = small_model("gcn", 1, 1);
    for (int64_t seed = 0; seed < 20; seed++) {
        oracle              o = untrained(&data, &spec, seed);
        cbx_explain_options options = ASK_FOR("target", "any", "prove", "5");
        cbx_counterfactual *r = explain_row(&o, 0, &options);
        CHECK(r->certificate != CBX_OPTIMAL || r->num_edits == 1); /* less than one is nothing */
        CHECK(r->certificate != CBX_PROVED_NONE || !some_value_flips(&o, r->prediction));
        cbx_counterfactual_free(r);
        oracle_free(&o);
    }
}
