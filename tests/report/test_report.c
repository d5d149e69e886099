/* SPDX-License-Identifier: Apache-2.0 */
/* Results to be shown: read, checked, and turned into files. tests/browser looks at
 * the pages. */
#include "report.h"

#include <stdio.h>

#include "parsed.h"
#include "sample.h"
#include "settings.h"
#include "shown.h"

static void check_refused(const char *lines, const cbx_report_source *source, const char *why)
{
    cbx_error err = {0};
    CHECK_INT(cbx_report_write(lines, source, test_path("refused.html"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, why);
    size_t         size;
    unsigned char *bytes = test_read_file(test_path("refused.html"), &size);
    CHECK(!bytes);
    free(bytes);
}

/* Another digit, and still one: the sum of a model differs between machines. */
static void change_sum(char *lines, const char *key)
{
    char *digit = strstr(lines, key) + strlen(key);
    *digit = *digit == '0' ? '1' : '0';
}

TEST(results_that_cannot_be_shown_are_refused_with_the_line)
{
    cbx_explain_options o = shown_options();
    shown               s = shown_make(8, &o);
    char                two[1 << 16];
    check_refused("", NULL, "no results");
    check_refused("\n \n", NULL, "no results");
    check_refused("{}\n", NULL, "line 1: ");
    (void)snprintf(two, sizeof two, "%s\nnonsense\n", s.lines);
    check_refused(two, NULL, "line 3: not a JSON object");
    change_sum(s.lines, "\"model_sha256\":\"");
    check_refused(s.lines, &s.source, "line 1: the result was made with another model");
    change_sum(s.lines, "\"data_sha256\":\"");
    check_refused(s.lines, &s.source, "line 1: the result was made with other data");
    shown_free(&s);
}

TEST(edits_of_what_is_not_there_are_refused)
{
    cbx_explain_options o = shown_options();
    shown               s = shown_make(8, &o);
    static const char   head[] = "{\"node\":%d,\"status\":\"found\",\"target\":\"any\",\"before\":"
                                 "{\"class\":0,\"probabilities\":[1,0,0,0]},\"after\":{\"class\":1,"
                                 "\"probabilities\":[0,1,0,0]},\"edits\":[%s]}";
    static const struct {
        int         node;
        const char *edits, *why;
    } cases[] = {{34, "", "the data has no node 34"},
                 {8, "{\"op\":\"remove_edge\",\"source\":0,\"target\":34}",
                  "edit 0: the data has no node 34"},
                 {8, "{\"op\":\"set_feature\",\"node\":1,\"feature\":34,\"from\":0,\"to\":1}",
                  "edit 0: the data has no feature 34"},
                 {8, "{\"op\":\"remove_edge\",\"source\":3,\"target\":30}", "3"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[1024];
        (void)snprintf(line, sizeof line, head, cases[i].node, cases[i].edits);
        check_refused(line, &s.source, cases[i].why);
    }
    shown_free(&s);
}

static char *command_of(const cbx_report_source *source, const char *options)
{
    char       line[2048];
    cbx_report r;
    cbx_error  err = {0};
    (void)snprintf(
        line, sizeof line,
        "{\"node\":3,\"status\":\"not_found\",\"target\":\"any\",\"before\":{\"class\":0,"
        "\"probabilities\":[1,0]},\"edits\":[],\"options\":%s}",
        options);
    CHECK_OK(cbx_report_open(&r, line, source, &err), err);
    cbx_json_writer w = {.digits = 0};
    cbx_arena       arena = {0};
    cbx_json_open(&w, NULL, '{');
    cbx_settings_put_command(&w, &r, r.lines[0], NULL);
    cbx_json_close(&w, '}');
    char *copy = strdup(text_of(cbx_json_get(parsed(&arena, w.out.text, w.out.size), "command")));
    cbx_buffer_free(&w.out);
    cbx_arena_free(&arena);
    cbx_report_close(&r);
    return copy;
}

static void check_command(const cbx_report_source *source, const char *options,
                          const char *expected)
{
    char *command = command_of(source, options);
    if (!CHECK(!strcmp(command, expected)))
        printf("  %s\n", command);
    free(command);
}

TEST(a_command_has_what_is_not_at_its_default_and_a_shell_reads_it_as_meant)
{
    cbx_options *read = NULL;
    cbx_error    err = {0};
    CHECK_OK(cbx_options_new(cbx_read_table(), &read, &err), err);
    CHECK_OK(cbx_options_set(read, "symmetric", "true", &err), err);
    CHECK_OK(cbx_options_set(read, "sidecar", "my names.json", &err), err);
    cbx_report_source source = {.data = "it's", .model_file = "$(rm)", .read = read};
    check_command(NULL, "{}", "combinex explain DATA MODEL --node 3");
    check_command(NULL,
                  "{\"target\":\"next\",\"epochs\":500,\"lr\":0.1,\"seed\":7,\"diverse\":true,"
                  "\"keep-edges\":false,\"immutable-features\":null,\"nonsense\":3}",
                  "combinex explain DATA MODEL --node 3 --target next --seed 7 --diverse");
    check_command(&source, "{\"one-hot\":\"0-3,4-5\",\"target\":\"\"}",
                  "combinex explain 'it'\\''s' '$(rm)' --node 3 --symmetric --sidecar 'my "
                  "names.json' --target '' --one-hot 0-3,4-5");
    cbx_options_free(read);
}

/* A name twice in the page's data would be for its reader to choose from. */
TEST(a_line_cannot_claim_what_the_page_adds)
{
    static const char line[] =
        "{\"node\":3,\"status\":\"found\",\"target\":1,\"before\":{\"class\":0,"
        "\"probabilities\":[1,0]},\"after\":{\"class\":1,\"probabilities\":[0,1]},\"edits\":"
        "[{\"op\":\"set_feature\",\"node\":3,\"feature\":0,\"from\":0,\"to\":1,\"drawn\":77,"
        "\"from_name\":\"x\",\"to_name\":{},\"own\":[1]}]}";
    cbx_arena arena = {0};
    cbx_error err = {0};
    size_t    size = 0;
    CHECK_OK(cbx_report_write(line, NULL, test_path("claims.html"), &err), err);
    char           *page = (char *)test_read_file(test_path("claims.html"), &size);
    const cbx_json *answer = cbx_json_at(cbx_json_get(parsed_page(&arena, page), "answers"), 0);
    const cbx_json *edit = cbx_json_at(cbx_json_get(answer, "edits"), 0);
    CHECK_INT(integer_of(cbx_json_get(edit, "drawn")), 0); /* the only node of the scene */
    CHECK(!cbx_json_get(edit, "from_name") && !cbx_json_get(edit, "to_name"));
    CHECK_INT(count_of(cbx_json_get(edit, "own")), 1);
    free(page);
    cbx_arena_free(&arena);
}

/* Three nodes in a row; the middle one loses its ties to one, and gains a feature. */
static cbx_counterfactual small_answer(void)
{
    static const float    before[] = {-0.1f, -2.4f, -6}, after[] = {-3, -0.06f, -5};
    static const cbx_edit edits[] = {
        {.op = CBX_REMOVE_EDGE, .source = 1, .target = 2, .edge = -1, .undirected = true},
        {.op = CBX_SET_FEATURE, .node = 1, .feature = 2, .to = 1}};
    return (cbx_counterfactual){.row = 1,
                                .outcome = CBX_FOUND,
                                .reason = "",
                                .target = -1,
                                .result = 1,
                                .num_classes = 3,
                                .before = before,
                                .after = after,
                                .num_edits = 2,
                                .num_edges_removed = 1,
                                .num_features_changed = 1,
                                .edits = edits};
}

static cbx_status write_page(void *user)
{
    const shown *s = user;
    return cbx_report_write(s->lines, &s->source, test_path("page.html"), NULL);
}

static cbx_status write_picture(void *user)
{
    const shown *s = user;
    return cbx_picture_write(s->lines, &s->source, "svg", test_path("picture.svg"), NULL);
}

TEST(running_out_of_memory_is_told)
{
    shown               s = {.graph = sample_graph(CBX_NODE, true)};
    cbx_counterfactual  c = small_answer();
    cbx_explain_options o = shown_options();
    cbx_model_spec      spec;
    cbx_epoch           trace[2] = {{.loss = 1}, {.loss = 0.5}};
    cbx_error           err = {0};
    cbx_fields_default(cbx_model_table(), &spec);
    spec.layers = 1;
    CHECK_OK(cbx_model_new_with(s.graph, &spec, 1, &s.model, &err), err);
    o.max_edits = 3;
    s.lines = cbx_counterfactual_json_with(&c, s.graph, &o, NULL, NULL);
    s.source = (cbx_report_source){
        .model = s.model, .graph = s.graph, .trace = trace, .num_trace = 2, .data = "a b"};
    test_each_allocation(write_page, &s);
    test_each_allocation(write_picture, &s);
    s.source = (cbx_report_source){.graph = NULL};
    test_each_allocation(write_page, &s);
    shown_free(&s);
}

TEST(a_picture_is_svg_or_png)
{
    cbx_explain_options o = shown_options();
    shown               s = shown_make(8, &o);
    cbx_error           err = {0};
    size_t              size = 0;
    CHECK_INT(cbx_picture_write(s.lines, &s.source, "gif", test_path("p.gif"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "gif");
    CHECK_INT(cbx_picture_write(s.lines, &s.source, "svg", "/nowhere/at/all.svg", &err), CBX_IO);
    CHECK_CONTAINS(err.message, "/nowhere/at/all.svg");
    cbx_status status = cbx_picture_write(s.lines, &s.source, "png", test_path("p.png"), &err);
#ifdef CBX_HAVE_CAIRO
    unsigned char *bytes = test_read_file(test_path("p.png"), &size);
    CHECK_OK(status, err);
    CHECK(bytes && size > 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8));
    free(bytes);
#else
    (void)size;
    CHECK_INT(status, CBX_INVALID);
    CHECK_CONTAINS(err.message, "cairo");
#endif
    shown_free(&s);
}
