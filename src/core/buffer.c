/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c: see buffer.h. */
#include "buffer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "utf8.h"

void cbx_buffer_add(cbx_buffer *b, const char *text, size_t size)
{
    if (b->size + size + 1 > b->room && !b->failed) {
        size_t room = 2 * (b->size + size + 1);
        char  *grown = realloc(b->text, room);
        if (grown) {
            b->text = grown;
            b->room = room;
        }
        b->failed = !grown;
    }
    if (b->failed)
        return;
    memcpy(b->text + b->size, text, size);
    b->size += size;
    b->text[b->size] = '\0';
}

void cbx_buffer_put(cbx_buffer *b, const char *text)
{
    cbx_buffer_add(b, text, strlen(text));
}

void cbx_buffer_print(cbx_buffer *b, const char *format, ...)
{
    char    text[501];
    va_list values;
    va_start(values, format);
    (void)cbx_vprint(text, sizeof text, format, values);
    va_end(values);
    cbx_buffer_put(b, text);
}

void cbx_buffer_utf8(cbx_buffer *b, const char *text, size_t most)
{
    size_t count = 0, all = 0;
    for (const char *at = text; *at; all++)
        at += cbx_utf8_length(at) > 0 ? cbx_utf8_length(at) : 1;
    while (*text) {
        int length = cbx_utf8_length(text);
        if (most && all > most && ++count == most) {
            cbx_buffer_put(b, "…");
            return;
        }
        if (length > 0)
            cbx_buffer_add(b, text, (size_t)length);
        else
            cbx_buffer_put(b, "\xef\xbf\xbd");
        text += length > 0 ? length : 1;
    }
}

void cbx_buffer_free(cbx_buffer *b)
{
    free(b->text);
    *b = (cbx_buffer){.text = NULL};
}
