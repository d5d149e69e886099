/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c: reading. 8 bytes of header length, a JSON header, raw bytes.
 *
 * Beyond what the format asks (offsets inside, no overlap, no hole, sizes that
 * match shapes) names must be unique, which JSON parsers usually let pass. */
#include "safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "json.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the container is little-endian and is mapped as it is"
#endif

/* The format's own limit: no header is larger than this. */
#define LARGEST_HEADER ((uint64_t)100 * 1000 * 1000)

static const struct {
    const char *name;
    cbx_dtype   dtype;
    int         size;
} dtypes[] = {{"F64", CBX_F64, 8},   {"F32", CBX_F32, 4},   {"I64", CBX_I64, 8},
              {"I32", CBX_I32, 4},   {"U8", CBX_U8, 1},     {"BOOL", CBX_BOOL, 1},
              {"I8", CBX_OTHER, 1},  {"I16", CBX_OTHER, 2}, {"U16", CBX_OTHER, 2},
              {"U32", CBX_OTHER, 4}, {"U64", CBX_OTHER, 8}, {"F16", CBX_OTHER, 2},
              {"BF16", CBX_OTHER, 2}};

static int find_dtype(const char *name)
{
    for (int i = 0; i < (int)(sizeof dtypes / sizeof *dtypes); i++)
        if (!strcmp(dtypes[i].name, name))
            return i;
    return -1;
}

static int dtype_index(cbx_dtype dtype)
{
    for (int i = 0; i < (int)(sizeof dtypes / sizeof *dtypes); i++)
        if (dtypes[i].dtype == dtype)
            return i;
    return -1;
}

/* ---- the file */

static cbx_status check_length(const cbx_tensor_file *f, uint64_t length, cbx_error *err)
{
    if (length <= LARGEST_HEADER && length <= f->map_size - 8)
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID,
                    "%s: not a safetensors file, or truncated: its header would have %llu bytes, "
                    "the file has %llu",
                    f->path, (unsigned long long)length, (unsigned long long)f->map_size);
}

/* A large file that is something else is not read to its end. */
static cbx_status copy_bytes(cbx_tensor_file *f, int fd, cbx_error *err)
{
    uint64_t length = 0;
    if (pread(fd, &length, 8, 0) == 8) { /* what goes wrong here goes wrong again below */
        cbx_status status = check_length(f, length, err);
        if (status)
            return status;
    }
    char *at = f->map = malloc(f->map_size);
    if (!at)
        return cbx_fail_memory(err);
    f->copied = true;
    for (size_t left = f->map_size; left;) {
        ssize_t got = read(fd, at, left < (1u << 30) ? left : (1u << 30));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cbx_fail_errno(err, f->path, "read");
        if (got == 0)
            return cbx_fail(err, CBX_INVALID, "%s: was cut short while it was read", f->path);
        at += got;
        left -= (size_t)got;
    }
    return CBX_OK;
}

static cbx_status map_bytes(cbx_tensor_file *f, int fd, cbx_error *err)
{
    f->map = mmap(NULL, f->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (f->map != MAP_FAILED)
        return CBX_OK;
    f->map = NULL;
    return cbx_fail_errno(err, f->path, "map");
}

static cbx_status open_bytes(cbx_tensor_file *f, bool copy, cbx_error *err)
{
    struct stat st;
    cbx_status  status = CBX_OK;
    /* Not to wait for a writer, should it be a pipe. */
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cbx_fail_errno(err, f->path, "open");
    if (fstat(fd, &st)) {
        status = cbx_fail_errno(err, f->path, "look at");
    } else if (!S_ISREG(st.st_mode)) {
        status =
            cbx_fail(err, CBX_INVALID, "%s: not a file that can be read as safetensors", f->path);
    } else if (st.st_size < 8) {
        status = cbx_fail(err, CBX_INVALID,
                          "%s: not a safetensors file: %lld bytes, at least 8 expected", f->path,
                          (long long)st.st_size);
    } else {
        f->map_size = (size_t)st.st_size;
        status = copy ? copy_bytes(f, fd, err) : map_bytes(f, fd, err);
    }
    (void)close(fd);
    return status;
}

/* ---- one tensor's entry in the header */

static cbx_status read_shape(const cbx_tensor_file *f, const cbx_json *shape, cbx_tensor *t,
                             cbx_error *err)
{
    if (!shape || shape->kind != CBX_JSON_LIST || shape->count > CBX_MAX_RANK)
        return cbx_fail(err, CBX_INVALID,
                        "%s: tensor '%s': shape must be a list of at most %d sizes", f->path,
                        t->name, CBX_MAX_RANK);
    t->rank = 0;
    t->count = 1;
    for (const cbx_json *size = shape->first; size; size = size->next) {
        int64_t v = size->kind == CBX_JSON_INTEGER ? size->integer : -1;
        if (v < 0)
            return cbx_fail(err, CBX_INVALID,
                            "%s: tensor '%s': a size of its shape is not a whole number ≥ 0",
                            f->path, t->name);
        if (v > 0 && t->count > INT64_MAX / 8 / v)
            return cbx_fail(err, CBX_INVALID,
                            "%s: tensor '%s': its shape has more elements than any file holds",
                            f->path, t->name);
        t->shape[t->rank++] = v;
        t->count *= v;
    }
    return CBX_OK;
}

static cbx_status read_entry(const cbx_tensor_file *f, const cbx_json *entry, uint64_t data_size,
                             cbx_tensor *t, cbx_error *err)
{
    const cbx_json *dtype = cbx_json_get(entry, "dtype");
    const cbx_json *offsets = cbx_json_get(entry, "data_offsets");
    if (!dtype || !dtype->text || !offsets || offsets->kind != CBX_JSON_LIST || offsets->count != 2)
        return cbx_fail(err, CBX_INVALID,
                        "%s: tensor '%s': dtype, shape and two data_offsets expected", f->path,
                        t->name);
    int kind = find_dtype(dtype->text);
    if (kind < 0)
        return cbx_fail(err, CBX_INVALID, "%s: tensor '%s': unknown dtype '%.20s'", f->path,
                        t->name, dtype->text);
    t->dtype = dtypes[kind].dtype;
    t->dtype_name = dtypes[kind].name;
    cbx_status status = read_shape(f, cbx_json_get(entry, "shape"), t, err);
    if (status)
        return status;
    const cbx_json *begin = offsets->first, *end = begin->next;
    if (begin->kind != CBX_JSON_INTEGER || end->kind != CBX_JSON_INTEGER || begin->integer < 0 ||
        end->integer < begin->integer)
        return cbx_fail(err, CBX_INVALID, "%s: tensor '%s': data_offsets are not begin ≤ end",
                        f->path, t->name);
    t->begin = (uint64_t)begin->integer;
    t->end = (uint64_t)end->integer;
    if (t->end > data_size)
        return cbx_fail(
            err, CBX_INVALID,
            "%s: tensor '%s' ends at byte %llu of the data, but the file has %llu: truncated?",
            f->path, t->name, (unsigned long long)t->end, (unsigned long long)data_size);
    uint64_t want = (uint64_t)t->count * (uint64_t)dtypes[kind].size;
    if (t->end - t->begin != want)
        return cbx_fail(
            err, CBX_INVALID, "%s: tensor '%s': its shape needs %llu bytes, its offsets give %llu",
            f->path, t->name, (unsigned long long)want, (unsigned long long)(t->end - t->begin));
    return CBX_OK;
}

/* ---- the header */

static cbx_status read_meta(cbx_tensor_file *f, const cbx_json *meta, cbx_error *err)
{
    if (meta->kind != CBX_JSON_OBJECT)
        return cbx_fail(err, CBX_INVALID, "%s: __metadata__ is not an object", f->path);
    f->meta = CBX_NEW0(&f->arena, cbx_meta, meta->count);
    if (!f->meta)
        return cbx_fail_memory(err);
    for (const cbx_json *m = meta->first; m; m = m->next) {
        if (!m->text)
            return cbx_fail(err, CBX_INVALID, "%s: metadata '%.60s' is not a text", f->path,
                            m->key);
        f->meta[f->meta_count++] = (cbx_meta){m->key, m->text};
    }
    return CBX_OK;
}

static int by_begin(const void *a, const void *b)
{
    const cbx_tensor *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static cbx_status check_layout(const cbx_tensor_file *f, uint64_t data_size, cbx_error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < f->count; i++) {
        const cbx_tensor *t = &f->tensors[i];
        if (t->begin < at)
            return cbx_fail(err, CBX_INVALID, "%s: tensors '%s' and '%s' overlap", f->path,
                            f->tensors[i - 1].name, t->name);
        if (t->begin > at)
            return cbx_fail(err, CBX_INVALID,
                            "%s: %llu bytes before tensor '%s' belong to no tensor", f->path,
                            (unsigned long long)(t->begin - at), t->name);
        at = t->end;
    }
    if (at != data_size)
        return cbx_fail(err, CBX_INVALID, "%s: %llu bytes at the end belong to no tensor", f->path,
                        (unsigned long long)(data_size - at));
    return CBX_OK;
}

static cbx_status read_tensors(cbx_tensor_file *f, const cbx_json *header, uint64_t data_size,
                               cbx_error *err)
{
    f->tensors = CBX_NEW0(&f->arena, cbx_tensor, header->count);
    if (!f->tensors)
        return cbx_fail_memory(err);
    for (const cbx_json *m = header->first; m; m = m->next) {
        cbx_status status;
        if (!strcmp(m->key, "__metadata__")) {
            status = read_meta(f, m, err);
        } else {
            if (strlen(m->key) > 120)
                return cbx_fail(err, CBX_INVALID,
                                "%s: a tensor's name is longer than 120 bytes: '%.40s…'", f->path,
                                m->key);
            cbx_tensor *t = &f->tensors[f->count++];
            t->name = m->key;
            status = read_entry(f, m, data_size, t, err);
        }
        if (status)
            return status;
    }
    if (f->count)
        qsort(f->tensors, f->count, sizeof *f->tensors, by_begin);
    return check_layout(f, data_size, err);
}

/* Points the tensors into the map. Files need not align their data; what is not
 * aligned is copied. */
static cbx_status place_tensors(cbx_tensor_file *f, uint64_t data_at, cbx_error *err)
{
    const unsigned char *data = (const unsigned char *)f->map + data_at;
    for (size_t i = 0; i < f->count; i++) {
        cbx_tensor *t = &f->tensors[i];
        size_t      bytes = (size_t)(t->end - t->begin);
        t->data = data + t->begin;
        if (t->count && (uintptr_t)t->data % (bytes / (size_t)t->count)) {
            void *copy = cbx_arena_alloc(&f->arena, bytes, 1);
            if (!copy)
                return cbx_fail_memory(err);
            memcpy(copy, t->data, bytes);
            t->data = copy;
        }
    }
    return CBX_OK;
}

static cbx_status read_header(cbx_tensor_file *f, cbx_error *err)
{
    uint64_t length = 0;
    memcpy(&length, f->map, 8);
    cbx_status status = check_length(f, length, err);
    if (status)
        return status;
    cbx_json_error  why;
    const cbx_json *header; /* stays in the arena: names and texts are pointed to */
    status = cbx_json_parse((const char *)f->map + 8, (size_t)length, &f->arena, &header, &why);
    if (status == CBX_NO_MEMORY)
        return cbx_fail_memory(err);
    if (status)
        return cbx_fail(err, CBX_INVALID, "%s: header, byte %zu: %s", f->path, why.position,
                        why.text);
    if (header->kind != CBX_JSON_OBJECT)
        return cbx_fail(err, CBX_INVALID, "%s: the header is not a JSON object", f->path);
    status = read_tensors(f, header, f->map_size - 8 - length, err);
    return status ? status : place_tensors(f, 8 + length, err);
}

static cbx_status open_file(const char *path, bool copy, cbx_tensor_file **out, cbx_error *err)
{
    *out = NULL;
    cbx_tensor_file *f = calloc(1, sizeof *f);
    if (!f)
        return cbx_fail_memory(err);
    cbx_status status = CBX_OK;
    f->path = cbx_arena_strdup(&f->arena, path);
    if (!f->path)
        status = cbx_fail_memory(err);
    if (!status)
        status = open_bytes(f, copy, err);
    if (!status)
        status = read_header(f, err);
    if (status) {
        cbx_tensors_close(f);
        return status;
    }
    *out = f;
    return CBX_OK;
}

cbx_status cbx_tensors_open(const char *path, cbx_tensor_file **out, cbx_error *err)
{
    return open_file(path, false, out, err);
}

cbx_status cbx_tensors_copy(const char *path, cbx_tensor_file **out, cbx_error *err)
{
    return open_file(path, true, out, err);
}

void cbx_tensors_close(cbx_tensor_file *file)
{
    if (!file)
        return;
    if (file->copied)
        free(file->map);
    else if (file->map)
        (void)munmap(file->map, file->map_size);
    cbx_arena_free(&file->arena);
    free(file);
}

const cbx_tensor *cbx_tensors_find(const cbx_tensor_file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (!strcmp(file->tensors[i].name, name))
            return &file->tensors[i];
    return NULL;
}

const char *cbx_tensors_meta(const cbx_tensor_file *file, const char *key)
{
    for (size_t i = 0; i < file->meta_count; i++)
        if (!strcmp(file->meta[i].key, key))
            return file->meta[i].value;
    return NULL;
}

static void shape_text(char *text, size_t size, int32_t rank, const int64_t *shape)
{
    size_t at = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < rank && at < size; i++) {
        int wrote = shape[i] < 0 ? snprintf(text + at, size - at, "%sany", i ? ", " : "")
                                 : snprintf(text + at, size - at, "%s%lld", i ? ", " : "",
                                            (long long)shape[i]);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
}

cbx_status cbx_tensors_get(const cbx_tensor_file *file, const char *name, cbx_dtype dtype,
                           int32_t rank, const int64_t *shape, const cbx_tensor **out,
                           cbx_error *err)
{
    const cbx_tensor *t = cbx_tensors_find(file, name);
    *out = NULL;
    if (!t)
        return CBX_OK;
    bool same = t->rank == rank;
    for (int32_t i = 0; same && i < rank; i++)
        same = shape[i] < 0 || shape[i] == t->shape[i];
    if (t->dtype != dtype && !(dtype == CBX_U8 && t->dtype == CBX_BOOL))
        return cbx_fail(err, CBX_INVALID, "%s: tensor '%s' has dtype %s, %s expected", file->path,
                        name, t->dtype_name, dtypes[dtype_index(dtype)].name);
    if (!same) {
        char have[128], want[128];
        shape_text(have, sizeof have, t->rank, t->shape);
        shape_text(want, sizeof want, rank, shape);
        return cbx_fail(err, CBX_INVALID, "%s: tensor '%s' has the shape [%s], [%s] expected",
                        file->path, name, have, want);
    }
    *out = t;
    return CBX_OK;
}
