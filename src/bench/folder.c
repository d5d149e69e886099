/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c: see folder.h. */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "number.h"
#include "rows.h"

static cbx_status make_folder(const char *path, cbx_error *err)
{
    struct stat info;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &info) && S_ISDIR(info.st_mode)))
        return CBX_OK;
    return cbx_fail_errno(err, path, "make the folder");
}

/* The first line that differs says most. */
static cbx_status compare_plans(const char *path, const char *old, const char *new, cbx_error *err)
{
    while (true) {
        size_t a = strcspn(old, "\n"), b = strcspn(new, "\n");
        if (a != b || strncmp(old, new, a) != 0)
            return cbx_fail(err, CBX_INVALID,
                            "%s: was begun with other settings: '%.*s', and not '%.*s'", path,
                            (int)a, old, (int)b, new);
        if (!old[a] || !new[b])
            return CBX_OK;
        old += a + 1;
        new += b + 1;
    }
}

static cbx_status check_plan(const cbx_bench_plan *plan, const char *folder, bool resume,
                             cbx_error *err)
{
    char  *path = cbx_bench_path(folder, "plan.txt"), *old = NULL;
    size_t size;
    if (!path)
        return cbx_fail_memory(err);
    cbx_status status = cbx_text_read(path, &old, &size, err);
    if (!status && old && !resume)
        status =
            cbx_fail(err, CBX_INVALID,
                     "%s: a benchmark was begun here; the argument resume goes on with it", folder);
    else if (!status && old)
        status = compare_plans(path, old, plan->text, err);
    else if (!status)
        status = cbx_bench_write(path, plan->text, strlen(plan->text), err);
    free(old);
    free(path);
    return status;
}

/* Two at once would write over each other's parts. The lock goes with the process, however
 * it ends. Where the file system knows no locks, there is none. */
static cbx_status lock_folder(const char *folder, int *lock, cbx_error *err)
{
    char *path = cbx_bench_path(folder, "lock");
    if (!path)
        return cbx_fail_memory(err);
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    cbx_status status = CBX_OK;
    if (*lock < 0)
        status = cbx_fail_errno(err, path, "write");
    else if (flock(*lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        status =
            cbx_fail(err, CBX_INVALID, "%s: another benchmark is running in this folder", folder);
    free(path);
    return status;
}

cbx_status cbx_bench_folder_open(const cbx_bench_plan *plan, const char *folder, bool resume,
                                 int *lock, cbx_error *err)
{
    cbx_status status = make_folder(folder, err);
    char      *models = cbx_bench_path(folder, "models");
    if (!models)
        return cbx_fail_memory(err);
    if (!status)
        status = make_folder(models, err);
    if (!status)
        status = lock_folder(folder, lock, err);
    if (!status) { /* nobody else is writing here */
        cbx_bench_sweep(folder);
        cbx_bench_sweep(models);
    }
    free(models);
    return status ? status : check_plan(plan, folder, resume, err);
}

/* ------------------------------------------------------------ the manifest */

static int put_event(char *line, size_t size, const cbx_bench_event *e)
{
    char      at[32] = "";
    time_t    now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        (void)strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return cbx_print(line, size,
                     "{\"at\": \"%s\", \"event\": \"%s\", \"version\": \"%s\", \"commit\": \"%s\", "
                     "\"processes\": %lld, \"jobs\": %lld, \"answers\": %lld, \"asked\": %lld, "
                     "\"seconds\": %.3f}\n",
                     at, e->what, cbx_version(), cbx_bench_commit, (long long)e->processes,
                     (long long)e->jobs, (long long)e->answers, (long long)e->asked, e->seconds);
}

cbx_status cbx_bench_manifest_add(const char *folder, const cbx_bench_event *event, cbx_error *err)
{
    char  line[512];
    int   size = put_event(line, sizeof line, event);
    char *path = cbx_bench_path(folder, "manifest.jsonl");
    if (!path)
        return cbx_fail_memory(err);
    int        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    cbx_status status = CBX_OK;
    if (fd < 0 || write(fd, line, (size_t)size) != size)
        status = cbx_fail_errno(err, path, "write");
    if (fd >= 0 && close(fd) && !status)
        status = cbx_fail_errno(err, path, "write");
    free(path);
    return status;
}
