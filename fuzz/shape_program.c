/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an exported model: y = b + the sum of (x W)[source] over edges. Facts: features,
 * classes, W + b by rows. */
#include "sheet_arrays.h"

static const char *const names[] = {"x",    "w",    "b",    "edge_index", "src", "dst", "z",
                                    "from", "zero", "none", "y",          "",    NULL};
static const char *const targets[] = {"mm.default",
                                      "add.Tensor",
                                      "relu.default",
                                      "select.int",
                                      "view.default",
                                      "scatter_add.default",
                                      "expand.default",
                                      "cat.default",
                                      "index.Tensor",
                                      "no.such.thing",
                                      "sum.default",
                                      "topk.default",
                                      "permute.default",
                                      "",
                                      NULL};

/* A tensor's type and sizes, of which -1 depends on the graph. Sizes of a weight are its own to
 * tell: it is a smaller one then. */
static void put_meta(fuzz_sheet *s, int64_t type, const int64_t *size, int rank,
                     int64_t (*tell)(fuzz_sheet *s, int64_t truth))
{
    fuzz_put(s, "{\"dtype\":%lld,\"sizes\":[", (long long)fuzz_tell_key(s, type));
    rank = fuzz_lies(s) ? (int)fuzz_below(s, 10) : rank;
    for (int d = 0; d < rank; d++)
        if (d < 2 && size[d] < 0)
            fuzz_put(s, "%s{\"as_expr\":{\"expr_str\":\"%s\"}}", d ? "," : "",
                     fuzz_tell_name(s, "s0"));
        else
            fuzz_put(s, "%s{\"as_int\":%lld}", d ? "," : "",
                     (long long)tell(s, d < 2 ? size[d] : 1));
    fuzz_put(s, "]");
}

static void put_value(fuzz_sheet *s, const char *name, int64_t type, int64_t rows, int64_t columns)
{
    const int64_t size[] = {rows, columns};
    fuzz_put(s, "\"%s\":", fuzz_tell_word(s, name, names));
    put_meta(s, type, size, columns ? 2 : 1, fuzz_tell);
    fuzz_put(s, "}%s", fuzz_lies(s) ? "" : ",");
}

static void put_tensor(fuzz_sheet *s, const char *key, const char *name)
{
    fuzz_put(s, "{\"name\":\"%s\",\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}},",
             fuzz_tell_name(s, key), fuzz_tell_word(s, name, names));
}

static void put_int(fuzz_sheet *s, const char *key, int64_t value)
{
    fuzz_put(s, "{\"name\":\"%s\",\"arg\":{\"as_int\":%lld}},", fuzz_tell_name(s, key),
             (long long)fuzz_tell_key(s, value));
}

static void put_sizes(fuzz_sheet *s, int64_t a, int64_t b)
{
    fuzz_put(s, "{\"name\":\"size\",\"arg\":{\"as_ints\":[%lld,%lld]}},",
             (long long)fuzz_tell_key(s, a), (long long)fuzz_tell_key(s, b));
}

static void begin_node(fuzz_sheet *s, const char *target)
{
    fuzz_put(s, "{\"target\":\"torch.ops.aten.%s\",\"inputs\":[",
             fuzz_tell_word(s, target, targets));
}

/* Takes the comma behind the last argument. */
static void end_node(fuzz_sheet *s, const char *name)
{
    if (s->used && s->at[s->used - 1] == ',')
        s->used--;
    fuzz_put(s, "],\"outputs\":[{\"as_tensor\":{\"name\":\"%s\"}}],\"name\":\"%s\"},",
             fuzz_tell_word(s, name, names), name);
}

static void put_select(fuzz_sheet *s, int64_t row, const char *name)
{
    begin_node(s, "select.int");
    put_tensor(s, "self", "edge_index");
    put_int(s, "dim", 0);
    put_int(s, "index", row);
    end_node(s, name);
}

static void put_nodes(fuzz_sheet *s, int64_t classes)
{
    put_select(s, 0, "src");
    put_select(s, 1, "dst");
    begin_node(s, "mm.default");
    put_tensor(s, "self", "x");
    put_tensor(s, "mat2", "w");
    end_node(s, "z");
    begin_node(s, "index_select.default");
    put_tensor(s, "self", "z");
    put_int(s, "dim", 0);
    put_tensor(s, "index", "src");
    end_node(s, "from");
    begin_node(s, "view.default");
    put_tensor(s, "self", "dst");
    put_sizes(s, -1, 1);
    end_node(s, "column");
    begin_node(s, "expand.default");
    put_tensor(s, "self", "column");
    put_sizes(s, -1, classes);
    end_node(s, "wide");
    begin_node(s, "zeros_like.default");
    put_tensor(s, "self", "z");
    end_node(s, "zero");
    begin_node(s, "scatter_add.default");
    put_tensor(s, "self", "zero");
    put_int(s, "dim", 0);
    put_tensor(s, "index", "wide");
    put_tensor(s, "src", "from");
    end_node(s, "added");
    begin_node(s, "add.Tensor");
    put_tensor(s, "self", "added");
    put_tensor(s, "other", "b");
    end_node(s, "y");
    s->used -= s->used && s->at[s->used - 1] == ',';
}

static void put_model(fuzz_sheet *s, int64_t features, int64_t classes)
{
    enum { REAL = 7, INTEGER = 5 };
    fuzz_part(s, "models/model.json");
    fuzz_put(s, "{\"schema_version\":{\"major\":%lld},\"graph_module\":{\"signature\":{",
             (long long)fuzz_tell_key(s, 8));
    fuzz_put(s, "\"input_specs\":[");
    for (int i = 0; i < 2; i++)
        fuzz_put(s, "{\"parameter\":{\"arg\":{\"name\":\"%s\"},\"parameter_name\":\"%s\"}},",
                 fuzz_tell_word(s, i ? "b" : "w", names), fuzz_tell_word(s, i ? "b" : "w", names));
    for (int i = 0; i < 2; i++)
        fuzz_put(s, "{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}}%s",
                 fuzz_tell_word(s, i ? "edge_index" : "x", names), i ? "" : ",");
    fuzz_put(s,
             "],\"output_specs\":[{\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}}]}",
             fuzz_tell_word(s, "y", names));
    fuzz_put(s, ",\"graph\":{\"tensor_values\":{");
    put_value(s, "x", REAL, -1, features);
    put_value(s, "edge_index", INTEGER, 2, -1);
    put_value(s, "w", REAL, features, classes);
    put_value(s, "b", REAL, classes, 0);
    put_value(s, "src", INTEGER, -1, 0);
    put_value(s, "dst", INTEGER, -1, 0);
    put_value(s, "column", INTEGER, -1, 1);
    put_value(s, "wide", INTEGER, -1, classes);
    put_value(s, "z", REAL, -1, classes);
    put_value(s, "from", REAL, -1, classes);
    put_value(s, "zero", REAL, -1, classes);
    put_value(s, "added", REAL, -1, classes);
    put_value(s, "y", REAL, -1, classes);
    s->used -= s->used && s->at[s->used - 1] == ',';
    fuzz_put(s, "},\"nodes\":[");
    put_nodes(s, classes);
    fuzz_put(s, "]}}}");
}

static void put_config(fuzz_sheet *s, const char *name, const char *file, const fuzz_array *a)
{
    fuzz_put(s, "\"%s\":{\"path_name\":\"%s\",\"use_pickle\":%s,\"tensor_meta\":",
             fuzz_tell_word(s, name, names), fuzz_tell_name(s, file),
             fuzz_lies(s) ? "true" : "false");
    put_meta(s, 7, a->shape, a->rank, fuzz_tell_key);
    fuzz_put(s, ",\"strides\":[");
    for (int d = 0; d < a->rank; d++)
        fuzz_put(s, "%s{\"as_int\":%lld}", d ? "," : "",
                 (long long)fuzz_tell_key(s, d + 1 < a->rank ? a->shape[1] : 1));
    fuzz_put(s, "],\"storage_offset\":{\"as_int\":%lld},\"layout\":7}}",
             (long long)fuzz_tell_key(s, 0));
}

void fuzz_shape_program(fuzz_sheet *s)
{
    int64_t    features = 1 + fuzz_below(s, 5), classes = 2 + fuzz_below(s, 3);
    fuzz_array w = fuzz_some_values(s, "f4", features, classes);
    fuzz_array b = fuzz_some_values(s, "f4", classes, 0);
    fuzz_fact(s, (double)features);
    fuzz_fact(s, (double)classes);
    for (int64_t i = 0; i < w.count; i++)
        fuzz_fact(s, w.values[i] + b.values[i % classes]);
    fuzz_part(s, "archive_format");
    fuzz_put(s, "%s", fuzz_tell_name(s, "pt2"));
    fuzz_part(s, "archive_version");
    fuzz_put(s, "%lld", (long long)fuzz_tell_key(s, 0));
    fuzz_part(s, "byteorder");
    fuzz_put(s, "%s", fuzz_lies(s) ? "big" : "little");
    fuzz_part(s, "data/weights/weight_0");
    (void)fuzz_put_values(s, &w);
    fuzz_part(s, "data/weights/weight_1");
    (void)fuzz_put_values(s, &b);
    fuzz_part(s, "data/weights/model_weights_config.json");
    fuzz_put(s, "{\"config\":{");
    put_config(s, "w", "weight_0", &w);
    fuzz_put(s, ",");
    put_config(s, "b", "weight_1", &b);
    fuzz_put(s, "}}");
    put_model(s, features, classes);
}
