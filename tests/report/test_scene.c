/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a graph is drawn, and where. */
#include "scene.h"

#include <math.h>
#include <stdio.h>

#include "shown.h"

/* A hub with `leaves`, then a tail of five: a way that leads far from the hub. */
static cbx_graph *comb(int32_t leaves, int64_t *ends)
{
    int32_t n = 1 + leaves + 5;
    int64_t m = 0, *from = ends, *to = ends + 4 * (int64_t)n;
    float  *x = calloc((size_t)n, sizeof *x);
    for (int32_t i = 1; i < n; i++) {
        int32_t other = i <= leaves + 1 ? 0 : i - 1;
        from[m] = other, to[m++] = i;
        from[m] = i, to[m++] = other;
    }
    cbx_graph_data d = {.num_nodes = n,
                        .num_features = 1,
                        .num_classes = 2,
                        .num_edges = m,
                        .edge_source = from,
                        .edge_target = to,
                        .x = x};
    cbx_graph     *g = NULL, *copy = NULL;
    cbx_error      err = {0};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    CHECK_OK(cbx_graph_apply(g, NULL, 0, &copy, &err), err); /* owns what it needs */
    cbx_graph_free(g);
    free(x);
    return copy;
}

static cbx_model *model_of(const cbx_graph *g, int64_t layers)
{
    cbx_model_spec spec;
    cbx_model     *m = NULL;
    cbx_error      err = {0};
    cbx_fields_default(cbx_model_table(), &spec);
    spec.layers = layers;
    CHECK_OK(cbx_model_new_with(g, &spec, 1, &m, &err), err);
    return m;
}

static bool in_frame(const cbx_scene *s)
{
    for (int32_t i = 0; i < s->num_nodes; i++)
        if (!(s->nodes[i].x >= CBX_SCENE_MARGIN && s->nodes[i].y >= CBX_SCENE_MARGIN &&
              s->nodes[i].x <= CBX_SCENE_WIDTH - CBX_SCENE_MARGIN + 0.01 &&
              s->nodes[i].y <= CBX_SCENE_HEIGHT - CBX_SCENE_MARGIN + 0.01))
            return false;
    return true;
}

static double nearest(const cbx_scene *s)
{
    double least = INFINITY;
    for (int32_t i = 0; i < s->num_nodes; i++)
        for (int32_t k = 0; k < i; k++)
            least = fmin(least, hypot((double)s->nodes[i].x - s->nodes[k].x,
                                      (double)s->nodes[i].y - s->nodes[k].y));
    return least;
}

TEST(a_small_graph_is_drawn_whole)
{
    cbx_explain_options o = shown_options();
    shown               s = shown_make(8, &o);
    cbx_report          r;
    cbx_scene           scene;
    cbx_arena           arena = {0};
    cbx_error           err = {0};
    CHECK_OK(cbx_report_open(&r, s.lines, &s.source, &err), err);
    CHECK_OK(cbx_scene_make(&r, &arena, &scene, &err), err);
    CHECK_INT(scene.num_nodes, 34);
    CHECK_INT(scene.num_edges, 78); /* pairs: the club has 78 */
    CHECK_INT(scene.nodes[0].id, 8);
    CHECK(scene.undirected);
    CHECK(in_frame(&scene));
    CHECK(nearest(&scene) > 18); /* discs of radius 9 do not touch */
    cbx_arena_free(&arena);
    cbx_report_close(&r);
    shown_free(&s);
}

/* An answer on the comb: cut the far end of the tail. */
static void check_comb(int32_t leaves, int32_t expected)
{
    int64_t           *ends = calloc(8 * (size_t)(leaves + 6), sizeof *ends);
    cbx_graph         *g = comb(leaves, ends);
    cbx_model         *m = model_of(g, 5);
    cbx_edit           cut = {.op = CBX_REMOVE_EDGE,
                              .source = leaves + 4,
                              .target = leaves + 5,
                              .edge = -1,
                              .undirected = true};
    float              before[2] = {-0.1f, -2.3f}, after[2] = {-2.3f, -0.1f};
    cbx_counterfactual c = {.outcome = CBX_FOUND,
                            .reason = "",
                            .target = -1,
                            .result = 1,
                            .num_classes = 2,
                            .before = before,
                            .after = after,
                            .num_edits = 1,
                            .num_edges_removed = 1,
                            .edits = &cut};
    char              *line = cbx_counterfactual_json_with(&c, g, NULL, NULL, NULL);
    cbx_report_source  source = {.graph = g, .model = m};
    cbx_report         r;
    cbx_scene          scene;
    cbx_arena          arena = {0};
    cbx_error          err = {0};
    CHECK_OK(cbx_report_open(&r, line, &source, &err), err);
    CHECK_OK(cbx_scene_make(&r, &arena, &scene, &err), err);
    CHECK_INT(scene.num_nodes, expected);
    CHECK_INT(scene.all_nodes, leaves + 6);
    CHECK_INT(scene.nodes[0].id, 0);
    for (int32_t id = leaves + 1; id < leaves + 6; id++) /* the whole way to the edit */
        CHECK(cbx_scene_find(&scene, id) >= 0);
    CHECK(cbx_scene_edge_find(&scene, leaves + 5, leaves + 4) >= 0);
    CHECK_INT(cbx_scene_edge_find(&scene, 0, leaves + 5), -1);
    CHECK_INT(scene.num_edges, expected - 1); /* it is a tree */
    CHECK(in_frame(&scene));
    CHECK(nearest(&scene) > 18);
    cbx_arena_free(&arena);
    cbx_report_close(&r);
    free(line);
    cbx_model_free(m);
    cbx_graph_free(g);
    free(ends);
}

TEST(a_large_one_is_thinned_but_keeps_the_way_from_the_target_to_the_edits)
{
    check_comb(10, 16);
    check_comb(500, CBX_SCENE_MOST);
}

TEST(the_same_scene_has_the_same_places)
{
    cbx_explain_options o = shown_options();
    shown               s = shown_make(2, &o);
    cbx_report          r;
    cbx_scene           a, b;
    cbx_arena           arena = {0};
    cbx_error           err = {0};
    CHECK_OK(cbx_report_open(&r, s.lines, &s.source, &err), err);
    CHECK_OK(cbx_scene_make(&r, &arena, &a, &err), err);
    CHECK_OK(cbx_scene_make(&r, &arena, &b, &err), err);
    for (int32_t i = 0; i < a.num_nodes; i++)
        CHECK(a.nodes[i].id == b.nodes[i].id && a.nodes[i].x == b.nodes[i].x &&
              a.nodes[i].y == b.nodes[i].y && a.nodes[i].side == b.nodes[i].side);
    cbx_arena_free(&arena);
    cbx_report_close(&r);
    shown_free(&s);
}

TEST(without_a_graph_there_is_what_the_edits_name)
{
    cbx_explain_options o = shown_options();
    o.features_to_vary = "none";
    shown      s = shown_make(8, &o);
    cbx_report r;
    cbx_scene  scene;
    cbx_arena  arena = {0};
    cbx_error  err = {0};
    CHECK_OK(cbx_report_open(&r, s.lines, NULL, &err), err);
    CHECK_OK(cbx_scene_make(&r, &arena, &scene, &err), err);
    CHECK_INT(scene.all_nodes, 0);
    CHECK_INT(scene.num_edges, r.answers[0]->num_edits);
    CHECK(in_frame(&scene));
    for (int64_t i = 0; i < r.answers[0]->num_edits; i++)
        CHECK(cbx_scene_edge_find(&scene, r.answers[0]->edits[i].source,
                                  r.answers[0]->edits[i].target) >= 0);
    cbx_arena_free(&arena);
    cbx_report_close(&r);
    shown_free(&s);
}

/* 0 - 1 - 2 and 3 - 4, two graphs. Of two answers about the second, each adds a node, the first one
 * that is there in both. */
static void check_newcomers(bool with_graph)
{
    static const int64_t from[] = {0, 1, 1, 2, 3, 4}, to[] = {1, 0, 2, 1, 4, 3}, ptr[] = {0, 3, 5};
    static const float   x[] = {1, 2, 3, 4, 5}, before[] = {-0.1f, -2.3f}, after[] = {-2.3f, -0.1f};
    const cbx_edit       edits[] = {
              {.op = CBX_ADD_NODE, .source = 4, .target = 3, .edge = -1, .undirected = true},
              {.op = CBX_ADD_NODE, .source = 3, .target = 3, .edge = -1, .undirected = true},
    };
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = 5,
                        .num_features = 1,
                        .num_classes = 2,
                        .num_edges = 6,
                        .edge_source = from,
                        .edge_target = to,
                        .x = x,
                        .num_graphs = 2,
                        .graph_ptr = ptr};
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    char           lines[4096] = "";
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    cbx_model *m = model_of(g, 2);
    for (int k = 1; k <= 2; k++) {
        cbx_counterfactual c = {.task = CBX_GRAPH,
                                .row = 1,
                                .outcome = CBX_FOUND,
                                .reason = "",
                                .target = -1,
                                .result = 1,
                                .num_classes = 2,
                                .before = before,
                                .after = after,
                                .num_edits = k,
                                .num_nodes_added = k,
                                .edits = edits};
        char              *line = cbx_counterfactual_json_with(&c, g, NULL, NULL, NULL);
        strcat(strcat(lines, line), "\n");
        free(line);
    }
    cbx_report_source source = {.graph = with_graph ? g : NULL, .model = with_graph ? m : NULL};
    cbx_report        r;
    cbx_scene         scene;
    cbx_arena         arena = {0};
    CHECK_OK(cbx_report_open(&r, lines, &source, &err), err);
    CHECK_OK(cbx_scene_make(&r, &arena, &scene, &err), err);
    CHECK_INT(scene.num_nodes, with_graph ? 4 : 3);
    CHECK_INT(scene.all_nodes, with_graph ? 2 : 0);
    int32_t first = cbx_scene_place_of(&scene, &edits[0]);
    int32_t second = cbx_scene_place_of(&scene, &edits[1]);
    if (CHECK(first >= 0 && second >= 0 && first != second)) {
        CHECK_INT(cbx_scene_like(&scene.nodes[first]), 4);
        CHECK_INT(cbx_scene_like(&scene.nodes[second]), 3);
        CHECK(scene.nodes[first].edited && !strcmp(scene.nodes[first].name, "new"));
        CHECK(cbx_scene_shows(&scene, first, r.answers[0]));
        CHECK(!cbx_scene_shows(&scene, second, r.answers[0]));
        CHECK(cbx_scene_shows(&scene, second, r.answers[1]));
        int32_t edge = cbx_scene_edge_find(&scene, scene.nodes[second].id, 3);
        if (CHECK(edge >= 0)) {
            CHECK_INT(cbx_scene_added(&scene, edge, r.answers[0]), 0);
            CHECK_INT(cbx_scene_added(&scene, edge, r.answers[1]), 3);
        }
    }
    cbx_arena_free(&arena);
    cbx_report_close(&r);
    cbx_model_free(m);
    cbx_graph_free(g);
}

TEST(nodes_that_come_are_drawn_where_an_answer_adds_them)
{
    check_newcomers(true);
    check_newcomers(false);
}
