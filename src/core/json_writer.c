/* SPDX-License-Identifier: Apache-2.0 */
/* json_writer.c: see json_writer.h. */
#include "json_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "utf8.h"

/* ---- texts */

enum { ESCAPE_SIZE = 16 };

/* The character of `length` bytes, which are UTF-8. */
static uint32_t code_of(const char *at, int length)
{
    uint32_t code = (unsigned char)*at & (length > 1 ? 0x7fu >> length : 0x7fu);
    for (int i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3fu);
    return code;
}

/* What stands for a character; "" if it stands for itself. */
static void escape(const cbx_json_writer *w, uint32_t code, char to[ESCAPE_SIZE])
{
    static const char short_ones[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char       *found = code < 0x80 ? strchr(short_ones, (int)code) : NULL;
    to[0] = '\0';
    if (found)
        (void)snprintf(to, ESCAPE_SIZE, "\\%c", letters[found - short_ones]);
    else if (code < 0x20 || (w->ascii && code > 0x7f && code < 0x10000))
        (void)snprintf(to, ESCAPE_SIZE, "\\u%04X", (unsigned)code);
    else if (w->ascii && code >= 0x10000) /* as UTF-16 has it, in two halves */
        (void)snprintf(to, ESCAPE_SIZE, "\\u%04X\\u%04X",
                       (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                       (unsigned)(0xdc00 + (code & 0x3ff)));
}

static void put_quoted(cbx_json_writer *w, const char *text)
{
    const char *plain = text; /* from here on nothing is written yet */
    cbx_buffer_put(&w->out, "\"");
    for (int length; *text; text += length) {
        char instead[ESCAPE_SIZE];
        length = cbx_utf8_length(text);
        escape(w, length ? code_of(text, length) : 0xfffd, instead);
        if (length && !instead[0])
            continue;
        cbx_buffer_add(&w->out, plain, (size_t)(text - plain));
        cbx_buffer_put(&w->out, instead[0] ? instead : "\xef\xbf\xbd");
        length = length ? length : 1;
        plain = text + length;
    }
    cbx_buffer_add(&w->out, plain, (size_t)(text - plain));
    cbx_buffer_put(&w->out, "\"");
}

/* ---- values */

static void begin(cbx_json_writer *w, const char *key)
{
    if (w->comma)
        cbx_buffer_put(&w->out, ",");
    if (key) {
        put_quoted(w, key);
        cbx_buffer_put(&w->out, ":");
    }
    w->comma = true;
}

static void put_word(cbx_json_writer *w, const char *key, const char *word)
{
    begin(w, key);
    cbx_buffer_put(&w->out, word);
}

void cbx_json_open(cbx_json_writer *w, const char *key, char bracket)
{
    begin(w, key);
    cbx_buffer_add(&w->out, &bracket, 1);
    w->comma = false;
}

void cbx_json_close(cbx_json_writer *w, char bracket)
{
    cbx_buffer_add(&w->out, &bracket, 1);
    w->comma = true;
}

void cbx_json_put_text(cbx_json_writer *w, const char *key, const char *text)
{
    if (!text) {
        cbx_json_put_null(w, key);
        return;
    }
    begin(w, key);
    put_quoted(w, text);
}

void cbx_json_put_int(cbx_json_writer *w, const char *key, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    put_word(w, key, text);
}

void cbx_json_put_bool(cbx_json_writer *w, const char *key, bool value)
{
    put_word(w, key, value ? "true" : "false");
}

void cbx_json_put_null(cbx_json_writer *w, const char *key)
{
    put_word(w, key, "null");
}

/* "1e+20" and "1e-05" become "1e20" and "1e-5", and "1" becomes "1.0". */
static void tidy(char *text)
{
    char *e = strchr(text, 'e');
    if (e) {
        char *digits = e + 1 + (e[1] == '-'), *from = e + 2;
        while (*from == '0')
            from++;
        memmove(digits, from, strlen(from) + 1);
    } else if (!strchr(text, '.')) {
        memcpy(text + strlen(text), ".0", 3);
    }
}

void cbx_json_put_real(cbx_json_writer *w, const char *key, double value)
{
    char text[40];
    if (!isfinite(value)) {
        cbx_json_put_null(w, key);
    } else if (value == 0 || value == 1) { /* most values of features */
        put_word(w, key, value == 1 ? "1.0" : signbit(value) ? "-0.0" : "0.0");
    } else {
        (void)cbx_print(text, sizeof text, "%.*g", w->digits ? w->digits : 9, value);
        tidy(text);
        put_word(w, key, text);
    }
}

static void put_members(cbx_json_writer *w, const char *key, const cbx_json *value,
                        const char *brackets)
{
    cbx_json_open(w, key, brackets[0]);
    for (const cbx_json *member = value->first; member; member = member->next)
        cbx_json_put(w, member->key, member);
    cbx_json_close(w, brackets[1]);
}

void cbx_json_put(cbx_json_writer *w, const char *key, const cbx_json *value)
{
    switch (value ? value->kind : CBX_JSON_NULL) {
    case CBX_JSON_NULL:
        cbx_json_put_null(w, key);
        break;
    case CBX_JSON_BOOL:
        cbx_json_put_bool(w, key, value->integer != 0);
        break;
    case CBX_JSON_INTEGER:
        cbx_json_put_int(w, key, value->integer);
        break;
    case CBX_JSON_REAL:
        cbx_json_put_real(w, key, value->number);
        break;
    case CBX_JSON_TEXT:
        cbx_json_put_text(w, key, value->text);
        break;
    case CBX_JSON_LIST:
        put_members(w, key, value, "[]");
        break;
    case CBX_JSON_OBJECT:
        put_members(w, key, value, "{}");
        break;
    }
}

void cbx_json_put_written(cbx_json_writer *w, const char *key, const cbx_json_writer *other)
{
    begin(w, key);
    cbx_buffer_add(&w->out, other->out.text ? other->out.text : "", other->out.size);
    w->out.failed = w->out.failed || other->out.failed;
}

char *cbx_json_take(cbx_json_writer *w)
{
    char *text = w->out.text;
    if (w->out.failed) {
        cbx_buffer_free(&w->out);
        return NULL;
    }
    w->out = (cbx_buffer){.text = NULL};
    w->comma = false;
    return text;
}
