/* SPDX-License-Identifier: Apache-2.0 */
/* command.c: finding sub-commands and their options. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#define X(word) extern const command command_##word;
#include "commands.def"
#undef X

static const command *const commands[] = {
#define X(word) &command_##word,
#include "commands.def"
#undef X
};

const command *command_at(size_t i)
{
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

/* How many of the words spell `name`, word by word; 0 if they do not. */
static int words_match(const char *name, int argc, char *const *argv)
{
    for (int i = 0; i < argc; i++) {
        size_t length = strcspn(name, " ");
        if (strlen(argv[i]) != length || strncmp(name, argv[i], length) != 0)
            return 0;
        name += length;
        if (!*name)
            return i + 1;
        name++;
    }
    return 0;
}

const command *command_find(int argc, char *const *argv, int *words)
{
    for (size_t i = 0; command_at(i); i++) {
        *words = words_match(command_at(i)->name, argc, argv);
        if (*words)
            return command_at(i);
    }
    return NULL;
}

bool command_is_group(const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; command_at(i); i++) {
        const char *name = command_at(i)->name;
        if (length && !strncmp(name, word, length) && name[length] == ' ')
            return true;
    }
    return false;
}

int command_unknown(int argc, char *const *argv)
{
    char words[128];
    bool group = command_is_group(argv[0]);
    (void)snprintf(words, sizeof words, "%s%s%s", argv[0], group && argc > 1 ? " " : "",
                   group && argc > 1 ? argv[1] : "");
    cbx_nearest near;
    cbx_nearest_begin(&near, words);
    for (size_t i = 0; command_at(i); i++)
        cbx_nearest_try(&near, command_at(i)->name);
    if (near.best[0])
        return usage_error(group ? argv[0] : "", "unknown command '%s'; did you mean '%s'?", words,
                           near.best);
    return usage_error(group ? argv[0] : "", "unknown command '%s'", words);
}

static const cbx_option_table *general_table(void)
{
    static const cbx_option options[] = {
        {"json", CBX_OPTION_BOOL, offsetof(general_options, json), "false", 0, 0, NULL,
         "write JSON, for programs"},
        {"quiet", CBX_OPTION_BOOL, offsetof(general_options, quiet), "false", 0, 0, NULL,
         "no progress bar, no summary"},
        {"help", CBX_OPTION_BOOL, offsetof(general_options, help), "false", 0, 0, NULL,
         "show this help; -h: the most used options, where there are many"},
    };
    static const cbx_option_table table = {"General", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

bool command_group(const command *c, size_t i, option_group *out)
{
    size_t own = 0;
    while (c->groups && c->groups[own].table)
        own++;
    if (i > own)
        return false;
    *out = i < own ? c->groups[i] : (option_group){.table = general_table};
    return true;
}

/* The same names have the same letters in every sub-command. */
static const option_extra common_extras[] = {
    {.name = "output", .letter = 'o', .value = "FILE"},
    {.name = "quiet", .letter = 'q'},
    {.name = "help", .letter = 'h'},
    {.name = NULL},
};

static bool extra_find(const option_extra *extras, const char *name, option_extra *out)
{
    for (; extras && extras->name; extras++) {
        if (!strcmp(extras->name, name)) {
            *out = *extras;
            return true;
        }
    }
    return false;
}

bool command_option(const command *c, const option_group *group, size_t i, option_ref *out)
{
    const cbx_option_table *table = group->table();
    option_extra            common = {0};

    *out = (option_ref){.table = table, .option = cbx_option_at(table, i), .base = group->offset};
    if (!out->option)
        return false;
    (void)extra_find(common_extras, out->option->name, &common);
    if (!extra_find(c->extras, out->option->name, &out->extra))
        out->extra = common;
    if (!out->extra.letter)
        out->extra.letter = common.letter;
    if (!out->extra.value)
        out->extra.value = common.value;
    return true;
}

bool command_option_find(const command *c, const char *name, char letter, option_ref *out)
{
    option_group group;
    for (size_t g = 0; command_group(c, g, &group); g++) {
        for (size_t i = 0; command_option(c, &group, i, out); i++) {
            out->group = g;
            if (out->option->help &&
                (name ? !strcmp(out->option->name, name) : out->extra.letter == letter))
                return true;
        }
    }
    return false;
}

const char *option_value_name(const option_ref *ref)
{
    if (ref->option->type == CBX_OPTION_BOOL)
        return NULL;
    if (ref->extra.value)
        return ref->extra.value;
    switch (ref->option->type) {
    case CBX_OPTION_INT:
        return "N";
    case CBX_OPTION_REAL:
        return "X";
    case CBX_OPTION_CHOICE:
        return "NAME";
    default:
        return "TEXT";
    }
}

static size_t append(char *text, size_t size, size_t at, const char *between, const char *more)
{
    if (at >= size)
        return at;
    int wrote = snprintf(text + at, size - at, "%s%s", at ? between : "", more);
    return wrote > 0 ? at + (size_t)wrote : at;
}

void option_limits(const option_ref *ref, char *text, size_t size)
{
    /* Bounds past this only say "as large as the type can hold". */
    const double      huge = 1e9;
    const cbx_option *o = ref->option;
    char              range[64] = "";
    size_t            at = 0;

    text[0] = '\0';
    if (o->type == CBX_OPTION_BOOL)
        return;
    if (ref->extra.required)
        at = append(text, size, at, "; ", "required");
    if (ref->extra.repeats) {
        (void)append(text, size, at, "; ", "may be repeated");
        return;
    }
    for (int i = 0; o->type == CBX_OPTION_CHOICE && o->choices[i]; i++)
        at = append(text, size, at, ", ", o->choices[i]);
    if (o->type == CBX_OPTION_INT || o->type == CBX_OPTION_REAL) {
        if (o->max < huge)
            (void)snprintf(range, sizeof range, "%.10g to %.10g", o->min, o->max);
        else if (o->min > -huge)
            (void)snprintf(range, sizeof range, "at least %.10g", o->min);
        if (range[0])
            at = append(text, size, at, "; ", range);
    }
    if (o->fallback) {
        at = append(text, size, at, "; ", "default ");
        (void)append(text, size, at, "", o->fallback);
    }
}
