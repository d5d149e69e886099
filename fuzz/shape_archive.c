/* SPDX-License-Identifier: Apache-2.0 */
/* A zip archive of tables, stored as they are: sizes, places, sums, counts and names are told
 * three times over, in front of each file, in the list behind them and at the end. */
#include <string.h>
#include <zlib.h>

#include "shapes.h"

enum { MOST_FILES = 8, LARGEST = 8192 };

typedef struct entry {
    char     name[40];
    size_t   at, size; /* in the bundle */
    int64_t  place;    /* in the archive */
    uint32_t sum;
} entry;

static void put_number(fuzz_sheet *s, int64_t truth, size_t bytes)
{
    uint64_t told = (uint64_t)fuzz_tell(s, truth);
    uint8_t  text[4];
    for (size_t i = 0; i < bytes; i++)
        text[i] = (uint8_t)(told >> 8 * i);
    fuzz_bytes(s, text, bytes);
}

/* Cuts a bundle at its "==> NAME <==" lines; how many files. */
static int find_entries(const fuzz_sheet *bundle, entry *out)
{
    static const char mark[] = "==> ";
    int               count = 0;
    for (size_t i = 0; i + sizeof mark < bundle->used && count < MOST_FILES; i++) {
        const char *line = (const char *)bundle->at + i, *end;
        if (memcmp(line, mark, sizeof mark - 1) != 0)
            continue;
        const char *name = line + sizeof mark - 1;
        size_t      left = bundle->used - i - (sizeof mark - 1);
        if (!(end = memchr(name, '\n', left)) || end - name < 5 || end - name > 40)
            continue;
        entry *e = &out[count++];
        *e = (entry){.at = (size_t)((const uint8_t *)end + 1 - bundle->at)};
        memcpy(e->name, name, (size_t)(end - name) - 4); /* without " <==" */
        if (count > 1)
            e[-1].size = i - 1 > e[-1].at ? i - 1 - e[-1].at : 0;
        e->size = bundle->used - e->at;
    }
    return count;
}

/* What the two lists have in common, from the version on. */
static void put_common(fuzz_sheet *s, const entry *e, const char *name)
{
    put_number(s, 20, 2);
    put_number(s, 0, 2);          /* flags: packed with a password, or in UTF-8, … */
    put_number(s, 0, 2);          /* stored */
    put_number(s, 0x5a210000, 4); /* a day */
    put_number(s, e->sum, 4);
    put_number(s, (int64_t)e->size, 4);
    put_number(s, (int64_t)e->size, 4);
    put_number(s, (int64_t)strlen(name), 2);
    put_number(s, 0, 2);
}

static void put_file(fuzz_sheet *s, entry *e, const uint8_t *bytes)
{
    const char *name = fuzz_tell_name(s, e->name);
    e->place = (int64_t)s->used;
    e->sum = (uint32_t)crc32(0, bytes, (uInt)e->size);
    fuzz_bytes(s, "PK\3\4", 4);
    put_common(s, e, name);
    fuzz_put(s, "%s", name);
    fuzz_bytes(s, bytes, e->size);
}

static void put_listing(fuzz_sheet *s, const entry *e)
{
    const char *name = fuzz_tell_name(s, e->name);
    fuzz_bytes(s, "PK\1\2", 4);
    put_number(s, 20, 2);
    put_common(s, e, name);
    put_number(s, 0, 2); /* a comment, the disk, and what kind of file */
    put_number(s, 0, 2);
    put_number(s, 0, 2);
    put_number(s, 0, 4);
    put_number(s, e->place, 4);
    fuzz_put(s, "%s", name);
}

void fuzz_shape_archive(fuzz_sheet *s)
{
    uint8_t    room[LARGEST];
    entry      entries[MOST_FILES];
    fuzz_sheet bundle = fuzz_inner(s, room, sizeof room);
    bundle.odds = 0; /* what is in it has its own shape */
    fuzz_shape_csv(&bundle);
    fuzz_inner_ends(s, &bundle);
    int count = find_entries(&bundle, entries);
    for (int i = 0; i < count; i++)
        put_file(s, &entries[i], bundle.at + entries[i].at);
    int64_t list = (int64_t)s->used;
    for (int i = 0; i < count; i++)
        put_listing(s, &entries[i]);
    int64_t size = (int64_t)s->used - list;
    fuzz_bytes(s, "PK\5\6", 4);
    put_number(s, 0, 2); /* disks */
    put_number(s, 0, 2);
    put_number(s, count, 2);
    put_number(s, count, 2);
    put_number(s, size, 4);
    put_number(s, list, 4);
    put_number(s, 0, 2);
}
