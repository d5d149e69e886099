/* SPDX-License-Identifier: Apache-2.0 */
/* source.h: from what the user calls a data set to a graph. */
#ifndef CBX_CLI_SOURCE_H
#define CBX_CLI_SOURCE_H

#include "cli.h"

/* A file as it was. file 0: it was none. */
typedef struct source_look {
    uint64_t device, file;
    int64_t  size, seconds, nanoseconds;
} source_look;

typedef struct source {
    cbx_graph            *graph;
    cbx_graph            *read; /* what `graph` borrows from, where its classes were renamed */
    const char           *classes[2]; /* and their names, which are the model's */
    const cbx_graph_data *view;
    const char           *name; /* the data's own name, or else the user's */
    char                 *path; /* NULL: built in */
    source_look           seen; /* when it was opened */
    bool                  copied;
} source;

/* Opens a file or folder, a built-in, a name in a data folder or in the cache of
 * downloads, in that order. Returns an exit status, after saying what was tried. */
int  source_open(source *s, const char *data, const cbx_options *options);
void source_close(source *s);

/* Refuses options about files, which a built-in data set does not have. */
int source_check_builtin(const char *data, const cbx_options *options);

/* Whether `data` is the name of a built-in and of nothing nearer. */
bool source_is_builtin(const char *data);

/* Asked before results are written: mapped data that somebody wrote to may have been
 * half of one thing and half of another. Returns an exit status, after saying so. */
int source_unchanged(const source *s);

/* Where such a data set lies, to be freed; *path is NULL for a built-in. */
int source_find(const char *data, char **path);

/* Adds the names of the built-ins to the candidates. */
void source_try_builtins(cbx_nearest *near);

/* Where downloads go, to be freed; NULL: nobody says. */
char *source_cache(void);

/* The i-th data folder, downloads last, to be freed; NULL past the last. */
char *source_folder(size_t i);

/* Calls `each` for every data set in the folder, sorted by name, and returns how
 * many there were. `name` is without the ending. */
typedef void (*source_each)(void *user, const char *name, const char *path);
size_t source_list(const char *folder, source_each each, void *user);

/* "node" or "graph": what a label row is. */
const char *source_row(const source *s);

int64_t source_rows(const source *s);

/* The rows asked for with --node or --graph, whichever the data has, by name or number; *rows is
 * to be freed. Returns an exit status, after saying which is not there. */
int source_asked(const source *s, const text_list *nodes, const text_list *graphs, int32_t **rows,
                 size_t *count);

/* The class's name, or its number where it has none. Returns a name of the
 * graph or `buffer`. */
typedef char class_text[24];
const char  *source_class(const source *s, class_text buffer, int64_t label);

#endif
