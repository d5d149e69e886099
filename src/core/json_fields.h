/* SPDX-License-Identifier: Apache-2.0 */
/* json_fields.h: members of an object that came from outside, checked for their type and range.
 * What is wrong is said with the member's name. */
#ifndef CBX_JSON_FIELDS_H
#define CBX_JSON_FIELDS_H

#include "json.h"

/* `missing` of a member that must be there. */
enum { CBX_JSON_REQUIRED = -2 };

/* A whole number from 0 to `most`; `missing`, which is -1 or more, where there is none. */
CBX_INTERNAL cbx_status cbx_json_whole(const cbx_json *object, const char *key, int64_t most, int64_t missing,
                          int64_t *out, cbx_error *err);

/* A finite number. */
CBX_INTERNAL cbx_status cbx_json_float(const cbx_json *object, const char *key, float *out, cbx_error *err);

/* Absent is false. */
CBX_INTERNAL cbx_status cbx_json_bool(const cbx_json *object, const char *key, bool *out, cbx_error *err);

/* NULL: it is absent, or no text. */
CBX_INTERNAL const char *cbx_json_text(const cbx_json *object, const char *key);

/* Is it there, and a number? */
CBX_INTERNAL bool cbx_json_is_number(const cbx_json *value);

#endif
