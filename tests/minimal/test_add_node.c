/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are added: what a search asks its own view is what a graph says that always had them,
 * for every layer and pooling; answers hold, keep the rules, and are no larger for having more
 * kinds of edit; what is proved is what trying them one by one says. */
#include <math.h>
#include <string.h>

#include "ask_few.h"
#include "edited.h"
#include "newcomers.h"
#include "verify.h"

/* Few values, so that rows are alike now and then. */
static const oracle_shape shapes[] = {
    {.nodes = 40, .graphs = 5, .pool = "mean", .kind = 'd', .features = 2, .seed = 1},
    {.conv = "graphconv", .nodes = 40, .graphs = 5, .pool = "sum", .sparse = true, .seed = 2},
    {.conv = "gin", .nodes = 40, .graphs = 5, .pool = "max", .block = true, .seed = 3},
    {.conv = "gat", .nodes = 40, .graphs = 5, .pool = "max", .directed = true, .seed = 4},
    {.conv = "sage", .nodes = 40, .graphs = 5, .pool = "mean", .directed = true, .seed = 5},
    {.conv = "cheb", .order = 3, .nodes = 40, .graphs = 5, .pool = "sum", .seed = 6},
    {.conv = "graphconv",
     .aggregation = "mean",
     .nodes = 40,
     .graphs = 5,
     .weighted = true,
     .kind = 'd',
     .features = 1,
     .seed = 7},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool same_row(const oracle *o, int32_t a, int32_t b)
{
    const cbx_graph_data *d = cbx_graph_arrays(o->graph);
    for (int32_t j = 0; j < d->num_features; j++) {
        float v[2] = {0};
        for (int k = 0; k < 2; k++) {
            int32_t node = k ? b : a;
            if (d->x)
                v[k] = d->x[(int64_t)node * d->num_features + j];
            for (int64_t i = d->x ? 0 : d->x_indptr[node]; !d->x && i < d->x_indptr[node + 1]; i++)
                v[k] = d->x_indices[i] == j ? d->x_values[i] : v[k];
        }
        if (v[0] != v[1])
            return false;
    }
    return true;
}

/* Kinds of row that a graph has. */
static int32_t count_kinds(const oracle *o, int32_t row)
{
    int32_t first = (int32_t)o->data.graph_ptr[row], end = (int32_t)o->data.graph_ptr[row + 1];
    int32_t count = 0;
    for (int32_t i = first; i < end; i++) {
        bool again = false;
        for (int32_t k = first; k < i; k++)
            again = again || same_row(o, k, i);
        count += !again;
    }
    return count;
}

/* With what may come at hand; both ways of edges by turns. */
static void open_wide(edited_view *v, const oracle *o, int32_t row,
                      const cbx_explain_options *options, int64_t most, cbx_newcomers *newcomers)
{
    cbx_error  err = {0};
    cbx_search plain;
    edited_view_open(v, o, row, options, CBX_EDITS_ADD_NODES | CBX_EDITS_REMOVE_NODES);
    v->wide.offered = NULL;
    plain = v->wide;
    oracle_must(cbx_newcomers_choose(&plain, edited_view_rules(v), most, newcomers, &err), &err);
    oracle_must(cbx_newcomers_widen(&plain, newcomers, &v->wide, &err), &err);
    edited_view_ready(v);
}

/* Every newcomer alone, and with another move before it; they go in another order. Of few the view
 * is asked as it is, of many what is there (ask_few.h). */
static void compare_with_applied(const oracle *o, int32_t row, bool few)
{
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "edits", "remove,remove-nodes,add-nodes");
    edited_view   v;
    cbx_newcomers newcomers;
    cbx_move_walk at = {0};
    cbx_move      m, before = {0};
    int32_t       met = 0;
    set_option(&options, "edges", row % 2 ? "directed" : "undirected");
    open_wide(&v, o, row, &options, few ? 6 : 1000, &newcomers);
    CHECK_INT(newcomers.all, !few);
    CHECK_INT(newcomers.count, few ? 6 : v.W.own * count_kinds(o, row));
    CHECK_INT(cbx_ask_few_pays(&v.W), !few);
    while (cbx_moves_walk(&v.W, &at, &m)) {
        cbx_move pair[2] = {m, before};
        cbx_edit edits[2];
        bool new = m.kind == &cbx_move_add_node;
        met += new;
        bool with = before.kind && met % 2 && cbx_move_may(&v.W, &before);
        if (with) { /* may both be made? */
            cbx_move_do(&v.W, &m);
            with = cbx_move_may(&v.W, &before);
            cbx_move_undo(&v.W, &m);
        }
        if (met % 5 == 0 || !new)
            before = m;
        edited_view_compare(&v, pair, with ? 2 : 1, edits);
        if (new) {
            CHECK_INT(edits[0].op, CBX_ADD_NODE);
            CHECK_INT(edits[0].undirected, row % 2 == 0);
        }
    }
    CHECK_INT(met, newcomers.count);
    edited_view_close(&v);
}

TEST(asking_the_view_is_asking_a_graph_that_always_had_the_node)
{
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int way = 0; way < 4; way++)
            compare_with_applied(&o, way % 2, way / 2);
        oracle_free(&o);
    }
}

/* Of all newcomers: the share of pairs of which derivatives tell which one does more. */
static double share_in_order(const oracle *o, int32_t row)
{
    enum { MOST = 400 };
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "edits", "add-nodes");
    edited_view   v;
    cbx_newcomers newcomers;
    cbx_move      moves[MOST];
    double        does[MOST], pairs = 0, in_order = 0;
    open_wide(&v, o, row, &options, MOST, &newcomers);
    double        before = cbx_edit_state_slopes(&v.W);
    cbx_move_list list = {moves, 0, MOST};
    for (int32_t i = 0; i < v.W.own; i++)
        cbx_move_add_node.offer(&v.W, i, &list);
    for (int64_t k = 0; k < list.count; k++) {
        cbx_move_do(&v.W, &moves[k]);
        does[k] = cbx_edit_state_ask(&v.W) - before;
        cbx_move_undo(&v.W, &moves[k]);
        for (int64_t b = 0; b < k; b++) { /* the best come first */
            in_order += does[b] > does[k];
            pairs++;
        }
    }
    edited_view_close(&v);
    return pairs > 0 ? in_order / pairs : NAN;
}

/* By shape, over graphs of which derivatives say of several that they gain. */
TEST(derivatives_tell_which_newcomers_do_more)
{
    int told = 0;
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        double sum = 0, count = 0;
        for (int32_t row = 0; row < 5; row++) {
            double share = share_in_order(&o, row);
            sum += isnan(share) ? 0 : share;
            count += !isnan(share);
        }
        told += count > 3;
        CHECK(count <= 3 || sum / count > 0.68);
        oracle_free(&o);
    }
    CHECK(told > SHAPES - 2);
}

/* What moves alone would do, against what derivatives say: the same sign mostly, and among few that
 * are chosen of many those that do most. */
TEST(those_that_are_chosen_do_more_than_others)
{
    double chosen = 0, all = 0;
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 5; row++) {
            cbx_explain_options options =
                ASK("explainer", "minimal", "target", "any", "edits", "add-nodes");
            for (int few = 0; few < 2; few++) {
                edited_view   v;
                cbx_newcomers newcomers;
                cbx_move_walk at = {0};
                cbx_move      m;
                double        sum = 0;
                open_wide(&v, &o, row, &options, few ? 5 : 1000, &newcomers);
                CHECK_INT(newcomers.all, !few);
                CHECK_INT(v.wide.newcomers_all, !few);
                if (few)
                    CHECK_INT(newcomers.count, 5);
                double before = cbx_edit_state_ask(&v.W);
                while (cbx_moves_walk(&v.W, &at, &m))
                    if (m.kind == &cbx_move_add_node) {
                        cbx_move_do(&v.W, &m);
                        sum += cbx_edit_state_ask(&v.W) - before;
                        cbx_move_undo(&v.W, &m);
                    }
                *(few ? &chosen : &all) += sum / newcomers.count;
                edited_view_close(&v);
            }
        }
        oracle_free(&o);
    }
    CHECK(chosen > all + 1);
}

TEST(more_kinds_of_edit_never_make_an_answer_larger)
{
    static const char *const kinds[] = {"remove,features", "remove,features,add-nodes",
                                        "remove,features,remove-nodes", "all"};
    check_never_larger(shapes, SHAPES, kinds);
}

TEST(a_single_node_that_flips_is_found_and_where_there_is_none_that_is_proved)
{
    int met[2] = {0};
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 5; row++) {
            cbx_explain_options options =
                ASK("explainer", "minimal", "target", "any", "edits", "add-nodes", "max-edits", "1",
                    "prove", "60", "robustness", "0");
            bool both = row % 2 == 0;
            set_option(&options, "edges", both ? "undirected" : "directed");
            cbx_counterfactual *c = explain(&o, row, &options);
            int32_t             first = (int32_t)o.data.graph_ptr[row],
                    end = (int32_t)o.data.graph_ptr[row + 1];
            bool flips = false;
            for (int32_t i = first; i < end; i++)
                for (int32_t to = first; to < end && !flips; to++) {
                    cbx_edit e = {.op = CBX_ADD_NODE,
                                  .source = i,
                                  .target = to,
                                  .edge = -1,
                                  .undirected = both};
                    float    logp[8];
                    ask_applied(&o, row, &e, 1, logp);
                    flips = cbx_is_flip(logp, c->num_classes, c->prediction, -1, 0);
                }
            CHECK_INT(c->outcome == CBX_FOUND, flips);
            met[flips]++;
            if (flips)
                CHECK_INT(c->num_nodes_added, 1);
            else if (CHECK(c->certificate == CBX_PROVED_NONE))
                CHECK_CONTAINS(c->scope, "additions of copies of nodes (no two alike at one node)");
            cbx_counterfactual_free(c);
            set_option(&options, "add-candidates", "3"); /* then there may be others */
            set_option(&options, "max-edits", "2");
            c = explain(&o, row, &options);
            CHECK(c->certificate != CBX_PROVED_NONE);
            CHECK(c->certificate != CBX_OPTIMAL || c->num_edits == 1);
            cbx_counterfactual_free(c);
        }
        oracle_free(&o);
    }
    CHECK(met[0] > 3 && met[1] > 3);
}

TEST(answers_keep_the_rules_about_new_nodes)
{
    const char *const rules[][2] = {
        {"immutable-nodes", "0,1,2,3"}, {"add-to", "4,5"}, {"max-degree", "3"}, {"max-added", "1"},
        {"keep", "connected"},          {"max-edits", "2"}};
    int64_t added = 0;
    for (int k = 0; k < SHAPES; k += test_every(2)) {
        oracle o = oracle_make(shapes[k]);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            for (int32_t row = k / 2 % test_every(3); row < 3; row += test_every(3)) {
                cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edits",
                                                  "add-nodes,remove-nodes", "robustness", "0");
                int32_t             zero = (int32_t)o.data.graph_ptr[row];
                set_option(&options, rules[i][0], rules[i][1]);
                cbx_counterfactual *c = explain(&o, row, &options);
                CHECK(!strstr(c->reason, "breaks a rule"));
                added += c->num_nodes_added;
                for (int64_t e = 0; e < c->num_edits; e++) {
                    if (c->edits[e].op != CBX_ADD_NODE)
                        continue;
                    int32_t at = c->edits[e].target - zero;
                    CHECK(i != 0 || at > 3);
                    CHECK(i != 1 || at == 4 || at == 5);
                }
                CHECK(i != 3 || c->num_nodes_added <= 1);
                cbx_counterfactual_free(c);
            }
        oracle_free(&o);
    }
    CHECK(added > 20 / test_every(3));
}

static void refused(const oracle *o, const char *explainer, const char *expected)
{
    cbx_explain_options options = ASK("edits", "add-nodes");
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    set_option(&options, "explainer", explainer);
    CHECK_INT(cbx_explain_with(o->model, o->graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, expected);
}

TEST(who_cannot_add_nodes_says_so)
{
    oracle    o = oracle_make(shapes[0]), nodes = oracle_make((oracle_shape){.nodes = 20});
    cbx_edit  e = {.op = CBX_ADD_NODE, .source = 1, .target = 2, .edge = -1};
    float     logp[8];
    cbx_error err = {0};
    refused(&o, "combinex", "'combinex' adds no nodes; 'minimal' does");
    refused(&nodes, "minimal", "add-nodes is for data with a class for each graph");
    CHECK_INT(cbx_check_edits(nodes.model, nodes.graph, 3, &e, 1, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "nodes are added to graphs that have a class");
    oracle_free(&o);
    oracle_free(&nodes);
}

static cbx_status explain_once(void *user)
{
    cbx_explain_options options =
        ASK("explainer", "minimal", "target", "any", "edits", "add-nodes", "add-candidates", "4",
            "robustness", "1", "candidates", "2", "beam", "1", "rebuilds", "0", "threads", "1");
    const oracle       *o = user;
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    cbx_status status = cbx_explain_with(o->model, o->graph, 1, &options, NULL, NULL, &c, &err);
    CHECK_INT(err.status, status);
    CHECK(status || c->outcome != CBX_SKIPPED);
    cbx_counterfactual_free(c);
    return status;
}

TEST(choosing_what_may_come_survives_the_failure_of_any_allocation)
{
    oracle o = oracle_make((oracle_shape){.nodes = 12, .graphs = 3, .seed = 3});
    test_each_allocation(explain_once, &o);
    oracle_free(&o);
}
