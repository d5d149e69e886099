/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.h: Python pickles as data.
 *
 * A pickle is a program for a stack machine. This one knows numbers, texts,
 * tuples, lists, dicts, NumPy arrays and SciPy's csr_matrix, which it recognises by
 * the names of the classes; it calls nothing, and refuses every other opcode and
 * every other class by name. */
#ifndef CBX_PICKLE_H
#define CBX_PICKLE_H

#include "arrays.h"

typedef enum cbx_py_kind {
    CBX_PY_NONE,
    CBX_PY_BOOL,
    CBX_PY_INT,
    CBX_PY_REAL,
    CBX_PY_TEXT, /* text or bytes */
    CBX_PY_TUPLE,
    CBX_PY_LIST,
    CBX_PY_DICT, /* items: key, value, key, value, … */
    CBX_PY_CLASS,
    CBX_PY_TYPE,  /* a numpy.dtype: text is its name */
    CBX_PY_ARRAY, /* a numpy.ndarray */
    CBX_PY_CSR    /* a scipy csr_matrix: items[0] is its dict */
} cbx_py_kind;

typedef struct cbx_py {
    cbx_py_kind kind;
    int class; /* of a class: which */
    int64_t         integer;
    double          real;
    const char     *text;
    size_t          count, room; /* of the text's bytes, or of the items */
    struct cbx_py **items;
    cbx_array      *array;
} cbx_py;

/* All of a pickled file. What comes out lives in the arena and in *bytes, which
 * the caller frees after use. */
cbx_status cbx_pickle_read(cbx_reading *r, const char *name, cbx_arena *arena,
                           unsigned char **bytes, const cbx_py **out);

/* Whether it is this text. */
bool cbx_py_is(const cbx_py *py, const char *text);

/* The value of a dict's key, or NULL. */
const cbx_py *cbx_py_get(const cbx_py *dict, const char *key);

/* A csr_matrix's parts. */
cbx_status cbx_py_sparse(const cbx_py *py, const char *place, cbx_reading *r, cbx_sparse *out);

/* "a list", for messages. */
const char *cbx_py_name(const cbx_py *py);

#endif
