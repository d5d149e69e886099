/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: text for people. */
#include "text.h"

#include <stdbool.h>
#include <string.h>

#include "combinex/kit.h"

enum { LINE_END = 80, REPLACEMENT = 0xFFFD };

uint32_t utf8_next(const char **text)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char  *s = (const unsigned char *)*text;
    size_t                length;
    uint32_t              point;

    if (s[0] < 0x80) {
        *text += s[0] != 0;
        return s[0];
    }
    length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    point = s[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) { /* the final 0 stops here as well */
            (*text)++;
            return REPLACEMENT;
        }
        point = point << 6 | (s[i] & 0x3Fu);
    }
    /* stray continuation bytes, overlong forms, surrogates, past the last plane */
    if (s[0] < 0xC0 || s[0] > 0xF4 || point < smallest[length] || point > 0x10FFFF ||
        (point >= 0xD800 && point <= 0xDFFF)) {
        (*text)++;
        return REPLACEMENT;
    }
    *text += length;
    return point;
}

void utf8_put(FILE *out, uint32_t point)
{
    if (point < 0x80) {
        (void)fputc((int)point, out);
        return;
    }
    if (point < 0x800) {
        (void)fputc((int)(0xC0 | point >> 6), out);
    } else if (point < 0x10000) {
        (void)fputc((int)(0xE0 | point >> 12), out);
        (void)fputc((int)(0x80 | (point >> 6 & 0x3F)), out);
    } else {
        (void)fputc((int)(0xF0 | point >> 18), out);
        (void)fputc((int)(0x80 | (point >> 12 & 0x3F)), out);
        (void)fputc((int)(0x80 | (point >> 6 & 0x3F)), out);
    }
    (void)fputc((int)(0x80 | (point & 0x3F)), out);
}

/* An escape has one for each of its letters, any other character one. */
static size_t shown_columns(const char *shown, size_t length)
{
    return *shown == '\\' ? length : 1;
}

size_t text_columns(const char *text)
{
    char   shown[CBX_SHOWN_SIZE];
    size_t columns = 0, length;
    while ((length = cbx_text_next(&text, shown)))
        columns += shown_columns(shown, length);
    return columns;
}

void text_put(FILE *out, const char *text, size_t width)
{
    char   shown[CBX_SHOWN_SIZE];
    size_t columns = 0, length;
    while ((length = cbx_text_next(&text, shown))) {
        (void)fputs(shown, out);
        columns += shown_columns(shown, length);
    }
    for (; columns < width; columns++)
        (void)fputc(' ', out);
}

void text_wrap(FILE *out, const char *text, size_t indent, size_t at)
{
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " ");
        char   word[256];
        size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = '\0';
        if (!first && at + 1 + text_columns(word) > LINE_END) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            (void)fputc(' ', out);
            at++;
        }
        (void)fputs(word, out);
        at += text_columns(word);
        first = false;
        text += length + strspn(text + length, " ");
    }
    (void)fputc('\n', out);
}

const char *text_count(number_text buffer, int64_t number)
{
    char   digits[24];
    char  *out = buffer;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number);
    for (size_t i = 0; i < length; i++) {
        bool after_digit = i && digits[i - 1] != '-';
        if (after_digit && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

const char *text_counted(count_text buffer, int64_t number, const char *noun)
{
    number_text count;
    (void)snprintf(buffer, sizeof(count_text), "%s %s%s", text_count(count, number), noun,
                   number == 1 ? "" : "s");
    return buffer;
}
