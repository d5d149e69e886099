/* SPDX-License-Identifier: Apache-2.0 */
/* table.c: see table.h. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "word.h"

static char choose_delimiter(const char *line)
{
    static const char candidates[] = "\t;, "; /* a later one wins over an earlier with as many */
    char              best = ',';
    size_t            most = 0;
    for (const char *c = candidates; *c; c++) {
        size_t count = 0;
        for (const char *at = line; *at; at++)
            count += *at == *c;
        if (count && (count > most || (*c == ',' && count >= most)) && (*c != ' ' || most == 0)) {
            most = count;
            best = *c;
        }
    }
    return best;
}

/* Blanks around a field are not part of it. */
static char *trim(char *from, char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return from;
}

/* Undoes quotes in place; returns the delimiter behind it, or NULL. */
static char *unquote(char *from, char delimiter, char **field)
{
    char *to = from, *at = from + 1;
    *field = from;
    while (*at && !(*at == '"' && at[1] != '"')) {
        at += *at == '"';
        *to++ = *at++;
    }
    at += *at == '"';
    while (*at && *at != delimiter)
        *to++ = *at++;
    bool last = !*at;
    *to = '\0'; /* before `at`: the first quote is gone */
    return last ? NULL : at;
}

static bool add_field(cbx_table *t, char *field)
{
    if (t->num_fields == t->room) {
        size_t room = t->room ? 2 * t->room : 16;
        char **more = realloc(t->fields, room * sizeof *more);
        if (!more)
            return false;
        t->fields = more;
        t->room = room;
    }
    t->fields[t->num_fields++] = field;
    return true;
}

static bool split(cbx_table *t, char *line)
{
    t->num_fields = 0;
    for (;;) {
        char *start = line + (t->delimiter == '\t' ? 0 : strspn(line, " \t")), *field, *end;
        if (t->delimiter == ' ' && !*start && t->num_fields)
            return true;
        if (*start == '"') {
            end = unquote(start, t->delimiter, &field);
            if (!add_field(t, field))
                return false;
            if (!end)
                return true;
            line = end + 1;
            continue;
        }
        end = strchr(start, t->delimiter);
        bool last = !end;
        if (last)
            end = start + strlen(start);
        if (!add_field(t, trim(start, end)))
            return false;
        if (last)
            return true;
        line = end + 1;
    }
}

cbx_status cbx_table_open(cbx_table *t, cbx_reading *r, const char *name)
{
    char *line = NULL;
    *t = (cbx_table){0};
    cbx_status status = cbx_lines_open(&t->lines, r, name);
    if (!status)
        status = cbx_lines_filled(&t->lines, &line);
    if (status)
        return status;
    if (!line)
        return cbx_fail(r->err, CBX_INVALID, "%s: the file is empty", t->lines.path);
    if (!strncmp(line, "\xef\xbb\xbf", 3)) /* a mark that some spreadsheets write */
        line += 3;
    t->delimiter = choose_delimiter(line);
    t->header = strdup(line);
    if (!t->header || !split(t, t->header))
        return CBX_MEMORY(r);
    t->columns = t->fields;
    t->num_columns = t->num_fields;
    t->fields = NULL;
    t->num_fields = t->room = 0;
    return CBX_OK;
}

cbx_status cbx_table_next(cbx_table *t, bool *more)
{
    for (;;) {
        char      *line;
        cbx_status status = cbx_lines_filled(&t->lines, &line);
        *more = !status && line;
        if (!*more)
            return status;
        if (!split(t, line))
            return CBX_MEMORY(t->lines.reading);
        if (t->num_fields == t->num_columns)
            return CBX_OK;
        status =
            cbx_bad_line(&t->lines, "%llu fields, the header has %llu",
                         (unsigned long long)t->num_fields, (unsigned long long)t->num_columns);
        if (status)
            return status;
    }
}

void cbx_table_close(cbx_table *t)
{
    cbx_lines_close(&t->lines);
    free(t->fields);
    free(t->columns);
    free(t->header);
    *t = (cbx_table){0};
}

bool cbx_is_number(const char *text, double *value)
{
    char *end;
    *value = cbx_read_number(text, &end);
    return end != text && !*end;
}

bool cbx_table_headless(const cbx_table *t)
{
    double ignored;
    return t->num_columns >= 2 && cbx_is_number(t->columns[0], &ignored) &&
           cbx_is_number(t->columns[1], &ignored);
}

int cbx_table_column(const cbx_table *t, const char *const *names)
{
    for (; *names; names++)
        for (size_t c = 0; c < t->num_columns; c++)
            if (cbx_same_word(t->columns[c], *names))
                return (int)c;
    return -1;
}
