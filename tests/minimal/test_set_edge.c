/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that get another weight: what a search asks its own view is what a graph with those weights
 * says, for every layer; answers hold, keep the rules, go no further than they must, and are no
 * larger for having more kinds of edit. */
#include <math.h>
#include <string.h>

#include "edited.h"

/* Those that are directed have weights. */
static const oracle_shape shapes[] = {
    {.nodes = 30, .directed = true, .seed = 2},
    {.conv = "cheb", .order = 3, .nodes = 30, .directed = true, .seed = 3},
    {.conv = "graphconv", .nodes = 30, .directed = true, .seed = 4},
    {.conv = "graphconv", .aggregation = "mean", .nodes = 30, .directed = true, .seed = 5},
    {.conv = "graphconv", .aggregation = "max", .nodes = 30, .directed = true, .seed = 6},
    {.conv = "gat", .nodes = 30, .directed = true, .seed = 9},
    {.nodes = 80, .directed = true, .seed = 12},
    {.nodes = 60, .graphs = 5, .directed = true, .pool = "mean", .seed = 10},
    {.conv = "graphconv", .nodes = 60, .graphs = 5, .directed = true, .pool = "sum", .seed = 11},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void compare_with_applied(const oracle *o, int32_t row)
{
    cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edits",
                                      "remove,weights", "edges", "directed");
    edited_view         v;
    cbx_move_walk       at = {0};
    cbx_move            m, before = {0};
    int64_t             weights = 0;
    edited_view_open(&v, o, row, &options, CBX_EDITS_WEIGHTS);
    v.wide.offered = NULL;
    edited_view_ready(&v);
    while (cbx_moves_walk(&v.W, &at, &m) && weights < 40) {
        cbx_move pair[2] = {m, before};
        cbx_edit edits[2];
        int64_t  count = before.kind && weights % 2 && before.pair != m.pair ? 2 : 1;
        before = m;
        if (m.kind != &cbx_move_set_edge)
            continue;
        weights++;
        edited_view_compare(&v, pair, count, edits);
        CHECK(edits[0].weight == m.to);
    }
    CHECK(weights > 3);
    edited_view_close(&v);
}

TEST(asking_the_view_is_asking_a_graph_with_those_weights)
{
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 2; row++)
            compare_with_applied(&o, row);
        oracle_free(&o);
    }
}

TEST(more_kinds_of_edit_never_make_an_answer_larger)
{
    static const char *const kinds[] = {"remove,features", "remove,features,weights",
                                        "remove,features,remove-nodes", "all"};
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        for (int32_t row = 0; row < 2; row++) {
            cbx_counterfactual *c[4];
            for (int i = 0; i < 4; i++) {
                cbx_explain_options options =
                    ASK("explainer", "minimal", "target", "any", "edges", "directed");
                set_option(&options, "edits", kinds[i]);
                c[i] = explain(&o, row, &options);
                for (int j = 0; j < i; j++)
                    if ((i == 3 || j == 0) && c[j]->outcome == CBX_FOUND &&
                        CHECK(c[i]->outcome == CBX_FOUND))
                        CHECK(c[i]->cost <= c[j]->cost + 1e-9);
            }
            for (int i = 0; i < 4; i++)
                cbx_counterfactual_free(c[i]);
        }
        oracle_free(&o);
    }
}

static float own_weight(const oracle *o, const cbx_edit *e)
{
    return o->data.edge_weight[e->edge];
}

/* Within the data's range, and by a hundredth of it nearer to what it was, one alone, no flip. */
TEST(weights_go_no_further_than_they_must)
{
    int met = 0;
    for (int k = 0; k < SHAPES; k++) {
        oracle o = oracle_make(shapes[k]);
        float  lo = INFINITY, hi = -INFINITY;
        for (int64_t e = 0; e < o.data.num_edges; e++) {
            lo = fminf(lo, o.data.edge_weight[e]);
            hi = fmaxf(hi, o.data.edge_weight[e]);
        }
        for (int32_t row = 0; row < 5; row += test_every(3)) {
            cbx_explain_options options = ASK("explainer", "minimal", "target", "any", "edges",
                                              "directed", "edits", "weights", "robustness", "0");
            cbx_counterfactual *c = explain(&o, row, &options);
            CHECK_INT(c->num_edits, c->num_edges_reweighted);
            CHECK(c->certificate != CBX_PROVED_NONE);
            CHECK(c->certificate != CBX_OPTIMAL || c->num_edits == 1); /* nothing costs less */
            for (int64_t i = 0; i < c->num_edits; i++) {
                cbx_edit edits[64];
                float    logp[8], own = own_weight(&o, &c->edits[i]), to = c->edits[i].weight;
                CHECK(to >= lo && to <= hi && to != own);
                if (c->num_edits > 64)
                    continue;
                memcpy(edits, c->edits, (size_t)c->num_edits * sizeof *edits);
                ask_applied(&o, row, edits, c->num_edits, logp);
                CHECK(cbx_is_flip(logp, c->num_classes, c->prediction, -1, 0));
                float step = (hi - lo) / 100;
                if (fabsf(to - own) <= step)
                    continue;
                edits[i].weight = to > own ? to - step : to + step;
                ask_applied(&o, row, edits, c->num_edits, logp);
                met += !cbx_is_flip(logp, c->num_classes, c->prediction, -1, 0);
                CHECK(!cbx_is_flip(logp, c->num_classes, c->prediction, -1, 0));
            }
            cbx_counterfactual_free(c);
        }
        oracle_free(&o);
    }
    CHECK(met > 5 / test_every(3));
}

TEST(answers_keep_the_rules_about_weights)
{
    const char *const rules[][2] = {
        {"immutable-nodes", "4,7"}, {"own-edges", "true"}, {"max-edits", "2"}};
    int64_t changed = 0;
    for (int k = 0; k < 6; k += test_every(2)) {
        oracle o = oracle_make(shapes[k]);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            for (int32_t row = k / 2 % test_every(3); row < 3; row += test_every(3)) {
                cbx_explain_options options =
                    ASK("explainer", "minimal", "target", "any", "edges", "directed", "edits",
                        "weights", "robustness", "0");
                set_option(&options, rules[i][0], rules[i][1]);
                cbx_counterfactual *c = explain(&o, row, &options);
                CHECK(!strstr(c->reason, "breaks a rule"));
                changed += c->num_edges_reweighted;
                for (int64_t e = 0; e < c->num_edits; e++) {
                    int32_t a = c->edits[e].source, b = c->edits[e].target;
                    CHECK(i != 0 || (a != 4 && a != 7 && b != 4 && b != 7));
                    CHECK(i != 1 || a == row || b == row);
                }
                CHECK(i != 2 || c->num_edits <= 2);
                cbx_counterfactual_free(c);
            }
        oracle_free(&o);
    }
    CHECK(changed > 5 / test_every(3));
}

TEST(where_there_are_no_weights_none_is_changed)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 30, .seed = 1});
    cbx_explain_options options = ASK("explainer", "minimal", "edits", "weights");
    cbx_counterfactual *c = NULL;
    cbx_error           err = {0};
    float               logp[8];
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "the edges of this data have none, or all the same");
    options = ASK("explainer", "cf-gnn", "edits", "weights");
    CHECK_INT(cbx_explain_with(o.model, o.graph, 0, &options, NULL, NULL, &c, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'cf-gnn' changes no weights of edges");
    cbx_edit e = {.op = CBX_SET_EDGE,
                  .source = (int32_t)o.data.edge_source[0],
                  .target = (int32_t)o.data.edge_target[0],
                  .edge = 0,
                  .weight = 2};
    CHECK_INT(cbx_check_edits(o.model, o.graph, 3, &e, 1, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "edges of this data have none");
    oracle_free(&o);
    o = oracle_make(shapes[0]);
    e.weight = NAN;
    e.edge = -1;
    e.source = (int32_t)o.data.edge_source[0];
    e.target = (int32_t)o.data.edge_target[0];
    CHECK_INT(cbx_check_edits(o.model, o.graph, 3, &e, 1, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "a weight that is no number");
    e.weight = 1;
    e.edge = o.data.num_edges;
    CHECK_INT(cbx_check_edits(o.model, o.graph, 3, &e, 1, logp, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "there is no edge");
    oracle_free(&o);
}
