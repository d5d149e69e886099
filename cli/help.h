/* SPDX-License-Identifier: Apache-2.0 */
/* help.h: everything that is written from the tables for people to read, and
 * the completion. */
#ifndef CBX_CLI_HELP_H
#define CBX_CLI_HELP_H

#include <stdio.h>

#include "cli.h"

/* What DATA may be, for the operands of sub-commands. */
#define HELP_DATA \
    "a file or folder of a known format, a built-in data set, or a name in a data folder"

/* What --reproducible does, in all of them. */
#define HELP_REPRODUCIBLE "the same bits on every x86-64 and arm64 processor, which takes longer"

/* All sub-commands, or those whose name starts with the word `group`. */
void help_overview(FILE *out, const char *group);

/* combinex CMD --help */
void help_command(FILE *out, const command *c);

/* The same with those of its options that c->basics names. */
void help_basics(FILE *out, const command *c);

void man_write(FILE *out);        /* roff */
void completion_write(FILE *out); /* bash */

/* "DATA -o FILE [options]" */
void help_synopsis(const command *c, char *text, size_t size);

/* The sentences that help and the man page share; the lists end with NULL. */
typedef struct help_entry {
    const char *term;
    const char *text;
} help_entry;

extern const char *const help_purpose;
extern const char *const help_data;
extern const help_entry  help_environment[];
extern const help_entry  help_exit_codes[];

#endif
