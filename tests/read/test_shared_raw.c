/* SPDX-License-Identifier: Apache-2.0 */
/* The raw public files of the data sets give, edge for edge and bit for bit, the
 * tensors of the files that were converted from them with other programs. */
#include <stdio.h>
#include <string.h>

#include "graph.h"
#include "test.h"

typedef struct pair {
    const char *raw, *converted;
    const char *task;    /* NULL: auto */
    const char *sidecar; /* NULL: none */
} pair;

#define SAME(what, count, a, b)                                                                 \
    do {                                                                                        \
        if (!test_check(same((size_t)(count) * sizeof *(a), (a), (b)), __FILE__, __LINE__, #a)) \
            printf("  (%s: %s)\n", p->raw, what);                                               \
    } while (0)

static bool same(size_t bytes, const void *a, const void *b)
{
    return !a == !b && (!a || !memcmp(a, b, bytes));
}

static void compare(const pair *p, const cbx_graph *read, const cbx_graph *want)
{
    const cbx_graph_data *a = &read->data, *b = &want->data;
    int64_t               n = b->num_nodes, f = b->num_features, rows = cbx_graph_label_rows(want);
    CHECK_INT(a->task, b->task);
    CHECK_INT(a->num_nodes, b->num_nodes);
    CHECK_INT(a->num_edges, b->num_edges);
    CHECK_INT(a->num_features, b->num_features);
    CHECK_INT(a->num_classes, b->num_classes);
    CHECK_INT(a->num_graphs, b->num_graphs);
    CHECK_INT(a->num_splits, b->num_splits);
    if (test_failures()) {
        printf("  (%s)\n", p->raw);
        return;
    }
    SAME("sources", b->num_edges, a->edge_source, b->edge_source);
    SAME("targets", b->num_edges, a->edge_target, b->edge_target);
    SAME("weights", b->num_edges, a->edge_weight, b->edge_weight);
    SAME("dense features", n * f, a->x, b->x);
    SAME("sparse features", n + 1, a->x_indptr, b->x_indptr);
    if (b->x_indptr && a->x_indptr) {
        SAME("columns", b->x_indptr[n], a->x_indices, b->x_indices);
        SAME("values", b->x_indptr[n], a->x_values, b->x_values);
    }
    SAME("kinds", f, a->discrete, b->discrete);
    SAME("bounds", f, a->feat_min, b->feat_min);
    SAME("bounds", f, a->feat_max, b->feat_max);
    SAME("classes", rows, a->y, b->y);
    SAME("graphs", (int64_t)b->num_graphs + 1, a->graph_ptr, b->graph_ptr);
    SAME("training masks", rows * b->num_splits, a->train_mask, b->train_mask);
    SAME("validation masks", rows * b->num_splits, a->val_mask, b->val_mask);
    SAME("test masks", rows * b->num_splits, a->test_mask, b->test_mask);
}

static void check(const pair *p)
{
    char             raw[256], converted[256];
    cbx_read_options options;
    cbx_graph       *read = NULL, *want = NULL;
    cbx_error        err = {0};
    (void)snprintf(raw, sizeof raw, "data/raw/%s", p->raw);
    (void)snprintf(converted, sizeof converted, "data/%s.safetensors", p->converted);
    const char *to = test_shared(converted);
    (void)snprintf(raw, sizeof raw, "%s", test_shared("data/raw") ? test_shared("data/raw") : "");
    if (!to || !raw[0]) {
        test_skip("CBX_SHARED has no raw data");
        return;
    }
    strcat(strcat(raw, "/"), p->raw);
    cbx_fields_default(cbx_read_table(), &options);
    if (p->task)
        CHECK_OK(cbx_fields_set(cbx_read_table(), &options, "task", p->task, &err), err);
    if (p->sidecar) {
        options.sidecar = test_path("sidecar.json");
        test_write_file(options.sidecar, p->sidecar, strlen(p->sidecar));
    }
    if (CHECK_OK(cbx_graph_read_with(raw, &options, &read, &err), err) &&
        CHECK_OK(cbx_graph_load(to, &want, &err), err))
        compare(p, read, want);
    cbx_graph_free(read);
    cbx_graph_free(want);
}

static void check_all(const pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&pairs[i]);
}

#define CHECK_ALL(...)                                     \
    do {                                                   \
        static const pair pairs_[] = {__VA_ARGS__};        \
        check_all(pairs_, sizeof pairs_ / sizeof *pairs_); \
    } while (0)

TEST(planetoid_pickles_give_the_converted_tensors)
{
    CHECK_ALL({"cora", "cora", NULL, NULL}, {"citeseer", "citeseer", NULL, NULL},
              {"pubmed", "pubmed", NULL, NULL});
}

TEST(one_planetoid_file_stands_for_its_folder)
{
    CHECK_ALL({"cora/ind.cora.graph", "cora", NULL, NULL}, {"cora/ind.cora.x", "cora", NULL, NULL});
}

TEST(geom_gcn_text_gives_the_converted_tensors)
{
    CHECK_ALL({"cornell", "cornell", NULL, NULL}, {"texas", "texas", NULL, NULL},
              {"wisconsin", "wisconsin", NULL, NULL}, {"actor", "actor", NULL, NULL});
}

TEST(attributed_folders_give_the_converted_tensors)
{
    CHECK_ALL({"facebook", "facebook", NULL, NULL}, {"wiki", "wiki", NULL, NULL});
}

TEST(tu_folders_give_the_converted_tensors_of_their_graphs)
{
    /* The first attribute of ENZYMES is a whole number, and was published as a
     * continuous one for graphs: a sidecar says so. */
    CHECK_ALL({"AIDS", "AIDS-graphs", NULL, NULL},
              {"PROTEINS_full", "PROTEINS_full-graphs", NULL, NULL},
              {"COIL-DEL", "COIL-DEL-graphs", "graph", NULL},
              {"ENZYMES", "ENZYMES-graphs", "auto", "{\"kinds\": {\"0\": \"continuous\"}}"});
}

TEST(tu_folders_give_the_converted_tensors_of_their_nodes)
{
    CHECK_ALL({"AIDS", "AIDS", "node", NULL}, {"ENZYMES", "ENZYMES", "node", NULL},
              {"PROTEINS_full", "PROTEINS", "node", NULL});
}

TEST(pickled_motifs_give_the_converted_tensors)
{
    CHECK_ALL({"synthetic/cfgnnexplainer_syn1.pickle", "syn1", NULL, NULL},
              {"synthetic/pgexplainer_datasets.zip/syn3.pkl", "treecycles-pgx", NULL, NULL},
              {"synthetic/pgexplainer_datasets.zip/syn4.pkl", "treegrid-pgx", NULL, NULL});
}
