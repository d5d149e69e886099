/* SPDX-License-Identifier: Apache-2.0 */
/* A pickled dict of arrays. */
#include "sheet_pickle.h"

void fuzz_shape_motif_pickle(fuzz_sheet *s)
{
    int64_t    n = 2 + fuzz_below(s, 6), f = 1 + fuzz_below(s, 4);
    fuzz_array adjacency = fuzz_array_of("f8", n, n), x = fuzz_some_values(s, "f8", n, f);
    fuzz_array labels = fuzz_some_labels(s, n, 0);
    for (int64_t i = 0; i < n; i++) {
        adjacency.values[i * n + (i + 1) % n] = 1;
        fuzz_true_edge(s, i, (i + 1) % n, 1);
    }
    fuzz_true_features(s, &x, 0);
    fuzz_true_size(s, n, f);
    fuzz_part(s, "s.pickle");
    fuzz_bytes(s, "\x80\x03}(", 4);
    fuzz_pickle_word(s, "adj");
    fuzz_pickle_array(s, &adjacency);
    fuzz_pickle_word(s, "feat");
    fuzz_pickle_array(s, &x);
    fuzz_pickle_word(s, "labels");
    fuzz_pickle_array(s, &labels);
    fuzz_pickle_word(s, "train_idx");
    fuzz_pickle_list(s, 0, n / 2);
    fuzz_pickle_word(s, "test_idx");
    fuzz_pickle_list(s, n / 2, n);
    fuzz_bytes(s, "u.", 2);
}
