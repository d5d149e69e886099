/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of edits: it sees what is broken, whoever says that nothing is. */
#include "rules.h"

#include <string.h>

#include "test.h"

/* Four nodes in a row, 0 - 1 - 2 - 3, with an amount, years, and a town that is one of two. */
enum { NODES = 4, FEATURES = 4, AMOUNT = 0, YEARS, ROME, MILAN };

typedef struct world {
    cbx_graph *graph;
    cbx_rules  rules;
    uint8_t    fixed[FEATURES], way[FEATURES];
    float      lo[FEATURES], hi[FEATURES];
    double     step[FEATURES];
    int32_t    group[FEATURES];
} world;

static void make(world *w)
{
    static const int64_t source[] = {0, 1, 1, 2, 2, 3}, target[] = {1, 0, 2, 1, 3, 2};
    static const float   x[NODES * FEATURES] = {130, 2, 1, 0, 200, 3, 1, 0,
                                                300, 4, 0, 1, 400, 5, 1, 1};
    cbx_graph_data       d = {.task = CBX_NODE,
                              .num_nodes = NODES,
                              .num_features = FEATURES,
                              .num_edges = 6,
                              .edge_source = source,
                              .edge_target = target,
                              .x = x};
    cbx_error            err;
    memset(w, 0, sizeof *w);
    CHECK_INT(cbx_graph_new(&d, &w->graph, &err), CBX_OK);
    for (int j = 0; j < FEATURES; j++) {
        w->lo[j] = 0;
        w->hi[j] = j < ROME ? 1000 : 1;
        w->group[j] = j < ROME ? -1 : 0;
    }
    w->rules = (cbx_rules){.graph = w->graph,
                           .any = true,
                           .fixed = w->fixed,
                           .lo = w->lo,
                           .hi = w->hi,
                           .step = w->step,
                           .way = w->way,
                           .group = w->group,
                           .groups = 1};
}

static cbx_edit set_to(int32_t node, int32_t feature, float to)
{
    return (cbx_edit){.op = CBX_SET_FEATURE, .node = node, .feature = feature, .to = to};
}

static cbx_edit cut(int32_t u, int32_t v)
{
    return (cbx_edit){
        .op = CBX_REMOVE_EDGE, .source = u, .target = v, .edge = -1, .undirected = true};
}

/* About node 0. `expected` NULL: nothing is broken. */
static void judge(const world *w, const cbx_edit *edits, int64_t count, const char *expected)
{
    cbx_error  err = {0};
    cbx_status status = cbx_rules_check(&w->rules, 0, 0, edits, count, &err);
    CHECK_INT(status, expected ? CBX_INVALID : CBX_OK);
    if (expected)
        CHECK_CONTAINS(err.message, expected);
}

#define JUDGE(w, expected, ...)                                               \
    do {                                                                      \
        const cbx_edit these[] = {__VA_ARGS__};                               \
        judge((w), these, (int64_t)(sizeof these / sizeof *these), expected); \
    } while (0)

TEST(values_keep_their_range_way_and_step)
{
    world w;
    make(&w);
    JUDGE(&w, NULL, set_to(0, AMOUNT, 131));
    JUDGE(&w, "permitted-range", set_to(0, AMOUNT, 1001));
    w.step[AMOUNT] = 50;
    JUDGE(&w, "the rule step: feature 0 of node 0 becomes no multiple", set_to(0, AMOUNT, 140));
    JUDGE(&w, NULL, set_to(0, AMOUNT, 150));
    JUDGE(&w, NULL, set_to(0, YEARS, 3)); /* an amount that breaks it already may stay */
    w.way[AMOUNT] = CBX_WAY_NOT_DOWN;
    JUDGE(&w, "only-up", set_to(0, AMOUNT, 100));
    w.way[AMOUNT] = CBX_WAY_NOT_UP;
    JUDGE(&w, "only-down", set_to(0, AMOUNT, 150));
    w.fixed[YEARS] = 1;
    JUDGE(&w, "immutable-features", set_to(0, YEARS, 3));
    cbx_graph_free(w.graph);
}

TEST(a_group_points_to_one_feature_before_and_after)
{
    world w;
    make(&w);
    JUDGE(&w, NULL, set_to(0, ROME, 0), set_to(0, MILAN, 1));
    JUDGE(&w, "one-hot", set_to(0, ROME, 0));
    JUDGE(&w, "one-hot", set_to(0, MILAN, 1));
    JUDGE(&w, "one-hot", set_to(3, MILAN, 0)); /* had both to begin with */
    cbx_graph_free(w.graph);
}

TEST(an_atom_becomes_one_of_the_same_valence)
{
    world  w;
    int8_t valence[FEATURES] = {0, 0, 2, 2};
    make(&w);
    w.rules.valence = valence;
    w.rules.keep = CBX_KEEP_MOLECULE;
    JUDGE(&w, NULL, set_to(0, ROME, 0), set_to(0, MILAN, 1));
    CHECK(cbx_rules_turn(&w.rules, ROME, MILAN));
    valence[MILAN] = 3;
    JUDGE(&w, "the rule keep: feature 2 of node 0 makes the atom one of another valence",
          set_to(0, ROME, 0), set_to(0, MILAN, 1));
    CHECK(!cbx_rules_turn(&w.rules, ROME, MILAN));
    valence[ROME] = valence[MILAN] = 0; /* two metals */
    JUDGE(&w, "the rule keep", set_to(0, ROME, 0), set_to(0, MILAN, 1));
    CHECK(!cbx_rules_turn(&w.rules, ROME, MILAN));
    w.rules.elements = -1; /* the group tells no atoms */
    JUDGE(&w, NULL, set_to(0, ROME, 0), set_to(0, MILAN, 1));
    JUDGE(&w, "no longer connected", cut(1, 2));
    cbx_graph_free(w.graph);
}

TEST(what_changes_only_with_something_else_does)
{
    world        w;
    cbx_relation relation = {{ROME, MILAN, 0}, {YEARS, YEARS, -1}};
    bool         hold;
    make(&w);
    w.rules.relations = &relation;
    w.rules.num_relations = 1;
    const cbx_edit alone[] = {set_to(0, ROME, 0), set_to(0, MILAN, 1)};
    judge(&w, alone, 2, "if-changed");
    JUDGE(&w, "if-changed", alone[0], alone[1], set_to(1, YEARS, 9)); /* of somebody else */
    JUDGE(&w, NULL, alone[0], alone[1], set_to(0, YEARS, 9));
    JUDGE(&w, NULL, set_to(0, YEARS, 9));
    CHECK_INT(cbx_rules_check_together(&w.rules, 0, alone, 2, &hold, NULL), CBX_OK);
    CHECK(!hold);
    CHECK_INT(cbx_rules_check_together(&w.rules, 0, alone, 0, &hold, NULL), CBX_OK);
    CHECK(hold);
    cbx_graph_free(w.graph);
}

TEST(a_group_that_points_elsewhere_is_one_of_the_edits_that_are_allowed)
{
    world w;
    make(&w);
    w.rules.max_edits = 2;
    const cbx_edit off = set_to(0, ROME, 0), on = set_to(0, MILAN, 1);
    JUDGE(&w, NULL, off, on, cut(0, 1));
    JUDGE(&w, "max-edits: there are 3 changes, and 2 are allowed", off, on, cut(0, 1), cut(1, 2));
    cbx_graph_free(w.graph);
}

TEST(edges_and_nodes_that_are_not_ones_own_stay)
{
    world   w;
    int32_t nodes[] = {2}, edges[][2] = {{0, 1}};
    make(&w);
    JUDGE(&w, NULL, cut(1, 2), set_to(1, AMOUNT, 1));
    w.rules.own_edges = true;
    JUDGE(&w, "own-edges", cut(1, 2));
    JUDGE(&w, NULL, cut(1, 0));
    w.rules.own_features = true;
    JUDGE(&w, "own-features", set_to(1, AMOUNT, 1));
    w.rules.own_edges = w.rules.own_features = false;
    w.rules.nodes = nodes;
    w.rules.num_nodes = 1;
    JUDGE(&w, "immutable-nodes", set_to(2, AMOUNT, 1));
    JUDGE(&w, "immutable-nodes", cut(2, 3));
    w.rules.edges = edges;
    w.rules.num_edges = 1;
    JUDGE(&w, "protected-edges", cut(1, 0));
    w.rules.keep_edges = true;
    JUDGE(&w, "keep-edges", cut(1, 3));
    cbx_graph_free(w.graph);
}

TEST(the_graph_keeps_its_shape)
{
    world w;
    make(&w);
    w.rules.keep = CBX_KEEP_NO_ISOLATED;
    JUDGE(&w, "node 0 has no edge left", cut(0, 1));
    JUDGE(&w, NULL, cut(1, 2));
    w.rules.keep = CBX_KEEP_CONNECTED;
    JUDGE(&w, "nodes 1 and 2 are no longer connected", cut(1, 2));
    /* one way is enough */
    JUDGE(&w, NULL, (cbx_edit){.op = CBX_REMOVE_EDGE, .source = 1, .target = 2, .edge = -1});
    cbx_graph_free(w.graph);
}
