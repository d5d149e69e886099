/* SPDX-License-Identifier: Apache-2.0 */
/* random_graph.h: graphs for tests, with loops, duplicates and lonely nodes. */
#ifndef CBX_TEST_RANDOM_GRAPH_H
#define CBX_TEST_RANDOM_GRAPH_H

#include "../core/bag.h"
#include "graph.h"

typedef struct graph_shape {
    int32_t  nodes;
    int64_t  edges;
    int32_t  features;
    bool     undirected; /* every u -> v with its v -> u */
    bool     weighted;   /* 0.2 to 2 */
    bool     sparse;     /* features as CSR */
    uint64_t seed;
} graph_shape;

typedef struct random_graph {
    bag            bag;
    cbx_graph_data data;
    cbx_graph     *graph;
    float         *x; /* the features, dense */
} random_graph;

/* Every ninth edge is a loop and every seventh repeats an earlier one; the last
 * node has no edge. */
static inline void random_edges(random_graph *r, graph_shape s, cbx_rng *rng)
{
    int64_t *source = TAKE(&r->bag, int64_t, s.edges), *target = TAKE(&r->bag, int64_t, s.edges);
    float   *weight = TAKE(&r->bag, float, s.edges);
    uint64_t linked = s.nodes > 1 ? (uint64_t)s.nodes - 1 : 1;
    for (int64_t e = 0; e < s.edges; e++) {
        source[e] = (int64_t)cbx_rng_below(rng, linked);
        target[e] = e % 9 == 5 ? source[e] : (int64_t)cbx_rng_below(rng, linked);
        weight[e] = draw(rng, 0.2, 2);
        if (e % 7 == 6) {
            int64_t before = (int64_t)cbx_rng_below(rng, (uint64_t)e);
            source[e] = source[before];
            target[e] = target[before];
        }
        if (s.undirected && e % 2) {
            source[e] = target[e - 1];
            target[e] = source[e - 1];
        }
    }
    r->data.num_edges = s.edges;
    r->data.edge_source = source;
    r->data.edge_target = target;
    r->data.edge_weight = s.weighted ? weight : NULL;
}

/* A third of the entries are not 0, and some of the zeros are stored. */
static inline void random_features(random_graph *r, graph_shape s, cbx_rng *rng)
{
    int64_t  size = (int64_t)s.nodes * s.features, at = 0;
    int64_t *indptr = TAKE(&r->bag, int64_t, s.nodes + 1);
    int32_t *column = TAKE(&r->bag, int32_t, size);
    float   *value = TAKE(&r->bag, float, size);
    r->x = TAKE(&r->bag, float, size);
    for (int64_t k = 0; k < size; k++) {
        uint64_t kind = cbx_rng_below(rng, 6);
        if (k % s.features == 0)
            indptr[k / s.features] = at;
        r->x[k] = kind < 2 ? draw(rng, -1, 1) : 0;
        if (kind < 3) {
            column[at] = (int32_t)(k % s.features);
            value[at++] = r->x[k];
        }
    }
    indptr[s.nodes] = at;
    r->data.x = s.sparse ? NULL : r->x;
    r->data.x_indptr = s.sparse ? indptr : NULL;
    r->data.x_indices = s.sparse ? column : NULL;
    r->data.x_values = s.sparse ? value : NULL;
    r->data.num_x_values = s.sparse ? at : 0;
}

static inline random_graph make_graph(graph_shape s)
{
    random_graph r = {.data = {.num_nodes = s.nodes, .num_features = s.features}};
    cbx_rng      rng = cbx_rng_stream(s.seed, (uint64_t)s.nodes, (uint64_t)s.edges, 1);
    cbx_error    err;
    random_edges(&r, s, &rng);
    random_features(&r, s, &rng);
    if (cbx_graph_new(&r.data, &r.graph, &err)) {
        printf("  %s\n", err.message);
        exit(1);
    }
    return r;
}

static inline void free_graph(random_graph *r)
{
    cbx_graph_free(r->graph);
    bag_free(&r->bag);
}

#endif
