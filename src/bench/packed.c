/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c: text in gzip files of a benchmark's folder. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "error.h"
#include "rows.h"

enum { GZIP = 15 + 16 }; /* windowBits: the largest window, a gzip header */

/* As for every reader (SECURITY.md): more than that, and more than so many times the file, is
 * not what the file is for. */
static const size_t MOST_BYTES = (size_t)256 << 20, MOST_TIMES = 128;

/* Room for `more` bytes behind the stream's output, and a last 0. */
static bool grow(z_stream *z, char **text, size_t more)
{
    size_t size = z->total_out;
    char  *larger = realloc(*text, size + more + 1);
    if (!larger)
        return false;
    *text = larger;
    z->next_out = (Bytef *)larger + size;
    z->avail_out = (uInt)more;
    return true;
}

static cbx_status inflate_all(z_stream *z, const char *path, size_t packed, char **text,
                              cbx_error *err)
{
    size_t step = 1 << 16;
    for (int state = Z_OK; state != Z_STREAM_END;) {
        if (z->avail_out == 0 && !grow(z, text, step))
            return cbx_fail_memory(err);
        step = z->total_out > step ? z->total_out : step;
        if (z->total_out > MOST_BYTES && z->total_out / MOST_TIMES > packed)
            return cbx_fail(err, CBX_INVALID, "%s: unpacks to more than %zu times its size", path,
                            MOST_TIMES);
        state = inflate(z, Z_NO_FLUSH);
        if (state != Z_OK && state != Z_STREAM_END)
            return state == Z_MEM_ERROR
                       ? cbx_fail_memory(err)
                       : cbx_fail(err, CBX_INVALID, "%s: damaged, or cut short", path);
    }
    (*text)[z->total_out] = '\0';
    return CBX_OK;
}

cbx_status cbx_bench_read_packed(const char *path, char **text, cbx_error *err)
{
    char      *bytes;
    size_t     size;
    cbx_status status = cbx_text_read(path, &bytes, &size, err);
    *text = NULL;
    if (status || !bytes)
        return status;
    if (size < 2 || (unsigned char)bytes[0] != 0x1f || (unsigned char)bytes[1] != 0x8b) {
        *text = bytes; /* it is not packed */
        return CBX_OK;
    }
    z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
    if (size > INT32_MAX)
        status = cbx_fail(err, CBX_INVALID, "%s: more than 2 GB", path);
    else if (inflateInit2(&z, GZIP) != Z_OK)
        status = cbx_fail_memory(err);
    else {
        status = inflate_all(&z, path, size, text, err);
        (void)inflateEnd(&z);
    }
    free(bytes);
    if (status) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* The same bytes for the same text: the header has neither a name nor a time. */
cbx_status cbx_bench_write_packed(const char *path, const char *text, size_t size, cbx_error *err)
{
    /* zlib reads what it is given to read, and says so in no type */
    z_stream z = {.next_in = (Bytef *)text, .avail_in = (uInt)size};
    if (size > INT32_MAX)
        return cbx_fail(err, CBX_INVALID, "%s: more than 2 GB of answers", path);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return cbx_fail_memory(err);
    size_t     room = deflateBound(&z, (uLong)size);
    char      *bytes = malloc(room);
    cbx_status status = CBX_OK;
    z.next_out = (Bytef *)bytes;
    z.avail_out = (uInt)room;
    if (!bytes || deflate(&z, Z_FINISH) != Z_STREAM_END)
        status = cbx_fail_memory(err);
    else
        status = cbx_bench_write(path, bytes, z.total_out, err);
    (void)deflateEnd(&z);
    free(bytes);
    return status;
}
