/* SPDX-License-Identifier: Apache-2.0 */
/* json_writer.h: JSON as text, value by value, in compact form: {"a":[1,2.5,null]}.
 *
 * Members come out in the order in which they are put. Start with a zeroed struct. When memory
 * runs out the writer says so at the end (out.failed) and all that is put until then is ignored,
 * so that nobody need look in between. Keys are NULL in lists and at the top. */
#ifndef CBX_JSON_WRITER_H
#define CBX_JSON_WRITER_H

#include "buffer.h"
#include "internal.h"
#include "json.h"

typedef struct cbx_json_writer {
    cbx_buffer out;
    int        digits; /* of reals, up to 17; 0: nine, with which every float comes back */
    bool       ascii;  /* other characters are escaped */
    bool       comma;  /* the next value has one before it; the writer's own */
} cbx_json_writer;

CBX_INTERNAL void cbx_json_open(cbx_json_writer *w, const char *key, char bracket); /* '{' or '[' */
CBX_INTERNAL void cbx_json_close(cbx_json_writer *w, char bracket);                 /* '}' or ']' */

/* NULL is null. U+FFFD stands for each byte that is not UTF-8. */
CBX_INTERNAL void cbx_json_put_text(cbx_json_writer *w, const char *key, const char *text);
CBX_INTERNAL void cbx_json_put_int(cbx_json_writer *w, const char *key, int64_t value);
CBX_INTERNAL void cbx_json_put_bool(cbx_json_writer *w, const char *key, bool value);
CBX_INTERNAL void cbx_json_put_null(cbx_json_writer *w, const char *key);

/* With a point or an exponent: 1 is 1.0, and stays a real for who reads it. JSON has no NaN and
 * no infinity: they are null. */
CBX_INTERNAL void cbx_json_put_real(cbx_json_writer *w, const char *key, double value);

/* What was read, with all that is in it; its own key does not matter. NULL is null. */
CBX_INTERNAL void cbx_json_put(cbx_json_writer *w, const char *key, const cbx_json *value);

/* What another writer has, which is one value. Where that failed, so has this one. */
CBX_INTERNAL void cbx_json_put_written(cbx_json_writer *w, const char *key,
                                       const cbx_json_writer *other);

/* The text, to free(), or NULL where memory ran out. The writer is empty then. */
CBX_INTERNAL char *cbx_json_take(cbx_json_writer *w);

#endif
