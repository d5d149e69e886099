/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue.h: data sets that are known by name and can be downloaded. */
#ifndef CBX_CATALOGUE_H
#define CBX_CATALOGUE_H

#include "combinex/kit.h"

typedef struct cbx_remote_file {
    const char *url, *name;
    const char *sha256; /* "": not known */
} cbx_remote_file;

typedef struct cbx_remote_set {
    const char *name, *about;
    const char *member; /* to be unpacked from the archive; NULL: none */
    size_t      first, count;
} cbx_remote_set;

/* False: not known. */
bool                   cbx_catalogue_find(const char *name, cbx_remote_set *out);
const cbx_remote_file *cbx_catalogue_file(const cbx_remote_set *set, size_t i);

#endif
