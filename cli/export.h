/* SPDX-License-Identifier: Apache-2.0 */
/* export.h: --to, for the commands that write graphs. */
#ifndef CBX_CLI_EXPORT_H
#define CBX_CLI_EXPORT_H

#include "source.h"

/* Values of --to: "auto" and the library's formats. */
extern const char *const export_choices[];

/* The format asked for, or the one that the ending of the path tells. */
const char *export_format(int to, const char *path);

/* Whether it could be written there: asked before long work. Exit status. */
int export_check(int to, const char *path);

/* Writes the graph, with edits where not NULL. Exit status. */
int export_write(const source *s, int to, const cbx_edit *edits, int64_t count, const char *path);

#endif
