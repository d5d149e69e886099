/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c: bytes of one file of a bundle: raw from disk, archive or memory, then
 * through zlib if they start like gzip. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bundle_inside.h"
#include "error.h"

enum { CHUNK = 1 << 16 };

struct cbx_stream {
    cbx_bundle *bundle;
    char       *path;
    FILE       *file;
    zip_file_t *entry;
    const char *memory;
    size_t      left; /* of the memory */

    unsigned char raw[CHUNK];
    size_t        at, have; /* of raw */
    bool          raw_ended;
    bool          gzipped, inflating;
    bool          member_ended;
    z_stream      z;
};

static cbx_status read_raw(cbx_stream *s, cbx_error *err)
{
    s->at = s->have = 0;
    if (s->raw_ended)
        return CBX_OK;
    if (s->file) {
        s->have = fread(s->raw, 1, CHUNK, s->file);
        if (s->have < CHUNK && ferror(s->file))
            return cbx_fail_errno(err, s->path, "read");
    } else if (s->entry) {
        zip_int64_t got = zip_fread(s->entry, s->raw, CHUNK);
        if (got < 0)
            return cbx_fail(err, CBX_INVALID, "%s: damaged in its archive: %s", s->path,
                            zip_error_strerror(zip_file_get_error(s->entry)));
        s->have = (size_t)got;
    } else {
        s->have = s->left < CHUNK ? s->left : CHUNK;
        memcpy(s->raw, s->memory, s->have);
        s->memory += s->have;
        s->left -= s->have;
    }
    s->raw_ended = s->have == 0;
    if (!s->entry) /* an archive's size is known from the start */
        s->bundle->packed += s->have;
    return CBX_OK;
}

static char *join(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 2;
    char  *text = malloc(size);
    if (text)
        (void)snprintf(text, size, "%s/%s", a, b);
    return text;
}

static cbx_status open_source(cbx_stream *s, const char *name, cbx_error *err)
{
    cbx_bundle *b = s->bundle;
    cbx_file   *file = cbx_bundle_file(b, name);
    if (b->chosen && !strcmp(name, b->chosen) && b->folder)
        s->path = strdup(b->path);
    else
        s->path = b->memory ? strdup(name) : join(b->folder ? b->folder : b->path, name);
    if (!s->path)
        return cbx_fail_memory(err);
    if (!file)
        return cbx_fail(err, CBX_IO, "%s: no such file", s->path);
    if (b->folder) {
        s->file = fopen(s->path, "rb");
        if (!s->file)
            return cbx_fail_errno(err, s->path, "open");
        if (!file->opened && !(file->opened = strdup(s->path)))
            return cbx_fail_memory(err);
        (void)setvbuf(s->file, NULL, _IONBF, 0); /* reads come in chunks as it is */
    } else if (b->zip) {
        s->entry = zip_fopen_index(b->zip, (zip_uint64_t)file->index, 0);
        if (!s->entry)
            return cbx_fail(err, CBX_INVALID, "%s: cannot be unpacked: %s", s->path,
                            zip_error_strerror(zip_get_error(b->zip)));
    } else {
        s->memory = b->memory + file->begin;
        s->left = file->end > file->begin ? file->end - file->begin : 0;
    }
    return CBX_OK;
}

static cbx_status start_inflating(cbx_stream *s, cbx_error *err)
{
    s->gzipped = s->have >= 2 && s->raw[0] == 0x1f && s->raw[1] == 0x8b;
    if (!s->gzipped)
        return CBX_OK;
    if (inflateInit2(&s->z, 15 + 16) != Z_OK)
        return cbx_fail_memory(err);
    s->inflating = true;
    return CBX_OK;
}

cbx_status cbx_stream_open(cbx_bundle *bundle, const char *name, cbx_stream **out, cbx_error *err)
{
    *out = NULL;
    cbx_stream *s = calloc(1, sizeof *s);
    if (!s)
        return cbx_fail_memory(err);
    s->bundle = bundle;
    cbx_status status = open_source(s, name, err);
    if (!status)
        status = read_raw(s, err);
    if (!status)
        status = start_inflating(s, err);
    if (status) {
        cbx_stream_close(s);
        return status;
    }
    *out = s;
    return CBX_OK;
}

const char *cbx_stream_path(const cbx_stream *s)
{
    return s->path;
}

/* Some bytes, at least one before the end. */
static cbx_status inflate_some(cbx_stream *s, unsigned char *to, size_t size, size_t *got,
                               cbx_error *err)
{
    *got = 0;
    while (*got == 0) {
        if (s->at == s->have) {
            cbx_status status = read_raw(s, err);
            if (status)
                return status;
            if (s->have == 0 && !s->member_ended)
                return cbx_fail(err, CBX_INVALID, "%s: the gzip file ends too early", s->path);
            if (s->have == 0)
                return CBX_OK;
        }
        if (s->member_ended) { /* files joined end to end are one file */
            (void)inflateReset(&s->z);
            s->member_ended = false;
        }
        uInt room = size > CHUNK ? CHUNK : (uInt)size;
        s->z.next_in = s->raw + s->at;
        s->z.avail_in = (uInt)(s->have - s->at);
        s->z.next_out = to;
        s->z.avail_out = room;
        int result = inflate(&s->z, Z_NO_FLUSH);
        s->at = s->have - s->z.avail_in;
        *got = room - s->z.avail_out;
        if (result == Z_STREAM_END)
            s->member_ended = true;
        else if (result == Z_MEM_ERROR)
            return cbx_fail_memory(err);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return cbx_fail(err, CBX_INVALID, "%s: damaged gzip file: %s", s->path,
                            s->z.msg ? s->z.msg : "bad data");
    }
    return CBX_OK;
}

static cbx_status copy_some(cbx_stream *s, unsigned char *to, size_t size, size_t *got,
                            cbx_error *err)
{
    if (s->at == s->have) {
        cbx_status status = read_raw(s, err);
        if (status)
            return status;
    }
    *got = s->have - s->at < size ? s->have - s->at : size;
    memcpy(to, s->raw + s->at, *got);
    s->at += *got;
    return CBX_OK;
}

cbx_status cbx_stream_read(cbx_stream *s, void *to, size_t size, size_t *got, cbx_error *err)
{
    *got = 0;
    while (*got < size) {
        size_t         more = 0;
        unsigned char *at = (unsigned char *)to + *got;
        cbx_status     status = s->inflating ? inflate_some(s, at, size - *got, &more, err)
                                             : copy_some(s, at, size - *got, &more, err);
        if (status)
            return status;
        if (more == 0)
            break;
        *got += more;
        s->bundle->bytes += more;
        status = cbx_bundle_bears(s->bundle, s->path, err);
        if (status)
            return status;
    }
    return CBX_OK;
}

void cbx_stream_close(cbx_stream *s)
{
    if (!s)
        return;
    if (s->inflating)
        (void)inflateEnd(&s->z);
    if (s->file)
        (void)fclose(s->file);
    if (s->entry)
        (void)zip_fclose(s->entry);
    free(s->path);
    free(s);
}

cbx_status cbx_bundle_slurp(cbx_bundle *b, const char *name, unsigned char **bytes, size_t *size,
                            cbx_error *err)
{
    cbx_stream *s;
    size_t      room = CHUNK, got = 0;
    *bytes = NULL;
    *size = 0;
    cbx_status status = cbx_stream_open(b, name, &s, err);
    if (status)
        return status;
    unsigned char *all = malloc(room);
    while (all) {
        status = cbx_stream_read(s, all + *size, room - 1 - *size, &got, err);
        *size += got;
        if (status || *size < room - 1)
            break;
        unsigned char *more = realloc(all, 2 * room);
        if (!more) {
            free(all);
            all = NULL;
            break;
        }
        all = more;
        room *= 2;
    }
    if (!all)
        status = cbx_fail_memory(err);
    cbx_stream_close(s);
    if (status) {
        free(all);
        return status;
    }
    all[*size] = '\0';
    *bytes = all;
    return CBX_OK;
}

cbx_status cbx_bundle_peek(cbx_bundle *b, const char *name, void *to, size_t size, size_t *got,
                           cbx_error *err)
{
    cbx_stream *s;
    *got = 0;
    cbx_status status = cbx_stream_open(b, name, &s, err);
    if (!status)
        status = cbx_stream_read(s, to, size, got, err);
    cbx_stream_close(s);
    return status;
}
