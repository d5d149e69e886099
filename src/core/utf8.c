/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.c: see utf8.h. */
#include "utf8.h"

#include <stdio.h>
#include <string.h>

int cbx_utf8_length(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char  *at = (const unsigned char *)text;
    if (*at < 0x80)
        return *at ? 1 : 0;
    if (*at < 0xc0 || *at >= 0xf8)
        return 0;
    int      length = *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    uint32_t code = *at & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

bool cbx_is_utf8(const char *text)
{
    for (int length; *text; text += length)
        if (!(length = cbx_utf8_length(text)))
            return false;
    return true;
}

/* The character of `length` bytes, if it does something to a terminal instead of being seen:
 * control characters of ASCII and of Latin-1, ends of lines and paragraphs, and those that turn
 * the order of the others about. Else 0. */
static uint32_t steers(const unsigned char *at, int length)
{
    if (length == 1)
        return *at < 0x20 || *at == 0x7f ? *at : 0;
    if (length == 2)
        return at[0] == 0xc2 && at[1] < 0xa0 ? at[1] : 0;
    if (length == 4 || at[0] != 0xe2 || (at[1] != 0x80 && at[1] != 0x81))
        return 0;
    uint32_t code = 0x2000u | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ? code : 0;
}

size_t cbx_utf8_show_next(const char **text, char shown[CBX_UTF8_SHOWN])
{
    static const char    named[] = "\n\t\r", names[] = "ntr";
    const unsigned char *at = (const unsigned char *)*text;
    if (!*at) {
        shown[0] = '\0';
        return 0;
    }
    int      length = cbx_utf8_length(*text);
    uint32_t code = length ? steers(at, length) : *at;
    *text += length ? length : 1;
    if (length && !code) {
        memcpy(shown, at, (size_t)length);
        shown[length] = '\0';
        return (size_t)length;
    }
    const char *known = length == 1 ? strchr(named, (int)code) : NULL;
    int         wrote;
    if (known)
        wrote = snprintf(shown, CBX_UTF8_SHOWN, "\\%c", names[known - named]);
    else
        wrote = snprintf(shown, CBX_UTF8_SHOWN, length > 1 ? "\\u%04x" : "\\x%02x", (unsigned)code);
    return (size_t)wrote;
}

size_t cbx_text_show(char *shown, size_t size, const char *text)
{
    size_t at = 0, length;
    char   next[CBX_UTF8_SHOWN];
    while ((length = cbx_utf8_show_next(&text, next)) && at + length < size) {
        memcpy(shown + at, next, length);
        at += length;
    }
    shown[at] = '\0';
    return at;
}

char *cbx_utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    int length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)((0xf00 >> length & 0xff) | code);
    return out + length;
}
