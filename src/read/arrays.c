/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.c: values of NumPy arrays. */
#include "arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "utf8.h"

bool cbx_array_type(cbx_array *a, const char *type, const char **why)
{
    static const struct {
        char   kind;
        size_t item;
    } known[] = {{'f', 4}, {'f', 8}, {'i', 1}, {'i', 2}, {'i', 4}, {'i', 8},
                 {'u', 1}, {'u', 2}, {'u', 4}, {'u', 8}, {'b', 1}};
    char *end;
    *why = "numbers of another kind";
    if (*type == '>') {
        *why = "big-endian numbers";
        return false;
    }
    type += *type == '<' || *type == '|' || *type == '=';
    a->kind = *type;
    if (!*type || type[1] < '0' || type[1] > '9') {
        *why = *type == 'O' ? "Python objects" : *why;
        return false;
    }
    unsigned long item = strtoul(type + 1, &end, 10);
    if (*end || item > 1 << 20)
        return false;
    a->item = item * (a->kind == 'U' ? 4 : 1);
    if (a->kind == 'S' || a->kind == 'U')
        return true;
    *why = a->kind == 'O' ? "Python objects" : *why;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == a->kind && known[i].item == a->item)
            return true;
    return false;
}

bool cbx_array_fits(cbx_array *a, uint64_t size)
{
    uint64_t count = 1;
    for (int k = 0; k < a->rank; k++) {
        if (a->shape[k] < 0 || (a->shape[k] && count > (uint64_t)INT64_MAX / (uint64_t)a->shape[k]))
            return false;
        count *= (uint64_t)a->shape[k];
    }
    a->count = (int64_t)count;
    return a->item ? count <= size / a->item && count * a->item == size : size == 0;
}

static const unsigned char *item_at(const cbx_array *a, int64_t i)
{
    if (a->by_column && a->rank == 2)
        i = (i % a->shape[1]) * a->shape[0] + i / a->shape[1];
    return a->bytes + (uint64_t)i * a->item;
}

#define FETCH(type)                         \
    do {                                    \
        type value_;                        \
        memcpy(&value_, at, sizeof value_); \
        return value_;                      \
    } while (0)

static int64_t fetch_int(const cbx_array *a, const unsigned char *at)
{
    switch (a->item) {
    case 1:
        return a->kind == 'i' ? (int8_t)*at : *at;
    case 2:
        if (a->kind == 'i')
            FETCH(int16_t);
        FETCH(uint16_t);
    case 4:
        if (a->kind == 'i')
            FETCH(int32_t);
        FETCH(uint32_t);
    default:
        FETCH(int64_t);
    }
}

static double fetch_real(const cbx_array *a, const unsigned char *at)
{
    if (a->item == 4)
        FETCH(float);
    FETCH(double);
}

double cbx_array_real(const cbx_array *a, int64_t i)
{
    const unsigned char *at = item_at(a, i);
    return a->kind == 'f' ? fetch_real(a, at) : (double)fetch_int(a, at);
}

int64_t cbx_array_int(const cbx_array *a, int64_t i)
{
    const unsigned char *at = item_at(a, i);
    if (a->kind != 'f')
        return fetch_int(a, at);
    double v = fetch_real(a, at);
    return v > -9e18 && v < 9e18 ? (int64_t)v : INT64_MIN; /* NaN too */
}

char *cbx_array_text(const cbx_array *a, int64_t i, cbx_arena *arena)
{
    const unsigned char *at = item_at(a, i);
    char                *text = CBX_NEW(arena, char, 2 * a->item + 1);
    size_t               to = 0;
    if (!text)
        return NULL;
    for (size_t k = 0; k + (a->kind == 'U' ? 4 : 1) <= a->item; k += a->kind == 'U' ? 4 : 1) {
        uint32_t c = at[k];
        if (a->kind == 'U')
            memcpy(&c, at + k, 4);
        if (!c)
            break;
        if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
            c = 0xfffd;                                   /* no character */
        to = (size_t)(cbx_utf8_put(text + to, c) - text); /* bytes are taken for Latin-1 */
    }
    text[to] = '\0';
    return text;
}

/* ---- sparse */

static bool is_number(const cbx_array *a)
{
    return a->bytes && strchr("iufb", a->kind);
}

cbx_status cbx_sparse_check(const cbx_sparse *m, const char *place, cbx_reading *r)
{
    if (!is_number(&m->indptr) || !is_number(&m->indices) || !is_number(&m->data))
        return cbx_fail(r->err, CBX_INVALID, "%s: its indptr, indices and data are not all there",
                        place);
    if (m->rows < 0 || m->cols < 0 || m->rows > INT32_MAX || m->cols > INT32_MAX ||
        m->indptr.count != m->rows + 1)
        return cbx_fail(r->err, CBX_INVALID,
                        "%s: indptr has %lld entries, which does not fit a shape of %lld x %lld",
                        place, (long long)m->indptr.count, (long long)m->rows, (long long)m->cols);
    if (!cbx_bundle_believes(r->bundle, m->cols))
        return cbx_fail(r->err, CBX_INVALID, "%s: %lld columns are too many for so short a file",
                        place, (long long)m->cols);
    if (m->indices.count != m->data.count)
        return cbx_fail(r->err, CBX_INVALID, "%s: %lld indices for %lld values", place,
                        (long long)m->indices.count, (long long)m->data.count);
    int64_t before = 0;
    for (int64_t i = 0; i <= m->rows; i++) {
        int64_t at = cbx_array_int(&m->indptr, i);
        if (at < before || at > m->data.count || (i == 0 && at != 0))
            return cbx_fail(r->err, CBX_INVALID, "%s: indptr[%lld] is %lld, expected %lld to %lld",
                            place, (long long)i, (long long)at, (long long)before,
                            (long long)m->data.count);
        before = at;
    }
    for (int64_t k = 0; k < m->indices.count; k++) {
        int64_t j = cbx_array_int(&m->indices, k);
        if (j < 0 || j >= m->cols)
            return cbx_fail(r->err, CBX_INVALID, "%s: indices[%lld] is %lld; columns are 0 to %lld",
                            place, (long long)k, (long long)j, (long long)m->cols - 1);
    }
    return CBX_OK;
}

bool cbx_sparse_row(const cbx_sparse *m, int64_t i, cbx_graph_builder *d)
{
    int64_t end = cbx_array_int(&m->indptr, i + 1);
    if (!cbx_graph_builder_row(d))
        return false;
    for (int64_t k = cbx_array_int(&m->indptr, i); k < end; k++)
        if (!cbx_graph_builder_entry(d, (int32_t)cbx_array_int(&m->indices, k),
                                     (float)cbx_array_real(&m->data, k)))
            return false;
    return true;
}
