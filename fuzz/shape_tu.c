/* SPDX-License-Identifier: Apache-2.0 */
/* TU data sets: one or two graphs; edges within the first. */
#include "sheet_lines.h"

void fuzz_shape_tu(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), graphs = 1 + fuzz_below(s, 2), columns = 1 + fuzz_below(s, 3);
    int64_t half = graphs > 1 ? n / 2 : n;
    bool    labelled = fuzz_below(s, 2);
    fuzz_part(s, "DS_A.txt");
    fuzz_put_edges(s, half, 1, ", ");
    fuzz_true_rules(s, FUZZ_NO_LOOPS | FUZZ_ONCE);
    fuzz_part(s, "DS_graph_indicator.txt");
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "%lld", (long long)fuzz_tell_key(s, i < half ? 1 : 2));
        fuzz_end_line(s);
    }
    fuzz_part(s, "DS_graph_labels.txt");
    fuzz_put_labels(s, graphs, 2);
    fuzz_true_classes(s, graphs);
    fuzz_part(s, "DS_node_attributes.txt");
    fuzz_put_rows(s, n, columns, ", ");
    if (labelled) {
        fuzz_part(s, "DS_node_labels.txt");
        for (int64_t i = 0; i < n; i++) {
            fuzz_true_x(s, i, columns + i % 2, 1); /* behind the attributes */
            fuzz_put(s, "%lld", (long long)fuzz_tell_key(s, 3 + i % 2));
            fuzz_end_line(s);
        }
    }
    fuzz_true_size(s, n, columns + (labelled ? 2 : 0));
    s->truth->graphs = graphs;
}
