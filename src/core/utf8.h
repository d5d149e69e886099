/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h: which bytes are text, and how text from outside is shown. */
#ifndef CBX_UTF8_H
#define CBX_UTF8_H

#include "internal.h"

enum { CBX_UTF8_SHOWN = 8 };

/* cbx_text_next, which see; CBX_SHOWN_SIZE is the same number. */
CBX_INTERNAL size_t cbx_utf8_show_next(const char **text, char shown[CBX_UTF8_SHOWN]);

/* Bytes of the UTF-8 character at `at`; 0 if there is none. */
CBX_INTERNAL int  cbx_utf8_length(const char *at);
CBX_INTERNAL bool cbx_is_utf8(const char *text);

/* The whole of `text` as cbx_text_next shows it, as far as `size` bytes with the 0 allow: a
 * character is there or not. Returns the length. */
CBX_INTERNAL size_t cbx_text_show(char *shown, size_t size, const char *text);

/* Writes a character, of up to 4 bytes; returns what is behind it. */
CBX_INTERNAL char *cbx_utf8_put(char *to, uint32_t code);

#endif
