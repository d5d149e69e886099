/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows. */
#include "buffer.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

TEST(text_is_made_utf8_and_cut_by_characters)
{
    static const struct {
        const char *text;
        size_t      most;
        const char *expected;
    } cases[] = {{"plain", 0, "plain"},
                 {"gr\xc3\xb6\xc3\x9f"
                  "e",
                  5,
                  "gr\xc3\xb6\xc3\x9f"
                  "e"},
                 {"gr\xc3\xb6\xc3\x9f"
                  "er",
                  5, "gr\xc3\xb6\xc3\x9f\xe2\x80\xa6"},
                 {"a\xff\xc3"
                  "b",
                  0,
                  "a\xef\xbf\xbd\xef\xbf\xbd"
                  "b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cbx_buffer b = {.text = NULL};
        cbx_buffer_utf8(&b, cases[i].text, cases[i].most);
        if (!CHECK(b.text && !strcmp(b.text, cases[i].expected)))
            printf("  %s\n", b.text ? b.text : "nothing");
        cbx_buffer_free(&b);
    }
}

TEST(what_is_added_is_there_with_a_nul_behind_it)
{
    cbx_buffer b = {.text = NULL};
    for (int i = 0; i < 1000; i++)
        cbx_buffer_print(&b, "%d,", i);
    cbx_buffer_add(&b, "", 0);
    CHECK_INT((int64_t)b.size, 10 * 2 + 90 * 3 + 900 * 4);
    CHECK_INT((int64_t)strlen(b.text), (int64_t)b.size);
    CHECK(!strncmp(b.text, "0,1,2,", 6) && !strcmp(b.text + b.size - 8, "998,999,"));
    cbx_buffer_free(&b);
    CHECK(!b.text && !b.size && !b.failed);
}

static cbx_status fill(void *user)
{
    cbx_buffer b = {.text = NULL};
    for (int i = 0; i < 1000; i++)
        cbx_buffer_put(&b, user);
    CHECK(b.failed || b.size == 3000);
    CHECK(!b.text || strlen(b.text) == b.size); /* what came before a failure stands */
    cbx_status status = b.failed ? CBX_NO_MEMORY : CBX_OK;
    cbx_buffer_free(&b);
    return status;
}

TEST(a_failure_is_kept_until_somebody_looks)
{
    static char text[] = "abc";
    test_each_allocation(fill, text);
}
