/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: numbers, texts, labels and a split. */
#include <stdio.h>

#include "sheet_lines.h"

static const char *const headings[] = {"id", "label",  "split", "x0", "",
                                       "\"", "target", "t0",    NULL};
static const char *const texts[] = {"Rome", "\"Oslo, \"\"NO\"\"\"", "", "1", "\"", "\xff\xfe",
                                    NULL};

static void put_edges(fuzz_sheet *s, int64_t n)
{
    bool weighted = fuzz_below(s, 2);
    char text[40];
    fuzz_part(s, "edges.csv");
    fuzz_put(s, "source,target%s\n", weighted ? ",weight" : "");
    for (int64_t e = fuzz_count_lines(s, n); e > 0; e--) {
        int64_t from = fuzz_below(s, n), to = fuzz_below(s, n);
        double  weight = weighted ? (double)(1 + fuzz_below(s, 8)) / 4 : 1;
        from = fuzz_tell(s, from);
        to = fuzz_tell(s, to);
        fuzz_true_edge(s, from, to, weight);
        fuzz_put(s, "n%lld,n%lld", (long long)from, (long long)to);
        if (weighted)
            fuzz_put(s, ",%s", fuzz_tell_text(s, weight, text));
        fuzz_end_line(s);
    }
}

/* Texts become a column each, in alphabetical order: Oslo, then Rome. */
void fuzz_shape_csv(fuzz_sheet *s)
{
    static const char *const splits[] = {"train", "val", "test", "", "tset", NULL};
    int64_t                  n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 3);
    char                     name[24];
    put_edges(s, n);
    fuzz_part(s, "features.csv");
    fuzz_put(s, "%s", fuzz_tell_word(s, "id", headings));
    for (int64_t j = 0; j < columns; j++) {
        (void)snprintf(name, sizeof name, "x%lld", (long long)j);
        fuzz_put(s, ",%s", fuzz_tell_word(s, name, headings));
    }
    fuzz_put(s, ",%s,%s,%s\n", fuzz_tell_word(s, "town", headings),
             fuzz_tell_word(s, "label", headings), fuzz_tell_word(s, "split", headings));
    int64_t rows = fuzz_count_lines(s, n);
    for (int64_t i = 0; i < rows; i++) {
        fuzz_put(s, "n%lld,", (long long)fuzz_tell_key(s, i));
        fuzz_put_row(s, i, columns, ",");
        fuzz_true_x(s, i, columns + (i + 1) % 2, 1);
        fuzz_true_y(s, i, (i + 1) % 2);
        fuzz_put(s, ",%s,%s,%s", fuzz_tell_word(s, texts[i % 2], texts),
                 fuzz_tell_word(s, i % 2 ? "a" : "b", texts),
                 fuzz_tell_word(s, splits[i % 3], splits));
        fuzz_end_line(s);
    }
    fuzz_true_size(s, n, columns + 2);
}
