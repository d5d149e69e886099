/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: a file that is written as a whole or not at all. */
#ifndef CBX_CLI_OUTPUT_H
#define CBX_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output {
    FILE *file;
    char *path;      /* NULL: standard output */
    char *temporary; /* NULL: written in place, as devices and pipes are */
    int   code;      /* errno of the first write that is known to have failed */
} output;

/* All return an exit status, after saying what went wrong. `path` may be NULL
 * or "-" for standard output. Every open ends in one commit or one abandon. */
int  output_open(output *out, const char *path);
int  output_commit(output *out);
void output_abandon(output *out);

/* To be asked right after writing, while errno tells why it failed: false if it did. */
bool output_fine(output *out);

/* Removes what is being written now. For a signal handler that ends the program. */
void output_forget_unfinished(void);

/* Whether a file could be written there: asked before long work, not after. */
int output_check(const char *path);

#endif
