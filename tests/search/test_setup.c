/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that cannot be asked: each is an error that says what is wrong and
 * what would be right, and there is no result. */
#include "arena.h"
#include "model.h"
#include "oracle.h"
#include "own_options.h"
#include "test.h"

/* The question fails with a message that holds all of the parts, up to a NULL. */
static void refused(const cbx_model *m, const cbx_graph *g, int32_t row,
                    const cbx_explain_options *a, const char *const *parts)
{
    cbx_counterfactual dummy, *r = &dummy;
    cbx_error          err = {0};
    CHECK_INT(cbx_explain_with(m, g, row, a, NULL, NULL, &r, &err), CBX_INVALID);
    CHECK_INT(err.status, CBX_INVALID);
    CHECK(r == NULL);
    for (; *parts; parts++)
        CHECK_CONTAINS(err.message, *parts);
    r = &dummy;
    CHECK_INT(cbx_explain_with(m, g, row, a, NULL, NULL, &r, NULL), CBX_INVALID);
    CHECK(r == NULL);
}

#define REFUSED(m, g, row, a, ...) \
    refused((m), (g), (row), (a), (const char *const[]){__VA_ARGS__, NULL})

TEST(a_node_out_of_range_is_refused)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "2");
    REFUSED(o.model, o.graph, 34, &a, "node 34 does not exist", "0 to 33");
    REFUSED(o.model, o.graph, -1, &a, "node -1 does not exist", "0 to 33");
    REFUSED(o.model, o.graph, INT32_MAX, &a, "node 2147483647 does not exist");
    oracle_free(&o);
}

TEST(a_graph_out_of_range_is_refused)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 60, .graphs = 12});
    cbx_explain_options a = ASK("epochs", "2");
    REFUSED(o.model, o.graph, 12, &a, "graph 12 does not exist", "0 to 11");
    REFUSED(o.model, o.graph, -1, &a, "graph -1 does not exist", "0 to 11");
    oracle_free(&o);
}

TEST(a_class_that_does_not_exist_is_refused)
{
    oracle                   o = oracle_make((oracle_shape){0});
    cbx_explain_options      a = ASK("epochs", "2");
    static const char *const numbers[] = {"4", "-1", "99999999999999999999"};
    static const char *const names[] = {"community", "community 5", "", "nex", "Any", "1.5", "2 "};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        a.target = numbers[i];
        REFUSED(o.model, o.graph, 0, &a, "target", numbers[i], "does not exist", "0 to 3");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        a.target = names[i];
        REFUSED(o.model, o.graph, 0, &a, "target", names[i], "next", "any", "class");
    }
    oracle_free(&o);
}

TEST(a_target_equal_to_the_prediction_is_refused)
{
    oracle              o = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "2");
    cbx_counterfactual *r = explain_row(&o, 7, &a);
    char                number[8], name[32], message[64];
    (void)snprintf(number, sizeof number, "%d", r->prediction);
    (void)snprintf(name, sizeof name, "community %d", r->prediction);
    (void)snprintf(message, sizeof message, "the prediction is community %d already", r->prediction);
    cbx_counterfactual_free(r);
    a.target = number;
    REFUSED(o.model, o.graph, 7, &a, "member 7", message);
    a.target = name;
    REFUSED(o.model, o.graph, 7, &a, "member 7", message);
    oracle_free(&o);
}

/* … and that, not the lack of edges, is what the message is about. */
TEST(a_target_equal_to_the_prediction_is_refused_without_edges_too)
{
    static const float   x[] = {1, 0};
    static const int64_t y[] = {0, 1};
    oracle               o = {.data = {.num_nodes = 2, .num_features = 1, .x = x, .y = y}};
    cbx_error            err = {0};
    oracle_must(cbx_graph_new(&o.data, &o.graph, &err), &err);
    oracle_train(&o, (oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "2");
    cbx_counterfactual *r = explain_row(&o, 0, &a);
    CHECK_INT(r->outcome, CBX_SKIPPED);
    a.target = r->prediction ? "1" : "0";
    REFUSED(o.model, o.graph, 0, &a, "node 0", "the prediction is class", "already");
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* ---- bounds that exclude the data */

static void check_bounds(bool sparse)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12, .sparse = sparse});
    cbx_explain_options a = ASK("epochs", "2");
    cbx_graph          *g = NULL;
    cbx_error           err = {0};
    float               lo[5], hi[5];
    memcpy(lo, o.data.feat_min, sizeof lo);
    memcpy(hi, o.data.feat_max, sizeof hi);
    o.data.feat_min = lo;
    o.data.feat_max = hi;
    hi[2] = 1; /* and some of them are 2 or 3 */
    oracle_must(cbx_graph_new(&o.data, &g, &err), &err);
    REFUSED(o.model, g, 0, &a, "feature 2 of node ", "outside its bounds -1 to 1");
    cbx_graph_free(g);
    hi[2] = 5;
    lo[2] = 0.5f; /* and a third of them is 0 */
    oracle_must(cbx_graph_new(&o.data, &g, &err), &err);
    REFUSED(o.model, g, 0, &a, "feature 2 of node ", "is 0", "outside its bounds 0.5 to 5");
    cbx_graph_free(g);
    lo[2] = -1;
    oracle_must(cbx_graph_new(&o.data, &g, &err), &err);
    cbx_counterfactual *r = NULL;
    CHECK_OK(cbx_explain_with(o.model, g, 0, &a, NULL, NULL, &r, &err), err);
    cbx_counterfactual_free(r);
    cbx_graph_free(g);
    oracle_free(&o);
}

TEST(bounds_that_exclude_the_data_are_refused)
{
    check_bounds(false);
}

TEST(bounds_that_exclude_the_zeros_of_sparse_data_are_refused)
{
    check_bounds(true);
}

/* A feature without any 0 may have bounds that exclude 0, stored sparsely or not. */
TEST(bounds_may_exclude_a_zero_that_no_row_has)
{
    static const int64_t source[] = {0, 1, 2, 0}, target[] = {1, 2, 0, 2}, y[] = {0, 1, 0};
    static const int64_t indptr[] = {0, 2, 3, 4};
    static const int32_t columns[] = {0, 1, 0, 0};
    static const float   values[] = {2, 1, 3, 2}, lo[] = {1, 0}, hi[] = {4, 1};
    oracle               o = {.data = {.num_nodes = 3,
                                       .num_features = 2,
                                       .num_edges = 4,
                                       .edge_source = source,
                                       .edge_target = target,
                                       .x_indptr = indptr,
                                       .x_indices = columns,
                                       .x_values = values,
                                       .num_x_values = 4,
                                       .feat_min = lo,
                                       .feat_max = hi,
                                       .y = y}};
    cbx_error            err = {0};
    oracle_must(cbx_graph_new(&o.data, &o.graph, &err), &err);
    oracle_train(&o, (oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "30");
    cbx_counterfactual *r = explain_row(&o, 0, &a);
    CHECK(r->outcome == CBX_FOUND || r->outcome == CBX_NOT_FOUND);
    for (int64_t k = 0; k < r->num_edits; k++)
        CHECK(r->edits[k].op != CBX_SET_FEATURE || r->edits[k].feature != 0 ||
              (r->edits[k].to >= 1 && r->edits[k].to <= 4));
    cbx_counterfactual_free(r);
    oracle_free(&o);
}

/* ---- models that do not fit, options that make no sense */

TEST(a_model_for_the_other_task_or_other_features_is_refused)
{
    oracle              nodes = oracle_make((oracle_shape){.nodes = 12});
    oracle              graphs = oracle_make((oracle_shape){.nodes = 60, .graphs = 12});
    oracle              karate = oracle_make((oracle_shape){0});
    cbx_explain_options a = ASK("epochs", "2");
    REFUSED(nodes.model, graphs.graph, 0, &a, "model is for node", "data for graph");
    REFUSED(graphs.model, nodes.graph, 0, &a, "model is for graph", "data for node");
    REFUSED(karate.model, nodes.graph, 0, &a, "34 features", "5");
    REFUSED(nodes.model, karate.graph, 0, &a, "5 features", "34");
    oracle_free(&nodes);
    oracle_free(&graphs);
    oracle_free(&karate);
}

TEST(options_out_of_range_are_refused)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 12});
    cbx_explain_options a = ASK(NULL);
    a.epochs = 0;
    REFUSED(o.model, o.graph, 0, &a, "epochs", "0");
    a = ASK(NULL);
    combinex_of(&a)->policy.shape = 7;
    REFUSED(o.model, o.graph, 0, &a, "policy");
    a = ASK(NULL);
    a.explainer = -1;
    REFUSED(o.model, o.graph, 0, &a, "explainer");
    a = ASK(NULL);
    a.learning_rate = -0.1;
    REFUSED(o.model, o.graph, 0, &a, "lr", "-0.1");
    a = ASK(NULL);
    combinex_of(&a)->policy.alpha = 1.5;
    REFUSED(o.model, o.graph, 0, &a, "alpha", "1.5");
    oracle_free(&o);
}

/* Model files may hold such a thing; there is no other class to reach. */
TEST(a_model_of_one_class_has_nothing_to_flip)
{
    oracle           o = oracle_make((oracle_shape){.nodes = 12});
    cbx_graph       *g = NULL;
    cbx_model       *m = NULL;
    int32_t          widths[] = {4};
    cbx_architecture one = {.conv = cbx_layer_at(0),
                            .num_features = 5,
                            .num_classes = 1,
                            .num_layers = 1,
                            .set.order = 1,
                            .widths = widths};
    cbx_error        err = {0};
    o.data.y = NULL;
    o.data.num_classes = 1;
    oracle_must(cbx_graph_new(&o.data, &g, &err), &err);
    oracle_must(cbx_model_build(&one, &m, &err), &err);
    cbx_model_init(m, 1);
    cbx_explain_options any = ASK("target", "any", "epochs", "5"), next = ASK("epochs", "5");
    cbx_counterfactual *r = NULL;
    if (CHECK_OK(cbx_explain_with(m, g, 0, &any, NULL, NULL, &r, &err), err)) {
        CHECK_INT(r->outcome, CBX_SKIPPED);
        CHECK_CONTAINS(r->reason, "one class");
        CHECK(r->prediction == 0 && r->result == 0 && r->num_edits == 0);
    }
    cbx_counterfactual_free(r);
    REFUSED(m, g, 0, &next, "class 0 already");
    cbx_model_free(m);
    cbx_graph_free(g);
    oracle_free(&o);
}

/* ---- memory */

typedef struct call {
    const oracle       *o;
    cbx_explain_options a;
} call;

static cbx_status explain_once(void *user)
{
    const call         *c = user;
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    cbx_status status = cbx_explain_with(c->o->model, c->o->graph, 0, &c->a, NULL, NULL, &r, &err);
    CHECK_INT(err.status, status);
    CHECK((r != NULL) == (status == CBX_OK));
    cbx_counterfactual_free(r);
    return status;
}

TEST(explaining_survives_the_failure_of_any_allocation)
{
    static const oracle_shape shapes[] = {{"gcn", .nodes = 60, .sparse = true, .directed = true},
                                          {"cheb", 3, .nodes = 60},
                                          {"graphconv", .aggregation = "max", .nodes = 60},
                                          {"graphconv", .nodes = 60, .graphs = 12, .sparse = true},
                                          {.conv = "gcn"}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        oracle o = oracle_make(shapes[i]);
        call   c = {&o, ASK("epochs", "40", "target", "any", "lr", "0.5", "edges", "undirected",
                            "kinds", "auto")};
        c.a.trace = true;
        test_each_allocation(explain_once, &c);
        c.a = ASK("policy", "features", "epochs", "3", "optimiser", "sgd");
        test_each_allocation(explain_once, &c);
        c.a = ASK("policy", "edges", "epochs", "3", "optimiser", "adadelta");
        test_each_allocation(explain_once, &c);
        oracle_free(&o);
    }
}
