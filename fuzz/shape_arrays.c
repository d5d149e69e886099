/* SPDX-License-Identifier: Apache-2.0 */
/* shape_arrays.c: .npy files, and pickles of arrays. */
#include "shape_arrays.h"

#include <stdio.h>
#include <string.h>

fuzz_array fuzz_array_of(const char *type, int64_t rows, int64_t columns)
{
    int64_t count = rows * (columns ? columns : 1);
    return (fuzz_array){.type = type,
                        .rank = columns ? 2 : 1,
                        .shape = {rows, columns},
                        .count = count < FUZZ_MOST_VALUES ? count : FUZZ_MOST_VALUES};
}

static void put_one(fuzz_sheet *s, const char *type, double truth)
{
    bool    real = type[0] == 'f';
    double  d = real ? fuzz_tell_real(s, truth) : 0;
    float   f = (float)d;
    int64_t i8 = real ? 0 : fuzz_tell(s, (int64_t)truth);
    int32_t i4 = (int32_t)i8;
    uint8_t u1 = (uint8_t)i8;
    switch (type[1]) {
    case '8':
        fuzz_bytes(s, real ? (const void *)&d : (const void *)&i8, 8);
        break;
    case '4':
        fuzz_bytes(s, real ? (const void *)&f : (const void *)&i4, 4);
        break;
    default:
        fuzz_bytes(s, &u1, 1);
    }
}

size_t fuzz_put_values(fuzz_sheet *s, const fuzz_array *a)
{
    size_t  before = s->used;
    int64_t count = fuzz_lies(s) ? fuzz_below(s, a->count + 1) : a->count;
    for (int64_t i = 0; i < count; i++)
        put_one(s, a->type, a->values[i]);
    return s->used - before;
}

fuzz_sparse fuzz_sparse_of(fuzz_sheet *s, int64_t rows, int64_t columns)
{
    fuzz_sparse m = {.indptr = fuzz_array_of("i8", rows + 1, 0)};
    int64_t     count = 0;
    double      column[FUZZ_MOST_VALUES] = {0};
    for (int64_t i = 0; i < rows; i++) {
        int64_t first = fuzz_below(s, columns);
        m.indptr.values[i] = (double)count;
        column[count++] = (double)first;
        if (first + 1 < columns && fuzz_below(s, 2))
            column[count++] = (double)(first + 1);
    }
    m.indptr.values[rows] = (double)count;
    m.indices = fuzz_array_of("i4", count, 0);
    m.data = fuzz_array_of("f4", count, 0);
    memcpy(m.indices.values, column, sizeof column);
    for (int64_t k = 0; k < count; k++)
        m.data.values[k] = 1;
    return m;
}

/* ---- .npy */

static const char *const types[] = {">f4",  "<i8", "<f8", "|b1",         "<U3", "|O",
                                    "<c16", "<f2", "|S0", "<U999999999", "<i4", NULL};

static void put_npy(fuzz_sheet *s, const char *name, const fuzz_array *a)
{
    char    header[200], type[8], shape[64];
    uint8_t size[2];
    (void)snprintf(type, sizeof type, "%s%s", a->type[0] == 'u' ? "|" : "<", a->type);
    if (a->rank == 1)
        (void)snprintf(shape, sizeof shape, "(%lld,)", (long long)fuzz_tell(s, a->shape[0]));
    else
        (void)snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)fuzz_tell(s, a->shape[0]),
                       (long long)fuzz_tell(s, a->shape[1]));
    int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                 fuzz_tell_word(s, type, types), fuzz_lies(s) ? "True" : "False", shape);
    while ((length + 1 + 10) % 64)
        header[length++] = ' ';
    header[length++] = '\n';
    int64_t told = fuzz_tell(s, length);
    size[0] = (uint8_t)told;
    size[1] = (uint8_t)(told >> 8);
    fuzz_part(s, name);
    fuzz_bytes(s, "\x93NUMPY\x01\x00", 8);
    fuzz_bytes(s, size, 2);
    fuzz_bytes(s, header, (size_t)length);
    (void)fuzz_put_values(s, a);
}

static void put_csr(fuzz_sheet *s, const char *prefix, int64_t rows, int64_t columns)
{
    fuzz_sparse m = fuzz_sparse_of(s, rows, columns);
    fuzz_array  shape = fuzz_array_of("i8", 2, 0);
    char        name[40];
    shape.values[0] = (double)rows;
    shape.values[1] = (double)columns;
    const struct {
        const char       *name;
        const fuzz_array *array;
    } parts[] = {
        {"indptr", &m.indptr}, {"indices", &m.indices}, {"data", &m.data}, {"shape", &shape}};
    for (int i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "%s_%s.npy", prefix, parts[i].name);
        put_npy(s, name, parts[i].array);
    }
}

void fuzz_shape_npz(fuzz_sheet *s)
{
    int64_t    n = 2 + fuzz_below(s, 8), f = 1 + fuzz_below(s, 6);
    fuzz_array labels = fuzz_array_of("i8", n, 0), dense = fuzz_array_of("f4", n, f);
    put_csr(s, "adj", n, n);
    if (fuzz_below(s, 2))
        put_csr(s, "attr", n, f);
    else
        put_npy(s, "attr_matrix.npy", &dense);
    for (int64_t i = 0; i < n; i++)
        labels.values[i] = (double)(i % 2);
    put_npy(s, "labels.npy", &labels);
}

/* ---- pickles */

static void put_size(fuzz_sheet *s, size_t truth)
{
    uint32_t told = (uint32_t)fuzz_tell(s, (int64_t)truth);
    fuzz_bytes(s, &told, 4);
}

static void put_int(fuzz_sheet *s, int64_t truth)
{
    int64_t told = fuzz_tell(s, truth);
    int32_t small = (int32_t)told;
    if (small == told) {
        fuzz_bytes(s, "J", 1);
        fuzz_bytes(s, &small, 4);
    } else {
        fuzz_bytes(s, "\x8a\x08", 2);
        fuzz_bytes(s, &told, 8);
    }
}

static void put_text(fuzz_sheet *s, const char *text)
{
    fuzz_bytes(s, "X", 1);
    put_size(s, strlen(text));
    fuzz_put(s, "%s", text);
}

static void put_array(fuzz_sheet *s, const fuzz_array *a)
{
    static const char *const kinds[] = {"f4", "f8", "i4", "i8", "b1", "u1",
                                        "O",  "U3", "i3", "",   NULL};
    uint8_t                  room[FUZZ_MOST_VALUES * 8];
    fuzz_sheet values = {.at = room, .room = sizeof room, .rng = s->rng, .odds = s->odds};
    size_t     size = fuzz_put_values(&values, a);
    s->rng = values.rng;
    fuzz_put(s, "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n");
    fuzz_bytes(s,
               "K\0\x85"
               "C\x01"
               "b\x87R(K\x01",
               11);
    put_int(s, a->shape[0]);
    if (a->rank == 2)
        put_int(s, a->shape[1]);
    fuzz_bytes(s, a->rank == 2 ? "\x86" : "\x85", 1);
    fuzz_put(s, "cnumpy\ndtype\n");
    put_text(s, fuzz_tell_word(s, a->type, kinds));
    fuzz_bytes(s, "\x89\x88\x87R(K\x03", 7);
    put_text(s, fuzz_lies(s) ? ">" : "<");
    fuzz_bytes(s, "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb", 17);
    fuzz_bytes(s, fuzz_lies(s) ? "\x88" : "\x89", 1);
    fuzz_bytes(s, "B", 1);
    put_size(s, size);
    fuzz_bytes(s, room, size);
    fuzz_bytes(s, "tb", 2);
}

static void put_list(fuzz_sheet *s, int64_t from, int64_t to)
{
    fuzz_bytes(s, "](", 2);
    for (int64_t i = from; i < to; i++)
        put_int(s, i);
    fuzz_bytes(s, "e", 1);
}

/* Also one that is there already, or that nobody asks for. */
static void put_word(fuzz_sheet *s, const char *word)
{
    static const char *const others[] = {"adj",    "feat", "labels", "indptr",
                                         "_shape", "",     "x",      NULL};
    put_text(s, fuzz_tell_word(s, word, others));
}

void fuzz_shape_motif_pickle(fuzz_sheet *s)
{
    int64_t    n = 2 + fuzz_below(s, 6), f = 1 + fuzz_below(s, 4);
    fuzz_array adjacency = fuzz_array_of("f8", n, n), features = fuzz_array_of("f8", n, f);
    fuzz_array labels = fuzz_array_of("i8", n, 0);
    for (int64_t i = 0; i < n; i++) {
        adjacency.values[i * n + (i + 1) % n] = 1;
        features.values[i * f] = 1;
        labels.values[i] = (double)(i % 2);
    }
    fuzz_part(s, "s.pickle");
    fuzz_bytes(s, "\x80\x03}(", 4);
    put_word(s, "adj");
    put_array(s, &adjacency);
    put_word(s, "feat");
    put_array(s, &features);
    put_word(s, "labels");
    put_array(s, &labels);
    put_word(s, "train_idx");
    put_list(s, 0, n / 2);
    put_word(s, "test_idx");
    put_list(s, n / 2, n);
    fuzz_bytes(s, "u.", 2);
}

static void put_matrix(fuzz_sheet *s, const char *file, int64_t rows, int64_t columns)
{
    fuzz_sparse m = fuzz_sparse_of(s, rows, columns);
    m.indptr.type = "i4";
    fuzz_part(s, file);
    fuzz_bytes(s, "\x80\x02", 2);
    fuzz_put(s, "cscipy.sparse.csr\ncsr_matrix\n");
    fuzz_bytes(s, ")\x81}(", 4);
    put_word(s, "_shape");
    put_int(s, rows);
    put_int(s, columns);
    fuzz_bytes(s, "\x86", 1);
    put_word(s, "indptr");
    put_array(s, &m.indptr);
    put_word(s, "indices");
    put_array(s, &m.indices);
    put_word(s, "data");
    put_array(s, &m.data);
    fuzz_bytes(s, "ub.", 3);
}

static void put_classes(fuzz_sheet *s, const char *file, int64_t rows)
{
    fuzz_array hot = fuzz_array_of("i4", rows, 2);
    for (int64_t i = 0; i < rows; i++)
        hot.values[2 * i + i % 2] = 1;
    fuzz_part(s, file);
    fuzz_bytes(s, "\x80\x02", 2);
    put_array(s, &hot);
    fuzz_bytes(s, ".", 1);
}

void fuzz_shape_planetoid(fuzz_sheet *s)
{
    int64_t n = 4 + fuzz_below(s, 6), f = 1 + fuzz_below(s, 4), test = 1 + fuzz_below(s, 2);
    put_matrix(s, "ind.d.x", 1, f);
    put_matrix(s, "ind.d.allx", n - test, f);
    put_matrix(s, "ind.d.tx", test, f);
    put_classes(s, "ind.d.y", 1);
    put_classes(s, "ind.d.ally", n - test);
    put_classes(s, "ind.d.ty", test);
    fuzz_part(s, "ind.d.graph");
    fuzz_bytes(s, "\x80\x02}(", 4);
    for (int64_t i = 0; i < n; i++) {
        put_int(s, i);
        put_list(s, i / 2, i / 2 + 1);
    }
    fuzz_bytes(s, "u.", 2);
    fuzz_part(s, "ind.d.test.index");
    for (int64_t i = n - test; i < n; i++)
        fuzz_put(s, "%lld\n", (long long)fuzz_tell(s, i));
}
