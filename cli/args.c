/* SPDX-License-Identifier: Apache-2.0 */
/* args.c: argv against a sub-command's tables.
 *
 * --name value, --name=value, -x value, -xvalue, -xyz; "--" ends the options.
 * What a value may be is the library's business (cbx_options_set). */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text.h"

enum { GROUPS = 8, RULES = 32 }; /* of one command, at most */

typedef struct parser {
    const command    *command;
    char             *args;
    char            **next; /* NULL-terminated, as argv is */
    size_t            operands;
    cbx_options      *options[GROUPS]; /* of each group */
    const cbx_option *rules[RULES];    /* lists that were given */
    size_t            num_rules;
} parser;

static const char *text_at(const char *args, size_t offset)
{
    const char *text;
    memcpy(&text, args + offset, sizeof text);
    return text;
}

/* The table holds the last value; an option that repeats collects it from there. */
static int collect(parser *p, const option_ref *ref)
{
    text_list list;
    memcpy(&list, p->args + ref->extra.list, sizeof list);
    const char **more = realloc(list.texts, (list.count + 1) * sizeof *more);
    if (!more)
        return fail("out of memory");
    memcpy(&more[list.count], p->args + ref->base + ref->option->offset, sizeof *more);
    list.texts = more;
    list.count++;
    memcpy(p->args + ref->extra.list, &list, sizeof list);
    return EXIT_DONE;
}

/* A list of a rule that is given twice would lose its first half, and answers would break it. */
static int note_rule(parser *p, const option_ref *ref)
{
    const cbx_option *o = ref->option;
    if (o->type != CBX_OPTION_TEXT || !o->help || strncmp(o->help, "rule:", 5) != 0)
        return EXIT_DONE;
    for (size_t i = 0; i < p->num_rules; i++)
        if (p->rules[i] == o)
            return usage_error(p->command->name,
                               "--%s is given twice; write one list, with commas: --%s A,B",
                               o->name, o->name);
    if (p->num_rules < RULES)
        p->rules[p->num_rules++] = o;
    return EXIT_DONE;
}

static int set_value(parser *p, const option_ref *ref, const char *value)
{
    cbx_error err;
    char      text[2 * CBX_MESSAGE_SIZE];
    if (cbx_options_set(p->options[ref->group], ref->option->name, value, &err))
        return usage_error(p->command->name, "%s", flags_in(err.message, err.option[0], text));
    return ref->extra.repeats ? collect(p, ref) : EXIT_DONE;
}

/* Sets the option from `given` (after '=' or the letter) or from the next word. */
static int take_value(parser *p, const option_ref *ref, const char *given)
{
    const char *name = ref->option->name;
    if (given)
        return set_value(p, ref, given);
    if (ref->option->type == CBX_OPTION_BOOL)
        return set_value(p, ref, "true");
    /* A value that looks like an option is far more often a forgotten value. */
    if (!*p->next || !strncmp(*p->next, "--", 2))
        return usage_error(p->command->name, "--%s needs a value: --%s %s", name, name,
                           option_value_name(ref));
    return set_value(p, ref, *p->next++);
}

static int unknown_option(const parser *p, const char *name)
{
    cbx_nearest near;
    cbx_nearest_begin(&near, name);
    option_group group;
    for (size_t g = 0; command_group(p->command, g, &group); g++) {
        option_ref ref;
        for (size_t i = 0; !group.hidden && command_option(p->command, &group, i, &ref); i++)
            if (ref.option->help)
                cbx_nearest_try(&near, ref.option->name);
    }
    if (near.best[0])
        return usage_error(p->command->name, "unknown option --%s; did you mean --%s?", name,
                           near.best);
    return usage_error(p->command->name, "unknown option --%s", name);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end) &&
           (length == tail || text[length - tail - 1] == '-');
}

/* What has two names in the field, alone or behind that of a method, has both here, whichever the
 * command's own table has: the other goes to `other`. */
static bool synonym(const char *name, char *other, size_t size)
{
    static const char *const ends[] = {"lr", "learning-rate"};
    for (int k = 0; k < 2; k++)
        if (ends_with(name, ends[k])) {
            int begin = (int)(strlen(name) - strlen(ends[k]));
            (void)snprintf(other, size, "%.*s%s", begin, name, ends[!k]);
            return true;
        }
    return false;
}

static int long_option(parser *p, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t      length = equals ? (size_t)(equals - word) : strlen(word);
    char        name[64], other[80];
    option_ref  ref;

    if (length >= sizeof name)
        return usage_error(p->command->name, "unknown option --%s", word);
    memcpy(name, word, length);
    name[length] = '\0';
    if (!command_option_find(p->command, name, 0, &ref) &&
        !(synonym(name, other, sizeof other) && command_option_find(p->command, other, 0, &ref)))
        return unknown_option(p, name);
    int status = note_rule(p, &ref);
    return status ? status : take_value(p, &ref, equals ? equals + 1 : NULL);
}

static int short_options(parser *p, const char *letters)
{
    for (; *letters; letters++) {
        option_ref ref;
        if (!command_option_find(p->command, NULL, *letters, &ref))
            return usage_error(p->command->name, "unknown option -%c", *letters);
        bool takes_value = ref.option->type != CBX_OPTION_BOOL;
        int  status = take_value(p, &ref, takes_value && letters[1] ? letters + 1 : NULL);
        if (status || takes_value)
            return status;
    }
    return EXIT_DONE;
}

static int take_operand(parser *p, const char *word)
{
    const operand *o = p->command->operands;
    for (size_t i = 0; o && o->name && i < p->operands; i++)
        o++;
    if (!o || !o->name)
        return usage_error(p->command->name, "unexpected argument '%s'", word);
    memcpy(p->args + o->offset, &word, sizeof word);
    p->operands++;
    return EXIT_DONE;
}

static int check_complete(const parser *p)
{
    const command *c = p->command;
    for (size_t i = 0; c->operands && c->operands[i].name; i++) {
        if (i >= p->operands && !c->operands[i].optional)
            return usage_error(c->name, "%s needs %s: %s", c->name, c->operands[i].name,
                               c->operands[i].help);
    }
    option_group group;
    for (size_t g = 0; command_group(c, g, &group); g++) {
        option_ref ref;
        for (size_t i = 0; command_option(c, &group, i, &ref); i++) {
            const char *text =
                ref.extra.required ? text_at(p->args, ref.base + ref.option->offset) : "given";
            if (!text || !*text)
                return usage_error(c->name, "%s needs --%s %s: %s", c->name, ref.option->name,
                                   option_value_name(&ref), ref.option->help);
        }
    }
    return EXIT_DONE;
}

static int read_words(parser *p)
{
    const general_options *general = (const general_options *)p->args;
    bool                   literal = false;
    while (*p->next) {
        const char *word = *p->next++;
        int         status;
        if (literal || word[0] != '-' || !word[1])
            status = take_operand(p, word);
        else if (!strcmp(word, "--")) {
            literal = true;
            continue;
        } else
            status = word[1] == '-' ? long_option(p, word + 2) : short_options(p, word + 1);
        if (status || general->help)
            return status;
    }
    return check_complete(p);
}

/* The options of each group: the library's own lie in the argument struct from now on, those of
 * the command line fill in its fields. */
static int open_groups(parser *p)
{
    option_group group;
    cbx_error    err;
    for (size_t g = 0; command_group(p->command, g, &group) && g < GROUPS; g++) {
        if (group.by_name
                ? cbx_options_new(group.table(), &p->options[g], &err)
                : cbx_options_over(group.table(), p->args + group.offset, &p->options[g], &err))
            return fail_with(&err);
        if (group.by_name)
            memcpy(p->args + group.offset, &p->options[g], sizeof p->options[g]);
    }
    return EXIT_DONE;
}

static void close_groups(parser *p)
{
    option_group group;
    for (size_t g = 0; command_group(p->command, g, &group) && g < GROUPS; g++)
        if (!group.by_name)
            cbx_options_free(p->options[g]);
}

static void free_lists(const command *c, void *args)
{
    for (const option_extra *e = c->extras; e && e->name; e++) {
        if (!e->repeats)
            continue;
        text_list list;
        memcpy(&list, (char *)args + e->list, sizeof list);
        free(list.texts);
        memset((char *)args + e->list, 0, sizeof list);
    }
}

int args_parse(const command *c, char **argv, void *args)
{
    parser                 p = {.command = c, .args = args, .next = argv};
    const general_options *general = args;

    int status = open_groups(&p);
    if (!status)
        status = read_words(&p);
    if (!status && !general->help && c->preset) {
        status = c->preset(args);
        free_lists(c, args);
        p.next = argv;
        p.operands = 0;
        p.num_rules = 0;
        if (!status)
            status = read_words(&p);
    }
    close_groups(&p);
    return status;
}

void args_free(const command *c, void *args)
{
    option_group group;
    free_lists(c, args);
    for (size_t g = 0; command_group(c, g, &group); g++) {
        cbx_options *options = NULL;
        if (!group.by_name)
            continue;
        memcpy(&options, (char *)args + group.offset, sizeof options);
        cbx_options_free(options);
        memset((char *)args + group.offset, 0, sizeof options);
    }
}

const char *args_first_given(const cbx_option_table *table, const cbx_options *options,
                             const char *const *but)
{
    const cbx_option *o;
    for (size_t i = 0; (o = cbx_option_at(table, i)); i++) {
        bool passed = !o->help || cbx_options_is_default(options, o->name);
        for (const char *const *b = but; b && *b && !passed; b++)
            passed = !strcmp(*b, o->name);
        if (!passed)
            return o->name;
    }
    return NULL;
}

bool args_given(const cbx_options *options, const char *name)
{
    return !cbx_options_is_default(options, name);
}

bool args_is(const cbx_options *options, const char *name, const char *value)
{
    char text[64];
    return cbx_options_get(options, name, text, sizeof text) && !strcmp(text, value);
}

int64_t args_whole(const cbx_options *options, const char *name)
{
    char text[32];
    return cbx_options_get(options, name, text, sizeof text) ? strtoll(text, NULL, 10) : 0;
}
