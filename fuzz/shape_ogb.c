/* SPDX-License-Identifier: Apache-2.0 */
/* OGB's node-property sets, with a split. */
#include <stdio.h>

#include "sheet_lines.h"

void fuzz_shape_ogb(fuzz_sheet *s)
{
    static const char *const parts[] = {"train", "valid", "test"};
    int64_t                  n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 3);
    char                     name[40];
    fuzz_part(s, "raw/edge.csv");
    fuzz_put_edges(s, n, 0, ",");
    fuzz_part(s, "raw/num-node-list.csv");
    fuzz_put(s, "%lld\n", (long long)fuzz_tell(s, n));
    fuzz_part(s, "raw/node-feat.csv");
    fuzz_put_rows(s, n, columns, ",");
    fuzz_part(s, "raw/node-label.csv");
    fuzz_put_labels(s, n, 2);
    for (int part = 0; part < 3; part++) {
        (void)snprintf(name, sizeof name, "split/time/%s.csv", parts[part]);
        fuzz_part(s, name);
        for (int64_t i = part; i < n; i += 3) {
            fuzz_put(s, "%lld", (long long)fuzz_tell(s, i));
            fuzz_end_line(s);
        }
    }
    fuzz_true_size(s, n, columns);
}
