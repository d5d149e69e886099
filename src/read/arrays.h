/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h: NumPy arrays and SciPy matrices as they lie in .npy files and pickles.
 *
 * An array's bytes are looked at where they are; they may be unaligned, so values
 * are fetched one by one. */
#ifndef CBX_ARRAYS_H
#define CBX_ARRAYS_H

#include "reading.h"

enum { CBX_ARRAY_RANK = 8 };

typedef struct cbx_array {
    char                 kind; /* i, u, f, b: numbers; S, U: texts */
    size_t               item; /* bytes */
    bool                 by_column;
    int                  rank;
    int64_t              shape[CBX_ARRAY_RANK];
    int64_t              count;
    const unsigned char *bytes;
} cbx_array;

/* "<f4", "|b1", "i8" … into kind and item; says why not in `why`. */
bool cbx_array_type(cbx_array *a, const char *type, const char **why);

/* Sets count, and whether it is `size` bytes in all. */
bool cbx_array_fits(cbx_array *a, uint64_t size);

/* The i-th value of one with numbers; a 2-dimensional one is walked by rows. */
double  cbx_array_real(const cbx_array *a, int64_t i);
int64_t cbx_array_int(const cbx_array *a, int64_t i); /* reals are cut off */
/* The i-th text, into the arena. */
char *cbx_array_text(const cbx_array *a, int64_t i, cbx_arena *arena);

/* A matrix in compressed sparse rows. */
typedef struct cbx_sparse {
    int64_t   rows, cols;
    cbx_array indptr, indices, data;
} cbx_sparse;

/* Checks that the parts fit together; `place` is for messages. */
cbx_status cbx_sparse_check(const cbx_sparse *m, const char *place, cbx_reading *r);
/* Appends row i to the builder's sparse features. */
bool cbx_sparse_row(const cbx_sparse *m, int64_t i, cbx_graph_builder *builder);

/* ---- .npy, alone or in an .npz */

typedef struct cbx_npy {
    cbx_array      array;
    unsigned char *owned;
} cbx_npy;

/* `name` is one of the bundle's. */
cbx_status cbx_npy_read(cbx_reading *r, cbx_bundle *bundle, const char *name, cbx_npy *out);
void       cbx_npy_free(cbx_npy *npy);

#endif
