/* SPDX-License-Identifier: Apache-2.0 */
/* combinex and random-edges with edges that may be added: answers hold on the edited graph and keep
 * the rules, and what is only offered changes nothing. */
#include "../search/oracle.h"
#include "../search/own_options.h"
#include "class_order.h"
#include "test.h"
#include "verify.h"

static const oracle_shape shapes[] = {
    {.nodes = 40, .seed = 1},
    {.nodes = 40, .directed = true, .seed = 2},
    {.conv = "graphconv", .nodes = 40, .directed = true, .seed = 4},
    {.conv = "graphconv", .aggregation = "mean", .nodes = 40, .seed = 5},
    {.conv = "graphconv", .aggregation = "max", .nodes = 40, .seed = 6},
    {.conv = "gat", .nodes = 40, .seed = 9},
    {.nodes = 60, .graphs = 5, .seed = 10},
    {.nodes = 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const methods[] = {"combinex", "random-edges"};

static cbx_counterfactual *explain(const oracle *o, int32_t row, const cbx_explain_options *options)
{
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    CHECK_OK(cbx_explain_with(o->model, o->graph, row, options, NULL, NULL, &c, &err), err);
    return c;
}

/* By applying the edits. */
static void check_holds(const oracle *o, const cbx_counterfactual *c)
{
    cbx_graph *edited = NULL;
    cbx_error  err = {0};
    float      logp[8];
    CHECK_OK(cbx_graph_apply(o->graph, c->edits, c->num_edits, &edited, &err), err);
    CHECK_OK(cbx_check_edits(o->model, edited, c->row, NULL, 0, logp, &err), err);
    CHECK(cbx_best_class(logp, c->num_classes, -1) != c->prediction);
    cbx_graph_free(edited);
}

TEST(methods_with_masks_add_edges_and_their_answers_hold)
{
    for (int m = 0; m < 2; m++) {
        int64_t added = 0, found = 0;
        for (int k = 0; k < SHAPES; k++) {
            oracle o = oracle_make(shapes[k]);
            for (int32_t row = 0; row < 4; row++) {
                cbx_explain_options options = ASK(
                    "explainer", methods[m], "target", "any", "epochs", "120", "edits",
                    row % 2 ? "add" : "remove,add", "edges", row < 2 ? "directed" : "undirected");
                cbx_counterfactual *c = explain(&o, row, &options);
                if (c->outcome == CBX_FOUND)
                    check_holds(&o, c);
                CHECK_INT(c->num_features_changed, 0);
                CHECK(row % 2 == 0 || c->num_edges_removed == 0);
                added += c->num_edges_added;
                found += c->outcome == CBX_FOUND;
                cbx_counterfactual_free(c);
            }
            oracle_free(&o);
        }
        CHECK(found > 12);
        CHECK(added > 12);
    }
}

TEST(what_is_only_offered_changes_nothing)
{
    for (int k = 0; k < SHAPES; k++) {
        oracle              o = oracle_make(shapes[k]);
        cbx_explain_options options = ASK("explainer", "random-edges", "target", "any", "epochs",
                                          "1", "random-keep", "1", "edits", "remove,add");
        options.trace = true;
        for (int32_t row = 0; row < 3; row++) {
            cbx_counterfactual *c = explain(&o, row, &options);
            int32_t             aim = cbx_best_class(c->before, c->num_classes, c->prediction);
            CHECK_INT(c->num_trace, 1);
            CHECK_NEAR(c->trace[0].ce, -(double)c->before[aim], 1e-4);
            CHECK_INT(c->trace[0].removed_edges, 0);
            CHECK_INT(c->outcome, CBX_NOT_FOUND);
            cbx_counterfactual_free(c);
        }
        oracle_free(&o);
    }
}

TEST(masks_keep_the_rules_about_added_edges)
{
    const char *const rules[][2] = {
        {"max-added", "1"},   {"max-removed", "1"},  {"add-to", "same-type"},
        {"add-at", "target"}, {"add-within", "2"},   {"add-to", "class:1"},
        {"max-degree", "5"},  {"keep", "connected"}, {"max-edits", "2"}};
    int64_t found = 0;
    for (int k = 0; k < 4; k++) {
        oracle o = oracle_make(shapes[k]);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            for (int32_t row = 0; row < 4; row++) {
                cbx_explain_options options =
                    ASK("explainer", methods[row % 2], "target", "any", "epochs", "80", "edits",
                        "remove,add", "edges", "undirected");
                set_option(&options, rules[i][0], rules[i][1]);
                cbx_counterfactual *c = explain(&o, row, &options);
                /* taking edits out until few are left can fail; nothing else can */
                CHECK(!strncmp(rules[i][0], "max-", 4) || !strstr(c->reason, "breaks a rule"));
                CHECK(i != 0 || c->num_edges_added <= 1);
                CHECK(i != 1 || c->num_edges_removed <= 1);
                found += c->outcome == CBX_FOUND;
                for (int64_t e = 0; e < c->num_edits && i == 3; e++)
                    CHECK(c->edits[e].op != CBX_ADD_EDGE || c->edits[e].source == row ||
                          c->edits[e].target == row);
                cbx_counterfactual_free(c);
            }
        oracle_free(&o);
    }
    CHECK(found > 40);
}
