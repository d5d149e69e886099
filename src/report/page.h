/* SPDX-License-Identifier: Apache-2.0 */
/* page.h: one HTML file that needs nothing else.
 *
 * A page is the shell (page/shell.html), the styles page/style.css and, where there is one,
 * page/KIND.css, the scripts page/common.js, page/KIND-*.js and page/KIND.js, and a JSON value
 * that they show. Names in the
 * value come from anywhere: they are data in the file, and the scripts show them as text. The
 * page's own policy names the hashes of its style and its script; nothing else runs, and nothing is
 * loaded. */
#ifndef CBX_PAGE_H
#define CBX_PAGE_H

#include "buffer.h"
#include "combinex/kit.h"

typedef struct cbx_page_asset {
    const char *name; /* "common.js"; NULL ends the list */
    const char *text; /* with a 0 behind it */
    size_t      size;
} cbx_page_asset;

extern const cbx_page_asset cbx_page_assets[]; /* made at build time: every file of page/ */

typedef struct cbx_page {
    const char       *kind;  /* which script: "explanation" is page/explanation.js */
    const char       *title; /* any UTF-8 text */
    const cbx_buffer *data;  /* JSON; where it ran out of memory, so does writing the page */
} cbx_page;

/* Writes it atomically. */
cbx_status cbx_page_write(const cbx_page *page, const char *path, cbx_error *err);

#endif
