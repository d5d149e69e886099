/* SPDX-License-Identifier: Apache-2.0 */
/* Checking: every problem of a native file, warnings about a sound one, and sizes
 * that a file only claims. */
#include "bundle_case.h"
#include "safetensors.h"

/* Two nodes with three features that are all zero, and one edge. */
static void write_graph(const char *path, const int64_t edges[2], const int64_t y[2],
                        const float weight[1], int64_t columns, const char *classes)
{
    static const int64_t indptr[3] = {0, 0, 0};
    static const int32_t none[1] = {0};
    static const float   nothing[1] = {0};
    const int64_t        shape[2] = {2, columns};
    const cbx_tensor     tensors[] = {
            {.name = "edge_index", .dtype = CBX_I64, .rank = 2, .shape = {2, 1}, .data = edges},
            {.name = "x.shape", .dtype = CBX_I64, .rank = 1, .shape = {2}, .data = shape},
            {.name = "x.indptr", .dtype = CBX_I64, .rank = 1, .shape = {3}, .data = indptr},
            {.name = "x.indices", .dtype = CBX_I32, .rank = 1, .shape = {0}, .data = none},
            {.name = "x.values", .dtype = CBX_F32, .rank = 1, .shape = {0}, .data = nothing},
            {.name = "y", .dtype = CBX_I64, .rank = 1, .shape = {2}, .data = y},
            {.name = "edge_weight", .dtype = CBX_F32, .rank = 1, .shape = {1}, .data = weight}};
    const cbx_meta meta[] = {{"num_classes", classes}};
    cbx_error      err = {0};
    CHECK_OK(cbx_tensors_write(path, tensors, weight ? 7 : 6, meta, classes ? 1 : 0, &err), err);
}

TEST(a_native_file_has_all_its_problems_told)
{
    const char *path = test_path("bad.safetensors");
    problems    found = {0};
    cbx_error   err = {0};
    write_graph(path, (int64_t[]){0, 7}, (int64_t[]){5, -2}, (float[]){-1}, 3, "2");
    CHECK_OK(cbx_graph_check_with(path, NULL, collect, &found, &err), err);
    CHECK_INT(found.errors, 4);
    CHECK_CONTAINS(found.text[0], "edge 0 (0 -> 7) points outside: nodes are 0 to 1");
    CHECK_CONTAINS(found.text[1], "edge 0 has weight -1");
    CHECK_CONTAINS(found.text[2], "label 5 of node 0 is out of range: 0 to 1");
    CHECK_CONTAINS(found.text[3], "label -2 of node 1");
}

TEST(a_sound_file_only_has_warnings)
{
    const char *path = test_path("good.safetensors");
    problems    found = {0};
    cbx_error   err = {0};
    write_graph(path, (int64_t[]){0, 1}, (int64_t[]){1, -1}, NULL, 3, "3");
    CHECK_OK(cbx_graph_check_with(path, NULL, collect, &found, &err), err);
    CHECK_INT(found.errors, 0);
    CHECK_INT(found.warnings, 4);
    CHECK_CONTAINS(found.text[0], "symmetric");
    CHECK_CONTAINS(found.text[1], "1 of 2 nodes have no class");
    CHECK_CONTAINS(found.text[2], "2 of 3 classes have no member");
    CHECK_CONTAINS(found.text[3], "3 features have the same value everywhere");
}

static void check_claim(int64_t columns, const char *classes, int64_t label, const char *why)
{
    const char *path = test_path("claim.safetensors");
    cbx_graph  *graph = NULL;
    cbx_error   err = {0};
    write_graph(path, (int64_t[]){0, 1}, (int64_t[]){label, 0}, NULL, columns, classes);
    CHECK_INT(cbx_graph_load(path, &graph, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, why);
    cbx_graph_free(graph);
}

TEST(a_short_file_cannot_claim_to_be_large)
{
    check_claim(2000000000, "2", 0, "2000000000 features in so short a file");
    check_claim(3, "2000000000", 0, "'num_classes' is '2000000000'");
    check_claim(3, NULL, 2000000000, "label 2000000000 is too large for 2 rows");
}

TEST(what_a_problem_quotes_of_a_file_is_spelt_out)
{
    static const char text[] = "source,target,weight\na,b,\x1b[2J\u202e\n";
    const char       *path = test_path("edges.csv");
    problems          found = {0};
    cbx_error         err = {0};
    test_write_file(path, text, sizeof text - 1);
    CHECK_OK(cbx_graph_check_with(path, NULL, collect, &found, &err), err);
    CHECK(found.errors > 0);
    CHECK_CONTAINS(found.text[0], "'\\x1b[2J\\u202e'");
}

TEST(what_cannot_be_read_at_all_is_one_error)
{
    const char *path = test_path("cut.safetensors");
    problems    found = {0};
    cbx_error   err = {0};
    test_write_file(path, "\x20\0\0\0\0\0\0\0{", 9);
    CHECK_OK(cbx_graph_check_with(path, NULL, collect, &found, &err), err);
    CHECK_INT(found.errors, 1);
    CHECK_CONTAINS(found.text[0], "cut.safetensors");
    CHECK_INT(cbx_graph_check_with(test_path("missing"), NULL, collect, &found, &err), CBX_IO);
}

static cbx_status check_again(void *path)
{
    problems found = {0};
    return cbx_graph_check_with(path, NULL, collect, &found, NULL);
}

TEST(failing_allocations_are_reported)
{
    const char *path = test_path("memory.safetensors");
    write_graph(path, (int64_t[]){0, 1}, (int64_t[]){1, -1}, NULL, 3, "3");
    test_each_allocation(check_again, (void *)path);
}
