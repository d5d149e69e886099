/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c: a data set of the catalogue into a folder. What is there already, with
 * the right sum, is not fetched again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic_file.h"
#include "bundle.h"
#include "catalogue.h"
#include "download.h"
#include "error.h"
#include "fetch_options.h"
#include "word.h"

const cbx_option_table *cbx_fetch_table(void)
{
    static const cbx_option options[] = {
        {"from", CBX_OPTION_TEXT, offsetof(cbx_fetch_options, from), NULL, 0, 0, NULL,
         "address of a folder with the files, instead of the official one"},
        {"sha256", CBX_OPTION_TEXT, offsetof(cbx_fetch_options, sha256), NULL, 0, 0, NULL,
         "the sum that a data set of one file must have"},
        {"timeout", CBX_OPTION_REAL, offsetof(cbx_fetch_options, timeout), "30", 0.1, 86400, NULL,
         "give up after so many seconds without a byte"},
        {"overwrite", CBX_OPTION_BOOL, offsetof(cbx_fetch_options, overwrite), "false", 0, 0, NULL,
         "fetch what is there already, too"},
    };
    static const cbx_option_table table = CBX_OPTION_TABLE("Network", options, cbx_fetch_options);
    return &table;
}

static char *join(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char  *text = malloc(size);
    if (text)
        (void)snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

/* mkdir -p */
static cbx_status make_folder(const char *path, cbx_error *err)
{
    char *copy = strdup(path);
    if (!copy)
        return cbx_fail_memory(err);
    for (char *at = copy + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(copy, 0777) && errno != EEXIST) {
            cbx_status status = cbx_fail_errno(err, copy, "make the folder");
            free(copy);
            return status;
        }
        *at = kept;
        if (!kept)
            break;
    }
    free(copy);
    return CBX_OK;
}

/* The folder of downloads may be a link, as whoever set it up chose; what is in it may
 * not: it would have us write elsewhere. */
static cbx_status refuse_link(const char *path, cbx_error *err)
{
    struct stat info;
    if (lstat(path, &info) || !S_ISLNK(info.st_mode))
        return CBX_OK;
    return cbx_fail(err, CBX_IO, "%s: a link, through which nothing is written", path);
}

typedef struct job {
    cbx_remote_set           set;
    const cbx_fetch_options *o;
    char                    *folder; /* where its files go */
    cbx_progress             progress;
    void                    *user;
    cbx_error               *err;
} job;

static const char *wanted_sum(const job *j, const cbx_remote_file *file)
{
    return j->o->sha256 && j->set.count == 1 ? j->o->sha256 : file->sha256;
}

static bool is_there(const job *j, const cbx_remote_file *file, const char *path)
{
    char sum[65];
    if (j->o->overwrite || access(path, R_OK))
        return false;
    const char *want = wanted_sum(j, file);
    return !*want || (!cbx_file_sha256(path, sum, NULL) && cbx_same_word(sum, want));
}

static cbx_status fetch_file(const job *j, const cbx_remote_file *file, const char *path)
{
    const char *base = j->o->from;
    char       *url =
        base ? join(base, base[strlen(base) - 1] == '/' ? "" : "/", file->name) : strdup(file->url);
    if (!url)
        return cbx_fail_memory(j->err);
    cbx_download d = {.url = url,
                      .path = path,
                      .sha256 = wanted_sum(j, file),
                      .timeout = j->o->timeout > 0 ? j->o->timeout : 30,
                      .progress = j->progress,
                      .user = j->user,
                      .text = file->name};
    cbx_status   status = cbx_download_run(&d, j->err);
    free(url);
    return status;
}

static cbx_status unpack(const job *j, const char *archive, const char *to)
{
    cbx_bundle     *bundle;
    unsigned char  *bytes = NULL;
    size_t          size;
    cbx_atomic_file out;
    cbx_status      status = cbx_bundle_open(archive, &bundle, j->err);
    if (status)
        return status;
    const char *name = cbx_bundle_find(bundle, j->set.member);
    if (!name)
        status = cbx_fail(j->err, CBX_INVALID, "%s: it has no %s", archive, j->set.member);
    if (!status)
        status = cbx_bundle_slurp(bundle, name, &bytes, &size, j->err);
    if (!status)
        status = refuse_link(to, j->err);
    if (!status)
        status = cbx_atomic_open(&out, to, j->err);
    if (!status) {
        status = cbx_atomic_write(&out, bytes, size, j->err);
        if (status)
            cbx_atomic_abandon(&out);
        else
            status = cbx_atomic_commit(&out, j->err);
    }
    free(bytes);
    cbx_bundle_close(bundle);
    return status;
}

/* Where a file goes: in the set's folder, or, if it is the only one and a data set as
 * it stands, beside the other sets. */
static cbx_status fetch_all(job *j, const char *cache, char **path)
{
    cbx_status status = j->folder == cache ? CBX_OK : refuse_link(j->folder, j->err);
    if (!status)
        status = make_folder(j->folder, j->err);
    for (size_t i = 0; !status && i < j->set.count; i++) {
        const cbx_remote_file *file = cbx_catalogue_file(&j->set, i);
        char                  *to = join(j->folder, "/", file->name);
        if (!to)
            return cbx_fail_memory(j->err);
        if (!is_there(j, file, to))
            status = fetch_file(j, file, to);
        char *member = !status && j->set.member ? join(j->folder, "/", j->set.member) : NULL;
        if (!status && j->set.member && !member)
            status = cbx_fail_memory(j->err);
        if (member && (j->o->overwrite || access(member, R_OK)))
            status = unpack(j, to, member);
        free(member);
        if (!status && j->folder != cache && i + 1 == j->set.count)
            *path = strdup(j->folder);
        else if (!status && i + 1 == j->set.count)
            *path = strdup(to);
        free(to);
    }
    return !status && !*path ? cbx_fail_memory(j->err) : status;
}

cbx_status cbx_dataset_fetch_with(const char *name, const char *cache,
                                  const cbx_fetch_options *options, cbx_progress progress,
                                  void *user, char **path, cbx_error *err)
{
    cbx_fetch_options fallback;
    job               j = {.o = options, .progress = progress, .user = user, .err = err};
    *path = NULL;
    if (!options) {
        cbx_fields_default(cbx_fetch_table(), &fallback);
        j.o = &fallback;
    }
    if (!cbx_catalogue_find(name, &j.set))
        return cbx_fail(err, CBX_INVALID, "no data set '%.60s' is known to download", name);
    if (j.o->sha256 && j.set.count != 1)
        return cbx_fail_option(err, "sha256", "'%.60s' has %d files, each with a sum", name,
                               (int)j.set.count);
    cbx_status status = cbx_fields_check(cbx_fetch_table(), j.o, err);
    if (status)
        return status;
    size_t      length = strlen(cbx_catalogue_file(&j.set, 0)->name);
    const char *first = cbx_catalogue_file(&j.set, 0)->name;
    bool        alone = j.set.count == 1 && !j.set.member && length > 4 &&
                 (!strcmp(first + length - 4, ".zip") || !strcmp(first + length - 4, ".npz"));
    j.folder = alone ? (char *)cache : join(cache, "/", name);
    if (!j.folder)
        return cbx_fail_memory(err);
    status = fetch_all(&j, cache, path);
    if (j.folder != cache)
        free(j.folder);
    return status;
}

cbx_status cbx_dataset_fetch(const char *name, const char *folder, const cbx_options *options,
                             cbx_progress progress, void *user, char **path, cbx_error *err)
{
    const void *fields;
    *path = NULL;
    cbx_status status = cbx_options_fields(options, cbx_fetch_table(), &fields, err);
    return status ? status
                  : cbx_dataset_fetch_with(name, folder, fields, progress, user, path, err);
}
