/* SPDX-License-Identifier: Apache-2.0 */
/* What the flips of many targets have in common. */
#include <stdlib.h>

#include "test.h"

static cbx_edit feature(int32_t node, int32_t number, float from, float to)
{
    return (cbx_edit){
        .op = CBX_SET_FEATURE, .node = node, .feature = number, .from = from, .to = to};
}

static cbx_edit edge(int32_t source, int32_t target, bool undirected)
{
    return (cbx_edit){.op = CBX_REMOVE_EDGE,
                      .source = source,
                      .target = target,
                      .edge = -1,
                      .undirected = undirected};
}

static cbx_counterfactual answer(const cbx_edit *edits, int64_t count)
{
    return (cbx_counterfactual){.outcome = CBX_FOUND, .edits = edits, .num_edits = count};
}

static void add(cbx_common_edits *r, const cbx_edit *edits, int64_t count)
{
    cbx_counterfactual c = answer(edits, count);
    cbx_common_edits_add(r, &c);
}

TEST(features_and_edges_are_counted_once_a_flip)
{
    cbx_common_edits *r = NULL;
    const cbx_common *c = NULL;
    cbx_error         err = {0};
    CHECK_OK(cbx_common_edits_new(&r, &err), err);
    add(r, (cbx_edit[]){feature(1, 7, 0, 1), feature(2, 7, 0, 1), edge(4, 3, true)}, 3);
    add(r, (cbx_edit[]){feature(1, 7, 1, 0), edge(3, 4, true), edge(4, 3, true)}, 3);
    add(r, (cbx_edit[]){feature(5, 900, 0, 2), edge(3, 4, false), edge(4, 3, false)}, 3);
    cbx_common_edits_add(r, &(cbx_counterfactual){.outcome = CBX_NOT_FOUND});
    CHECK_OK(cbx_common_edits_find(r, &c, &err), err);
    CHECK_INT(c->flips, 3);
    if (CHECK_INT(c->num_features, 2)) {
        CHECK_INT(c->features[0].feature, 7);
        CHECK_INT(c->features[0].flips, 2);
        CHECK_INT(c->features[0].raised, 2);
        CHECK_INT(c->features[0].lowered, 1);
        CHECK_INT(c->features[1].feature, 900);
        CHECK_INT(c->features[1].flips, 1);
    }
    if (CHECK_INT(c->num_edges, 3)) { /* both ways are one where edges are undirected */
        CHECK(c->edges[0].source == 3 && c->edges[0].target == 4 && c->edges[0].undirected);
        CHECK_INT(c->edges[0].flips, 2);
        CHECK(c->edges[1].source == 3 && c->edges[1].target == 4 && !c->edges[1].undirected);
        CHECK(c->edges[2].source == 4 && c->edges[2].target == 3 && !c->edges[2].undirected);
        CHECK_INT(c->edges[2].flips, 1);
    }
    cbx_common_edits_free(r);
}

TEST(the_core_covers_four_flips_in_five_with_what_covers_most_first)
{
    cbx_common_edits *r = NULL;
    const cbx_common *c = NULL;
    cbx_error         err = {0};
    CHECK_OK(cbx_common_edits_new(&r, &err), err);
    /* 2 is in three flips, 1 in two of those and one more, 3 in another; the last has edges */
    add(r, (cbx_edit[]){feature(0, 1, 0, 1), feature(0, 2, 0, 1)}, 2);
    add(r, (cbx_edit[]){feature(0, 1, 0, 1), feature(0, 2, 0, 1)}, 2);
    add(r, (cbx_edit[]){feature(0, 2, 0, 1)}, 1);
    add(r, (cbx_edit[]){feature(0, 1, 0, 1)}, 1);
    CHECK_OK(cbx_common_edits_find(r, &c, &err), err);
    CHECK(c->core_known);
    if (CHECK_INT(c->num_core, 2)) {
        CHECK_INT(c->core[0], 1); /* as many as 2, and smaller */
        CHECK_INT(c->core_flips[0], 3);
        CHECK_INT(c->core[1], 2);
        CHECK_INT(c->core_flips[1], 1);
    }
    CHECK_INT(c->covered, 4);
    add(r, (cbx_edit[]){edge(0, 1, true)}, 1); /* asked again, with more */
    CHECK_OK(cbx_common_edits_find(r, &c, &err), err);
    CHECK_INT(c->flips, 5);
    CHECK_INT(c->num_core, 2);
    CHECK_INT(c->covered, 4);
    cbx_common_edits_free(r);
}

TEST(answers_of_many_edits_are_counted_and_have_no_core)
{
    cbx_common_edits *r = NULL;
    const cbx_common *c = NULL;
    cbx_error         err = {0};
    cbx_edit          many[101];
    for (int32_t k = 0; k < 101; k++)
        many[k] = feature(0, k, 0, 1);
    CHECK_OK(cbx_common_edits_new(&r, &err), err);
    add(r, many, 100);
    CHECK_OK(cbx_common_edits_find(r, &c, &err), err);
    CHECK(c->core_known);
    add(r, many, 101);
    add(r, many, 1);
    CHECK_OK(cbx_common_edits_find(r, &c, &err), err);
    CHECK(!c->core_known);
    CHECK_INT(c->num_core, 0);
    CHECK_INT(c->num_features, 101);
    CHECK_INT(c->features[0].flips, 3);
    CHECK_INT(c->features[1].flips, 2);
    cbx_common_edits_free(r);
}

TEST(nothing_recurs_in_nothing)
{
    cbx_common_edits *r = NULL;
    const cbx_common *c = NULL;
    cbx_error         err = {0};
    CHECK_OK(cbx_common_edits_new(&r, &err), err);
    CHECK_OK(cbx_common_edits_find(r, &c, &err), err);
    CHECK(!c->flips && !c->num_features && !c->num_edges && !c->num_core && !c->covered);
    cbx_common_edits_free(r);
    cbx_common_edits_free(NULL);
}

static cbx_status count_some(void *user)
{
    const cbx_edit   *edits = user;
    cbx_common_edits *r = NULL;
    const cbx_common *c;
    cbx_status        status = cbx_common_edits_new(&r, NULL);
    if (status)
        return status;
    for (int k = 0; k < 3; k++)
        add(r, edits, 300);
    add(r, edits, 90);
    status = cbx_common_edits_find(r, &c, NULL);
    cbx_common_edits_free(r);
    return status;
}

TEST(running_out_of_memory_is_told_when_it_matters)
{
    static cbx_edit edits[300];
    for (int32_t k = 0; k < 300; k++)
        edits[k] = k % 2 ? feature(0, 3 * k, 0, 1) : edge(k, k + 1, true);
    test_each_allocation(count_some, edits);
}

TEST(nodes_and_weights_are_counted_once_a_flip)
{
    cbx_common_edits *r = NULL;
    const cbx_common *c = NULL;
    cbx_error         err = {0};
    const cbx_edit    gone = {.op = CBX_REMOVE_NODE, .node = 8},
                   other = {.op = CBX_REMOVE_NODE, .node = 2};
    cbx_edit weighed = edge(3, 4, true);
    weighed.op = CBX_SET_EDGE;
    CHECK_OK(cbx_common_edits_new(&r, &err), err);
    add(r, (cbx_edit[]){gone, gone, other, weighed}, 4);
    add(r, (cbx_edit[]){gone, edge(3, 4, true)}, 2);
    CHECK_OK(cbx_common_edits_find(r, &c, &err), err);
    if (CHECK_INT(c->num_nodes, 2)) {
        CHECK_INT(c->nodes[0].node, 8);
        CHECK_INT(c->nodes[0].flips, 2);
        CHECK_INT(c->nodes[1].node, 2);
        CHECK_INT(c->nodes[1].flips, 1);
    }
    if (CHECK_INT(c->num_edges, 2)) { /* one goes, and one gets another weight */
        CHECK(!c->edges[0].reweighted && c->edges[1].reweighted);
        CHECK_INT(c->edges[1].flips, 1);
    }
    cbx_common_edits_free(r);
}
