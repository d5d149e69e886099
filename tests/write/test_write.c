/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: what is written reads back; edits are marked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph.h"
#include "test.h"

/* 0 - 1 - 2 both ways, 2 -> 3 one way; names that need quoting everywhere. */
static const int64_t     source[] = {0, 1, 1, 2, 2}, target[] = {1, 0, 2, 1, 3};
static const float       x[] = {1, 0.1f, 0, 2.5f, 1, 0, -3, 1e-7f};
static const int64_t     y[] = {0, 1, -1, 1};
static const uint8_t     train[] = {1, 0, 0, 0}, test[] = {0, 0, 1, 0};
static const char *const nodes[] = {"Ann, \"A\"", "<Bob & co>", "c\xc3\xa9line", "dan"};
static const char *const features[] = {"age", "hair=\"red\""};
static const char *const classes[] = {"no", "yes & no"};

static const cbx_graph_data plain = {.num_nodes = 4,
                                     .num_features = 2,
                                     .num_edges = 5,
                                     .edge_source = source,
                                     .edge_target = target,
                                     .x = x,
                                     .y = y,
                                     .num_splits = 1,
                                     .train_mask = train,
                                     .test_mask = test,
                                     .node_names = nodes,
                                     .feature_names = features,
                                     .num_classes = sizeof classes / sizeof *classes,
                                     .class_names = classes};

static const cbx_edit edits[] = {
    {.op = CBX_REMOVE_EDGE, .source = 1, .target = 2, .edge = 2},
    {.op = CBX_SET_FEATURE, .node = 1, .feature = 1, .from = 2.5f, .to = 4},
};

static cbx_graph *make(const cbx_graph_data *d)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    CHECK_OK(cbx_graph_new(d, &g, &err), err);
    return g;
}

/* The whole of a file, to be freed. */
static char *text_of(const char *path)
{
    size_t size = 0;
    char  *text = (char *)test_read_file(path, &size);
    if (CHECK(text != NULL))
        text[size] = '\0';
    return text;
}

static void same_graph(const cbx_graph *a, const cbx_graph *b, bool same_edges)
{
    const cbx_graph_data *p = &a->data, *q = &b->data;
    CHECK_INT(p->num_nodes, q->num_nodes);
    CHECK_INT(p->num_features, q->num_features);
    CHECK_INT(p->num_classes, q->num_classes);
    if (same_edges)
        CHECK_INT(p->num_edges, q->num_edges);
    if (test_failures())
        return;
    for (int64_t e = 0; same_edges && e < p->num_edges; e++)
        CHECK(p->edge_source[e] == q->edge_source[e] && p->edge_target[e] == q->edge_target[e]);
    for (int32_t i = 0; i < p->num_nodes; i++)
        CHECK(!strcmp(p->node_names[i], q->node_names[i]));
    for (int32_t j = 0; j < p->num_features; j++)
        CHECK(!strcmp(p->feature_names[j], q->feature_names[j]));
    CHECK(p->x && q->x && !memcmp(p->x, q->x, (size_t)(p->num_nodes * p->num_features) * 4));
}

TEST(tables_read_back_the_same)
{
    char       folder[512];
    cbx_graph *g = make(&plain), *back = NULL;
    cbx_error  err = {0};
    (void)snprintf(folder, sizeof folder, "%s", test_path("tables"));
    if (g && CHECK_OK(cbx_graph_export(g, "csv", NULL, 0, folder, &err), err) &&
        CHECK_OK(cbx_graph_read_with(folder, NULL, &back, &err), err)) {
        same_graph(g, back, true);
        CHECK(!memcmp(back->data.y, y, sizeof y));
        CHECK(back->data.train_mask[0] && back->data.test_mask[2] && !back->data.test_mask[3]);
        CHECK(!strcmp(back->data.class_names[1], "yes & no"));
    }
    cbx_graph_free(g);
    cbx_graph_free(back);
    (void)unlink(strcat(folder, "/edges.csv"));
    (void)snprintf(strrchr(folder, '/'), 16, "/features.csv");
    (void)unlink(folder);
    *strrchr(folder, '/') = '\0';
    (void)rmdir(folder);
}

TEST(graphml_reads_back_the_same)
{
    cbx_error   err = {0};
    const char *path = test_path("g.graphml");
    cbx_graph  *g = make(&plain), *back = NULL;
    if (g && CHECK_OK(cbx_graph_export(g, "graphml", NULL, 0, path, &err), err) &&
        CHECK_OK(cbx_graph_read_with(path, NULL, &back, &err), err)) {
        same_graph(g, back, true);
        CHECK(!memcmp(back->data.y, y, sizeof y));
        CHECK(!strcmp(back->data.class_names[1], "yes & no"));
        CHECK(back->data.train_mask[0] && back->data.test_mask[2]);
    }
    cbx_graph_free(g);
    cbx_graph_free(back);
}

TEST(npz_reads_back_with_edges_both_ways)
{
    cbx_graph  *g = make(&plain), *back = NULL;
    cbx_error   err = {0};
    const char *path = test_path("g.npz");
    if (g && CHECK_OK(cbx_graph_export(g, "npz", NULL, 0, path, &err), err) &&
        CHECK_OK(cbx_graph_read_with(path, NULL, &back, &err), err)) {
        CHECK_INT(back->data.num_edges, 6); /* and 3 -> 2 */
        CHECK(back->data.x == NULL);
        CHECK_INT(back->data.x_indptr[4], 6); /* without the zeros */
        CHECK(!memcmp(back->data.y, y, sizeof y));
        CHECK(!strcmp(back->data.node_names[2], nodes[2]));
    }
    cbx_graph_free(g);
    cbx_graph_free(back);
}

TEST(native_export_holds_the_edited_graph)
{
    cbx_graph  *g = make(&plain), *back = NULL;
    cbx_error   err = {0};
    const char *path = test_path("g.safetensors");
    if (g && CHECK_OK(cbx_graph_export(g, "safetensors", edits, 2, path, &err), err) &&
        CHECK_OK(cbx_graph_load(path, &back, &err), err)) {
        CHECK_INT(back->data.num_edges, 4);
        CHECK(back->data.x[3] == 4);
    }
    cbx_graph_free(g);
    cbx_graph_free(back);
}

static void check_marked(const char *format, const char *ending, const char *const *parts)
{
    char       path[512];
    cbx_graph *g = make(&plain);
    cbx_error  err = {0};
    (void)snprintf(path, sizeof path, "%s%s", test_path("marked"), ending);
    if (g && CHECK_OK(cbx_graph_export(g, format, edits, 2, path, &err), err)) {
        char *text = text_of(path);
        for (; text && *parts; parts++)
            CHECK_CONTAINS(text, *parts);
        free(text);
    }
    cbx_graph_free(g);
}

TEST(removed_edges_and_changed_features_are_marked)
{
    check_marked("graphml", ".graphml",
                 (const char *const[]){
                     "<edge source=\"n1\" target=\"n2\"><data key=\"removed\">true</data></edge>",
                     "<edge source=\"n2\" target=\"n1\"></edge>",
                     "<data key=\"changed\">true</data><data key=\"changes\">hair=&quot;red&quot;: "
                     "2.5 -&gt; 4</data>",
                     "<data key=\"f1\">4</data>", "&lt;Bob &amp; co&gt;", NULL});
    check_marked("gexf", ".gexf",
                 (const char *const[]){"source=\"1\" target=\"2\"><attvalues><attvalue "
                                       "for=\"removed\" value=\"true\"/>",
                                       "value=\"hair=&quot;red&quot;: 2.5 -&gt; 4\"", NULL});
    check_marked("dot", ".dot",
                 (const char *const[]){"digraph {", "1 -> 2 [style=dashed color=\"#d62728\"];",
                                       "2 -> 1;", "hair=\\\"red\\\": 2.5 -> 4", "penwidth=3",
                                       NULL});
}

TEST(an_undirected_graph_is_written_a_pair_at_a_time)
{
    cbx_graph_data d = plain;
    const char    *path = test_path("pairs.dot");
    const cbx_edit pair = {
        .op = CBX_REMOVE_EDGE, .source = 1, .target = 0, .edge = -1, .undirected = true};
    cbx_error err = {0};
    d.num_edges = 4; /* all of which have a reverse */
    cbx_graph *g = make(&d);
    if (g && CHECK_OK(cbx_graph_export(g, "dot", &pair, 1, path, &err), err)) {
        char *text = text_of(path);
        CHECK_CONTAINS(text, "graph {");
        CHECK_CONTAINS(text, "  0 -- 1 [style=dashed");
        CHECK_CONTAINS(text, "  1 -- 2;");
        CHECK(!strstr(text, "1 -- 0") && !strstr(text, "digraph"));
        free(text);
    }
    /* half a pair removed: direction matters */
    if (g && CHECK_OK(cbx_graph_export(g, "dot", edits, 1, path, &err), err)) {
        char *text = text_of(path);
        CHECK_CONTAINS(text, "digraph {");
        free(text);
    }
    cbx_graph_free(g);
}

/* 0 - 1 and 2 - 3, two graphs: a copy of 0 comes to 1, and nodes behind it have other numbers. */
static void check_new_nodes(const char *format, const char *const *parts)
{
    static const int64_t  ptr[] = {0, 2, 4}, labels[] = {0, 1};
    static const int64_t  from[] = {0, 1, 2, 3}, to[] = {1, 0, 3, 2};
    static const cbx_edit some[] = {
        {.op = CBX_SET_FEATURE, .node = 3, .feature = 0, .from = -3, .to = 7},
        {.op = CBX_ADD_NODE, .source = 0, .target = 1, .edge = -1, .undirected = true},
        {.op = CBX_REMOVE_EDGE, .source = 2, .target = 3, .edge = -1, .undirected = true}};
    cbx_graph_data d = {.task = CBX_GRAPH,
                        .num_nodes = 4,
                        .num_features = 2,
                        .num_edges = 4,
                        .edge_source = from,
                        .edge_target = to,
                        .x = x,
                        .y = labels,
                        .num_graphs = 2,
                        .graph_ptr = ptr};
    cbx_graph     *g = make(&d);
    const char    *path = test_path("new");
    cbx_error      err = {0};
    if (g && CHECK_OK(cbx_graph_export(g, format, some, 3, path, &err), err)) {
        char *text = text_of(path);
        for (; text && *parts; parts++)
            CHECK_CONTAINS(text, *parts);
        free(text);
    }
    cbx_graph_free(g);
}

TEST(nodes_that_are_added_are_marked)
{
    check_new_nodes(
        "graphml", (const char *const[]){
                       "<node id=\"n2\"><data key=\"class\">0</data><data key=\"graph\">0</data>"
                       "<data key=\"f0\">1</data><data key=\"f1\">0.1</data><data "
                       "key=\"came\">true</data></node>",
                       "<edge source=\"n1\" target=\"n2\"><data key=\"added\">true</data></edge>",
                       "<edge source=\"n3\" target=\"n4\"><data key=\"removed\">true</data></edge>",
                       "<data key=\"changes\">feature_0: -3 -&gt; 7</data></node>", NULL});
    check_new_nodes("gexf", (const char *const[]){"<attvalue for=\"came\" value=\"true\"/>",
                                                  "source=\"1\" target=\"2\"><attvalues><attvalue "
                                                  "for=\"added\" value=\"true\"/>",
                                                  NULL});
    check_new_nodes("dot",
                    (const char *const[]){"  2 [label=\"2\" class=\"0\"", "color=\"#2ca02c\"",
                                          "  1 -- 2 [style=bold", "  3 -- 4 [style=dashed", NULL});
}

TEST(what_cannot_be_written_is_told)
{
    static const int64_t ptr[] = {0, 2, 4};
    cbx_graph_data       d = plain;
    cbx_graph           *g = make(&plain);
    cbx_error            err = {0};
    CHECK_INT(cbx_graph_export(g, "pdf", NULL, 0, test_path("x"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'pdf'");
    CHECK_INT(cbx_graph_export(g, "dot", NULL, 0, test_path("no/such/folder.dot"), &err), CBX_IO);
    cbx_graph_free(g);
    d.task = CBX_GRAPH;
    d.num_graphs = 2;
    d.graph_ptr = ptr;
    d.num_edges = 2;
    d.num_splits = 0;
    d.train_mask = d.test_mask = NULL;
    g = make(&d);
    CHECK_INT(cbx_graph_export(g, "npz", NULL, 0, test_path("x.npz"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "many");
    CHECK_INT(cbx_graph_export(g, "csv", NULL, 0, test_path("x"), &err), CBX_INVALID);
    CHECK_OK(cbx_graph_export(g, "gexf", NULL, 0, test_path("x.gexf"), &err), err);
    cbx_graph_free(g);
}

TEST(a_table_of_sparse_features_is_refused_before_it_fills_the_disk)
{
    enum { NODES = 2000, FEATURES = 20000 };
    static int64_t       indptr[NODES + 1]; /* nothing in it */
    static const int     column = 0;
    const cbx_graph_data d = {.num_nodes = NODES,
                              .num_features = FEATURES,
                              .x_indptr = indptr,
                              .x_indices = &column,
                              .x_values = x};
    cbx_graph           *g = make(&d);
    cbx_error            err = {0};
    if (!g)
        return;
    CHECK_INT(cbx_graph_export(g, "csv", NULL, 0, test_path("wide"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "40000000 fields for 0 values");
    CHECK(access(test_path("wide"), F_OK) != 0);
    CHECK_OK(cbx_graph_export(g, "npz", NULL, 0, test_path("wide.npz"), &err), err);
    cbx_graph_free(g);
}

TEST(one_long_name_does_not_make_all_of_an_npz_long)
{
    enum { NODES = 2000, LONG = 20000 };
    static float       ones[NODES];
    static char        long_name[LONG + 1];
    static const char *names[NODES];
    cbx_graph_data     d = {.num_nodes = NODES, .num_features = 1, .x = ones, .node_names = names};
    cbx_error          err = {0};
    memset(long_name, 'n', LONG);
    for (int i = 0; i < NODES; i++)
        names[i] = i ? "x" : long_name;
    cbx_graph *g = make(&d);
    if (!g)
        return;
    CHECK_INT(cbx_graph_export(g, "npz", NULL, 0, test_path("long.npz"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "one of 2000 names has 20000 characters");
    CHECK_OK(cbx_graph_export(g, "graphml", NULL, 0, test_path("long.graphml"), &err), err);
    cbx_graph_free(g);
}

typedef struct attempt {
    cbx_graph  *graph;
    const char *format, *path;
} attempt;

static cbx_status export_again(void *user)
{
    const attempt *a = user;
    return cbx_graph_export(a->graph, a->format, edits, 2, a->path, NULL);
}

TEST(failing_allocations_are_reported)
{
    cbx_graph *g = make(&plain);
    for (int k = 0; g && k < 4; k++) {
        static const char *const formats[] = {"graphml", "gexf", "dot", "safetensors"};
        attempt                  a = {g, formats[k], test_path(formats[k])};
        test_each_allocation(export_again, &a);
    }
    cbx_graph_free(g);
}

TEST(endings_tell_the_format)
{
    CHECK(!strcmp(cbx_export_of("a/b.gexf"), "gexf"));
    CHECK(!strcmp(cbx_export_of("b.npz"), "npz"));
    CHECK(!cbx_export_of("b.txt") && !cbx_export_of(".dot"));
}
