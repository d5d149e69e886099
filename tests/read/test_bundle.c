/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles: the same files in a folder, in an archive, gzipped; and damaged ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include "bundle.h"
#include "test.h"

static void make_zip(const char *path, const char *const *names, const char *const *texts,
                     int count)
{
    zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    for (int i = 0; CHECK(z != NULL) && i < count; i++) {
        zip_source_t *s = zip_source_buffer(z, texts[i], strlen(texts[i]), 0);
        CHECK(zip_file_add(z, names[i], s, 0) >= 0);
    }
    CHECK(zip_close(z) == 0);
}

/* gzip of a text, appended to `to`. */
static size_t gzip(const char *text, unsigned char *to, size_t room)
{
    z_stream z = {0};
    CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (unsigned char *)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = to;
    z.avail_out = (uInt)room;
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    size_t size = room - z.avail_out;
    (void)deflateEnd(&z);
    return size;
}

static void check_content(cbx_bundle *b, const char *find, const char *want)
{
    unsigned char *bytes = NULL;
    size_t         size = 0;
    cbx_error      err = {0};
    const char    *name = cbx_bundle_find(b, find);
    if (CHECK(name != NULL) && CHECK_OK(cbx_bundle_slurp(b, name, &bytes, &size, &err), err)) {
        CHECK_INT(size, strlen(want));
        CHECK(!strcmp((char *)bytes, want));
    }
    free(bytes);
}

TEST(an_archive_is_a_bundle_and_one_of_its_files_can_be_chosen)
{
    static const char *const names[] = {"set/a.txt", "set/b.csv"}, *const texts[] = {"A", "x,y\n"};
    char        path[512], inside[600];
    cbx_bundle *b = NULL;
    cbx_error   err = {0};
    (void)snprintf(path, sizeof path, "%s", test_path("set.zip"));
    make_zip(path, names, texts, 2);
    if (CHECK_OK(cbx_bundle_open(path, &b, &err), err)) {
        CHECK(!cbx_bundle_is_folder(b) && !cbx_bundle_chosen(b));
        CHECK(!strcmp(cbx_bundle_title(b), "set"));
        CHECK(!strcmp(cbx_bundle_name(b, 0), "set/a.txt") && !cbx_bundle_name(b, 2));
        check_content(b, "a.txt", "A");
        check_content(b, "b.csv", "x,y\n");
        CHECK(!cbx_bundle_find(b, "c.txt") && !cbx_bundle_find(b, ".txt"));
        CHECK_INT(cbx_bundle_bytes(b), 5);
    }
    cbx_bundle_close(b);
    (void)snprintf(inside, sizeof inside, "%s/set/b.csv", path);
    if (CHECK_OK(cbx_bundle_open(inside, &b, &err), err))
        CHECK(!strcmp(cbx_bundle_chosen(b), "set/b.csv"));
    cbx_bundle_close(b);
    (void)snprintf(inside, sizeof inside, "%s/set/c.csv", path);
    CHECK_INT(cbx_bundle_open(inside, &b, &err), CBX_IO);
    CHECK_CONTAINS(err.message, "the archive has no such file");
    CHECK(b == NULL);
}

TEST(gzipped_files_are_unpacked_whatever_they_are_called)
{
    unsigned char packed[256];
    char          folder[512];
    cbx_bundle   *b = NULL;
    cbx_error     err = {0};
    size_t        size = gzip("one\n", packed, sizeof packed);
    size += gzip("two\n", packed + size, sizeof packed - size); /* files joined end to end */
    test_write_file(test_path("a.txt.gz"), packed, size);
    test_write_file(test_path("b.txt"), packed, size);
    test_write_file(test_path("cut.txt.gz"), packed, size - 5);
    packed[15] ^= 0x55;
    test_write_file(test_path("bad.txt.gz"), packed, size);
    (void)snprintf(folder, sizeof folder, "%s", test_path("."));
    folder[strlen(folder) - 2] = '\0';
    if (!CHECK_OK(cbx_bundle_open(folder, &b, &err), err))
        return;
    check_content(b, "a.txt", "one\ntwo\n");
    check_content(b, "b.txt", "one\ntwo\n");
    unsigned char *bytes;
    CHECK_INT(cbx_bundle_slurp(b, "cut.txt.gz", &bytes, &size, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "cut.txt.gz: the gzip file ends too early");
    CHECK_INT(cbx_bundle_slurp(b, "bad.txt.gz", &bytes, &size, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "bad.txt.gz: damaged gzip file");
    cbx_bundle_close(b);
}

TEST(a_damaged_archive_is_told_of)
{
    static const char *const names[] = {"a.txt"};
    char                     text[4000], path[512];
    const char              *texts[] = {text};
    size_t                   size = 0;
    cbx_bundle              *b = NULL;
    cbx_error                err = {0};
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(33 + (i * i + i / 7) % 90);
    text[sizeof text - 1] = '\0';
    (void)snprintf(path, sizeof path, "%s", test_path("bad.zip"));
    make_zip(path, names, texts, 1);
    unsigned char *bytes = test_read_file(path, &size), *content;
    if (!CHECK(bytes != NULL))
        return;
    bytes[200] ^= 0xff;
    test_write_file(path, bytes, size);
    if (CHECK_OK(cbx_bundle_open(path, &b, &err), err)) {
        size_t got;
        CHECK_INT(cbx_bundle_slurp(b, "a.txt", &content, &got, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "bad.zip/a.txt: damaged in its archive");
    }
    cbx_bundle_close(b);
    test_write_file(path, bytes, size / 2);
    CHECK_INT(cbx_bundle_open(path, &b, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "bad.zip: not a sound zip archive");
    free(bytes);
}

TEST(what_is_not_there_or_no_file_is_told)
{
    cbx_bundle *b = NULL;
    cbx_error   err = {0};
    CHECK_INT(cbx_bundle_open(test_path("nothing"), &b, &err), CBX_IO);
    CHECK_CONTAINS(err.message, "nothing: cannot open");
    CHECK_INT(cbx_bundle_open("/dev/null", &b, &err), CBX_IO);
    CHECK_CONTAINS(err.message, "/dev/null: neither a file nor a folder");
}

TEST(claims_are_held_against_what_was_read)
{
    cbx_bundle    *b = NULL;
    cbx_error      err = {0};
    unsigned char *bytes = NULL;
    size_t         size;
    char           text[2000] = "==> a <==\n";
    memset(text + 10, 'x', sizeof text - 10);
    if (!CHECK_OK(cbx_bundle_memory(text, sizeof text, &b, &err), err))
        return;
    CHECK(cbx_bundle_believes(b, 65536) && !cbx_bundle_believes(b, 65537));
    CHECK_OK(cbx_bundle_slurp(b, "a", &bytes, &size, &err), err);
    CHECK(cbx_bundle_believes(b, 65536 + 64 * 1990) && !cbx_bundle_believes(b, 65537 + 64 * 1990));
    CHECK(!cbx_bundle_believes(b, -1));
    free(bytes);
    cbx_bundle_close(b);
}
