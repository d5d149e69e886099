/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_tensors.c: see sheet_tensors.h. */
#include "sheet_tensors.h"

static const char *const kinds[] = {"F64", "F32", "I64", "I32", "U8", "BOOL", "F16", "", NULL};

void fuzz_tensors_begin(fuzz_tensors *f, fuzz_sheet *s)
{
    f->s = s;
    f->header = fuzz_inner(s, f->header_room, sizeof f->header_room);
    f->data = fuzz_inner(s, f->data_room, sizeof f->data_room);
    f->header.rng = cbx_rng_stream(cbx_rng_next(&s->rng), 0, 0, 0);
    f->data.rng = cbx_rng_stream(cbx_rng_next(&s->rng), 0, 0, 0);
    fuzz_put(&f->header, "{");
}

void fuzz_tensor(fuzz_tensors *f, const char *name, const char *kind, const fuzz_array *a)
{
    static const char *const others[] = {"edge_index", "x", "y", "x.shape", "", "graph_ptr", NULL};
    fuzz_sheet              *h = &f->header;
    size_t                   begins = f->data.used;
    (void)fuzz_put_values(&f->data, a);
    fuzz_put(h, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", h->used > 1 ? "," : "",
             fuzz_tell_word(h, name, others), fuzz_tell_word(h, kind, kinds));
    for (int d = 0; d < a->rank; d++)
        fuzz_put(h, "%s%lld", d ? "," : "", (long long)fuzz_tell(h, a->shape[d]));
    fuzz_put(h, "],\"data_offsets\":[%lld,%lld]}", (long long)fuzz_tell(h, (int64_t)begins),
             (long long)fuzz_tell(h, (int64_t)f->data.used));
}

void fuzz_tensors_end(fuzz_tensors *f, const char *notes)
{
    fuzz_sheet *h = &f->header;
    fuzz_put(h, ",\"__metadata__\":{%s}}", notes);
    while (h->used % 8)
        fuzz_put(h, " ");
    int64_t size = fuzz_tell(f->s, (int64_t)h->used);
    fuzz_bytes(f->s, &size, 8);
    fuzz_bytes(f->s, h->at, h->used);
    fuzz_bytes(f->s, f->data.at, f->data.used);
}
