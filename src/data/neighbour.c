/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour.c: see neighbour.h; and where links lead that nothing is behind. */
#include "neighbour.h"

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

#define PREFIX ".combinex-"
#define ENDING ".tmp"
enum { DIGITS = 16, NAME_SIZE = sizeof PREFIX + DIGITS + sizeof ENDING };

char *cbx_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
}

/* What is there is never opened or replaced, so a guess that exists is harmless: the clock only
 * has to make guesses differ. */
char *cbx_neighbour_make(const char *path, cbx_neighbour_maker make, void *user)
{
    char           *folder = cbx_folder_of(path);
    size_t          size = folder ? strlen(folder) + NAME_SIZE : 0;
    char           *name = folder ? malloc(size) : NULL;
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    cbx_rng rng = cbx_rng_stream((uint64_t)t.tv_nsec, (uint64_t)t.tv_sec, (uint64_t)getpid(),
                                 (uint64_t)(uintptr_t)user);
    int     code = ENOMEM;
    for (int tries = 0; name && code && tries < 100; tries++) {
        (void)snprintf(name, size, "%s" PREFIX "%016llx" ENDING, folder,
                       (unsigned long long)cbx_rng_next(&rng));
        code = make(user, name) ? errno : 0;
        if (code != EEXIST)
            break;
    }
    free(folder);
    if (!code)
        return name;
    free(name);
    errno = code;
    return NULL;
}

bool cbx_neighbour_is(const char *name)
{
    size_t prefix = strlen(PREFIX);
    return !strncmp(name, PREFIX, prefix) && strspn(name + prefix, "0123456789abcdef") == DIGITS &&
           !strcmp(name + prefix + DIGITS, ENDING);
}

void cbx_sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

void cbx_sync_folder_of(const char *path)
{
    char *folder = cbx_folder_of(path);
    if (folder)
        cbx_sync_folder(folder);
    free(folder);
}

/* ---- links */

/* Where the link at `path`, `length` bytes of text, leads; NULL: errno says why not. */
static char *follow(const char *path, size_t length)
{
    char  *folder = cbx_folder_of(path), *text = malloc(length + 2), *next = NULL;
    size_t size = folder ? strlen(folder) + length + 2 : 0;
    errno = ENOMEM;
    ssize_t got = folder && text ? readlink(path, text, length + 1) : -1;
    if (got > (ssize_t)length) /* it is another one now */
        errno = EAGAIN;
    else if (got >= 0 && (next = malloc(size)))
        (void)snprintf(next, size, "%s%.*s", *text == '/' ? "" : folder, (int)got, text);
    free(folder);
    free(text);
    return next;
}

static cbx_status cannot(const char *path, cbx_error *err)
{
    return errno == ENOMEM ? cbx_fail_memory(err) : cbx_fail_errno(err, path, "write");
}

cbx_status cbx_neighbour_target(const char *path, char **target, cbx_error *err)
{
    enum { MOST = 40 }; /* links in a row, as the system has it */
    struct stat st;
    bool        there = stat(path, &st) == 0;
    errno = ENOMEM;
    char *at = there ? realpath(path, NULL) : strdup(path);
    for (int links = 0; at && lstat(at, &st) == 0 && S_ISLNK(st.st_mode); links++) {
        char *next = links < MOST ? follow(at, (size_t)st.st_size) : NULL;
        if (links == MOST)
            errno = ELOOP;
        free(at);
        at = next;
    }
    *target = at;
    return at ? CBX_OK : cannot(path, err);
}
