/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h: text that grows. A zeroed struct is empty; once memory runs out it stays as it
 * was and says so. */
#ifndef CBX_BUFFER_H
#define CBX_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "internal.h"

typedef struct cbx_buffer {
    char  *text; /* with a 0 behind it, or NULL: nothing yet */
    size_t size, room;
    bool   failed;
} cbx_buffer;

CBX_INTERNAL void cbx_buffer_add(cbx_buffer *b, const char *text, size_t size);
CBX_INTERNAL void cbx_buffer_put(cbx_buffer *b, const char *text);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
CBX_INTERNAL void
cbx_buffer_print(cbx_buffer *b, const char *format, ...); /* up to 500 bytes */

/* Whatever the bytes are, what is added is UTF-8: U+FFFD stands for each that is not. At most
 * `most` characters, the last an ellipsis where more are left out; 0: all. */
CBX_INTERNAL void cbx_buffer_utf8(cbx_buffer *b, const char *text, size_t most);

CBX_INTERNAL void cbx_buffer_free(cbx_buffer *b);

#endif
