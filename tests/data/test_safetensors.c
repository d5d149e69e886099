/* SPDX-License-Identifier: Apache-2.0 */
/* The container: what is written comes back, and no file, however broken, does
 * worse than a message that says which file, which tensor and which numbers. */
#include "safetensors.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

/* A file with this header (`length` bytes of it) and `data_size` bytes 1, 2, 3, … */
static const char *file_of(const char *header, size_t length, size_t data_size)
{
    const char    *path = test_path("bad.safetensors");
    uint64_t       prefix = length;
    unsigned char *bytes = malloc(8 + length + data_size);
    memcpy(bytes, &prefix, 8);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < data_size; i++)
        bytes[8 + length + i] = (unsigned char)(i + 1);
    test_write_file(path, bytes, 8 + length + data_size);
    free(bytes);
    return path;
}

/* Opening `path` fails with this status, naming the path and each of the parts up
 * to a NULL. */
static void check_fails(const char *path, cbx_status status, ...)
{
    cbx_tensor_file *f = (cbx_tensor_file *)&f;
    cbx_error        err = {0};
    va_list          parts;
    CHECK_INT(cbx_tensors_open(path, &f, &err), status);
    CHECK(f == NULL);
    CHECK_INT(err.status, status);
    CHECK_CONTAINS(err.message, path);
    va_start(parts, status);
    for (const char *part; (part = va_arg(parts, const char *));)
        CHECK_CONTAINS(err.message, part);
    va_end(parts);
    CHECK_INT(cbx_tensors_open(path, &f, NULL), status);
}

#define REJECTS(header, data_size, ...) \
    check_fails(file_of((header), strlen(header), (data_size)), CBX_INVALID, __VA_ARGS__, NULL)

static bool accepts(const char *header, size_t data_size)
{
    cbx_tensor_file *f;
    cbx_error        err = {0};
    bool ok = CHECK_OK(cbx_tensors_open(file_of(header, strlen(header), data_size), &f, &err), err);
    cbx_tensors_close(f);
    return ok;
}

/* ---- a file with everything in it */

static const double  doubles[2] = {1.5, -2.25};
static const float   floats[6] = {1, 2, 3, 4, 5, 6};
static const int64_t longs[3] = {-1, 0, INT64_MAX};
static const int32_t ints[4] = {7, -8, 9, INT32_MIN};
static const uint8_t bytes5[5] = {0, 1, 2, 254, 255};

static const cbx_tensor everything[] = {
    {.name = "bytes", .dtype = CBX_U8, .rank = 1, .shape = {5}, .data = bytes5},
    {.name = "floats", .dtype = CBX_F32, .rank = 2, .shape = {2, 3}, .data = floats},
    {.name = "nothing", .dtype = CBX_F32, .rank = 2, .shape = {0, 3}, .data = floats},
    {.name = "longs", .dtype = CBX_I64, .rank = 1, .shape = {3}, .data = longs},
    {.name = "cube", .dtype = CBX_I32, .rank = 3, .shape = {2, 1, 2}, .data = ints},
    {.name = "scalar", .dtype = CBX_F64, .rank = 0, .data = doubles + 1},
    {.name = "Größe \"quoted\"", .dtype = CBX_F64, .rank = 1, .shape = {2}, .data = doubles},
};
static const cbx_meta notes[] = {{"name", "a \"test\"\n\\"}, {"schlüssel", "größe → 1"}, {"", ""}};

enum { EVERYTHING = sizeof everything / sizeof *everything };

static cbx_status write_everything(const char *path, cbx_error *err)
{
    return cbx_tensors_write(path, everything, EVERYTHING, notes, 3, err);
}

static size_t size_of(cbx_dtype dtype)
{
    return dtype == CBX_F64 || dtype == CBX_I64 ? 8 : dtype == CBX_U8 ? 1 : 4;
}

static void check_everything(const cbx_tensor_file *f)
{
    CHECK_INT((int64_t)f->count, EVERYTHING);
    CHECK_INT((int64_t)f->meta_count, 3);
    for (int i = 0; i < EVERYTHING; i++) {
        const cbx_tensor *want = &everything[i], *t = cbx_tensors_find(f, want->name);
        if (!CHECK(t != NULL))
            continue;
        int64_t count = 1;
        CHECK(t->dtype == want->dtype);
        CHECK_INT(t->rank, want->rank);
        for (int32_t k = 0; k < want->rank; k++) {
            CHECK_INT(t->shape[k], want->shape[k]);
            count *= want->shape[k];
        }
        CHECK_INT(t->count, count);
        CHECK((uintptr_t)t->data % size_of(want->dtype) == 0);
        CHECK(!memcmp(t->data, want->data, (size_t)count * size_of(want->dtype)));
    }
    for (int i = 0; i < 3; i++) {
        const char *value = cbx_tensors_meta(f, notes[i].key);
        CHECK(value && !strcmp(value, notes[i].value));
    }
    CHECK(!cbx_tensors_find(f, "no such"));
    CHECK(!cbx_tensors_meta(f, "no such"));
}

TEST(what_is_written_is_read_back)
{
    const char      *path = test_path("good.safetensors");
    cbx_tensor_file *f = NULL;
    cbx_error        err = {0};
    CHECK_OK(write_everything(path, &err), err);
    if (CHECK_OK(cbx_tensors_open(path, &f, &err), err))
        check_everything(f);
    cbx_tensors_close(f);
    cbx_tensors_close(NULL);
}

TEST(a_written_file_has_an_aligned_header_and_wide_elements_first)
{
    const char *path = test_path("good.safetensors");
    size_t      size = 0;
    uint64_t    length = 0;
    CHECK_INT(write_everything(path, NULL), CBX_OK);
    unsigned char *bytes = test_read_file(path, &size);
    memcpy(&length, bytes, 8);
    CHECK_INT((int64_t)(length % 8), 0);
    /* 2 + 1 doubles, 3 longs, 6 floats, 4 ints, 5 bytes; the scalar is the first */
    CHECK_INT((int64_t)(size - 8 - length), 3 * 8 + 3 * 8 + 6 * 4 + 4 * 4 + 5);
    CHECK(!memcmp(bytes + size - 5, bytes5, 5));
    cbx_tensor_file *f = NULL;
    CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK);
    for (size_t i = 1; f && i < f->count; i++)
        CHECK(size_of(f->tensors[i - 1].dtype) >= size_of(f->tensors[i].dtype));
    cbx_tensors_close(f);
    free(bytes);
}

TEST(the_same_content_gives_the_same_bytes)
{
    size_t      a = 0, b = 0;
    const char *one = test_path("one"), *two = test_path("two");
    CHECK_INT(write_everything(one, NULL), CBX_OK);
    CHECK_INT(write_everything(two, NULL), CBX_OK);
    unsigned char *x = test_read_file(one, &a), *y = test_read_file(two, &b);
    CHECK(x && y && a == b && !memcmp(x, y, a));
    free(x);
    free(y);
}

TEST(a_file_may_be_empty_of_tensors_and_of_metadata)
{
    const char      *path = test_path("empty.safetensors");
    cbx_tensor_file *f = NULL;
    CHECK_INT(cbx_tensors_write(path, NULL, 0, NULL, 0, NULL), CBX_OK);
    CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK);
    CHECK(f && f->count == 0 && f->meta_count == 0);
    cbx_tensors_close(f);
    accepts("{}", 0);
    accepts("{}      ", 0);
    accepts("{\"__metadata__\":{}}", 0);
}

TEST(a_text_that_is_not_utf8_is_an_error_and_writes_nothing)
{
    const char *path = test_path("latin1.safetensors");
    cbx_error   err = {0};
    CHECK_INT(cbx_tensors_write(path, NULL, 0, &(cbx_meta){"data", "caf\xe9"}, 1, &err),
              CBX_INVALID);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "data");
    CHECK_CONTAINS(err.message, "UTF-8");
    CHECK(access(path, F_OK) != 0);
    cbx_tensor t = {.name = "\xff", .dtype = CBX_U8, .rank = 1, .shape = {1}, .data = bytes5};
    CHECK_INT(cbx_tensors_write(path, &t, 1, NULL, 0, &err), CBX_INVALID);
    CHECK(access(path, F_OK) != 0);
}

TEST(writing_where_there_is_no_folder_is_an_error)
{
    const char *path = test_path("no/such/folder.safetensors");
    cbx_error   err = {0};
    CHECK_INT(write_everything(path, &err), CBX_IO);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "No such file or directory");
}

/* A limit on the size of files stands in for a full disk. */
TEST(a_write_that_fails_half_way_keeps_the_old_file)
{
    const char   *path = test_path("half.safetensors");
    struct rlimit before, tight;
    cbx_error     err = {0};
    CHECK_INT(cbx_tensors_write(path, NULL, 0, notes, 1, NULL), CBX_OK);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    tight = before;
    tight.rlim_cur = 400; /* the header is longer */
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
    cbx_status status = write_everything(path, &err);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    CHECK_INT(status, CBX_IO);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "File too large");
    cbx_tensor_file *f = NULL;
    CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK);
    CHECK(f && f->count == 0 && f->meta_count == 1);
    cbx_tensors_close(f);
}

/* ---- asking for a tensor */

TEST(a_tensor_of_another_type_or_shape_is_an_error_that_says_both)
{
    const char       *path = test_path("good.safetensors");
    cbx_tensor_file  *f = NULL;
    const cbx_tensor *t = NULL;
    cbx_error         err = {0};
    CHECK_INT(write_everything(path, NULL), CBX_OK);
    if (!CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK))
        return;
    CHECK_INT(cbx_tensors_get(f, "floats", CBX_F32, 2, (int64_t[]){-1, 3}, &t, &err), CBX_OK);
    CHECK(t == cbx_tensors_find(f, "floats"));
    CHECK_INT(cbx_tensors_get(f, "none", CBX_F32, 2, (int64_t[]){-1, 3}, &t, &err), CBX_OK);
    CHECK(t == NULL);
    CHECK_INT(cbx_tensors_get(f, "floats", CBX_I64, 2, (int64_t[]){2, 3}, &t, &err), CBX_INVALID);
    CHECK(t == NULL);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "'floats' has dtype F32, I64 expected");
    CHECK_INT(cbx_tensors_get(f, "floats", CBX_F32, 2, (int64_t[]){-1, 4}, &t, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "'floats' has the shape [2, 3], [any, 4] expected");
    CHECK_INT(cbx_tensors_get(f, "floats", CBX_F32, 1, (int64_t[]){6}, &t, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "[6] expected");
    CHECK_INT(cbx_tensors_get(f, "scalar", CBX_F64, 1, (int64_t[]){1}, &t, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "'scalar' has the shape [], [1] expected");
    cbx_tensors_close(f);
}

TEST(bool_is_taken_for_u8_but_not_u8_for_bool)
{
    const char       *header = "{\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]},"
                               "\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}";
    cbx_tensor_file  *f = NULL;
    const cbx_tensor *t = NULL;
    if (!CHECK_INT(cbx_tensors_open(file_of(header, strlen(header), 3), &f, NULL), CBX_OK))
        return;
    CHECK_INT(cbx_tensors_get(f, "b", CBX_U8, 1, (int64_t[]){2}, &t, NULL), CBX_OK);
    CHECK(t && ((const uint8_t *)t->data)[1] == 2);
    CHECK_INT(cbx_tensors_get(f, "u", CBX_BOOL, 1, (int64_t[]){1}, &t, NULL), CBX_INVALID);
    cbx_tensors_close(f);
}

TEST(data_that_is_not_aligned_is_copied_and_right)
{
    /* one byte, then doubles, longs and floats that all start at odd addresses */
    const char *header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                         "\"d\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[1,17]},"
                         "\"f\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[17,25]},"
                         "\"h\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[25,27]}}";
    for (size_t pad = 0; pad < 8; pad++) {
        char             text[512];
        cbx_tensor_file *f = NULL;
        (void)snprintf(text, sizeof text, "%s%*s", header, (int)pad, "");
        if (!CHECK_INT(cbx_tensors_open(file_of(text, strlen(text), 27), &f, NULL), CBX_OK))
            return;
        const cbx_tensor *d = cbx_tensors_find(f, "d"), *i = cbx_tensors_find(f, "f");
        const cbx_tensor *h = cbx_tensors_find(f, "h");
        CHECK((uintptr_t)d->data % 8 == 0 && (uintptr_t)i->data % 4 == 0);
        CHECK((uintptr_t)h->data % 2 == 0);
        CHECK(((const int64_t *)d->data)[0] == 0x0908070605040302);
        CHECK(((const int64_t *)d->data)[1] == 0x11100f0e0d0c0b0a);
        CHECK(((const int32_t *)i->data)[1] == 0x19181716);
        CHECK(((const uint16_t *)h->data)[0] == 0x1b1a);
        cbx_tensors_close(f);
    }
}

TEST(tensors_without_elements_need_no_bytes)
{
    accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[0,1000000000000],\"data_offsets\":[0,0]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
            "\"c\":{\"dtype\":\"F64\",\"shape\":[3,0],\"data_offsets\":[2,2]}}",
            2);
}

/* ---- files that are no files */

TEST(a_file_of_fewer_than_8_bytes_is_an_error)
{
    const char *path = test_path("short.safetensors");
    test_write_file(path, "", 0);
    check_fails(path, CBX_INVALID, "0 bytes", NULL);
    test_write_file(path, "\0\0\0\0\0\0", 7);
    check_fails(path, CBX_INVALID, "7 bytes", NULL);
    test_write_file(path, "\0\0\0\0\0\0\0", 8); /* a header of 0 bytes is no JSON */
    check_fails(path, CBX_INVALID, "header", NULL);
}

TEST(a_missing_file_is_an_error)
{
    check_fails(test_path("missing.safetensors"), CBX_IO, "No such file or directory", NULL);
    check_fails("", CBX_IO, "cannot open", NULL);
}

TEST(a_folder_a_device_and_a_pipe_are_errors_and_nobody_waits)
{
    const char *path = test_path("pipe.safetensors");
    check_fails("/tmp", CBX_INVALID, "not a file", NULL);
    check_fails("/dev/zero", CBX_INVALID, "not a file", NULL);
    CHECK_INT(mkfifo(path, 0600), 0);
    (void)alarm(10); /* a blocked open would be killed, and seen */
    check_fails(path, CBX_INVALID, "not a file", NULL);
    (void)alarm(0);
    CHECK_INT(unlink(path), 0);
}

TEST(an_unreadable_file_is_an_error)
{
    const char *path = test_path("unreadable.safetensors");
    CHECK_INT(write_everything(path, NULL), CBX_OK);
    CHECK_INT(chmod(path, 0), 0);
    if (geteuid() == 0)
        test_skip("root may read everything");
    else
        check_fails(path, CBX_IO, "Permission denied", NULL);
}

/* ---- lying headers */

TEST(a_header_longer_than_the_file_is_an_error_that_says_both_sizes)
{
    const char    *path = test_path("long.safetensors");
    const uint64_t lengths[] = {3, 1000, 100000001, (uint64_t)1 << 63, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char bytes[10] = {0};
        char          text[32];
        memcpy(bytes, &lengths[i], 8);
        memcpy(bytes + 8, "{}", 2);
        test_write_file(path, bytes, 10);
        (void)snprintf(text, sizeof text, "%llu bytes", (unsigned long long)lengths[i]);
        check_fails(path, CBX_INVALID, text, "file has 10", NULL);
    }
}

TEST(a_header_that_is_not_a_json_object_is_an_error)
{
    REJECTS("hello, world", 0, "header, byte");
    REJECTS("[1, 2]", 0, "not a JSON object");
    REJECTS("\"text\"", 0, "header");
    REJECTS("12", 0, "header");
    REJECTS("null", 0, "header");
    REJECTS("{\"a\":", 0, "header, byte");
    REJECTS("{\"a\":{\"dtype\":\"F32\"", 0, "header, byte");
    REJECTS("{} {}", 0, "header, byte");
    REJECTS("{}x", 0, "header, byte");
    REJECTS("{\"a\":1,}", 0, "header, byte");
    REJECTS("", 0, "header, byte");
}

TEST(a_header_with_bytes_that_are_no_text_is_an_error)
{
    check_fails(file_of("{\"a\0b\":1}", 9, 0), CBX_INVALID, "header, byte", NULL);
    check_fails(file_of("{}\0\0\0\0\0\0", 8, 0), CBX_INVALID, "header, byte", NULL);
    REJECTS("{\"a\\u0000b\":1}", 0, "header, byte");
    REJECTS("{\"\xff\xfe\":1}", 0, "header, byte", "UTF-8");
    REJECTS("{\"__metadata__\":{\"k\":\"caf\xe9\"}}", 0, "header, byte", "UTF-8");
    REJECTS("{\"\xed\xa0\x80\":1}", 0, "UTF-8");   /* a lone surrogate */
    REJECTS("{\"\xc0\xaf\":1}", 0, "UTF-8");       /* an overlong slash */
    REJECTS("{\"\\ud800\":1}", 0, "header, byte"); /* half an escape */
    REJECTS("{\"a\nb\":1}", 0, "header, byte");    /* a raw line break */
}

TEST(a_deeply_nested_header_is_an_error_and_no_stack_overflow)
{
    size_t depth = 1000000;
    char  *text = malloc(depth + 6);
    memcpy(text, "{\"a\":", 5);
    memset(text + 5, '[', depth);
    check_fails(file_of(text, depth + 5, 0), CBX_INVALID, "header, byte", "nested too deeply",
                NULL);
    for (size_t i = 0; i + 5 <= depth; i += 5)
        memcpy(text + i, "{\"a\":", 5);
    check_fails(file_of(text, depth, 0), CBX_INVALID, "header, byte", NULL);
    free(text);
}

#define TENSOR(name, dtype, shape, offsets) \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define ONE(dtype, shape, offsets) "{" TENSOR("weight", dtype, shape, offsets) "}"

TEST(two_tensors_of_one_name_are_an_error)
{
    REJECTS(
        "{" TENSOR("weight", "U8", "[1]", "[0,1]") "," TENSOR("weight", "U8", "[1]", "[1,2]") "}",
        2, "duplicate", "weight");
    REJECTS("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate", "k");
    REJECTS(
        "{\"weight\":{\"dtype\":\"U8\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
        "duplicate", "dtype");
}

TEST(an_entry_without_its_parts_is_an_error)
{
    const char *const bad[] = {
        "{\"weight\":1}",
        "{\"weight\":null}",
        "{\"weight\":[]}",
        "{\"weight\":{}}",
        "{\"weight\":{\"shape\":[1],\"data_offsets\":[0,1]}}",
        "{\"weight\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}",
        "{\"weight\":{\"dtype\":\"U8\",\"shape\":[1]}}",
        ONE("U8", "[1]", "[0]"),
        ONE("U8", "[1]", "[0,1,1]"),
        ONE("U8", "[1]", "{}"),
        ONE("U8", "1", "[0,1]"),
        ONE("U8", "{\"0\":1}", "[0,1]"),
        "{\"weight\":{\"dtype\":5,\"shape\":[1],\"data_offsets\":[0,1]}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REJECTS(bad[i], 1, "tensor 'weight'");
}

TEST(an_unknown_dtype_is_an_error)
{
    REJECTS(ONE("F8", "[1]", "[0,1]"), 1, "tensor 'weight': unknown dtype 'F8'");
    REJECTS(ONE("u8", "[1]", "[0,1]"), 1, "unknown dtype 'u8'");
    REJECTS(ONE("", "[1]", "[0,1]"), 1, "unknown dtype ''");
}

TEST(offsets_that_are_not_a_range_are_errors)
{
    const char *const bad[] = {ONE("U8", "[1]", "[1,0]"),     ONE("U8", "[1]", "[-1,0]"),
                               ONE("U8", "[1]", "[-2,-1]"),   ONE("U8", "[1]", "[0.0,1]"),
                               ONE("U8", "[1]", "[0,\"1\"]"), ONE("U8", "[1]", "[null,1]")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REJECTS(bad[i], 1, "tensor 'weight'", "data_offsets");
    /* beyond what JSON integers hold */
    REJECTS(ONE("U8", "[1]", "[0,18446744073709551617]"), 1, "header, byte");
}

TEST(offsets_beyond_the_file_are_an_error_that_says_both_numbers)
{
    REJECTS(ONE("F32", "[3]", "[0,12]"), 11, "tensor 'weight'", "byte 12", "11");
    REJECTS(ONE("U8", "[1]", "[9223372036854775806,9223372036854775807]"), 8, "tensor 'weight'",
            "9223372036854775807", " 8");
}

TEST(a_size_that_does_not_match_the_shape_is_an_error_that_says_both)
{
    REJECTS(ONE("F32", "[2,3]", "[0,20]"), 20, "tensor 'weight'", "24 bytes", "20");
    REJECTS(ONE("I64", "[]", "[0,4]"), 4, "tensor 'weight'", "8 bytes", "4");
    REJECTS(ONE("U8", "[0]", "[0,1]"), 1, "tensor 'weight'", "0 bytes", "1");
}

TEST(absurd_shapes_are_errors)
{
    const char *const bad[] = {ONE("U8", "[-1]", "[0,1]"),  ONE("U8", "[0.5]", "[0,1]"),
                               ONE("U8", "[1.0]", "[0,1]"), ONE("U8", "[\"1\"]", "[0,1]"),
                               ONE("U8", "[[1]]", "[0,1]"), ONE("U8", "[true]", "[0,1]")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REJECTS(bad[i], 1, "tensor 'weight'", "shape", "whole number");
    REJECTS(ONE("U8", "[9223372036854775807]", "[0,1]"), 1, "tensor 'weight'", "more elements");
    REJECTS(ONE("F32", "[4294967296,4294967296]", "[0,0]"), 0, "tensor 'weight'", "more elements");
    /* 2^31 * 2^31 * 4 = 2^64, which is 0 in 64 bits */
    REJECTS(ONE("U8", "[2147483648,2147483648,4]", "[0,0]"), 0, "tensor 'weight'", "more elements");
    REJECTS(ONE("F64", "[1152921504606846976]", "[0,0]"), 0, "tensor 'weight'");
    REJECTS(ONE("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, "tensor 'weight'", "at most 8");
    CHECK(accepts(ONE("U8", "[1,1,1,1,1,1,1,1]", "[0,1]"), 1));
}

TEST(overlaps_holes_and_leftovers_are_errors)
{
    REJECTS(
        "{" TENSOR("first", "U8", "[4]", "[0,4]") "," TENSOR("second", "U8", "[4]", "[3,7]") "}", 7,
        "'first'", "'second'", "overlap");
    REJECTS("{" TENSOR("one", "U8", "[4]", "[0,4]") "," TENSOR("two", "U8", "[4]", "[0,4]") "}", 4,
            "'one'", "'two'", "overlap");
    REJECTS("{" TENSOR("late", "U8", "[2]", "[6,8]") "," TENSOR("early", "U8", "[4]", "[0,4]") "}",
            8, "2 bytes before tensor 'late'");
    REJECTS(ONE("U8", "[4]", "[1,5]"), 5, "1 bytes before tensor 'weight'");
    REJECTS(ONE("U8", "[4]", "[0,4]"), 7, "3 bytes at the end");
    REJECTS("{}", 1, "1 bytes at the end");
}

TEST(metadata_that_is_not_an_object_of_texts_is_an_error)
{
    REJECTS("{\"__metadata__\":[]}", 0, "__metadata__", "not an object");
    REJECTS("{\"__metadata__\":\"text\"}", 0, "__metadata__", "not an object");
    REJECTS("{\"__metadata__\":{\"seed\":1}}", 0, "metadata 'seed' is not a text");
    REJECTS("{\"__metadata__\":{\"seed\":null}}", 0, "metadata 'seed' is not a text");
    REJECTS("{\"__metadata__\":{\"seed\":{\"a\":\"b\"}}}", 0, "metadata 'seed' is not a text");
}

TEST(a_name_of_more_than_120_bytes_is_an_error)
{
    char text[512], name[128];
    memset(name, 'n', sizeof name);
    (void)snprintf(text, sizeof text,
                   "{\"%.120s\":{\"dtype\":\"U8\",\"shape\":[1],"
                   "\"data_offsets\":[0,1]}}",
                   name);
    CHECK(accepts(text, 1));
    (void)snprintf(text, sizeof text,
                   "{\"%.121s\":{\"dtype\":\"U8\",\"shape\":[1],"
                   "\"data_offsets\":[0,1]}}",
                   name);
    REJECTS(text, 1, "longer than 120", "nnnnnnnnnn");
}

/* ---- many broken files at once */

/* Files are cut and changed in place: to write them anew, thousands of times, makes
 * some disks wait. */
static int open_good(const cbx_tensor *tensors, size_t count, const char *path)
{
    CHECK_INT(cbx_tensors_write(path, tensors, count, notes, 3, NULL), CBX_OK);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    return fd;
}

TEST(every_prefix_of_a_good_file_is_an_error)
{
    const char *path = test_path("cut.safetensors");
    int         fd = open_good(everything, EVERYTHING, path);
    for (off_t keep = lseek(fd, 0, SEEK_END) - 1; keep >= 0; keep--) {
        cbx_tensor_file *f = NULL;
        cbx_error        err = {0};
        CHECK_INT(ftruncate(fd, keep), 0);
        if (!CHECK_INT(cbx_tensors_open(path, &f, &err), CBX_INVALID))
            printf("  (%lld bytes)\n", (long long)keep);
        CHECK_CONTAINS(err.message, path);
        cbx_tensors_close(f);
    }
    (void)close(fd);
}

/* What a good open promises, whatever the header said; a sum, so that it is read. */
static size_t read_it_all(const cbx_tensor_file *f)
{
    size_t sum = 0;
    for (size_t i = 0; i < f->count; i++) {
        const cbx_tensor    *t = &f->tensors[i];
        const unsigned char *at = t->data;
        CHECK(t->rank >= 0 && t->rank <= CBX_MAX_RANK && t->count >= 0);
        for (uint64_t k = 0; k < t->end - t->begin; k++)
            sum += at[k];
    }
    for (size_t i = 0; i < f->meta_count; i++)
        sum += strlen(f->meta[i].key) + strlen(f->meta[i].value);
    return sum;
}

TEST(no_single_wrong_byte_in_the_header_does_harm)
{
    const char      *path = test_path("flipped.safetensors");
    const cbx_tensor few[] = {everything[0], everything[4]};
    int              fd = open_good(few, 2, path), errors = 0;
    uint64_t         length = 0;
    size_t           sum = 0;
    CHECK_INT(pread(fd, &length, 8, 0), 8);
    for (off_t at = 0; at < (off_t)(8 + length); at++)
        for (int flip = 1; flip < 256; flip = flip < 128 ? 2 * flip : flip + 11) {
            unsigned char    kept = 0, wrong;
            cbx_tensor_file *f = NULL;
            cbx_error        err = {0};
            CHECK_INT(pread(fd, &kept, 1, at), 1);
            wrong = (unsigned char)(kept ^ flip);
            CHECK_INT(pwrite(fd, &wrong, 1, at), 1);
            cbx_status status = cbx_tensors_open(path, &f, &err);
            if (status == CBX_OK)
                sum += read_it_all(f);
            else
                CHECK(status == CBX_INVALID && err.message[0] && !f);
            errors += status != CBX_OK;
            cbx_tensors_close(f);
            CHECK_INT(pwrite(fd, &kept, 1, at), 1);
        }
    CHECK(errors > 1000 && sum > 0);
    (void)close(fd);
}

/* ---- copies */

TEST(a_copy_stays_when_its_file_is_cut_short)
{
    char             path[512];
    cbx_tensor_file *f = NULL;
    cbx_error        err = {0};
    (void)snprintf(path, sizeof path, "%s", test_path("cut.safetensors"));
    CHECK_INT(write_everything(path, NULL), CBX_OK);
    if (CHECK_OK(cbx_tensors_copy(path, &f, &err), err)) {
        CHECK_INT(truncate(path, 0), 0);
        check_everything(f); /* on a map this would be the end */
    }
    cbx_tensors_close(f);
}

TEST(a_copy_is_refused_for_what_a_map_is_refused_for)
{
    cbx_tensor_file *f;
    cbx_error        mapped = {0}, copied = {0};
    const char      *paths[] = {test_path("none"), test_path("short"), test_path("other"),
                                file_of("{\"a\":1}", 7, 5), test_path("")};
    test_write_file(paths[1], "1234567", 7);
    test_write_file(paths[2], "PK\3\4 something else", 19); /* its first bytes claim a header */
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        cbx_status status = cbx_tensors_open(paths[i], &f, &mapped);
        CHECK(status != CBX_OK && !f);
        CHECK_INT(cbx_tensors_copy(paths[i], &f, &copied), status);
        CHECK(!f);
        CHECK(!strcmp(mapped.message, copied.message));
    }
}

/* ---- memory */

static cbx_status copy_once(void *path)
{
    cbx_tensor_file *f = NULL;
    cbx_status       status = cbx_tensors_copy(path, &f, NULL);
    if (!status)
        check_everything(f);
    CHECK((status == CBX_OK) == (f != NULL));
    cbx_tensors_close(f);
    return status;
}

TEST(copying_survives_every_failing_allocation)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s", test_path("copied.safetensors"));
    CHECK_INT(write_everything(path, NULL), CBX_OK);
    test_each_allocation(copy_once, path);
}

static cbx_status open_once(void *path)
{
    cbx_tensor_file *f = NULL;
    cbx_error        err = {0};
    cbx_status       status = cbx_tensors_open(path, &f, &err);
    if (!status)
        check_everything(f);
    CHECK((status == CBX_OK) == (f != NULL));
    CHECK(status == err.status);
    cbx_tensors_close(f);
    return status;
}

TEST(opening_survives_every_failing_allocation)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s", test_path("good.safetensors"));
    CHECK_INT(write_everything(path, NULL), CBX_OK);
    test_each_allocation(open_once, path);
}

static cbx_status open_unaligned(void *path)
{
    cbx_tensor_file *f = NULL;
    cbx_status       status = cbx_tensors_open(path, &f, NULL);
    cbx_tensors_close(f);
    return status;
}

TEST(copying_what_is_not_aligned_survives_every_failing_allocation)
{
    const char *header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                         "\"d\":{\"dtype\":\"I64\",\"shape\":[9999],\"data_offsets\":[1,79993]}}";
    char        path[512];
    (void)snprintf(path, sizeof path, "%s", file_of(header, strlen(header), 79993));
    test_each_allocation(open_unaligned, path);
}

static cbx_status write_once(void *path)
{
    cbx_error  err = {0};
    cbx_status status = write_everything(path, &err);
    CHECK(status == err.status);
    return status;
}

TEST(writing_survives_every_failing_allocation_and_keeps_the_old_file)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s", test_path("kept.safetensors"));
    CHECK_INT(write_everything(path, NULL), CBX_OK);
    test_each_allocation(write_once, path);
    cbx_tensor_file *f = NULL;
    CHECK_INT(cbx_tensors_open(path, &f, NULL), CBX_OK);
    if (f)
        check_everything(f);
    cbx_tensors_close(f);
}
