/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: structs set, checked and defaulted through their tables. */
#include "error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "version.h"

const char *cbx_version(void)
{
    return CBX_VERSION_TEXT;
}

static void *field(const cbx_option *option, void *options)
{
    return (char *)options + option->offset;
}

static cbx_status out_of_range(const cbx_option *o, const char *value, cbx_error *err)
{
    if (o->max >= 9e18) /* no upper end worth naming */
        return cbx_fail(err, CBX_INVALID, "--%s: %s is out of range: at least %g", o->name, value,
                        o->min);
    return cbx_fail(err, CBX_INVALID, "--%s: %s is out of range: %g to %g", o->name, value, o->min,
                    o->max);
}

static cbx_status set_int(const cbx_option *o, int64_t *at, const char *value, cbx_error *err)
{
    char *end;
    errno = 0;
    long long v = strtoll(value, &end, 10);
    if (end == value || *end)
        return cbx_fail(err, CBX_INVALID, "--%s: '%s' is not a whole number", o->name, value);
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
        return cbx_fail(err, CBX_INVALID, "--%s: '%s' is not a number", o->name, value);
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
    return cbx_fail(err, CBX_INVALID, "--%s: '%s' is not true or false", o->name, value);
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
    char all[256];
    list_words(all, sizeof all, o->choices);
    return cbx_fail(err, CBX_INVALID, "--%s: '%s' is not one of %s", o->name, value, all);
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

void cbx_options_default(const cbx_option_table *table, void *options)
{
    if (table->size)
        memset(options, 0, table->size);
    for (size_t i = 0; i < table->count; i++) {
        const cbx_option *o = &table->options[i];
        if (o->fallback)
            (void)set_option(o, options, o->fallback, NULL);
        else if (o->type == CBX_OPTION_TEXT)
            *(const char **)field(o, options) = NULL;
    }
}

cbx_status cbx_options_set(const cbx_option_table *table, void *options, const char *name,
                           const char *value, cbx_error *err)
{
    const char *names[128];
    size_t      count = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (!strcmp(table->options[i].name, name))
            return set_option(&table->options[i], options, value, err);
        if (count + 1 < sizeof names / sizeof *names)
            names[count++] = table->options[i].name;
    }
    names[count] = NULL;
    const char *near = cbx_nearest(name, names);
    if (near)
        return cbx_fail(err, CBX_INVALID, "no option '%s' (did you mean '%s'?)", name, near);
    return cbx_fail(err, CBX_INVALID, "no option '%s'", name);
}

bool cbx_option_is_default(const cbx_option *o, const void *options)
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

cbx_status cbx_options_check(const cbx_option_table *table, const void *options, cbx_error *err)
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
                return cbx_fail(err, CBX_INVALID, "--%s: choice %d of %d", o->name, v, count);
        }
    }
    return CBX_OK;
}
