/* SPDX-License-Identifier: Apache-2.0 */
/* test_builtin.c: the built-in graphs are what the literature describes, and stay so. */
#include "test.h"

#include <string.h>

static cbx_generate_options defaults(void)
{
    cbx_generate_options o;
    cbx_fields_default(cbx_generate_table(), &o);
    return o;
}

static cbx_graph *make(const char *name, const cbx_generate_options *o)
{
    cbx_error  err = {0};
    cbx_graph *g = NULL;
    CHECK_OK(cbx_graph_builtin_with(name, o, &g, &err), err);
    return g;
}

static void check_refused(const char *name, const cbx_generate_options *o, const char *part)
{
    cbx_error  err = {0};
    cbx_graph *g = NULL;
    CHECK_INT(cbx_graph_builtin_with(name, o, &g, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, part);
    CHECK(!g);
}

/* Edges are sorted by source, then target. */
static bool has_edge(const cbx_graph_data *d, int64_t source, int64_t target)
{
    int64_t low = 0, high = d->num_edges;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        bool    before = d->edge_source[mid] < source ||
                      (d->edge_source[mid] == source && d->edge_target[mid] < target);
        if (before)
            low = mid + 1;
        else
            high = mid;
    }
    return low < d->num_edges && d->edge_source[low] == source && d->edge_target[low] == target;
}

static int64_t degree(const cbx_graph_data *d, int64_t node)
{
    int64_t count = 0;
    for (int64_t e = 0; e < d->num_edges; e++)
        count += d->edge_source[e] == node;
    return count;
}

static void check_simple(const cbx_graph_data *d)
{
    int64_t loops = 0, one_way = 0, unsorted = 0, wrong_label = 0;
    for (int64_t e = 0; e < d->num_edges; e++) {
        int64_t s = d->edge_source[e], t = d->edge_target[e];
        loops += s == t;
        one_way += !has_edge(d, t, s);
        if (e > 0 && (d->edge_source[e - 1] > s ||
                      (d->edge_source[e - 1] == s && d->edge_target[e - 1] >= t)))
            unsorted++; /* or a duplicate */
    }
    for (int32_t i = 0; i < d->num_nodes; i++)
        wrong_label += d->y[i] < 0 || d->y[i] >= d->num_classes;
    CHECK_INT(loops, 0);
    CHECK_INT(one_way, 0);
    CHECK_INT(unsorted, 0);
    CHECK_INT(wrong_label, 0);
}

/* FNV-1a over edges, labels and features, byte by byte from the lowest, so that it
 * is the same on every machine. */
static uint64_t mix_in(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_edges(const cbx_graph_data *d)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t e = 0; e < d->num_edges; e++)
        hash = mix_in(mix_in(hash, (uint64_t)d->edge_source[e]), (uint64_t)d->edge_target[e]);
    return hash;
}

static uint64_t hash_all(const cbx_graph_data *d)
{
    uint64_t hash = hash_edges(d);
    for (int32_t i = 0; i < d->num_nodes; i++)
        hash = mix_in(hash, (uint64_t)d->y[i]);
    for (int64_t k = 0; k < (int64_t)d->num_nodes * d->num_features; k++) {
        uint32_t bits;
        memcpy(&bits, &d->x[k], sizeof bits);
        hash = mix_in(hash, bits);
    }
    return hash;
}

static uint64_t hash_of(const char *name, const cbx_generate_options *o)
{
    cbx_graph *g = make(name, o);
    uint64_t   hash = g ? hash_all(cbx_graph_arrays(g)) : 0;
    cbx_graph_free(g);
    return hash;
}

/* ---- the list */

TEST(every_built_in_has_a_name_a_line_about_it_and_a_simple_graph)
{
    size_t i = 0;
    for (; cbx_builtin_name(i); i++) {
        const char *name = cbx_builtin_name(i);
        CHECK(cbx_builtin_about(name) && !strchr(cbx_builtin_about(name), '\n'));
        cbx_graph *g = make(name, NULL);
        if (!g)
            continue;
        CHECK(!strcmp(cbx_graph_arrays(g)->name, name));
        check_simple(cbx_graph_arrays(g));
        cbx_graph_free(g);
    }
    CHECK_INT((int64_t)i, 6);
    CHECK(!cbx_builtin_about("no such name"));
}

TEST(an_unknown_name_gets_the_list_and_the_nearest)
{
    check_refused("karat", NULL, "did you mean 'karate'?");
    check_refused("karat", NULL,
                  "karate, ba-shapes, tree-cycles, tree-grid, erdos-renyi, barabasi");
    check_refused("", NULL, "barabasi-albert");
}

TEST(the_same_options_give_the_same_bits_as_ever)
{
    /* Results that others published with a seed depend on these. */
    CHECK_INT((int64_t)hash_of("karate", NULL), -539018339822099034);
    CHECK_INT((int64_t)hash_of("ba-shapes", NULL), -3071514742268875891);
    CHECK_INT((int64_t)hash_of("tree-cycles", NULL), -5435986986391773235);
    CHECK_INT((int64_t)hash_of("tree-grid", NULL), -1562471547240227735);
    CHECK_INT((int64_t)hash_of("erdos-renyi", NULL), 7061335483851338711);
    CHECK_INT((int64_t)hash_of("barabasi-albert", NULL), -5369645662038181821);
}

TEST(another_seed_gives_another_graph)
{
    cbx_generate_options o = defaults();
    o.seed = 1;
    CHECK(hash_of("karate", &o) == hash_of("karate", NULL));
    for (size_t i = 1; cbx_builtin_name(i); i++) {
        CHECK(hash_of(cbx_builtin_name(i), &o) != hash_of(cbx_builtin_name(i), NULL));
        CHECK(hash_of(cbx_builtin_name(i), &o) == hash_of(cbx_builtin_name(i), &o));
    }
}

static cbx_status make_and_drop(void *name)
{
    cbx_generate_options o = defaults();
    if (!strcmp(name, "erdos-renyi") || !strcmp(name, "barabasi-albert"))
        o.nodes = 50;
    cbx_graph *g = NULL;
    cbx_status status = cbx_graph_builtin_with(name, &o, &g, NULL);
    CHECK((status == CBX_OK) == (g != NULL));
    cbx_graph_free(g);
    return status;
}

TEST(memory_may_run_out_at_every_allocation)
{
    for (size_t i = 0; cbx_builtin_name(i); i++)
        test_each_allocation(make_and_drop, (void *)cbx_builtin_name(i));
}

/* ---- karate */

TEST(karate_is_the_club_with_four_communities)
{
    cbx_graph *g = make("karate", NULL);
    if (!g)
        return;
    const cbx_graph_data *d = cbx_graph_arrays(g);
    CHECK_INT(d->num_nodes, 34);
    CHECK_INT(d->num_edges, 156);
    CHECK_INT(d->num_features, 34);
    CHECK_INT(d->num_classes, 4);
    CHECK_INT(degree(d, 0), 16);
    CHECK_INT(degree(d, 33), 17);
    int32_t training = 0;
    for (int32_t i = 0; i < 34; i++) {
        training += d->train_mask[i];
        CHECK_INT(d->discrete[i], 1);
        for (int32_t j = 0; j < 34; j++)
            CHECK(d->x[i * 34 + j] == (i == j));
    }
    CHECK_INT(training, 4);
    CHECK(d->train_mask[0] && d->train_mask[4] && d->train_mask[8] && d->train_mask[24]);
    CHECK(!strcmp(d->node_names[0], "Mr. Hi") && !strcmp(d->node_names[33], "John A"));
    CHECK(!strcmp(d->node_names[7], "member 7") && !strcmp(d->feature_names[33], "is member 33"));
    CHECK(!strcmp(d->class_names[3], "community 3"));
    cbx_graph_free(g);
}

TEST(karate_equals_the_shared_file)
{
    const char *path = test_shared("data/karate.safetensors");
    if (!path) {
        test_skip("no shared data");
        return;
    }
    cbx_error  err = {0};
    cbx_graph *file = NULL, *g = make("karate", NULL);
    CHECK_OK(cbx_graph_load(path, &file, &err), err);
    if (file && g) {
        const cbx_graph_data *a = cbx_graph_arrays(g), *b = cbx_graph_arrays(file);
        CHECK_INT(a->num_splits, b->num_splits);
        CHECK(!a->val_mask && !a->test_mask && !b->val_mask && !b->test_mask);
        CHECK(hash_all(a) == hash_all(b)); /* and then, to be sure: */
        CHECK(!memcmp(a->edge_source, b->edge_source, 156 * sizeof(int64_t)));
        CHECK(!memcmp(a->edge_target, b->edge_target, 156 * sizeof(int64_t)));
        CHECK(!memcmp(a->y, b->y, 34 * sizeof(int64_t)));
        CHECK(!memcmp(a->discrete, b->discrete, 34));
        CHECK(!memcmp(a->train_mask, b->train_mask, 34));
        CHECK(!memcmp(a->feat_min, b->feat_min, 34 * sizeof(float)));
        CHECK(!memcmp(a->feat_max, b->feat_max, 34 * sizeof(float)));
    }
    cbx_graph_free(file);
    cbx_graph_free(g);
}

/* ---- motifs */

typedef struct expected {
    const char *name;
    int32_t     base, motifs, size, classes;
    int64_t     least, most;  /* directed edges, with the published number of motifs */
    int         links[12][2]; /* of the motif; 0, 0: no more */
    int         role[9];
} expected;

/* clang-format off */
static const expected published[] = {
    {"ba-shapes", 300, 80, 5, 4, 4110, 4110,
     {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}},
     {1, 1, 2, 2, 3}},
    {"tree-cycles", 511, 60, 6, 2, 1878, 2000, /* every other cycle has a second link */
     {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}},
     {1, 1, 1, 1, 1, 1}},
    {"tree-grid", 511, 80, 9, 2, 3130, 3130,
     {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {6, 7}, {7, 8},
      {0, 3}, {3, 6}, {1, 4}, {4, 7}, {2, 5}, {5, 8}},
     {1, 1, 1, 1, 1, 1, 1, 1, 1}},
};
/* clang-format on */

static void check_motifs(const cbx_graph_data *d, const expected *e, int32_t motifs)
{
    CHECK_INT(d->num_nodes, e->base + motifs * e->size);
    int32_t missing = 0, hanging = 0, wrong = 0;
    for (int32_t k = 0; k < motifs; k++) {
        int32_t first = e->base + k * e->size, linked = 0;
        for (int l = 0; l < 12 && (e->links[l][0] || e->links[l][1]); l++)
            missing += !has_edge(d, first + e->links[l][0], first + e->links[l][1]);
        for (int32_t i = 0; i < e->base; i++)
            linked += has_edge(d, i, first);
        hanging += linked == 0;
        for (int32_t i = 0; i < e->size; i++)
            wrong += d->y[first + i] != e->role[i];
    }
    for (int32_t i = 0; i < e->base; i++)
        wrong += d->y[i] != 0;
    CHECK_INT(missing, 0);
    CHECK_INT(hanging, 0);
    CHECK_INT(wrong, 0);
}

TEST(motif_graphs_have_the_published_sizes_and_every_motif_is_whole)
{
    for (int k = 0; k < 3; k++) {
        const expected *e = &published[k];
        cbx_graph      *g = make(e->name, NULL);
        if (!g)
            continue;
        const cbx_graph_data *d = cbx_graph_arrays(g);
        check_motifs(d, e, e->motifs);
        CHECK(d->num_edges >= e->least && d->num_edges <= e->most);
        CHECK_INT(d->num_classes, e->classes);
        CHECK_INT(d->num_features, 10);
        for (int64_t i = 0; i < (int64_t)d->num_nodes * 10; i++)
            if (d->x[i] != 1 && !CHECK(!"all features are 1"))
                break;
        cbx_graph_free(g);
    }
}

TEST(the_tree_is_binary_and_the_ba_base_has_five_links_a_node)
{
    cbx_graph *tree = make("tree-cycles", NULL), *ba = make("ba-shapes", NULL);
    for (int32_t v = 1; tree && v < 511; v++)
        CHECK(has_edge(cbx_graph_arrays(tree), v, (v - 1) / 2));
    for (int32_t v = 5; ba && v < 300; v++) {
        int32_t earlier = 0;
        for (int32_t u = 0; u < v; u++)
            earlier += has_edge(cbx_graph_arrays(ba), v, u);
        CHECK(earlier >= 5); /* noise may add to them */
    }
    cbx_graph_free(tree);
    cbx_graph_free(ba);
}

TEST(the_number_of_motifs_and_features_can_be_chosen)
{
    static const int32_t counts[] = {1, 7, 700}; /* also more than there are base nodes */
    for (int k = 0; k < 9; k++) {
        cbx_generate_options o = defaults();
        o.motifs = counts[k / 3];
        o.features = 3;
        cbx_graph *g = make(published[k % 3].name, &o);
        if (!g)
            continue;
        check_simple(cbx_graph_arrays(g));
        check_motifs(cbx_graph_arrays(g), &published[k % 3], counts[k / 3]);
        CHECK_INT(cbx_graph_arrays(g)->num_features, 3);
        cbx_graph_free(g);
    }
}

/* ---- random graphs */

TEST(erdos_renyi_has_just_the_edges_asked_for)
{
    static const double degrees[] = {0, 0.5, 3, 10, 38.9, 39};
    for (int k = 0; k < 6; k++) {
        cbx_generate_options o = defaults();
        o.nodes = 40;
        o.degree = degrees[k];
        cbx_graph *g = make("erdos-renyi", &o);
        if (!g)
            continue;
        CHECK_INT(cbx_graph_arrays(g)->num_edges, 2 * (int64_t)(20 * degrees[k] + 0.5));
        check_simple(cbx_graph_arrays(g));
        cbx_graph_free(g);
    }
}

TEST(barabasi_albert_gives_every_newcomer_its_links_and_grows_hubs)
{
    cbx_generate_options o = defaults();
    o.nodes = 2000;
    o.degree = 6;
    cbx_graph *g = make("barabasi-albert", &o);
    if (!g)
        return;
    const cbx_graph_data *d = cbx_graph_arrays(g);
    check_simple(d);
    CHECK_INT(d->num_edges, 2 * 3 * (2000 - 3));
    int64_t earlier[2000] = {0}, degrees[2000] = {0}, largest = 0;
    for (int64_t e = 0; e < d->num_edges; e++) {
        degrees[d->edge_source[e]]++;
        earlier[d->edge_source[e]] += d->edge_target[e] < d->edge_source[e];
    }
    for (int32_t v = 0; v < 2000; v++) {
        CHECK_INT(earlier[v], v < 3 ? 0 : 3);
        largest = degrees[v] > largest ? degrees[v] : largest;
    }
    CHECK(largest > 60); /* ten times the mean; a graph without hubs has some 20 */
    cbx_graph_free(g);
}

TEST(random_graphs_may_be_as_small_as_two_nodes)
{
    cbx_generate_options o = defaults();
    o.nodes = 2;
    o.degree = 1;
    o.classes = 2;
    o.features = 1;
    for (size_t i = 4; cbx_builtin_name(i); i++) {
        cbx_graph *g = make(cbx_builtin_name(i), &o);
        if (g)
            CHECK_INT(cbx_graph_arrays(g)->num_edges, 2);
        cbx_graph_free(g);
    }
}

/* How often the kind that the features of a node and its neighbours show most is
 * the node's class: what one layer of averaging can find. */
static double share_told(const cbx_graph_data *d)
{
    int32_t told = 0, f = d->num_features, classes = d->num_classes;
    int64_t e = 0;
    for (int32_t i = 0; i < d->num_nodes; i++) {
        double score[8] = {0};
        for (int32_t j = 0; j < f; j++)
            score[j % classes] += d->x[(int64_t)i * f + j];
        for (; e < d->num_edges && d->edge_source[e] == i; e++)
            for (int32_t j = 0; j < f; j++)
                score[j % classes] += d->x[d->edge_target[e] * f + j];
        int32_t best = 0;
        for (int32_t c = 1; c < classes; c++)
            best = score[c] > score[best] ? c : best;
        told += best == d->y[i];
    }
    return (double)told / d->num_nodes;
}

TEST(the_classes_of_random_graphs_can_be_told_from_features_and_edges)
{
    for (size_t i = 4; cbx_builtin_name(i); i++) {
        cbx_generate_options o = defaults();
        o.classes = 5;
        o.features = 25;
        cbx_graph *g = make(cbx_builtin_name(i), &o);
        if (!g)
            continue;
        const cbx_graph_data *d = cbx_graph_arrays(g);
        CHECK_INT(d->num_classes, 5);
        CHECK_INT(d->num_features, 25);
        for (int32_t j = 0; j < 25; j++) {
            CHECK(d->feat_min[j] >= 0 && d->feat_max[j] <= 1);
            CHECK_INT(d->discrete[j], 0);
        }
        CHECK(share_told(d) > 0.6); /* guessing finds 0.2 */
        cbx_graph_free(g);
    }
}

TEST(more_features_leave_the_edges_as_they_were)
{
    for (size_t i = 1; cbx_builtin_name(i); i++) {
        cbx_generate_options o = defaults();
        o.features = 33;
        cbx_graph *g = make(cbx_builtin_name(i), NULL), *h = make(cbx_builtin_name(i), &o);
        if (g && h)
            CHECK(hash_edges(cbx_graph_arrays(g)) == hash_edges(cbx_graph_arrays(h)));
        cbx_graph_free(g);
        cbx_graph_free(h);
    }
}

TEST(options_that_do_not_fit_together_are_refused)
{
    cbx_generate_options o = defaults();
    o.nodes = 10;
    check_refused("erdos-renyi", &o, "degree: 10 neighbours, but 10 nodes have at most 9");
    check_refused("barabasi-albert", &o, "degree");
    o.degree = 2;
    o.classes = 11;
    check_refused("erdos-renyi", &o, "classes: 11 classes, but only 10 nodes");
    o.classes = 1;
    check_refused("erdos-renyi", &o, "classes");
    o = defaults();
    o.nodes = INT64_MAX;
    check_refused("erdos-renyi", &o, "nodes");
    o = defaults();
    o.motifs = -1;
    check_refused("tree-grid", &o, "motifs");
}

TEST(options_that_a_built_in_does_not_have_are_refused)
{
    cbx_generate_options o = defaults();
    o.nodes = 40;
    check_refused("karate", &o, "nodes: karate has nothing of the kind to choose");
    check_refused("ba-shapes", &o, "nodes: ba-shapes");
    o = defaults();
    o.motifs = 4;
    check_refused("barabasi-albert", &o, "motifs: barabasi-albert");
    o = defaults();
    o.features = 4;
    check_refused("karate", &o, "features: karate");
    cbx_graph *g = NULL;
    o = defaults();
    o.seed = 7; /* nothing is drawn, so any seed is right */
    CHECK_INT(cbx_graph_builtin_with("karate", &o, &g, NULL), CBX_OK);
    cbx_graph_free(g);
}

TEST(a_graph_too_large_for_any_memory_is_an_error)
{
    cbx_generate_options o = defaults();
    o.nodes = 1999999999;
    o.degree = 1999999998;
    cbx_graph *g = NULL;
    CHECK_INT(cbx_graph_builtin_with("erdos-renyi", &o, &g, NULL), CBX_NO_MEMORY);
    CHECK(!g);
}
