/* SPDX-License-Identifier: Apache-2.0 */
/* man.c: the man page, in roff, from the same tables as --help. */
#include <ctype.h>
#include <string.h>

#include "help.h"
#include "text.h"

/* Text for roff: dashes that can be copied, no escape and no request by accident. */
static void put(FILE *out, const char *text)
{
    uint32_t point;
    if (*text == '.' || *text == '\'')
        (void)fputs("\\&", out);
    while ((point = utf8_next(&text))) {
        if (point == '\\')
            (void)fputs("\\e", out);
        else if (point == '-')
            (void)fputs("\\-", out);
        else if (point == '~')
            (void)fputs("\\(ti", out);
        else if (point == '\'')
            (void)fputs("\\(aq", out);
        else if (point >= 0x80)
            (void)fprintf(out, "\\[u%04X]", (unsigned)point);
        else
            utf8_put(out, point);
    }
}

static void put_line(FILE *out, const char *request, const char *text)
{
    (void)fputs(request, out);
    put(out, text);
    (void)fputc('\n', out);
}

static void put_upper(FILE *out, const char *request, const char *text)
{
    (void)fputs(request, out);
    for (; *text; text++)
        (void)fputc(toupper((unsigned char)*text), out);
    (void)fputc('\n', out);
}

static void put_entries(FILE *out, const char *title, const help_entry *entries)
{
    put_upper(out, ".SH ", title);
    for (; entries->term; entries++) {
        (void)fputs(".TP\n", out);
        put_line(out, ".B ", entries->term);
        put_line(out, "", entries->text);
    }
}

static void put_option(FILE *out, const option_ref *ref)
{
    const char *value = option_value_name(ref);
    char        limits[256];
    (void)fputs(".TP\n", out);
    if (ref->extra.letter)
        (void)fprintf(out, "\\fB\\-%c\\fR, ", ref->extra.letter);
    (void)fputs("\\fB\\-\\-", out);
    put(out, ref->option->name);
    (void)fputs("\\fR", out);
    if (value)
        (void)fprintf(out, " \\fI%s\\fR", value);
    (void)fputc('\n', out);
    option_limits(ref, limits, sizeof limits);
    put(out, ref->option->help);
    if (limits[0]) {
        (void)fputs(" (", out);
        put(out, limits);
        (void)fputc(')', out);
    }
    (void)fputc('\n', out);
}

static void put_command(FILE *out, const command *c)
{
    char         synopsis[256];
    option_group group;
    help_synopsis(c, synopsis, sizeof synopsis);
    (void)fprintf(out, ".SS \"combinex %s ", c->name);
    put(out, synopsis);
    (void)fputs("\"\n", out);
    put_line(out, "", c->about);
    for (const operand *o = c->operands; o && o->name; o++) {
        (void)fputs(".TP\n", out);
        put_line(out, ".I ", o->name);
        put_line(out, "", o->help);
    }
    /* the general options are the last group; they have a section of their own */
    for (size_t g = 0; c->groups && c->groups[g].table; g++) {
        if (!command_group(c, g, &group) || group.hidden)
            continue;
        (void)fputs(".PP\n", out);
        option_ref ref;
        put_line(out, ".I ", cbx_option_table_title(group.table()));
        for (size_t i = 0; command_option(c, &group, i, &ref); i++) {
            if (ref.option->help)
                put_option(out, &ref);
        }
    }
}

static void put_general(FILE *out)
{
    const command *c = command_at(0);
    option_group   group;
    size_t         last = 0;
    while (command_group(c, last, &group))
        last++;
    (void)fputs(".SH GENERAL OPTIONS\nEvery command takes these.\n", out);
    if (!last || !command_group(c, last - 1, &group))
        return;
    option_ref ref;
    for (size_t i = 0; command_option(c, &group, i, &ref); i++)
        put_option(out, &ref);
}

static void put_examples(FILE *out)
{
    (void)fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; command_at(i); i++) {
        for (const example *e = command_at(i)->examples; e && e->why; e++) {
            (void)fputs(".TP\n", out);
            put_line(out, "", e->why);
            put_line(out, ".B ", e->line);
        }
    }
}

static void put_builtins(FILE *out)
{
    (void)fputs(".SH DATA SETS\n", out);
    put_line(out, "", help_data);
    (void)fputs(".PP\nThe built\\-in data sets are:\n", out);
    for (size_t i = 0; cbx_builtin_name(i); i++) {
        (void)fputs(".TP\n", out);
        put_line(out, ".B ", cbx_builtin_name(i));
        put_line(out, "", cbx_builtin_about(cbx_builtin_name(i)));
    }
}

void man_write(FILE *out)
{
    (void)fprintf(out, ".\\\" Made with: combinex help --man\n");
    (void)fprintf(out, ".TH COMBINEX 1 \"\" \"combinex %s\" \"User Commands\"\n", cbx_version());
    (void)fputs(".SH NAME\ncombinex \\- counterfactual explanations of graph neural networks\n"
                ".SH SYNOPSIS\n",
                out);
    for (size_t i = 0; command_at(i); i++) {
        char synopsis[256];
        help_synopsis(command_at(i), synopsis, sizeof synopsis);
        if (i)
            (void)fputs(".br\n", out);
        (void)fprintf(out, "\\fBcombinex %s\\fR ", command_at(i)->name);
        put_line(out, "", synopsis);
    }
    (void)fputs(".br\n\\fBcombinex \\-\\-version\\fR | \\fB\\-\\-help\\fR\n.SH DESCRIPTION\n", out);
    put_line(out, "", help_purpose);
    (void)fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; command_at(i); i++)
        put_command(out, command_at(i));
    put_general(out);
    put_builtins(out);
    put_examples(out);
    put_entries(out, "Environment", help_environment);
    put_entries(out, "Exit status", help_exit_codes);
}
