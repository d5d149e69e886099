/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_folder.c: see atomic_folder.h. */
#define _GNU_SOURCE /* renameat2, where there is one */
#include "atomic_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "neighbour.h"

static void forget(cbx_atomic_folder *folder)
{
    free(folder->path);
    *folder = (cbx_atomic_folder){0};
}

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char  *path = malloc(size);
    if (path)
        (void)snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static cbx_status cannot(const char *path, cbx_error *err)
{
    return errno == ENOMEM ? cbx_fail_memory(err) : cbx_fail_errno(err, path, "write");
}

/* ---- opening */

static bool is_ours(const cbx_atomic_folder *folder, DIR *dir, const char *name)
{
    struct stat st;
    bool        ours = false;
    for (const char *const *own = folder->names; *own && !ours; own++)
        ours = !strcmp(*own, name);
    return ours && fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static cbx_status check_content(const cbx_atomic_folder *folder, cbx_error *err)
{
    cbx_status status = CBX_OK;
    DIR       *dir = opendir(folder->path);
    if (!dir)
        return cannot(folder->path, err);
    for (struct dirent *e; !status && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !is_ours(folder, dir, e->d_name))
            status = cbx_fail(err, CBX_IO,
                              "%s: cannot write: the folder would be replaced, and it also holds "
                              "'%.80s': name a folder of its own",
                              folder->path, e->d_name);
    (void)closedir(dir);
    return status;
}

/* Whoever is in a folder stays in the old one when another takes its place. */
static bool is_here(const struct stat *st)
{
    struct stat here;
    return stat(".", &here) == 0 && here.st_dev == st->st_dev && here.st_ino == st->st_ino;
}

cbx_status cbx_atomic_folder_open(cbx_atomic_folder *folder, const char *path,
                                  const char *const *names, cbx_error *err)
{
    struct stat st;
    size_t      length = strlen(path);
    while (length > 1 && path[length - 1] == '/') /* as the shell completes folders */
        length--;
    *folder = (cbx_atomic_folder){.names = names};
    char      *bare = strndup(path, length);
    cbx_status status = bare ? cbx_neighbour_target(bare, &folder->path, err) : cbx_fail_memory(err);
    free(bare);
    if (!status && stat(folder->path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            status = cbx_fail(err, CBX_IO, "%s: cannot write: not a folder", path);
        else if (is_here(&st))
            status = cbx_fail(err, CBX_IO,
                              "%s: cannot write: the folder would be replaced, and it is the "
                              "current one: name another",
                              path);
        else
            status = check_content(folder, err);
    }
    if (status)
        forget(folder);
    return status;
}

cbx_status cbx_atomic_folder_file(const cbx_atomic_folder *folder, const char *name,
                                  cbx_atomic_file *file, cbx_error *err)
{
    char *path = join(folder->path, name);
    if (!path)
        return cbx_fail_memory(err);
    cbx_status status = cbx_atomic_open_beside(file, path, folder->path, err);
    free(path);
    return status;
}

void cbx_atomic_folder_add(cbx_atomic_folder *folder, const char *name, const cbx_atomic_file *file)
{
    folder->files[folder->count] = *file;
    folder->file_names[folder->count++] = name;
}

void cbx_atomic_folder_abandon(cbx_atomic_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        cbx_atomic_abandon(&folder->files[i]);
    forget(folder);
}

/* ---- taking its place */

static int make_folder(void *user, const char *name)
{
    (void)user;
    return mkdir(name, 0777);
}

/* A folder with our files in it. Should another have come into it meanwhile, it stays. */
static void remove_folder(const cbx_atomic_folder *folder, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *const *name = folder->names; fd >= 0 && *name; name++)
        (void)unlinkat(fd, *name, 0);
    if (fd >= 0)
        (void)close(fd);
    (void)rmdir(path);
}

/* The files move into `to`, which is new. */
static cbx_status fill(cbx_atomic_folder *folder, const char *to, cbx_error *err)
{
    struct stat st;
    cbx_status  status = CBX_OK;
    for (size_t i = 0; i < folder->count && !status; i++) {
        char *path = join(to, folder->file_names[i]);
        status = path ? cbx_atomic_commit_to(&folder->files[i], path, err) : cbx_fail_memory(err);
        free(path);
    }
    if (stat(folder->path, &st) == 0) /* a replaced folder keeps its permissions */
        (void)chmod(to, st.st_mode & 07777);
    return status;
}

/* 0: they have changed places. */
static int exchange(const cbx_atomic_folder *folder, const char *other)
{
#ifdef RENAME_EXCHANGE
    if (!folder->stepwise)
        return renameat2(AT_FDCWD, other, AT_FDCWD, folder->path, RENAME_EXCHANGE);
#endif
    (void)folder, (void)other;
    errno = ENOSYS;
    return -1;
}

/* The old folder steps aside and the new one, `other`, takes its place. Returns where the old one
 * is, to be freed; NULL: nothing has changed, and errno says why. */
static char *step_aside(const cbx_atomic_folder *folder, const char *other)
{
    char *aside = cbx_neighbour_make(folder->path, make_folder, NULL);
    int   code;
    if (!aside)
        return NULL;
    if (!rename(folder->path, aside)) { /* which takes the place of an empty folder */
        if (!rename(other, folder->path))
            return aside;
        code = errno;
        (void)rename(aside, folder->path);
    } else {
        code = errno;
    }
    (void)rmdir(aside);
    free(aside);
    errno = code;
    return NULL;
}

/* Puts the new folder, `other`, in place, and removes the old one. */
static cbx_status swap(const cbx_atomic_folder *folder, const char *other, cbx_error *err)
{
    struct stat st;
    if (lstat(folder->path, &st)) /* there is none */
        return rename(other, folder->path) ? cannot(folder->path, err) : CBX_OK;
    if (!exchange(folder, other)) {
        remove_folder(folder, other);
        return CBX_OK;
    }
    if (errno != ENOSYS && errno != EINVAL && errno != ENOTSUP)
        return cannot(folder->path, err);
    char *old = step_aside(folder, other);
    if (!old)
        return cannot(folder->path, err);
    remove_folder(folder, old);
    free(old);
    return CBX_OK;
}

cbx_status cbx_atomic_folder_commit(cbx_atomic_folder *folder, cbx_error *err)
{
    for (size_t i = 0; i < folder->count; i++)
        (void)fsync(folder->files[i].fd); /* takes long, so before anything has a name */
    char *other = cbx_neighbour_make(folder->path, make_folder, NULL);
    if (!other) {
        cbx_status status = cannot(folder->path, err);
        cbx_atomic_folder_abandon(folder);
        return status;
    }
    cbx_status status = fill(folder, other, err);
    if (!status) {
        cbx_sync_folder(other);
        status = swap(folder, other, err);
    }
    if (status)
        remove_folder(folder, other);
    else
        cbx_sync_folder_of(folder->path);
    free(other);
    cbx_atomic_folder_abandon(folder);
    return status;
}
