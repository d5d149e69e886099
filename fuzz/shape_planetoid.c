/* SPDX-License-Identifier: Apache-2.0 */
/* Planetoid: pickled sparse matrices, and a dict of neighbours. */
#include "sheet_pickle.h"

/* Of the nodes from `first` on. */
static void put_matrix(fuzz_sheet *s, const char *file, int64_t first, int64_t rows,
                       int64_t columns)
{
    fuzz_sparse m = fuzz_sparse_of(s, rows, columns);
    fuzz_true_sparse(s, &m, first);
    m.indptr.type = "i4";
    fuzz_part(s, file);
    fuzz_bytes(s, "\x80\x02", 2);
    fuzz_put(s, "cscipy.sparse.csr\ncsr_matrix\n");
    fuzz_bytes(s, ")\x81}(", 4);
    fuzz_pickle_word(s, "_shape");
    fuzz_pickle_int(s, fuzz_tell(s, rows));
    fuzz_pickle_int(s, fuzz_tell(s, columns));
    fuzz_bytes(s, "\x86", 1);
    fuzz_pickle_word(s, "indptr");
    fuzz_pickle_array(s, &m.indptr);
    fuzz_pickle_word(s, "indices");
    fuzz_pickle_array(s, &m.indices);
    fuzz_pickle_word(s, "data");
    fuzz_pickle_array(s, &m.data);
    fuzz_bytes(s, "ub.", 3);
}

static void put_classes(fuzz_sheet *s, const char *file, int64_t first, int64_t rows)
{
    fuzz_array hot = fuzz_array_of("i4", rows, 2);
    for (int64_t i = 0; i < rows; i++) {
        hot.values[2 * i + i % 2] = 1;
        fuzz_true_y(s, first + i, i % 2);
    }
    fuzz_part(s, file);
    fuzz_bytes(s, "\x80\x02", 2);
    fuzz_pickle_array(s, &hot);
    fuzz_bytes(s, ".", 1);
}

/* Training rows are the first of all; "allx" has all but the test's, behind which those come. */
void fuzz_shape_planetoid(fuzz_sheet *s)
{
    int64_t n = 4 + fuzz_below(s, 6), f = 1 + fuzz_below(s, 4), test = 1 + fuzz_below(s, 2);
    int64_t elsewhere = FUZZ_NODES; /* said again in "allx", which counts */
    put_matrix(s, "ind.d.x", elsewhere, 1, f);
    put_matrix(s, "ind.d.allx", 0, n - test, f);
    put_matrix(s, "ind.d.tx", n - test, test, f);
    put_classes(s, "ind.d.y", elsewhere, 1);
    put_classes(s, "ind.d.ally", 0, n - test);
    put_classes(s, "ind.d.ty", n - test, test);
    fuzz_part(s, "ind.d.graph");
    fuzz_bytes(s, "\x80\x02}(", 4);
    for (int64_t i = 0; i < n; i++) {
        fuzz_true_edge(s, i, i / 2, 1);
        fuzz_pickle_int(s, fuzz_tell_key(s, i));
        fuzz_pickle_list(s, i / 2, i / 2 + 1);
    }
    fuzz_bytes(s, "u.", 2);
    fuzz_part(s, "ind.d.test.index");
    for (int64_t i = n - test; i < n; i++)
        fuzz_put(s, "%lld\n", (long long)fuzz_tell_key(s, i));
    fuzz_true_rules(s, FUZZ_NO_LOOPS | FUZZ_BOTH_WAYS | FUZZ_ONCE);
    fuzz_true_size(s, n, f);
}
