/* SPDX-License-Identifier: Apache-2.0 */
/* Model files: what is saved is loaded, bit for bit; names and shapes are PyG's; the
 * golden models predict what PyTorch predicted; a wrong file is a clear error. */
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parsed.h"
#include "pass.h"
#include "safetensors.h"

/* A graph of 4 nodes, 3 features and 2 classes, or 2 graphs of 2 nodes. */
static cbx_graph *small_graph(cbx_task task)
{
    static const int64_t source[4] = {0, 1, 2, 3}, target[4] = {1, 0, 3, 2}, ptr[3] = {0, 2, 4};
    static const int64_t y[4] = {0, 1, 1, 0};
    static const float   x[12] = {1, 0, 2, 0, 1, 0, 3, 1, 0, 0, 0, 1};
    cbx_graph_data       d = {.task = task,
                              .num_nodes = 4,
                              .num_features = 3,
                              .num_edges = 4,
                              .edge_source = source,
                              .edge_target = target,
                              .x = x,
                              .y = y,
                              .num_graphs = task == CBX_GRAPH ? 2 : 0,
                              .graph_ptr = task == CBX_GRAPH ? ptr : NULL};
    cbx_graph           *g = NULL;
    cbx_error            err = {0};
    CHECK_OK(cbx_graph_new(&d, &g, &err), err);
    return g;
}

static cbx_model *small_model(cbx_task task, const char *const *settings)
{
    cbx_graph     *g = small_graph(task);
    cbx_model_spec spec;
    cbx_model     *m = NULL;
    cbx_error      err = {0};
    cbx_fields_default(cbx_model_table(), &spec);
    CHECK_OK(cbx_fields_set(cbx_model_table(), &spec, "model", "gcn", &err), err);
    for (; *settings; settings += 2)
        CHECK_OK(cbx_fields_set(cbx_model_table(), &spec, settings[0], settings[1], &err), err);
    CHECK_OK(cbx_model_new_with(g, &spec, 7, &m, &err), err);
    cbx_graph_free(g);
    return m;
}

#define MODEL(task, ...) small_model((task), (const char *const[]){__VA_ARGS__, NULL})

static bool same_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* ---- saving and loading */

static void check_round_trip(cbx_model *m)
{
    const char *path = test_path("model.safetensors");
    cbx_model  *back = NULL;
    cbx_error   err = {0};
    if (m && CHECK_OK(cbx_model_save(m, path, &err), err) &&
        CHECK_OK(cbx_model_load(path, &back, &err), err)) {
        cbx_model_info a = cbx_model_describe(m), b = cbx_model_describe(back);
        CHECK(a.task == b.task && same_text(a.conv, b.conv) && same_text(a.head, b.head));
        CHECK(same_text(a.pool, b.pool) && same_text(a.aggregation, b.aggregation));
        CHECK(a.num_layers == b.num_layers && a.hidden == b.hidden && a.order == b.order);
        CHECK(a.num_features == b.num_features && a.num_classes == b.num_classes);
        CHECK(a.dropout == b.dropout);
        cbx_layer_settings s = m->layers[0].set, t = back->layers[0].set;
#define X(type, field, ...) CHECK(s.field == t.field);
#include "layer_settings.def"
#undef X
        if (CHECK_INT(a.num_parameters, b.num_parameters))
            CHECK(!memcmp(m->theta, back->theta, (size_t)m->size * sizeof *m->theta));
    }
    cbx_model_free(m);
    cbx_model_free(back);
}

TEST(every_kind_of_model_comes_back_bit_for_bit)
{
    check_round_trip(MODEL(CBX_NODE, "hidden", "5"));
    check_round_trip(MODEL(CBX_NODE, "hidden", "5", "head", "last", "dropout", "0.1"));
    check_round_trip(MODEL(CBX_NODE, "model", "cheb", "hidden", "4", "order", "1"));
    check_round_trip(MODEL(CBX_NODE, "model", "cheb", "hidden", "4", "order", "5", "head", "cat"));
    check_round_trip(MODEL(CBX_NODE, "model", "graphconv", "layers", "1", "dropout", "0"));
    check_round_trip(MODEL(CBX_NODE, "model", "graphconv", "aggregation", "mean", "hidden", "6"));
    check_round_trip(MODEL(CBX_GRAPH, "model", "graphconv", "aggregation", "max", "pool", "sum"));
    check_round_trip(MODEL(CBX_NODE, "model", "gin", "hidden", "5", "eps", "0.25"));
    check_round_trip(MODEL(CBX_GRAPH, "model", "gin", "mlp-hidden", "7", "train-eps", "true"));
    check_round_trip(MODEL(CBX_NODE, "model", "gat", "hidden", "6", "heads", "3"));
    check_round_trip(MODEL(CBX_NODE, "model", "gat", "hidden", "5", "heads", "2", "average-heads",
                           "true", "negative-slope", "0.3", "no-self-loops", "true"));
    check_round_trip(MODEL(CBX_GRAPH, "pool", "max", "hidden", "3", "layers", "2"));
    check_round_trip(MODEL(CBX_NODE, "model", "sage", "residual", "true", "hidden", "3"));
    check_round_trip(MODEL(CBX_NODE, "model", "cheb", "order", "2", "batch-norm", "true"));
    check_round_trip(
        MODEL(CBX_GRAPH, "head-hidden", "5", "residual", "true", "batch-norm", "true"));
    check_round_trip(MODEL(CBX_GRAPH, "layers", "64", "hidden", "1", "dropout", "0.99"));
}

TEST(notes_come_back)
{
    const char *path = test_path("model.safetensors");
    cbx_model  *m = MODEL(CBX_NODE, "hidden", "2"), *back = NULL;
    CHECK_INT(cbx_model_set_note(m, "data", "größe \"x\"", NULL), CBX_OK);
    CHECK_INT(cbx_model_set_note(m, "test_accuracy", "0.5", NULL), CBX_OK);
    CHECK_INT(cbx_model_save(m, path, NULL), CBX_OK);
    CHECK_INT(cbx_model_load(path, &back, NULL), CBX_OK);
    if (back) {
        CHECK(same_text(cbx_model_note(back, "data"), "größe \"x\""));
        CHECK(same_text(cbx_model_note(back, "test_accuracy"), "0.5"));
        CHECK(!cbx_model_note(back, "arch") && !cbx_model_note(back, "format"));
    }
    cbx_model_free(m);
    cbx_model_free(back);
}

TEST(a_note_cannot_take_the_place_of_the_architecture)
{
    cbx_model *m = MODEL(CBX_NODE, "hidden", "2");
    cbx_error  err = {0};
    CHECK_INT(cbx_model_set_note(m, "arch", "{}", &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "arch");
    CHECK_INT(cbx_model_set_note(m, "format", "tf", &err), CBX_INVALID);
    check_round_trip(m);
}

TEST(the_file_has_pyg_names_and_shapes_and_says_what_it_is)
{
    const char      *path = test_path("model.safetensors");
    cbx_model       *m = MODEL(CBX_NODE, "hidden", "5", "layers", "2");
    cbx_tensor_file *f = NULL;
    float            weight[15];
    CHECK_INT(cbx_model_save(m, path, NULL), CBX_OK);
    if (CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK)) {
        const cbx_tensor *w = cbx_tensors_find(f, "layers.0.lin.weight");
        const cbx_tensor *b = cbx_tensors_find(f, "layers.1.bias");
        const cbx_tensor *head = cbx_tensors_find(f, "output_layer.weight");
        const cbx_tensor *last = cbx_tensors_find(f, "output_layer.bias");
        CHECK_INT((int64_t)f->count, 6);
        CHECK(w && w->dtype == CBX_F32 && w->rank == 2 && w->shape[0] == 5 && w->shape[1] == 3);
        CHECK(b && b->rank == 1 && b->shape[0] == 5);
        CHECK(head && head->rank == 2 && head->shape[0] == 2 && head->shape[1] == 10);
        CHECK(last && last->rank == 1 && last->shape[0] == 2);
        CHECK_INT(cbx_model_get(m, 0, weight, 15, NULL), CBX_OK);
        CHECK(w && !memcmp(w->data, weight, sizeof weight));
        CHECK(same_text(cbx_tensors_meta(f, "format"), "pt"));
    }
    cbx_tensors_close(f);
    cbx_model_free(m);
}

static const cbx_json *saved_arch(cbx_arena *arena, cbx_model *m)
{
    const char      *path = test_path("model.safetensors");
    cbx_tensor_file *f = NULL;
    CHECK_INT(cbx_model_save(m, path, NULL), CBX_OK);
    CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK);
    const char     *text = f ? cbx_tensors_meta(f, "arch") : NULL;
    const cbx_json *arch = parsed(arena, text, text ? strlen(text) : 0);
    cbx_tensors_close(f);
    cbx_model_free(m);
    return arch;
}

static bool arch_is(const cbx_json *arch, const char *key, const char *value)
{
    return same_text(text_of(cbx_json_get(arch, key)), value);
}

TEST(the_architecture_is_json)
{
    cbx_arena       arena = {0};
    const cbx_json *a = saved_arch(&arena, MODEL(CBX_NODE, "dropout", "0.1"));
    CHECK(arch_is(a, "task", "node") && arch_is(a, "conv", "gcn") && arch_is(a, "jk", "cat"));
    CHECK(arch_is(a, "pool", "none") && !cbx_json_get(a, "aggr"));
    CHECK(number_of(cbx_json_get(a, "dropout")) == 0.1);
    a = saved_arch(&arena,
                   MODEL(CBX_GRAPH, "model", "graphconv", "aggregation", "mean", "pool", "max"));
    CHECK(arch_is(a, "task", "graph") && arch_is(a, "conv", "graphconv") &&
          arch_is(a, "jk", "last"));
    CHECK(arch_is(a, "pool", "max") && arch_is(a, "aggr", "mean"));
    cbx_arena_free(&arena);
}

TEST(what_stands_around_layers_is_in_an_architecture_where_it_is_there)
{
    cbx_arena       arena = {0};
    const cbx_json *a = saved_arch(&arena, MODEL(CBX_NODE, "batch-norm", "true"));
    CHECK(cbx_json_get(a, "batch_norm") && cbx_json_get(a, "batch_norm")->integer == 1);
    CHECK(!cbx_json_get(a, "residual"));
    a = saved_arch(&arena, MODEL(CBX_NODE, "residual", "true", "head-hidden", "4"));
    CHECK(cbx_json_get(a, "residual") && !cbx_json_get(a, "batch_norm"));
    cbx_arena_free(&arena);
}

TEST(settings_of_a_layer_are_in_its_architecture)
{
    cbx_arena       arena = {0};
    const cbx_json *a = saved_arch(&arena, MODEL(CBX_NODE, "model", "gat", "heads", "4"));
    CHECK(number_of(cbx_json_get(a, "heads")) == 4);
    CHECK(number_of(cbx_json_get(a, "negative_slope")) == 0.2);
    CHECK(cbx_json_get(a, "average_heads") && cbx_json_get(a, "no_self_loops"));
    CHECK(!cbx_json_get(a, "eps") && !cbx_json_get(a, "aggr"));
    a = saved_arch(&arena, MODEL(CBX_NODE, "model", "gin", "eps", "0.5", "train-eps", "true"));
    CHECK(number_of(cbx_json_get(a, "eps")) == 0.5 && !cbx_json_get(a, "heads"));
    CHECK(cbx_json_get(a, "train_eps") && cbx_json_get(a, "train_eps")->integer == 1);
    cbx_arena_free(&arena);
}

/* ---- wrong files */

enum { MOST = 72 };

typedef struct parts {
    cbx_tensor  tensors[MOST];
    size_t      count;
    const char *arch;
} parts;

static const float some[64] = {0.5f, -1, 2};

static void put(parts *p, const char *name, int32_t rank, int64_t a, int64_t b)
{
    cbx_tensor t = {.name = name, .dtype = CBX_F32, .rank = rank, .shape = {a, b}, .data = some};
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->tensors[i].name, name)) {
            p->tensors[i] = t;
            return;
        }
    p->tensors[p->count++] = t;
}

static void drop(parts *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->tensors[i].name, name))
            p->tensors[i] = p->tensors[--p->count];
}

/* Two gcn layers of 4 and 5 units on 3 features, 2 classes. */
static parts good(void)
{
    parts p = {.arch = "{\"task\":\"node\",\"conv\":\"gcn\",\"jk\":\"last\",\"pool\":\"none\","
                       "\"dropout\":0.5}"};
    put(&p, "layers.0.lin.weight", 2, 4, 3);
    put(&p, "layers.0.bias", 1, 4, 0);
    put(&p, "layers.1.lin.weight", 2, 5, 4);
    put(&p, "layers.1.bias", 1, 5, 0);
    put(&p, "output_layer.weight", 2, 2, 5);
    put(&p, "output_layer.bias", 1, 2, 0);
    return p;
}

static const char *write_parts(const parts *p)
{
    const char *path = test_path("wrong.safetensors");
    cbx_meta    meta = {"arch", p->arch};
    cbx_error   err = {0};
    CHECK_OK(cbx_tensors_write(path, p->tensors, p->count, &meta, p->arch != NULL, &err), err);
    return path;
}

static void check_refused(const parts *p, ...)
{
    const char *path = write_parts(p);
    cbx_model  *m = (cbx_model *)&path;
    cbx_error   err = {0};
    va_list     words;
    CHECK_INT(cbx_model_load(path, &m, &err), CBX_INVALID);
    CHECK(m == NULL);
    CHECK_CONTAINS(err.message, path);
    va_start(words, p);
    for (const char *word; (word = va_arg(words, const char *));)
        CHECK_CONTAINS(err.message, word);
    va_end(words);
    CHECK_INT(cbx_model_load(path, &m, NULL), CBX_INVALID);
}

/* A gat layer of 2 heads of 3 units. */
static parts good_gat(const char *arch)
{
    parts      p = {.arch = arch};
    cbx_tensor vector = {
        .name = "layers.0.att_src", .dtype = CBX_F32, .rank = 3, .shape = {1, 2, 3}, .data = some};
    put(&p, "layers.0.lin.weight", 2, 6, 3);
    p.tensors[p.count++] = vector;
    vector.name = "layers.0.att_dst";
    p.tensors[p.count++] = vector;
    put(&p, "layers.0.bias", 1, 6, 0);
    put(&p, "output_layer.weight", 2, 2, 6);
    put(&p, "output_layer.bias", 1, 2, 0);
    return p;
}

#define GAT(more) "{\"task\":\"node\",\"conv\":\"gat\"" more "}"

TEST(settings_that_are_not_right_are_refused)
{
    parts      p = good_gat(GAT(",\"heads\":2"));
    cbx_model *m = NULL;
    CHECK_INT(cbx_model_load(write_parts(&p), &m, NULL), CBX_OK);
    cbx_model_free(m);
    p = good_gat(GAT(",\"heads\":3"));
    check_refused(&p, "layers.0.att_src", "[1, 2, 3]", "[1, 3, 2]", NULL);
    p = good_gat(GAT(",\"heads\":4"));
    check_refused(&p, "6 units", "4 heads", NULL);
    p = good_gat(GAT(",\"heads\":0"));
    check_refused(&p, "heads", "0", "out of range", NULL);
    p = good_gat(GAT(",\"heads\":\"2\""));
    check_refused(&p, "heads is not a whole number", NULL);
    p = good_gat(GAT(",\"heads\":2,\"no_self_loops\":1"));
    check_refused(&p, "no_self_loops is not true or false", NULL);
    p = good_gat(GAT(",\"heads\":2,\"negative_slope\":true"));
    check_refused(&p, "negative_slope is not a number", NULL);
    p = good_gat(GAT(",\"heads\":2,\"average_heads\":true"));
    check_refused(&p, "layers.0.lin.weight", "[6, 3]", "[12, 3]", NULL);
}

static cbx_model *load(const parts *p)
{
    cbx_model *m = NULL;
    cbx_error  err = {0};
    CHECK_OK(cbx_model_load(write_parts(p), &m, &err), err);
    return m;
}

TEST(a_model_of_uneven_layers_loads)
{
    parts      p = good();
    cbx_model *m = load(&p);
    if (m) {
        cbx_model_info i = cbx_model_describe(m);
        CHECK(i.num_layers == 2 && i.hidden == 5 && i.num_features == 3 && i.num_classes == 2);
        CHECK_INT(i.num_parameters, 12 + 4 + 20 + 5 + 10 + 2);
    }
    check_round_trip(m);
    p.arch = "{\"task\":\"node\",\"conv\":\"gcn\",\"jk\":\"cat\"}";
    put(&p, "output_layer.weight", 2, 2, 9);
    check_round_trip(load(&p));
}

TEST(a_file_without_an_architecture_is_no_model)
{
    static const char *const bad[] = {
        NULL,  "",
        "gcn", "[]",
        "{",   "{\"task\":\"node\"} x",
        "12",  "{\"task\":\"node\",\"task\":\"graph\",\"conv\":\"gcn\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parts p = good();
        p.arch = bad[i];
        check_refused(&p, "not a model file", "arch", NULL);
    }
}

TEST(an_architecture_that_is_not_supported_is_an_error_that_says_what)
{
    static const struct {
        const char *arch, *word, *value;
    } bad[] = {
        {"{\"task\":\"node\"}", "conv", "missing"},
        {"{\"task\":\"node\",\"conv\":3}", "conv", "missing"},
        {"{\"task\":\"node\",\"conv\":\"no layer\"}", "conv", "'no layer'"},
        {"{\"conv\":\"gcn\"}", "task", "missing"},
        {"{\"conv\":\"gcn\",\"task\":\"link\"}", "task", "'link'"},
        {"{\"conv\":\"gcn\",\"task\":null}", "task", "not a text"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"jk\":\"lstm\"}", "jk", "'lstm'"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"jk\":true}", "jk", "not a text"},
        {"{\"conv\":\"gcn\",\"task\":\"graph\",\"pool\":\"topk\"}", "pool", "'topk'"},
        {"{\"conv\":\"gcn\",\"task\":\"graph\",\"pool\":\"none\"}", "pool", "graph task"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"aggr\":\"median\"}", "aggr", "'median'"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"dropout\":2}", "dropout", "0 to below 1"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"dropout\":1}", "dropout", "0 to below 1"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"dropout\":-0.5}", "dropout", "0 to below 1"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"dropout\":\"0.5\"}", "dropout", "0 to below 1"},
        {"{\"conv\":\"gcn\",\"task\":\"node\",\"dropout\":null}", "dropout", "0 to below 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parts p = good();
        p.arch = bad[i].arch;
        check_refused(&p, "arch", bad[i].word, bad[i].value, NULL);
    }
}

TEST(a_missing_parameter_is_an_error_that_names_it)
{
    static const char *const names[] = {"layers.0.lin.weight", "layers.0.bias", "layers.1.bias",
                                        "output_layer.weight", "output_layer.bias"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        parts p = good();
        drop(&p, names[i]);
        check_refused(&p, names[i], "missing", NULL);
    }
    /* Without its weight, layer 1 is not there, and the head does not fit. */
    parts p = good();
    drop(&p, "layers.1.lin.weight");
    check_refused(&p, "output_layer.weight", "[2, 5], [any, 4]", NULL);
}

TEST(a_parameter_of_the_wrong_shape_is_an_error_that_says_both)
{
    static const struct {
        const char *name;
        int32_t     rank;
        int64_t     a, b;
        const char *both;
    } bad[] = {{"layers.0.lin.weight", 1, 12, 0, "[12], [any, any]"},
               {"layers.0.lin.weight", 2, 0, 3, "[0, 3]"},
               {"layers.0.bias", 1, 3, 0, "[3], [4]"},
               {"layers.0.bias", 2, 4, 1, "[4, 1], [4]"},
               {"layers.1.lin.weight", 2, 5, 6, "[5, 6], [any, 4]"}, /* does not chain */
               {"layers.1.bias", 1, 4, 0, "[4], [5]"},
               {"output_layer.weight", 2, 2, 4, "[2, 4], [any, 5]"},
               {"output_layer.bias", 1, 5, 0, "[5], [2]"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parts p = good();
        put(&p, bad[i].name, bad[i].rank, bad[i].a, bad[i].b);
        check_refused(&p, bad[i].name, bad[i].both, NULL);
    }
    parts p = good();
    p.tensors[0].dtype = CBX_I32;
    check_refused(&p, "'layers.0.lin.weight' has dtype I32, F32", NULL);
}

/* Sizes that only fit together in a model of terabytes: no memory is asked for. */
TEST(a_small_file_cannot_ask_for_a_large_model)
{
    int64_t wide = 1000000;
    float  *zeros = calloc((size_t)wide, sizeof *zeros);
    parts   p = good();
    put(&p, "layers.0.lin.weight", 2, wide, 1);
    put(&p, "layers.1.lin.weight", 2, wide, 1);
    p.tensors[0].data = p.tensors[2].data = zeros;
    check_refused(&p, "layers.1.lin.weight", "[1000000, 1], [any, 1000000]", NULL);
    p = good();
    p.arch = "{\"task\":\"node\",\"conv\":\"graphconv\"}";
    p.count = 0;
    put(&p, "layers.0.lin_rel.weight", 2, 1000, 1000);
    put(&p, "layers.0.lin_rel.bias", 1, 1, 0);
    put(&p, "output_layer.weight", 2, 1000, 1000);
    p.tensors[0].data = p.tensors[2].data = zeros;
    check_refused(&p, "layers.0.lin_rel.bias", "[1], [1000]", NULL);
    free(zeros);
}

TEST(a_tensor_too_many_is_an_error_that_names_it)
{
    static const char *const extra[] = {"layers.3.lin.weight", "norms.0.weight",
                                        "layers.0.lins.1.weight"};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
        parts p = good();
        put(&p, extra[i], 2, 2, 2);
        check_refused(&p, extra[i], "no place", "gcn", NULL);
    }
}

TEST(more_layers_than_there_can_be_are_an_error)
{
    static char names[66][24];
    parts       p = good();
    p.count = 0;
    for (int l = 0; l < 65; l++) {
        (void)snprintf(names[l], sizeof names[l], "layers.%d.lin.weight", l);
        put(&p, names[l], 2, 3, 3);
    }
    check_refused(&p, "layers.64.lin.weight", "64", NULL);
}

TEST(a_parameter_that_is_not_finite_is_an_error)
{
    static const float bad[12] = {1, 2, 3, 4, 5, 6, 7, NAN, 9, 10, 11, INFINITY};
    parts              p = good();
    p.tensors[0].data = bad;
    check_refused(&p, "layers.0.lin.weight", "nan", "7", NULL);
    p = good();
    p.tensors[5].data = bad + 10;
    check_refused(&p, "output_layer.bias", "inf", NULL);
}

TEST(a_model_that_cannot_be_written_is_an_error)
{
    cbx_model *m = MODEL(CBX_NODE, "hidden", "2");
    cbx_error  err = {0};
    CHECK_INT(cbx_model_save(m, test_path("no/folder/model"), &err), CBX_IO);
    CHECK_CONTAINS(err.message, "no/folder/model");
    CHECK_INT(cbx_model_set_note(m, "data", "caf\xe9", NULL), CBX_OK);
    CHECK_INT(cbx_model_save(m, test_path("latin1"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'data'");
    CHECK(access(test_path("latin1"), F_OK) != 0);
    cbx_model_free(m);
}

/* ---- the golden models */

/* Log-probabilities of one row of the whole graph against a trace. */
static void check_row(const char *trace, const cbx_model *m, const float *row,
                      const cbx_json *golden)
{
    const cbx_json *expected = cbx_json_get(golden, "log_probs");
    int32_t         best = 0;
    bool            ok = CHECK_INT(count_of(expected), m->num_classes);
    for (int32_t k = 0; k < m->num_classes; k++) {
        double want = number_of(cbx_json_at(expected, (size_t)k));
        ok = CHECK_NEAR(row[k], want, 1e-4 * fmax(1, fabs(want))) && ok;
        best = row[k] > row[best] ? k : best;
    }
    ok = CHECK_INT(best, integer_of(cbx_json_get(golden, "prediction"))) && ok;
    if (!ok)
        printf("  (%s)\n", trace);
}

/* The explained node alone with its neighbourhood, as the traces were made. */
static void check_view(const char *trace, const cbx_model *m, const cbx_graph *g,
                       const cbx_json *golden)
{
    cbx_arena  arena = {0};
    cbx_view   view;
    cbx_matrix X;
    cbx_pass   pass;
    cbx_error  err = {0};
    int32_t    node = (int32_t)integer_of(cbx_json_get(golden, "node"));
    if (CHECK_OK(cbx_view_around(g, node, m->num_layers + 1, &arena, &view, &err), err) &&
        CHECK_OK(cbx_view_features(g, &view, &arena, &X, &err), err) &&
        CHECK_OK(cbx_pass_init(&pass, m, &view, &X, false, 1, &arena, &err), err)) {
        CHECK_INT(view.n, integer_of(cbx_json_get(golden, "nodes")));
        CHECK_INT(view.m, integer_of(cbx_json_get(golden, "edges")));
        cbx_pass_forward(&pass, &X, NULL, 0, 0);
        check_row(trace, m, pass.logp, golden);
    }
    cbx_arena_free(&arena);
}

static void check_trace(const char *trace, const cbx_model *m, const cbx_graph *g,
                        const float *logp)
{
    char name[512];
    (void)snprintf(name, sizeof name, "golden/%s", trace);
    cbx_arena       arena = {0};
    const cbx_json *golden = parsed_file(&arena, test_shared(name));
    const cbx_json *row = cbx_json_get(golden, m->task == CBX_GRAPH ? "graph" : "node");
    /* Several hops a layer see past the neighbourhood that the traces were cut to. */
    if (cbx_model_reach(m) <= m->num_layers)
        check_row(trace, m, logp + integer_of(row) * m->num_classes, golden);
    if (m->task == CBX_NODE)
        check_view(trace, m, g, golden);
    cbx_arena_free(&arena);
}

/* All traces of one model, "DATA-CONV". Returns how many there were. */
static int check_model(const char *data, const char *model)
{
    char       path[256], prefix[128];
    cbx_graph *g = NULL;
    cbx_model *m = NULL;
    cbx_error  err = {0};
    float     *logp = NULL;
    int        traces = 0;
    (void)snprintf(path, sizeof path, "data/%s.safetensors", data);
    bool ok = CHECK_OK(cbx_graph_load(test_shared(path), &g, &err), err);
    (void)snprintf(path, sizeof path, "golden/%s-%s.model.safetensors", data, model);
    (void)snprintf(prefix, sizeof prefix, "%s-%s-", data, model);
    ok = ok && CHECK_OK(cbx_model_load(test_shared(path), &m, &err), err);
    DIR *dir = ok ? opendir(test_shared("golden")) : NULL;
    if (dir) {
        logp = malloc((size_t)cbx_graph_label_rows(g) * (size_t)m->num_classes * sizeof *logp);
        CHECK_OK(cbx_predict(m, g, 0, logp, &err), err);
    }
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!strncmp(e->d_name, prefix, strlen(prefix))) {
            check_trace(e->d_name, m, g, logp);
            traces++;
        }
    if (dir)
        (void)closedir(dir);
    free(logp);
    cbx_graph_free(g);
    cbx_model_free(m);
    return traces;
}

TEST(the_golden_models_predict_what_pytorch_predicted)
{
    if (!test_shared("golden") || !test_shared("data")) {
        test_skip("needs $CBX_SHARED/golden and $CBX_SHARED/data");
        return;
    }
    CHECK_INT(check_model("karate", "gcn"), 24);
    CHECK_INT(check_model("karate", "graphconv"), 6);
    CHECK_INT(check_model("karate", "cheb1"), 2);
    CHECK_INT(check_model("karate", "cheb3"), 6);
    CHECK_INT(check_model("cornell", "graphconv"), 10);
    CHECK_INT(check_model("citeseer", "gcn"), 6);
    CHECK_INT(check_model("AIDS-graphs", "gcn"), 8);
    CHECK_INT(check_model("ENZYMES-graphs", "graphconv"), 2);
}

/* ---- memory */

static cbx_status load_once(void *path)
{
    cbx_model *m = NULL;
    cbx_error  err = {0};
    cbx_status status = cbx_model_load(path, &m, &err);
    CHECK((status == CBX_OK) == (m != NULL));
    CHECK(status == err.status);
    cbx_model_free(m);
    return status;
}

typedef struct saving {
    cbx_model  *model;
    const char *path;
} saving;

static cbx_status save_once(void *user)
{
    saving    *s = user;
    cbx_error  err = {0};
    cbx_status status = cbx_model_save(s->model, s->path, &err);
    CHECK(status == err.status);
    return status;
}

TEST(saving_and_loading_survive_every_failing_allocation)
{
    char   path[512];
    saving s = {MODEL(CBX_GRAPH, "model", "graphconv", "hidden", "40"), path};
    (void)snprintf(path, sizeof path, "%s", test_path("memory.safetensors"));
    CHECK_INT(cbx_model_set_note(s.model, "data", "a name that is long enough to need room", NULL),
              CBX_OK);
    test_each_allocation(save_once, &s);
    test_each_allocation(load_once, path);
    cbx_model *back = NULL;
    CHECK_INT(cbx_model_load(path, &back, NULL), CBX_OK);
    CHECK(back && !memcmp(back->theta, s.model->theta, (size_t)back->size * sizeof(float)));
    cbx_model_free(back);
    cbx_model_free(s.model);
}
