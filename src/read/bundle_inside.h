/* SPDX-License-Identifier: Apache-2.0 */
/* bundle_inside.h: what a bundle is made of, for bundle.c and stream.c only. */
#ifndef CBX_BUNDLE_INSIDE_H
#define CBX_BUNDLE_INSIDE_H

#include <zip.h>

#include "bundle.h"

typedef struct cbx_file {
    char   *name;
    char   *opened;     /* its path, once it was opened on disk */
    size_t  begin, end; /* in memory */
    int64_t index;      /* in the archive */
} cbx_file;

struct cbx_bundle {
    char     *path;
    char     *folder; /* NULL: an archive, or memory */
    char     *chosen;
    char     *archive; /* on disk */
    char     *title;
    cbx_file *files;
    size_t    count, room;
    zip_t    *zip;
    uint64_t  bytes;  /* unpacked so far */
    uint64_t  packed; /* of the archive, or of the files read so far */

    const char    *memory;
    size_t         memory_size;
    unsigned char *owned; /* an archive that was read into memory */
};

/* Fails where so much came out of so little that it can only be meant to do harm. */
cbx_status cbx_bundle_bears(const cbx_bundle *bundle, const char *path, cbx_error *err);

cbx_file *cbx_bundle_file(cbx_bundle *bundle, const char *name);

#endif
