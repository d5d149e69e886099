/* SPDX-License-Identifier: Apache-2.0 */
/* help.c: help on the terminal, and the help command. */
#include "help.h"

#include <string.h>

#include "text.h"

enum { OPTION_COLUMN = 26, COMMAND_COLUMN = 18 };

const char *const help_purpose =
    "Counterfactual explanations of graph neural networks: "
    "data sets, models trained on them, and what would change their predictions.";

const char *const help_data =
    "DATA is a file or folder of any format that 'combinex data formats' lists, the name of a "
    "built-in data set, or the name of one in a data folder: those of COMBINEX_DATA, then the "
    "user's own, then the downloads of 'combinex data fetch'.";

const help_entry help_environment[] = {
    {"COMBINEX_DATA", "data folders, separated by colons"},
    {"XDG_DATA_HOME", "the user's own data folder is XDG_DATA_HOME/combinex, or "
                      "~/.local/share/combinex where this is not set"},
    {"XDG_CACHE_HOME", "downloads go to XDG_CACHE_HOME/combinex, or ~/.cache/combinex where this "
                       "is not set"},
    {NULL, NULL},
};

const help_entry help_exit_codes[] = {
    {"0", "done"},
    {"1",
     "failed: the reason is on stderr, and no output file was changed, unless standard output "
     "itself is the reason; bench keeps what it has done. Also: data check or explain --replay "
     "found something wrong"},
    {"2", "wrong usage"},
    {"130", "interrupted with Ctrl-C"},
    {NULL, NULL},
};

static size_t add(char *text, size_t size, size_t at, const char *more)
{
    if (at >= size)
        return at;
    int wrote = snprintf(text + at, size - at, "%s", more);
    return wrote > 0 ? at + (size_t)wrote : at;
}

void help_synopsis(const command *c, char *text, size_t size)
{
    size_t       at = 0;
    option_group group;
    text[0] = '\0';
    for (const operand *o = c->operands; o && o->name; o++) {
        at = add(text, size, at, o->optional ? "[" : "");
        at = add(text, size, at, o->name);
        at = add(text, size, at, o->optional ? "] " : " ");
    }
    for (size_t g = 0; command_group(c, g, &group); g++) {
        option_ref ref;
        for (size_t i = 0; command_option(c, &group, i, &ref); i++) {
            char one[96];
            if (!ref.extra.required)
                continue;
            if (ref.extra.letter)
                (void)snprintf(one, sizeof one, "-%c %s ", ref.extra.letter,
                               option_value_name(&ref));
            else
                (void)snprintf(one, sizeof one, "--%s %s ", ref.option->name,
                               option_value_name(&ref));
            at = add(text, size, at, one);
        }
    }
    (void)add(text, size, at, "[options]");
}

/* A term in the margin and its text from `column` on. */
static void put_entry(FILE *out, const char *term, const char *text, size_t column)
{
    size_t at = 2 + text_columns(term);
    (void)fprintf(out, "  %s", term);
    if (at + 2 > column) {
        (void)fputc('\n', out);
        at = 0;
    }
    (void)fprintf(out, "%*s", (int)(column - at), "");
    text_wrap(out, text, column, column);
}

static void put_option(FILE *out, const option_ref *ref)
{
    const char *value = option_value_name(ref);
    char        term[96], limits[256], text[768], letter[8] = "    ";
    if (ref->extra.letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", ref->extra.letter);
    (void)snprintf(term, sizeof term, "%s--%s%s%s", letter, ref->option->name, value ? " " : "",
                   value ? value : "");
    option_limits(ref, limits, sizeof limits);
    (void)snprintf(text, sizeof text, "%s%s%s%s", ref->option->help, limits[0] ? " (" : "", limits,
                   limits[0] ? ")" : "");
    put_entry(out, term, text, OPTION_COLUMN);
}

static void put_exit_codes(FILE *out)
{
    (void)fputs("\nExit status:\n", out);
    for (const help_entry *e = help_exit_codes; e->term; e++)
        put_entry(out, e->term, e->text, 8);
}

static void put_examples(FILE *out, const example *examples)
{
    if (!examples)
        return;
    (void)fputs("\nExamples:\n", out);
    for (const example *e = examples; e->why; e++)
        (void)fprintf(out, "  # %s\n  %s\n", e->why, e->line);
}

static void put_usage(FILE *out, const command *c)
{
    char synopsis[256];
    help_synopsis(c, synopsis, sizeof synopsis);
    (void)fprintf(out, "Usage: combinex %s %s\n\n", c->name, synopsis);
    text_wrap(out, c->about, 0, 0);
    if (c->operands)
        (void)fputc('\n', out);
    for (const operand *o = c->operands; o && o->name; o++)
        put_entry(out, o->name, o->help, 12);
}

/* The option of that name, in whichever group; how many options there are in all. */
static bool find_option(const command *c, const char *name, option_ref *found, size_t *count)
{
    option_group group;
    option_ref   ref;
    bool         any = false;
    *count = 0;
    for (size_t g = 0; command_group(c, g, &group); g++)
        for (size_t i = 0; !group.hidden && command_option(c, &group, i, &ref); i++) {
            *count += ref.option->help != NULL;
            if (!any && !strcmp(ref.option->name, name)) {
                *found = ref;
                any = true;
            }
        }
    return any;
}

void help_basics(FILE *out, const command *c)
{
    option_ref ref;
    size_t     all = 0;
    put_usage(out, c);
    (void)fputs("\nMost used:\n", out);
    for (const char *const *name = c->basics; *name; name++)
        if (find_option(c, *name, &ref, &all))
            put_option(out, &ref);
    put_examples(out, c->examples);
    (void)fprintf(out, "\n'combinex %s --help' has all %zu options.\n", c->name, all);
}

void help_command(FILE *out, const command *c)
{
    option_group group;
    put_usage(out, c);
    for (size_t g = 0; command_group(c, g, &group); g++) {
        if (group.hidden)
            continue;
        option_ref ref;
        (void)fprintf(out, "\n%s:\n", cbx_option_table_title(group.table()));
        for (size_t i = 0; command_option(c, &group, i, &ref); i++) {
            if (ref.option->help)
                put_option(out, &ref);
        }
    }
    put_examples(out, c->examples);
    put_exit_codes(out);
}

void help_overview(FILE *out, const char *group)
{
    size_t length = group ? strlen(group) : 0;
    (void)fprintf(out, "Usage: combinex %s%sCOMMAND [arguments] [options]\n\n", group ? group : "",
                  group ? " " : "");
    if (!group) {
        text_wrap(out, help_purpose, 0, 0);
        (void)fputc('\n', out);
    }
    (void)fputs("Commands:\n", out);
    for (size_t i = 0; command_at(i); i++) {
        const command *c = command_at(i);
        if (!group || (!strncmp(c->name, group, length) && c->name[length] == ' '))
            put_entry(out, c->name, c->summary, COMMAND_COLUMN);
    }
    if (!group) {
        (void)fputs("\nOptions:\n", out);
        put_entry(out, "-h, --help", "show this help", COMMAND_COLUMN);
        put_entry(out, "-V, --version", "show the version", COMMAND_COLUMN);
        (void)fputs("\nData sets:\n  ", out);
        text_wrap(out, help_data, 2, 2);
        (void)fputs("\nEnvironment:\n", out);
        for (const help_entry *e = help_environment; e->term; e++)
            put_entry(out, e->term, e->text, COMMAND_COLUMN);
        put_exit_codes(out);
    }
    (void)fputs("\n'combinex COMMAND --help' tells more about a command.\n", out);
}

typedef struct help_args {
    general_options general;
    const char     *words[2];
    bool            man;
    int             completion;
} help_args;

/* Made for packagers and the tests, so no help speaks of them. */
static const cbx_option_table *hidden_table(void)
{
    static const char *const shells[] = {"none", "bash", NULL};
    static const cbx_option  options[] = {
         {"man", CBX_OPTION_BOOL, offsetof(help_args, man), "false", 0, 0, NULL,
          "write the man page"},
         {"completion", CBX_OPTION_CHOICE, offsetof(help_args, completion), "none", 0, 0, shells,
          "write the completion for this shell"},
    };
    static const cbx_option_table table = {"Files", options, sizeof options / sizeof *options, 0,
                                           NULL};
    return &table;
}

static int run(void *args)
{
    const help_args *a = args;
    char            *words[2] = {(char *)a->words[0], (char *)a->words[1]};
    int              count = !words[0] ? 0 : !words[1] ? 1 : 2, used;
    const command   *c = command_find(count, words, &used);
    if (a->man)
        man_write(stdout);
    else if (a->completion)
        completion_write(stdout);
    else if (c && used == count)
        help_command(stdout, c);
    else if (count == 0)
        help_overview(stdout, NULL);
    else if (count == 1 && command_is_group(words[0]))
        help_overview(stdout, words[0]);
    else
        return command_unknown(count, words);
    return EXIT_DONE;
}

const command command_help = {
    .name = "help",
    .summary = "tell more about a command",
    .about = "Shows what a command does, its options with their defaults, and examples.",
    .args_size = sizeof(help_args),
    .operands = (const operand[]){{"COMMAND", OPERAND_COMMAND, offsetof(help_args, words[0]), true,
                                   "such as train"},
                                  {"WORD", OPERAND_WORD, offsetof(help_args, words[1]), true,
                                   "its second word, as in data list"},
                                  {.name = NULL}},
    .groups = (const option_group[]){{.table = hidden_table, .hidden = true}, {.table = NULL}},
    .examples = (const example[]){{"what train can do", "combinex help train"},
                                  {"the commands that deal with data", "combinex help data"},
                                  {.why = NULL}},
    .run = run,
};
