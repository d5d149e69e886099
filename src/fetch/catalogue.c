/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue.c: the table of catalogue.def. The file is read twice: once for sets and
 * once for files, and a set's files are those between it and the next. */
#include "catalogue.h"

#include <string.h>

typedef struct entry { /* a set, where it has a name, or a file */
    const char     *name, *about, *member;
    cbx_remote_file file;
} entry;

static const entry entries[] = {
#define SET(name_, about_, member_) {.name = name_, .about = about_, .member = member_},
#define FILE(url_, name_, sum_) {.file = {url_, name_, sum_}},
#include "catalogue.def"
#undef SET
#undef FILE
};

enum { COUNT = sizeof entries / sizeof *entries };

static cbx_remote_set set_at(size_t at)
{
    cbx_remote_set set = {entries[at].name, entries[at].about, entries[at].member, at + 1, 0};
    while (set.first + set.count < COUNT && !entries[set.first + set.count].name)
        set.count++;
    return set;
}

bool cbx_catalogue_find(const char *name, cbx_remote_set *out)
{
    for (size_t i = 0; i < COUNT; i++)
        if (entries[i].name && !strcmp(entries[i].name, name)) {
            *out = set_at(i);
            return true;
        }
    return false;
}

const cbx_remote_file *cbx_catalogue_file(const cbx_remote_set *set, size_t i)
{
    return &entries[set->first + i].file;
}

const char *cbx_remote_name(size_t i)
{
    for (size_t at = 0; at < COUNT; at++)
        if (entries[at].name && i-- == 0)
            return entries[at].name;
    return NULL;
}

const char *cbx_remote_about(const char *name)
{
    cbx_remote_set set;
    return cbx_catalogue_find(name, &set) ? set.about : NULL;
}
