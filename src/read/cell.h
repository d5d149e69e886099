/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h: what a field of a table says: nothing, a number, a day, or a text. */
#ifndef CBX_CELL_H
#define CBX_CELL_H

typedef enum cbx_cell { CBX_CELL_MISSING, CBX_CELL_NUMBER, CBX_CELL_DAY, CBX_CELL_TEXT } cbx_cell;

/* Missing: an empty field, n/a, n.a., NA, #N/A, null, ? or -, in any case. Numbers may have
 * commas between thousands: 1,200.50. Days are 2024-03-15, perhaps with a time behind, which does
 * not count; the value is the number of days since 1970-01-01. */
cbx_cell cbx_cell_read(const char *text, double *value);

#endif
