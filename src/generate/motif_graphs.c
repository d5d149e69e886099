/* SPDX-License-Identifier: Apache-2.0 */
/* motif_graphs.c: BA-Shapes, Tree-Cycles and Tree-Grid (Ying et al., 2019).
 *
 * A base graph, with copies of one small motif hung onto it, and some random
 * edges as noise. The class of a node is its place in a motif, or 0 in the base.
 * All features are 1: only the structure tells the classes apart, so a good
 * explanation of a motif's node is the motif.
 *
 * Noise is one edge in a hundred, and every other cycle, by chance, has a second
 * link to the tree: with these the published instances have the sizes they have. */
#include "builtin.h"

#include "error.h"

/* A small graph; its node 0 is the one linked to the base. */
typedef struct motif {
    int32_t        nodes;
    int32_t        edges;
    const uint8_t *role;      /* nodes: the class of each */
    const uint8_t (*edge)[2]; /* edges */
} motif;

/*   4      the roof: top
 *  0 1     middle
 *  3 2     bottom  */
static const motif house = {
    .nodes = 5,
    .edges = 6,
    .role = (const uint8_t[]){1, 1, 2, 2, 3},
    .edge = (const uint8_t[][2]){{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}, {4, 1}},
};

static const motif cycle = {
    .nodes = 6,
    .edges = 6,
    .role = (const uint8_t[]){1, 1, 1, 1, 1, 1},
    .edge = (const uint8_t[][2]){{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}},
};

static const uint8_t grid_edges[][2] = {
    {0, 1}, {1, 2}, {3, 4}, {4, 5}, {6, 7}, {7, 8}, /* rows */
    {0, 3}, {3, 6}, {1, 4}, {4, 7}, {2, 5}, {5, 8}, /* columns */
};

static const motif grid = {
    .nodes = 9,
    .edges = 12,
    .role = (const uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1},
    .edge = grid_edges,
};

enum {
    BA_NODES = 300,
    BA_LINKS = 5,
    BA_EDGES = BA_LINKS * (BA_NODES - BA_LINKS),
    TREE_NODES = 511, /* a binary tree of depth 8 */
    MOST_BASE_NODES = TREE_NODES,
    MOST_BASE_EDGES = BA_EDGES,
    DEFAULT_FEATURES = 10,
    NOISE_SHARE = 100, /* one edge of so many */
};

typedef struct recipe {
    const motif *motif;
    int64_t      motifs; /* as published */
    int32_t      base;   /* nodes */
    void (*grow)(cbx_pair_set *edges, cbx_rng *rng);
    bool               second_links;
    int32_t            classes;
    const char *const *class_names;
} recipe;

static void grow_ba(cbx_pair_set *edges, cbx_rng *rng)
{
    cbx_pair pairs[BA_EDGES];
    int32_t  seen[BA_NODES] = {0};
    cbx_grow_preferential(rng, BA_NODES, BA_LINKS, seen, pairs);
    for (int32_t k = 0; k < BA_EDGES; k++)
        cbx_pair_set_add(edges, pairs[k].a, pairs[k].b);
}

static void grow_tree(cbx_pair_set *edges, cbx_rng *rng)
{
    (void)rng;
    for (int32_t v = 1; v < TREE_NODES; v++)
        cbx_pair_set_add(edges, (v - 1) / 2, v);
}

static void hang(const recipe *r, cbx_pair_set *edges, cbx_rng *rng, int32_t anchor, int32_t first)
{
    for (int32_t k = 0; k < r->motif->edges; k++)
        cbx_pair_set_add(edges, first + r->motif->edge[k][0], first + r->motif->edge[k][1]);
    cbx_pair_set_add(edges, anchor, first);
    if (r->second_links && cbx_rng_below(rng, 2)) {
        int32_t from = first + 1 + (int32_t)cbx_rng_below(rng, 3);
        int32_t to = anchor + 1 + (int32_t)cbx_rng_below(rng, 3);
        cbx_pair_set_add(edges, from, to % r->base);
    }
}

static void add_noise(cbx_pair_set *edges, cbx_rng *rng, int32_t n)
{
    for (int64_t left = edges->count / NOISE_SHARE; left > 0;) {
        int32_t a = (int32_t)cbx_rng_below(rng, (uint64_t)n);
        int32_t b = (int32_t)cbx_rng_below(rng, (uint64_t)n);
        if (a != b && cbx_pair_set_add(edges, a, b))
            left--;
    }
}

static cbx_status add_edges(cbx_graph *g, const recipe *r, int64_t motifs, cbx_rng rng,
                            cbx_error *err)
{
    cbx_arena    scratch = {0};
    cbx_pair_set edges;
    int64_t      most = MOST_BASE_EDGES + motifs * (r->motif->edges + 2);
    if (!cbx_pair_set_init(&edges, &scratch, most + most / NOISE_SHARE))
        return cbx_fail_memory(err);
    r->grow(&edges, &rng);
    int32_t anchors[MOST_BASE_NODES]; /* all different while there are enough */
    for (int32_t i = 0; i < r->base; i++)
        anchors[i] = i;
    cbx_rng_shuffle(&rng, anchors, r->base);
    for (int64_t k = 0; k < motifs; k++)
        hang(r, &edges, &rng, anchors[k % r->base], (int32_t)(r->base + k * r->motif->nodes));
    add_noise(&edges, &rng, g->data.num_nodes);
    int64_t    count = edges.count;
    cbx_status status = cbx_builtin_connect(g, cbx_pair_set_list(&edges), count, err);
    cbx_arena_free(&scratch);
    return status;
}

static cbx_status make(cbx_graph *g, const cbx_generate_options *o, const recipe *r, cbx_error *err)
{
    int64_t  motifs = o->motifs ? o->motifs : r->motifs;
    int32_t  n = (int32_t)(r->base + motifs * r->motif->nodes);
    int32_t  f = o->features ? (int32_t)o->features : DEFAULT_FEATURES;
    int64_t  size = (int64_t)n * f;
    float   *x = CBX_NEW(&g->arena, float, size);
    int64_t *y = CBX_NEW(&g->arena, int64_t, n);
    if (!x || !y)
        return cbx_fail_memory(err);
    for (int64_t k = 0; k < size; k++)
        x[k] = 1;
    for (int32_t i = 0; i < n; i++)
        y[i] = i < r->base ? 0 : r->motif->role[(i - r->base) % r->motif->nodes];
    g->data.num_nodes = n;
    g->data.num_features = f;
    g->data.num_classes = r->classes;
    g->data.x = x;
    g->data.y = y;
    g->data.class_names = r->class_names;
    return add_edges(g, r, motifs, cbx_builtin_rng(o, CBX_DRAW_EDGES), err);
}

/* ---- the three */

static const recipe ba_shapes = {
    .motif = &house,
    .motifs = 80,
    .base = BA_NODES,
    .grow = grow_ba,
    .classes = 4,
    .class_names = (const char *const[]){"base", "middle", "bottom", "top"},
};

static const recipe tree_cycles = {
    .motif = &cycle,
    .motifs = 60,
    .base = TREE_NODES,
    .grow = grow_tree,
    .second_links = true,
    .classes = 2,
    .class_names = (const char *const[]){"tree", "cycle"},
};

static const recipe tree_grid = {
    .motif = &grid,
    .motifs = 80,
    .base = TREE_NODES,
    .grow = grow_tree,
    .classes = 2,
    .class_names = (const char *const[]){"tree", "grid"},
};

static cbx_status make_ba_shapes(cbx_graph *g, const cbx_generate_options *o, cbx_error *err)
{
    return make(g, o, &ba_shapes, err);
}

static cbx_status make_tree_cycles(cbx_graph *g, const cbx_generate_options *o, cbx_error *err)
{
    return make(g, o, &tree_cycles, err);
}

static cbx_status make_tree_grid(cbx_graph *g, const cbx_generate_options *o, cbx_error *err)
{
    return make(g, o, &tree_grid, err);
}

static const char *const motif_options[] = {"features", "motifs", NULL};

const cbx_builtin cbx_builtin_ba_shapes = {
    .name = "ba-shapes",
    .about = "a Barabási–Albert graph with houses; classes: base, middle, bottom, top",
    .options = motif_options,
    .make = make_ba_shapes,
};

const cbx_builtin cbx_builtin_tree_cycles = {
    .name = "tree-cycles",
    .about = "a binary tree with cycles of six; classes: tree, cycle",
    .options = motif_options,
    .make = make_tree_cycles,
};

const cbx_builtin cbx_builtin_tree_grid = {
    .name = "tree-grid",
    .about = "a binary tree with grids of three by three; classes: tree, grid",
    .options = motif_options,
    .make = make_tree_grid,
};
