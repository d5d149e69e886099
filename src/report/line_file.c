/* SPDX-License-Identifier: Apache-2.0 */
/* line_file.c: see line_file.h. */
#include "line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"

/* -------------------------------------------------------------- appending */

cbx_status cbx_line_file_open(cbx_line_file *file, const char *path, cbx_error *err)
{
    *file = (cbx_line_file){.fd = -1, .path = strdup(path)};
    if (!file->path)
        return cbx_fail_memory(err);
    file->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    cbx_status status = file->fd < 0 ? cbx_fail_errno(err, path, "write") : CBX_OK;
    if (!status && flock(file->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        status = cbx_fail(err, CBX_IO, "%s: another process is writing to it", path);
    if (status)
        cbx_line_file_close(file);
    return status;
}

cbx_status cbx_line_file_clear(cbx_line_file *file, cbx_error *err)
{
    return ftruncate(file->fd, 0) ? cbx_fail_errno(err, file->path, "write") : CBX_OK;
}

cbx_status cbx_line_file_add(cbx_line_file *file, const char *text, size_t size, cbx_error *err)
{
    static const double MOMENT = 0.2; /* seconds; a sync can cost more than an answer */
    for (size_t at = 0; at < size;) {
        ssize_t wrote = write(file->fd, text + at, size - at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return cbx_fail_errno(err, file->path, "write");
        at += (size_t)wrote;
    }
    return cbx_clock() - file->synced > MOMENT ? cbx_line_file_sync(file, err) : CBX_OK;
}

cbx_status cbx_line_file_sync(cbx_line_file *file, cbx_error *err)
{
    file->synced = cbx_clock();
    if (fsync(file->fd) && errno != EINVAL && errno != EROFS)
        return cbx_fail_errno(err, file->path, "write");
    return CBX_OK;
}

void cbx_line_file_close(cbx_line_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    free(file->path);
    *file = (cbx_line_file){.fd = -1};
}

/* ---------------------------------------------------------------- reading */

static cbx_status read_all(int fd, const char *path, char **text, size_t *total, cbx_error *err)
{
    size_t size = 0, room = 1 << 16;
    char  *all = malloc(room);
    while (all) {
        ssize_t got = read(fd, all + size, room - size - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(all);
            return cbx_fail_errno(err, path, "read");
        }
        if (got == 0)
            break;
        size += (size_t)got;
        if (room - size < 2) {
            char *more = realloc(all, room *= 2);
            if (!more)
                free(all);
            all = more;
        }
    }
    if (!all)
        return cbx_fail_memory(err);
    all[size] = '\0';
    *text = all;
    *total = size;
    return CBX_OK;
}

cbx_status cbx_text_read(const char *path, char **text, size_t *size, cbx_error *err)
{
    *text = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? CBX_OK : cbx_fail_errno(err, path, "read");
    cbx_status status = read_all(fd, path, text, size, err);
    (void)close(fd);
    return status;
}

char *cbx_line_next(char **text)
{
    char *line = *text, *end = line ? strchr(line, '\n') : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    *text = end + 1;
    return line;
}
