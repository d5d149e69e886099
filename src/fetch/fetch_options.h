/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_options.h: the options of downloads as the library's own struct, and what takes it. */
#ifndef CBX_FETCH_OPTIONS_H
#define CBX_FETCH_OPTIONS_H

#include "combinex/kit.h"
#include "option_table.h"

typedef struct cbx_fetch_options {
    const char *from;      /* another address that has the files; NULL: the official one */
    const char *sha256;    /* of a set of one file; NULL: the published one, if any */
    double      timeout;   /* seconds without a byte */
    bool        overwrite; /* what is there already, too */
} cbx_fetch_options;

cbx_status cbx_dataset_fetch_with(const char *name, const char *folder,
                                  const cbx_fetch_options *options, cbx_progress progress,
                                  void *user, char **path, cbx_error *err);

#endif
