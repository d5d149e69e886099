/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c: the numbers of a program. A tensor is a view of a storage, one file each, which
 * several may share; whatever it says of steps and offsets must stay inside. */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "pt2.h"

typedef struct torch_type {
    const char *name;
    size_t      size;
    cbx_type    as; /* CBX_TYPES: not known here */
} torch_type;

/* Integers of all sizes become those of 64 bits. */
static const torch_type torch_types[] = {
    {"unknown", 0, CBX_TYPES},   {"uint8", 1, CBX_TYPES},     {"int8", 1, CBX_INTEGER},
    {"int16", 2, CBX_INTEGER},   {"int32", 4, CBX_INTEGER},   {"int64", 8, CBX_INTEGER},
    {"float16", 2, CBX_TYPES},   {"float32", 4, CBX_REAL32},  {"float64", 8, CBX_REAL64},
    {"complex32", 4, CBX_TYPES}, {"complex64", 8, CBX_TYPES}, {"complex128", 16, CBX_TYPES},
    {"bool", 1, CBX_LOGICAL},    {"bfloat16", 2, CBX_TYPES}};
_Static_assert(sizeof torch_types / sizeof *torch_types == CBX_TORCH_TYPES, "as many as named");

bool cbx_type_from_torch(int64_t number, cbx_type *type)
{
    if (number < 0 || number >= CBX_TORCH_TYPES || torch_types[number].as == CBX_TYPES)
        return false;
    *type = torch_types[number].as;
    return true;
}

const char *cbx_torch_type_name(int64_t number, char *buffer, size_t size)
{
    if (number >= 0 && number < CBX_TORCH_TYPES)
        return torch_types[number].name;
    (void)snprintf(buffer, size, "type %lld", (long long)number);
    return buffer;
}

cbx_status cbx_numbers_open(const cbx_parts *parts, const char *folder, const char *config,
                            cbx_arena *arena, cbx_numbers *out, cbx_error *err)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s/%s", folder, config);
    const cbx_part *part = cbx_parts_find(parts, name);
    *out = (cbx_numbers){.parts = parts, .folder = folder};
    if (!part)
        return CBX_OK;
    const cbx_json *json;
    cbx_status      status = cbx_parts_json(parts, part, arena, &json, err);
    if (status)
        return status;
    const cbx_json *all = cbx_json_get(json, "config");
    if (!all || all->kind != CBX_JSON_OBJECT)
        return cbx_fail(err, CBX_INVALID, "%s: %s: no object 'config'", parts->path, name);
    const cbx_json **entry = CBX_NEW(arena, const cbx_json *, all->count);
    out->loaded = CBX_NEW0(arena, cbx_loaded, parts->count);
    out->by_name.arena = arena;
    if (!entry || !out->loaded)
        return cbx_fail_memory(err);
    out->entry = entry;
    int64_t at = 0;
    for (const cbx_json *e = all->first; e; e = e->next) {
        entry[at] = e;
        if (!cbx_name_put(&out->by_name, e->key, at++))
            return cbx_fail_memory(err);
    }
    return CBX_OK;
}

/* {"as_int": 3}, which is all that sizes of weights can be; -1 for anything else. */
static int64_t plain_int(const cbx_json *v)
{
    const cbx_json *n = cbx_json_get(v, "as_int");
    return n && n->kind == CBX_JSON_INTEGER && n->integer >= 0 ? n->integer : -1;
}

static cbx_status fail(const cbx_numbers *n, const char *name, cbx_error *err, const char *what)
{
    return cbx_fail(err, CBX_INVALID, "%s: %s: '%.80s': %s", n->parts->path, n->folder, name, what);
}

/* Sizes and steps, and how many elements of the storage they reach. */
static cbx_status read_shape(const cbx_numbers *n, const char *name, const cbx_json *meta,
                             cbx_array *a, int64_t *reach, cbx_error *err)
{
    const cbx_json *sizes = cbx_json_get(meta, "sizes"), *steps = cbx_json_get(meta, "strides");
    if (!sizes || !steps || sizes->kind != CBX_JSON_LIST || steps->kind != CBX_JSON_LIST ||
        sizes->count != steps->count || sizes->count > CBX_RANKS)
        return fail(n, name, err, "as many sizes as strides, and at most 8, expected");
    a->rank = (int32_t)sizes->count;
    const cbx_json *size = sizes->first, *step = steps->first;
    for (int32_t i = 0; i < a->rank; i++, size = size->next, step = step->next) {
        a->size[i] = plain_int(size);
        if (a->size[i] < 0 || plain_int(step) < 0)
            return fail(n, name, err, "a size or a stride that is not a number from 0");
    }
    if (!cbx_array_pack(a))
        return fail(n, name, err, "too many elements");
    step = steps->first;
    int64_t last = plain_int(cbx_json_get(meta, "storage_offset"));
    if (last < 0)
        return fail(n, name, err, "no storage offset");
    a->offset = last;
    for (int32_t i = 0; i < a->rank; i++, step = step->next) {
        int64_t by;
        a->stride[i] = plain_int(step);
        if (a->size[i] > 1 && (__builtin_mul_overflow(a->size[i] - 1, a->stride[i], &by) ||
                               __builtin_add_overflow(last, by, &last)))
            return fail(n, name, err, "strides beyond 64 bits");
    }
    if (last == INT64_MAX)
        return fail(n, name, err, "strides beyond 64 bits");
    *reach = a->count ? last + 1 : 0;
    return CBX_OK;
}

/* An integer of 1, 2, 4 or 8 bytes. */
static int64_t integer_at(const unsigned char *bytes, size_t size)
{
    int8_t  a;
    int16_t b;
    int32_t c;
    int64_t d;
    switch (size) {
    case 1:
        memcpy(&a, bytes, size);
        return a;
    case 2:
        memcpy(&b, bytes, size);
        return b;
    case 4:
        memcpy(&c, bytes, size);
        return c;
    default:
        memcpy(&d, bytes, size);
        return d;
    }
}

/* All elements of a part, as this type. */
static void *load(cbx_numbers *n, const cbx_part *part, int64_t type, cbx_arena *arena)
{
    const torch_type    *from = &torch_types[type];
    void               **loaded = &n->loaded[part - n->parts->part].as[type];
    const unsigned char *bytes = part->bytes;
    size_t               count = part->size / from->size, size = cbx_type_size(from->as);
    unsigned char       *to = *loaded;
    if (to)
        return to;
    to = cbx_arena_alloc(arena, count, size);
    for (size_t i = 0; to && i < count && from->as == CBX_INTEGER; i++) {
        int64_t value = integer_at(bytes + i * from->size, from->size);
        memcpy(to + i * size, &value, size);
    }
    for (size_t i = 0; to && i < count && from->as == CBX_LOGICAL; i++)
        to[i] = bytes[i] != 0;
    if (to && count && cbx_is_real(from->as))
        memcpy(to, bytes, count * size);
    *loaded = to;
    return to;
}

cbx_status cbx_numbers_get(cbx_numbers *n, const char *name, cbx_arena *arena, cbx_array **out,
                           cbx_error *err)
{
    int64_t         at = cbx_name_get(&n->by_name, name);
    const cbx_json *entry = at < 0 ? NULL : n->entry[at],
                   *meta = cbx_json_get(entry, "tensor_meta");
    const cbx_json *pickled = cbx_json_get(entry, "use_pickle"),
                   *type = cbx_json_get(meta, "dtype");
    const cbx_json *file = cbx_json_get(entry, "path_name");
    char            text[160], buffer[32];
    int64_t         reach = 0;
    *out = NULL;
    if (!entry)
        return CBX_OK;
    if (pickled && pickled->integer)
        return fail(n, name, err, "a pickled tensor, which is not read here");
    if (!meta || !file || !file->text || !type || type->kind != CBX_JSON_INTEGER)
        return fail(n, name, err, "no path_name, tensor_meta or dtype");
    cbx_array *a = CBX_NEW0(arena, cbx_array, 1);
    if (!a)
        return cbx_fail_memory(err);
    a->storage = -1;
    if (!cbx_type_from_torch(type->integer, &a->type)) {
        (void)snprintf(text, sizeof text, "%s, float32, float64, int64 or bool expected",
                       cbx_torch_type_name(type->integer, buffer, sizeof buffer));
        return fail(n, name, err, text);
    }
    cbx_status status = read_shape(n, name, meta, a, &reach, err);
    if (status)
        return status;
    (void)snprintf(text, sizeof text, "%s/%.100s", n->folder, file->text);
    const cbx_part *part = cbx_parts_find(n->parts, text);
    size_t          size = torch_types[type->integer].size;
    if (!part || (uint64_t)reach > part->size / size)
        return cbx_fail(err, CBX_INVALID,
                        "%s: %.100s: '%.80s' needs %lld numbers of %zu bytes, %zu bytes are there",
                        n->parts->path, text, name, (long long)reach, size, part ? part->size : 0);
    char *data = load(n, part, type->integer, arena);
    if (!data)
        return cbx_fail_memory(err);
    a->data = data + (size_t)(a->count ? a->offset : 0) * cbx_type_size(a->type);
    a->offset = 0;
    *out = a;
    return CBX_OK;
}
