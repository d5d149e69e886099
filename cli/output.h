/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: files that are written as a whole or not at all, alone or together. */
#ifndef CBX_CLI_OUTPUT_H
#define CBX_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "combinex/kit.h"

typedef struct output {
    FILE *file;      /* NULL: it is complete, or the library writes it */
    char *path;      /* NULL: standard output, or not in use */
    char *temporary; /* NULL: written in place, as devices and pipes are */
    char *old;       /* what it replaced, until the others are in place */
    bool  fresh;     /* it replaced nothing */
    bool  placed;
    int   code; /* errno of the first write that is known to have failed */
} output;

/* All return an exit status, after saying what went wrong. `path` may be NULL
 * or "-" for standard output. Every open ends in one commit or one abandon. */
int  output_open(output *out, const char *path);
int  output_commit(output *out);
void output_abandon(output *out);

/* Takes a place for what the library writes: to out->temporary. */
int output_reserve(output *out, const char *path);
/* The library's error, which speaks of out->temporary. */
int output_fail(const output *out, const cbx_error *err);

/* Completes it, as far as possible before it takes its place: what can fail for want of room
 * fails here. */
int output_finish(output *out);

/* Several that are finished take their places, all or none. Those that are not in use, all
 * zeros, are passed over. */
int  outputs_commit(output *outs, size_t count);
void outputs_abandon(output *outs, size_t count);

/* To be asked right after writing, while errno tells why it failed: false if it did. */
bool output_fine(output *out);

/* Whether a file could be written there: asked before long work, not after. */
int output_check(const char *path);
/* The same for output_open: no path is fine, and so are devices and pipes. */
int output_check_open(const char *path);
/* The same of a folder that is written as a whole. */
int output_check_folder(const char *path);

#endif
