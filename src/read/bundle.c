/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c: folders, archives and memory under one face. stream.c reads them. */
#include "bundle.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle_inside.h"
#include "error.h"

enum { DEEPEST = 2, MOST_FILES = 20000 };

/* ---- names */

static cbx_status add_name(cbx_bundle *b, const char *name, size_t length, size_t begin, size_t end,
                           int64_t index, cbx_error *err)
{
    if (b->count == b->room) {
        size_t    room = b->room ? 2 * b->room : 16;
        cbx_file *more = realloc(b->files, room * sizeof *more);
        if (!more)
            return cbx_fail_memory(err);
        b->files = more;
        b->room = room;
    }
    char *copy = malloc(length + 1);
    if (!copy)
        return cbx_fail_memory(err);
    memcpy(copy, name, length);
    copy[length] = '\0';
    b->files[b->count++] = (cbx_file){.name = copy, .begin = begin, .end = end, .index = index};
    return CBX_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const cbx_file *)a)->name, ((const cbx_file *)b)->name);
}

static void sort_names(cbx_bundle *b)
{
    if (b->count)
        qsort(b->files, b->count, sizeof *b->files, by_name);
}

cbx_file *cbx_bundle_file(cbx_bundle *b, const char *name)
{
    for (size_t i = 0; i < b->count; i++)
        if (!strcmp(b->files[i].name, name))
            return &b->files[i];
    return NULL;
}

/* Without ".gz". */
static size_t bare_length(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".gz") ? length - 3 : length;
}

static bool ends_with(const char *name, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length >= size && !strncmp(name + length - size, ending, size);
}

const char *cbx_bundle_find(const cbx_bundle *b, const char *name)
{
    size_t      size = strlen(name);
    const char *below = NULL;
    for (size_t i = 0; i < b->count; i++) {
        const char *have = b->files[i].name;
        size_t      length = bare_length(have);
        if (length == size && !strncmp(have, name, size))
            return have;
        if (!below && length > size && have[length - size - 1] == '/' &&
            ends_with(have, length, name))
            below = have;
    }
    return below;
}

const char *cbx_bundle_ending(const cbx_bundle *b, const char *ending)
{
    const char *found = NULL;
    if (b->chosen && ends_with(b->chosen, bare_length(b->chosen), ending))
        return b->chosen;
    for (size_t i = 0; i < b->count; i++) {
        const char *have = b->files[i].name;
        if (!ends_with(have, bare_length(have), ending))
            continue;
        if (!b->chosen)
            return have;
        /* "cora.content" was chosen: "cora.cites" goes with it, "pubmed.cites" not */
        size_t stem = bare_length(have) - strlen(ending);
        if (!strncmp(b->chosen, have, stem) && !found)
            found = have;
    }
    return found;
}

/* ---- opening */

static cbx_bundle *bundle_new(const char *path, cbx_error *err)
{
    cbx_bundle *b = calloc(1, sizeof *b);
    if (b)
        b->path = strdup(path);
    if (b && b->path)
        return b;
    free(b);
    cbx_fail_memory(err);
    return NULL;
}

/* Folders of data sets have folders of their own: raw, and split with one a scheme.
 * Any others may hold other data sets, which are not to be mixed up. */
static bool belongs(const char *prefix, const char *name)
{
    if (!*prefix)
        return !strcmp(name, "raw") || !strcmp(name, "split");
    return !strcmp(prefix, "split/");
}

static cbx_status list_folder(cbx_bundle *b, const char *folder, const char *prefix, int depth,
                              cbx_error *err)
{
    DIR       *dir = opendir(folder);
    cbx_status status = CBX_OK;
    if (!dir)
        return depth ? CBX_OK : cbx_fail_errno(err, folder, "open");
    for (struct dirent *e; !status && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        size_t      size = strlen(folder) + strlen(prefix) + 2 * strlen(e->d_name) + 4;
        char       *path = malloc(2 * size), *name = path ? path + size : NULL;
        struct stat info;
        if (!path) {
            status = cbx_fail_memory(err);
            break;
        }
        (void)snprintf(path, size, "%s/%s", folder, e->d_name);
        (void)snprintf(name, size, "%s%s", prefix, e->d_name);
        if (stat(path, &info)) {
            /* a dangling link is nobody's file */
        } else if (S_ISDIR(info.st_mode) && depth < DEEPEST && belongs(prefix, e->d_name)) {
            (void)snprintf(name, size, "%s%s/", prefix, e->d_name);
            status = list_folder(b, path, name, depth + 1, err);
        } else if (S_ISREG(info.st_mode) && b->count < MOST_FILES) {
            status = add_name(b, name, strlen(name), 0, 0, -1, err);
        }
        free(path);
    }
    (void)closedir(dir);
    return status;
}

static cbx_status list_archive(cbx_bundle *b, cbx_error *err)
{
    zip_int64_t count = zip_get_num_entries(b->zip, 0);
    if (count > MOST_FILES)
        return cbx_fail(err, CBX_INVALID, "%s: the archive has %lld files, more than %d", b->path,
                        (long long)count, MOST_FILES);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(b->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t      length = name ? strlen(name) : 0;
        if (!length || name[length - 1] == '/')
            continue;
        cbx_status status = add_name(b, name, length, 0, 0, i, err);
        if (status)
            return status;
    }
    sort_names(b);
    return CBX_OK;
}

static cbx_status zip_failure(const char *path, zip_error_t *why, cbx_error *err)
{
    bool       memory = zip_error_code_zip(why) == ZIP_ER_MEMORY;
    cbx_status status = memory ? cbx_fail_memory(err)
                               : cbx_fail(err, CBX_INVALID, "%s: not a sound zip archive: %s", path,
                                          zip_error_strerror(why));
    zip_error_fini(why);
    return status;
}

/* Takes the source, also on failure. */
static cbx_status open_archive(cbx_bundle *b, zip_source_t *source, zip_error_t *why,
                               cbx_error *err)
{
    if (!source)
        return zip_failure(b->path, why, err);
    b->zip = zip_open_from_source(source, ZIP_RDONLY, why);
    if (!b->zip) {
        zip_source_free(source);
        return zip_failure(b->path, why, err);
    }
    zip_error_fini(why);
    return list_archive(b, err);
}

static cbx_status open_single(cbx_bundle *b, cbx_error *err)
{
    const char *slash = strrchr(b->path, '/');
    b->folder = slash == b->path ? strdup("/")
                : slash          ? strndup(b->path, (size_t)(slash - b->path))
                                 : strdup(".");
    b->chosen = strdup(slash ? slash + 1 : b->path);
    if (!b->folder || !b->chosen)
        return cbx_fail_memory(err);
    cbx_status status = list_folder(b, b->folder, "", DEEPEST, err);
    if (!status && !cbx_bundle_file(b, b->chosen)) /* a crowded or closed folder */
        status = add_name(b, b->chosen, strlen(b->chosen), 0, 0, -1, err);
    sort_names(b);
    return status;
}

static bool is_archive(const char *path)
{
    char  magic[4] = "";
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    size_t got = fread(magic, 1, sizeof magic, f);
    (void)fclose(f);
    return got == 4 && (!memcmp(magic, "PK\3\4", 4) || !memcmp(magic, "PK\5\6", 4));
}

static cbx_status open_archive_at(cbx_bundle *b, const char *path, cbx_error *err)
{
    zip_error_t why;
    struct stat info;
    b->packed = stat(path, &info) ? 0 : (uint64_t)info.st_size;
    b->archive = strdup(path);
    if (!b->archive)
        return cbx_fail_memory(err);
    zip_error_init(&why);
    return open_archive(b, zip_source_file_create(path, 0, -1, &why), &why, err);
}

/* "archive.zip/file": one file of an archive. */
static cbx_status open_within(cbx_bundle *b, cbx_error *err)
{
    struct stat info;
    int         code = errno;
    for (char *slash = strrchr(b->path, '/'); slash && slash != b->path;) {
        *slash = '\0';
        bool       here = !stat(b->path, &info) && S_ISREG(info.st_mode) && is_archive(b->path);
        cbx_status status = here ? open_archive_at(b, b->path, err) : CBX_OK;
        char      *before = here ? NULL : strrchr(b->path, '/');
        *slash = '/';
        if (here && !status && !cbx_bundle_file(b, slash + 1))
            return cbx_fail(err, CBX_IO, "%s: the archive has no such file", b->path);
        if (here && !status && !(b->chosen = strdup(slash + 1)))
            return cbx_fail_memory(err);
        if (here)
            return status;
        slash = before;
    }
    errno = code;
    return cbx_fail_errno(err, b->path, "open");
}

static cbx_status open_path(cbx_bundle *b, cbx_error *err)
{
    struct stat info;
    if (stat(b->path, &info))
        return open_within(b, err);
    if (S_ISDIR(info.st_mode)) {
        b->folder = strdup(b->path);
        cbx_status status =
            b->folder ? list_folder(b, b->folder, "", 0, err) : cbx_fail_memory(err);
        sort_names(b);
        return status;
    }
    if (!S_ISREG(info.st_mode))
        return cbx_fail(err, CBX_IO, "%s: neither a file nor a folder", b->path);
    if (access(b->path, R_OK))
        return cbx_fail_errno(err, b->path, "open");
    if (is_archive(b->path))
        return open_archive_at(b, b->path, err);
    return open_single(b, err);
}

static cbx_status finish(cbx_bundle *b, cbx_status status, cbx_bundle **out)
{
    if (status)
        cbx_bundle_close(b);
    else
        *out = b;
    return status;
}

cbx_status cbx_bundle_open(const char *path, cbx_bundle **out, cbx_error *err)
{
    *out = NULL;
    cbx_bundle *b = bundle_new(path, err);
    if (!b)
        return CBX_NO_MEMORY;
    for (size_t n = strlen(b->path); n > 1 && b->path[n - 1] == '/'; n--)
        b->path[n - 1] = '\0'; /* as the shell completes folders */
    return finish(b, open_path(b, err), out);
}

cbx_status cbx_bundle_inside(cbx_bundle *from, const char *name, cbx_bundle **out, cbx_error *err)
{
    *out = NULL;
    char label[CBX_MESSAGE_SIZE];
    (void)snprintf(label, sizeof label, "%.250s/%.250s", cbx_bundle_path(from), name);
    cbx_bundle *b = bundle_new(from->folder ? label : name, err);
    size_t      size = 0;
    if (!b)
        return CBX_NO_MEMORY;
    cbx_status status = cbx_bundle_slurp(from, name, &b->owned, &size, err);
    b->packed = size;
    if (!status) {
        zip_error_t why;
        zip_error_init(&why);
        status = open_archive(b, zip_source_buffer_create(b->owned, size, 0, &why), &why, err);
    }
    return finish(b, status, out);
}

/* "==> NAME <==\n" and then the content, up to the next such line. */
static cbx_status list_memory(cbx_bundle *b, cbx_error *err)
{
    static const char arrow[] = "==> ", end[] = " <==\n";
    const char       *bytes = b->memory;
    size_t            size = b->memory_size, at = 0;
    cbx_file         *last = NULL;
    while (at < size) {
        const char *line = bytes + at, *stop = memchr(line, '\n', size - at);
        size_t      length = stop ? (size_t)(stop - line) + 1 : size - at;
        if (length > 9 && length < 200 && !memcmp(line, arrow, 4) &&
            !memcmp(line + length - 5, end, 5)) {
            if (last)
                last->end = at ? at - (at > last->begin) : at; /* the newline before is framing */
            size_t     begin = at + length;
            cbx_status status =
                add_name(b, line + 4, strnlen(line + 4, length - 9), begin, size, -1, err);
            if (status)
                return status;
            last = &b->files[b->count - 1];
        }
        at += length;
    }
    sort_names(b);
    return CBX_OK;
}

cbx_status cbx_bundle_memory(const void *bytes, size_t size, cbx_bundle **out, cbx_error *err)
{
    *out = NULL;
    cbx_bundle *b = bundle_new("memory", err);
    if (!b)
        return CBX_NO_MEMORY;
    b->memory = bytes;
    b->memory_size = size;
    cbx_status status = list_memory(b, err);
    if (!status && b->count == 1) { /* as if that file had been named */
        b->chosen = strdup(b->files[0].name);
        status = b->chosen ? CBX_OK : cbx_fail_memory(err);
    }
    return finish(b, status, out);
}

void cbx_bundle_close(cbx_bundle *b)
{
    if (!b)
        return;
    if (b->zip)
        zip_discard(b->zip);
    for (size_t i = 0; i < b->count; i++) {
        free(b->files[i].name);
        free(b->files[i].opened);
    }
    free(b->files);
    free(b->archive);
    free(b->path);
    free(b->folder);
    free(b->chosen);
    free(b->title);
    free(b->owned);
    free(b);
}

/* ---- asking */

const char *cbx_bundle_path(const cbx_bundle *b)
{
    return b->path;
}

const char *cbx_bundle_chosen(const cbx_bundle *b)
{
    return b->chosen;
}

const char *cbx_bundle_used(const cbx_bundle *b, size_t i)
{
    const char *whole = b->archive ? b->archive : b->chosen && b->folder ? b->path : NULL;
    if (whole && i-- == 0) /* which may be read by others than streams */
        return whole;
    for (size_t k = 0; k < b->count; k++)
        if (b->files[k].opened && i-- == 0)
            return b->files[k].opened;
    return NULL;
}

const char *cbx_bundle_place(const cbx_bundle *b, const char *name, cbx_place buffer)
{
    if (b->memory)
        (void)snprintf(buffer, sizeof(cbx_place), "%.400s", name);
    else if (b->chosen && !strcmp(b->chosen, name))
        (void)snprintf(buffer, sizeof(cbx_place), "%.400s", b->path);
    else
        (void)snprintf(buffer, sizeof(cbx_place), "%.250s/%.200s", b->folder ? b->folder : b->path,
                       name);
    return buffer;
}

bool cbx_bundle_is_folder(const cbx_bundle *b)
{
    return b->folder && !b->chosen;
}

const char *cbx_bundle_title(const cbx_bundle *b)
{
    cbx_bundle *m = (cbx_bundle *)b;
    if (!m->title) {
        const char *slash = strrchr(b->path, '/');
        m->title = strdup(slash && slash[1] ? slash + 1 : b->path);
        char *dot = m->title && !cbx_bundle_is_folder(b) ? strchr(m->title + 1, '.') : NULL;
        if (dot)
            *dot = '\0';
    }
    return m->title ? m->title : "";
}

const char *cbx_bundle_name(const cbx_bundle *b, size_t i)
{
    return i < b->count ? b->files[i].name : NULL;
}

uint64_t cbx_bundle_bytes(const cbx_bundle *b)
{
    return b->bytes;
}

cbx_status cbx_bundle_bears(const cbx_bundle *b, const char *path, cbx_error *err)
{
    /* Tables of zeros pack well, and small ones do no harm. */
    enum { RATIO = 128 };
    static const uint64_t room = (uint64_t)256 << 20;
    if (b->bytes <= room + RATIO * b->packed)
        return CBX_OK;
    return cbx_fail(err, CBX_INVALID,
                    "%s: unpacks to more than %d times what the data takes packed, and to more "
                    "than %d MB: refused",
                    path, RATIO, (int)(room >> 20));
}

bool cbx_bundle_believes(const cbx_bundle *b, int64_t count)
{
    /* Isolated nodes and unused features take no bytes, so a sound file may claim
     * more than it shows; but not a thousand million out of a few lines. */
    return count >= 0 && (uint64_t)count <= ((uint64_t)1 << 16) + 64 * b->bytes;
}

const char *cbx_bundle_alone(const cbx_bundle *bundle, const char *ending)
{
    const char *name = cbx_bundle_ending(bundle, ending), *chosen = cbx_bundle_chosen(bundle);
    return name && !strchr(name, '/') && (!chosen || !strcmp(chosen, name)) ? name : NULL;
}

cbx_status cbx_bundle_need_alone(const cbx_bundle *bundle, const char *ending, const char **name,
                                 cbx_error *err)
{
    *name = cbx_bundle_alone(bundle, ending);
    if (!*name)
        *name = cbx_bundle_chosen(bundle);
    return *name ? CBX_OK
                 : cbx_fail(err, CBX_INVALID, "%s: no file called NAME%s", cbx_bundle_path(bundle),
                            ending);
}
