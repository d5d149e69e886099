/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h: what a sub-command is.
 *
 * A sub-command is one const struct in one file, and one word in commands.def.
 * Its options come in tables, its own and the library's; the parser, --help,
 * the man page and the completion all read those tables and nothing else. */
#ifndef CBX_CLI_H
#define CBX_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "combinex/extend.h"
#include "combinex/kit.h"

#if defined(__GNUC__)
#define CLI_PRINTF(text, values) __attribute__((format(printf, text, values)))
#else
#define CLI_PRINTF(text, values)
#endif

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INTERRUPTED = 130 /* what shells report for Ctrl-C: 128 + SIGINT */
};

/* What every sub-command takes. Its argument struct starts with this. */
typedef struct general_options {
    bool json;
    bool quiet;
    bool help;
} general_options;

/* An argument without dashes. `kind` is what the completion offers. */
typedef enum operand_kind {
    OPERAND_DATA,
    OPERAND_BUILTIN,
    OPERAND_REMOTE,
    OPERAND_MODEL,
    OPERAND_FILE,
    OPERAND_COMMAND,
    OPERAND_WORD
} operand_kind;

typedef struct operand {
    const char  *name; /* DATA; NULL ends the list */
    operand_kind kind;
    size_t       offset; /* of its const char * in the argument struct */
    bool         optional;
    const char  *help;
} operand;

/* A table of options and where their struct lies in the argument struct; of the library's tables,
 * where the cbx_options * does. The library gives its tables by function, so the command line does
 * the same. */
typedef struct option_group {
    const cbx_option_table *(*table)(void); /* NULL ends the list */
    size_t offset;
    bool   by_name; /* a table of the library */
    bool   hidden;  /* works, but no help speaks of it */
} option_group;

/* The values of an option that may be repeated. */
typedef struct text_list {
    const char **texts; /* of argv */
    size_t       count;
} text_list;

/* What a shell wants to know of an option and a cbx_option cannot say. */
typedef struct option_extra {
    const char *name;   /* NULL ends the list */
    char        letter; /* 'o' for -o; 0: none */
    const char *value;  /* how help calls the value, such as FILE; NULL: by type */
    bool        required;
    bool        repeats; /* a TEXT whose values are collected in: */
    size_t      list;    /* offset of a text_list in the argument struct */
} option_extra;

typedef struct example {
    const char *why; /* NULL ends the list */
    const char *line;
} example;

typedef struct command {
    const char         *name;      /* the words that call it: "train", "data list" */
    const char         *summary;   /* half a line, for lists of commands */
    const char         *about;     /* a sentence or three */
    size_t              args_size; /* of the argument struct */
    const operand      *operands;  /* the lists may be NULL */
    const option_group *groups;
    const option_extra *extras;
    const example      *examples;
    const char *const  *basics; /* names of the options that -h shows; NULL: all of them */
    /* Called when argv has been read, where not NULL: what it sets gives way to
     * the flags, which are then read again. Returns an exit status. */
    int (*preset)(void *args);
    int (*run)(void *args); /* returns the exit status, after saying what went wrong */
} command;

/* One option of one command, found. */
typedef struct option_ref {
    const cbx_option_table *table;
    const cbx_option       *option;
    size_t                  group; /* which one of the command */
    size_t                  base;  /* of what the group says is in the argument struct */
    option_extra            extra;
} option_ref;

/* ------------------------------------------------------------- command.c */

/* The i-th sub-command, or NULL past the last. */
const command *command_at(size_t i);

/* The sub-command that the first words name, and how many words that took. */
const command *command_find(int argc, char *const *argv, int *words);

/* Whether some sub-command's name is `word` and more words. */
bool command_is_group(const char *word);

/* Says that these words name no sub-command, and which one they probably meant. Returns
 * EXIT_USAGE. */
int command_unknown(int argc, char *const *argv);

/* The i-th group of options, the general ones last; false past that. */
bool command_group(const command *c, size_t i, option_group *out);

/* The i-th option of the group; false past the last. Those that are not for people are passed
 * over by asking whether they have a help. */
bool command_option(const command *c, const option_group *group, size_t i, option_ref *out);

/* The option with this name, or with this letter where name is NULL. */
bool command_option_find(const command *c, const char *name, char letter, option_ref *out);

/* What help calls the option's value; NULL where it takes none. */
const char *option_value_name(const option_ref *ref);

/* "1 to 20; default 3", or an empty text. */
void option_limits(const option_ref *ref, char *text, size_t size);

/* ---------------------------------------------------------------- args.c */

/* Fills in the argument struct: defaults first, then argv, which ends with
 * NULL. Returns EXIT_DONE,
 * or EXIT_USAGE after saying why. Stops at --help. */
int  args_parse(const command *c, char **argv, void *args);
void args_free(const command *c, void *args);

/* Whether this option has another value than its default. What was asked for and would be ignored
 * is an error, so commands ask. */
bool args_given(const cbx_options *options, const char *name);

/* The first such option of the table but those of the list (NULL-terminated, or NULL); NULL: none.
 */
const char *args_first_given(const cbx_option_table *table, const cbx_options *options,
                             const char *const *but);

/* Whether the option's value, as text, is this; and a whole number's value. */
bool    args_is(const cbx_options *options, const char *name, const char *value);
int64_t args_whole(const cbx_options *options, const char *name);

/* --------------------------------------------------------------- flags.c */

/* A message of the library, with options as flags: the word at its beginning, where `first`, every
 * word with a line below that is one ("time_limit"), and what it calls "the option symmetric". */
const char *flags_in(const char *message, bool first, char text[2 * CBX_MESSAGE_SIZE]);

/* ---------------------------------------------------------------- fail.c */

/* "combinex: …" on stderr. Returns EXIT_FAILED. */
int fail(const char *format, ...) CLI_PRINTF(1, 2);

/* The same from the library's error; EXIT_INTERRUPTED where it was cancelled. */
int fail_with(const cbx_error *err);

/* "combinex: …" and where to read on. Returns EXIT_USAGE. */
int usage_error(const char *command_name, const char *format, ...) CLI_PRINTF(2, 3);

#endif
