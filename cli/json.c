/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: writing JSON, one value after the other. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static void put_text(FILE *out, const char *text)
{
    uint32_t point;
    (void)fputc('"', out);
    while ((point = utf8_next(&text))) {
        if (point == '"' || point == '\\')
            (void)fprintf(out, "\\%c", (int)point);
        else if (point == '\n')
            (void)fputs("\\n", out);
        else if (point == '\t')
            (void)fputs("\\t", out);
        else if (point < 0x20 || (point >= 0x7F && point < 0xA0))
            (void)fprintf(out, "\\u%04x", (unsigned)point);
        else
            utf8_put(out, point);
    }
    (void)fputc('"', out);
}

static void begin(json *j, const char *key)
{
    if (j->comma)
        (void)fputs(", ", j->out);
    if (key) {
        put_text(j->out, key);
        (void)fputs(": ", j->out);
    }
    j->comma = true;
}

void json_open(json *j, const char *key, char bracket)
{
    begin(j, key);
    (void)fputc(bracket, j->out);
    j->comma = false;
}

void json_close(json *j, char bracket)
{
    (void)fputc(bracket, j->out);
    j->comma = true;
}

void json_line(json *j)
{
    (void)fputc('\n', j->out);
    j->comma = false;
}

void json_text(json *j, const char *key, const char *value)
{
    begin(j, key);
    if (value)
        put_text(j->out, value);
    else
        (void)fputs("null", j->out);
}

void json_int(json *j, const char *key, int64_t value)
{
    begin(j, key);
    (void)fprintf(j->out, "%lld", (long long)value);
}

void json_bool(json *j, const char *key, bool value)
{
    begin(j, key);
    (void)fputs(value ? "true" : "false", j->out);
}

void json_double(json *j, const char *key, double value)
{
    char text[40] = "null";
    begin(j, key);
    for (int digits = 15; isfinite(value) && digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    (void)fputs(text, j->out);
}

void json_float(json *j, const char *key, float value)
{
    begin(j, key);
    if (isfinite(value))
        (void)fprintf(j->out, "%.9g", (double)value);
    else
        (void)fputs("null", j->out);
}

void json_option(json *j, const cbx_options *options, const cbx_option *option)
{
    char text[256];
    bool has = cbx_options_get(options, option->name, text, sizeof text);
    switch (option->type) {
    case CBX_OPTION_INT:
        json_int(j, option->name, strtoll(text, NULL, 10));
        break;
    case CBX_OPTION_REAL:
        json_double(j, option->name, strtod(text, NULL));
        break;
    case CBX_OPTION_BOOL:
        json_bool(j, option->name, !strcmp(text, "true"));
        break;
    default:
        json_text(j, option->name, has ? text : NULL);
    }
}
