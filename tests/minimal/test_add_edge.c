/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that are added: what a search asks its own view is what the whole edited graph says, for
 * every layer; answers hold, keep the rules, and are no larger for having more kinds of edit. */
#include <math.h>

#include "added.h"
#include "edited.h"
#include "offers.h"
#include "verify.h"

static const oracle_shape shapes[] = {
    {.nodes = 30, .seed = 1},
    {.nodes = 30, .directed = true, .seed = 2},
    {.conv = "cheb", .order = 3, .nodes = 30, .seed = 3},
    {.conv = "cheb", .order = 3, .nodes = 30, .directed = true, .seed = 3},
    {.conv = "graphconv", .nodes = 30, .directed = true, .seed = 4},
    {.conv = "graphconv", .aggregation = "mean", .nodes = 30, .seed = 5},
    {.conv = "graphconv", .aggregation = "max", .nodes = 30, .seed = 6},
    {.conv = "sage", .nodes = 30, .directed = true, .seed = 7},
    {.conv = "gin", .nodes = 30, .seed = 8},
    {.conv = "gat", .nodes = 30, .seed = 9},
    {.nodes = 60, .graphs = 5, .seed = 10},
    {.conv = "graphconv", .aggregation = "mean", .nodes = 60, .graphs = 5, .seed = 11},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Each edge that may be added, alone: asked of the view, and of the whole edited graph. */
static void compare_with_whole(const oracle *o, int32_t row, bool directed)
{
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "edits", "add", "add-candidates", "40",
            "edges", directed ? "directed" : "undirected");
    edited_view   v;
    cbx_error     err = {0};
    cbx_offers    offers;
    cbx_move_walk at = {0};
    cbx_move      m;
    int64_t       tried = 0;
    edited_view_open(&v, o, row, &options, 0);
    v.s.view = v.wide.view;
    v.s.X = v.wide.X;
    oracle_must(cbx_offers_choose(&v.s, edited_view_rules(&v), 40, &offers, &err), &err);
    CHECK(offers.count > 0 && offers.count <= 40);
    oracle_must(cbx_widen(&v.s, offers.edits, offers.count, &v.wide, &err), &err);
    edited_view_ready(&v);
    double before, whole;
    CHECK_OK(cbx_edit_state_verify(&v.W, NULL, 0, &before, &err), err);
    CHECK_NEAR(cbx_edit_state_ask(&v.W), before, 2e-4 * fmax(1, fabs(before)));
    for (; cbx_moves_walk(&v.W, &at, &m) && tried < 25; tried++) {
        cbx_move_do(&v.W, &m);
        CHECK_OK(cbx_edit_state_verify(&v.W, &m, 1, &whole, &err), err);
        CHECK_NEAR(cbx_edit_state_ask(&v.W), whole, 2e-4 * fmax(1, fabs(whole)));
        cbx_move_undo(&v.W, &m);
    }
    CHECK(tried > 2);
    edited_view_close(&v);
}

TEST(asking_the_view_is_asking_the_whole_edited_graph)
{
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 2; row++)
            compare_with_whole(&o, row, shapes[k].directed);
        oracle_free(&o);
    }
}

TEST(more_kinds_of_edit_never_make_an_answer_larger)
{
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 3; row += test_every(2)) {
            cbx_explain_options less = ASK("explainer", "minimal", "target", "any"), more;
            set_option(&less, "edges", row % 2 ? "directed" : "undirected");
            more = less;
            set_option(&more, "edits", "all");
            cbx_counterfactual *a = explain(&o, row, &less), *b = explain(&o, row, &more);
            CHECK_INT(a->num_edges_added, 0);
            if (a->outcome == CBX_FOUND && CHECK(b->outcome == CBX_FOUND))
                CHECK(b->num_edits <= a->num_edits);
            CHECK_INT(b->num_edges_added + b->num_edges_removed + b->num_features_changed +
                          b->num_nodes_removed + b->num_nodes_added + b->num_edges_reweighted,
                      b->num_edits);
            cbx_counterfactual_free(a);
            cbx_counterfactual_free(b);
        }
        oracle_free(&o);
    }
}

/* Does adding one edge, of all that are not there, flip the row? By applying each. */
static bool one_flips(const oracle *o, int32_t row, int32_t from, const cbx_counterfactual *c,
                      int32_t first, int32_t end)
{
    float     logp[8];
    cbx_error err = {0};
    for (int32_t a = from < 0 ? first : from; a < (from < 0 ? end : from + 1); a++)
        for (int32_t b = from < 0 ? a + 1 : first; b < end; b++) {
            cbx_edit e = {
                .op = CBX_ADD_EDGE, .source = a, .target = b, .undirected = true, .edge = -1};
            cbx_graph *made = NULL;
            if (a == b || cbx_graph_has_edge(o->graph, a, b) || cbx_graph_has_edge(o->graph, b, a))
                continue;
            CHECK_OK(cbx_graph_apply(o->graph, &e, 1, &made, &err), err);
            CHECK_OK(cbx_check_edits(o->model, made, row, NULL, 0, logp, &err), err);
            cbx_graph_free(made);
            if (cbx_is_flip(logp, c->num_classes, c->prediction, -1, 0))
                return true;
        }
    return false;
}

TEST(a_single_edge_that_flips_is_found_and_where_there_is_none_that_is_proved)
{
    int met[2] = {0};
    for (int k = 0; k < SHAPES; k++) {
        oracle  o = oracle_make(shapes[k]);
        bool    graphs = shapes[k].graphs > 0;
        int32_t rows = graphs ? 5 : 6;
        for (int32_t row = 0; row < rows && !shapes[k].directed; row += test_every(2)) {
            cbx_explain_options options =
                ASK("explainer", "minimal", "target", "any", "edits", "add", "add-at", "target",
                    "add-candidates", "2000", "max-edits", "1", "prove", "60", "robustness", "0",
                    "edges", "undirected");
            cbx_counterfactual *c = explain(&o, row, &options);
            int32_t             first = graphs ? (int32_t)o.data.graph_ptr[row] : 0;
            int32_t end = graphs ? (int32_t)o.data.graph_ptr[row + 1] : o.data.num_nodes;
            bool    flips = one_flips(&o, row, graphs ? -1 : row, c, first, end);
            CHECK_INT(c->outcome == CBX_FOUND, flips);
            set_option(&options, "prove", "0"); /* nor does it take a proof to find it */
            cbx_counterfactual *quick = explain(&o, row, &options);
            CHECK_INT(quick->outcome == CBX_FOUND, flips);
            cbx_counterfactual_free(quick);
            met[flips]++;
            if (flips)
                CHECK_INT(c->num_edges_added, 1);
            else if (c->certificate == CBX_PROVED_NONE)
                CHECK_CONTAINS(c->scope, "additions of edges");
            /* a layer that does not declare what weight 0 does has nothing proved of it */
            CHECK(flips || c->certificate == CBX_PROVED_NONE ||
                  !cbx_model_removes_marked_slots(o.model));
            cbx_counterfactual_free(c);
        }
        oracle_free(&o);
    }
    CHECK(met[0] > 3 && met[1] > 3);
}

TEST(answers_keep_the_rules_about_added_edges)
{
    const char *const rules[][2] = {{"add-at", "target"},         {"add-within", "2"},
                                    {"add-to", "3,5,6,7,8,9,20"}, {"add-to", "class:1"},
                                    {"max-degree", "6"},          {"as", "self"},
                                    {"immutable-nodes", "4,7"},   {"protected-edges", "0-9,1-8"},
                                    {"max-added", "1"},           {"max-removed", "1"},
                                    {"add-to", "same-type"}};
    int64_t           added = 0, most[2] = {0};
    for (int k = 0; k < 6; k += test_every(2)) {
        oracle o = oracle_make(shapes[k]);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            for (int32_t row = k / 2 % test_every(3); row < 3; row += test_every(3)) {
                cbx_explain_options options =
                    ASK("explainer", "minimal", "target", "any", "edits", "remove,add",
                        "robustness", "0", "edges", "undirected");
                set_option(&options, rules[i][0], rules[i][1]);
                cbx_counterfactual *c = explain(&o, row, &options);
                CHECK(!strstr(c->reason, "breaks a rule"));
                added += c->num_edges_added;
                CHECK(i != 8 || c->num_edges_added <= 1);
                CHECK(i != 9 || c->num_edges_removed <= 1);
                most[0] = c->num_edges_added > most[0] ? c->num_edges_added : most[0];
                most[1] = c->num_edges_removed > most[1] ? c->num_edges_removed : most[1];
                for (int64_t e = 0; e < c->num_edits; e++) {
                    const cbx_edit *edit = &c->edits[e];
                    bool            own = edit->source == row || edit->target == row;
                    CHECK(i != 0 || edit->op != CBX_ADD_EDGE || own);
                    CHECK(i != 5 || own);
                    CHECK(edit->op != CBX_ADD_EDGE || i != 10 ||
                          o.data.y[edit->source] == o.data.y[edit->target]);
                    CHECK(edit->op != CBX_ADD_EDGE || i != 6 ||
                          (edit->source != 4 && edit->target != 4));
                }
                cbx_counterfactual_free(c);
            }
        oracle_free(&o);
    }
    CHECK(added > 20);
    CHECK(most[0] > 1 && most[1] > 1); /* without a limit there would be more */
}

TEST(who_cannot_add_edges_says_so)
{
    oracle              o = oracle_make(shapes[0]);
    cbx_explain_options options = ASK("explainer", "cf-gnn", "edits", "add");
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'cf-gnn' only removes edges");
    options = ASK("explainer", "minimal", "edits", "remove,grow");
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'grow' is no kind of edit");
    oracle_free(&o);
}
