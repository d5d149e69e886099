/* SPDX-License-Identifier: Apache-2.0 */
/* shape_native.c: safetensors files of graphs and models, and sidecars. */
#include <string.h>

#include "shape_arrays.h"

static const char *const kinds[] = {"F64", "F32", "I64", "I32", "U8", "BOOL", "F16", "", NULL};

/* A file while it is made: the header's text and the arrays' bytes. */
typedef struct file {
    fuzz_sheet *s;
    fuzz_sheet  header, data;
    uint8_t     header_room[8192], data_room[8192];
} file;

static void begin(file *f, fuzz_sheet *s)
{
    f->s = s;
    f->header = (fuzz_sheet){.at = f->header_room, .room = sizeof f->header_room, .odds = s->odds};
    f->data = (fuzz_sheet){.at = f->data_room, .room = sizeof f->data_room, .odds = s->odds};
    f->header.rng = cbx_rng_stream(cbx_rng_next(&s->rng), 0, 0, 0);
    f->data.rng = cbx_rng_stream(cbx_rng_next(&s->rng), 0, 0, 0);
    fuzz_put(&f->header, "{");
}

static void add(file *f, const char *name, const char *kind, const fuzz_array *a)
{
    static const char *const others[] = {"edge_index", "x", "y", "x.shape", "", "graph_ptr", NULL};
    fuzz_sheet              *h = &f->header;
    size_t                   begins = f->data.used;
    (void)fuzz_put_values(&f->data, a);
    fuzz_put(h, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", h->used > 1 ? "," : "",
             fuzz_tell_word(h, name, others), fuzz_tell_word(h, kind, kinds));
    for (int d = 0; d < a->rank; d++)
        fuzz_put(h, "%s%lld", d ? "," : "", (long long)fuzz_tell(h, a->shape[d]));
    fuzz_put(h, "],\"data_offsets\":[%lld,%lld]}", (long long)fuzz_tell(h, (int64_t)begins),
             (long long)fuzz_tell(h, (int64_t)f->data.used));
}

/* `notes`: the members of __metadata__. */
static void finish(file *f, const char *notes)
{
    fuzz_sheet *h = &f->header;
    fuzz_put(h, ",\"__metadata__\":{%s}}", notes);
    while (h->used % 8)
        fuzz_put(h, " ");
    int64_t size = fuzz_tell(f->s, (int64_t)h->used);
    fuzz_bytes(f->s, &size, 8);
    fuzz_bytes(f->s, h->at, h->used);
    fuzz_bytes(f->s, f->data.at, f->data.used);
}

/* Wide elements first, as alignment wants it. */
static void add_features(file *f, int64_t n, int64_t columns, bool dense)
{
    fuzz_sparse m = fuzz_sparse_of(f->s, n, columns);
    fuzz_array  x = fuzz_array_of("f4", n, columns), shape = fuzz_array_of("i8", 2, 0);
    shape.values[0] = (double)n;
    shape.values[1] = (double)columns;
    if (dense) {
        add(f, "x", "F32", &x);
        return;
    }
    add(f, "x.shape", "I64", &shape);
    add(f, "x.indptr", "I64", &m.indptr);
    add(f, "x.indices", "I32", &m.indices);
    add(f, "x.values", "F32", &m.data);
}

static void add_extras(file *f, int64_t n, int64_t columns)
{
    fuzz_array group = fuzz_array_of("i4", columns, 0), mask = fuzz_array_of("u1", columns, 0);
    fuzz_array least = fuzz_array_of("f4", columns, 0), train = fuzz_array_of("u1", n, 0);
    for (int64_t j = 0; j < columns; j++) {
        group.values[j] = j < 2 ? 0 : -1;
        least.values[j] = -1;
        mask.values[j] = 1;
    }
    if (fuzz_below(f->s, 2))
        add(f, "feat_min", "F32", &least);
    if (fuzz_below(f->s, 2))
        add(f, "feature_group", "I32", &group);
    if (fuzz_below(f->s, 2))
        add(f, "discrete_mask", "U8", &mask);
    if (fuzz_below(f->s, 2))
        add(f, "immutable_mask", "U8", &mask);
    if (fuzz_below(f->s, 2))
        add(f, "train_mask", "U8", &train);
}

void fuzz_shape_safetensors(fuzz_sheet *s)
{
    int64_t    n = 4 + 2 * fuzz_below(s, 4), columns = 1 + fuzz_below(s, 6);
    bool       graphs = fuzz_below(s, 3) == 0;
    fuzz_array edges = fuzz_array_of("i8", 2, n), y = fuzz_array_of("i8", graphs ? n / 2 : n, 0);
    fuzz_array ptr = fuzz_array_of("i8", n / 2 + 1, 0);
    file       f;
    for (int64_t e = 0; e < n; e++) { /* within pairs: each is a graph */
        edges.values[e] = (double)e;
        edges.values[n + e] = (double)(e ^ 1);
    }
    for (int64_t i = 0; i < y.count; i++)
        y.values[i] = (double)(i % 2);
    for (int64_t g = 0; g <= n / 2; g++)
        ptr.values[g] = (double)(2 * g);
    begin(&f, s);
    add(&f, "edge_index", "I64", &edges);
    add(&f, "y", "I64", &y);
    if (graphs)
        add(&f, "graph_ptr", "I64", &ptr);
    add_features(&f, n, columns, fuzz_below(s, 2));
    add_extras(&f, graphs ? n / 2 : n, columns);
    finish(&f, fuzz_lies(s) ? "\"num_classes\":\"-1\",\"class_names\":\"[1]\""
                            : "\"name\":\"d\",\"class_names\":\"[\\\"a\\\",\\\"b\\\"]\"");
}

static void add_matrix(file *f, const char *name, int64_t out, int64_t in)
{
    fuzz_array a = fuzz_array_of("f4", out, in);
    for (int64_t i = 0; i < a.count; i++)
        a.values[i] = (double)(i % 5) / 4 - 0.5;
    add(f, name, "F32", &a);
}

void fuzz_shape_model(fuzz_sheet *s)
{
    static const char *const architectures[] = {
        "\"arch\":\"{\\\"task\\\":\\\"node\\\",\\\"conv\\\":\\\"gcn\\\",\\\"jk\\\":\\\"last\\\","
        "\\\"dropout\\\":0.5}\"",
        "\"arch\":\"{\\\"task\\\":\\\"node\\\",\\\"conv\\\":\\\"cheb\\\",\\\"jk\\\":\\\"last\\\"}"
        "\"",
        "\"arch\":\"{\\\"task\\\":\\\"graph\\\",\\\"conv\\\":\\\"graphconv\\\",\\\"jk\\\":"
        "\\\"last\\\","
        "\\\"pool\\\":\\\"max\\\",\\\"aggr\\\":\\\"mean\\\"}\"",
        "\"arch\":\"{\\\"task\\\":\\\"node\\\",\\\"conv\\\":\\\"gcn\\\",\\\"jk\\\":\\\"cat\\\","
        "\\\"dropout\\\":-7}\"",
        "\"arch\":\"{}\"",
        "\"data\":\"d\"",
        NULL};
    int64_t in = 1 + fuzz_below(s, 4), hidden = 1 + fuzz_below(s, 3),
            classes = 2 + fuzz_below(s, 3);
    int64_t conv = fuzz_below(s, 3);
    file    f;
    begin(&f, s);
    if (conv == 0) {
        add_matrix(&f, "layers.0.lin.weight", hidden, in);
        add_matrix(&f, "layers.0.bias", hidden, 0);
    } else if (conv == 1) {
        add_matrix(&f, "layers.0.lins.0.weight", hidden, in);
        add_matrix(&f, "layers.0.lins.1.weight", hidden, in);
        add_matrix(&f, "layers.0.bias", hidden, 0);
    } else {
        add_matrix(&f, "layers.0.lin_rel.weight", hidden, in);
        add_matrix(&f, "layers.0.lin_rel.bias", hidden, 0);
        add_matrix(&f, "layers.0.lin_root.weight", hidden, in);
    }
    add_matrix(&f, "output_layer.weight", classes, hidden);
    add_matrix(&f, "output_layer.bias", classes, 0);
    finish(&f, fuzz_tell_word(s, architectures[conv], architectures));
}

/* Of the data that the target has: features age, tall and short, three nodes, two classes. */
void fuzz_shape_sidecar(fuzz_sheet *s)
{
    static const char *const features[] = {
        "age", "0", "0-2", "1-2", "2-0", "3", "-1", "", "4294967296", "1-99999999999999999999",
        NULL};
    static const char *const words[] = {"discrete", "continuous", "real", "", NULL};
    char                     text[2][40];
    fuzz_put(s, "{\"name\":\"n\",\"kinds\":{\"%s\":\"%s\",\"2\":\"discrete\"},\n",
             fuzz_tell_word(s, "tall", features), fuzz_tell_word(s, "continuous", words));
    fuzz_put(s, "\"bounds\":{\"%s\":[%lld,%lld],\"short\":[0,%s]},\n",
             fuzz_tell_word(s, "age", features), (long long)fuzz_tell(s, 0),
             (long long)fuzz_tell(s, 99), fuzz_tell_text(s, 1.5, text[0]));
    fuzz_put(s, "\"immutable\":[\"%s\",%lld],\n", fuzz_tell_word(s, "tall", features),
             (long long)fuzz_tell(s, 0));
    fuzz_put(s, "\"groups\":{\"size\":[\"%s\",%s]},\n", fuzz_tell_word(s, "tall", features),
             fuzz_tell_text(s, 2, text[1]));
    fuzz_put(s, "\"class_names\":[\"a\"%s],\"node_names\":[\"a\",\"b\",\"c\"%s]}",
             fuzz_lies(s) ? "" : ",\"b\"", fuzz_lies(s) ? ",7" : "");
}
