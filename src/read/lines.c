/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c: text, line by line, with numbers for messages. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "reading.h"
#include "word.h"

enum { FIRST_ROOM = 1 << 16 };

cbx_status cbx_lines_open(cbx_lines *l, cbx_reading *r, const char *name)
{
    *l = (cbx_lines){.reading = r};
    cbx_status status = cbx_stream_open(r->bundle, name, &l->stream, r->err);
    if (status)
        return status;
    l->path = cbx_stream_path(l->stream);
    l->room = FIRST_ROOM;
    l->buffer = malloc(l->room);
    return l->buffer ? CBX_OK : CBX_MEMORY(r);
}

void cbx_lines_close(cbx_lines *l)
{
    cbx_stream_close(l->stream);
    free(l->buffer);
    *l = (cbx_lines){0};
}

/* More bytes behind those that are there; one byte stays free for a 0. */
static cbx_status fill(cbx_lines *l)
{
    if (l->begin) {
        memmove(l->buffer, l->buffer + l->begin, l->end - l->begin);
        l->end -= l->begin;
        l->begin = 0;
    }
    if (l->end + 1 >= l->room) {
        char *more = l->room < SIZE_MAX / 2 ? realloc(l->buffer, 2 * l->room) : NULL;
        if (!more)
            return CBX_MEMORY(l->reading);
        l->buffer = more;
        l->room *= 2;
    }
    size_t     got, size = l->room - 1 - l->end;
    cbx_status status = cbx_stream_read(l->stream, l->buffer + l->end, size, &got, l->reading->err);
    l->end += got;
    l->ended = got < size;
    return status;
}

cbx_status cbx_lines_next(cbx_lines *l, char **line)
{
    *line = NULL;
    for (size_t looked = 0;;) {
        char *from = l->buffer + l->begin, *stop;
        stop = memchr(from + looked, '\n', l->end - l->begin - looked);
        if (!stop && !l->ended) {
            looked = l->end - l->begin;
            cbx_status status = fill(l);
            if (status)
                return status;
            continue;
        }
        if (!stop && l->begin == l->end)
            return CBX_OK;
        size_t length = stop ? (size_t)(stop - from) : l->end - l->begin;
        l->begin += length + (stop != NULL);
        l->number++;
        if (length && from[length - 1] == '\r')
            length--;
        from[length] = '\0';
        if (memchr(from, '\0', length))
            return cbx_fail(l->reading->err, CBX_INVALID,
                            "%s, line %lld: not text: it has a 0 byte", l->path,
                            (long long)l->number);
        *line = from;
        return CBX_OK;
    }
}

cbx_status cbx_lines_filled(cbx_lines *l, char **line)
{
    cbx_status status;
    do
        status = cbx_lines_next(l, line);
    while (!status && *line && !(*line)[strspn(*line, " \t")]);
    return status;
}

/* ---- problems */

static cbx_status report(cbx_reading *r, const char *message)
{
    r->problems++;
    if (!r->on_problem)
        return cbx_fail(r->err, CBX_INVALID, "%s", message);
    r->on_problem(r->user, CBX_PROBLEM_ERROR, message);
    return CBX_OK;
}

cbx_status cbx_problem(cbx_reading *r, const char *format, ...)
{
    char    message[CBX_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    cbx_message(message, format, args);
    va_end(args);
    return report(r, message);
}

cbx_status cbx_bad_line(cbx_lines *l, const char *format, ...)
{
    char    what[CBX_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    cbx_message(what, format, args);
    va_end(args);
    return cbx_problem(l->reading, "%.300s, line %lld: %s", l->path, (long long)l->number, what);
}

cbx_status cbx_bad_id(cbx_lines *l, const char *what, int64_t id, int64_t first, int64_t count)
{
    return cbx_bad_line(l, "%s %lld does not exist: they are %lld to %lld", what, (long long)id,
                        (long long)first, (long long)(first + count - 1));
}

const char *cbx_excerpt(const char *at, char buffer[48])
{
    size_t length = 0;
    at += strspn(at, " \t");
    while (length < 40 && at[length] && at[length] != ',' && at[length] != '\t')
        length++;
    while (length && (at[length] & 0xc0) == 0x80) /* not within a UTF-8 character */
        length--;
    memcpy(buffer, at, length);
    buffer[length] = '\0';
    return buffer;
}

/* ---- numbers */

static char *skip_blanks(char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Past the end of a value; NULL where something else sticks to it. */
static char *past(char *end)
{
    char *at = skip_blanks(end);
    if (*at == ',' || *at == ';')
        return skip_blanks(at + 1);
    return at > end || !*at ? at : NULL;
}

bool cbx_take_int(char **at, int64_t *value)
{
    char *from = skip_blanks(*at), *end;
    if (!cbx_is_digit(*from) && *from != '-' && *from != '+')
        return false;
    errno = 0;
    long long v = strtoll(from, &end, 10);
    if (end == from || errno == ERANGE || !(end = past(end)))
        return false;
    *value = v;
    *at = end;
    return true;
}

bool cbx_take_real(char **at, double *value)
{
    char *from = skip_blanks(*at), *end;
    if (*from && strchr("\n\v\f\r", *from)) /* it would be skipped */
        return false;
    double v = cbx_read_number(from, &end);
    if (end == from || !(end = past(end)))
        return false;
    *value = v;
    *at = end;
    return true;
}

bool cbx_at_end(char **at)
{
    *at = skip_blanks(*at);
    return !**at;
}
