/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: options by name, over structs that are set, checked and defaulted through tables. */
#include "option_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "version.h"

const char *cbx_version(void)
{
    return CBX_VERSION_TEXT;
}

/* Texts that were copied, to be freed with what they were set in. */
typedef struct kept_text {
    struct kept_text *next;
    char              text[];
} kept_text;

struct cbx_options {
    const cbx_option_table *table;
    void                   *fields;
    bool                    borrows; /* the caller's struct, and the caller's texts */
    kept_text              *texts;
};

cbx_status(cbx_fail_option)(cbx_error *err, const char *name, const char *format, ...)
{
    if (!err)
        return CBX_INVALID;
    va_list args;
    va_start(args, format);
    err->status = CBX_INVALID;
    cbx_message(err->message, format, args);
    va_end(args);
    char field[CBX_OPTION_SIZE];
    (void)snprintf(field, sizeof field, "%s", name);
    for (char *at = field; *at; at++)
        *at = *at == '-' ? '_' : *at;
    cbx_error_prefix(err, field);
    memcpy(err->option, field, sizeof field);
    return CBX_INVALID;
}

static void *field(const cbx_option *option, void *options)
{
    return (char *)options + option->offset;
}

static cbx_status out_of_range(const cbx_option *o, const char *value, cbx_error *err)
{
    if (o->max >= 9e18) /* no upper end worth naming */
        return cbx_fail_option(err, o->name, "%s is out of range: at least %g", value, o->min);
    return cbx_fail_option(err, o->name, "%s is out of range: %g to %g", value, o->min, o->max);
}

static cbx_status set_int(const cbx_option *o, int64_t *at, const char *value, cbx_error *err)
{
    char *end;
    errno = 0;
    long long v = strtoll(value, &end, 10);
    if (end == value || *end)
        return cbx_fail_option(err, o->name, "'%s' is not a whole number", value);
    if (errno == ERANGE || (double)v < o->min || (double)v > o->max)
        return out_of_range(o, value, err);
    *at = v;
    return CBX_OK;
}

static cbx_status set_real(const cbx_option *o, double *at, const char *value, cbx_error *err)
{
    char  *end;
    double v = cbx_read_number(value, &end);
    if (end == value || *end || !isfinite(v))
        return cbx_fail_option(err, o->name, "'%s' is not a number", value);
    if (v < o->min || v > o->max)
        return out_of_range(o, value, err);
    *at = v;
    return CBX_OK;
}

static cbx_status set_bool(const cbx_option *o, bool *at, const char *value, cbx_error *err)
{
    static const char *const yes[] = {"true", "yes", "on", "1", NULL};
    static const char *const no[] = {"false", "no", "off", "0", NULL};
    for (int i = 0; yes[i]; i++) {
        if (!strcmp(value, yes[i]) || !strcmp(value, no[i])) {
            *at = !strcmp(value, yes[i]);
            return CBX_OK;
        }
    }
    return cbx_fail_option(err, o->name, "'%s' is not true or false", value);
}

static void list_words(char *text, size_t size, const char *const *words)
{
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; words[i] && at < size; i++) {
        int wrote = snprintf(text + at, size - at, "%s%s", i ? ", " : "", words[i]);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
}

static cbx_status set_choice(const cbx_option *o, int *at, const char *value, cbx_error *err)
{
    for (int i = 0; o->choices[i]; i++) {
        if (!strcmp(value, o->choices[i])) {
            *at = i;
            return CBX_OK;
        }
    }
    char             all[256];
    cbx_did_you_mean suggestion;
    list_words(all, sizeof all, o->choices);
    return cbx_fail_option(err, o->name, "'%s' is not one of %s%s", value, all,
                           cbx_suggest(suggestion, cbx_nearest_of(value, o->choices)));
}

static cbx_status set_option(const cbx_option *o, void *options, const char *value, cbx_error *err)
{
    void *at = field(o, options);
    switch (o->type) {
    case CBX_OPTION_INT:
        return set_int(o, at, value, err);
    case CBX_OPTION_REAL:
        return set_real(o, at, value, err);
    case CBX_OPTION_BOOL:
        return set_bool(o, at, value, err);
    case CBX_OPTION_CHOICE:
        return set_choice(o, at, value, err);
    case CBX_OPTION_TEXT:
        *(const char **)at = value;
        return CBX_OK;
    }
    return CBX_INVALID;
}

void cbx_fields_default(const cbx_option_table *table, void *options)
{
    size_t                  at;
    const cbx_option_table *part;
    if (table->size)
        memset(options, 0, table->size);
    for (size_t i = 0; i < table->count; i++) {
        const cbx_option *o = &table->options[i];
        if (o->fallback)
            (void)set_option(o, options, o->fallback, NULL);
        else if (o->type == CBX_OPTION_TEXT)
            *(const char **)field(o, options) = NULL;
    }
    for (size_t i = 0; table->part && (part = table->part(i, &at)); i++)
        cbx_fields_default(part, (char *)options + at);
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
            return false;
    return *a == *b;
}

/* The option of this name, and where the struct of its table lies in that of `table`. */
static const cbx_option *find(const cbx_option_table *table, const char *name, size_t *base)
{
    const cbx_option_table *part;
    const cbx_option       *option = NULL;
    size_t                  at, deeper;
    *base = 0;
    for (size_t i = 0; i < table->count; i++)
        if (same_name(table->options[i].name, name))
            return &table->options[i];
    for (size_t i = 0; !option && table->part && (part = table->part(i, &at)); i++) {
        option = find(part, name, &deeper);
        *base = at + deeper;
    }
    return option;
}

static cbx_status unknown(const cbx_option_table *table, const char *name, cbx_error *err)
{
    const char       *names[128];
    size_t            count = 0;
    const cbx_option *option;
    for (size_t i = 0; (option = cbx_option_at(table, i)); i++)
        if (count + 1 < sizeof names / sizeof *names)
            names[count++] = option->name;
    names[count] = NULL;
    const char *near = cbx_nearest_of(name, names);
    if (near)
        return cbx_fail(err, CBX_INVALID, "no option '%s' (did you mean '%s'?)", name, near);
    return cbx_fail(err, CBX_INVALID, "no option '%s'", name);
}

cbx_status cbx_fields_set(const cbx_option_table *table, void *fields, const char *name,
                          const char *value, cbx_error *err)
{
    size_t            base;
    const cbx_option *option = find(table, name, &base);
    return option ? set_option(option, (char *)fields + base, value, err)
                  : unknown(table, name, err);
}

bool cbx_field_is_default(const cbx_option *o, const void *options)
{
    const void *at = (const char *)options + o->offset;
    /* as large as any field, and aligned like it */
    union {
        int64_t     whole;
        double      real;
        bool        yes;
        int         choice;
        const char *text;
    } plain = {.text = NULL};
    cbx_option alone = *o;
    alone.offset = 0;
    if (o->fallback && set_option(&alone, &plain, o->fallback, NULL))
        return false;
    switch (o->type) {
    case CBX_OPTION_INT:
        return *(const int64_t *)at == plain.whole;
    case CBX_OPTION_REAL:
        return *(const double *)at == plain.real;
    case CBX_OPTION_BOOL:
        return *(const bool *)at == plain.yes;
    case CBX_OPTION_CHOICE:
        return *(const int *)at == plain.choice;
    case CBX_OPTION_TEXT: {
        const char *text = *(const char *const *)at;
        return text && plain.text ? !strcmp(text, plain.text) : text == plain.text;
    }
    }
    return false;
}

cbx_status cbx_fields_check(const cbx_option_table *table, const void *options, cbx_error *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const cbx_option *o = &table->options[i];
        const void       *at = (const char *)options + o->offset;
        char              text[64];
        if (o->type == CBX_OPTION_INT) {
            int64_t v = *(const int64_t *)at;
            (void)snprintf(text, sizeof text, "%lld", (long long)v);
            if ((double)v < o->min || (double)v > o->max)
                return out_of_range(o, text, err);
        } else if (o->type == CBX_OPTION_REAL) {
            double v = *(const double *)at;
            (void)cbx_print(text, sizeof text, "%g", v);
            if (!(v >= o->min && v <= o->max))
                return out_of_range(o, text, err);
        } else if (o->type == CBX_OPTION_CHOICE) {
            int v = *(const int *)at, count = 0;
            while (o->choices[count])
                count++;
            if (v < 0 || v >= count)
                return cbx_fail_option(err, o->name, "choice %d of %d", v, count);
        }
    }
    size_t                  at;
    const cbx_option_table *part;
    cbx_status              status = CBX_OK;
    for (size_t i = 0; !status && table->part && (part = table->part(i, &at)); i++)
        status = cbx_fields_check(part, (const char *)options + at, err);
    return status;
}

/* ------------------------------------------------------------ options by name */

const char *cbx_option_table_title(const cbx_option_table *table)
{
    return table->title;
}

/* The i-th option, and where the struct of its table lies in that of `table`; of parts that come
 * before it, i is what is left to count. */
static const cbx_option *option_at(const cbx_option_table *table, size_t *i, size_t *base)
{
    const cbx_option_table *part;
    const cbx_option       *option = NULL;
    size_t                  at, deeper;
    *base = 0;
    if (*i < table->count)
        return &table->options[*i];
    *i -= table->count;
    for (size_t k = 0; !option && table->part && (part = table->part(k, &at)); k++) {
        option = option_at(part, i, &deeper);
        *base = at + deeper;
    }
    return option;
}

const cbx_option *cbx_option_at(const cbx_option_table *table, size_t i)
{
    size_t base;
    return option_at(table, &i, &base);
}

const cbx_option *cbx_fields_at(const cbx_option_table *table, const void *fields, size_t i,
                                const void **of)
{
    size_t            base;
    const cbx_option *option = option_at(table, &i, &base);
    *of = (const char *)fields + base;
    return option;
}

static cbx_status options_new(const cbx_option_table *table, void *fields, cbx_options **out,
                              cbx_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return cbx_fail_memory(err);
    **out = (cbx_options){.table = table, .fields = fields, .borrows = fields != NULL};
    if (!fields)
        (*out)->fields = calloc(1, table->size);
    if (!(*out)->fields) {
        cbx_options_free(*out);
        *out = NULL;
        return cbx_fail_memory(err);
    }
    cbx_fields_default(table, (*out)->fields);
    return CBX_OK;
}

cbx_status cbx_options_new(const cbx_option_table *table, cbx_options **out, cbx_error *err)
{
    return options_new(table, NULL, out, err);
}

cbx_status cbx_options_over(const cbx_option_table *table, void *fields, cbx_options **out,
                            cbx_error *err)
{
    return options_new(table, fields, out, err);
}

void cbx_options_free(cbx_options *options)
{
    if (!options)
        return;
    while (options->texts) {
        kept_text *next = options->texts->next;
        free(options->texts);
        options->texts = next;
    }
    if (!options->borrows)
        free(options->fields);
    free(options);
}

cbx_status cbx_options_set(cbx_options *options, const char *name, const char *value,
                           cbx_error *err)
{
    size_t            base;
    const cbx_option *option = find(options->table, name, &base);
    if (!option)
        return unknown(options->table, name, err);
    if (option->type == CBX_OPTION_TEXT && !options->borrows) {
        size_t     size = strlen(value) + 1;
        kept_text *kept = malloc(sizeof *kept + size);
        if (!kept)
            return cbx_fail_memory(err);
        kept->next = options->texts;
        memcpy(kept->text, value, size);
        options->texts = kept;
        value = kept->text;
    }
    return set_option(option, (char *)options->fields + base, value, err);
}

bool cbx_options_get(const cbx_options *options, const char *name, char *text, size_t size)
{
    size_t            base;
    const cbx_option *o = find(options->table, name, &base);
    const void       *at = o ? field(o, (char *)options->fields + base) : NULL;
    const char       *word = NULL;
    if (!o)
        return false;
    switch (o->type) {
    case CBX_OPTION_INT:
        (void)snprintf(text, size, "%lld", (long long)*(const int64_t *)at);
        return true;
    case CBX_OPTION_REAL: {
        double value = *(const double *)at;
        char  *end;
        (void)cbx_print(text, size, "%.15g", value);
        if (cbx_read_number(text, &end) != value)
            (void)cbx_print(text, size, "%.17g", value);
        return true;
    }
    case CBX_OPTION_BOOL:
        word = *(const bool *)at ? "true" : "false";
        break;
    case CBX_OPTION_CHOICE:
        word = o->choices[*(const int *)at];
        break;
    case CBX_OPTION_TEXT:
        word = *(const char *const *)at;
        break;
    }
    if (word)
        (void)snprintf(text, size, "%s", word);
    return word != NULL;
}

bool cbx_options_is_default(const cbx_options *options, const char *name)
{
    size_t            base;
    const cbx_option *option = find(options->table, name, &base);
    return !option || cbx_field_is_default(option, (const char *)options->fields + base);
}

cbx_status cbx_options_fields(const cbx_options *options, const cbx_option_table *table,
                              const void **fields, cbx_error *err)
{
    *fields = options ? options->fields : NULL;
    if (!options || options->table == table)
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID, "options of the table '%s' where those of '%s' belong",
                    options->table->title, table->title);
}
