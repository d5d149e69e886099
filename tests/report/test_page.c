/* SPDX-License-Identifier: Apache-2.0 */
/* Pages as files: whole, with data that cannot leave its place. tests/browser looks at
 * them in a browser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "page.h"
#include "parsed.h"

static const char hostile[] = "</script><script>alert(1)</script><!-- \xe2\x80\xa8 & \"";

static const cbx_buffer nothing = {.text = "{}", .size = 2};

static char *written(const char *title, const cbx_buffer *data)
{
    const char *path = test_path("page.html");
    cbx_page    page = {.kind = "explanation", .title = title, .data = data};
    cbx_error   err = {0};
    size_t      size = 0;
    CHECK_OK(cbx_page_write(&page, path, &err), err);
    return (char *)test_read_file(path, &size);
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
    cbx_json_writer w = {.ascii = true};
    cbx_arena       arena = {0};
    cbx_json_open(&w, NULL, '{');
    cbx_json_put_text(&w, "name", hostile);
    cbx_json_close(&w, '}');
    char *text = written("t", &w.out);
    CHECK_INT(occurrences(text, "</script>"), 2); /* the data's and the program's */
    const char *name = text_of(cbx_json_get(parsed_page(&arena, text), "name"));
    CHECK(name && !strcmp(name, hostile));
    free(text);
    cbx_buffer_free(&w.out);
    cbx_arena_free(&arena);
}

TEST(a_title_is_text)
{
    char *text = written("</title><b x=\"y\">&", &nothing);
    CHECK_CONTAINS(text, "<title>&lt;/title&gt;&lt;b x=&quot;y&quot;&gt;&amp;</title>");
    free(text);
}

TEST(no_mark_of_the_shell_is_left_and_no_asset_can_end_its_element)
{
    char *text = written("t", &nothing);
    CHECK(!strstr(text, "{{"));
    CHECK_CONTAINS(text, "default-src 'none'; style-src 'sha256-");
    for (const cbx_page_asset *a = cbx_page_assets; a->name; a++) {
        bool shell = !strcmp(a->name, "shell.html");
        CHECK(shell || (!strstr(a->text, "</script") && !strstr(a->text, "</style")));
        CHECK(!strstr(a->text, "innerHTML"));
        CHECK_INT((int64_t)strlen(a->text), (int64_t)a->size);
    }
    free(text);
}

TEST(a_kind_that_is_not_there_is_refused)
{
    cbx_page  page = {.kind = "poem", .title = "", .data = &nothing};
    cbx_error err = {0};
    CHECK_INT(cbx_page_write(&page, test_path("poem.html"), &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "poem");
    page.kind = "explanation";
    CHECK_INT(cbx_page_write(&page, "/nowhere/at/all.html", &err), CBX_IO);
    CHECK_CONTAINS(err.message, "/nowhere/at/all.html");
}

/* Also while the data is made, which nobody looks at until here. */
static cbx_status write_one(void *user)
{
    cbx_json_writer w = {.ascii = true};
    cbx_page        page = {.kind = "explanation", .title = "t", .data = &w.out};
    cbx_json_open(&w, NULL, '{');
    for (int i = 0; i < 100; i++)
        cbx_json_put_text(&w, user, hostile);
    cbx_json_close(&w, '}');
    cbx_status status = cbx_page_write(&page, test_path("memory.html"), NULL);
    cbx_buffer_free(&w.out);
    return status;
}

TEST(running_out_of_memory_is_told)
{
    static char key[] = "a";
    test_each_allocation(write_one, key);
}
