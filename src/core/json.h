/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: JSON, of headers, of metadata, of results and of exported programs.
 *
 * Reading; json_writer.h has the writing. Wanted is what RFC 8259 wants, and besides:
 * UTF-8, no NUL in a text, no name twice in an object, integers that fit in 64 bits,
 * and at most 64 levels. */
#ifndef CBX_JSON_H
#define CBX_JSON_H

#include "arena.h"
#include "combinex.h"
#include "internal.h"
#include "option_table.h"

typedef enum cbx_json_kind {
    CBX_JSON_NULL,
    CBX_JSON_BOOL,
    CBX_JSON_INTEGER,
    CBX_JSON_REAL,
    CBX_JSON_TEXT,
    CBX_JSON_LIST,
    CBX_JSON_OBJECT
} cbx_json_kind;

typedef struct cbx_json {
    cbx_json_kind          kind;
    const char            *key;     /* of an object's member */
    const char            *text;    /* of a text; NULL for all others */
    int64_t                integer; /* of an integer; 0 or 1 of a bool */
    double                 number;  /* of an integer or a real */
    size_t                 count;   /* of a list's or an object's members */
    const struct cbx_json *first;   /* the first of them */
    const struct cbx_json *next;    /* the next in the same list or object */
} cbx_json;

typedef struct cbx_json_error {
    size_t position; /* bytes before it */
    char   text[112];
} cbx_json_error;

/* CBX_OK, CBX_NO_MEMORY, or CBX_INVALID and then the reason in `why`. What comes
 * out lives in the arena and does not need the text any more. */
CBX_INTERNAL cbx_status cbx_json_parse(const char *text, size_t length, cbx_arena *arena,
                                       const cbx_json **out, cbx_json_error *why);

/* The member of that name, or NULL; also if `object` is NULL or no object. */
CBX_INTERNAL const cbx_json *cbx_json_get(const cbx_json *object, const char *key);

/* The i-th member, or NULL; also if `list` is NULL. */
CBX_INTERNAL const cbx_json *cbx_json_at(const cbx_json *list, size_t i);

/* What an option's field of `options` has; a text in it is the field's own. */
CBX_INTERNAL cbx_json cbx_json_option(const cbx_option *option, const void *options);

#endif
