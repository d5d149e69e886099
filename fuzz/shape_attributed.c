/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of attributed graphs: lists of edges, labels from 1 on, and entries of features. */
#include "sheet_lines.h"

void fuzz_shape_attributed(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 5);
    char    text[40];
    fuzz_part(s, "edgelist.txt");
    fuzz_put_edges(s, n, 0, " ");
    fuzz_part(s, "labels.txt");
    for (int64_t i = 0; i < n; i++) {
        int64_t label = fuzz_tell(s, 1 + i % 2);
        fuzz_true_y(s, i, fuzz_less(label, 1));
        fuzz_put(s, "%lld %lld", (long long)fuzz_tell_key(s, i), (long long)label);
        fuzz_end_line(s);
    }
    fuzz_part(s, "tfidf.txt");
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++) {
            double value = (double)(1 + fuzz_below(s, 8)) / 4;
            fuzz_true_x(s, i, j, value);
            fuzz_put(s, "%lld\t%lld\t%s", (long long)fuzz_tell_key(s, i),
                     (long long)fuzz_tell_key(s, j), fuzz_tell_text(s, value, text));
            fuzz_end_line(s);
        }
    fuzz_true_size(s, n, columns);
}
