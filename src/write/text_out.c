/* SPDX-License-Identifier: Apache-2.0 */
/* text_out.c: see text_out.h. */
#include "text_out.h"

#include <stdarg.h>
#include <string.h>

#include "number.h"
#include "utf8.h"

cbx_status cbx_text_open_in(cbx_text_out *out, cbx_atomic_folder *folder, const char *name,
                            cbx_error *err)
{
    out->err = err;
    out->used = 0;
    out->folder = folder;
    out->name = name;
    out->status = cbx_atomic_folder_file(folder, name, &out->file, err);
    return out->status;
}

cbx_status cbx_text_open(cbx_text_out *out, const char *path, cbx_error *err)
{
    out->err = err;
    out->used = 0;
    out->folder = NULL;
    out->status = cbx_atomic_open(&out->file, path, err);
    return out->status;
}

static void flush(cbx_text_out *out)
{
    if (!out->status)
        out->status = cbx_atomic_write(&out->file, out->buffer, out->used, out->err);
    out->used = 0;
}

static void put_bytes(cbx_text_out *out, const char *bytes, size_t size)
{
    while (size && !out->status) {
        size_t room = sizeof out->buffer - out->used, part = size < room ? size : room;
        memcpy(out->buffer + out->used, bytes, part);
        out->used += part;
        bytes += part;
        size -= part;
        if (out->used == sizeof out->buffer)
            flush(out);
    }
}

void cbx_text_put(cbx_text_out *out, const char *text)
{
    put_bytes(out, text, strlen(text));
}

void cbx_text_print(cbx_text_out *out, const char *format, ...)
{
    char    text[512];
    va_list args;
    va_start(args, format);
    (void)cbx_vprint(text, sizeof text, format, args);
    va_end(args);
    cbx_text_put(out, text);
}

void cbx_text_xml(cbx_text_out *out, const char *text)
{
    while (*text) {
        int length = cbx_utf8_length(text);
        switch (*text) {
        case '&':
            cbx_text_put(out, "&amp;");
            break;
        case '<':
            cbx_text_put(out, "&lt;");
            break;
        case '>':
            cbx_text_put(out, "&gt;");
            break;
        case '"':
            cbx_text_put(out, "&quot;");
            break;
        default:
            if (length == 0 || ((unsigned char)*text < 32 && *text != '\t'))
                cbx_text_put(out, "?"); /* what XML cannot hold */
            else
                put_bytes(out, text, (size_t)length);
        }
        text += length ? length : 1;
    }
}

void cbx_text_float(cbx_text_out *out, float value)
{
    char text[CBX_NUMBER_SIZE];
    cbx_text_put(out, cbx_print_float(text, value));
}

cbx_status cbx_text_close(cbx_text_out *out)
{
    flush(out);
    if (out->status)
        cbx_atomic_abandon(&out->file);
    else if (out->folder)
        cbx_atomic_folder_add(out->folder, out->name, &out->file);
    else
        out->status = cbx_atomic_commit(&out->file, out->err);
    return out->status;
}
