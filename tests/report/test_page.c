/* SPDX-License-Identifier: Apache-2.0 */
/* Pages as files: whole, with data that cannot leave its place. tests/browser looks at
 * them in a browser. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "test.h"

static const char hostile[] = "</script><script>alert(1)</script><!-- \xe2\x80\xa8 & \"";

static char *written(const char *title, json_t *data)
{
    const char *path = test_path("page.html");
    cbx_page    page = {.kind = "explanation", .title = title, .data = data};
    cbx_error   err = {0};
    size_t      size = 0;
    CHECK_OK(cbx_page_write(&page, path, &err), err);
    char *bytes = (char *)test_read_file(path, &size), *text = calloc(size + 1, 1);
    if (bytes && text)
        memcpy(text, bytes, size);
    free(bytes);
    return text;
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

TEST(names_in_the_data_cannot_end_the_script_that_holds_them)
{
    json_t *data = json_pack("{s:s}", "name", hostile);
    char   *text = written("t", data);
    char   *at = strstr(text, "id=\"data\">"), *end = at ? strstr(at, "</script>") : NULL;
    CHECK_INT(occurrences(text, "</script>"), 2); /* the data's and the program's */
    if (CHECK(end != NULL)) {
        json_t *again = json_loadb(at + 10, (size_t)(end - at) - 10, 0, NULL);
        CHECK(json_equal(again, data));
        json_decref(again);
    }
    free(text);
    json_decref(data);
}

TEST(a_title_is_text)
{
    json_t *data = json_object();
    char   *text = written("</title><b x=\"y\">&", data);
    CHECK_CONTAINS(text, "<title>&lt;/title&gt;&lt;b x=&quot;y&quot;&gt;&amp;</title>");
    free(text);
    json_decref(data);
}

TEST(no_mark_of_the_shell_is_left_and_no_asset_can_end_its_element)
{
    json_t *data = json_object();
    char   *text = written("t", data);
    CHECK(!strstr(text, "{{"));
    CHECK_CONTAINS(text, "default-src 'none'; style-src 'sha256-");
    for (const cbx_page_asset *a = cbx_page_assets; a->name; a++) {
        bool shell = !strcmp(a->name, "shell.html");
        CHECK(shell || (!strstr(a->text, "</script") && !strstr(a->text, "</style")));
        CHECK(!strstr(a->text, "innerHTML"));
        CHECK_INT((int64_t)strlen(a->text), (int64_t)a->size);
    }
    free(text);
    json_decref(data);
}

TEST(a_kind_that_is_not_there_is_refused)
{
    json_t   *data = json_object();
    cbx_page  page = {.kind = "poem", .title = "", .data = data};
    cbx_error err = {0};
    CHECK_INT(cbx_page_write(&page, test_path("poem.html"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "poem");
    page.kind = "explanation";
    CHECK_INT(cbx_page_write(&page, "/nowhere/at/all.html", &err), CBX_IO);
    CHECK_CONTAINS(err.message, "/nowhere/at/all.html");
    json_decref(data);
}

static cbx_status write_one(void *user)
{
    cbx_page page = {.kind = "explanation", .title = "t", .data = user};
    return cbx_page_write(&page, test_path("memory.html"), NULL);
}

TEST(running_out_of_memory_is_told)
{
    json_t *data = json_pack("{s:s, s:[f,f]}", "a", hostile, "b", 0.1, 0.2);
    test_each_allocation(write_one, data);
    json_decref(data);
}
