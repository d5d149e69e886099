/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of edits, of nodes that go, and weights and attributes that change. */
#include "rules.h"

#include "test.h"

/* 0 - 1 - 2 - 3, and 1 - 3: about node 0. */
static cbx_graph *make(void)
{
    static const int64_t source[] = {0, 1, 1, 2, 2, 3, 1, 3}, target[] = {1, 0, 2, 1, 3, 2, 3, 1};
    static const float   x[] = {1, 2, 3, 4}, weight[] = {1, 1, 2, 2, 3, 3, 4, 4};
    cbx_graph           *g = NULL;
    cbx_error            err = {0};
    cbx_graph_data       d = {.num_nodes = 4,
                              .num_features = 1,
                              .num_edges = 8,
                              .edge_source = source,
                              .edge_target = target,
                              .edge_weight = weight,
                              .x = x};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

static void judge(const cbx_rules *rules, const cbx_edit *edits, int64_t count,
                  const char *expected)
{
    cbx_error  err = {0};
    cbx_status status = cbx_rules_check(rules, 0, 0, edits, count, &err);
    CHECK_INT(status, expected ? CBX_INVALID : CBX_OK);
    if (expected)
        CHECK_CONTAINS(err.message, expected);
}

#define JUDGE(rules, expected, ...)                                                  \
    do {                                                                             \
        const cbx_edit these[] = {__VA_ARGS__};                                      \
        judge(&(rules), these, (int64_t)(sizeof these / sizeof *these), (expected)); \
    } while (0)

static cbx_edit go(int32_t node)
{
    return (cbx_edit){.op = CBX_REMOVE_NODE, .node = node};
}

static cbx_edit cut(int32_t u, int32_t v)
{
    return (cbx_edit){
        .op = CBX_REMOVE_EDGE, .source = u, .target = v, .edge = -1, .undirected = true};
}

TEST(nodes_go_where_they_and_their_edges_may)
{
    cbx_graph *g = make();
    int32_t    immutable[] = {2}, protected[][2] = {{1, 3}};
    cbx_rules  r = {.graph = g, .any = true, .edits = CBX_EDITS_REMOVE_NODES};
    JUDGE(r, NULL, go(1));
    JUDGE(r, "node 0 goes", go(0)); /* which is explained */
    r.edits = CBX_EDITS_REMOVE;
    JUDGE(r, "node 1 goes", go(1));
    r.edits = CBX_EDITS_REMOVE_NODES;
    r.keep_edges = true; /* of those that go alone */
    JUDGE(r, NULL, go(1));
    r.keep_all_edges = true;
    JUDGE(r, "keep-edges", go(1));
    r.keep_all_edges = r.keep_edges = false;
    r.own_edges = true;
    JUDGE(r, "node 1 goes", go(1));
    r.own_edges = false;
    r.nodes = immutable;
    r.num_nodes = 1;
    JUDGE(r, "node 2 goes", go(2));
    JUDGE(r, "of one of its edges: node 3 goes", go(3));
    r.num_nodes = 0;
    r.edges = protected;
    r.num_edges = 1;
    JUDGE(r, "of one of its edges: node 3 goes", go(3));
    JUDGE(r, NULL, go(2));
    r.num_edges = 0;
    r.max_edits = 1;
    JUDGE(r, "there are 2 changes", go(2), go(3));
    cbx_graph_free(g);
}

TEST(what_is_left_keeps_its_shape)
{
    cbx_graph *g = make();
    bool       hold = false;
    cbx_error  err = {0};
    cbx_rules  r = {.graph = g,
                    .any = true,
                    .edits = CBX_EDITS_REMOVE | CBX_EDITS_REMOVE_NODES,
                    .keep = CBX_KEEP_CONNECTED};
    JUDGE(r, NULL, go(3));
    JUDGE(r, NULL, go(2));
    JUDGE(r, "nodes 0 and 2 are no longer connected", go(1));
    JUDGE(r, NULL, go(1), go(2), go(3)); /* together: nobody is left apart */
    JUDGE(r, "no longer connected", go(3), cut(1, 2));
    r.keep = CBX_KEEP_NO_ISOLATED;
    JUDGE(r, "node 0 has no edge left", go(1));
    JUDGE(r, NULL, go(2), go(3));
    const cbx_edit apart = go(1);
    CHECK_OK(cbx_rules_check_together(&r, 0, &apart, 1, &hold, &err), err);
    CHECK(!hold);
    const cbx_edit fine = go(2);
    CHECK_OK(cbx_rules_check_together(&r, 0, &fine, 1, &hold, &err), err);
    CHECK(hold);
    cbx_graph_free(g);
}

TEST(weights_stay_within_what_the_data_has)
{
    cbx_graph *g = make();
    int32_t    immutable[] = {2};
    cbx_rules  r = {.graph = g,
                    .any = true,
                    .edits = CBX_EDITS_WEIGHTS,
                    .weight_lo = 1,
                    .weight_hi = 4,
                    .keep_edges = true};
    cbx_edit   e = {.op = CBX_SET_EDGE, .source = 1, .target = 2, .edge = -1, .undirected = true};
    e.weight = 3.5F;
    JUDGE(r, NULL, e);
    e.weight = 4.5F;
    JUDGE(r, "nodes 1 and 2 gets the weight 4.5", e);
    e.weight = 2.5F;
    r.nodes = immutable;
    r.num_nodes = 1;
    JUDGE(r, "immutable-nodes", e);
    r.num_nodes = 0;
    r.edits = CBX_EDITS_REMOVE;
    JUDGE(r, "the rule edits", e);
    cbx_graph_free(g);
}

TEST(attributes_are_values_that_the_data_can_have)
{
    cbx_graph *g = make();
    int32_t protected[][2] = {{1, 2}};
    float            lo[] = {0, -1}, hi[] = {1, 2};
    uint8_t          whole[] = {1, 0};
    cbx_edge_columns columns = {.count = 2, .lo = lo, .hi = hi, .whole = whole};
    cbx_rules        r = {.graph = g,
                          .any = true,
                          .edits = CBX_EDITS_ATTRIBUTES,
                          .attributes = &columns,
                          .keep_edges = true};
    cbx_edit e = {.op = CBX_SET_EDGE, .source = 1, .target = 2, .edge = -1, .undirected = true};
    e.attribute = 2;
    e.weight = 1.5F;
    JUDGE(r, NULL, e);
    e.weight = 2.5F;
    JUDGE(r, "nodes 1 and 2 gets the attribute 2.5", e);
    e.attribute = 1;
    e.weight = 0.5F;
    JUDGE(r, "gets the attribute 0.5", e); /* no whole number */
    e.weight = 1;
    JUDGE(r, NULL, e);
    e.attribute = -1;
    JUDGE(r, "gets the attribute", e); /* they tell no kinds */
    columns.one_hot = true;
    JUDGE(r, NULL, e);
    e.weight = 0;
    JUDGE(r, "gets the attribute 0", e);
    e.weight = 1;
    e.attribute = 0;
    JUDGE(r, "gets the weight 1", e);
    e.attribute = -1;
    r.edges = protected;
    r.num_edges = 1;
    JUDGE(r, "protected-edges", e);
    r.num_edges = 0;
    r.edits = CBX_EDITS_WEIGHTS;
    JUDGE(r, "the rule edits", e);
    cbx_graph_free(g);
}

/* 0 - 1 - 2 of atoms C, O, F and 3 - 4, two graphs; F has one bond, O two, C four. */
static cbx_graph *make_molecules(void)
{
    static const int64_t source[] = {0, 1, 1, 2, 3, 4}, target[] = {1, 0, 2, 1, 4, 3};
    static const int64_t ptr[] = {0, 3, 5};
    static const float   x[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0};
    cbx_graph           *g = NULL;
    cbx_error            err = {0};
    cbx_graph_data       d = {.task = CBX_GRAPH,
                              .num_nodes = 5,
                              .num_features = 3,
                              .num_edges = 6,
                              .edge_source = source,
                              .edge_target = target,
                              .x = x,
                              .num_graphs = 2,
                              .graph_ptr = ptr};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

static cbx_edit come(int32_t copied, int32_t at)
{
    return (cbx_edit){
        .op = CBX_ADD_NODE, .source = copied, .target = at, .edge = -1, .undirected = true};
}

TEST(nodes_come_where_there_is_room_for_them)
{
    cbx_graph *g = make_molecules();
    int32_t    immutable[] = {1}, to[] = {0, 2}, group[] = {0, 0, 0}, type[] = {0, 1, -1, 0, 0};
    int8_t     valence[] = {4, 2, 1};
    cbx_rules  r = {
         .graph = g, .any = true, .edits = CBX_EDITS_ADD_NODES, .group = group, .elements = -1};
    JUDGE(r, NULL, come(2, 1));
    r.edits = CBX_EDITS_ADD;
    JUDGE(r, "a copy of node 2 is added at node 1", come(2, 1));
    r.edits = CBX_EDITS_ADD_NODES;
    r.nodes = immutable;
    r.num_nodes = 1;
    JUDGE(r, "immutable-nodes", come(2, 1));
    JUDGE(r, NULL, come(1, 2)); /* who is copied stays as it is */
    r.num_nodes = 0;
    r.add_to_some = true;
    r.add_to = to;
    r.num_add_to = 2;
    JUDGE(r, "add-to", come(0, 1));
    JUDGE(r, NULL, come(0, 2));
    r.add_to_some = false;
    r.type = type;
    JUDGE(r, NULL, come(0, 0));
    JUDGE(r, "add-to", come(1, 0));
    JUDGE(r, "add-to", come(2, 2)); /* of no type */
    r.type = NULL;
    r.max_degree = 2;
    JUDGE(r, "max-degree", come(0, 1));
    JUDGE(r, NULL, come(0, 2));
    JUDGE(r, "max-degree", come(0, 2), come(1, 2));
    r.max_degree = 0;
    r.max_added = 1;
    JUDGE(r, "there are 2 edges that are added", come(0, 2), come(1, 2));
    r.max_added = 0;
    r.max_edits = 1;
    JUDGE(r, "there are 2 changes", come(0, 2), come(1, 2));
    r.max_edits = 0;
    r.keep = CBX_KEEP_MOLECULE;
    r.elements = 0;
    r.valence = valence;
    JUDGE(r, NULL, come(2, 0), come(1, 0), come(0, 0));
    JUDGE(r, "keep", come(2, 0), come(1, 0), come(0, 0), come(2, 0));
    JUDGE(r, "keep", come(0, 1)); /* O has two already */
    valence[2] = 0;               /* a metal */
    JUDGE(r, "keep", come(2, 0));
    cbx_graph_free(g);
}
