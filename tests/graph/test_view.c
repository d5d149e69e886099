/* SPDX-License-Identifier: Apache-2.0 */
/* Views: receptive fields against brute force, whole graphs, batches of graphs,
 * and the features that go with them. */
#include "view.h"

#include "random_graph.h"
#include "test.h"

enum { FAR = 1000 };

/* Steps from each node to `to` along the arrows: relaxed until nothing changes. */
static void distances(const cbx_graph_data *d, int32_t to, int32_t *steps)
{
    for (int32_t i = 0; i < d->num_nodes; i++)
        steps[i] = i == to ? 0 : FAR;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t e = 0; e < d->num_edges; e++) {
            int32_t by = steps[d->edge_target[e]] + 1;
            if (by < steps[d->edge_source[e]]) {
                steps[d->edge_source[e]] = by;
                changed = true;
            }
        }
    }
}

/* Every slot once by source, targets ascending, slots of one target in order. */
static void check_transposed(const cbx_view *v)
{
    bag      b = {0};
    int     *seen = TAKE(&b, int, v->m);
    int32_t *row = TAKE(&b, int32_t, v->m);
    int      wrong = v->out_offset[0] != 0 || v->out_offset[v->n] != v->m;
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t e = v->offset[i]; e < v->offset[i + 1]; e++) {
            row[e] = i;
            seen[e] = 0;
        }
    for (int32_t j = 0; j < v->n; j++)
        for (int64_t o = v->out_offset[j]; o < v->out_offset[j + 1]; o++) {
            int64_t e = v->out_slot[o];
            seen[e]++;
            wrong += v->source[e] != j || v->out_target[o] != row[e];
            wrong += o > v->out_offset[j] && v->out_target[o - 1] > v->out_target[o];
            wrong += o > v->out_offset[j] && v->out_slot[o - 1] >= e;
        }
    for (int64_t e = 0; e < v->m; e++)
        wrong += seen[e] != 1;
    CHECK_INT(wrong, 0);
    bag_free(&b);
}

/* What a view should be, found by brute force. */
typedef struct expected {
    int32_t *steps;  /* from each node to the target */
    bool    *inside; /* nodes */
    bool    *taken;  /* edges, by id */
} expected;

/* The view has exactly the edges taken, with their ids and weights, in the order of
 * ids within a row. */
static void check_edges(const random_graph *r, const cbx_view *v, const bool *taken)
{
    bag      b = {0};
    int32_t *at = TAKE(&b, int32_t, r->data.num_nodes);
    int64_t  count = 0;
    int      wrong = 0;
    for (int32_t i = 0; i < r->data.num_nodes; i++)
        at[i] = -1;
    for (int32_t i = 0; i < v->n; i++)
        at[v->node[i]] = i;
    for (int64_t e = 0; e < r->data.num_edges; e++)
        count += taken[e];
    CHECK_INT(v->m, count);
    CHECK_INT(v->offset[0], 0);
    CHECK_INT(v->offset[v->n], v->m);
    for (int32_t i = 0; i < v->n; i++)
        for (int64_t s = v->offset[i]; s < v->offset[i + 1]; s++) {
            int64_t e = v->edge[s];
            wrong += !taken[e] || at[r->data.edge_target[e]] != i;
            wrong += at[r->data.edge_source[e]] != v->source[s];
            wrong += s > v->offset[i] && v->edge[s - 1] >= e; /* so none is there twice */
            wrong += v->weight && v->weight[s] != r->data.edge_weight[e];
        }
    CHECK_INT(wrong, 0);
    CHECK((v->weight != NULL) == (r->data.edge_weight != NULL));
    bag_free(&b);
}

/* What each node has outside: the edges into it that were not taken. */
static void check_outside(const random_graph *r, const cbx_view *v, const bool *taken)
{
    for (int32_t i = 0; i < v->n; i++) {
        double weight = 0, count = 0;
        for (int64_t e = 0; e < r->data.num_edges; e++)
            if (r->data.edge_target[e] == v->node[i] && !taken[e]) {
                weight += r->data.edge_weight ? (double)r->data.edge_weight[e] : 1;
                count++;
            }
        CHECK_NEAR(v->outside_weight[i], weight, 1e-5);
        CHECK_NEAR(v->outside_count[i], count, 0);
    }
}

/* Nodes in the order of their distance, the prefixes, and the edges. */
static void check_view(const random_graph *r, const cbx_view *v, int32_t hops, const expected *x)
{
    int32_t wrong = 0;
    CHECK_INT(v->hops, hops);
    for (int32_t h = 0; h <= hops; h++) {
        int32_t within = 0;
        for (int32_t i = 0; i < r->data.num_nodes; i++)
            within += x->inside[i] && x->steps[i] <= h;
        CHECK_INT(v->prefix[h], within);
        CHECK_INT(cbx_view_rows(v, h), within);
        for (int32_t i = h ? v->prefix[h - 1] : 0; i < v->prefix[h]; i++)
            wrong += x->steps[v->node[i]] != h || !x->inside[v->node[i]];
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(v->n, v->prefix[hops]);
    CHECK_INT(cbx_view_rows(v, hops + 3), v->n);
    CHECK_INT(v->num_graphs, 0);
    check_edges(r, v, x->taken);
    check_transposed(v);
}

static expected expect(bag *b, const random_graph *r, int32_t node, int32_t hops)
{
    int32_t  n = r->data.num_nodes;
    expected x = {TAKE(b, int32_t, n), TAKE(b, bool, n), TAKE(b, bool, r->data.num_edges)};
    distances(&r->data, node, x.steps);
    for (int32_t i = 0; i < n; i++)
        x.inside[i] = x.steps[i] <= hops;
    for (int64_t e = 0; e < r->data.num_edges; e++)
        x.taken[e] = x.inside[r->data.edge_source[e]] && x.inside[r->data.edge_target[e]];
    return x;
}

static void check_around(const random_graph *r, int32_t node, int32_t hops)
{
    bag       b = {0};
    cbx_arena arena = {0};
    cbx_view  v;
    expected  x = expect(&b, r, node, hops);
    if (CHECK_INT(cbx_view_around(r->graph, node, hops, &arena, &v, NULL), CBX_OK)) {
        check_view(r, &v, hops, &x);
        CHECK_INT(v.left_out, 0);
        CHECK(!v.outside_weight && !v.outside_count);
    }
    cbx_arena_free(&arena);
    bag_free(&b);
}

/* A cone takes all edges into nodes before the last hop, and loops; the others into
 * its nodes are outside. */
static void check_cone(const random_graph *r, int32_t node, int32_t hops)
{
    bag       b = {0};
    cbx_arena arena = {0};
    cbx_view  v;
    expected  x = expect(&b, r, node, hops);
    for (int64_t e = 0; e < r->data.num_edges; e++) {
        int64_t s = r->data.edge_source[e], t = r->data.edge_target[e];
        x.taken[e] = x.inside[t] && (x.steps[t] < hops || s == t);
    }
    if (CHECK_INT(cbx_view_cone(r->graph, node, hops, &arena, &v, NULL), CBX_OK)) {
        check_view(r, &v, hops, &x);
        check_outside(r, &v, x.taken);
        CHECK_INT(v.left_out, 0);
    }
    cbx_arena_free(&arena);
    bag_free(&b);
}

/* At most so many nodes: which of the last hop is not said, so that is taken from
 * the view; but no node left out is nearer than one that is there. */
static void check_nearest(const random_graph *r, int32_t node, int32_t hops, int32_t most)
{
    bag       b = {0};
    cbx_arena arena = {0};
    cbx_view  v;
    expected  x = expect(&b, r, node, hops);
    int32_t   reached = 0, furthest = 0, links = 0, least = most > 1 ? most : 1;
    if (!CHECK_INT(cbx_view_nearest(r->graph, node, hops, most, &arena, &v, NULL), CBX_OK))
        return;
    for (int32_t i = 0; i < r->data.num_nodes; i++)
        reached += x.inside[i];
    CHECK_INT(v.n, reached < least ? reached : least);
    for (int32_t i = 0; i < r->data.num_nodes; i++)
        x.inside[i] = false;
    for (int32_t i = 0; i < v.n; i++) {
        x.inside[v.node[i]] = true;
        furthest = x.steps[v.node[i]] > furthest ? x.steps[v.node[i]] : furthest;
    }
    for (int32_t i = 0; i < r->data.num_nodes; i++)
        CHECK(x.inside[i] || x.steps[i] >= furthest);
    for (int64_t e = 0; e < r->data.num_edges; e++) {
        int64_t s = r->data.edge_source[e], t = r->data.edge_target[e];
        x.taken[e] = x.inside[s] && x.inside[t];
        links += x.inside[t] && x.steps[t] < hops && !x.inside[s];
    }
    check_view(r, &v, hops, &x);
    CHECK_INT(v.left_out, links);
    CHECK((v.outside_weight != NULL) == (links > 0));
    if (v.outside_weight)
        check_outside(r, &v, x.taken);
    cbx_arena_free(&arena);
    bag_free(&b);
}

TEST(receptive_fields_cones_and_the_nearest_are_what_brute_force_finds)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        random_graph r = make_graph((graph_shape){50, 60 + 15 * (int64_t)(seed % 4), 2,
                                                  .undirected = seed % 3 == 2, .weighted = seed % 2,
                                                  .seed = seed});
        for (int32_t node = 0; node < 50; node += 7) /* 49 has no edge */
            for (int32_t hops = 0; hops <= 4; hops++) {
                check_around(&r, node, hops);
                check_cone(&r, node, hops);
                for (int32_t most = 0; most < 20; most += 3)
                    check_nearest(&r, node, hops, most);
                check_nearest(&r, node, hops, INT32_MAX);
            }
        free_graph(&r);
    }
}

TEST(a_receptive_field_larger_than_a_first_hash_table)
{
    random_graph r = make_graph((graph_shape){600, 1800, 2, .weighted = true, .seed = 5});
    check_around(&r, (int32_t)r.data.edge_target[0], 6);
    check_cone(&r, (int32_t)r.data.edge_target[0], 6);
    check_nearest(&r, (int32_t)r.data.edge_target[0], 6, 100);
    free_graph(&r);
}

TEST(sorted_edges_keep_their_ids_in_a_receptive_field)
{
    /* 0 <- 1 <- 2, 0 <- 3, with the edges in order of targets; 2 is 2 hops away. */
    cbx_graph_data d = {.num_nodes = 4,
                        .num_features = 1,
                        .num_edges = 3,
                        .edge_source = (int64_t[]){1, 3, 2},
                        .edge_target = (int64_t[]){0, 0, 1},
                        .x = (float[]){0, 0, 0, 0}};
    cbx_graph     *g = NULL;
    cbx_arena      arena = {0};
    cbx_view       v;
    if (CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK) &&
        CHECK_INT(cbx_view_around(g, 1, 3, &arena, &v, NULL), CBX_OK)) {
        CHECK_INT(v.n, 2);
        CHECK_INT(v.m, 1);
        CHECK_INT(v.edge[0], 2);
        CHECK(v.prefix[0] == 1 && v.prefix[1] == 2 && v.prefix[2] == 2 && v.prefix[3] == 2);
    }
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(a_node_that_does_not_exist_is_refused)
{
    random_graph r = make_graph((graph_shape){8, 10, 1, .seed = 1});
    cbx_arena    arena = {0};
    cbx_view     v;
    cbx_error    err = {0};
    CHECK_INT(cbx_view_around(r.graph, 8, 1, &arena, &v, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "node 8 does not exist: nodes are 0 to 7");
    CHECK_INT(cbx_view_around(r.graph, -1, 1, &arena, &v, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "node -1 does not exist");
    CHECK_INT(cbx_view_cone(r.graph, 8, 1, &arena, &v, &err), CBX_INVALID);
    CHECK_INT(cbx_view_nearest(r.graph, -1, 1, 5, &arena, &v, &err), CBX_INVALID);
    cbx_arena_free(&arena);
    free_graph(&r);
}

TEST(the_whole_view_is_the_graph_itself)
{
    random_graph r = make_graph((graph_shape){40, 150, 2, .weighted = true, .seed = 2});
    cbx_arena    arena = {0};
    cbx_view     v;
    CHECK_INT(cbx_view_whole(r.graph, &arena, &v, NULL), CBX_OK);
    CHECK_INT(v.n, 40);
    CHECK_INT(v.m, 150);
    CHECK(v.node == NULL && v.edge == r.graph->in_edge);
    CHECK(v.offset == r.graph->in_offset && v.source == r.graph->in_source);
    CHECK(v.weight == r.graph->slot_weight);
    CHECK_INT(v.num_graphs, 0);
    for (int h = 0; h < 5; h++)
        CHECK_INT(cbx_view_rows(&v, h), 40);
    check_transposed(&v);
    cbx_arena_free(&arena);
    free_graph(&r);
}

/* ---- batches */

/* Graphs of 2, 3, 1 and 4 nodes; the edges are inside them, in no order. */
static const int64_t batch_ptr[] = {0, 2, 5, 6, 10};
static const int64_t batch_source[] = {9, 0, 4, 6, 3, 2, 5, 1, 8},
                     batch_target[] = {6, 1, 2, 9, 4, 2, 5, 0, 9};
static const float batch_weight[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const float batch_x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static cbx_graph *batch_graph(bool weighted)
{
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = 10,
                        .num_features = 1,
                        .num_graphs = 4,
                        .num_edges = 9,
                        .edge_source = batch_source,
                        .edge_target = batch_target,
                        .edge_weight = weighted ? batch_weight : NULL,
                        .x = batch_x,
                        .graph_ptr = batch_ptr};
    cbx_graph     *g = NULL;
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    return g;
}

static void check_batch(const cbx_graph *g, const int32_t *ids, int32_t count)
{
    cbx_arena arena = {0};
    cbx_view  v;
    cbx_error err = {0};
    if (!CHECK_OK(cbx_view_graphs(g, ids, count, &arena, &v, &err), err))
        return;
    int32_t at = 0;
    int64_t edges = 0;
    CHECK_INT(v.num_graphs, count);
    for (int32_t k = 0; k < count; k++) {
        int64_t a = batch_ptr[ids[k]], b = batch_ptr[ids[k] + 1];
        CHECK_INT(v.graph_ptr[k], at);
        for (int64_t node = a; node < b; node++, at++) {
            CHECK_INT(v.node[at], node);
            CHECK_INT(v.offset[at], edges);
            for (int64_t e = 0; e < 9; e++) {
                if (batch_target[e] != node)
                    continue;
                CHECK_INT(v.edge[edges], e);
                CHECK_INT(v.source[edges], batch_source[e] - a + v.graph_ptr[k]);
                CHECK(!v.weight || v.weight[edges] == batch_weight[e]);
                edges++;
            }
        }
    }
    CHECK_INT(v.graph_ptr[count], at);
    CHECK_INT(v.n, at);
    CHECK_INT(v.m, edges);
    CHECK_INT(v.offset[at], edges);
    CHECK_INT(cbx_view_rows(&v, 0), at);
    CHECK((v.weight != NULL) == (g->slot_weight != NULL));
    check_transposed(&v);
    cbx_arena_free(&arena);
}

TEST(a_batch_has_its_graphs_in_the_order_asked_for)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        cbx_graph *g = batch_graph(weighted);
        check_batch(g, (int32_t[]){0, 1, 2, 3}, 4);
        check_batch(g, (int32_t[]){3, 0}, 2);
        check_batch(g, (int32_t[]){2}, 1);
        check_batch(g, NULL, 0);
        cbx_graph_free(g);
    }
}

TEST(a_batch_may_have_a_graph_twice)
{
    cbx_graph *g = batch_graph(true);
    check_batch(g, (int32_t[]){1, 1, 3, 1}, 4);
    cbx_graph_free(g);
}

TEST(the_whole_view_of_a_graph_task_has_all_graphs)
{
    cbx_graph *g = batch_graph(true);
    cbx_arena  arena = {0};
    cbx_view   v;
    CHECK_INT(cbx_view_whole(g, &arena, &v, NULL), CBX_OK);
    CHECK_INT(v.num_graphs, 4);
    for (int k = 0; k <= 4; k++)
        CHECK_INT(v.graph_ptr[k], batch_ptr[k]);
    check_transposed(&v);
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

TEST(a_graph_that_does_not_exist_is_refused)
{
    cbx_graph *g = batch_graph(true);
    cbx_arena  arena = {0};
    cbx_view   v;
    cbx_error  err = {0};
    CHECK_INT(cbx_view_graphs(g, (int32_t[]){1, 4}, 2, &arena, &v, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "graph 4 does not exist: graphs are 0 to 3");
    CHECK_INT(cbx_view_graphs(g, (int32_t[]){-1}, 1, &arena, &v, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "graph -1 does not exist");
    cbx_arena_free(&arena);
    cbx_graph_free(g);
}

/* ---- features */

TEST(features_are_gathered_as_sparse_as_they_were)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        random_graph r = make_graph((graph_shape){50, 120, 7, .sparse = sparse, .seed = 3});
        bag          b = {0};
        cbx_arena    arena = {0};
        cbx_view     v;
        cbx_matrix   X;
        int32_t      node = (int32_t)r.data.edge_target[0];
        CHECK_INT(cbx_view_around(r.graph, node, 6, &arena, &v, NULL), CBX_OK);
        CHECK_INT(cbx_view_features(r.graph, &v, &arena, &X, NULL), CBX_OK);
        CHECK(v.n > 10);
        CHECK_INT(X.rows, v.n);
        CHECK_INT(X.cols, 7);
        CHECK((X.dense == NULL) == sparse);
        float *out = filled(&b, (int64_t)v.n * 7, -9);
        cbx_matrix_expand(&X, v.n, out);
        for (int32_t i = 0; i < v.n; i++) {
            CHECK(same_bits(7, out + i * 7, r.x + v.node[i] * 7));
            if (sparse)
                CHECK_INT(X.csr.offset[i + 1] - X.csr.offset[i],
                          r.data.x_indptr[v.node[i] + 1] - r.data.x_indptr[v.node[i]]);
        }
        cbx_arena_free(&arena);
        bag_free(&b);
        free_graph(&r);
    }
}

TEST(features_of_the_whole_graph_are_borrowed)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        random_graph r = make_graph((graph_shape){20, 30, 4, .sparse = sparse, .seed = 4});
        cbx_arena    arena = {0};
        cbx_view     v;
        cbx_matrix   X;
        CHECK_INT(cbx_view_whole(r.graph, &arena, &v, NULL), CBX_OK);
        CHECK_INT(cbx_view_features(r.graph, &v, &arena, &X, NULL), CBX_OK);
        CHECK(X.dense == r.data.x);
        CHECK(X.csr.offset == r.data.x_indptr && X.csr.column == r.data.x_indices &&
              X.csr.value == r.data.x_values);
        CHECK(X.by_column.offset == NULL);
        CHECK(X.rows == 20 && X.cols == 4);
        cbx_arena_free(&arena);
        free_graph(&r);
    }
}

/* ---- memory */

static cbx_status around(void *user)
{
    const cbx_graph *g = user;
    cbx_arena        arena = {0};
    cbx_view         v;
    cbx_matrix       X;
    cbx_error        err = {0};
    cbx_status       status = cbx_view_around(g, 0, 8, &arena, &v, &err);
    if (!status)
        status = cbx_view_features(g, &v, &arena, &X, &err);
    if (!status)
        status = cbx_view_nearest(g, 0, 8, 20, &arena, &v, &err);
    if (!status)
        status = cbx_view_cone(g, 0, 8, &arena, &v, &err);
    CHECK_INT(err.status, status);
    cbx_arena_free(&arena);
    return status;
}

static cbx_status whole(void *user)
{
    cbx_arena  arena = {0};
    cbx_view   v;
    cbx_error  err = {0};
    cbx_status status = cbx_view_whole(user, &arena, &v, &err);
    CHECK_INT(err.status, status);
    cbx_arena_free(&arena);
    return status;
}

static cbx_status batch(void *user)
{
    static const int32_t ids[300] = {3, 2, 1, 0};
    cbx_arena            arena = {0};
    cbx_view             v;
    cbx_error            err = {0};
    cbx_status           status = cbx_view_graphs(user, ids, 300, &arena, &v, &err);
    CHECK_INT(err.status, status);
    cbx_arena_free(&arena);
    return status;
}

TEST(views_survive_the_failure_of_any_allocation)
{
    static const graph_shape shapes[] = {
        {30, 60, 2, .seed = 1},
        {200, 800, 2, .weighted = true, .sparse = true, .seed = 2},
        {1500, 4000, 40, .weighted = true, .sparse = true, .seed = 3},
        {1000, 9000, 40, .weighted = true, .seed = 4},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        random_graph r = make_graph(shapes[i]);
        test_each_allocation(around, r.graph);
        test_each_allocation(whole, r.graph);
        free_graph(&r);
    }
    cbx_graph *g = batch_graph(true);
    test_each_allocation(batch, g);
    test_each_allocation(whole, g);
    cbx_graph_free(g);
}
