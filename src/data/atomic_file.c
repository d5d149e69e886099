/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.c: see atomic_file.h. */
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "rng.h"

static void forget(cbx_atomic_file *file)
{
    free(file->path);
    free(file->temporary);
    *file = (cbx_atomic_file){.fd = -1};
}

/* A link's target is replaced, not the link; a device is not a place for a file. */
static cbx_status find_target(cbx_atomic_file *file, const char *path, long *mode, cbx_error *err)
{
    struct stat st;
    *mode = -1; /* a new file */
    if (stat(path, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return cbx_fail(err, CBX_IO, "%s: cannot write: not a regular file", path);
        *mode = (long)(st.st_mode & 07777);
        file->path = realpath(path, NULL);
    } else {
        size_t size = strlen(path) + 1;
        file->path = malloc(size);
        if (file->path)
            memcpy(file->path, path, size);
    }
    return file->path ? CBX_OK : cbx_fail_memory(err);
}

/* PATH.<16 hex digits>.tmp: opened exclusively, so a guess that exists is harmless. */
static cbx_status open_temporary(cbx_atomic_file *file, cbx_error *err)
{
    size_t          size = strlen(file->path) + 32;
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    cbx_rng rng = cbx_rng_stream((uint64_t)t.tv_nsec, (uint64_t)t.tv_sec, (uint64_t)getpid(),
                                 (uint64_t)(uintptr_t)file);
    file->temporary = malloc(size);
    if (!file->temporary)
        return cbx_fail_memory(err);
    for (int tries = 0; tries < 100; tries++) {
        (void)snprintf(file->temporary, size, "%s.%016llx.tmp", file->path,
                       (unsigned long long)cbx_rng_next(&rng));
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd >= 0)
            return CBX_OK;
        if (errno != EEXIST)
            break;
    }
    return cbx_fail_errno(err, file->path, "write");
}

cbx_status cbx_atomic_open(cbx_atomic_file *file, const char *path, cbx_error *err)
{
    *file = (cbx_atomic_file){.fd = -1};
    long       mode;
    cbx_status status = find_target(file, path, &mode, err);
    if (!status)
        status = open_temporary(file, err);
    if (status) {
        forget(file);
        return status;
    }
    if (mode >= 0)
        (void)fchmod(file->fd,
                     (mode_t)mode); /* a replaced file keeps its permissions where it can */
    return CBX_OK;
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

/* The rename itself must reach the disk. Some file systems cannot sync a folder;
 * there the rename is as safe as it gets. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char       *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strndup(".", 1);
    if (!folder)
        return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

cbx_status cbx_atomic_commit(cbx_atomic_file *file, cbx_error *err)
{
    cbx_status status = CBX_OK;
    if (fsync(file->fd) && errno != EINVAL && errno != EROFS)
        status = cbx_fail_errno(err, file->path, "write");
    if (close(file->fd) && !status)
        status = cbx_fail_errno(err, file->path, "write");
    file->fd = -1;
    if (!status && rename(file->temporary, file->path))
        status = cbx_fail_errno(err, file->path, "write");
    if (status)
        (void)unlink(file->temporary);
    else
        sync_folder(file->path);
    forget(file);
    return status;
}

void cbx_atomic_abandon(cbx_atomic_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    if (file->temporary)
        (void)unlink(file->temporary);
    forget(file);
}
