/* SPDX-License-Identifier: Apache-2.0 */
/* LINQS: papers with words and a class, and who cites whom. */
#include "sheet_lines.h"

void fuzz_shape_linqs(fuzz_sheet *s)
{
    int64_t n = 2 + fuzz_below(s, 8), columns = 1 + fuzz_below(s, 3);
    fuzz_true_size(s, n, columns);
    fuzz_part(s, "c.content");
    for (int64_t i = 0; i < n; i++) {
        fuzz_put(s, "%lld\t", (long long)fuzz_tell_key(s, 10 + i));
        fuzz_put_row(s, i, columns, "\t");
        fuzz_true_y(s, i, (i + 1) % 2); /* in alphabetical order */
        fuzz_put(s, "%s%s", fuzz_lies(s) ? "" : "\t", fuzz_tell_name(s, i % 2 ? "AI" : "ML"));
        fuzz_end_line(s);
    }
    fuzz_part(s, "c.cites");
    fuzz_put_edges(s, n, 10, "\t");
    fuzz_true_rules(s, FUZZ_NO_LOOPS | FUZZ_BOTH_WAYS | FUZZ_ONCE);
}
