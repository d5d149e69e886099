/* SPDX-License-Identifier: Apache-2.0 */
/* Graph files: what is saved is loaded, the shared data sets load with the counts
 * they state, and a wrong file is an error that names it and its tensor. */
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph.h"
#include "safetensors.h"
#include "test.h"

/* ---- saving and loading */

#define SAME(count, a, b) \
    test_check(same((size_t)(count) * sizeof *(a), (a), (b)), __FILE__, __LINE__, #a)

static bool same(size_t bytes, const void *a, const void *b)
{
    return !a == !b && (!a || !memcmp(a, b, bytes));
}

static void same_names(int64_t count, const char *const *a, const char *const *b)
{
    if (!CHECK(!a == !b) || !a)
        return;
    for (int64_t i = 0; i < count; i++)
        CHECK(!strcmp(a[i], b[i]));
}

static void same_data(const cbx_graph_data *a, const cbx_graph_data *b, int64_t rows)
{
    int64_t n = a->num_nodes, f = a->num_features, m = a->num_edges, masks = rows * a->num_splits;
    CHECK(a->task == b->task && a->num_nodes == b->num_nodes && a->num_edges == b->num_edges);
    CHECK(a->num_features == b->num_features && a->num_classes == b->num_classes);
    CHECK(a->num_graphs == b->num_graphs && a->num_splits == b->num_splits);
    if (test_failures())
        return;
    CHECK(m == 0 || !memcmp(a->edge_source, b->edge_source, (size_t)m * 8));
    CHECK(m == 0 || !memcmp(a->edge_target, b->edge_target, (size_t)m * 8));
    SAME(m, a->edge_weight, b->edge_weight);
    CHECK_INT(a->edge_dim, b->edge_dim);
    SAME(m * a->edge_dim, a->edge_attr, b->edge_attr);
    SAME(n * f, a->x, b->x);
    SAME(n + 1, a->x_indptr, b->x_indptr);
    if (a->x_indptr) {
        SAME(a->x_indptr[n], a->x_indices, b->x_indices);
        SAME(a->x_indptr[n], a->x_values, b->x_values);
    }
    SAME(f, a->discrete, b->discrete);
    SAME(f, a->feat_min, b->feat_min);
    SAME(f, a->feat_max, b->feat_max);
    SAME(rows, a->y, b->y);
    SAME((int64_t)a->num_graphs + 1, a->graph_ptr, b->graph_ptr);
    SAME(masks, a->train_mask, b->train_mask);
    SAME(masks, a->val_mask, b->val_mask);
    SAME(masks, a->test_mask, b->test_mask);
    CHECK(!a->name == !b->name && (!a->name || !strcmp(a->name, b->name)));
    same_names(a->num_classes, a->class_names, b->class_names);
    same_names(f, a->feature_names, b->feature_names);
    same_names(n, a->node_names, b->node_names);
}

/* Saves and loads the graph of `data`; then does the same with what was loaded,
 * which must give the same bytes. */
static void check_round_trip(const cbx_graph_data *data)
{
    const char *path = test_path("graph.safetensors"), *second = test_path("again.safetensors");
    cbx_graph  *g = NULL, *loaded = NULL;
    cbx_error   err = {0};
    if (CHECK_OK(cbx_graph_new(data, &g, &err), err) &&
        CHECK_OK(cbx_graph_save(g, path, &err), err) &&
        CHECK_OK(cbx_graph_load(path, &loaded, &err), err) &&
        CHECK_OK(cbx_graph_save(loaded, second, &err), err)) {
        size_t         a = 0, b = 0;
        unsigned char *one = test_read_file(path, &a), *two = test_read_file(second, &b);
        same_data(cbx_graph_arrays(g), cbx_graph_arrays(loaded), cbx_graph_label_rows(g));
        CHECK(a == b && !memcmp(one, two, a));
        free(one);
        free(two);
    }
    cbx_graph_free(g);
    cbx_graph_free(loaded);
}

/* Edges by source, so that slots differ from ids; a loop and a duplicate. */
static const int64_t source[6] = {0, 0, 1, 2, 3, 0}, target[6] = {1, 3, 2, 2, 0, 1};
static const float   weight[6] = {0.5f, 1, 2, 0, 0.25f, 1};
static const float   x[8] = {1, 0.5f, 0, -2, 3, 0, 1, 7};
static const int64_t y[4] = {0, 2, -1, 1};
static const uint8_t train[4] = {1, 0, 0, 0}, val[4] = {0, 1, 0, 0}, test[4] = {0, 0, 0, 1};

static const cbx_graph_data plain = {.num_nodes = 4,
                                     .num_features = 2,
                                     .num_edges = 6,
                                     .edge_source = source,
                                     .edge_target = target,
                                     .x = x,
                                     .y = y};

TEST(a_plain_graph_comes_back)
{
    check_round_trip(&plain);
}

TEST(weights_attributes_masks_and_bounds_come_back)
{
    cbx_graph_data d = plain;
    d.edge_weight = weight;
    d.edge_dim = 2;
    d.edge_attr = (const float[]){1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12};
    d.num_classes = 5; /* more than the labels show */
    d.num_splits = 1;
    d.train_mask = train;
    d.val_mask = val;
    d.test_mask = test;
    d.discrete = (const uint8_t[]){1, 0};
    d.feat_min = (const float[]){-1, -3};
    d.feat_max = (const float[]){4, 8};
    check_round_trip(&d);
    d.val_mask = NULL;
    d.test_mask = NULL;
    check_round_trip(&d);
}

TEST(several_splits_come_back)
{
    static const uint8_t many[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    cbx_graph_data       d = plain;
    d.num_splits = 3;
    d.train_mask = many;
    d.test_mask = many;
    check_round_trip(&d);
}

TEST(sparse_features_come_back)
{
    cbx_graph_data d = plain;
    d.x = NULL;
    d.num_features = 5;
    d.x_indptr = (const int64_t[]){0, 2, 2, 3, 5};
    d.x_indices = (const int32_t[]){0, 4, 1, 2, 3};
    d.x_values = (const float[]){1, -0.5f, 0, 3, 4};
    d.num_x_values = 5;
    check_round_trip(&d);
    d.x_indptr = (const int64_t[]){0, 0, 0, 0, 0}; /* nothing stored at all */
    d.num_x_values = 0;
    check_round_trip(&d);
}

TEST(names_come_back_in_any_script_and_with_quotes)
{
    cbx_graph_data d = plain;
    d.name = "a \"quoted\" \\ name\n2. Zeile";
    d.num_classes = 3;
    d.class_names = (const char *const[]){"Größe", "名前", ""};
    d.feature_names = (const char *const[]){"a,b", "[\"x\"]"};
    d.node_names = (const char *const[]){"Mr. Hi", "O'Neil", "\t", "😀 \xf0\x9f\x98\x80"};
    check_round_trip(&d);
}

TEST(a_graph_without_edges_or_labels_comes_back)
{
    cbx_graph_data d = plain;
    d.num_edges = 0;
    d.edge_source = d.edge_target = NULL;
    d.y = NULL;
    check_round_trip(&d);
    d.edge_source = source;
    d.edge_target = target;
    check_round_trip(&d);
}

TEST(many_graphs_in_one_come_back)
{
    static const int64_t ptr[3] = {0, 1, 4}, from[3] = {1, 2, 3}, to[3] = {2, 3, 1};
    cbx_graph_data       d = plain;
    d.task = CBX_GRAPH;
    d.num_edges = 3;
    d.edge_source = from;
    d.edge_target = to;
    d.num_graphs = 2;
    d.graph_ptr = ptr;
    d.y = (const int64_t[]){1, 0};
    d.num_splits = 1;
    d.train_mask = (const uint8_t[]){1, 0};
    check_round_trip(&d);
}

TEST(the_file_says_what_is_in_it)
{
    const char      *path = test_path("graph.safetensors");
    cbx_graph       *g = NULL;
    cbx_tensor_file *f = NULL;
    cbx_graph_data   d = plain;
    d.name = "four";
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    CHECK_INT(cbx_graph_save(g, path, NULL), CBX_OK);
    if (CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK)) {
        CHECK_CONTAINS(cbx_tensors_meta(f, "name"), "four");
        CHECK_CONTAINS(cbx_tensors_meta(f, "task"), "node classification");
        CHECK_CONTAINS(cbx_tensors_meta(f, "num_nodes"), "4");
        CHECK_CONTAINS(cbx_tensors_meta(f, "num_edges"), "6");
        CHECK_CONTAINS(cbx_tensors_meta(f, "num_features"), "2");
        CHECK_CONTAINS(cbx_tensors_meta(f, "num_classes"), "3");
        CHECK_CONTAINS(cbx_tensors_meta(f, "written_by"), "combinex ");
    }
    cbx_tensors_close(f);
    cbx_graph_free(g);
}

TEST(a_name_that_is_not_utf8_is_an_error_and_writes_nothing)
{
    const char    *path = test_path("latin1.safetensors");
    cbx_graph     *g = NULL;
    cbx_error      err = {0};
    cbx_graph_data d = plain;
    d.node_names = (const char *const[]){"a", "b", "caf\xe9", "d"};
    CHECK_INT(cbx_graph_new(&d, &g, NULL), CBX_OK);
    CHECK_INT(cbx_graph_save(g, path, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "entry 2 of node_names");
    CHECK(access(path, F_OK) != 0);
    cbx_graph_free(g);
}

/* ---- wrong files: a good one with one thing changed */

typedef struct parts {
    cbx_tensor tensors[24];
    size_t     count;
    cbx_meta   meta[4];
    size_t     meta_count;
} parts;

static void drop(parts *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->tensors[i].name, name)) {
            p->tensors[i] = p->tensors[--p->count];
            return;
        }
}

static void put(parts *p, const char *name, cbx_dtype dtype, const void *data, int32_t rank,
                int64_t a, int64_t b)
{
    drop(p, name);
    p->tensors[p->count++] =
        (cbx_tensor){.name = name, .dtype = dtype, .rank = rank, .shape = {a, b}, .data = data};
}

static void note(parts *p, const char *key, const char *value)
{
    p->meta[p->meta_count++] = (cbx_meta){key, value};
}

static const int64_t edges[12] = {0, 0, 1, 2, 3, 0, 1, 3, 2, 2, 0, 1};
static const int64_t indptr[5] = {0, 1, 1, 2, 3}, shape[2] = {4, 2};
static const int32_t indices[3] = {0, 1, 0};
static const float   values[3] = {1, 2, 3};

static const float lowest[2] = {-9, -9}, highest[2] = {9, 9};

static parts good_dense(void)
{
    parts p = {0};
    put(&p, "edge_index", CBX_I64, edges, 2, 2, 6);
    put(&p, "edge_weight", CBX_F32, weight, 1, 6, 0);
    put(&p, "x", CBX_F32, x, 2, 4, 2);
    put(&p, "y", CBX_I64, y, 1, 4, 0);
    put(&p, "discrete_mask", CBX_U8, train, 1, 2, 0);
    put(&p, "feat_min", CBX_F32, lowest, 1, 2, 0);
    put(&p, "feat_max", CBX_F32, highest, 1, 2, 0);
    put(&p, "train_mask", CBX_U8, train, 1, 4, 0);
    return p;
}

static parts good_sparse(void)
{
    parts p = good_dense();
    drop(&p, "x");
    put(&p, "x.shape", CBX_I64, shape, 1, 2, 0);
    put(&p, "x.indptr", CBX_I64, indptr, 1, 5, 0);
    put(&p, "x.indices", CBX_I32, indices, 1, 3, 0);
    put(&p, "x.values", CBX_F32, values, 1, 3, 0);
    return p;
}

static const char *write_parts(const parts *p)
{
    const char *path = test_path("wrong.safetensors");
    cbx_error   err = {0};
    CHECK_OK(cbx_tensors_write(path, p->tensors, p->count, p->meta, p->meta_count, &err), err);
    return path;
}

/* Loading fails; the message names the file and each of the words up to a NULL. */
static void check_refused(const parts *p, ...)
{
    const char *path = write_parts(p);
    cbx_graph  *g = (cbx_graph *)&path;
    cbx_error   err = {0};
    va_list     words;
    CHECK_INT(cbx_graph_load(path, &g, &err), CBX_INVALID);
    CHECK(g == NULL);
    CHECK_CONTAINS(err.message, path);
    va_start(words, p);
    for (const char *word; (word = va_arg(words, const char *));)
        CHECK_CONTAINS(err.message, word);
    va_end(words);
    CHECK_INT(cbx_graph_load(path, &g, NULL), CBX_INVALID);
}

static cbx_graph *load(const parts *p)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    CHECK_OK(cbx_graph_load(write_parts(p), &g, &err), err);
    return g;
}

TEST(the_good_files_are_good)
{
    parts d = good_dense(), s = good_sparse();
    cbx_graph_free(load(&d));
    cbx_graph_free(load(&s));
}

TEST(a_missing_tensor_is_an_error_that_names_it)
{
    static const char *const needed[] = {"edge_index", "x.shape", "x.indptr", "x.indices",
                                         "x.values"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        parts p = good_sparse();
        drop(&p, needed[i]);
        check_refused(&p, needed[i], NULL);
    }
    parts p = good_dense();
    drop(&p, "x");
    check_refused(&p, "not a graph file", "'x'", NULL);
}

TEST(a_tensor_of_the_wrong_type_is_an_error_that_names_it)
{
    static const struct {
        const char *name, *type;
        int32_t     rank;
        int64_t     a, b;
    } tensors[] = {{"edge_index", "I64", 2, 2, 6}, {"edge_weight", "F32", 1, 6, 0},
                   {"x.shape", "I64", 1, 2, 0},    {"x.indptr", "I64", 1, 5, 0},
                   {"x.indices", "I32", 1, 3, 0},  {"x.values", "F32", 1, 3, 0},
                   {"y", "I64", 1, 4, 0},          {"discrete_mask", "U8", 1, 2, 0},
                   {"feat_min", "F32", 1, 2, 0},   {"feat_max", "F32", 1, 2, 0},
                   {"train_mask", "U8", 1, 4, 0},  {"val_mask", "U8", 1, 4, 0},
                   {"test_mask", "U8", 1, 4, 0},   {"splits.val_mask", "U8", 2, 4, 1},
                   {"graph_ptr", "I64", 1, 3, 0},  {"train_idx", "I64", 1, 1, 0},
                   {"val_idx", "I64", 1, 1, 0},    {"test_idx", "I64", 1, 1, 0},
                   {"edge_attr", "F32", 2, 6, 2}};
    static const double zeros[12];
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        parts p = good_sparse();
        char  text[64];
        put(&p, tensors[i].name, CBX_F64, zeros, tensors[i].rank, tensors[i].a, tensors[i].b);
        (void)snprintf(text, sizeof text, "'%s' has dtype F64, %s", tensors[i].name,
                       tensors[i].type);
        check_refused(&p, text, NULL);
    }
    parts p = good_dense();
    put(&p, "x", CBX_F64, zeros, 2, 4, 2);
    check_refused(&p, "'x' has dtype F64, F32", NULL);
}

TEST(a_tensor_of_the_wrong_shape_is_an_error_that_says_both)
{
    static const struct {
        const char *name;
        cbx_dtype   dtype;
        int32_t     rank;
        int64_t     a, b;
        const char *both;
    } tensors[] = {{"edge_index", CBX_I64, 2, 3, 2, "[3, 2], [2, any]"},
                   {"edge_index", CBX_I64, 1, 6, 0, "[6], [2, any]"},
                   {"edge_weight", CBX_F32, 1, 5, 0, "[5], [6]"},
                   {"edge_attr", CBX_F32, 2, 5, 2, "[5, 2], [6, any]"},
                   {"x.shape", CBX_I64, 1, 3, 0, "[3], [2]"},
                   {"x.indptr", CBX_I64, 1, 4, 0, "[4], [5]"},
                   {"x.indices", CBX_I32, 1, 4, 0, "[4], [3]"},
                   {"x.values", CBX_F32, 2, 3, 1, "[3, 1], [3]"},
                   {"y", CBX_I64, 1, 5, 0, "[5], [4]"},
                   {"discrete_mask", CBX_U8, 1, 3, 0, "[3], [2]"},
                   {"feat_min", CBX_F32, 1, 1, 0, "[1], [2]"},
                   {"feat_max", CBX_F32, 2, 2, 1, "[2, 1], [2]"},
                   {"train_mask", CBX_U8, 1, 3, 0, "[3], [4]"},
                   {"splits.test_mask", CBX_U8, 2, 5, 1, "[5, 1], [4, any]"},
                   {"train_idx", CBX_I64, 2, 1, 1, "[1, 1], [any]"}};
    static const double data[12];
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        parts p = good_sparse();
        put(&p, tensors[i].name, tensors[i].dtype, data, tensors[i].rank, tensors[i].a,
            tensors[i].b);
        check_refused(&p, tensors[i].name, tensors[i].both, NULL);
    }
    parts p = good_dense();
    put(&p, "x", CBX_F32, x, 1, 8, 0);
    check_refused(&p, "'x'", "[8], [any, any]", NULL);
}

TEST(edges_that_point_outside_are_errors)
{
    int64_t bad[12] = {0};
    parts   p = good_dense();
    put(&p, "edge_index", CBX_I64, bad, 2, 2, 6);
    static const int64_t ends[] = {4, -1, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int at = 2; at < 12; at += 6) {
            char text[64];
            memcpy(bad, edges, sizeof bad);
            bad[at] = ends[i];
            (void)snprintf(text, sizeof text, "%lld", (long long)ends[i]);
            check_refused(&p, "edge 2", text, "0 to 3", NULL);
        }
}

TEST(weights_and_features_that_are_no_fit_numbers_are_errors)
{
    float bad[8] = {0};
    parts p = good_dense();
    put(&p, "x", CBX_F32, bad, 2, 4, 2);
    memcpy(bad, x, sizeof bad);
    bad[5] = NAN;
    check_refused(&p, "feature 1 of node 2", "nan", NULL);
    bad[5] = -INFINITY;
    check_refused(&p, "feature 1 of node 2", "inf", NULL);
    put(&p, "x", CBX_F32, x, 2, 4, 2);
    put(&p, "edge_weight", CBX_F32, (const float[]){1, 1, NAN, 1, 1, 1}, 1, 6, 0);
    check_refused(&p, "edge 2", "1 -> 2", "nan", NULL);
    put(&p, "edge_weight", CBX_F32, (const float[]){1, 1, 1, 1, 1, -0.5f}, 1, 6, 0);
    check_refused(&p, "edge 5", "0 -> 1", "-0.5", NULL);
    parts s = good_sparse();
    put(&s, "x.values", CBX_F32, bad + 3, 1, 3, 0);
    check_refused(&s, "feature 0 of node 3", "inf", NULL);
    put(&s, "x.values", CBX_F32, values, 1, 3, 0);
    put(&s, "feat_max", CBX_F32, (const float[]){1, NAN}, 1, 2, 0);
    check_refused(&s, "feature 1", NULL);
}

TEST(labels_out_of_range_are_errors)
{
    int64_t bad[4] = {0, 1, -2, 1};
    parts   p = good_dense();
    put(&p, "y", CBX_I64, bad, 1, 4, 0);
    check_refused(&p, "label -2 of node 2", NULL);
    note(&p, "num_classes", "3");
    bad[2] = 3;
    check_refused(&p, "label 3 of node 2", "0 to 2", NULL);
    bad[2] = 2;
    cbx_graph *g = load(&p);
    CHECK(g && g->data.num_classes == 3);
    cbx_graph_free(g);
}

TEST(a_wrong_number_of_classes_is_an_error)
{
    static const char *const bad[] = {"", "three", "3x", "0", "-1", "99999999999", "1e3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parts p = good_dense();
        note(&p, "num_classes", bad[i]);
        check_refused(&p, "num_classes", bad[i], NULL);
    }
}

TEST(sparse_features_that_contradict_themselves_are_errors)
{
    static const struct {
        int64_t     indptr[5];
        int32_t     indices[3];
        const char *word;
    } bad[] = {{{1, 1, 1, 2, 3}, {0, 1, 0}, "x.indptr"},
               {{0, 2, 1, 2, 3}, {0, 1, 0}, "x.indptr"},
               {{0, 1, 1, 2, -1}, {0, 1, 0}, "x.indptr"},
               {{0, 1000000000, 1, 2, 3}, {0, 1, 0}, "x.indptr"},
               {{0, 4, 4, 4, 3}, {0, 1, 0}, "x.indptr"},
               {{0, -5, 1, 2, 3}, {0, 1, 0}, "x.indptr"},
               {{0, 1, 1, 2, 3}, {0, 2, 0}, "column 2"},
               {{0, 1, 1, 2, 3}, {0, -1, 0}, "column -1"},
               {{0, 2, 2, 2, 3}, {1, 0, 0}, "ascend"},
               {{0, 2, 2, 2, 3}, {1, 1, 0}, "ascend"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parts p = good_sparse();
        put(&p, "x.indptr", CBX_I64, bad[i].indptr, 1, 5, 0);
        put(&p, "x.indices", CBX_I32, bad[i].indices, 1, 3, 0);
        check_refused(&p, bad[i].word, NULL);
    }
}

TEST(sizes_beyond_32_bits_are_errors)
{
    parts p = good_sparse();
    put(&p, "x.shape", CBX_I64, (const int64_t[]){(int64_t)1 << 31, 2}, 1, 2, 0);
    check_refused(&p, "x.shape", "larger", NULL);
    put(&p, "x.shape", CBX_I64, (const int64_t[]){4, INT64_MAX}, 1, 2, 0);
    check_refused(&p, "x.shape", "larger", NULL);
    put(&p, "x.shape", CBX_I64, (const int64_t[]){-1, 2}, 1, 2, 0);
    check_refused(&p, "x.shape", NULL);
    put(&p, "x", CBX_F32, x, 2, 0, (int64_t)1 << 40);
    check_refused(&p, "'x'", "larger", NULL);
    put(&p, "x", CBX_F32, x, 2, 0, 2);
    drop(&p, "y");
    drop(&p, "train_mask");
    check_refused(&p, "at least one node", NULL);
    put(&p, "x", CBX_F32, x, 2, 4, 0);
    put(&p, "discrete_mask", CBX_U8, train, 1, 0, 0);
    put(&p, "feat_min", CBX_F32, lowest, 1, 0, 0);
    put(&p, "feat_max", CBX_F32, lowest, 1, 0, 0);
    check_refused(&p, "at least one feature", NULL);
}

TEST(graph_ptr_must_divide_the_nodes)
{
    static const struct {
        int64_t     ptr[3];
        int64_t     count;
        const char *word;
    } bad[] = {{{0, 2, 3}, 3, "graph_ptr"},  {{1, 2, 4}, 3, "graph_ptr"},
               {{0, 5, 4}, 3, "graph_ptr"},  {{0, 0, 4}, 3, "graph_ptr"},
               {{0, -2, 4}, 3, "graph_ptr"}, {{0, 2, 4}, 3, "outside graph"},
               {{0, 0, 0}, 1, "graph_ptr"},  {{0, 0, 0}, 0, "graph_ptr"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parts p = good_dense();
        put(&p, "graph_ptr", CBX_I64, bad[i].ptr, 1, bad[i].count, 0);
        drop(&p, "train_mask");
        put(&p, "y", CBX_I64, y, 1, bad[i].count > 1 ? bad[i].count - 1 : 4, 0);
        check_refused(&p, bad[i].word, NULL);
    }
}

/* ---- splits */

TEST(index_lists_become_masks)
{
    parts p = good_dense();
    drop(&p, "train_mask");
    put(&p, "train_idx", CBX_I64, (const int64_t[]){3, 0}, 1, 2, 0);
    put(&p, "val_idx", CBX_I64, (const int64_t[]){2}, 1, 1, 0);
    put(&p, "test_idx", CBX_I64, (const int64_t[]){1}, 1, 0, 0); /* empty */
    cbx_graph *g = load(&p);
    if (!g)
        return;
    CHECK_INT(g->data.num_splits, 1);
    CHECK(!memcmp(g->data.train_mask, (const uint8_t[]){1, 0, 0, 1}, 4));
    CHECK(!memcmp(g->data.val_mask, (const uint8_t[]){0, 0, 1, 0}, 4));
    CHECK(!memcmp(g->data.test_mask, (const uint8_t[]){0, 0, 0, 0}, 4));
    cbx_graph_free(g);
}

TEST(a_mask_goes_before_an_index_list)
{
    parts p = good_dense();
    put(&p, "train_idx", CBX_I64, (const int64_t[]){3}, 1, 1, 0);
    cbx_graph *g = load(&p);
    CHECK(g && !memcmp(g->data.train_mask, train, 4));
    cbx_graph_free(g);
}

TEST(an_index_that_is_no_row_is_an_error)
{
    static const char *const lists[] = {"train_idx", "val_idx", "test_idx"};
    for (int i = 0; i < 3; i++) {
        parts p = good_dense();
        drop(&p, "train_mask");
        put(&p, lists[i], CBX_I64, (const int64_t[]){0, 4}, 1, 2, 0);
        check_refused(&p, lists[i], "row 4", "0 to 3", NULL);
        put(&p, lists[i], CBX_I64, (const int64_t[]){-1, 2}, 1, 2, 0);
        check_refused(&p, lists[i], "row -1", NULL);
    }
}

TEST(splits_of_different_numbers_are_errors)
{
    static const uint8_t many[12] = {1, 1, 1};
    parts                p = good_dense();
    put(&p, "splits.val_mask", CBX_U8, many, 2, 4, 3);
    check_refused(&p, "splits.val_mask", "3 splits", "1", NULL);
    put(&p, "splits.val_mask", CBX_U8, many, 2, 4, 0);
    check_refused(&p, "splits.val_mask", "0 splits", NULL);
    drop(&p, "splits.val_mask");
    drop(&p, "train_mask");
    put(&p, "splits.train_mask", CBX_U8, many, 2, 4, 3);
    put(&p, "test_idx", CBX_I64, (const int64_t[]){3}, 1, 1, 0);
    check_refused(&p, "test_idx", "3", NULL);
}

TEST(masks_may_be_of_bools)
{
    parts p = good_dense();
    put(&p, "train_mask", CBX_BOOL, train, 1, 4, 0);
    cbx_graph *g = load(&p);
    CHECK(g && !memcmp(g->data.train_mask, train, 4));
    cbx_graph_free(g);
}

TEST(names_that_are_no_list_of_texts_are_errors)
{
    static const char *const bad[] = {"",
                                      "{}",
                                      "[\"a\", \"b\"]",
                                      "[\"a\", \"b\", \"c\", 4]",
                                      "[\"a\", \"b\", \"c\", \"d\"",
                                      "not JSON",
                                      "[]",
                                      "\"a\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parts p = good_dense();
        note(&p, "node_names", bad[i]);
        check_refused(&p, "node_names", NULL);
    }
    parts p = good_dense();
    note(&p, "class_names", "[\"a\"]");
    check_refused(&p, "class_names", "3", NULL);
    p.meta[0].key = "feature_names";
    check_refused(&p, "feature_names", "2", NULL);
}

TEST(a_file_that_is_missing_or_no_safetensors_is_an_error)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    CHECK_INT(cbx_graph_load(test_path("absent"), &g, &err), CBX_IO);
    CHECK_CONTAINS(err.message, "absent");
    const char *path = test_path("text");
    test_write_file(path, "source,target\n0,1\n", 18);
    CHECK_INT(cbx_graph_load(path, &g, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, path);
}

/* ---- the shared data */

static int64_t count_of(const cbx_tensor_file *f, const char *key)
{
    const char *text = cbx_tensors_meta(f, key);
    return text ? strtoll(text, NULL, 10) : 0;
}

static void check_shared(const char *path)
{
    cbx_tensor_file *f = NULL;
    cbx_graph       *g = NULL;
    cbx_error        err = {0};
    if (CHECK_OK(cbx_tensors_open(path, &f, &err), err) &&
        CHECK_OK(cbx_graph_load(path, &g, &err), err)) {
        const cbx_graph_data *d = cbx_graph_arrays(g);
        CHECK_INT(d->num_nodes, count_of(f, "num_nodes"));
        CHECK_INT(d->num_edges, count_of(f, "num_edges"));
        CHECK_INT(d->num_features, count_of(f, "num_features"));
        CHECK_INT(d->num_classes, count_of(f, "num_classes"));
        CHECK_INT(d->num_graphs, count_of(f, "num_graphs"));
        CHECK((d->task == CBX_GRAPH) ==
              !strcmp(cbx_tensors_meta(f, "task"), "graph classification"));
        CHECK(d->y && d->name && !strcmp(d->name, cbx_tensors_meta(f, "name")));
        CHECK_INT(d->num_splits,
                  cbx_tensors_find(f, "splits.train_mask")                                ? 10
                  : cbx_tensors_find(f, "train_mask") || cbx_tensors_find(f, "train_idx") ? 1
                                                                                          : 0);
        CHECK((d->x_indptr != NULL) == (cbx_tensors_find(f, "x.indptr") != NULL));
    }
    cbx_graph_free(g);
    cbx_tensors_close(f);
}

TEST(all_shared_data_sets_load_with_the_counts_they_state)
{
    const char *folder = test_shared("data");
    DIR        *dir = folder ? opendir(folder) : NULL;
    int         count = 0;
    if (!dir) {
        test_skip("needs $CBX_SHARED/data");
        return;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char        name[512];
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".safetensors") != 0)
            continue;
        (void)snprintf(name, sizeof name, "data/%s", e->d_name);
        check_shared(test_shared(name));
        count++;
    }
    (void)closedir(dir);
    CHECK(count >= 20);
}

/* ---- memory */

static cbx_status load_once(void *path)
{
    cbx_graph *g = NULL;
    cbx_error  err = {0};
    cbx_status status = cbx_graph_load(path, &g, &err);
    CHECK((status == CBX_OK) == (g != NULL));
    CHECK(status == err.status);
    cbx_graph_free(g);
    return status;
}

TEST(loading_survives_every_failing_allocation)
{
    char  path[512];
    parts dense = good_dense(), sparse = good_sparse();
    drop(&dense, "train_mask");
    drop(&dense, "discrete_mask");
    put(&dense, "train_idx", CBX_I64, y, 1, 2, 0);
    note(&dense, "node_names", "[\"one that is rather long\",\"two\",\"three\",\"four\"]");
    note(&dense, "class_names", "[\"one\",\"two\",\"three\"]");
    (void)snprintf(path, sizeof path, "%s", write_parts(&dense));
    test_each_allocation(load_once, path);
    (void)snprintf(path, sizeof path, "%s", write_parts(&sparse));
    test_each_allocation(load_once, path);
}

typedef struct saving {
    cbx_graph  *graph;
    const char *path;
} saving;

static cbx_status save_once(void *user)
{
    saving    *s = user;
    cbx_error  err = {0};
    cbx_status status = cbx_graph_save(s->graph, s->path, &err);
    CHECK(status == err.status);
    return status;
}

TEST(saving_survives_every_failing_allocation_and_keeps_the_old_file)
{
    parts          p = good_dense();
    char           path[512];
    saving         s = {.path = path};
    cbx_graph_data d = plain;
    d.name = "a name of some length";
    d.node_names = (const char *const[]){"one that is rather long", "two", "three", "four"};
    d.num_classes = 3;
    d.class_names = (const char *const[]){"one", "two", "three"};
    (void)snprintf(path, sizeof path, "%s", write_parts(&p));
    CHECK_INT(cbx_graph_new(&d, &s.graph, NULL), CBX_OK);
    test_each_allocation(save_once, &s);
    cbx_graph *loaded = NULL;
    CHECK_INT(cbx_graph_load(path, &loaded, NULL), CBX_OK);
    if (loaded)
        same_data(cbx_graph_arrays(s.graph), cbx_graph_arrays(loaded), 4);
    cbx_graph_free(loaded);
    cbx_graph_free(s.graph);
}
