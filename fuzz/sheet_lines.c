/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_lines.c: see sheet_lines.h. */
#include "sheet_lines.h"

void fuzz_end_line(fuzz_sheet *s)
{
    fuzz_put(s, "%s", fuzz_lies(s) ? (fuzz_below(s, 2) ? "" : "\n\n") : "\n");
}

int64_t fuzz_count_lines(fuzz_sheet *s, int64_t truth)
{
    return fuzz_lies(s) ? fuzz_below(s, truth + 3) : truth;
}

void fuzz_put_edges(fuzz_sheet *s, int64_t nodes, int64_t first, const char *between)
{
    for (int64_t e = fuzz_count_lines(s, 2 * nodes); e > 0; e--) {
        int64_t from = fuzz_below(s, nodes), to = fuzz_below(s, nodes);
        from = fuzz_tell(s, first + from);
        to = fuzz_tell(s, first + to);
        fuzz_true_edge(s, fuzz_less(from, first), fuzz_less(to, first), 1);
        fuzz_put(s, "%lld%s%lld", (long long)from, between, (long long)to);
        fuzz_end_line(s);
    }
}

void fuzz_put_row(fuzz_sheet *s, int64_t node, int64_t columns, const char *between)
{
    char text[40];
    columns = fuzz_count_lines(s, columns);
    for (int64_t j = 0; j < columns; j++) {
        double value = (double)fuzz_below(s, 9) / 4;
        fuzz_true_x(s, node, j, value);
        fuzz_put(s, "%s%s", j ? between : "", fuzz_tell_text(s, value, text));
    }
}

void fuzz_put_rows(fuzz_sheet *s, int64_t nodes, int64_t columns, const char *between)
{
    nodes = fuzz_count_lines(s, nodes);
    for (int64_t i = 0; i < nodes; i++) {
        fuzz_put_row(s, i, columns, between);
        fuzz_end_line(s);
    }
}

void fuzz_put_labels(fuzz_sheet *s, int64_t rows, int64_t classes)
{
    rows = fuzz_count_lines(s, rows);
    for (int64_t i = 0; i < rows; i++) {
        int64_t label = fuzz_tell(s, i % classes);
        fuzz_true_y(s, i, label);
        fuzz_put(s, "%lld", (long long)label);
        fuzz_end_line(s);
    }
}
