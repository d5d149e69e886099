/* SPDX-License-Identifier: Apache-2.0 */
/* A model of one layer. Its sizes are facts, then its weights. */
#include "sheet_tensors.h"

static void add_matrix(fuzz_tensors *f, const char *name, int64_t out, int64_t in)
{
    fuzz_array a = fuzz_array_of("f4", out, in);
    for (int64_t i = 0; i < a.count; i++) {
        a.values[i] = (double)fuzz_below(f->s, 64) / 4 - 8;
        fuzz_fact(f->s, a.values[i]);
    }
    fuzz_tensor(f, name, "F32", &a);
}

void fuzz_shape_model(fuzz_sheet *s)
{
    static const char *const architectures[] = {
        "\"arch\":\"{\\\"task\\\":\\\"node\\\",\\\"conv\\\":\\\"gcn\\\",\\\"jk\\\":\\\"last\\\","
        "\\\"dropout\\\":0.5}\"",
        "\"arch\":\"{\\\"task\\\":\\\"node\\\",\\\"conv\\\":\\\"cheb\\\",\\\"jk\\\":\\\"last\\\"}"
        "\"",
        "\"arch\":\"{\\\"task\\\":\\\"graph\\\",\\\"conv\\\":\\\"graphconv\\\",\\\"jk\\\":"
        "\\\"last\\\","
        "\\\"pool\\\":\\\"max\\\",\\\"aggr\\\":\\\"mean\\\"}\"",
        "\"arch\":\"{\\\"task\\\":\\\"node\\\",\\\"conv\\\":\\\"gcn\\\",\\\"jk\\\":\\\"cat\\\","
        "\\\"dropout\\\":-7}\"",
        "\"arch\":\"{}\"",
        "\"data\":\"d\"",
        NULL};
    int64_t in = 1 + fuzz_below(s, 4), hidden = 1 + fuzz_below(s, 3),
            classes = 2 + fuzz_below(s, 3);
    int64_t      conv = fuzz_below(s, 3);
    fuzz_tensors f;
    fuzz_fact(s, (double)in);
    fuzz_fact(s, (double)hidden);
    fuzz_fact(s, (double)classes);
    fuzz_tensors_begin(&f, s);
    if (conv == 0) {
        add_matrix(&f, "layers.0.lin.weight", hidden, in);
        add_matrix(&f, "layers.0.bias", hidden, 0);
    } else if (conv == 1) {
        add_matrix(&f, "layers.0.lins.0.weight", hidden, in);
        add_matrix(&f, "layers.0.lins.1.weight", hidden, in);
        add_matrix(&f, "layers.0.bias", hidden, 0);
    } else {
        add_matrix(&f, "layers.0.lin_rel.weight", hidden, in);
        add_matrix(&f, "layers.0.lin_rel.bias", hidden, 0);
        add_matrix(&f, "layers.0.lin_root.weight", hidden, in);
    }
    add_matrix(&f, "output_layer.weight", classes, hidden);
    add_matrix(&f, "output_layer.bias", classes, 0);
    fuzz_tensors_end(&f, fuzz_tell_word(s, architectures[conv], architectures));
}
