/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_lines.h: lines of text, as many data sets have them. */
#ifndef CBX_SHEET_LINES_H
#define CBX_SHEET_LINES_H

#include "shapes.h"

/* A line ends, or does not, or twice. */
void fuzz_end_line(fuzz_sheet *s);

/* As many lines or fields as there are, or some more or less. */
int64_t fuzz_count_lines(fuzz_sheet *s, int64_t truth);

/* Lines "SOURCE between TARGET"; `first` is the number of the first node. */
void fuzz_put_edges(fuzz_sheet *s, int64_t nodes, int64_t first, const char *between);

/* A node's features. */
void fuzz_put_row(fuzz_sheet *s, int64_t node, int64_t columns, const char *between);

/* Lines of features, or of labels 0, 1, 0, … */
void fuzz_put_rows(fuzz_sheet *s, int64_t nodes, int64_t columns, const char *between);
void fuzz_put_labels(fuzz_sheet *s, int64_t rows, int64_t classes);

#endif
