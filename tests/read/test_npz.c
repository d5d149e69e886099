/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy arrays: types, orders, headers of all versions, and what is refused. The
 * seeds of the fuzzers, which NumPy wrote, are read in test_readers.c. */
#include "arrays.h"
#include "bundle_case.h"

/* An .npy of this header and these bytes, as a bundle of one file. */
static cbx_status read_npy(const char *header, const void *bytes, size_t size, cbx_npy *out,
                           cbx_error *err)
{
    static char text[2048];
    cbx_reading r = {.err = err};
    size_t at = (size_t)snprintf(text, sizeof text, "==> a.npy <==\n"), length = strlen(header);
    memcpy(text + at, "\x93NUMPY\x01\x00", 8);
    text[at + 8] = (char)(length + 1);
    text[at + 9] = 0;
    memcpy(text + at + 10, header, length);
    text[at + 10 + length] = '\n';
    if (size)
        memcpy(text + at + 11 + length, bytes, size);
    *out = (cbx_npy){0};
    cbx_status status = cbx_bundle_memory(text, at + 11 + length + size, &r.bundle, err);
    if (!status)
        status = cbx_npy_read(&r, r.bundle, "a.npy", out);
    cbx_bundle_close(r.bundle);
    return status;
}

#define HEADER(type, order, shape) \
    "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

static void check_value(const char *header, const void *bytes, size_t size, int64_t i, double want)
{
    cbx_npy   npy;
    cbx_error err = {0};
    if (CHECK_OK(read_npy(header, bytes, size, &npy, &err), err))
        CHECK_NEAR(cbx_array_real(&npy.array, i), want, 0);
    cbx_npy_free(&npy);
}

TEST(arrays_of_all_kinds_of_numbers_are_read)
{
    check_value(HEADER("<f8", "False", "(2,)"), (double[]){1, 2.5}, 16, 1, 2.5);
    check_value(HEADER("<f4", "False", "(2,)"), (float[]){1, 2.5f}, 8, 1, 2.5);
    check_value(HEADER("<i8", "False", "(1,)"), (int64_t[]){-7}, 8, 0, -7);
    check_value(HEADER("<i4", "False", "(2, 1)"), (int32_t[]){1, -7}, 8, 1, -7);
    check_value(HEADER("<u2", "False", "(1L,)"), (uint16_t[]){65535}, 2, 0, 65535);
    check_value(HEADER("|b1", "False", "(3,)"), "\0\1\1", 3, 1, 1);
    check_value(HEADER("|i1", "False", "()"), "\xff", 1, 0, -1);
}

TEST(columns_first_is_turned_into_rows_first)
{
    /* [[1, 2, 3], [4, 5, 6]] column by column */
    const float columns[] = {1, 4, 2, 5, 3, 6};
    for (int i = 0; i < 6; i++)
        check_value(HEADER("<f4", "True", "(2, 3)"), columns, sizeof columns, i, i + 1);
}

static void check_npy_refused(const char *header, size_t size, const char *why)
{
    cbx_npy   npy;
    cbx_error err = {0};
    char      zeros[64] = "";
    CHECK_INT(read_npy(header, zeros, size, &npy, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, why);
    CHECK_CONTAINS(err.message, "a.npy");
    cbx_npy_free(&npy);
}

TEST(what_is_no_array_of_numbers_is_refused)
{
    check_npy_refused(HEADER("|O", "False", "(1,)"), 8, "Python objects");
    check_npy_refused(HEADER(">f4", "False", "(1,)"), 4, "big-endian");
    check_npy_refused(HEADER("<c8", "False", "(1,)"), 8, "cannot be read");
    check_npy_refused(HEADER("<f4", "False", "(3,)"), 8, "do not fit");
    check_npy_refused(HEADER("<f4", "False", "(-1,)"), 8, "not understood");
    check_npy_refused(HEADER("<f4", "False", "(4294967296, 4294967296, 4294967296)"), 8,
                      "do not fit");
    check_npy_refused("{'descr': '<f4', 'shape': (1,)}", 4, "not understood");
    check_npy_refused("{}", 0, "cannot be read");
}

TEST(texts_come_out_as_utf8)
{
    const uint32_t points[] = {0x5a, 0xfc, 0x4e2d, 0x1f600, 0, 0};
    cbx_arena      arena = {0};
    cbx_npy        npy;
    cbx_error      err = {0};
    if (CHECK_OK(read_npy(HEADER("<U6", "False", "(1,)"), points, sizeof points, &npy, &err), err))
        CHECK(!strcmp(cbx_array_text(&npy.array, 0, &arena),
                      "Z\xc3\xbc\xe4\xb8\xad\xf0\x9f\x98\x80"));
    cbx_npy_free(&npy);
    cbx_arena_free(&arena);
}
