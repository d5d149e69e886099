/* SPDX-License-Identifier: Apache-2.0 */
/* output.c: write to a temporary file next to the real one, then rename.
 *
 * Whatever happens before the rename, the old file is still there. The
 * temporary file goes away on every failure, and on Ctrl-C too. What a process that was
 * killed left is in nobody's way: the next takes another name. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "unfinished.h"

/* Opens `name` for writing; with `fresh`, only if there is no such file yet. */
static FILE *open_file(const char *name, bool fresh, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CLOEXEC | (fresh ? O_CREAT | O_EXCL : 0), 0666);
    if (fd < 0)
        return NULL;
    if (mode) /* the file it replaces had these */
        (void)fchmod(fd, mode & 07777);
    FILE *file = fdopen(fd, "w");
    if (!file) {
        int code = errno;
        (void)close(fd);
        if (fresh)
            (void)unlink(name);
        errno = code;
    }
    return file;
}

static void forget(output *out)
{
    unfinished_forget(out->temporary);
    free(out->path);
    free(out->temporary);
    free(out->old);
    *out = (output){0};
}

/* The i-th name beside `path`, to be freed. It has nothing of the path's own name, which may be
 * as long as names can be. */
static char *name_beside(const char *path, int i)
{
    const char *slash = strrchr(path, '/');
    size_t      folder = slash ? (size_t)(slash - path) + 1 : 0, size = folder + 48;
    char       *name = malloc(size);
    if (name)
        (void)snprintf(name, size, "%.*s.combinex-%ld-%d.tmp", (int)folder, path, (long)getpid(),
                       i);
    return name;
}

enum { NAMES_TRIED = 100 };

/* A process that was killed may have had the same number, and what it left is neither taken
 * nor removed. */
static void open_temporary(output *out, mode_t mode)
{
    int code = EEXIST;
    for (int i = 0; i < NAMES_TRIED && code == EEXIST; i++) {
        out->temporary = name_beside(out->path, i);
        code = !out->temporary ? ENOMEM : !access(out->temporary, F_OK) ? EEXIST : 0;
        if (!code) {
            unfinished_add(out->temporary); /* first, or a signal could come between */
            out->file = open_file(out->temporary, true, mode);
            if (out->file)
                return;
            code = errno;
            unfinished_forget(out->temporary);
        }
        free(out->temporary);
        out->temporary = NULL;
    }
    errno = code;
}

static int open_at(output *out, const char *path)
{
    struct stat info;
    cbx_error   err;
    bool        exists = !stat(path, &info);
    if (exists && !S_ISREG(info.st_mode)) {
        out->path = strdup(path);
        out->file = out->path ? open_file(out->path, false, 0) : NULL;
    } else if (cbx_file_target(path, &out->path, &err)) {
        return fail_with(&err);
    } else {
        open_temporary(out, exists ? info.st_mode : 0);
    }
    return out->file ? EXIT_DONE : fail("%s: cannot write: %s", path, strerror(errno));
}

int output_open(output *out, const char *path)
{
    *out = (output){0};
    if (!path || !strcmp(path, "-")) {
        out->file = stdout;
        return EXIT_DONE;
    }
    int status = open_at(out, path);
    if (status)
        forget(out);
    return status;
}

int output_reserve(output *out, const char *path)
{
    int status = output_check(path);
    *out = (output){0};
    if (status == EXIT_DONE)
        status = open_at(out, path);
    if (status == EXIT_DONE) {
        (void)fclose(out->file); /* the library opens it anew, and keeps its permissions */
        out->file = NULL;
    } else {
        forget(out);
    }
    return status;
}

int output_fail(const output *out, const cbx_error *err)
{
    size_t length = out->temporary ? strlen(out->temporary) : 0;
    if (length && !strncmp(err->message, out->temporary, length))
        return fail("%s%s", out->path, err->message + length);
    return fail_with(err);
}

bool output_fine(output *out)
{
    bool fine = !ferror(out->file);
    if (!fine && !out->code)
        out->code = errno;
    return fine;
}

static int say_failed(const output *out, int code)
{
    if (!out->path && code == EPIPE) /* nobody reads any more: no need to tell anybody */
        return EXIT_FAILED;
    if (!out->path)
        return fail("cannot write to standard output: %s", code ? strerror(code) : "write error");
    return fail("%s: cannot write: %s", out->path, code ? strerror(code) : "write error");
}

int output_finish(output *out)
{
    if (!out->file)
        return EXIT_DONE;
    int  code = out->code;
    bool failed = ferror(out->file) != 0;
    /* some file systems cannot sync: EINVAL */
    if (fflush(out->file) || (out->temporary && fsync(fileno(out->file)) && errno != EINVAL)) {
        code = code ? code : errno;
        failed = true;
    }
    if (out->path && fclose(out->file) && !failed) {
        code = errno;
        failed = true;
    }
    out->file = NULL;
    return failed ? say_failed(out, code) : EXIT_DONE;
}

void output_abandon(output *out)
{
    if (out->path && out->file)
        (void)fclose(out->file);
    if (out->temporary && !out->placed)
        (void)unlink(out->temporary);
    forget(out);
}

void outputs_abandon(output *outs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        output_abandon(&outs[i]);
}

/* ---- taking places */

/* Gives the file that is to be replaced a second name, under which it can come back. Where the
 * file system knows no second names it could not: then there is none. */
static void keep_old(output *out)
{
    for (int i = 0; i < NAMES_TRIED; i++) {
        char *name = name_beside(out->path, i);
        if (name && !link(out->path, name)) {
            out->old = name;
            return;
        }
        int code = errno;
        out->fresh = name && code == ENOENT;
        free(name);
        if (!name || code != EEXIST)
            return;
    }
}

static int place(output *out, bool keep)
{
    if (!out->temporary)
        return EXIT_DONE;
    if (keep)
        keep_old(out);
    if (rename(out->temporary, out->path))
        return say_failed(out, errno);
    out->placed = true;
    return EXIT_DONE;
}

/* As it was before: the old file again, or none. */
static void take_back(output *out)
{
    if (!out->placed)
        return;
    if (out->old ? rename(out->old, out->path) : !out->fresh || unlink(out->path))
        (void)fail("%s: was replaced all the same", out->path);
}

int outputs_commit(output *outs, size_t count)
{
    int    status = EXIT_DONE;
    size_t files = 0, done = 0;
    for (size_t i = 0; i < count; i++)
        files += outs[i].temporary != NULL;
    unfinished_hold(); /* a signal between two renames waits for the last */
    for (; done < count && status == EXIT_DONE; done++)
        status = place(&outs[done], files > 1);
    while (status && done > 0)
        take_back(&outs[--done]);
    for (size_t i = 0; i < count; i++) {
        if (outs[i].old)
            (void)unlink(outs[i].old); /* gone already where it came back */
        output_abandon(&outs[i]);
    }
    unfinished_release();
    return status;
}

int output_commit(output *out)
{
    int status = output_finish(out);
    if (status == EXIT_DONE)
        return outputs_commit(out, 1);
    output_abandon(out);
    return status;
}

/* ---- asking beforehand */

/* Whether something new can be made where `path` is. */
static int check_place(const char *path)
{
    struct stat info;
    cbx_error   err;
    char       *target;
    if (cbx_file_target(path, &target, &err))
        return fail_with(&err);
    bool  link = !lstat(path, &info) && S_ISLNK(info.st_mode);
    char *folder = strdup(target), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0'; /* "/file" lies in "/" */
    const char *place = slash ? folder : ".";
    int         code = folder ? 0 : ENOMEM;
    if (!code && stat(place, &info) == 0 && !S_ISDIR(info.st_mode))
        code = ENOTDIR;
    else if (!code && access(place, W_OK | X_OK))
        code = errno;
    int status = EXIT_DONE;
    if (code)
        status = fail("%s%s%s: cannot write there: %s", path, link ? ", a link to " : "",
                      link ? target : "", strerror(code));
    free(folder);
    free(target);
    return status;
}

int output_check(const char *path)
{
    struct stat info;
    if (!stat(path, &info)) {
        if (S_ISDIR(info.st_mode))
            return fail("%s: cannot write: it is a folder", path);
        if (!S_ISREG(info.st_mode)) /* a rename would replace the device itself */
            return fail("%s: cannot write: it is not a regular file", path);
    }
    return check_place(path);
}

int output_check_open(const char *path)
{
    struct stat info;
    if (!path || !strcmp(path, "-"))
        return EXIT_DONE;
    if (!stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return EXIT_DONE;
    return output_check(path);
}

int output_check_folder(const char *path)
{
    struct stat info;
    size_t      length = strlen(path);
    if (!stat(path, &info) && !S_ISDIR(info.st_mode))
        return fail("%s: cannot write: it is not a folder", path);
    while (length > 1 && path[length - 1] == '/') /* as the shell completes folders */
        length--;
    char *bare = strndup(path, length);
    int   status = bare ? check_place(bare) : fail("out of memory");
    free(bare);
    return status;
}
