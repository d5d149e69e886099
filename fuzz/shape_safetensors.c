/* SPDX-License-Identifier: Apache-2.0 */
/* A graph as a safetensors file. */
#include "sheet_tensors.h"

static void add_features(fuzz_tensors *f, int64_t n, int64_t columns, bool dense)
{
    fuzz_sparse m = fuzz_sparse_of(f->s, n, columns);
    fuzz_array  x = fuzz_some_values(f->s, "f4", n, columns), shape = fuzz_array_of("i8", 2, 0);
    shape.values[0] = (double)n;
    shape.values[1] = (double)columns;
    if (dense) {
        fuzz_true_features(f->s, &x, 0);
        fuzz_tensor(f, "x", "F32", &x);
        return;
    }
    fuzz_true_sparse(f->s, &m, 0);
    fuzz_tensor(f, "x.shape", "I64", &shape);
    fuzz_tensor(f, "x.indptr", "I64", &m.indptr);
    fuzz_tensor(f, "x.indices", "I32", &m.indices);
    fuzz_tensor(f, "x.values", "F32", &m.data);
}

static void add_extras(fuzz_tensors *f, int64_t n, int64_t columns)
{
    fuzz_array group = fuzz_array_of("i4", columns, 0), mask = fuzz_array_of("u1", columns, 0);
    fuzz_array least = fuzz_array_of("f4", columns, 0), train = fuzz_array_of("u1", n, 0);
    for (int64_t j = 0; j < columns; j++) {
        group.values[j] = j < 2 ? 0 : -1;
        least.values[j] = -1;
        mask.values[j] = 1;
    }
    if (fuzz_below(f->s, 2))
        fuzz_tensor(f, "feat_min", "F32", &least);
    if (fuzz_below(f->s, 2))
        fuzz_tensor(f, "feature_group", "I32", &group);
    if (fuzz_below(f->s, 2))
        fuzz_tensor(f, "discrete_mask", "U8", &mask);
    if (fuzz_below(f->s, 2))
        fuzz_tensor(f, "immutable_mask", "U8", &mask);
    if (fuzz_below(f->s, 2))
        fuzz_tensor(f, "train_mask", "U8", &train);
}

void fuzz_shape_safetensors(fuzz_sheet *s)
{
    int64_t      n = 4 + 2 * fuzz_below(s, 4), columns = 1 + fuzz_below(s, 6);
    bool         graphs = fuzz_below(s, 3) == 0;
    int64_t      rows = graphs ? n / 2 : n;
    fuzz_array   edges = fuzz_array_of("i8", 2, n), ptr = fuzz_array_of("i8", n / 2 + 1, 0);
    fuzz_array   y = fuzz_some_labels(s, rows, 0), weight = fuzz_array_of("f4", n, 0);
    bool         weighted = fuzz_below(s, 2);
    fuzz_tensors f;
    for (int64_t e = 0; e < n; e++) { /* within pairs: each is a graph */
        edges.values[e] = (double)e;
        edges.values[n + e] = (double)(e ^ 1);
        weight.values[e] = (double)(1 + fuzz_below(s, 8)) / 4;
        fuzz_true_edge(s, e, e ^ 1, weighted ? weight.values[e] : 1);
    }
    for (int64_t g = 0; g <= n / 2; g++)
        ptr.values[g] = (double)(2 * g);
    fuzz_tensors_begin(&f, s);
    fuzz_tensor(&f, "edge_index", "I64", &edges);
    fuzz_tensor(&f, "y", "I64", &y);
    if (graphs)
        fuzz_tensor(&f, "graph_ptr", "I64", &ptr);
    add_features(&f, n, columns, fuzz_below(s, 2));
    if (weighted)
        fuzz_tensor(&f, "edge_weight", "F32", &weight);
    add_extras(&f, rows, columns);
    fuzz_true_size(s, n, columns);
    s->truth->graphs = graphs ? rows : 0;
    fuzz_tensors_end(&f, fuzz_lies(s) ? "\"num_classes\":\"-1\",\"class_names\":\"[1]\""
                                      : "\"name\":\"d\",\"class_names\":\"[\\\"a\\\",\\\"b\\\"]\"");
}
