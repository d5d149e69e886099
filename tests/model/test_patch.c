/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings after edges are gone: what a patch says against the embedding of a graph
 * that never had them. */
#include "../search/oracle.h"
#include "embedding.h"
#include "graph.h"
#include "test.h"

static int32_t target_of(const cbx_graph *g, int64_t slot)
{
    int32_t t = 0;
    while (g->in_offset[t + 1] <= slot)
        t++;
    return t;
}

/* Draws edges that are no loops; returns how many. */
static int64_t draw_edges(const cbx_graph *g, cbx_rng *rng, int64_t most, cbx_lost_edge *lost,
                          cbx_edit *edits)
{
    int64_t count = 0;
    for (int64_t k = 0; k < most; k++) {
        int64_t slot = (int64_t)cbx_rng_below(rng, (uint64_t)g->data.num_edges);
        int32_t target = target_of(g, slot);
        bool    again = g->in_source[slot] == target;
        for (int64_t i = 0; i < count; i++)
            again |= lost[i].slot == slot;
        if (again)
            continue;
        lost[count] = (cbx_lost_edge){slot, target};
        edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                    .source = g->in_source[slot],
                                    .target = target,
                                    .edge = cbx_graph_edge_id(g, slot)};
    }
    return count;
}

/* Largest difference of any row to that of the edited graph. */
static double difference(const oracle *o, const cbx_patch *P, const cbx_edit *edits, int64_t count)
{
    cbx_graph    *edited = NULL;
    cbx_embedding after;
    cbx_arena     arena = {0};
    cbx_error     err = {0};
    double        worst = 0;
    oracle_must(cbx_graph_apply(o->graph, edits, count, &edited, &err), &err);
    oracle_must(cbx_embedding_init(&after, o->model, edited, 1, &arena, &err), &err);
    for (int32_t i = 0; i < o->data.num_nodes; i++) {
        double d = test_difference(after.width, cbx_patch_row(P, i), cbx_embedding_row(&after, i));
        worst = d > worst ? d : worst;
    }
    cbx_arena_free(&arena);
    cbx_graph_free(edited);
    return worst;
}

static void check_oracle(oracle_shape shape)
{
    oracle        o = oracle_make(shape);
    cbx_arena     arena = {0};
    cbx_embedding E;
    cbx_patch     P;
    cbx_error     err = {0};
    cbx_rng       rng = cbx_rng_stream(3, 1, 4, 1);
    cbx_lost_edge lost[12];
    cbx_edit      edits[12];
    CHECK_OK(cbx_embedding_init(&E, o.model, o.graph, 1, &arena, &err), err);
    CHECK_OK(cbx_patch_init(&P, &E, &arena, &err), err);
    for (int turn = 0; turn < 20; turn++) { /* one after the other: nothing may stay behind */
        int64_t count = draw_edges(o.graph, &rng, 1 + turn % 12, lost, edits);
        CHECK_OK(cbx_patch_remove(&P, lost, count, &err), err);
        CHECK(difference(&o, &P, edits, count) < 1e-5);
    }
    CHECK_OK(cbx_patch_remove(&P, NULL, 0, &err), err);
    CHECK_INT(P.fresh[o.model->num_layers - 1].count, 0);
    CHECK(difference(&o, &P, NULL, 0) < 1e-6);
    cbx_patch_free(&P);
    cbx_arena_free(&arena);
    oracle_free(&o);
}

TEST(a_patch_is_the_embedding_of_the_graph_without_the_edges)
{
    static const char *const convs[] = {"gcn", "graphconv", "graphconv", "graphconv", "gin", "gat"};
    static const char *const how[] = {"add", "add", "mean", "max", "add", "add"};
    for (int i = 0; i < 6; i++)
        for (int way = 0; way < 4; way++)
            check_oracle((oracle_shape){.conv = convs[i],
                                        .aggregation = how[i],
                                        .nodes = 40,
                                        .directed = way % 2,
                                        .sparse = way / 2});
}

TEST(so_is_that_of_layers_with_skip_connections_and_batch_normalisation)
{
    static const char *const convs[] = {"gcn", "sage", "gin", "gat"};
    for (int i = 0; i < 4; i++)
        for (int way = 0; way < 4; way++)
            check_oracle((oracle_shape){.conv = convs[i],
                                        .nodes = 40,
                                        .block = true,
                                        .directed = way % 2,
                                        .sparse = way / 2});
}

TEST(so_is_that_of_chebyshev_layers_of_order_1_to_4)
{
    for (int64_t order = 1; order <= 4; order++)
        for (int directed = 0; directed < 2; directed++)
            check_oracle((oracle_shape){.conv = "cheb",
                                        .order = order,
                                        .nodes = 40,
                                        .directed = directed,
                                        .sparse = directed});
}

/* On a ring of 40 with chords of its own, two GCN layers: the rows that an edge reaches. */
TEST(only_rows_within_reach_of_the_edge_are_computed)
{
    enum { N = 40 };
    bag      b = {0};
    int64_t *source = TAKE(&b, int64_t, 2 * N), *target = TAKE(&b, int64_t, 2 * N);
    float   *x = TAKE(&b, float, N);
    int64_t *y = TAKE(&b, int64_t, N);
    for (int i = 0; i < N; i++) {
        source[2 * i] = target[2 * i + 1] = i;
        target[2 * i] = source[2 * i + 1] = (i + 1) % N;
        x[i] = (float)(i % 5);
        y[i] = i % 2;
    }
    cbx_graph_data d = {.num_nodes = N,
                        .num_edges = 2 * N,
                        .num_features = 1,
                        .num_classes = 2,
                        .edge_source = source,
                        .edge_target = target,
                        .x = x,
                        .y = y};
    oracle         o = {0};
    cbx_arena      arena = {0};
    cbx_embedding  E;
    cbx_patch      P;
    cbx_error      err = {0};
    oracle_must(cbx_graph_new(&d, &o.graph, &err), &err);
    oracle_train(&o, (oracle_shape){.nodes = N});
    CHECK_OK(cbx_embedding_init(&E, o.model, o.graph, 1, &arena, &err), err);
    CHECK_OK(cbx_patch_init(&P, &E, &arena, &err), err);
    /* 9 -> 10: degrees of 9 and 10 may change, so rows 8 … 11, then one more each side */
    int64_t slot = o.graph->in_offset[10];
    slot += o.graph->in_source[slot] != 9;
    CHECK_INT(o.graph->in_source[slot], 9);
    CHECK_OK(cbx_patch_remove(&P, &(cbx_lost_edge){slot, 10}, 1, &err), err);
    CHECK_INT(P.fresh[0].count, 4);
    CHECK_INT(P.fresh[1].count, 6);
    for (int32_t i = 0; i < N; i++)
        CHECK((P.fresh[1].place[i] != 0) == (i >= 7 && i <= 12));
    cbx_patch_free(&P);
    cbx_arena_free(&arena);
    oracle_free(&o);
    bag_free(&b);
}

static cbx_status patch_once(void *user)
{
    const oracle *o = user;
    cbx_arena     arena = {0};
    cbx_embedding E;
    cbx_patch     P = {0};
    cbx_error     err = {0};
    cbx_status    status = cbx_embedding_init(&E, o->model, o->graph, 1, &arena, &err);
    if (!status)
        status = cbx_patch_init(&P, &E, &arena, &err);
    if (!status)
        status = cbx_patch_remove(&P, &(cbx_lost_edge){0, target_of(o->graph, 0)}, 1, &err);
    cbx_patch_free(&P);
    cbx_arena_free(&arena);
    return status;
}

TEST(a_patch_survives_every_failing_allocation)
{
    oracle o = oracle_make((oracle_shape){.nodes = 0});
    oracle m = oracle_make(
        (oracle_shape){.conv = "graphconv", .aggregation = "max", .nodes = 30, .sparse = true});
    test_each_allocation(patch_once, &o);
    test_each_allocation(patch_once, &m);
    oracle_free(&o);
    oracle_free(&m);
}
