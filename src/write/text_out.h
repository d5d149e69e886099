/* SPDX-License-Identifier: Apache-2.0 */
/* text_out.h: text into a file that appears whole or not at all. The first failure
 * is kept, so that writers need not look after every line. */
#ifndef CBX_TEXT_OUT_H
#define CBX_TEXT_OUT_H

#include "atomic_folder.h"
#include "combinex/kit.h"

typedef struct cbx_text_out {
    cbx_atomic_file    file;
    cbx_atomic_folder *folder; /* NULL: a file of its own */
    const char        *name;   /* in the folder */
    cbx_error         *err;
    cbx_status         status;
    size_t             used;
    char               buffer[1 << 14];
} cbx_text_out;

cbx_status cbx_text_open(cbx_text_out *out, const char *path, cbx_error *err);
/* A file of a folder, with which it takes its place. */
cbx_status cbx_text_open_in(cbx_text_out *out, cbx_atomic_folder *folder, const char *name,
                            cbx_error *err);
void       cbx_text_put(cbx_text_out *out, const char *text);
void       cbx_text_print(cbx_text_out *out, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* With & < > " and control characters as XML wants them. */
void cbx_text_xml(cbx_text_out *out, const char *text);
/* A number with as many digits as a float needs. */
void cbx_text_float(cbx_text_out *out, float value);
/* Puts the file in place, or hands it to its folder, unless something failed. */
cbx_status cbx_text_close(cbx_text_out *out);

#endif
