/* SPDX-License-Identifier: Apache-2.0 */
/* pt2.c: the archive. torch stores without packing and so does nobody else have to: what is packed
 * is refused, and no more is read than the file is long. */
#include "pt2.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "error.h"

static cbx_status zip_failure(const char *path, zip_error_t *why, cbx_error *err)
{
    bool       memory = zip_error_code_zip(why) == ZIP_ER_MEMORY;
    cbx_status status = memory ? cbx_fail_memory(err)
                               : cbx_fail(err, CBX_INVALID, "%s: not a .pt2 archive: %s", path,
                                          zip_error_strerror(why));
    zip_error_fini(why);
    return status;
}

/* The name below the archive's own folder; NULL for what programs do not need. */
static const char *wanted(const char *name)
{
    const char *below = name ? strchr(name, '/') : NULL;
    if (!below)
        return NULL;
    below++;
    size_t length = strlen(below);
    bool   json = length > 5 && !strcmp(below + length - 5, ".json");
    return (!strncmp(below, "models/", 7) && json) || !strncmp(below, "data/weights/", 13) ||
                   !strncmp(below, "data/constants/", 15) || !strcmp(below, "archive_format") ||
                   !strcmp(below, "archive_version") || !strcmp(below, "byteorder")
               ? below
               : NULL;
}

static cbx_status read_entry(zip_t *zip, zip_int64_t index, const char *path, uint64_t *left,
                             cbx_arena *arena, cbx_part *part, cbx_error *err)
{
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(zip, (zip_uint64_t)index, 0, &stat) ||
        (stat.valid & (ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD)) !=
            (ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD))
        return cbx_fail(err, CBX_INVALID, "%s: %s: cannot be read: %s", path, part->name,
                        zip_error_strerror(zip_get_error(zip)));
    if (stat.comp_method != ZIP_CM_STORE)
        return cbx_fail(err, CBX_INVALID, "%s: %s: is packed, but torch.export.save packs nothing",
                        path, part->name);
    if (stat.size > *left)
        return cbx_fail(err, CBX_INVALID, "%s: %s: %llu bytes, more than the file has left", path,
                        part->name, (unsigned long long)stat.size);
    *left -= stat.size;
    char       *bytes = CBX_NEW(arena, char, stat.size + 1);
    zip_file_t *file = bytes ? zip_fopen_index(zip, (zip_uint64_t)index, 0) : NULL;
    if (!bytes)
        return cbx_fail_memory(err);
    zip_int64_t got = file ? zip_fread(file, bytes, stat.size) : -1;
    cbx_status  status = CBX_OK;
    if (got < 0 || (zip_uint64_t)got != stat.size)
        status = cbx_fail(err, CBX_INVALID, "%s: %s: cannot be read: %s", path, part->name,
                          file ? zip_error_strerror(zip_file_get_error(file))
                               : zip_error_strerror(zip_get_error(zip)));
    /* one byte more, so that the checksum is looked at */
    else if (zip_fread(file, bytes + stat.size, 1) < 0)
        status = cbx_fail(err, CBX_INVALID, "%s: %s: damaged: %s", path, part->name,
                          zip_error_strerror(zip_file_get_error(file)));
    if (file)
        (void)zip_fclose(file);
    part->bytes = bytes;
    part->size = stat.size;
    return status;
}

static cbx_status read_all(zip_t *zip, const char *path, uint64_t size, cbx_arena *arena,
                           cbx_parts *out, cbx_error *err)
{
    zip_int64_t count = zip_get_num_entries(zip, 0);
    cbx_part   *part = CBX_NEW0(arena, cbx_part, count > 0 ? count : 0);
    cbx_status  status = part ? CBX_OK : cbx_fail_memory(err);
    *out = (cbx_parts){.path = path, .part = part};
    for (zip_int64_t i = 0; i < count && !status; i++) {
        const char *name = wanted(zip_get_name(zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW));
        if (!name)
            continue;
        part[out->count].name = cbx_arena_strdup(arena, name);
        status = part[out->count].name
                     ? read_entry(zip, i, path, &size, arena, &part[out->count], err)
                     : cbx_fail_memory(err);
        out->count++;
    }
    return status;
}

cbx_status cbx_pt2_open(const char *path, cbx_arena *arena, cbx_parts *out, cbx_error *err)
{
    struct stat about;
    zip_error_t why;
    if (stat(path, &about))
        return cbx_fail_errno(err, path, "open");
    if (!S_ISREG(about.st_mode)) {
        errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
        return cbx_fail_errno(err, path, "read");
    }
    zip_error_init(&why);
    zip_source_t *source = zip_source_file_create(path, 0, -1, &why);
    zip_t        *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
    if (!zip) {
        if (source)
            zip_source_free(source);
        return zip_failure(path, &why, err);
    }
    zip_error_fini(&why);
    cbx_status status = read_all(zip, path, (uint64_t)about.st_size, arena, out, err);
    zip_discard(zip);
    return status;
}

cbx_status cbx_parts_index(cbx_parts *parts, cbx_arena *arena, cbx_error *err)
{
    parts->by_name = (cbx_name_map){.arena = arena};
    for (size_t i = 0; i < parts->count; i++) {
        if (cbx_name_get(&parts->by_name, parts->part[i].name) >= 0)
            return cbx_fail(err, CBX_INVALID, "%s: %s: is there twice", parts->path,
                            parts->part[i].name);
        if (!cbx_name_put(&parts->by_name, parts->part[i].name, (int64_t)i))
            return cbx_fail_memory(err);
    }
    return CBX_OK;
}

const cbx_part *cbx_parts_find(const cbx_parts *parts, const char *name)
{
    int64_t at = cbx_name_get(&parts->by_name, name);
    return at < 0 ? NULL : &parts->part[at];
}

cbx_status cbx_parts_json(const cbx_parts *parts, const cbx_part *part, cbx_arena *arena,
                          const cbx_json **out, cbx_error *err)
{
    cbx_json_error why;
    cbx_status     status = cbx_json_parse(part->bytes, part->size, arena, out, &why);
    if (status == CBX_NO_MEMORY)
        return cbx_fail_memory(err);
    if (status)
        return cbx_fail(err, CBX_INVALID, "%s: %s: byte %zu: %s", parts->path, part->name,
                        why.position, why.text);
    return CBX_OK;
}
