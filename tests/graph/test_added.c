/* SPDX-License-Identifier: Apache-2.0 */
/* A graph with edges added is, in every view, what a graph is that was made with them. */
#include "added.h"

#include <math.h>
#include <string.h>

#include "random_graph.h"
#include "test.h"
#include "view.h"

static cbx_edit addition(int32_t source, int32_t target, bool undirected, float weight)
{
    return (cbx_edit){.op = CBX_ADD_EDGE,
                      .source = source,
                      .target = target,
                      .edge = -1,
                      .undirected = undirected,
                      .weight = weight};
}

/* Two pairs of nodes that have no edge yet; false: there are none. */
static int64_t absent(const cbx_graph *g, bool undirected, float weight, cbx_edit edits[2])
{
    int64_t count = 0;
    for (int32_t a = 0; a < g->data.num_nodes && count < 2; a++)
        for (int32_t b = a + 1; b < g->data.num_nodes && count < 2; b++) {
            bool same =
                g->data.task != CBX_GRAPH || cbx_graph_of_node(g, a) == cbx_graph_of_node(g, b);
            if (same && !cbx_graph_has_edge(g, a, b) && !cbx_graph_has_edge(g, b, a) &&
                (!count || a != edits[0].source))
                edits[count++] = addition(a, b, undirected, weight);
        }
    return count;
}

static void check_same(const cbx_view *a, const cbx_view *b)
{
    CHECK_INT(a->n, b->n);
    if (!CHECK_INT(a->m, b->m))
        return;
    for (int64_t e = 0; e < a->m; e++) {
        CHECK_INT(a->source[e], b->source[e]);
        CHECK_INT(a->edge ? a->edge[e] : e, b->edge ? b->edge[e] : e);
        CHECK_NEAR(a->weight ? a->weight[e] : 1, b->weight ? b->weight[e] : 1, 0);
    }
    for (int32_t i = 0; i < a->n; i++) {
        CHECK_INT(a->offset[i], b->offset[i]);
        CHECK_INT(a->node ? a->node[i] : i, b->node ? b->node[i] : i);
        if (CHECK((a->outside_count != NULL) == (b->outside_count != NULL)) && a->outside_count) {
            CHECK_NEAR(a->outside_count[i], b->outside_count[i], 0);
            CHECK_NEAR(a->outside_weight[i], b->outside_weight[i], 0);
        }
    }
}

static void check_views(const cbx_graph *a, const cbx_graph *b)
{
    cbx_arena arena = {0};
    cbx_error err = {0};
    cbx_view  x, y;
    CHECK_OK(cbx_view_whole(a, &arena, &x, &err), err);
    CHECK_OK(cbx_view_whole(b, &arena, &y, &err), err);
    check_same(&x, &y);
    for (int32_t i = 0; i < a->data.num_nodes && a->data.task != CBX_GRAPH; i++) {
        CHECK_OK(cbx_view_around(a, i, 2, &arena, &x, &err), err);
        CHECK_OK(cbx_view_around(b, i, 2, &arena, &y, &err), err);
        check_same(&x, &y);
        CHECK_OK(cbx_view_cone(a, i, 2, &arena, &x, &err), err);
        CHECK_OK(cbx_view_cone(b, i, 2, &arena, &y, &err), err);
        check_same(&x, &y);
    }
    for (int32_t i = 0; i < a->data.num_graphs; i++) {
        CHECK_OK(cbx_view_graphs(a, &i, 1, &arena, &x, &err), err);
        CHECK_OK(cbx_view_graphs(b, &i, 1, &arena, &y, &err), err);
        check_same(&x, &y);
    }
    cbx_arena_free(&arena);
}

TEST(views_have_the_edges_that_were_added)
{
    for (int k = 0; k < 16; k++) {
        random_graph r = make_graph((graph_shape){.nodes = 12,
                                                  .edges = 20,
                                                  .features = 2,
                                                  .undirected = k & 1,
                                                  .weighted = (k & 2) != 0,
                                                  .seed = (uint64_t)k});
        cbx_edit     edits[2];
        cbx_arena    arena = {0};
        cbx_error    err = {0};
        cbx_graph    with, *made = NULL;
        int64_t      count = absent(r.graph, (k & 4) != 0, k & 8 ? 0.5F : 1, edits);
        if (CHECK_INT(count, 2) &&
            CHECK_OK(cbx_graph_with_edges(r.graph, edits, 2, &arena, &with, &err), err) &&
            CHECK_OK(cbx_graph_apply(r.graph, edits, 2, &made, &err), err)) {
            CHECK_INT(made->data.num_edges, r.data.num_edges + (k & 4 ? 4 : 2));
            CHECK_INT(made->data.edge_source[r.data.num_edges], edits[0].source);
            CHECK_INT(made->data.edge_target[r.data.num_edges], edits[0].target);
            check_views(&with, made);
        }
        cbx_graph_free(made);
        cbx_arena_free(&arena);
        free_graph(&r);
    }
}

TEST(an_edge_without_a_weight_has_the_median)
{
    int64_t        from[] = {0, 1, 2}, to[] = {1, 2, 3};
    float          weight[] = {5, 2, 9}, x[4] = {0}, attr[] = {1, 10, 3, 30, 2, 20};
    cbx_graph_data d = {.num_nodes = 4,
                        .num_features = 1,
                        .num_edges = 3,
                        .edge_source = from,
                        .edge_target = to,
                        .edge_weight = weight,
                        .x = x,
                        .edge_dim = 2,
                        .edge_attr = attr};
    cbx_graph     *g = NULL, *made = NULL;
    cbx_error      err = {0};
    cbx_edit       edit = addition(3, 0, false, 0);
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    if (CHECK_OK(cbx_graph_apply(g, &edit, 1, &made, &err), err)) {
        CHECK_NEAR(made->data.edge_weight[3], 5, 0);
        CHECK_NEAR(made->data.edge_attr[6], 2, 0);
        CHECK_NEAR(made->data.edge_attr[7], 20, 0);
    }
    cbx_graph_free(made);
    cbx_graph_free(g);
}

/* Columns of which each edge has one say of which kind it is. Their medians would be none. */
TEST(an_edge_is_of_one_kind_where_all_are)
{
    int64_t        from[] = {0, 1, 2, 3, 0}, to[] = {1, 2, 3, 1, 2};
    float          x[4] = {0}, attr[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1};
    cbx_graph_data d = {.num_nodes = 4,
                        .num_features = 1,
                        .num_edges = 5,
                        .edge_source = from,
                        .edge_target = to,
                        .x = x,
                        .edge_dim = 3,
                        .edge_attr = attr};
    cbx_graph     *g = NULL, *made = NULL;
    cbx_error      err = {0};
    cbx_edit       edit = addition(3, 0, false, 0);
    for (int turn = 0; turn < 2; turn++) {
        attr[14] = turn ? 0.5F : 1; /* and here it is a number like others */
        CHECK_OK(cbx_graph_new(&d, &g, &err), err);
        if (CHECK_OK(cbx_graph_apply(g, &edit, 1, &made, &err), err)) {
            CHECK_NEAR(made->data.edge_attr[15], 0, 0);
            CHECK_NEAR(made->data.edge_attr[16], turn ? 0 : 1, 0);
            CHECK_NEAR(made->data.edge_attr[17], 0, 0);
        }
        cbx_graph_free(made);
        cbx_graph_free(g);
    }
}

TEST(an_edge_that_cannot_be_is_refused_and_one_that_can_is_in_its_graph)
{
    int64_t        from[] = {0, 1}, to[] = {1, 2}, ptr[] = {0, 3, 5};
    float          x[5] = {0};
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = 5,
                        .num_features = 1,
                        .num_edges = 2,
                        .num_graphs = 2,
                        .num_classes = 2,
                        .edge_source = from,
                        .edge_target = to,
                        .x = x,
                        .graph_ptr = ptr};
    cbx_graph     *g = NULL, *made = NULL;
    cbx_error      err = {0};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    const struct {
        cbx_edit    edits[2];
        const char *said;
    } wrong[] = {{{addition(0, 1, false, 1)}, "there is one already"},
                 {{addition(1, 0, true, 1)}, "there is one already"},
                 {{addition(2, 2, false, 1)}, "they are the same"},
                 {{addition(0, 4, false, 1)}, "they are of two graphs"},
                 {{addition(0, 5, false, 1)}, "there is no node 5"},
                 {{addition(0, 2, false, NAN)}, "its weight is no number"},
                 {{addition(0, 2, true, 1), addition(2, 0, false, 1)}, "is added twice"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        int64_t count = wrong[k].edits[1].op == CBX_ADD_EDGE ? 2 : 1;
        CHECK_INT(cbx_graph_apply(g, wrong[k].edits, count, &made, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, wrong[k].said);
    }
    cbx_arena arena = {0};
    cbx_graph with;
    cbx_edit  fine = addition(3, 4, true, 1);
    CHECK_OK(cbx_graph_with_edges(g, &fine, 1, &arena, &with, &err), err);
    if (CHECK_OK(cbx_graph_apply(g, &fine, 1, &made, &err), err))
        check_views(&with, made);
    cbx_graph_free(made);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}
