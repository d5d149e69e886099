/* SPDX-License-Identifier: Apache-2.0 */
/* Answers in files: what is written is read back, and what a crash leaves is sorted out. */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "test.h"

static cbx_graph        *graph;
static cbx_bench_data    data;
static cbx_bench_options options;
static cbx_bench_plan    plan;
static char              folder[512];

static void begin(void)
{
    cbx_error err = {0};
    CHECK_OK(cbx_graph_builtin_with("karate", NULL, &graph, &err), err);
    data = (cbx_bench_data){"karate", graph};
    cbx_fields_default(cbx_bench_table(), &options);
    options.folds = 2;
    CHECK_OK(cbx_bench_plan_init(&plan, &options, &data, 1, &err), err);
    (void)snprintf(folder, sizeof folder, "%s", test_path("x"));
    *strrchr(folder, '/') = '\0';
    (void)unlink(test_path("rows.csv"));
    (void)unlink(test_path("rows.csv.gz"));
    (void)unlink(test_path("rows.0.part"));
    (void)unlink(test_path("rows.3.part"));
}

static void end(void)
{
    cbx_bench_plan_free(&plan);
    cbx_graph_free(graph);
}

static cbx_bench_row some_row(int32_t model, int32_t fold, int32_t row)
{
    return (cbx_bench_row){.model = model,
                           .fold = fold,
                           .method = 4,
                           .row = row,
                           .outcome = CBX_FOUND,
                           .label = 3,
                           .prediction = 3,
                           .target = 0,
                           .result = 0,
                           .measures = {1, 0.125, 0.25, 1.0 / 3, 2e-7, 17, 2},
                           .nodes = 34,
                           .edges = 156,
                           .epoch = 99,
                           .certificate = CBX_NONE_WITHIN_BUDGET,
                           .best_lead = -0.25,
                           .accuracy = NAN,
                           .seconds = 0.5,
                           .peak_mb = 12};
}

static void append(int rank, const cbx_bench_row *rows, int count)
{
    cbx_line_file part;
    cbx_error      err = {0};
    CHECK_OK(cbx_bench_part_open(&part, folder, rank, &err), err);
    for (int i = 0; i < count; i++)
        CHECK_OK(cbx_bench_part_add(&part, &plan, &rows[i], &err), err);
    CHECK_OK(cbx_line_file_sync(&part, &err), err);
    cbx_line_file_close(&part);
}

TEST(rows_of_all_parts_come_back_in_the_order_of_the_plan)
{
    begin();
    cbx_bench_row  a[] = {some_row(1, 0, 9), some_row(0, 1, 5)}, b[] = {some_row(0, 1, 4)};
    cbx_bench_rows rows;
    cbx_error      err = {0};
    append(0, a, 2);
    append(3, b, 1);
    CHECK_OK(cbx_bench_rows_load(&plan, folder, &rows, &err), err);
    CHECK_INT(rows.count, 3);
    CHECK_INT(rows.rows[0].row, 4);
    CHECK_INT(rows.rows[1].row, 5);
    CHECK_INT(rows.rows[2].model, 1);
    const cbx_bench_row *r = cbx_bench_rows_find(&rows, &b[0]);
    if (CHECK(r != NULL)) {
        CHECK_INT(r->outcome, CBX_FOUND);
        CHECK_INT(r->label, 3);
        CHECK_NEAR(r->measures.distribution_distance, 1.0 / 3, 1e-9);
        CHECK_NEAR(r->measures.embedding_distance, 2e-7, 1e-16);
        CHECK_INT(r->measures.features_changed, 17);
        CHECK_INT(r->measures.edges_removed, 2);
        CHECK_INT(r->epoch, 99);
        CHECK_INT(r->certificate, CBX_NONE_WITHIN_BUDGET);
        CHECK_NEAR(r->best_lead, -0.25, 0);
        CHECK(isnan(r->accuracy));
        CHECK_NEAR(r->peak_mb, 12, 0);
    }
    cbx_bench_row other = some_row(0, 0, 4);
    CHECK(cbx_bench_rows_find(&rows, &other) == NULL);
    CHECK_OK(cbx_bench_rows_gather(&plan, folder, &rows, &err), err);
    CHECK(!access(test_path("rows.csv.gz"), F_OK) && access(test_path("rows.0.part"), F_OK) != 0);
    cbx_bench_rows_free(&rows);
    append(0, a, 1); /* gathered already: it does not count twice */
    CHECK_OK(cbx_bench_rows_load(&plan, folder, &rows, &err), err);
    CHECK_INT(rows.count, 3);
    cbx_bench_rows_free(&rows);
    end();
}

TEST(a_line_that_was_cut_short_does_not_count)
{
    begin();
    cbx_bench_row  a[] = {some_row(0, 0, 1), some_row(0, 0, 2)};
    cbx_bench_rows rows;
    cbx_error      err = {0};
    size_t         size = 0;
    append(0, a, 2);
    unsigned char *text = test_read_file(test_path("rows.0.part"), &size);
    for (size_t cut = 1; text && cut < 60; cut += 7) {
        test_write_file(test_path("rows.0.part"), text, size - cut);
        CHECK_OK(cbx_bench_rows_load(&plan, folder, &rows, &err), err);
        CHECK_INT(rows.count, 1);
        cbx_bench_rows_free(&rows);
    }
    free(text);
    end();
}

static void check_refused(const char *line, const char *why)
{
    cbx_bench_rows rows;
    cbx_error      err = {0};
    test_write_file(test_path("rows.0.part"), line, strlen(line));
    CHECK_INT(cbx_bench_rows_load(&plan, folder, &rows, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, why);
    CHECK_CONTAINS(err.message, "rows.0.part: line 1");
}

TEST(lines_of_something_else_are_refused_by_file_and_number)
{
    begin();
    check_refused("hello\n", "25 fields");
    check_refused("cora,gcn,0,ego,1,found,0,0,0,0,,,,,,0,0,1,1,1,none,,,1,1\n",
                  "not of this benchmark");
    check_refused("karate,gcn,7,ego,1,found,0,0,0,0,,,,,,0,0,1,1,1,none,,,1,1\n",
                  "not of this benchmark");
    check_refused("karate,gcn,0,ego,1,lost,0,0,0,0,,,,,,0,0,1,1,1,none,,,1,1\n",
                  "not of this benchmark");
    check_refused("karate,gcn,0,ego,1,found,0,0,0,0,,,,,,0,0,1,1,1,sworn,,,1,1\n",
                  "not of this benchmark");
    /* what would be row 1, or class 0, if its upper half were lost */
    check_refused("karate,gcn,0,ego,4294967297,found,0,0,0,0,,,,,,0,0,1,1,1,none,,,1,1\n",
                  "out of range");
    check_refused("karate,gcn,0,ego,1,found,0,4294967296,0,0,,,,,,0,0,1,1,1,none,,,1,1\n",
                  "out of range");
    check_refused("karate,gcn,0,ego,1,found,0,0,0,-4294967296,,,,,,0,0,1,1,1,none,,,1,1\n",
                  "out of range");
    check_refused("karate,gcn,0,ego,1,found,0,0,0,0,,,,,,0,0,4294967297,1,1,none,,,1,1\n",
                  "out of range");
    check_refused("karate,gcn,4294967296,ego,1,found,0,0,0,0,,,,,,0,0,1,1,1,none,,,1,1\n",
                  "out of range");
    check_refused("karate,gcn,0,ego,x,found,0,0,0,0,,,,,,0,0,1,1,1,none,,,1,1\n", "whole number");
    check_refused("karate,gcn,0,ego,1,found,0,0,0,0,1y,,,,,0,0,1,1,1,none,,,1,1\n", "not a number");
    (void)unlink(test_path("rows.0.part"));
    end();
}

TEST(text_comes_back_from_a_packed_file_in_the_same_bytes_each_time)
{
    enum { SIZE = 300000 };
    char     *text = calloc(SIZE + 1, 1), *back = NULL;
    size_t    one = 0, two = 0;
    cbx_error err = {0};
    for (int64_t i = 0; i < SIZE; i++)
        text[i] = (char)('a' + i * i % 23);
    CHECK_OK(cbx_bench_write_packed(test_path("a.gz"), text, SIZE, &err), err);
    CHECK_OK(cbx_bench_write_packed(test_path("b.gz"), text, SIZE, &err), err);
    unsigned char *a = test_read_file(test_path("a.gz"), &one);
    unsigned char *b = test_read_file(test_path("b.gz"), &two);
    CHECK(one == two && one < SIZE / 10 && !memcmp(a, b, one));
    CHECK_OK(cbx_bench_read_packed(test_path("a.gz"), &back, &err), err);
    CHECK(back && !strcmp(back, text));
    free(back), free(a), free(b), free(text);
}

/* A gigabyte of zeros in a megabyte, as gzip packs it: the same block of a few bytes again
 * and again, which can be written without packing anything. */
TEST(what_unpacks_to_far_more_than_it_takes_is_refused)
{
    enum { SIZE = 1 << 20 };
    unsigned char             *bytes = malloc(SIZE);
    char                      *text = NULL;
    cbx_error                  err = {0};
    z_stream                   z = {.next_out = bytes, .avail_out = SIZE};
    static const unsigned char zeros[1 << 16];
    CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    for (int i = 0; i < 300 << 4; i++) {
        z.next_in = (Bytef *)(uintptr_t)zeros;
        z.avail_in = sizeof zeros;
        CHECK(deflate(&z, i + 1 < 300 << 4 ? Z_NO_FLUSH : Z_FINISH) >= 0);
    }
    test_write_file(test_path("bomb.gz"), bytes, z.total_out);
    (void)deflateEnd(&z);
    free(bytes);
    CHECK_INT(cbx_bench_read_packed(test_path("bomb.gz"), &text, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "bomb.gz: unpacks to more than 128 times its size");
    CHECK(text == NULL);
}

static cbx_status load(void *user)
{
    cbx_bench_rows rows;
    (void)user;
    cbx_status status = cbx_bench_rows_load(&plan, folder, &rows, NULL);
    if (!status)
        cbx_bench_rows_free(&rows);
    return status;
}

static cbx_status gather(void *user)
{
    return cbx_bench_rows_gather(&plan, folder, user, NULL);
}

TEST(loading_and_gathering_survive_every_allocation_that_fails)
{
    begin();
    cbx_bench_row  a[] = {some_row(0, 0, 1), some_row(0, 0, 2)};
    cbx_bench_rows rows;
    cbx_error      err = {0};
    append(0, a, 2);
    CHECK_OK(cbx_bench_rows_load(&plan, folder, &rows, &err), err);
    CHECK_OK(cbx_bench_rows_gather(&plan, folder, &rows, &err), err);
    append(0, a, 1);
    test_each_allocation(load, NULL);
    test_each_allocation(gather, &rows);
    cbx_bench_rows_free(&rows);
    end();
}
