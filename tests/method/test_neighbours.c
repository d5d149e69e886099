/* SPDX-License-Identifier: Apache-2.0 */
/* The importance of edges against a count by brute force: the embedding of a graph that
 * never had them, all distances in double, sorted. */
#include "neighbours.h"

#include "../search/oracle.h"
#include "test.h"

typedef struct ranked {
    double  distance;
    int32_t node;
} ranked;

static int by_distance(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* The nearest `count` of all nodes; false: rounding decides which. */
static bool nearest(const oracle *o, const cbx_graph *graph, int32_t node, int32_t count,
                    int32_t *out)
{
    cbx_arena     arena = {0};
    cbx_embedding E;
    cbx_error     err = {0};
    bag           b = {0};
    int32_t       n = o->data.num_nodes, found = 0;
    ranked       *all = TAKE(&b, ranked, n);
    oracle_must(cbx_embedding_init(&E, o->model, graph, 1, &arena, &err), &err);
    for (int32_t i = 0; i < n; i++) {
        if (i == node)
            continue;
        all[found] = (ranked){0, i};
        for (int32_t k = 0; k < E.width; k++) {
            double gap = (double)cbx_embedding_row(&E, i)[k] - cbx_embedding_row(&E, node)[k];
            all[found].distance += gap * gap;
        }
        found++;
    }
    qsort(all, (size_t)found, sizeof *all, by_distance);
    for (int32_t k = 0; k < count; k++)
        out[k] = all[k].node;
    bool sure = all[count].distance - all[count - 1].distance > 1e-6 * all[count].distance;
    cbx_arena_free(&arena);
    bag_free(&b);
    return sure;
}

/* The share that changes; -1: rounding decides. */
static double brute_force(const oracle *o, int32_t node, const cbx_edit *edits, int64_t count)
{
    int32_t    before[5], after[5], same = 0;
    cbx_graph *edited = NULL;
    cbx_error  err = {0};
    oracle_must(cbx_graph_apply(o->graph, edits, count, &edited, &err), &err);
    bool sure = nearest(o, o->graph, node, 5, before) && nearest(o, edited, node, 5, after);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++)
            same += before[i] == after[k];
    cbx_graph_free(edited);
    return sure ? (5 - same) / 5.0 : -1;
}

static void check_oracle(oracle_shape shape, int *checked, int *moved)
{
    oracle         o = oracle_make(shape);
    cbx_arena      arena = {0};
    cbx_embedding  E;
    cbx_neighbours N;
    cbx_error      err = {0};
    cbx_rng        rng = cbx_rng_stream(8, 2, 8, 4);
    oracle_must(cbx_embedding_init(&E, o.model, o.graph, 1, &arena, &err), &err);
    for (int32_t node = 0; node < o.data.num_nodes; node += 3) {
        CHECK_OK(cbx_neighbours_init(&N, &E, node, 5, &arena, &err), err);
        for (int turn = 0; turn < 4; turn++) {
            cbx_edit      edits[3];
            cbx_lost_edge lost[3];
            int64_t       count = 0;
            double        importance = -2;
            for (int32_t t = node; count < 3 && t < o.data.num_nodes; t++) {
                int64_t begin = o.graph->in_offset[t], size = o.graph->in_offset[t + 1] - begin;
                int64_t slot = begin + (int64_t)cbx_rng_below(&rng, (uint64_t)(size ? size : 1));
                int32_t source = size ? o.graph->in_source[slot] : t;
                if (source == t)
                    continue;
                lost[count] = (cbx_lost_edge){slot, t};
                edits[count++] = (cbx_edit){.op = CBX_REMOVE_EDGE,
                                            .source = source,
                                            .target = t,
                                            .edge = cbx_graph_edge_id(o.graph, slot)};
            }
            double expected = brute_force(&o, node, edits, count);
            CHECK_OK(cbx_neighbours_importance(&N, lost, count, &importance, &err), err);
            if (expected < 0)
                continue;
            CHECK_NEAR(importance, expected, 1e-9);
            ++*checked;
            *moved += expected > 0;
        }
        cbx_patch_free(&N.patch);
    }
    cbx_arena_free(&arena);
    oracle_free(&o);
}

TEST(importance_is_what_a_count_by_brute_force_gives)
{
    static const char *const convs[] = {"gcn", "cheb", "graphconv", "graphconv", "graphconv"};
    static const char *const how[] = {"add", "add", "add", "mean", "max"};
    int                      checked = 0, moved = 0;
    for (int i = 0; i < 5; i++)
        for (int directed = 0; directed < 2; directed++)
            check_oracle((oracle_shape){.conv = convs[i],
                                        .order = 3,
                                        .aggregation = how[i],
                                        .nodes = 40,
                                        .directed = directed,
                                        .sparse = i % 2,
                                        .seed = 2},
                         &checked, &moved);
    CHECK(checked > 300 && moved > 100);
}
