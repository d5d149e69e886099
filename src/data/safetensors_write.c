/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_write.c: writing. Wide elements first, so that every tensor starts
 * at a multiple of its element size. */
#include <stdlib.h>
#include <string.h>

#include "atomic_file.h"
#include "error.h"
#include "json_writer.h"
#include "safetensors.h"
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

static void put_tensor(cbx_json_writer *w, const cbx_tensor *t, uint64_t at)
{
    cbx_json_open(w, t->name, '{');
    cbx_json_put_text(w, "dtype", dtype_names[t->dtype]);
    cbx_json_open(w, "shape", '[');
    for (int32_t i = 0; i < t->rank; i++)
        cbx_json_put_int(w, NULL, t->shape[i]);
    cbx_json_close(w, ']');
    cbx_json_open(w, "data_offsets", '[');
    cbx_json_put_int(w, NULL, (int64_t)at);
    cbx_json_put_int(w, NULL, (int64_t)(at + bytes_of(t)));
    cbx_json_close(w, ']');
    cbx_json_close(w, '}');
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

/* The header, padded to a multiple of 8. */
static void put_header(cbx_json_writer *w, const cbx_tensor *tensors, const size_t *order,
                       size_t count, const cbx_meta *meta, size_t meta_count)
{
    uint64_t at = 0;
    cbx_json_open(w, NULL, '{');
    cbx_json_open(w, "__metadata__", '{');
    for (size_t i = 0; i < meta_count; i++)
        cbx_json_put_text(w, meta[i].key, meta[i].value);
    cbx_json_close(w, '}');
    for (size_t i = 0; i < count; i++) {
        const cbx_tensor *t = &tensors[order[i]];
        put_tensor(w, t, at);
        at += bytes_of(t);
    }
    cbx_json_close(w, '}');
    cbx_buffer_add(&w->out, "       ", (8 - w->out.size % 8) % 8);
}

cbx_status cbx_tensors_write(const char *path, const cbx_tensor *tensors, size_t count,
                             const cbx_meta *meta, size_t meta_count, cbx_error *err)
{
    cbx_atomic_file file = {.fd = -1};
    cbx_json_writer header = {.digits = 0};
    size_t         *order = calloc(count ? count : 1, sizeof *order);
    if (!order)
        return cbx_fail_memory(err);
    cbx_status status = check_texts(path, tensors, count, meta, meta_count, err);
    if (status)
        goto done;
    order_tensors(tensors, count, order);
    put_header(&header, tensors, order, count, meta, meta_count);
    if (header.out.failed) {
        status = cbx_fail_memory(err);
        goto done;
    }
    status = cbx_atomic_open(&file, path, err);
    uint64_t prefix = header.out.size;
    if (!status)
        status = cbx_atomic_write(&file, &prefix, 8, err);
    if (!status)
        status = cbx_atomic_write(&file, header.out.text, header.out.size, err);
    for (size_t i = 0; i < count && !status; i++)
        status = cbx_atomic_write(&file, tensors[order[i]].data,
                                  (size_t)bytes_of(&tensors[order[i]]), err);
    if (status)
        cbx_atomic_abandon(&file);
    else
        status = cbx_atomic_commit(&file, err);
done:
    free(order);
    cbx_buffer_free(&header.out);
    return status;
}
