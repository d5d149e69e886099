/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c: the .npy format, versions 1 to 3: a magic, the length of a header that is
 * a Python dict literal of three keys, the header, the values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "error.h"

static const char *skip(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\t')
        at++;
    return at;
}

/* Behind "'KEY':", or NULL. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    (void)snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at)
        return NULL;
    at = skip(at + strlen(quoted));
    return *at == ':' ? skip(at + 1) : NULL;
}

static bool read_shape(const char *at, cbx_array *a)
{
    if (!at || *at != '(')
        return false;
    for (at = skip(at + 1); *at && *at != ')'; at = skip(at + (*at == ','))) {
        char     *end;
        long long size = strtoll(at, &end, 10);
        if (end == at || size < 0 || a->rank == CBX_ARRAY_RANK)
            return false;
        a->shape[a->rank++] = size;
        at = skip(end + (*end == 'L')); /* Python 2 wrote long integers so */
        if (*at != ',' && *at != ')')
            return false;
    }
    return *at == ')';
}

static bool read_type(const char *at, cbx_array *a, const char **why)
{
    char   type[16];
    size_t length = 0;
    *why = "a descr that is not a text";
    if (!at || *at != '\'')
        return false;
    for (at++; *at && *at != '\'' && length + 1 < sizeof type; at++)
        type[length++] = *at;
    type[length] = '\0';
    return *at == '\'' && cbx_array_type(a, type, why);
}

static cbx_status parse(cbx_npy *npy, size_t size, const char *place, cbx_error *err)
{
    unsigned char *bytes = npy->owned;
    cbx_array     *a = &npy->array;
    const char    *why = "";
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return cbx_fail(err, CBX_INVALID, "%s: not a NumPy array", place);
    size_t at = bytes[6] == 1 ? 10 : 12;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length == 0 || length > size - at)
        return cbx_fail(err, CBX_INVALID, "%s: the header of the array is cut off", place);
    unsigned char last = bytes[at + length - 1];
    bytes[at + length - 1] = '\0'; /* a newline, of which nothing is missed */
    const char *header = (const char *)bytes + at;
    const char *order = value_of(header, "fortran_order");
    bool        typed = read_type(value_of(header, "descr"), a, &why);
    bool        shaped = read_shape(value_of(header, "shape"), a);
    a->by_column = order && !strncmp(order, "True", 4);
    bytes[at + length - 1] = last;
    if (!typed)
        return cbx_fail(err, CBX_INVALID, "%s: an array of %s, which cannot be read", place, why);
    if (!shaped || !order)
        return cbx_fail(err, CBX_INVALID, "%s: the header of the array is not understood", place);
    if (!cbx_array_fits(a, size - at - length))
        return cbx_fail(err, CBX_INVALID, "%s: %llu bytes of values do not fit the array's shape",
                        place, (unsigned long long)(size - at - length));
    a->bytes = bytes + at + length;
    return CBX_OK;
}

cbx_status cbx_npy_read(cbx_reading *r, cbx_bundle *bundle, const char *name, cbx_npy *out)
{
    size_t    size = 0;
    cbx_place place;
    *out = (cbx_npy){0};
    cbx_status status = cbx_bundle_slurp(bundle, name, &out->owned, &size, r->err);
    if (status)
        return status;
    status = parse(out, size, cbx_bundle_place(bundle, name, place), r->err);
    if (status)
        cbx_npy_free(out);
    return status;
}

void cbx_npy_free(cbx_npy *npy)
{
    free(npy->owned);
    *npy = (cbx_npy){0};
}
