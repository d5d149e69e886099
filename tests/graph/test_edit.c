/* SPDX-License-Identifier: Apache-2.0 */
/* Edits on views: which slots go, what is left, and features with new values. */
#include "edit.h"

#include <math.h>

#include "random_graph.h"
#include "test.h"

/* 0 -> 1 twice (ids 0 and 3), 1 -> 0 (id 1), a loop at 2 (id 2), 3 -> 2 (id 4). In
 * graph tasks, nodes 0 and 1 are one graph, 2 and 3 the other. */
static const int64_t source[] = {0, 1, 2, 0, 3}, target[] = {1, 0, 2, 1, 2}, ends[] = {0, 2, 4};
static const float   weight[] = {1, 2, 3, 4, 5}, x[] = {0, 1, 2, 3, 4, 5, 6, 7};

typedef struct scene {
    cbx_graph *graph;
    cbx_arena  arena;
    cbx_view   view;
    cbx_places places;
    cbx_matrix X;
} scene;

/* The whole graph, or one graph of a graph task. */
static void set_scene(scene *s, int32_t graph)
{
    cbx_graph_data d = {.task = graph >= 0 ? CBX_GRAPH : CBX_NODE,
                        .num_nodes = 4,
                        .num_features = 2,
                        .num_graphs = graph >= 0 ? 2 : 0,
                        .num_edges = 5,
                        .edge_source = source,
                        .edge_target = target,
                        .edge_weight = weight,
                        .x = x,
                        .graph_ptr = graph >= 0 ? ends : NULL};
    *s = (scene){0};
    CHECK_INT(cbx_graph_new(&d, &s->graph, NULL), CBX_OK);
    CHECK_INT(graph < 0 ? cbx_view_whole(s->graph, &s->arena, &s->view, NULL)
                        : cbx_view_graphs(s->graph, &graph, 1, &s->arena, &s->view, NULL),
              CBX_OK);
    CHECK_INT(cbx_view_features(s->graph, &s->view, &s->arena, &s->X, NULL), CBX_OK);
    CHECK_INT(cbx_places_init(&s->places, &s->view), 0);
    CHECK_INT(s->places.map.count, 0); /* no table needed */
}

static void retire(scene *s)
{
    cbx_places_free(&s->places);
    cbx_arena_free(&s->arena);
    cbx_graph_free(s->graph);
}

static cbx_edit removal(int32_t from, int32_t to, int64_t edge)
{
    return (cbx_edit){
        .op = CBX_REMOVE_EDGE, .source = from, .target = to, .edge = edge, .undirected = edge < 0};
}

static cbx_edit setting(int32_t node, int32_t feature, float to)
{
    return (cbx_edit){.op = CBX_SET_FEATURE, .node = node, .feature = feature, .to = to};
}

/* The ids that the edits remove, as a set of bits. */
static int removed(const scene *s, const cbx_edit *edits, int64_t count)
{
    uint8_t   drop[5] = {9, 9, 9, 9, 9};
    cbx_error err = {0};
    int       bits = 0;
    CHECK_OK(cbx_edits_mark(s->graph, &s->places, edits, count, drop, &err), err);
    for (int64_t e = 0; e < s->view.m; e++) {
        CHECK(drop[e] <= 1);
        bits |= drop[e] << (s->view.edge ? s->view.edge[e] : e);
    }
    return bits;
}

static void refused(const scene *s, cbx_edit edit, const char *what)
{
    uint8_t   drop[5];
    cbx_edit  both[] = {{.op = CBX_SET_FEATURE, .node = s->view.node ? s->view.node[0] : 0}, edit};
    cbx_error err = {0};
    CHECK_INT(cbx_edits_mark(s->graph, &s->places, both, 2, drop, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "edit 1");
    CHECK_CONTAINS(err.message, what);
}

TEST(a_directed_removal_takes_one_id)
{
    scene s;
    set_scene(&s, -1);
    CHECK_INT(removed(&s, NULL, 0), 0);
    CHECK_INT(removed(&s, (cbx_edit[]){removal(0, 1, 3)}, 1), 1 << 3);
    CHECK_INT(removed(&s, (cbx_edit[]){removal(0, 1, 0), removal(1, 0, 1)}, 2), 1 << 0 | 1 << 1);
    CHECK_INT(removed(&s, (cbx_edit[]){removal(2, 2, 2), setting(0, 0, 5)}, 2), 1 << 2);
    retire(&s);
}

TEST(an_undirected_removal_takes_all_edges_between_two_nodes)
{
    scene s;
    set_scene(&s, -1);
    CHECK_INT(removed(&s, (cbx_edit[]){removal(1, 0, -1)}, 1), 1 << 0 | 1 << 1 | 1 << 3);
    CHECK_INT(removed(&s, (cbx_edit[]){removal(2, 3, -1)}, 1), 1 << 4); /* one way is enough */
    CHECK_INT(removed(&s, (cbx_edit[]){removal(2, 2, -1)}, 1), 1 << 2);
    retire(&s);
}

TEST(an_edit_of_what_is_not_there_is_refused)
{
    scene s;
    set_scene(&s, -1);
    refused(&s, (cbx_edit){.op = (cbx_edit_op)7}, "there is no kind of edit 7");
    refused(&s, removal(1, 2, 1), "no edge from node 1 to node 2");
    refused(&s, removal(0, 1, 1), "no edge from node 0 to node 1"); /* another edge's id */
    refused(&s, removal(1, 3, -1), "no edge from node 1 to node 3");
    refused(&s, removal(4, 0, -1), "no edge from node 4 to node 0");
    refused(&s, removal(0, -1, 0), "no edge from node 0 to node -1");
    refused(&s, setting(4, 0, 1), "no feature 0 of node 4");
    refused(&s, setting(-1, 0, 1), "no feature 0 of node -1");
    refused(&s, setting(0, 2, 1), "no feature 2 of node 0");
    refused(&s, setting(0, -1, 1), "no feature -1 of node 0");
    refused(&s, setting(3, 1, NAN), "feature 1 of node 3 to nan");
    refused(&s, setting(3, 1, INFINITY), "feature 1 of node 3 to inf");
    retire(&s);
}

TEST(one_graph_of_a_graph_task_is_edited_by_the_numbers_of_all)
{
    scene s;
    set_scene(&s, 1); /* nodes 2 and 3 */
    CHECK_INT(removed(&s, (cbx_edit[]){removal(3, 2, 4)}, 1), 1 << 4);
    CHECK_INT(removed(&s, (cbx_edit[]){removal(2, 2, 2), setting(2, 0, 0)}, 2), 1 << 2);
    refused(&s, removal(1, 0, 1), "no edge from node 1 to node 0");
    refused(&s, setting(1, 0, 1), "no feature 0 of node 1");
    refused(&s, setting(4, 0, 1), "no feature 0 of node 4");
    refused(&s, setting(INT32_MIN, 0, 1), "no feature 0 of node -2147483648");
    retire(&s);
}

TEST(a_receptive_field_is_edited_by_the_numbers_of_the_graph)
{
    /* Around node 1: itself and 0, which have the numbers 0 and 1 there. The slots
     * are ids 0 3 | 1. */
    scene      s;
    cbx_view   field;
    cbx_matrix X, out;
    uint8_t    drop[5];
    set_scene(&s, -1);
    CHECK_INT(cbx_view_around(s.graph, 1, 1, &s.arena, &field, NULL), CBX_OK);
    CHECK_INT(cbx_places_init(&s.places, &field), 0);
    CHECK_INT(cbx_places_find(&s.places, 1), 0);
    CHECK_INT(cbx_places_find(&s.places, 0), 1);
    CHECK_INT(cbx_places_find(&s.places, 2), -1);
    CHECK_INT(cbx_places_find(&s.places, -1), -1);
    cbx_edit edits[] = {removal(0, 1, 3), setting(0, 0, 50)};
    CHECK_INT(cbx_edits_mark(s.graph, &s.places, edits, 2, drop, NULL), CBX_OK);
    CHECK(field.m == 3 && drop[0] == 0 && drop[1] == 1 && drop[2] == 0);
    CHECK_INT(cbx_view_features(s.graph, &field, &s.arena, &X, NULL), CBX_OK);
    CHECK_INT(cbx_features_edited(&s.places, &X, edits, 2, &s.arena, &out, NULL), CBX_OK);
    CHECK(out.dense[0] == 2 && out.dense[1] == 3 && out.dense[2] == 50 && out.dense[3] == 1);
    edits[1].node = 2; /* of the graph, but not here */
    CHECK_INT(cbx_edits_mark(s.graph, &s.places, edits, 2, drop, NULL), CBX_INVALID);
    retire(&s);
}

static cbx_status find_places(void *user)
{
    cbx_places places;
    if (cbx_places_init(&places, user))
        return CBX_NO_MEMORY;
    cbx_places_free(&places);
    return CBX_OK;
}

TEST(places_survive_the_failure_of_any_allocation)
{
    random_graph r = make_graph((graph_shape){400, 1600, 1, .seed = 1});
    cbx_arena    arena = {0};
    cbx_view     v;
    CHECK_INT(cbx_view_around(r.graph, (int32_t)r.data.edge_target[0], 9, &arena, &v, NULL),
              CBX_OK);
    test_each_allocation(find_places, &v);
    cbx_arena_free(&arena);
    free_graph(&r);
}

TEST(a_view_without_slots_has_the_others_in_order)
{
    /* Slots are ids 1 | 0 3 | 2 4 |; without 0 and 2: 1 | 3 | 4 |. */
    static const int64_t offset[] = {0, 1, 2, 3, 3}, edge[] = {1, 3, 4};
    static const int32_t from[] = {1, 0, 3};
    scene                s;
    cbx_view             left;
    set_scene(&s, -1);
    CHECK_INT(cbx_view_without(&s.view, (uint8_t[]){0, 1, 0, 1, 0}, &s.arena, &left, NULL), CBX_OK);
    CHECK_INT(left.n, 4);
    CHECK_INT(left.m, 3);
    for (int i = 0; i <= 4; i++)
        CHECK_INT(left.offset[i], offset[i]);
    for (int e = 0; e < 3; e++) {
        CHECK_INT(left.source[e], from[e]);
        CHECK_INT(left.edge[e], edge[e]);
        CHECK_NEAR(left.weight[e], weight[edge[e]], 0);
        for (int64_t o = left.out_offset[from[e]]; o < left.out_offset[from[e] + 1]; o++)
            CHECK_INT(left.source[left.out_slot[o]], from[e]);
    }
    CHECK_INT(left.out_offset[4], 3);
    CHECK_INT(left.prefix[0], 4);
    retire(&s);
}

TEST(dense_features_take_their_new_values)
{
    scene      s;
    cbx_matrix out;
    cbx_edit edits[] = {setting(3, 1, 70), removal(1, 0, 1), setting(2, 0, 40), setting(3, 1, 71)};
    set_scene(&s, 1);
    CHECK_INT(cbx_features_edited(&s.places, &s.X, edits, 4, &s.arena, &out, NULL), CBX_OK);
    CHECK(out.rows == 2 && out.cols == 2 && out.dense != s.X.dense);
    CHECK(out.dense[0] == 40 && out.dense[1] == 5 && out.dense[2] == 6 && out.dense[3] == 71);
    CHECK(s.X.dense[0] == 4 && s.X.dense[3] == 7); /* the original stays */
    retire(&s);
}

/* The last edit of each entry is what the matrix has there; -1: never edited. */
static int last_edit(const cbx_edit *edits, int count, int32_t node, int32_t feature)
{
    for (int k = count - 1; k >= 0; k--)
        if (edits[k].node == node && edits[k].feature == feature)
            return k;
    return -1;
}

/* Ascending columns, and no zero stored where an edit put one. */
static void check_rows(const cbx_matrix *X, const cbx_edit *edits, int count)
{
    for (int32_t i = 0; i < X->rows; i++)
        for (int64_t e = X->csr.offset[i]; e < X->csr.offset[i + 1]; e++) {
            CHECK(e == X->csr.offset[i] || X->csr.column[e - 1] < X->csr.column[e]);
            CHECK(X->csr.value[e] != 0 || last_edit(edits, count, i, X->csr.column[e]) < 0);
        }
}

TEST(sparse_features_are_edited_as_dense_ones)
{
    /* 40 random edits, some of the same entries, some to 0. */
    enum { NODES = 12, F = 7, EDITS = 40 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        graph_shape  shape = {NODES, 20, F, .seed = seed};
        random_graph r[2] = {make_graph(shape), (shape.sparse = true, make_graph(shape))};
        bag          b = {0};
        cbx_arena    arena = {0};
        cbx_rng      rng = cbx_rng_stream(1, seed, 0, 0);
        cbx_edit     edits[EDITS];
        cbx_matrix   X, out[2];
        cbx_view     v;
        for (int k = 0; k < EDITS; k++)
            edits[k] = setting((int32_t)cbx_rng_below(&rng, NODES), (int32_t)cbx_rng_below(&rng, F),
                               k % 3 ? draw(&rng, 1, 2) : 0);
        for (int k = 0; k < 2; k++) {
            CHECK_INT(cbx_view_whole(r[k].graph, &arena, &v, NULL), CBX_OK);
            CHECK_INT(cbx_view_features(r[k].graph, &v, &arena, &X, NULL), CBX_OK);
            cbx_places places = {.view = &v};
            CHECK_INT(cbx_features_edited(&places, &X, edits, EDITS, &arena, &out[k], NULL),
                      CBX_OK);
        }
        for (int32_t k = 0; k < NODES * F; k++) {
            int edit = last_edit(edits, EDITS, k / F, k % F);
            CHECK(out[0].dense[k] == (edit < 0 ? r[0].x[k] : edits[edit].to));
        }
        float *expanded = filled(&b, NODES * F, NAN);
        cbx_matrix_expand(&out[1], NODES, expanded);
        CHECK(same_bits(NODES * F, expanded, out[0].dense));
        check_rows(&out[1], edits, EDITS);
        cbx_arena_free(&arena);
        bag_free(&b);
        free_graph(&r[0]);
        free_graph(&r[1]);
    }
}

TEST(setting_a_sparse_entry_to_zero_takes_it_out)
{
    /* Rows (1 . 2), (. . .), (. 3 .): the 2 goes, a 4 comes to row 1, and of two edits
     * of one entry the later counts. */
    static const int64_t indptr[] = {0, 2, 2, 3}, offset[] = {0, 1, 2, 2};
    static const int32_t columns[] = {0, 2, 1}, column[] = {0, 1};
    static const float   values[] = {1, 2, 3}, value[] = {1, 4};
    cbx_graph_data       d = {.num_nodes = 3, .num_features = 3};
    cbx_edit             edits[] = {setting(0, 2, 0), setting(1, 1, 9),     setting(1, 1, 4),
                                    setting(2, 1, 5), setting(2, 1, -0.0f), setting(1, 0, 0)};
    cbx_graph           *g = NULL, *edited = NULL;
    d.x_indptr = indptr;
    d.x_indices = columns;
    d.x_values = values;
    d.num_x_values = 3;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    CHECK_INT(cbx_graph_apply(g, edits, 6, &edited, NULL), CBX_OK);
    const cbx_graph_data *n = cbx_graph_arrays(edited);
    for (int i = 0; i <= 3; i++)
        CHECK_INT(n->x_indptr[i], offset[i]);
    CHECK_INT(n->num_x_values, 2);
    for (int k = 0; k < 2; k++)
        CHECK(n->x_indices[k] == column[k] && n->x_values[k] == value[k]);
    cbx_graph_free(edited);
    cbx_graph_free(g);
}

static cbx_status edit_once(void *user)
{
    const random_graph *r = user;
    cbx_arena           arena = {0};
    cbx_view            v, left;
    cbx_matrix          X, out;
    cbx_error           err = {0};
    static uint8_t      drop[10000];
    static cbx_edit     edits[200];
    for (int k = 0; k < 200; k++)
        edits[k] = setting(k % 20, k % 3, 1);
    cbx_status status = cbx_view_whole(r->graph, &arena, &v, &err);
    if (!status)
        status = cbx_view_features(r->graph, &v, &arena, &X, &err);
    if (!status)
        status = cbx_view_without(&v, drop, &arena, &left, &err);
    if (!status)
        status = cbx_features_edited(&(cbx_places){.view = &v}, &X, edits, 200, &arena, &out, &err);
    CHECK_INT(err.status, status);
    cbx_arena_free(&arena);
    return status;
}

TEST(edits_survive_the_failure_of_any_allocation)
{
    static const graph_shape shapes[] = {
        {20, 60, 3, .sparse = true, .seed = 1},
        {20, 3000, 3, .weighted = true, .seed = 2},
        {900, 400, 60, .weighted = true, .sparse = true, .seed = 3},
        {900, 400, 60, .seed = 4},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        random_graph r = make_graph(shapes[i]);
        test_each_allocation(edit_once, &r);
        free_graph(&r);
    }
}
