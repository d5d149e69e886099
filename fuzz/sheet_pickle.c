/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_pickle.c: see sheet_pickle.h. */
#include "sheet_pickle.h"

#include <string.h>

static void put_size(fuzz_sheet *s, size_t truth)
{
    uint32_t told = (uint32_t)fuzz_tell(s, (int64_t)truth);
    fuzz_bytes(s, &told, 4);
}

void fuzz_pickle_int(fuzz_sheet *s, int64_t told)
{
    int32_t small = (int32_t)told;
    if (small == told) {
        fuzz_bytes(s, "J", 1);
        fuzz_bytes(s, &small, 4);
    } else {
        fuzz_bytes(s, "\x8a\x08", 2);
        fuzz_bytes(s, &told, 8);
    }
}

static void put_text(fuzz_sheet *s, const char *text)
{
    fuzz_bytes(s, "X", 1);
    put_size(s, strlen(text));
    fuzz_put(s, "%s", text);
}

void fuzz_pickle_array(fuzz_sheet *s, const fuzz_array *a)
{
    static const char *const kinds[] = {"f4", "f8", "i4", "i8", "b1", "u1",
                                        "O",  "U3", "i3", "",   NULL};
    uint8_t                  room[FUZZ_MOST_VALUES * 8];
    fuzz_sheet               values = fuzz_inner(s, room, sizeof room);
    size_t                   size = fuzz_put_values(&values, a);
    fuzz_inner_ends(s, &values);
    fuzz_put(s, "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n");
    fuzz_bytes(s,
               "K\0\x85"
               "C\x01"
               "b\x87R(K\x01",
               11);
    fuzz_pickle_int(s, fuzz_tell(s, a->shape[0]));
    if (a->rank == 2)
        fuzz_pickle_int(s, fuzz_tell(s, a->shape[1]));
    fuzz_bytes(s, a->rank == 2 ? "\x86" : "\x85", 1);
    fuzz_put(s, "cnumpy\ndtype\n");
    put_text(s, fuzz_tell_word(s, a->type, kinds));
    fuzz_bytes(s, "\x89\x88\x87R(K\x03", 7);
    put_text(s, fuzz_lies(s) ? ">" : "<");
    fuzz_bytes(s, "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb", 17);
    fuzz_bytes(s, fuzz_lies(s) ? "\x88" : "\x89", 1);
    fuzz_bytes(s, "B", 1);
    put_size(s, size);
    fuzz_bytes(s, room, size);
    fuzz_bytes(s, "tb", 2);
}

void fuzz_pickle_list(fuzz_sheet *s, int64_t from, int64_t to)
{
    fuzz_bytes(s, "](", 2);
    for (int64_t i = from; i < to; i++)
        fuzz_pickle_int(s, fuzz_tell_key(s, i));
    fuzz_bytes(s, "e", 1);
}

void fuzz_pickle_word(fuzz_sheet *s, const char *word)
{
    static const char *const others[] = {"adj",    "feat", "labels", "indptr",
                                         "_shape", "",     "x",      NULL};
    put_text(s, fuzz_tell_word(s, word, others));
}
