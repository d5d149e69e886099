/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_folder.h: a folder whose files appear together or not at all.
 *
 * The files are written beside the folder, without names where the system can. Then they get a
 * folder of their own there, and the two folders change places: in one step, where the system
 * has one. Where it has none the old folder steps aside first, and a process that is killed just
 * then leaves both under the names of neighbours: nothing is lost.
 *
 * Whatever else lies in a folder would go with it, so a folder that holds anything but the files
 * to be replaced is refused. */
#ifndef CBX_ATOMIC_FOLDER_H
#define CBX_ATOMIC_FOLDER_H

#include "atomic_file.h"
#include "internal.h"

enum { CBX_FOLDER_FILES = 4 };

typedef struct cbx_atomic_folder {
    char              *path;  /* the target, symbolic links followed */
    const char *const *names; /* of all its files, NULL-terminated, at most CBX_FOLDER_FILES */
    cbx_atomic_file    files[CBX_FOLDER_FILES]; /* those that are written */
    const char        *file_names[CBX_FOLDER_FILES];
    size_t             count;
    bool               stepwise; /* set by tests: as where folders cannot change places */
} cbx_atomic_folder;

CBX_INTERNAL cbx_status cbx_atomic_folder_open(cbx_atomic_folder *folder, const char *path,
                                               const char *const *names, cbx_error *err);

/* One of its files, to be written; and handed over when that is done. */
CBX_INTERNAL cbx_status cbx_atomic_folder_file(const cbx_atomic_folder *folder, const char *name,
                                               cbx_atomic_file *file, cbx_error *err);
CBX_INTERNAL void       cbx_atomic_folder_add(cbx_atomic_folder *folder, const char *name,
                                              const cbx_atomic_file *file);

/* Puts the folder in place, and in any case frees what cbx_atomic_folder_open took. */
CBX_INTERNAL cbx_status cbx_atomic_folder_commit(cbx_atomic_folder *folder, cbx_error *err);

/* Gives up. */
CBX_INTERNAL void cbx_atomic_folder_abandon(cbx_atomic_folder *folder);

#endif
