/* SPDX-License-Identifier: Apache-2.0 */
/* UNR-Explainer: graphs whose answer can be worked out by hand, and what must hold of any
 * answer. test_neighbours.c has the importance, test_golden_traces.c whole searches. */
#include "../search/rival.h"

RIVAL_TESTS(unr, "unr", true)

TEST(counterfactuals_of_unr_hold)
{
    CHECK(rival_on_nodes("unr", "1") > 0);
}

TEST(unr_refuses_graphs)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 60, .graphs = 12});
    cbx_explain_options ask = ASK("explainer", "unr");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &ask, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "explainer: unr explains nodes only");
    CHECK(r == NULL);
    oracle_free(&o);
}

/* ---- by hand
 *
 *     1 - 0 - 2    3 - 4    5 - 6       one GraphConv: h = relu(sum of x over neighbours)
 *
 * x = (50, 10, 1, 100, 12, 200, 1.5), so h = (11, 50, 50, 12, 100, 1.5, 200). The head's
 * scores are (5, h): class 1 for h > 5.
 *
 * One neighbour. Nearest to 0 is 3 (12). Without 0 - 1: h0 = 1, h1 = 0, nearest is 5 (1.5):
 * importance 1, and class 0. Without 0 - 2: h0 = 10, still 3: importance 0.
 *
 * Two neighbours. Nearest are 3 and 5. Without 0 - 1: 5 and 1, importance 1/2. Without
 * 0 - 2: 3 and 5. Without both h0 = h1 = h2 = 0: 1 and 2, importance 1. */
static void by_hand(oracle *o)
{
    static const int64_t source[] = {0, 1, 0, 2, 3, 4, 5, 6}, target[] = {1, 0, 2, 0, 4, 3, 6, 5};
    static const float   x[] = {50, 10, 1, 100, 12, 200, 1.5f}, zero[2] = {0};
    static const int64_t y[] = {1, 1, 1, 1, 1, 0, 1};
    cbx_graph_data       d = {.num_nodes = 7,
                              .num_edges = 8,
                              .num_features = 1,
                              .num_classes = 2,
                              .edge_source = source,
                              .edge_target = target,
                              .x = x,
                              .y = y};
    cbx_model_spec       spec;
    cbx_error            err = {0};
    const char          *name;
    int32_t              rows, cols;
    oracle_must(cbx_graph_new(&d, &o->graph, &err), &err);
    o->data = *cbx_graph_arrays(o->graph);
    cbx_fields_default(cbx_model_table(), &spec);
    oracle_must(cbx_fields_set(cbx_model_table(), &spec, "model", "graphconv", &err), &err);
    spec.layers = 1;
    spec.hidden = 1;
    oracle_must(cbx_model_new_with(o->graph, &spec, 1, &o->model, &err), &err);
    for (size_t i = 0; cbx_model_parameter(o->model, i, &name, &rows, &cols); i++) {
        const float *values = !strcmp(name, "layers.0.lin_rel.weight") ? (const float[]){1}
                              : !strcmp(name, "output_layer.weight")   ? (const float[]){0, 1}
                              : !strcmp(name, "output_layer.bias")     ? (const float[]){5, 0}
                                                                       : zero;
        oracle_must(cbx_model_set(o->model, i, values, (int64_t)rows * cols, &err), &err);
    }
}

static int32_t other_end(const cbx_edit *e, int32_t end)
{
    return e->source == end ? e->target : e->target == end ? e->source : -1;
}

TEST(the_edge_that_moves_the_only_neighbour_is_found)
{
    oracle o = {0};
    by_hand(&o);
    for (int64_t seed = 0; seed < 8; seed++) {
        cbx_explain_options ask =
            ASK("explainer", "unr", "unr-neighbours", "1", "edges", "undirected");
        ask.seed = seed;
        cbx_counterfactual *r = explain_row(&o, 0, &ask);
        CHECK_INT(r->prediction, 1);
        CHECK_INT(r->outcome, CBX_FOUND);
        CHECK_NEAR(r->loss, 0, 0);
        /* Whoever tries 0 - 2 first may meet it with 0 - 1 in one rollout. */
        bool alone = r->num_edits == 1;
        CHECK(alone || r->num_edits == 2);
        if (alone)
            CHECK_INT(other_end(&r->edits[0], 0), 1);
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

TEST(of_two_neighbours_both_move_only_when_both_edges_go)
{
    oracle o = {0};
    by_hand(&o);
    for (int64_t seed = 0; seed < 8; seed++) {
        cbx_explain_options ask =
            ASK("explainer", "unr", "unr-neighbours", "2", "edges", "undirected");
        ask.seed = seed;
        ask.trace = true;
        cbx_counterfactual *r = explain_row(&o, 0, &ask);
        CHECK_INT(r->outcome, CBX_FOUND);
        CHECK_INT(r->num_edits, 2);
        CHECK_NEAR(r->loss, 0, 0);
        CHECK_NEAR(r->after[0] - r->after[1], 5, 1e-5); /* h = 0 */
        for (int64_t t = 0; t < r->num_trace; t++) {
            const cbx_epoch *e = &r->trace[t];
            double           one_edge = e->loss == 1 || e->loss == 0.5;
            CHECK(e->edge_loss == 1 ? one_edge : e->edge_loss == 2 && e->loss == 0);
            CHECK_INT(e->removed_edges, 2 * (int64_t)e->edge_loss);
            CHECK(e->hit == (t == r->epoch));
        }
        cbx_counterfactual_free(r);
    }
    oracle_free(&o);
}

TEST(a_node_that_hangs_on_one_edge_flips_without_it)
{
    oracle o = {0};
    by_hand(&o);
    cbx_explain_options ask = ASK("explainer", "unr", "unr-neighbours", "2", "target", "0");
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_with(o.model, o.graph, 5, &ask, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "class 0 already"); /* h = 1.5 */
    CHECK_OK(cbx_explain_with(o.model, o.graph, 1, &ask, NULL, NULL, &r, &err), err);
    CHECK_INT(r->outcome, CBX_FOUND); /* 0 - 1 gone: h = 0 */
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* ---- any answer */

/* Edges reachable from the target over the edges of the answer. */
static int64_t reached(const cbx_counterfactual *r)
{
    bag      b = {0};
    uint8_t *seen = TAKE(&b, uint8_t, 100), *used = TAKE(&b, uint8_t, r->num_edits);
    int64_t  count = 0;
    memset(seen, 0, 100);
    memset(used, 0, (size_t)r->num_edits);
    seen[r->row] = 1;
    for (bool more = true; more;) {
        more = false;
        for (int64_t k = 0; k < r->num_edits; k++) {
            const cbx_edit *e = &r->edits[k];
            if (used[k] || (!seen[e->source] && !seen[e->target]))
                continue;
            used[k] = seen[e->source] = seen[e->target] = 1;
            count++;
            more = true;
        }
    }
    bag_free(&b);
    return count;
}

TEST(the_subgraph_is_connected_contains_the_target_and_loses_both_directions)
{
    int found = 0;
    for (int directed = 0; directed < 2; directed++) {
        oracle o = oracle_make(
            (oracle_shape){.nodes = directed ? 40 : 0, .directed = directed, .seed = 4});
        cbx_explain_options pairs =
            ASK("explainer", "unr", "target", "any", "unr-rollouts", "100", "edges", "undirected");
        cbx_explain_options slots = ASK("explainer", "unr", "target", "any", "unr-rollouts", "100");
        for (int32_t row = 0; row < oracle_rows(&o); row++) {
            cbx_counterfactual *a = explain_row(&o, row, &pairs), *b = explain_row(&o, row, &slots);
            CHECK_INT(a->outcome, b->outcome);
            CHECK_INT(reached(a), a->num_edits);
            found += a->outcome == CBX_FOUND;
            int64_t both = 0; /* edges of the graph between the pairs of the first */
            for (int64_t k = 0; k < a->num_edits; k++)
                for (int64_t e = 0; e < o.data.num_edges; e++) {
                    int64_t s = o.data.edge_source[e], t = o.data.edge_target[e];
                    both += (s == a->edits[k].source && t == a->edits[k].target) ||
                            (t == a->edits[k].source && s == a->edits[k].target);
                }
            CHECK_INT(b->num_edits, both);
            CHECK(a->epochs <= 100 && a->epoch < a->epochs);
            cbx_counterfactual_free(a);
            cbx_counterfactual_free(b);
        }
        oracle_free(&o);
    }
    CHECK(found > 10);
}

TEST(patience_ends_the_search)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options ask = ASK("explainer", "unr", "unr-patience", "7");
    ask.trace = true;
    cbx_counterfactual *r = explain_row(&o, 0, &ask);
    double              best = 2;
    CHECK(r->num_trace == r->epochs && r->epochs < 1000);
    for (int64_t t = 0; t < r->num_trace; t++)
        best = r->trace[t].loss < best ? r->trace[t].loss : best;
    int64_t last = 0, least = 0;
    for (int64_t t = 0; t < r->num_trace; t++) /* the last time that it got better */
        if (r->trace[t].loss == best && (!least || r->trace[t].edge_loss < (double)least)) {
            least = (int64_t)r->trace[t].edge_loss;
            last = t;
        }
    CHECK(best == 0 || r->epochs == last + 1 + 7);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}
