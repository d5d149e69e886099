/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes are text, and how text from outside is shown. */
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

TEST(utf8_is_what_rfc_3629_says)
{
    static const char *const good[] = {"",  "a", "\x7f",         "é",
                                       "€", "😀", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf8",
                                      "\xff",
                                      "\xc3",
                                      "\xe2\x82",
                                      "a\xf0\x9f\x98",
                                      "\xe2\x28\xa1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(cbx_is_utf8(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!CHECK(!cbx_is_utf8(bad[i])))
            printf("  (case %zu)\n", i);
}

/* Whether `text` is shown as `expected`, in one go and character by character. */
static void shows(const char *text, const char *expected)
{
    char        all[256], next[CBX_SHOWN_SIZE], pieces[256] = "";
    const char *at = text;
    size_t      length;
    CHECK_INT((int64_t)cbx_text_show(all, sizeof all, text), (int64_t)strlen(expected));
    while ((length = cbx_text_next(&at, next))) {
        CHECK_INT((int64_t)strlen(next), (int64_t)length);
        CHECK(length < CBX_SHOWN_SIZE);
        memcpy(pieces + strlen(pieces), next, length + 1);
    }
    CHECK(at == text + strlen(text) && !*next);
    if (strcmp(all, expected) != 0 || strcmp(pieces, expected) != 0) {
        printf("  '%s' and '%s', expected '%s'\n", all, pieces, expected);
        CHECK(!"shown as expected");
    }
}

TEST(text_is_shown_as_it_is_in_any_script)
{
    shows("", "");
    shows("plain ~ text", "plain ~ text");
    shows("Größe, 名前, שלום, 😀", "Größe, 名前, שלום, 😀");
    shows("\xc2\xa0 \xe2\x80\xa7 \xe2\x80\xaf \xe2\x81\xa5 \xe2\x81\xaa",
          "\xc2\xa0 \xe2\x80\xa7 \xe2\x80\xaf \xe2\x81\xa5 \xe2\x81\xaa"); /* just beside */
    shows("a family: 👩\u200d👧", "a family: 👩\u200d👧");
    shows("C:\\n", "C:\\n");
}

TEST(what_would_steer_a_terminal_is_spelt_out)
{
    shows("\x1b]0;owned\x07\x1b[2J", "\\x1b]0;owned\\x07\\x1b[2J");
    shows("one\ntwo\r\tthree\b\x7f", "one\\ntwo\\r\\tthree\\x08\\x7f");
    shows("\x01\x1f ", "\\x01\\x1f ");
    shows("\xc2\x9b"
          "2J \xc2\x80\xc2\x9f",
          "\\u009b2J \\u0080\\u009f");
    shows("\u202eevil\u202c \u202a\u2066\u2069", "\\u202eevil\\u202c \\u202a\\u2066\\u2069");
    shows("\u2028 \u2029", "\\u2028 \\u2029");
}

TEST(bytes_that_are_not_utf8_are_spelt_out_one_by_one)
{
    shows("caf\xe9", "caf\\xe9");
    shows("\x9b"
          "31m",
          "\\x9b31m"); /* what Latin-1 calls an escape */
    shows("\xe2\x82 \xf0\x9f\x98", "\\xe2\\x82 \\xf0\\x9f\\x98");
    shows("\xed\xa0\x80\xff", "\\xed\\xa0\\x80\\xff");
}

TEST(what_is_shown_ends_before_the_character_that_does_not_fit)
{
    char shown[8];
    CHECK_INT((int64_t)cbx_text_show(shown, 8, "abcdefgh"), 7);
    CHECK(!strcmp(shown, "abcdefg"));
    CHECK_INT((int64_t)cbx_text_show(shown, 8, "abcdef\u00e9"), 6);
    CHECK(!strcmp(shown, "abcdef"));
    CHECK_INT((int64_t)cbx_text_show(shown, 8, "abcd\x1bx"), 4);
    CHECK(!strcmp(shown, "abcd"));
    CHECK_INT((int64_t)cbx_text_show(shown, 1, "a"), 0);
    CHECK(!*shown);
}

TEST(what_was_shown_is_shown_the_same_again)
{
    char once[256];
    (void)cbx_text_show(once, sizeof once, "\x1b[31m \u202e \xff\n");
    shows(once, once);
}
