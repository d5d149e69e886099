/* SPDX-License-Identifier: Apache-2.0 */
/* The page of many targets, as data; tests/browser looks at it. */
#include <stdio.h>

#include "page.h"
#include "parsed.h"
#include "sample.h"
#include "shown.h"

/* The data of the page that was written, and the page's size. */
static const cbx_json *data_of(cbx_arena *arena, size_t *size)
{
    char           *page = (char *)test_read_file(test_path("run.html"), size);
    const cbx_json *data = parsed_page(arena, page);
    free(page);
    return data;
}

/* A target with `edits` edits, all of features but the last. */
static size_t put_line(char *at, int node, int edits)
{
    size_t n = (size_t)sprintf(
        at,
        "{\"node\":%d,\"status\":\"found\",\"target\":1,\"before\":{\"class\":0,"
        "\"probabilities\":[0.75,0.25]},\"after\":{\"class\":1,\"probabilities\":[0.125,0.875]},"
        "\"edits\":[",
        node);
    for (int k = 0; k < edits - 1; k++)
        n += (size_t)sprintf(at + n,
                             "{\"op\":\"set_feature\",\"node\":%d,\"feature\":%d,\"from\":0,\"to\":"
                             "1,\"name\":\"f%d\"},",
                             node, k, k);
    return n + (size_t)sprintf(
                   at + n,
                   "{\"op\":\"remove_edge\",\"source\":%d,\"target\":0,\"undirected\":true}],"
                   "\"edges_removed\":1,\"features_changed\":%d,\"seconds\":0.5,\"margin\":1.25}\n",
                   node, edits - 1);
}

static int64_t number(const cbx_json *data, const char *key)
{
    return integer_of(cbx_json_get(data, key));
}

TEST(of_very_many_targets_some_are_listed_and_all_are_counted)
{
    enum { TARGETS = 12000, EDITS = 9 };
    char     *lines = malloc((size_t)TARGETS * 1024), *at = lines;
    cbx_error err = {0};
    size_t    size = 0;
    cbx_arena arena = {0};
    for (int i = 0; i < TARGETS; i++)
        at += put_line(at, i, EDITS);
    CHECK_OK(cbx_report_write(lines, NULL, test_path("run.html"), &err), err);
    const cbx_json *data = data_of(&arena, &size);
    const cbx_json *rows = cbx_json_get(data, "rows"), *common = cbx_json_get(data, "common");
    CHECK(size < 1000000);
    CHECK_INT(number(data, "targets"), TARGETS);
    CHECK_INT(number(cbx_json_get(data, "counts"), "found"), TARGETS);
    CHECK_INT(count_of(rows), TARGETS / 3); /* every third */
    CHECK_INT(count_of(cbx_json_at(rows, 10)), count_of(cbx_json_get(data, "columns")));
    CHECK_INT(integer_of(cbx_json_at(cbx_json_at(rows, 10), 0)), 30);
    CHECK_INT(number(data, "edits_listed"), 2); /* 4,000 rows, 9,000 edits */
    CHECK_INT(number(common, "flips"), TARGETS);
    CHECK_INT(number(common, "all_features"), EDITS - 1);
    const cbx_json *first = cbx_json_at(cbx_json_get(common, "features"), 0);
    CHECK_INT(integer_of(cbx_json_at(first, 1)), TARGETS);
    CHECK(number_of(cbx_json_get(data, "seconds")) == TARGETS * 0.5);
    cbx_arena_free(&arena);
    free(lines);
}

TEST(a_target_with_several_answers_is_one_row)
{
    char      lines[8192], *at = lines;
    cbx_error err = {0};
    size_t    size = 0;
    cbx_arena arena = {0};
    at += put_line(at, 3, 2);
    at += put_line(at, 3, 4);
    at += put_line(at, 5, 1);
    CHECK_OK(cbx_report_write(lines, NULL, test_path("run.html"), &err), err);
    const cbx_json *data = data_of(&arena, &size);
    const cbx_json *rows = cbx_json_get(data, "rows");
    CHECK_INT(number(data, "targets"), 2);
    CHECK_INT(number(data, "lines"), 3);
    CHECK_INT(count_of(rows), 2);
    CHECK_INT(number(cbx_json_get(data, "common"), "flips"), 2);
    /* the third line is the second row */
    CHECK_INT(integer_of(cbx_json_at(cbx_json_at(rows, 1), 1)), 3);
    cbx_arena_free(&arena);
}

static cbx_status write_page(void *user)
{
    const shown *s = user;
    return cbx_report_write(s->lines, &s->source, test_path("page.html"), NULL);
}

TEST(running_out_of_memory_is_told)
{
    static const float    logs[] = {-0.1f, -2.4f, -6};
    static const cbx_edit edits[] = {
        {.op = CBX_REMOVE_EDGE, .source = 1, .target = 2, .edge = -1, .undirected = true},
        {.op = CBX_SET_FEATURE, .node = 1, .feature = 2, .to = 1}};
    shown               s = {.graph = sample_graph(CBX_NODE, true), .lines = calloc(1, 1 << 16)};
    cbx_explain_options o = shown_options();
    cbx_model_spec      spec;
    cbx_error           err = {0};
    o.max_edits = 3;
    cbx_fields_default(cbx_model_table(), &spec);
    spec.layers = 1;
    CHECK_OK(cbx_model_new_with(s.graph, &spec, 1, &s.model, &err), err);
    for (int32_t row = 0; row < 3; row++) {
        bool               found = row < 2;
        cbx_counterfactual c = {.row = row,
                                .outcome = found ? CBX_FOUND : CBX_SKIPPED,
                                .reason = found ? "" : "why not",
                                .target = -1,
                                .result = found,
                                .num_classes = 3,
                                .before = logs,
                                .after = found ? logs : NULL,
                                .num_edits = found ? 2 : 0,
                                .edits = edits};
        char              *line = cbx_counterfactual_json_with(&c, s.graph, &o, NULL, NULL);
        strcat(strcat(s.lines, line), "\n");
        free(line);
    }
    s.source = (cbx_report_source){.model = s.model, .graph = s.graph};
    test_each_allocation(write_page, &s);
    s.source = (cbx_report_source){.graph = NULL};
    test_each_allocation(write_page, &s);
    shown_free(&s);
}
