/* SPDX-License-Identifier: Apache-2.0 */
/* download.h: one file from the network.
 *
 * Bytes go to PATH.part, which stays if the connection breaks and is gone on with
 * the next time; PATH appears when all of it is there and its sum is right. Only
 * https is spoken, apart from http to this machine itself, and redirections must
 * keep to that. */
#ifndef CBX_DOWNLOAD_H
#define CBX_DOWNLOAD_H

#include "combinex/kit.h"

typedef struct cbx_download {
    const char  *url, *path;
    const char  *sha256;  /* expected; "" or NULL: any */
    double       timeout; /* seconds without a byte */
    cbx_progress progress;
    void        *user;
    const char  *text;    /* for the progress */
    char         sum[65]; /* out: what it was */
} cbx_download;

cbx_status cbx_download_run(cbx_download *d, cbx_error *err);

/* The SHA-256 of a file. */
cbx_status cbx_file_sha256(const char *path, char hex[65], cbx_error *err);

/* Whether an address may be asked. */
bool cbx_url_allowed(const char *url);

/* Whether one may send us on to the other: from https to nothing less. */
bool cbx_url_may_lead(const char *from, const char *to);

#endif
