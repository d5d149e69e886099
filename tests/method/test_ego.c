/* SPDX-License-Identifier: Apache-2.0 */
/* Ego graphs, on graphs small enough to say what must stay. */
#include "../search/rival.h"

RIVAL_TESTS(ego, "ego", false)

TEST(counterfactuals_of_ego_hold)
{
    CHECK(rival_on_nodes("ego", "1") > 0);
    CHECK(rival_on_graphs("ego", "1") > 0);
}

/* A model of one GraphConv that adds what neighbours of neighbours have: with the edges
 * beyond the first hop gone, the class flips.
 *
 *     0 - 1 - 2 - 3      1, 2 and 0 are a triangle: 0 - 2 as well
 *
 * Two layers: h1 = relu(sum over neighbours of x), h2 = relu(sum over neighbours of h1).
 * x = (0, 0, 0, 4). h1 = (0, 0, 4, 0), h2[0] = 4: class 1, because the head is
 * (3, h2). Around 0 stay 0, 1, 2 and their edges; 2 - 3 goes, h2[0] = 0: class 0. */
static cbx_graph *triangle_with_tail(bool graph_task)
{
    static const int64_t source[] = {0, 1, 1, 2, 0, 2, 2, 3}, target[] = {1, 0, 2, 1, 2, 0, 3, 2};
    static const float   x[] = {0, 0, 0, 4};
    static const float   lo[] = {0}, hi[] = {9};
    static const int64_t y[] = {0, 1, 0, 1}, ends[] = {0, 4};
    static const uint8_t discrete[] = {1};
    const cbx_graph_data d = {.task = graph_task ? CBX_GRAPH : CBX_NODE,
                              .num_nodes = 4,
                              .num_edges = 8,
                              .num_features = 1,
                              .num_classes = 2,
                              .num_graphs = graph_task ? 1 : 0,
                              .graph_ptr = graph_task ? ends : NULL,
                              .edge_source = source,
                              .edge_target = target,
                              .x = x,
                              .y = y,
                              .feat_min = lo,
                              .feat_max = hi,
                              .discrete = discrete};
    cbx_graph           *g = NULL;
    cbx_error            err = {0};
    oracle_must(cbx_graph_new(&d, &g, &err), &err);
    return g;
}

/* The model above; every parameter that it does not name is 0. */
static cbx_model *two_sums(const cbx_graph *g)
{
    static const struct {
        const char *name;
        float       values[2];
    } given[] = {{"layers.0.lin_rel.weight", {1}},
                 {"layers.1.lin_rel.weight", {1}},
                 {"output_layer.weight", {0, 1}},
                 {"output_layer.bias", {3, 0}}};
    static const float zero[2] = {0};
    cbx_model_spec     spec;
    cbx_model         *m = NULL;
    cbx_error          err = {0};
    const char        *name;
    int32_t            rows, cols;
    cbx_fields_default(cbx_model_table(), &spec);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", "graphconv", &err), &err);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "pool", "max", &err), &err);
    spec.layers = 2;
    spec.hidden = 1;
    oracle_must(cbx_model_new_with(g, &spec, 1, &m, &err), &err);
    for (size_t i = 0; cbx_model_parameter(m, i, &name, &rows, &cols); i++) {
        const float *values = zero;
        for (size_t k = 0; k < sizeof given / sizeof *given; k++)
            values = strcmp(name, given[k].name) ? values : given[k].values;
        oracle_must(cbx_model_set(m, i, values, (int64_t)rows * cols, &err), &err);
    }
    return m;
}

static cbx_counterfactual *explain_ego(const cbx_graph *g, int32_t row, const char *edges)
{
    cbx_model          *m = two_sums(g);
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_explain_options ask = ASK("explainer", "ego", "edges", edges);
    ask.trace = true;
    oracle_must(cbx_explain_with(m, g, row, &ask, NULL, NULL, &r, &err), &err);
    cbx_model_free(m);
    return r;
}

TEST(the_edges_beyond_the_first_hop_go)
{
    cbx_graph          *g = triangle_with_tail(false);
    cbx_counterfactual *r = explain_ego(g, 0, "undirected");
    CHECK_INT(r->prediction, 1);
    CHECK_NEAR(r->before[1] - r->before[0], 1, 1e-5); /* 4 against 3 */
    CHECK_INT(r->outcome, CBX_FOUND);
    CHECK_INT(r->result, 0);
    CHECK_NEAR(r->after[1] - r->after[0], -3, 1e-5);
    if (CHECK_INT(r->num_edits, 1)) {
        int32_t a = r->edits[0].source, b = r->edits[0].target;
        CHECK(a + b == 5 && a * b == 6); /* 2 and 3 */
    }
    CHECK_INT(r->num_trace, 1);
    CHECK_NEAR(r->trace[0].edge_loss, 1, 0);
    CHECK_NEAR(r->trace[0].ce, log(1 + exp(-3)), 1e-5); /* of class 0 without the edge */
    CHECK_NEAR(r->loss, 1 + log(1 + exp(-3)), 1e-5);
    cbx_counterfactual_free(r);
    r = explain_ego(g, 0, "directed");
    CHECK_INT(r->num_edits, 2);
    cbx_counterfactual_free(r);
    cbx_graph_free(g);
}

TEST(a_target_that_all_others_are_next_to_keeps_all_its_edges)
{
    cbx_graph          *g = triangle_with_tail(false);
    cbx_counterfactual *r = explain_ego(g, 2, "undirected");
    CHECK_INT(r->outcome, CBX_NOT_FOUND);
    CHECK_INT(r->trace[0].removed_edges, 0);
    CHECK_INT(r->trace[0].hit, false);
    cbx_counterfactual_free(r);
    cbx_graph_free(g);
}

TEST(in_a_graph_task_the_centre_has_most_edges)
{
    cbx_graph          *g = triangle_with_tail(true); /* node 2, and all are next to it */
    cbx_counterfactual *r = explain_ego(g, 0, "undirected");
    CHECK_INT(r->trace[0].removed_edges, 0);
    cbx_counterfactual_free(r);
    cbx_graph_free(g);
}
