/* SPDX-License-Identifier: Apache-2.0 */
/* geom-gcn's text files: features as values, or as the columns that are 1. */
#include "sheet_lines.h"

void fuzz_shape_geom_gcn(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 4);
    bool    listed = fuzz_below(s, 2);
    fuzz_part(s, "out1_node_feature_label.txt");
    if (listed)
        fuzz_put(s, "node_id\tfeature(feature_amount:%lld)\tlabel\n",
                 (long long)fuzz_tell(s, columns));
    else
        fuzz_put(s, "node_id\tfeature\tlabel\n");
    for (int64_t i = 0; i < n; i++) {
        int64_t column = i ? fuzz_below(s, columns) : columns - 1; /* the last is somebody's */
        fuzz_put(s, "%lld\t", (long long)fuzz_tell_key(s, i));
        if (listed) {
            fuzz_true_x(s, i, column, 1);
            fuzz_put(s, "%lld", (long long)fuzz_tell_key(s, column));
        } else {
            fuzz_put_row(s, i, columns, ",");
        }
        int64_t label = fuzz_tell(s, i % 2);
        fuzz_true_y(s, i, label);
        fuzz_put(s, "\t%lld", (long long)label);
        fuzz_end_line(s);
    }
    fuzz_part(s, "out1_graph_edges.txt");
    fuzz_put(s, "node_id\tnode_id\n");
    fuzz_put_edges(s, n, 0, "\t");
    fuzz_true_rules(s, FUZZ_ONCE);
    fuzz_true_size(s, n, columns);
}
