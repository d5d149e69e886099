/* SPDX-License-Identifier: Apache-2.0 */
/* parsed.h: JSON for tests to look into. What is not there, or is of another kind, counts as 0
 * or NULL. */
#ifndef CBX_TEST_PARSED_H
#define CBX_TEST_PARSED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "test.h"

/* NULL, and a failed check, if it is no JSON. */
static inline const cbx_json *parsed(cbx_arena *arena, const char *text, size_t length)
{
    const cbx_json *value = NULL;
    cbx_json_error  why = {0};
    if (!CHECK(text && !cbx_json_parse(text, length, arena, &value, &why)))
        printf("  byte %zu: %s\n  %.*s\n", why.position, why.text, (int)length, text ? text : "");
    return value;
}

static inline const cbx_json *parsed_file(cbx_arena *arena, const char *path)
{
    size_t          size = 0;
    char           *text = (char *)test_read_file(path, &size);
    const cbx_json *value = parsed(arena, text, size);
    free(text);
    return value;
}

/* The data of an HTML page. */
static inline const cbx_json *parsed_page(cbx_arena *arena, const char *page)
{
    static const char mark[] = "id=\"data\">";
    const char       *at = page ? strstr(page, mark) : NULL;
    const char       *end = at ? strstr(at, "</script>") : NULL;
    if (!CHECK(end != NULL))
        return NULL;
    at += strlen(mark);
    return parsed(arena, at, (size_t)(end - at));
}

static inline int64_t count_of(const cbx_json *list)
{
    return list ? (int64_t)list->count : 0;
}

static inline bool is_integer(const cbx_json *value)
{
    return value && value->kind == CBX_JSON_INTEGER;
}

static inline bool is_number(const cbx_json *value)
{
    return is_integer(value) || (value && value->kind == CBX_JSON_REAL);
}

static inline bool is_true(const cbx_json *value)
{
    return value && value->kind == CBX_JSON_BOOL && value->integer;
}

static inline int64_t integer_of(const cbx_json *value)
{
    return is_integer(value) ? value->integer : 0;
}

static inline double number_of(const cbx_json *value)
{
    return is_number(value) ? value->number : 0;
}

static inline const char *text_of(const cbx_json *value)
{
    return value ? value->text : NULL;
}

/* Member by member; numbers bit by bit. */
static inline bool same_json(const cbx_json *a, const cbx_json *b)
{
    if (a->kind != b->kind || a->count != b->count || a->integer != b->integer ||
        (a->kind == CBX_JSON_REAL && memcmp(&a->number, &b->number, sizeof a->number) != 0) ||
        (a->text && strcmp(a->text, b->text) != 0))
        return false;
    const cbx_json *m = a->first, *n = b->first;
    for (; m && n; m = m->next, n = n->next)
        if (!m->key != !n->key || (m->key && strcmp(m->key, n->key) != 0) || !same_json(m, n))
            return false;
    return !m && !n;
}

#endif
