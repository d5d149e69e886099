/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_write.c: writing. Wide elements first, so that every tensor starts
 * at a multiple of its element size. */
#include <stdlib.h>
#include <string.h>

#include "atomic_file.h"
#include "error.h"
#include "number.h"
#include "safetensors.h"
#include "json.h"
#include "utf8.h"

static const char *const dtype_names[] = {"F64", "F32", "I64", "I32", "U8", "BOOL"};
static const int         dtype_sizes[] = {8, 4, 8, 4, 1, 1};

static cbx_status check_texts(const char *path, const cbx_tensor *tensors, size_t count,
                              const cbx_meta *meta, size_t meta_count, cbx_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!cbx_is_utf8(tensors[i].name))
            return cbx_fail(err, CBX_INVALID, "%s: the name of a tensor is not UTF-8", path);
    for (size_t i = 0; i < meta_count; i++)
        if (!cbx_is_utf8(meta[i].key) || !cbx_is_utf8(meta[i].value))
            return cbx_fail(err, CBX_INVALID, "%s: metadata '%s' is not UTF-8", path,
                            cbx_is_utf8(meta[i].key) ? meta[i].key : "?");
    return CBX_OK;
}

static uint64_t bytes_of(const cbx_tensor *t)
{
    uint64_t bytes = (uint64_t)dtype_sizes[t->dtype];
    for (int32_t i = 0; i < t->rank; i++)
        bytes *= (uint64_t)t->shape[i];
    return bytes;
}

static json_t *entry(const cbx_tensor *t, uint64_t at)
{
    json_t *shape = json_array();
    for (int32_t i = 0; i < t->rank; i++)
        if (json_array_append_new(shape, json_integer((json_int_t)t->shape[i]))) {
            json_decref(shape);
            return NULL;
        }
    uint64_t end = at + bytes_of(t);
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_names[t->dtype], "shape", shape,
                     "data_offsets", (json_int_t)at, (json_int_t)end);
}

/* Tensors in order of falling element size, otherwise as given. */
static void order_tensors(const cbx_tensor *tensors, size_t count, size_t *order)
{
    size_t at = 0;
    for (int size = 8; size >= 1; size /= 2)
        for (size_t i = 0; i < count; i++)
            if (dtype_sizes[tensors[i].dtype] == size)
                order[at++] = i;
}

/* The header, padded to a multiple of 8; NULL when memory runs out. */
static char *make_header(const cbx_tensor *tensors, const size_t *order, size_t count,
                         const cbx_meta *meta, size_t meta_count, size_t *length)
{
    json_t  *header = json_object(), *notes = json_object();
    char    *text = NULL, *padded = NULL;
    uint64_t at = 0;
    if (!header || !notes)
        goto done;
    for (size_t i = 0; i < meta_count; i++)
        if (json_object_set_new(notes, meta[i].key, json_string(meta[i].value)))
            goto done;
    if (json_object_set(header, "__metadata__", notes))
        goto done;
    for (size_t i = 0; i < count; i++) {
        const cbx_tensor *t = &tensors[order[i]];
        if (json_object_set_new(header, t->name, entry(t, at)))
            goto done;
        at += bytes_of(t);
    }
    text = cbx_json_text(header, 0, NULL);
    if (!text)
        goto done;
    size_t used = strlen(text);
    *length = (used + 7) & ~(size_t)7;
    padded = malloc(*length);
    if (padded) {
        memcpy(padded, text, used);
        memset(padded + used, ' ', *length - used);
    }
done:
    free(text);
    json_decref(header);
    json_decref(notes);
    return padded;
}

cbx_status cbx_tensors_write(const char *path, const cbx_tensor *tensors, size_t count,
                             const cbx_meta *meta, size_t meta_count, cbx_error *err)
{
    size_t          length = 0;
    cbx_atomic_file file = {.fd = -1};
    char           *header = NULL;
    size_t         *order = calloc(count ? count : 1, sizeof *order);
    if (!order)
        return cbx_fail_memory(err);
    cbx_status status = check_texts(path, tensors, count, meta, meta_count, err);
    if (status)
        goto done;
    order_tensors(tensors, count, order);
    header = make_header(tensors, order, count, meta, meta_count, &length);
    if (!header) {
        status = cbx_fail_memory(err);
        goto done;
    }
    status = cbx_atomic_open(&file, path, err);
    uint64_t prefix = length;
    if (!status)
        status = cbx_atomic_write(&file, &prefix, 8, err);
    if (!status)
        status = cbx_atomic_write(&file, header, length, err);
    for (size_t i = 0; i < count && !status; i++)
        status = cbx_atomic_write(&file, tensors[order[i]].data,
                                  (size_t)bytes_of(&tensors[order[i]]), err);
    if (status)
        cbx_atomic_abandon(&file);
    else
        status = cbx_atomic_commit(&file, err);
done:
    free(order);
    free(header);
    return status;
}
