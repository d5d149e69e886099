/* SPDX-License-Identifier: Apache-2.0 */
/* line_file.h: lines that are kept as they come, so that killing the process loses none of them.
 * What a crash cut short, the last line of a file, does not count. */
#ifndef CBX_LINE_FILE_H
#define CBX_LINE_FILE_H

#include <stddef.h>

#include "combinex.h"

/* To be appended to. */
typedef struct cbx_line_file {
    int    fd; /* -1: none */
    char  *path;
    double synced; /* when */
} cbx_line_file;

/* No other process can have it open; where the file system knows no locks, it can. */
cbx_status cbx_line_file_open(cbx_line_file *file, const char *path, cbx_error *err);

/* Begins anew: what was there may end in the middle of a line. */
cbx_status cbx_line_file_clear(cbx_line_file *file, cbx_error *err);

/* The text, whole lines, is with the operating system when this returns; and on the disk within a
 * moment or after cbx_line_file_sync. */
cbx_status cbx_line_file_add(cbx_line_file *file, const char *text, size_t size, cbx_error *err);
cbx_status cbx_line_file_sync(cbx_line_file *file, cbx_error *err);
void       cbx_line_file_close(cbx_line_file *file);

/* The whole of a file as text, to be freed, and NULL where there is none. */
cbx_status cbx_text_read(const char *path, char **text, size_t *size, cbx_error *err);

/* The next line that ends, without its end; NULL: there is none. *text moves on. */
char *cbx_line_next(char **text);

#endif
