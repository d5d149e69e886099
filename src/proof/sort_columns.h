/* SPDX-License-Identifier: Apache-2.0 */
/* sort_columns.h: sorts each column of a table, all of them side by side.
 *
 * By Batcher's merging network: which rows are compared does not depend on what is in them, so a
 * processor compares as many columns at once as fit into a register. */
#ifndef CBX_SORT_COLUMNS_H
#define CBX_SORT_COLUMNS_H

#include <stdint.h>

/* The largest first; of has rows x width numbers. */
void cbx_sort_columns_down(double *of, int64_t rows, int64_t width);

/* The least first. */
void cbx_sort_columns_up(double *of, int64_t rows, int64_t width);

#endif
