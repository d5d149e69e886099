/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: recursive descent over a copy of the text. The copy ends
 * with a NUL, which no rule accepts, so nothing reads past it; and texts lose their
 * escapes where they stand, because none grows by that. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "utf8.h"
#include "word.h"

enum { DEEPEST = 64 };

typedef struct parser {
    char           *begin, *at;
    cbx_arena      *arena;
    cbx_json_error *why;
    cbx_status      status;
} parser;

/* ---- failing; each returns false, for the rules to hand on */

static bool fail_at(parser *p, const char *at, const char *reason, const char *name)
{
    p->status = CBX_INVALID;
    p->why->position = (size_t)(at - p->begin);
    (void)snprintf(p->why->text, sizeof p->why->text, name ? "%s '%.60s'" : "%s", reason, name);
    return false;
}

static bool fail(parser *p, const char *reason)
{
    return fail_at(p, p->at, reason, NULL);
}

static bool out_of_memory(parser *p)
{
    p->status = CBX_NO_MEMORY;
    return false;
}

/* ---- texts */

/* Four hexadecimal digits; -1 if they are not. */
static int32_t hex4(parser *p)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        char c = *p->at;
        int  digit = c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : -1;
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* After a "\u". */
static bool read_code(parser *p, char **out)
{
    int32_t code = hex4(p);
    if (code >= 0xd800 && code < 0xdc00) {
        if (p->at[0] != '\\' || p->at[1] != 'u')
            return fail(p, "half a character");
        p->at += 2;
        int32_t low = hex4(p);
        if (low < 0xdc00 || low >= 0xe000)
            return fail(p, "half a character");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code <= 0 || (code >= 0xdc00 && code < 0xe000)) {
        return fail(p, "a \\u that stands for no character");
    }
    *out = cbx_utf8_put(*out, (uint32_t)code);
    return true;
}

static bool read_escape(parser *p, char **out)
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char              c = *++p->at;
    const char       *found = c ? strchr(escapes, c) : NULL;
    if (found) {
        *(*out)++ = meanings[found - escapes];
        p->at++;
        return true;
    }
    if (c != 'u')
        return fail(p, "unknown escape");
    p->at++;
    return read_code(p, out);
}

static bool read_text(parser *p, const char **text)
{
    if (*p->at != '"')
        return fail(p, "a text in quotes expected");
    char *out = ++p->at;
    *text = out;
    while (*p->at != '"') {
        if (*p->at == '\\') {
            if (!read_escape(p, &out))
                return false;
            continue;
        }
        int length = cbx_utf8_length(p->at);
        if (length == 0 && (unsigned char)*p->at >= 0x80)
            return fail(p, "not UTF-8");
        if ((unsigned char)*p->at < 0x20)
            return fail(p, "a text without an end, or with a control character");
        memmove(out, p->at, (size_t)length);
        out += length;
        p->at += length;
    }
    *out = '\0';
    p->at++;
    return true;
}

/* ---- numbers */

static bool to_integer(const char *at, int64_t *out)
{
    bool     negative = *at == '-';
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;
    for (at += negative; cbx_is_digit(*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static bool skip_digits(parser *p)
{
    if (!cbx_is_digit(*p->at))
        return fail(p, "a digit expected");
    while (cbx_is_digit(*p->at))
        p->at++;
    return true;
}

static bool read_number(parser *p, cbx_json *value)
{
    const char *begin = p->at;
    value->kind = CBX_JSON_INTEGER;
    p->at += *p->at == '-';
    if (p->at[0] == '0' && cbx_is_digit(p->at[1]))
        return fail(p, "a number that starts with 0");
    if (!skip_digits(p))
        return false;
    if (*p->at == '.') {
        value->kind = CBX_JSON_REAL;
        p->at++;
        if (!skip_digits(p))
            return false;
    }
    if (*p->at == 'e' || *p->at == 'E') {
        value->kind = CBX_JSON_REAL;
        p->at++;
        p->at += *p->at == '-' || *p->at == '+';
        if (!skip_digits(p))
            return false;
    }
    value->number = cbx_read_number(begin, NULL);
    if (!isfinite(value->number) ||
        (value->kind == CBX_JSON_INTEGER && !to_integer(begin, &value->integer)))
        return fail_at(p, begin, "a number beyond 64 bits", NULL);
    return true;
}

/* ---- lists, objects, values */

static bool read_value(parser *p, int depth, const char *key, const cbx_json **out);

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')
        p->at++;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const cbx_json *const *)a)->key, (*(const cbx_json *const *)b)->key);
}

static bool check_keys(parser *p, const cbx_json *object)
{
    const cbx_json **sorted = CBX_NEW(p->arena, const cbx_json *, object->count);
    size_t           count = 0;
    if (!sorted)
        return out_of_memory(p);
    for (const cbx_json *m = object->first; m; m = m->next)
        sorted[count++] = m;
    qsort(sorted, count, sizeof *sorted, by_key);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(sorted[i - 1]->key, sorted[i]->key))
            return fail_at(p, sorted[i]->key, "duplicate name", sorted[i]->key);
    return true;
}

/* Members up to `closing`; those of an object have names. */
static bool read_members(parser *p, int depth, cbx_json *value, char closing)
{
    const cbx_json **last = &value->first;
    p->at++;
    skip_blanks(p);
    if (*p->at == closing) {
        p->at++;
        return true;
    }
    for (;; p->at++) {
        const char *key = NULL;
        skip_blanks(p);
        if (closing == '}') {
            if (!read_text(p, &key))
                return false;
            skip_blanks(p);
            if (*p->at != ':')
                return fail(p, "':' expected");
            p->at++;
        }
        if (!read_value(p, depth + 1, key, last))
            return false;
        last = &((cbx_json *)*last)->next; /* ours until it is handed out */
        value->count++;
        skip_blanks(p);
        if (*p->at == closing)
            break;
        if (*p->at != ',')
            return fail(p, closing == '}' ? "',' or '}' expected" : "',' or ']' expected");
    }
    p->at++;
    return closing == ']' || value->count < 2 || check_keys(p, value);
}

static bool read_word(parser *p, const char *word, cbx_json *value, cbx_json_kind kind)
{
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0)
        return fail(p, "a value expected");
    p->at += length;
    value->kind = kind;
    value->integer = *word == 't';
    return true;
}

static bool read_value(parser *p, int depth, const char *key, const cbx_json **out)
{
    cbx_json *value = CBX_NEW0(p->arena, cbx_json, 1);
    if (!value)
        return out_of_memory(p);
    value->key = key;
    *out = value;
    skip_blanks(p);
    if (depth == DEEPEST)
        return fail(p, "nested too deeply");
    switch (*p->at) {
    case '{':
        value->kind = CBX_JSON_OBJECT;
        return read_members(p, depth, value, '}');
    case '[':
        value->kind = CBX_JSON_LIST;
        return read_members(p, depth, value, ']');
    case '"':
        value->kind = CBX_JSON_TEXT;
        return read_text(p, &value->text);
    case 't':
        return read_word(p, "true", value, CBX_JSON_BOOL);
    case 'f':
        return read_word(p, "false", value, CBX_JSON_BOOL);
    case 'n':
        return read_word(p, "null", value, CBX_JSON_NULL);
    default:
        if (*p->at == '-' || cbx_is_digit(*p->at))
            return read_number(p, value);
        return fail(p, "a value expected");
    }
}

cbx_status cbx_json_parse(const char *text, size_t length, cbx_arena *arena, const cbx_json **out,
                          cbx_json_error *why)
{
    char *copy = length < SIZE_MAX ? CBX_NEW(arena, char, length + 1) : NULL;
    *out = NULL;
    *why = (cbx_json_error){0};
    if (!copy)
        return CBX_NO_MEMORY;
    memcpy(copy, text, length);
    copy[length] = '\0';
    parser          p = {.begin = copy, .at = copy, .arena = arena, .why = why};
    const cbx_json *value;
    if (!read_value(&p, 0, NULL, &value))
        return p.status;
    skip_blanks(&p);
    if (p.at != copy + length) {
        (void)fail(&p, "the end expected");
        return p.status;
    }
    *out = value;
    return CBX_OK;
}

const cbx_json *cbx_json_get(const cbx_json *object, const char *key)
{
    if (!object || object->kind != CBX_JSON_OBJECT)
        return NULL;
    for (const cbx_json *m = object->first; m; m = m->next)
        if (!strcmp(m->key, key))
            return m;
    return NULL;
}

const cbx_json *cbx_json_at(const cbx_json *list, size_t i)
{
    const cbx_json *m = list ? list->first : NULL;
    for (; m && i > 0; i--)
        m = m->next;
    return m;
}

cbx_json cbx_json_option(const cbx_option *o, const void *options)
{
    const void *at = (const char *)options + o->offset;
    cbx_json value = {.kind = CBX_JSON_NULL};
    switch (o->type) {
    case CBX_OPTION_INT:
        value.kind = CBX_JSON_INTEGER;
        value.integer = *(const int64_t *)at;
        value.number = (double)value.integer;
        break;
    case CBX_OPTION_REAL:
        value.kind = CBX_JSON_REAL;
        value.number = *(const double *)at;
        break;
    case CBX_OPTION_BOOL:
        value.kind = CBX_JSON_BOOL;
        value.integer = *(const bool *)at;
        break;
    case CBX_OPTION_CHOICE:
        value.text = o->choices[*(const int *)at];
        break;
    case CBX_OPTION_TEXT:
        value.text = *(const char *const *)at;
        break;
    }
    if (value.text && !cbx_is_utf8(value.text))
        value.text = NULL;
    if (value.text)
        value.kind = CBX_JSON_TEXT;
    return value;
}
