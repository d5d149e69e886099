/* SPDX-License-Identifier: Apache-2.0 */
/* table.h: delimited text with a header: commas, semicolons or tabs, whichever the
 * first line has most of; "quoted" fields, in which "" is a quote. */
#ifndef CBX_TABLE_H
#define CBX_TABLE_H

#include "reading.h"

typedef struct cbx_table {
    cbx_lines lines;
    char      delimiter;
    char    **fields; /* of the current row, num_fields of them */
    size_t    num_fields, room;
    char     *header; /* the first line, cut into: */
    char    **columns;
    size_t    num_columns;
} cbx_table;

/* Reads the first line, too. Close it in any case. */
cbx_status cbx_table_open(cbx_table *table, cbx_reading *r, const char *name);
/* The next row; *more is false past the last. Rows with other than num_columns
 * fields are problems, and left out. */
cbx_status cbx_table_next(cbx_table *table, bool *more);
void       cbx_table_close(cbx_table *table);

/* Whether the first line looks like a row: then it is the first of them again. */
bool cbx_table_headless(const cbx_table *table);

/* The first column with one of these names (a NULL-terminated list; case does not
 * matter), or -1. */
int cbx_table_column(const cbx_table *table, const char *const *names);

/* Whether a text is a number, and which. */
bool cbx_is_number(const char *text, double *value);

#endif
