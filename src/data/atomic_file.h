/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.h: a file that appears whole or not at all.
 *
 * Content goes to a neighbour of the target, which is synced and then renamed
 * over it. Whatever happens before the rename, the old file stays. Where the system
 * can, the neighbour has no name until the rename, so that a process that is killed
 * leaves nothing behind. */
#ifndef CBX_ATOMIC_FILE_H
#define CBX_ATOMIC_FILE_H

#include "combinex.h"
#include "internal.h"

typedef struct cbx_atomic_file {
    char *path;      /* the target, symbolic links followed */
    char *beside;    /* where its neighbour lies */
    char *temporary; /* NULL: it has no name yet */
    int   fd;
} cbx_atomic_file;

/* Symbolic links are followed, also one to a file that is not there yet, which is then made. */
CBX_INTERNAL cbx_status cbx_atomic_open(cbx_atomic_file *file, const char *path, cbx_error *err);

/* The same with a name from the start, as where there are no files without. */
cbx_status cbx_atomic_open_named(cbx_atomic_file *file, const char *path, cbx_error *err);

/* The same with the neighbour beside another path, for a file in a folder that is not there yet. */
cbx_status cbx_atomic_open_beside(cbx_atomic_file *file, const char *path, const char *beside,
                                  cbx_error *err);

CBX_INTERNAL cbx_status cbx_atomic_write(cbx_atomic_file *file, const void *data, size_t size,
                                         cbx_error *err);

/* Puts the file in place, and in any case frees what cbx_atomic_open took. */
CBX_INTERNAL cbx_status cbx_atomic_commit(cbx_atomic_file *file, cbx_error *err);

/* The same, to another place on that disk. */
cbx_status cbx_atomic_commit_to(cbx_atomic_file *file, const char *to, cbx_error *err);

/* Gives up: removes the temporary file. */
CBX_INTERNAL void cbx_atomic_abandon(cbx_atomic_file *file);

#endif
