/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are removed: what a search asks its own view is what a graph says that never had them,
 * for every layer and pooling; answers hold, keep the rules, and are no larger for having more
 * kinds of edit. */
#include <math.h>
#include <string.h>

#include "edited.h"
#include "verify.h"

static const oracle_shape shapes[] = {
    {.nodes = 30, .seed = 1},
    {.nodes = 30, .directed = true, .seed = 2},
    {.conv = "cheb", .order = 3, .nodes = 30, .directed = true, .seed = 3},
    {.conv = "graphconv", .aggregation = "mean", .nodes = 30, .seed = 5},
    {.conv = "graphconv", .aggregation = "max", .nodes = 30, .seed = 6},
    {.conv = "sage", .nodes = 30, .directed = true, .seed = 7},
    {.conv = "gat", .nodes = 30, .seed = 9},
    {.nodes = 80, .seed = 12}, /* more than is run as a whole */
    {.nodes = 60, .graphs = 5, .pool = "mean", .seed = 10},
    {.conv = "graphconv", .nodes = 60, .graphs = 5, .pool = "sum", .sparse = true, .seed = 11},
    {.conv = "gin", .nodes = 60, .graphs = 5, .pool = "max", .block = true, .seed = 13},
    {.conv = "gat", .nodes = 60, .graphs = 5, .pool = "max", .directed = true, .seed = 14},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, GRAPHS_FROM = 8 };

/* Every node alone, and some two together, which come and go in another order. */
static void compare_with_applied(const oracle *o, int32_t row)
{
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "edits", "remove,remove-nodes");
    edited_view   v;
    cbx_move_walk at = {0};
    cbx_move      m, before = {0};
    int64_t       nodes = 0;
    edited_view_open(&v, o, row, &options, CBX_EDITS_REMOVE_NODES);
    v.wide.offered = NULL;
    edited_view_ready(&v);
    while (cbx_moves_walk(&v.W, &at, &m)) {
        cbx_move pair[2] = {m, before};
        cbx_edit edits[2];
        int64_t  count = before.kind && nodes % 2 ? 2 : 1;
        before = m;
        if (m.kind == &cbx_move_remove_node)
            nodes++;
        else if (at.pair % 9)
            continue;
        edited_view_compare(&v, pair, count, edits);
    }
    CHECK(nodes > 3);
    edited_view_close(&v);
}

TEST(asking_the_view_is_asking_a_graph_that_never_had_the_node)
{
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 2; row++)
            compare_with_applied(&o, row);
        oracle_free(&o);
    }
}

TEST(verifying_in_part_is_verifying_the_whole)
{
    for (int k = 0; k < GRAPHS_FROM; k++) {
        oracle  o = oracle_make(shapes[k]);
        cbx_rng rng = cbx_rng_stream(7, (uint64_t)k, 0, 0);
        for (int draw = 0; draw < 40; draw++) {
            int32_t   n = o.data.num_nodes, row = (int32_t)cbx_rng_below(&rng, (uint64_t)n);
            int64_t   count = 0;
            cbx_edit  edits[8];
            float     part[8], all[8];
            cbx_error err = {0};
            for (int i = 0; i < 4; i++) {
                int32_t node = (int32_t)cbx_rng_below(&rng, (uint64_t)n);
                int64_t edge = (int64_t)cbx_rng_below(&rng, (uint64_t)o.data.num_edges);
                if (node != row)
                    edits[count++] = (cbx_edit){.op = CBX_REMOVE_NODE, .node = node};
                edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                            .source = (int32_t)o.data.edge_source[edge],
                                            .target = (int32_t)o.data.edge_target[edge],
                                            .edge = edge};
            }
            CHECK_OK(cbx_verify_within(o.model, o.graph, row, edits, count, 0, part, &err), err);
            cbx_edit once[8];
            int64_t  single = 0; /* a node that is named twice moves `row` once */
            for (int64_t i = 0; i < count; i++) {
                bool again = false;
                for (int64_t j = 0; j < i; j++)
                    again = again || (edits[i].op == CBX_REMOVE_NODE &&
                                      edits[j].op == edits[i].op && edits[j].node == edits[i].node);
                if (!again)
                    once[single++] = edits[i];
            }
            ask_applied(&o, row, once, single, all);
            for (int c = 0; c < 3; c++)
                CHECK_NEAR(part[c], all[c], 2e-4 * fmax(1, fabs((double)all[c])));
        }
        oracle_free(&o);
    }
}

TEST(more_kinds_of_edit_never_make_an_answer_larger)
{
    static const char *const kinds[] = {"remove,features", "remove,features,remove-nodes",
                                        "remove,features,add", "all"};
    check_never_larger(shapes, SHAPES, kinds);
}

TEST(a_single_node_that_flips_is_found_and_where_there_is_none_that_is_proved)
{
    int met[2] = {0};
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        bool   graphs = shapes[k].graphs > 0;
        for (int32_t row = 0; row < (graphs ? 5 : 8); row++) {
            cbx_explain_options options =
                ASK("explainer", "minimal", "target", "any", "edits", "remove-nodes", "max-edits",
                    "1", "prove", "60", "robustness", "0");
            cbx_counterfactual *c = explain(&o, row, &options);
            int32_t             first = graphs ? (int32_t)o.data.graph_ptr[row] : 0;
            int32_t end = graphs ? (int32_t)o.data.graph_ptr[row + 1] : o.data.num_nodes;
            bool    flips = false;
            for (int32_t i = first; i < end && !flips; i++) {
                cbx_edit e = {.op = CBX_REMOVE_NODE, .node = i};
                float    logp[8];
                if (!graphs && i == row)
                    continue;
                ask_applied(&o, row, &e, 1, logp);
                flips = cbx_is_flip(logp, c->num_classes, c->prediction, -1, 0);
            }
            CHECK_INT(c->outcome == CBX_FOUND, flips);
            set_option(&options, "prove", "0"); /* nor does it take a proof to find it */
            cbx_counterfactual *quick = explain(&o, row, &options);
            CHECK_INT(quick->outcome == CBX_FOUND, flips);
            cbx_counterfactual_free(quick);
            met[flips]++;
            if (flips)
                CHECK_INT(c->num_nodes_removed, 1);
            else if (c->certificate == CBX_PROVED_NONE)
                CHECK_CONTAINS(c->scope, "removals of nodes with all their edges");
            CHECK(flips || c->certificate == CBX_PROVED_NONE ||
                  !cbx_model_removes_marked_slots(o.model));
            cbx_counterfactual_free(c);
        }
        oracle_free(&o);
    }
    CHECK(met[0] > 3 && met[1] > 3);
}

static bool touches(const oracle *o, int32_t node, int32_t other)
{
    for (int64_t e = 0; e < o->data.num_edges; e++)
        if ((o->data.edge_source[e] == node && o->data.edge_target[e] == other) ||
            (o->data.edge_source[e] == other && o->data.edge_target[e] == node))
            return true;
    return false;
}

TEST(answers_keep_the_rules_about_nodes)
{
    const char *const rules[][2] = {{"immutable-nodes", "4,7"}, {"protected-edges", "0-4,1-8"},
                                    {"keep", "connected"},      {"keep", "no-isolated"},
                                    {"keep-edges", "true"},     {"as", "self"},
                                    {"max-edits", "2"}};
    int64_t           removed = 0;
    for (int k = 0; k < SHAPES; k += test_every(2)) {
        oracle o = oracle_make(shapes[k]);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            for (int32_t row = k / 2 % test_every(3); row < 3; row += test_every(3)) {
                if ((i == 1 || i == 5) && o.data.task == CBX_GRAPH)
                    continue; /* numbers of nodes that are there, and who is self */
                cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edits",
                                                  "remove-nodes,remove", "robustness", "0");
                if (i == 1 && !touches(&o, 0, 4))
                    set_option(&options, rules[0][0], rules[0][1]);
                else
                    set_option(&options, rules[i][0], rules[i][1]);
                cbx_counterfactual *c = explain(&o, row, &options);
                CHECK(!strstr(c->reason, "breaks a rule"));
                removed += c->num_nodes_removed;
                for (int64_t e = 0; e < c->num_edits; e++)
                    if (c->edits[e].op == CBX_REMOVE_NODE && i == 0) {
                        int32_t own = c->edits[e].node, zero = 0;
                        if (o.data.task == CBX_GRAPH)
                            zero = (int32_t)o.data.graph_ptr[row];
                        CHECK(own != zero + 4 && own != zero + 7);
                        CHECK(!touches(&o, own, zero + 4) && !touches(&o, own, zero + 7));
                    }
                CHECK(i < 4 || i > 5 || c->num_nodes_removed == 0 || i == 4);
                cbx_counterfactual_free(c);
            }
        oracle_free(&o);
    }
    CHECK(removed > 20 / test_every(3));
}

/* Of a star whose centre may not go alone, because its leaves would be in pieces, all but one leaf
 * may go together: a proof that sees the centre only says nothing of them. */
TEST(nothing_is_proved_of_nodes_that_may_have_to_go_unseen)
{
    int    open = 0;
    oracle o = oracle_make((oracle_shape){.nodes = 80, .seed = 12});
    for (int32_t row = 0; row < 12; row++) {
        cbx_explain_options options =
            ASK("explainer", "minimal", "target", "any", "edits", "remove-nodes", "max-edits", "1",
                "keep", "connected", "prove", "60", "robustness", "0");
        cbx_counterfactual *c = explain(&o, row, &options);
        CHECK(c->certificate != CBX_PROVED_NONE);
        open += c->outcome != CBX_FOUND && strstr(c->reason, "does not see");
        cbx_counterfactual_free(c);
    }
    CHECK(open > 0);
    oracle_free(&o);
}

TEST(a_search_that_ends_early_fears_the_cost_of_nodes)
{
    oracle              o = oracle_make(shapes[GRAPHS_FROM]);
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "edits", "remove-nodes,features", "node-cost",
            "0.5", "feature-cost", "2", "edge-cost", "3", "time-limit", "1e-9");
    cbx_counterfactual *c = explain(&o, 0, &options);
    CHECK(c->lower_bound <= 0.5);
    cbx_counterfactual_free(c);
    oracle_free(&o);
}

TEST(who_cannot_remove_nodes_says_so)
{
    oracle              o = oracle_make(shapes[0]);
    cbx_explain_options options = ASK("explainer", "cf-gnn", "edits", "remove-nodes");
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    float               logp[8];
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'cf-gnn' removes no nodes");
    cbx_edit own = {.op = CBX_REMOVE_NODE, .node = 3};
    CHECK_INT(cbx_check_edits(o.model, o.graph, 3, &own, 1, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "removes node 3, which is the one that is explained");
    oracle_free(&o);
}
