/* SPDX-License-Identifier: Apache-2.0 */
/* apart.h: nothing that is read is written, and nothing is written twice.
 *
 * Files are told apart by what they are, device and number, and not by their names: a link, a
 * second name or "./a" for "a" is the same file. */
#ifndef CBX_CLI_APART_H
#define CBX_CLI_APART_H

#include "source.h"

/* A file of the command line. */
typedef struct named_file {
    const char *what; /* "the model", "--html" */
    const char *path; /* NULL or "-": none */
} named_file;

/* Refuses where one of `outputs` is the same file as another, as one of `inputs`, or as a file
 * that one of the sources was read from. Standard output, redirected to a file, is one of the
 * outputs. A folder that is written holds what lies in it. Returns an exit status, after saying
 * which. Asked before anything is written. */
int apart_check(const named_file *outputs, size_t num_outputs, const named_file *inputs,
                size_t num_inputs, const source *sources, size_t num_sources);

/* Whether `path` lies in that folder, or is it. */
bool apart_holds(const char *folder, const char *path);

#endif
