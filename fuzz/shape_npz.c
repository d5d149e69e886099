/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of an .npz, as files of a bundle: the zip around them is shape_archive.c's. */
#include <stdio.h>

#include "sheet_arrays.h"

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

static fuzz_sparse put_csr(fuzz_sheet *s, const char *prefix, int64_t rows, int64_t columns)
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
    return m;
}

void fuzz_shape_npz(fuzz_sheet *s)
{
    int64_t     n = 2 + fuzz_below(s, 8), f = 1 + fuzz_below(s, 6);
    fuzz_sparse links = put_csr(s, "adj", n, n);
    fuzz_true_links(s, &links);
    fuzz_true_rules(s, FUZZ_NO_LOOPS | FUZZ_BOTH_WAYS | FUZZ_ONCE);
    if (fuzz_below(s, 2)) {
        fuzz_sparse x = put_csr(s, "attr", n, f);
        fuzz_true_sparse(s, &x, 0);
    } else {
        fuzz_array x = fuzz_some_values(s, "f4", n, f);
        fuzz_true_features(s, &x, 0);
        put_npy(s, "attr_matrix.npy", &x);
    }
    fuzz_array labels = fuzz_some_labels(s, n, 0);
    put_npy(s, "labels.npy", &labels);
    fuzz_true_size(s, n, f);
}
