/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: whole files of a benchmark's folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "error.h"
#include "neighbour.h"
#include "rows.h"

char *cbx_bench_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char  *path = malloc(size);
    if (path)
        (void)snprintf(path, size, "%s/%s", folder, name);
    return path;
}

cbx_status cbx_bench_write(const char *path, const char *text, size_t size, cbx_error *err)
{
    cbx_atomic_file file;
    cbx_status      status = cbx_atomic_open(&file, path, err);
    if (status)
        return status;
    status = cbx_atomic_write(&file, text, size, err);
    if (!status)
        return cbx_atomic_commit(&file, err);
    cbx_atomic_abandon(&file);
    return status;
}

void cbx_bench_sweep(const char *folder)
{
    DIR *all = opendir(folder);
    if (!all)
        return;
    for (struct dirent *e = readdir(all); e; e = readdir(all)) {
        char *path = cbx_neighbour_is(e->d_name) ? cbx_bench_path(folder, e->d_name) : NULL;
        if (path)
            (void)unlink(path);
        free(path);
    }
    (void)closedir(all);
}
