/* SPDX-License-Identifier: Apache-2.0 */
/* Words without regard to case, in every locale. */
#include "word.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "test.h"

TEST(case_does_not_matter)
{
    CHECK(cbx_same_word("", ""));
    CHECK(cbx_same_word("Label", "lABEL"));
    CHECK(cbx_same_word("[\\]^", "[\\]^"));
    CHECK(!cbx_same_word("[", "{")); /* as far apart as a letter's two cases */
    CHECK(!cbx_same_word("@", "`"));
    CHECK(!cbx_same_word("label", "labels"));
    CHECK(!cbx_same_word("labels", "label"));
    CHECK(!cbx_same_word("", "a"));
    CHECK(!cbx_same_word("\xc3\x84", "\xc3\xa4")); /* Ä and ä: bytes */
}

TEST(a_start_is_compared_to_its_length_and_no_further)
{
    CHECK(cbx_same_start("HTTPS://x", "https://y", 8));
    CHECK(!cbx_same_start("http://x", "https://y", 8));
    CHECK(!cbx_same_start("http", "https://", 8));
    CHECK(cbx_same_start("http", "HTTP", 8));
    CHECK(cbx_same_start("a", "b", 0));
}

TEST(an_i_is_an_i_in_turkey)
{
    char before[256];
    if (!getenv("CBX_TEST_LOCALES")) {
        test_skip("no locales: tests/locale/run.sh makes them");
        return;
    }
    (void)snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    CHECK(setlocale(LC_ALL, "tr_TR.UTF-8") != NULL);
    CHECK(strcasecmp("ID", "id") != 0); /* or nothing is tested */
    CHECK(cbx_same_word("ID", "id"));
    CHECK(cbx_lower('I') == 'i');
    (void)setlocale(LC_ALL, before);
}
