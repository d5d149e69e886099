/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: writing JSON. Keys are NULL inside arrays and at the top.
 *
 * The library has a writer too, which is no part of its public interface, and the command line
 * sees nothing else. This one writes to a file as it goes, with blanks for people, no terminal
 * codes, and digits enough for doubles. */
#ifndef CBX_CLI_JSON_H
#define CBX_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "combinex/extend.h"
#include "combinex/kit.h"

/* Start with {.out = file}. */
typedef struct json {
    FILE *out;
    bool  comma; /* the next value has one before it on its level */
} json;

void json_open(json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(json *j, char bracket);                 /* '}' or ']' */
void json_line(json *j);                                /* ends a line, for one value a line */

void json_text(json *j, const char *key, const char *value); /* NULL: null */
void json_int(json *j, const char *key, int64_t value);
void json_bool(json *j, const char *key, bool value);

/* With digits enough to read back as the same number: 15 to 17 of a double, 9
 * of a float. JSON has no NaN and no infinity: they become null. */
void json_double(json *j, const char *key, double value);
void json_float(json *j, const char *key, float value);

/* The field of an option struct that `option` describes. */
void json_option(json *j, const cbx_options *options, const cbx_option *option);

#endif
