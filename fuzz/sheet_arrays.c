/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_arrays.c: see sheet_arrays.h. */
#include "sheet_arrays.h"

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
    int64_t i8 = real ? 0 : fuzz_tell_key(s, (int64_t)truth);
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

void fuzz_true_features(fuzz_sheet *s, const fuzz_array *dense, int64_t first)
{
    for (int64_t i = 0; i < dense->count; i++)
        fuzz_true_x(s, first + i / dense->shape[1], i % dense->shape[1], dense->values[i]);
}

typedef void (*note)(fuzz_sheet *s, int64_t row, int64_t column, double value);

static void each_entry(fuzz_sheet *s, const fuzz_sparse *m, int64_t first, note n)
{
    for (int64_t i = 0; i + 1 < m->indptr.count; i++)
        for (int64_t k = (int64_t)m->indptr.values[i]; k < (int64_t)m->indptr.values[i + 1]; k++)
            n(s, first + i, (int64_t)m->indices.values[k], m->data.values[k]);
}

void fuzz_true_sparse(fuzz_sheet *s, const fuzz_sparse *m, int64_t first)
{
    each_entry(s, m, first, fuzz_true_x);
}

void fuzz_true_links(fuzz_sheet *s, const fuzz_sparse *m)
{
    each_entry(s, m, 0, fuzz_true_edge);
}

fuzz_array fuzz_some_values(fuzz_sheet *s, const char *type, int64_t rows, int64_t columns)
{
    fuzz_array a = fuzz_array_of(type, rows, columns);
    for (int64_t i = 0; i < a.count; i++)
        a.values[i] = (double)fuzz_below(s, 9) / 4;
    return a;
}

/* Told as a double, which holds so many numbers exactly. */
static double tell_value(fuzz_sheet *s, int64_t truth)
{
    const int64_t most = (int64_t)1 << 53;
    int64_t       told = fuzz_tell(s, truth);
    return (double)(told >= -most && told <= most ? told : truth);
}

fuzz_array fuzz_some_labels(fuzz_sheet *s, int64_t rows, int64_t first)
{
    fuzz_array a = fuzz_array_of("i8", rows, 0);
    for (int64_t i = 0; i < rows; i++) {
        a.values[i] = tell_value(s, i % 2);
        fuzz_true_y(s, first + i, (int64_t)a.values[i]);
    }
    return a;
}
