/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour.h: what new files are called until they take the place of old ones.
 *
 * A neighbour lies in the folder of its target, and so on the same disk, and has nothing of the
 * target's name, which may be as long as names can be. Readers of folders skip it: its name
 * starts with a dot. */
#ifndef CBX_NEIGHBOUR_H
#define CBX_NEIGHBOUR_H

#include "combinex.h"
#include "internal.h"

/* The folder that a path names something in, with a slash behind; NULL: no memory. */
char *cbx_folder_of(const char *path);

/* Makes something beside `path`, as `make` does with the name it is given, which fails with
 * EEXIST where that name is taken. Returns the name, to be freed; NULL: errno says why. */
typedef int (*cbx_neighbour_maker)(void *user, const char *name);
char *cbx_neighbour_make(const char *path, cbx_neighbour_maker make, void *user);

/* What names lie in a folder must reach the disk, too. Some file systems cannot sync a folder;
 * there it is as safe as it gets. */
void cbx_sync_folder(const char *folder);
void cbx_sync_folder_of(const char *path);

/* Is this a name (without its folder) that a killed process may have left? */
CBX_INTERNAL bool cbx_neighbour_is(const char *name);

/* cbx_file_target, which see. */
CBX_INTERNAL cbx_status cbx_neighbour_target(const char *path, char **target, cbx_error *err);

#endif
