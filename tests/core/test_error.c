/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: whole, cut and prefixed; and which words are near each other. */
#include "error.h"

#include <errno.h>
#include <string.h>

#include "test.h"

TEST(a_failure_carries_its_status_and_message)
{
    cbx_error err = {0};
    CHECK_INT(cbx_fail(&err, CBX_INVALID, "edge %d has weight %g", 3, -0.5), CBX_INVALID);
    CHECK_INT(err.status, CBX_INVALID);
    CHECK(!strcmp(err.message, "edge 3 has weight -0.5"));
}

TEST(nobody_has_to_want_the_message)
{
    errno = ENOENT;
    CHECK_INT(cbx_fail(NULL, CBX_IO, "%s", "unread"), CBX_IO);
    CHECK_INT(cbx_fail_memory(NULL), CBX_NO_MEMORY);
    CHECK_INT(cbx_fail_errno(NULL, "file", "open"), CBX_IO);
    cbx_error_prefix(NULL, "file");
}

TEST(a_long_message_is_cut_at_the_end_of_its_buffer)
{
    char      text[2000];
    cbx_error err;
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    memset(&err, 'z', sizeof err);
    (void)cbx_fail(&err, CBX_INVALID, "%s", text);
    CHECK_INT((int64_t)strlen(err.message), CBX_MESSAGE_SIZE - 1);
    CHECK(!strncmp(err.message, text, CBX_MESSAGE_SIZE - 1));
}

TEST(a_message_does_not_steer_the_terminal_it_is_shown_on)
{
    cbx_error err = {0};
    (void)cbx_fail(&err, CBX_INVALID, "the name '%s' is not known", "\x1b[2J\u202eGröße\n\xff");
    CHECK(!strcmp(err.message, "the name '\\x1b[2J\\u202eGröße\\n\\xff' is not known"));
    errno = ENOENT;
    (void)cbx_fail_errno(&err, "a\rb", "open");
    CHECK_CONTAINS(err.message, "a\\rb: cannot open");
    cbx_error_prefix(&err, "\x07");
    CHECK_CONTAINS(err.message, "\\x07: a\\rb: cannot open");
}

TEST(a_message_is_not_cut_within_a_character)
{
    char      text[2000];
    cbx_error err = {0};
    for (size_t lead = 0; lead < 6; lead++) {
        memset(text, 'a', lead);
        for (size_t at = lead; at + 5 < sizeof text; at += 4)
            memcpy(text + at, "😀", 5);
        (void)cbx_fail(&err, CBX_INVALID, "%s", text);
        size_t length = strlen(err.message);
        CHECK(length > CBX_MESSAGE_SIZE - 5 && (length - lead) % 4 == 0);
        CHECK(!strncmp(err.message, text, length));
    }
}

TEST(running_out_of_memory_says_so)
{
    cbx_error err = {0};
    CHECK_INT(cbx_fail_memory(&err), CBX_NO_MEMORY);
    CHECK_INT(err.status, CBX_NO_MEMORY);
    CHECK_CONTAINS(err.message, "memory");
}

TEST(an_operating_system_error_names_the_path_the_deed_and_the_reason)
{
    cbx_error err = {0};
    errno = ENOENT;
    CHECK_INT(cbx_fail_errno(&err, "a/b.st", "open"), CBX_IO);
    CHECK_INT(err.status, CBX_IO);
    CHECK(!strcmp(err.message, "a/b.st: cannot open: No such file or directory"));
    errno = 99999;
    (void)cbx_fail_errno(&err, "a", "read");
    CHECK_CONTAINS(err.message, "99999");
}

TEST(a_prefix_goes_in_front_of_the_message)
{
    cbx_error err = {0};
    (void)cbx_fail(&err, CBX_INVALID, "no features");
    cbx_error_prefix(&err, "cora.st");
    CHECK(!strcmp(err.message, "cora.st: no features"));
    CHECK_INT(err.status, CBX_INVALID);
    cbx_error_prefix(&err, "");
    CHECK(!strcmp(err.message, ": cora.st: no features"));
}

TEST(a_prefix_pushes_the_end_of_a_long_message_out)
{
    /* 511 letters, 5 in front: the last 5 go. */
    cbx_error err = {0};
    memset(err.message, 'a', CBX_MESSAGE_SIZE - 1);
    cbx_error_prefix(&err, "xyz");
    CHECK_INT((int64_t)strlen(err.message), CBX_MESSAGE_SIZE - 1);
    CHECK(!strncmp(err.message, "xyz: aaa", 8));
    CHECK(err.message[CBX_MESSAGE_SIZE - 2] == 'a');
}

TEST(a_prefix_longer_than_the_buffer_is_left_out)
{
    char      prefix[CBX_MESSAGE_SIZE + 1] = {0};
    cbx_error err = {0};
    memset(prefix, 'p', CBX_MESSAGE_SIZE - 2); /* with ": " and the end one too many */
    (void)cbx_fail(&err, CBX_INVALID, "kept");
    cbx_error_prefix(&err, prefix);
    CHECK(!strcmp(err.message, "kept"));
    prefix[CBX_MESSAGE_SIZE - 3] = '\0'; /* just fits, and leaves no room for the rest */
    cbx_error_prefix(&err, prefix);
    CHECK_INT((int64_t)strlen(err.message), CBX_MESSAGE_SIZE - 1);
    CHECK_CONTAINS(err.message, "pp: ");
}

static const char *nearest(const char *word, const char *a, const char *b)
{
    const char *const words[] = {a, b, NULL};
    return cbx_nearest_of(word, words);
}

TEST(a_misspelt_word_finds_the_one_meant)
{
    const char *const words[] = {"epochs", "learning-rate", "dropout", "hidden", NULL};
    const char       *found = cbx_nearest_of("epoch", words);
    CHECK(found && !strcmp(found, "epochs"));
    found = cbx_nearest_of("learnin-rate", words);
    CHECK(found && !strcmp(found, "learning-rate"));
    found = cbx_nearest_of("dorpout", words);
    CHECK(found && !strcmp(found, "dropout"));
    found = cbx_nearest_of("hidden", words);
    CHECK(found && !strcmp(found, "hidden"));
    CHECK(cbx_nearest_of("xyzzy", words) == NULL);
}

TEST(a_word_is_near_within_a_third_of_its_letters_and_one)
{
    /* kitten -> sitting is the textbook's distance of 3: two letters change, one
     * comes. 6/3 + 1 = 3 is the limit, and sittings is 4 away. */
    CHECK(nearest("kitten", "sitting", NULL) != NULL);
    CHECK(nearest("kitten", "sittings", NULL) == NULL);
    /* flaw -> lawn: one goes, one comes, 2 <= 4/3 + 1; flaw -> awn is 3 away. */
    CHECK(nearest("flaw", "lawn", NULL) != NULL);
    CHECK(nearest("abcdefx", "abcdef", NULL) != NULL);
    CHECK(nearest("abcdef", "abcdefx", NULL) != NULL);
    CHECK(nearest("flaw", "awn", NULL) == NULL);
}

TEST(case_counts_for_nothing_and_the_start_of_a_word_is_near)
{
    const char *found = nearest("THEORY", "Practice", "Theory");
    CHECK(found && !strcmp(found, "Theory"));
    found = nearest("ba", "ba-shapes", NULL);
    CHECK(found && !strcmp(found, "ba-shapes"));
}

TEST(the_nearest_word_wins_and_the_first_among_equals)
{
    const char *found = nearest("cheb", "chub", "cheb");
    CHECK(found && !strcmp(found, "cheb"));
    found = nearest("chex", "cheb", "chew");
    CHECK(found && !strcmp(found, "cheb"));
}

TEST(words_of_many_letters_are_near_nothing)
{
    char word[201];
    memset(word, 'w', 200);
    for (int length = 30; length <= 200; length += 10) {
        word[length] = '\0';
        CHECK(nearest(word, "epochs", "seed") == NULL);
        CHECK(nearest("epochs", word, NULL) == NULL);
        word[length] = 'w';
    }
    word[40] = '\0'; /* the longest that is compared */
    CHECK(nearest(word, word, NULL) == word);
    CHECK(nearest("w", NULL, NULL) == NULL);
    CHECK(nearest("", "seed", NULL) == NULL);
}
