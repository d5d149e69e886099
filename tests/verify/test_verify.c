/* SPDX-License-Identifier: Apache-2.0 */
/* Checking edits: on a large graph the oracle runs on what a node's class depends
 * on, on a small one on all of it. Here both run on the same graphs. And searches
 * whose neighbourhood is larger than they may hold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "rng.h"
#include "verify.h"
#include "test.h"

enum { NODES = 40, EDGES = 150, FEATURES = 6 };

typedef struct sample {
    int64_t    source[EDGES], target[EDGES], y[NODES];
    float      x[NODES * FEATURES], weight[EDGES];
    cbx_graph *graph;
} sample;

/* A directed graph with loops, repeated edges and weights (some 0), if `weighted`. */
static void make_graph(sample *s, uint64_t seed, bool weighted)
{
    cbx_rng rng = cbx_rng_stream(seed, 0, 0, 0);
    for (int e = 0; e < EDGES; e++) {
        s->source[e] = (int64_t)cbx_rng_below(&rng, NODES);
        s->target[e] = (int64_t)cbx_rng_below(&rng, NODES);
        s->weight[e] = e % 17 == 0 ? 0 : (float)cbx_rng_uniform(&rng) + 0.5f;
    }
    for (int k = 0; k < NODES * FEATURES; k++)
        s->x[k] = (float)cbx_rng_below(&rng, 2);
    for (int i = 0; i < NODES; i++)
        s->y[i] = i % 3;
    cbx_graph_data d = {.num_nodes = NODES,
                        .num_edges = EDGES,
                        .num_features = FEATURES,
                        .edge_source = s->source,
                        .edge_target = s->target,
                        .edge_weight = weighted ? s->weight : NULL,
                        .x = s->x,
                        .y = s->y};
    CHECK_INT(cbx_graph_new(&d, &s->graph, NULL), CBX_OK);
}

static cbx_model *make_model(const cbx_graph *g, const char *conv, const char *aggregation,
                             int64_t layers)
{
    cbx_model_spec spec;
    cbx_model     *model = NULL;
    cbx_fields_default(cbx_model_table(), &spec);
    spec.layers = layers;
    spec.hidden = 8;
    CHECK_INT(cbx_fields_set(cbx_model_table(), &spec, "model", conv, NULL), CBX_OK);
    CHECK_INT(cbx_fields_set(cbx_model_table(), &spec, "aggregation", aggregation, NULL), CBX_OK);
    CHECK_INT(cbx_model_new_with(g, &spec, 5, &model, NULL), CBX_OK);
    return model;
}

/* Any edits, near the node or far from it. */
static int64_t make_edits(const sample *s, cbx_rng *rng, cbx_edit *edits)
{
    int64_t count = (int64_t)cbx_rng_below(rng, 12);
    for (int64_t k = 0; k < count; k++) {
        int64_t e = (int64_t)cbx_rng_below(rng, EDGES);
        int32_t node = (int32_t)cbx_rng_below(rng, NODES),
                f = (int32_t)cbx_rng_below(rng, FEATURES);
        edits[k] = (cbx_edit){.op = CBX_SET_FEATURE, .node = node, .feature = f, .to = 1};
        if (k % 3 != 0)
            edits[k] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                  .source = (int32_t)s->source[e],
                                  .target = (int32_t)s->target[e],
                                  .edge = k % 3 == 1 ? e : -1,
                                  .undirected = k % 3 == 2};
        for (int64_t i = 0; i < k; i++) /* the same edge twice is not what a search gives */
            if (edits[k].op == CBX_REMOVE_EDGE && edits[i].op == CBX_REMOVE_EDGE &&
                ((edits[i].source == edits[k].source && edits[i].target == edits[k].target) ||
                 (edits[i].source == edits[k].target && edits[i].target == edits[k].source)))
                return k;
    }
    return count;
}

static void compare(const char *conv, const char *aggregation, bool weighted)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        sample s;
        make_graph(&s, seed, weighted);
        cbx_model *model = make_model(s.graph, conv, aggregation, 1 + (int64_t)(seed % 3));
        cbx_rng    rng = cbx_rng_stream(seed, 1, 0, 0);
        for (int32_t row = 0; row < NODES; row += 3) {
            cbx_edit  edits[12];
            float     whole[3], cone[3];
            cbx_error err = {0};
            int64_t   count = make_edits(&s, &rng, edits);
            CHECK_OK(cbx_verify_within(model, s.graph, row, edits, count, INT32_MAX, whole, &err),
                     err);
            CHECK_OK(cbx_verify_within(model, s.graph, row, edits, count, 0, cone, &err), err);
            CHECK(test_difference(3, cone, whole) < 1e-5);
        }
        cbx_model_free(model);
        cbx_graph_free(s.graph);
    }
}

TEST(the_cone_of_a_node_gives_what_the_whole_edited_graph_gives_for_gcn)
{
    compare("gcn", "add", false);
    compare("gcn", "add", true);
}

TEST(and_for_graphconv_with_every_aggregation)
{
    compare("graphconv", "add", true);
    compare("graphconv", "mean", true);
    compare("graphconv", "max", true);
}

TEST(and_for_cheb_which_runs_on_the_whole_graph_in_any_case)
{
    compare("cheb", "add", true);
}

TEST(an_edit_of_an_edge_that_is_not_there_is_an_error_in_a_cone_too)
{
    sample s;
    make_graph(&s, 1, false);
    cbx_model *model = make_model(s.graph, "gcn", "add", 2);
    cbx_error  err = {0};
    float      logp[3];
    cbx_edit   none = {.op = CBX_REMOVE_EDGE, .source = 0, .target = NODES + 3, .edge = -1};
    CHECK_INT(cbx_verify_within(model, s.graph, 0, &none, 1, 0, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no edge from node 0 to node 43");
    cbx_edit nobody = {.op = CBX_SET_FEATURE, .node = -1};
    CHECK_INT(cbx_verify_within(model, s.graph, 0, &nobody, 1, 0, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no node -1");
    cbx_edit other = {.op = (cbx_edit_op)9};
    CHECK_INT(cbx_verify_within(model, s.graph, 0, &other, 1, 0, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no kind of edit 9");
    cbx_model_free(model);
    cbx_graph_free(s.graph);
}

/* ---- neighbourhoods beyond the budget */

TEST(a_search_within_a_budget_says_what_it_left_out_and_is_verified_all_the_same)
{
    cbx_generate_options g;
    cbx_graph           *graph = NULL;
    cbx_explain_options  o;
    cbx_fields_default(cbx_generate_table(), &g);
    cbx_fields_default(cbx_explain_table(), &o);
    o.target = "next";
    g.nodes = 400;
    CHECK_INT(cbx_graph_builtin_with("barabasi-albert", &g, &graph, NULL), CBX_OK);
    cbx_model *model = make_model(graph, "gcn", "add", 3);
    float     *all = malloc(400 * 4 * sizeof *all), after[4];
    CHECK_INT(cbx_predict(model, graph, 1, all, NULL), CBX_OK);
    o.epochs = 60;
    o.budget = 100 * 16; /* a hundred nodes of 16 features */
    int found = 0;
    for (int32_t row = 0; row < 400; row += 40) {
        cbx_counterfactual *c = NULL;
        CHECK_INT(cbx_explain_with(model, graph, row, &o, NULL, NULL, &c, NULL), CBX_OK);
        CHECK(c->num_nodes <= 100);
        CHECK(c->num_left_out > 0);
        CHECK(test_difference(4, c->before, all + (int64_t)row * 4) < 1e-5);
        if (c->outcome == CBX_FOUND) {
            found++;
            CHECK_INT(cbx_check_edits(model, graph, row, c->edits, c->num_edits, after, NULL),
                      CBX_OK);
            CHECK(test_difference(4, c->after, after) < 1e-5);
            CHECK_INT(c->result, c->target);
        }
        cbx_counterfactual_free(c);
    }
    CHECK(found > 0);
    free(all);
    cbx_model_free(model);
    cbx_graph_free(graph);
}

/* ---- what the factual graph does not show */

TEST(a_class_that_is_not_that_of_the_whole_graph_is_explained_by_a_search_for_everything_only)
{
    /* Node 6 of this directed graph has another class on its neighbourhood, where
     * Chebyshev layers miss the edges that leave it. */
    cbx_explain_options published;
    cbx_graph          *graph = NULL;
    cbx_model          *model = NULL;
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    CHECK_OK(cbx_graph_load(test_source("tests/golden/traces/loops.safetensors"), &graph, &err),
             err);
    CHECK_OK(cbx_model_load(test_source("tests/golden/traces/loops-cheb2.model.safetensors"),
                            &model, &err),
             err);
    cbx_fields_default(cbx_explain_table(), &published);
    published.target = "next";
    CHECK_OK(cbx_explain_preset_with(&published, "paper", &err), err);
    if (graph && model &&
        CHECK_OK(cbx_explain_with(model, graph, 6, &published, NULL, NULL, &c, &err), err)) {
        CHECK_INT(c->outcome, CBX_SKIPPED);
        CHECK_CONTAINS(c->reason, "on the whole graph");
    }
    cbx_counterfactual_free(c);
    c = NULL;
    if (graph && model &&
        CHECK_OK(cbx_explain_with(model, graph, 6, NULL, NULL, NULL, &c, &err), err))
        CHECK(c->outcome == CBX_FOUND &&
              c->certificate == (c->num_edits == 1 ? CBX_OPTIMAL : CBX_IRREDUCIBLE));
    cbx_counterfactual_free(c);
    cbx_model_free(model);
    cbx_graph_free(graph);
}
