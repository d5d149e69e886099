/* SPDX-License-Identifier: Apache-2.0 */
/* Choices that are said to be as good as one another, against all ways of renaming the nodes. */
#include "symmetry.h"

#include "rng.h"
#include "test.h"

enum { NODES = 5, MOST = NODES * NODES };

typedef struct world {
    cbx_rng           rng;
    bool              edge[NODES][NODES], offered[NODES][NODES], fixed[NODES][NODES]; /* from, to */
    float             x[NODES];
    int64_t           local[NODES];
    bool              directed;
    int32_t           apart;
    int64_t           offset[NODES + 1];
    int32_t           source[MOST], choice[NODES][NODES]; /* or -1 */
    uint8_t           absent[MOST];
    cbx_view          view;
    cbx_partial_graph graph;
    cbx_arena         arena;
} world;

static bool chance(world *w, uint64_t of)
{
    return cbx_rng_below(&w->rng, of) == 0;
}

static void draw_edges(world *w)
{
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = 0; v < NODES; v++) {
            bool mirrored = v < u && !w->directed;
            w->edge[u][v] = mirrored ? w->edge[v][u] : u != v && chance(w, 2);
            w->offered[u][v] = mirrored ? w->offered[v][u] : u != v && chance(w, 2);
            w->fixed[u][v] = mirrored ? w->fixed[v][u] : chance(w, 12);
        }
    /* what node 1 has, node 2 has, and sometimes node 3 */
    for (int32_t twin = 2; twin <= 2 + (int32_t)cbx_rng_below(&w->rng, 2); twin++)
        for (int32_t v = 0; v < NODES; v++) {
            if (v == 1 || v == twin)
                continue;
            w->edge[twin][v] = w->edge[1][v];
            w->edge[v][twin] = w->edge[v][1];
            w->offered[twin][v] = w->offered[1][v];
            w->offered[v][twin] = w->offered[v][1];
            w->fixed[twin][v] = w->fixed[1][v];
            w->fixed[v][twin] = w->fixed[v][1];
        }
}

/* A slot for every edge that is there or may come. */
static void make_view(world *w)
{
    int64_t m = 0;
    for (int32_t v = 0; v < NODES; v++) {
        w->offset[v] = m;
        for (int32_t u = 0; u < NODES; u++)
            if (w->edge[u][v] || w->offered[u][v]) {
                w->source[m] = u;
                w->absent[m++] = !w->edge[u][v];
            }
    }
    w->offset[NODES] = m;
    w->view = (cbx_view){.n = NODES, .m = m, .offset = w->offset, .source = w->source};
}

static int64_t slot_of(const world *w, int32_t u, int32_t v)
{
    for (int64_t e = w->offset[v]; e < w->offset[v + 1]; e++)
        if (w->source[e] == u)
            return e;
    return -1;
}

static void add_choices(world *w)
{
    for (int32_t u = 0; u < NODES; u++)
        for (int32_t v = 0; v < NODES; v++) {
            int64_t slots[2] = {slot_of(w, u, v), slot_of(w, v, u)};
            if (slots[0] < 0 || w->fixed[u][v] || (!w->directed && v < u))
                continue;
            w->choice[u][v] = w->graph.count;
            if (!w->directed)
                w->choice[v][u] = w->graph.count;
            cbx_partial_graph_add(&w->graph, slots, w->directed ? 1 : 2, u, v, !w->edge[u][v]);
        }
}

static void draw_world(world *w, uint64_t seed)
{
    cbx_error err = {0};
    *w = (world){.rng = cbx_rng_stream(seed, 0, 0, 0)};
    w->directed = chance(w, 3);
    w->apart = chance(w, 2) ? 0 : -1;
    draw_edges(w);
    make_view(w);
    for (int32_t v = 0; v < NODES; v++) {
        w->x[v] = chance(w, 4) ? 1 : 0;
        for (int32_t u = 0; u < NODES; u++)
            w->choice[v][u] = -1;
    }
    CHECK_OK(
        cbx_partial_graph_init(&w->graph, &w->view, w->absent, MOST, w->view.m, &w->arena, &err),
        err);
    for (int32_t v = 0; v < NODES; v++)
        w->graph.local[v] = chance(w, 8) ? 1 : 2;
    add_choices(w);
    CHECK_OK(cbx_partial_graph_ready(&w->graph, &w->arena, &err), err);
    for (int32_t c = 0; c < w->graph.count; c++)
        w->graph.fate[c] = (uint8_t)(chance(w, 8)   ? CBX_MADE
                                     : chance(w, 5) ? CBX_BARRED
                                                    : CBX_FREE);
}

/* Is all the same where each node is called as `name` says? */
static bool is_renaming(const world *w, const int32_t *name)
{
    for (int32_t u = 0; u < NODES; u++) {
        if (w->x[u] != w->x[name[u]] || w->graph.local[u] != w->graph.local[name[u]] ||
            (u == w->apart && name[u] != u))
            return false;
        for (int32_t v = 0; v < NODES; v++) {
            int32_t a = w->choice[u][v], b = w->choice[name[u]][name[v]];
            if (w->edge[u][v] != w->edge[name[u]][name[v]] ||
                (slot_of(w, u, v) < 0) != (slot_of(w, name[u], name[v]) < 0) ||
                (a < 0) != (b < 0) || (a >= 0 && w->graph.fate[a] != w->graph.fate[b]))
                return false;
        }
    }
    return true;
}

/* Does a renaming of the nodes from `at` on make choice b of choice a? */
static bool some_renaming(const world *w, int32_t *name, int32_t at, int32_t a, int32_t b)
{
    if (at == NODES) {
        bool leads = false;
        for (int32_t u = 0; u < NODES; u++)
            for (int32_t v = 0; v < NODES; v++)
                leads = leads || (w->choice[u][v] == a && w->choice[name[u]][name[v]] == b);
        return leads && is_renaming(w, name);
    }
    for (int32_t v = 0; v < NODES; v++) {
        bool taken = false;
        for (int32_t u = 0; u < at; u++)
            taken = taken || name[u] == v;
        name[at] = v;
        if (!taken && some_renaming(w, name, at + 1, a, b))
            return true;
    }
    return false;
}

TEST(what_is_said_to_be_alike_is_so_by_some_renaming_of_nodes)
{
    int64_t alike = 0;
    for (uint64_t seed = 0; seed < 3000 && test_failures() == 0; seed++) {
        world        w;
        cbx_symmetry s;
        cbx_error    err = {0};
        int32_t      orbit[MOST], name[NODES];
        draw_world(&w, seed);
        cbx_matrix X = cbx_matrix_dense(NODES, 1, w.x);
        CHECK_OK(cbx_symmetry_find(&s, &w.graph, &X, w.apart, &w.arena, &err), err);
        for (int32_t c = 0; c < w.graph.count; c++) {
            int64_t count = cbx_symmetry_orbit(&s, w.graph.fate, c, orbit);
            CHECK(count >= 1 && orbit[0] == c);
            alike += count > 1;
            for (int64_t k = 1; k < count; k++)
                CHECK(some_renaming(&w, name, 0, c, orbit[k]));
        }
        cbx_arena_free(&w.arena);
    }
    CHECK(alike > 500);
}

/* A star: all its edges, and where one is made, all others. */
TEST(leaves_of_one_node_that_are_alike_are_found)
{
    world        w = {.apart = 0};
    cbx_symmetry s;
    cbx_error    err = {0};
    int32_t      orbit[MOST];
    for (int32_t v = 1; v < NODES; v++)
        w.edge[0][v] = w.edge[v][0] = true;
    make_view(&w);
    CHECK_OK(cbx_partial_graph_init(&w.graph, &w.view, NULL, MOST, w.view.m, &w.arena, &err), err);
    add_choices(&w);
    CHECK_OK(cbx_partial_graph_ready(&w.graph, &w.arena, &err), err);
    cbx_matrix X = cbx_matrix_dense(NODES, 1, w.x);
    CHECK_OK(cbx_symmetry_find(&s, &w.graph, &X, 0, &w.arena, &err), err);
    CHECK(s.any);
    CHECK_INT(w.graph.count, NODES - 1);
    CHECK_INT(cbx_symmetry_orbit(&s, w.graph.fate, 1, orbit), NODES - 1);
    w.graph.fate[0] = CBX_MADE;
    CHECK_INT(cbx_symmetry_orbit(&s, w.graph.fate, 1, orbit), NODES - 2);
    w.x[NODES - 1] = 1; /* which is not like the others any more */
    CHECK_OK(cbx_symmetry_find(&s, &w.graph, &X, 0, &w.arena, &err), err);
    CHECK_INT(cbx_symmetry_orbit(&s, w.graph.fate, 1, orbit), NODES - 3);
    cbx_arena_free(&w.arena);
}
