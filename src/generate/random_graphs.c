/* SPDX-License-Identifier: Apache-2.0 */
/* random_graphs.c: Erdős–Rényi and Barabási–Albert graphs of any size.
 *
 * Something in them can be learnt, or a model trained on them would explain
 * nothing: every node has a hidden kind, drawn at random, which shows in its
 * features (kind c raises the features c, c + classes, c + 2 classes, …), and its
 * class is the commonest kind among itself and its neighbours. So the class needs
 * both the features and the edges. */
#include "builtin.h"

#include "error.h"

enum { DEFAULT_FEATURES = 16 };

static cbx_status check(const cbx_generate_options *o, cbx_error *err)
{
    if (o->degree > (double)(o->nodes - 1))
        return cbx_fail_option(err, "degree", "%g neighbours, but %lld nodes have at most %lld",
                               o->degree, (long long)o->nodes, (long long)o->nodes - 1);
    if (o->classes > o->nodes)
        return cbx_fail_option(err, "classes", "%lld classes, but only %lld nodes",
                               (long long)o->classes, (long long)o->nodes);
    return CBX_OK;
}

/* ---- features and labels */

/* In [0, 1]; the largest of three draws where the kind raises the feature, else
 * the smallest: the two overlap, and no function that rounds is needed. */
static void draw_features(cbx_rng *rng, int32_t kind, int32_t classes, int32_t f, float *row)
{
    for (int32_t j = 0; j < f; j++) {
        bool   raised = j % classes == kind;
        double value = cbx_rng_uniform(rng);
        for (int draw = 1; draw < 3; draw++) {
            double other = cbx_rng_uniform(rng);
            if ((other > value) == raised)
                value = other;
        }
        row[j] = (float)value;
    }
}

/* Of the kinds tied for the commonest, the one that got there first: counting
 * starts with the node itself. */
static void label_by_majority(const cbx_graph_data *d, const int32_t *kind, int32_t *count,
                              int64_t *y)
{
    int64_t begin = 0, end = 0;
    for (int32_t i = 0; i < d->num_nodes; i++, begin = end) {
        int32_t best = kind[i];
        count[best] = 1;
        for (; end < d->num_edges && d->edge_source[end] == i; end++) {
            int32_t other = kind[d->edge_target[end]];
            if (++count[other] > count[best])
                best = other;
        }
        y[i] = best;
        count[kind[i]] = 0;
        for (int64_t e = begin; e < end; e++)
            count[kind[d->edge_target[e]]] = 0;
    }
}

static cbx_status describe_nodes(cbx_graph *g, const cbx_generate_options *o, cbx_error *err)
{
    int32_t   n = g->data.num_nodes, classes = (int32_t)o->classes;
    int32_t   f = o->features ? (int32_t)o->features : DEFAULT_FEATURES;
    int64_t   size = (int64_t)n * f;
    cbx_arena scratch = {0};
    float    *x = CBX_NEW(&g->arena, float, size);
    int64_t  *y = CBX_NEW(&g->arena, int64_t, n);
    int32_t  *kind = CBX_NEW(&scratch, int32_t, n);
    int32_t  *count = CBX_NEW0(&scratch, int32_t, classes);
    if (!x || !y || !kind || !count) {
        cbx_arena_free(&scratch);
        return cbx_fail_memory(err);
    }
    cbx_rng kinds = cbx_builtin_rng(o, CBX_DRAW_KINDS);
    cbx_rng features = cbx_builtin_rng(o, CBX_DRAW_FEATURES);
    for (int32_t i = 0; i < n; i++) {
        kind[i] = (int32_t)cbx_rng_below(&kinds, (uint64_t)classes);
        draw_features(&features, kind[i], classes, f, x + (int64_t)i * f);
    }
    label_by_majority(&g->data, kind, count, y);
    g->data.num_features = f;
    g->data.num_classes = classes;
    g->data.x = x;
    g->data.y = y;
    cbx_arena_free(&scratch);
    return CBX_OK;
}

/* ---- Erdős–Rényi: all graphs with so many edges are equally likely */

/* Pairs that are there already are drawn again. That is rare in sparse graphs,
 * and for a complete one costs a logarithm. */
static void draw_pairs(cbx_rng *rng, int32_t n, int64_t count, cbx_pair_set *edges)
{
    while (edges->count < count) {
        int32_t a = (int32_t)cbx_rng_below(rng, (uint64_t)n);
        int32_t b = (int32_t)cbx_rng_below(rng, (uint64_t)n - 1);
        cbx_pair_set_add(edges, a, b + (b >= a));
    }
}

static cbx_status make_erdos_renyi(cbx_graph *g, const cbx_generate_options *o, cbx_error *err)
{
    cbx_status status = check(o, err);
    if (status)
        return status;
    int64_t all = o->nodes * (o->nodes - 1) / 2;
    int64_t count = (int64_t)((double)o->nodes * o->degree * 0.5 + 0.5);
    count = count < all ? count : all; /* the product may have been rounded up */
    cbx_arena    scratch = {0};
    cbx_pair_set edges;
    if (!cbx_pair_set_init(&edges, &scratch, count))
        return cbx_fail_memory(err);
    cbx_rng rng = cbx_builtin_rng(o, CBX_DRAW_EDGES);
    g->data.num_nodes = (int32_t)o->nodes;
    draw_pairs(&rng, g->data.num_nodes, count, &edges);
    status = cbx_builtin_connect(g, cbx_pair_set_list(&edges), count, err);
    cbx_arena_free(&scratch);
    return status ? status : describe_nodes(g, o, err);
}

static const char *const random_options[] = {"nodes", "degree", "features", "classes", NULL};

const cbx_builtin cbx_builtin_erdos_renyi = {
    .name = "erdos-renyi",
    .about = "a random graph of any size, all edges equally likely, with random features",
    .options = random_options,
    .make = make_erdos_renyi,
};

/* ---- Barabási–Albert */

void cbx_grow_preferential(cbx_rng *rng, int32_t n, int32_t links, int32_t *seen, cbx_pair *pairs)
{
    int64_t count = 0;
    for (int32_t v = links; v < n; v++) {
        /* A random end of a random edge is a node drawn in proportion to its
         * degree. The first newcomer finds no edges, and takes all who are there. */
        int64_t known = count;
        for (int32_t found = 0; found < links;) {
            int32_t to = found;
            if (known > 0) {
                uint64_t end = cbx_rng_below(rng, 2 * (uint64_t)known);
                to = end % 2 ? pairs[end / 2].b : pairs[end / 2].a;
            }
            if (seen[to] == v) /* v >= links >= 1, so 0 is nobody */
                continue;
            seen[to] = v;
            pairs[count++] = (cbx_pair){to, v};
            found++;
        }
    }
}

static cbx_status make_barabasi_albert(cbx_graph *g, const cbx_generate_options *o, cbx_error *err)
{
    cbx_status status = check(o, err);
    if (status)
        return status;
    int32_t n = (int32_t)o->nodes, links = (int32_t)(o->degree * 0.5 + 0.5);
    links = links > 0 ? links : 1; /* fewer than n, since the degree is */
    int64_t   count = (int64_t)links * (n - links);
    cbx_arena scratch = {0};
    cbx_pair *pairs = CBX_NEW(&scratch, cbx_pair, count);
    int32_t  *seen = CBX_NEW0(&scratch, int32_t, n);
    if (!pairs || !seen) {
        cbx_arena_free(&scratch);
        return cbx_fail_memory(err);
    }
    cbx_rng rng = cbx_builtin_rng(o, CBX_DRAW_EDGES);
    g->data.num_nodes = n;
    cbx_grow_preferential(&rng, n, links, seen, pairs);
    status = cbx_builtin_connect(g, pairs, count, err);
    cbx_arena_free(&scratch);
    return status ? status : describe_nodes(g, o, err);
}

const cbx_builtin cbx_builtin_barabasi_albert = {
    .name = "barabasi-albert",
    .about = "a random graph of any size with a few hubs, with random features",
    .options = random_options,
    .make = make_barabasi_albert,
};
