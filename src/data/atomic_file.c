/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.c: see atomic_file.h. */
#define _GNU_SOURCE /* O_TMPFILE, where there is one */
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "neighbour.h"

static void forget(cbx_atomic_file *file)
{
    free(file->path);
    free(file->beside);
    free(file->temporary);
    *file = (cbx_atomic_file){.fd = -1};
}

/* A device is not a place for a file. */
static cbx_status find_target(cbx_atomic_file *file, const char *path, long *mode, cbx_error *err)
{
    struct stat st;
    *mode = -1; /* a new file */
    if (stat(path, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return cbx_fail(err, CBX_IO, "%s: cannot write: not a regular file", path);
        *mode = (long)(st.st_mode & 07777);
    }
    return cbx_neighbour_target(path, &file->path, err);
}

/* A file without a name, which is gone with the process however it ends. Not every file
 * system has such files, and without /proc they could not be given a name. */
static bool open_nameless(cbx_atomic_file *file)
{
#ifdef O_TMPFILE
    char link[40], *folder = cbx_folder_of(file->beside);
    if (!folder)
        return false;
    file->fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    free(folder);
    if (file->fd < 0)
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    if (access(link, F_OK) == 0)
        return true;
    (void)close(file->fd);
    file->fd = -1;
#endif
    return false;
}

static int make_link(void *user, const char *name)
{
    const cbx_atomic_file *file = user;
    char                   link[40];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int make_file(void *user, const char *name)
{
    cbx_atomic_file *file = user;
    file->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file->fd < 0 ? -1 : 0;
}

static cbx_status name_temporary(cbx_atomic_file *file, cbx_neighbour_maker make, cbx_error *err)
{
    file->temporary = cbx_neighbour_make(file->beside, make, file);
    if (file->temporary)
        return CBX_OK;
    return errno == ENOMEM ? cbx_fail_memory(err) : cbx_fail_errno(err, file->path, "write");
}

/* `beside`: where the neighbour lies; NULL: beside the target. */
static cbx_status open_at(cbx_atomic_file *file, const char *path, const char *beside, bool named,
                          cbx_error *err)
{
    *file = (cbx_atomic_file){.fd = -1};
    long       mode;
    cbx_status status = find_target(file, path, &mode, err);
    if (!status && !(file->beside = strdup(beside ? beside : file->path)))
        status = cbx_fail_memory(err);
    if (!status && (named || !open_nameless(file)))
        status = name_temporary(file, make_file, err);
    if (status) {
        forget(file);
        return status;
    }
    if (mode >= 0) /* a replaced file keeps its permissions where it can */
        (void)fchmod(file->fd, (mode_t)mode);
    return CBX_OK;
}

cbx_status cbx_atomic_open(cbx_atomic_file *file, const char *path, cbx_error *err)
{
    return open_at(file, path, NULL, false, err);
}

cbx_status cbx_atomic_open_named(cbx_atomic_file *file, const char *path, cbx_error *err)
{
    return open_at(file, path, NULL, true, err);
}

cbx_status cbx_atomic_open_beside(cbx_atomic_file *file, const char *path, const char *beside,
                                  cbx_error *err)
{
    return open_at(file, path, beside, false, err);
}

cbx_status cbx_atomic_write(cbx_atomic_file *file, const void *data, size_t size, cbx_error *err)
{
    const char *at = data;
    while (size) {
        ssize_t wrote = write(file->fd, at, size < (1u << 30) ? size : (1u << 30));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return cbx_fail_errno(err, file->path, "write");
        at += wrote;
        size -= (size_t)wrote;
    }
    return CBX_OK;
}

cbx_status cbx_atomic_commit_to(cbx_atomic_file *file, const char *to, cbx_error *err)
{
    cbx_status status = CBX_OK;
    if (fsync(file->fd) && errno != EINVAL && errno != EROFS)
        status = cbx_fail_errno(err, file->path, "write");
    if (!status && !file->temporary)
        status = name_temporary(file, make_link, err);
    if (close(file->fd) && !status)
        status = cbx_fail_errno(err, file->path, "write");
    file->fd = -1;
    if (!status && rename(file->temporary, to))
        status = cbx_fail_errno(err, file->path, "write");
    if (status && file->temporary)
        (void)unlink(file->temporary);
    if (!status)
        cbx_sync_folder_of(to);
    forget(file);
    return status;
}

cbx_status cbx_atomic_commit(cbx_atomic_file *file, cbx_error *err)
{
    return cbx_atomic_commit_to(file, file->path, err);
}

void cbx_atomic_abandon(cbx_atomic_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    if (file->temporary)
        (void)unlink(file->temporary);
    forget(file);
}
