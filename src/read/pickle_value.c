/* SPDX-License-Identifier: Apache-2.0 */
/* pickle_value.c: looking at what a pickle held. */
#include <string.h>

#include "error.h"
#include "pickle.h"

bool cbx_py_is(const cbx_py *v, const char *text)
{
    return v && v->kind == CBX_PY_TEXT && v->count == strlen(text) &&
           !memcmp(v->text, text, v->count);
}

const cbx_py *cbx_py_get(const cbx_py *dict, const char *key)
{
    if (!dict || dict->kind != CBX_PY_DICT)
        return NULL;
    for (size_t i = 0; i + 1 < dict->count; i += 2)
        if (cbx_py_is(dict->items[i], key))
            return dict->items[i + 1];
    return NULL;
}

const char *cbx_py_name(const cbx_py *py)
{
    static const char *const names[] = {"None",    "a bool",  "a number", "a number",
                                        "a text",  "a tuple", "a list",   "a dict",
                                        "a class", "a dtype", "an array", "a csr_matrix"};
    return names[py->kind];
}

cbx_status cbx_py_sparse(const cbx_py *py, const char *place, cbx_reading *r, cbx_sparse *out)
{
    *out = (cbx_sparse){0};
    if (py->kind != CBX_PY_CSR || !py->count)
        return cbx_fail(r->err, CBX_INVALID, "%s: %s where a csr_matrix was expected", place,
                        cbx_py_name(py));
    const cbx_py *state = py->items[0];
    const cbx_py *shape = cbx_py_get(state, "_shape");
    const char   *names[3] = {"indptr", "indices", "data"};
    cbx_array    *parts[3] = {&out->indptr, &out->indices, &out->data};
    if (!shape || shape->kind != CBX_PY_TUPLE || shape->count != 2 ||
        shape->items[0]->kind != CBX_PY_INT || shape->items[1]->kind != CBX_PY_INT)
        return cbx_fail(r->err, CBX_INVALID, "%s: the csr_matrix has no _shape", place);
    out->rows = shape->items[0]->integer;
    out->cols = shape->items[1]->integer;
    for (int i = 0; i < 3; i++) {
        const cbx_py *part = cbx_py_get(state, names[i]);
        if (!part || part->kind != CBX_PY_ARRAY || !part->array)
            return cbx_fail(r->err, CBX_INVALID, "%s: the csr_matrix has no %s", place, names[i]);
        *parts[i] = *part->array;
    }
    return cbx_sparse_check(out, place, r);
}
