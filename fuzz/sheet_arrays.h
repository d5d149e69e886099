/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_arrays.h: small arrays, as files of NumPy, pickles and safetensors hold them. */
#ifndef CBX_SHEET_ARRAYS_H
#define CBX_SHEET_ARRAYS_H

#include "shapes.h"

enum { FUZZ_MOST_VALUES = 128 };

typedef struct fuzz_array {
    const char *type; /* f4, f8, i4, i8 or u1 */
    int         rank;
    int64_t     shape[2];
    int64_t     count;
    double      values[FUZZ_MOST_VALUES];
} fuzz_array;

/* All zeros. `columns` 0: of one dimension. */
fuzz_array fuzz_array_of(const char *type, int64_t rows, int64_t columns);

/* The values' bytes, told one by one, and how many bytes that are. */
size_t fuzz_put_values(fuzz_sheet *s, const fuzz_array *a);

/* A sparse matrix with one or two entries in each row. */
typedef struct fuzz_sparse {
    fuzz_array indptr, indices, data;
} fuzz_sparse;

fuzz_sparse fuzz_sparse_of(fuzz_sheet *s, int64_t rows, int64_t columns);

/* Notes a matrix as the features of nodes from `first` on, or as edges. */
void fuzz_true_features(fuzz_sheet *s, const fuzz_array *dense, int64_t first);
void fuzz_true_sparse(fuzz_sheet *s, const fuzz_sparse *m, int64_t first);
void fuzz_true_links(fuzz_sheet *s, const fuzz_sparse *m);

/* Values of a quarter each, and labels 0, 1, 0, … that are noted for rows from `first` on. */
fuzz_array fuzz_some_values(fuzz_sheet *s, const char *type, int64_t rows, int64_t columns);
fuzz_array fuzz_some_labels(fuzz_sheet *s, int64_t rows, int64_t first);

#endif
