/* SPDX-License-Identifier: Apache-2.0 */
/* output.c: write to a temporary file next to the real one, then rename.
 *
 * Whatever happens before the rename, the old file is still there. The
 * temporary file goes away on every failure, and on Ctrl-C too. What a process that was
 * killed left is in nobody's way: the next takes another name. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { DEADLY = sizeof deadly / sizeof *deadly };

/* A signal handler has no other way to learn of it. */
static char *volatile unfinished;
static struct sigaction before[DEADLY];

void output_forget_unfinished(void)
{
    if (unfinished)
        (void)unlink(unfinished);
}

static void remove_and_die(int number)
{
    output_forget_unfinished();
    (void)raise(number); /* SA_RESETHAND put the default action back */
}

static void guard(char *temporary)
{
    struct sigaction action = {.sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    unfinished = temporary;
    for (int i = 0; i < DEADLY; i++) {
        /* nohup and background jobs ignore some of these: leave them ignored */
        if (!sigaction(deadly[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
            (void)sigaction(deadly[i], &action, NULL);
    }
}

static void unguard(void)
{
    if (!unfinished)
        return;
    for (int i = 0; i < DEADLY; i++)
        (void)sigaction(deadly[i], &before[i], NULL);
    unfinished = NULL;
}

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
    if (out->temporary)
        unguard();
    free(out->path);
    free(out->temporary);
    *out = (output){0};
}

/* PATH.PID-TRY.tmp: a process that was killed may have had the same number, and what it
 * left is neither taken nor removed. */
static void open_temporary(output *out, size_t size, mode_t mode)
{
    for (int try = 0; try < 100; try++) {
        (void)snprintf(out->temporary, size, "%s.%ld-%d.tmp", out->path, (long)getpid(), try);
        if (!access(out->temporary, F_OK))
            continue;
        guard(out->temporary); /* first, or a signal could come between */
        out->file = open_file(out->temporary, true, mode);
        if (out->file || errno != EEXIST)
            return;
        unguard();
    }
    errno = EEXIST;
}

static int open_at(output *out, const char *path)
{
    struct stat info;
    bool        exists = !stat(path, &info);
    /* behind a symbolic link, the file it points to is the one to replace */
    out->path = exists ? realpath(path, NULL) : strdup(path);
    if (!out->path)
        return fail("%s: %s", path, strerror(errno));
    if (exists && !S_ISREG(info.st_mode)) {
        out->file = open_file(out->path, false, 0);
    } else {
        size_t size = strlen(out->path) + 40;
        out->temporary = malloc(size);
        if (!out->temporary)
            return fail("out of memory");
        open_temporary(out, size, exists ? info.st_mode : 0);
    }
    return out->file ? EXIT_DONE : fail("%s: cannot write: %s", path, strerror(errno));
}

int output_open(output *out, const char *path)
{
    *out = (output){0};
    if (!path || !strcmp(path, "-")) {
        out->file = stdout; /* its failures show when the program ends */
        return EXIT_DONE;
    }
    int status = open_at(out, path);
    if (status)
        forget(out);
    return status;
}

bool output_fine(output *out)
{
    bool fine = !ferror(out->file);
    if (!fine && !out->code)
        out->code = errno;
    return fine;
}

int output_commit(output *out)
{
    if (!out->path) {
        *out = (output){0};
        return EXIT_DONE;
    }
    int  code = out->code;
    bool failed = ferror(out->file) != 0;
    /* some file systems cannot sync: EINVAL */
    if (fflush(out->file) || (out->temporary && fsync(fileno(out->file)) && errno != EINVAL)) {
        code = code ? code : errno;
        failed = true;
    }
    if (fclose(out->file) && !failed) {
        code = errno;
        failed = true;
    }
    if (!failed && out->temporary && rename(out->temporary, out->path)) {
        code = errno;
        failed = true;
    }
    if (failed && out->temporary)
        (void)unlink(out->temporary);
    int status = EXIT_DONE;
    if (failed)
        status = fail("%s: cannot write: %s", out->path, code ? strerror(code) : "write error");
    forget(out);
    return status;
}

void output_abandon(output *out)
{
    if (out->path && out->file)
        (void)fclose(out->file);
    if (out->temporary)
        (void)unlink(out->temporary);
    forget(out);
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
    char *folder = strdup(path);
    if (!folder)
        return fail("out of memory");
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0'; /* "/file" lies in "/" */
    int status = EXIT_DONE;
    if (stat(slash ? folder : ".", &info) == 0 && !S_ISDIR(info.st_mode))
        status = fail("%s: cannot write there: %s", path, strerror(ENOTDIR));
    else if (access(slash ? folder : ".", W_OK | X_OK))
        status = fail("%s: cannot write there: %s", path, strerror(errno));
    free(folder);
    return status;
}
